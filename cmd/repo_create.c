/* vedette repo create */
#include <string.h>

#include "repo_client.h"
#include "terminal.h"
#include "json/write.h"

enum {
    OPTION_REPOSITORY,
    OPTION_BRANCH,
    OPTION_BRANCHES,
    OPTION_VISIBILITY,
    OPTION_DELETION,
    OPTION_REMOTE,
    OPTION_REMOTE_BRANCH,
    OPTION_INTERVAL,
    OPTION_SECRET,
    OPTION_TIMEOUT,
    OPTION_OUTPUT,
    OPTION_CLIENT,
};

enum { READY_MS = 30000 }; /* that it is waited for, unless said otherwise */

static const struct vd_option options[] = {
    [OPTION_REPOSITORY] = VD_REPO_OPERAND,
    [OPTION_BRANCH] = {.name = "branch",
                       .value = "NAME",
                       .type = VD_OPTION_TEXT,
                       .help = "the default branch; main unless given"},
    [OPTION_BRANCHES] = {.name = "admit",
                         .value = "PATTERNS",
                         .type = VD_OPTION_TEXT,
                         .help = "branches whose manifests become objects, with commas between "
                                 "them; the default branch unless given"},
    [OPTION_VISIBILITY] = {.name = "visibility",
                           .value = "WHO",
                           .type = VD_OPTION_TEXT,
                           .choices = "private internal public",
                           .help = "who may read it: private, internal or public"},
    [OPTION_DELETION] = {.name = "deletion-policy",
                         .value = "POLICY",
                         .type = VD_OPTION_TEXT,
                         .choices = "Refuse Cascade",
                         .help = "what becomes of its objects when it is deleted: Refuse or "
                                 "Cascade"},
    [OPTION_REMOTE] = {.name = "remote",
                       .value = "URL",
                       .type = VD_OPTION_TEXT,
                       .help = "follow this repository instead of taking pushes"},
    [OPTION_REMOTE_BRANCH] = {.name = "remote-branch",
                              .value = "NAME",
                              .type = VD_OPTION_TEXT,
                              .help = "the branch of the remote that is followed"},
    [OPTION_INTERVAL] = {.name = "interval",
                         .value = "TIME",
                         .type = VD_OPTION_DURATION,
                         .help = "the time between two looks at the remote: 5m"},
    [OPTION_SECRET] = {.name = "secret",
                       .value = "NAME",
                       .type = VD_OPTION_TEXT,
                       .help = "the Secret with the credentials for the remote"},
    [OPTION_TIMEOUT] = {.name = "timeout",
                        .value = "TIME",
                        .type = VD_OPTION_DURATION,
                        .help = "how long to wait until it is ready; 30s unless given"},
    [OPTION_OUTPUT] = VD_OPTION_OUTPUT_ENTRY,
    [OPTION_CLIENT] = VD_CLIENT_OPTIONS,
};

/* ---- the object ---- */

static void add_text(struct vd_arena *a, struct vd_json *object, const char *key, const char *text)
{
    if (text)
        vd_json_add_ref(object, vd_slice_of(key), vd_json_string(a, vd_slice_of(text)));
}

static void add_branches(struct vd_arena *a, struct vd_json *spec, const char *list)
{
    struct vd_json *branches = vd_json_array(a);
    struct vd_slice rest = vd_slice_of(list), pattern;
    while (vd_slice_cut(&rest, ',', &pattern))
        vd_json_append(branches, vd_json_string(a, pattern));
    vd_json_add_ref(spec, VD_SLICE("branches"), branches);
}

static struct vd_json *spec_of(struct vd_arena *a, const struct vd_option_value *values)
{
    struct vd_json *spec = vd_json_object(a);
    add_text(a, spec, "defaultBranch", values[OPTION_BRANCH].text);
    add_text(a, spec, "visibility", values[OPTION_VISIBILITY].text);
    add_text(a, spec, "deletionPolicy", values[OPTION_DELETION].text);
    if (values[OPTION_BRANCHES].given)
        add_branches(a, spec, values[OPTION_BRANCHES].text);
    if (values[OPTION_REMOTE].given) {
        struct vd_json *remote = vd_json_object(a);
        add_text(a, remote, "url", values[OPTION_REMOTE].text);
        add_text(a, remote, "branch", values[OPTION_REMOTE_BRANCH].text);
        add_text(a, remote, "interval", values[OPTION_INTERVAL].text);
        if (values[OPTION_SECRET].given) {
            struct vd_json *secret = vd_json_object(a);
            add_text(a, secret, "name", values[OPTION_SECRET].text);
            vd_json_add_ref(remote, VD_SLICE("secretRef"), secret);
        }
        vd_json_add_ref(spec, VD_SLICE("remote"), remote);
    }
    return spec;
}

static int create(struct vd_client *client, const struct vd_repo_name *name,
                  const struct vd_option_value *values, struct vd_error *error)
{
    struct vd_arena *a = &client->arena;
    struct vd_json *object = vd_json_object(a), *metadata = vd_json_object(a), *answer;
    struct vd_buf path = {0}, body = {0};
    add_text(a, object, "apiVersion", "git.vedette.dev/v1");
    add_text(a, object, "kind", "Repository");
    vd_json_add_ref(metadata, VD_SLICE("name"), vd_json_string(a, name->name));
    vd_json_add_ref(object, VD_SLICE("metadata"), metadata);
    vd_json_add_ref(object, VD_SLICE("spec"), spec_of(a, values));
    vd_json_write(&body, object);
    vd_repo_add_collection(&path, name->namespace);
    vd_buf_add_text(&path, "?fieldValidation=Strict");
    int code = vd_client_ask(client,
                             &(struct vd_http_question){.method = "POST",
                                                        .path = vd_buf_text(&path),
                                                        .content_type = "application/json",
                                                        .body = vd_buf_slice(&body)},
                             &answer, error);
    vd_buf_release(&path);
    vd_buf_release(&body);
    if (code == VD_ERR_NOT_FOUND)
        vd_error_set(error, code,
                     "there is no namespace %.*s: make it with 'kubectl create namespace %.*s'",
                     VD_FMT(name->namespace), VD_FMT(name->namespace));
    else if (code == VD_ERR_EXISTS)
        vd_error_set(error, code,
                     "repository %.*s/%.*s already exists: see 'vedette repo status %.*s/%.*s'",
                     VD_FMT(name->namespace), VD_FMT(name->name), VD_FMT(name->namespace),
                     VD_FMT(name->name));
    return code;
}

/* Checks what the table of options cannot say. False: the mistake has been printed. */
static bool check(const struct vd_option_value *values)
{
    bool is_right = values[OPTION_REMOTE].given ||
                    !(values[OPTION_REMOTE_BRANCH].given || values[OPTION_INTERVAL].given ||
                      values[OPTION_SECRET].given);
    if (!is_right)
        vd_complain(
            "options '--remote-branch', '--interval' and '--secret' go with '--remote'; run "
            "'vedette repo create --help'");
    return is_right;
}

/* ---- what comes next ---- */

static bool is_ready(const void *arg, const struct vd_json *repository, struct vd_slice *reason)
{
    (void)arg;
    *reason = vd_repo_text(vd_repo_condition(repository, "Ready"), "message");
    return vd_slice_is(vd_repo_condition_status(repository, "Ready"), "True");
}

/* The kubeconfig that the credential helper reads: the client's own, or one that is made first. */
static const char NEW_KUBECONFIG[] = "~/vedette.kubeconfig";
static const char NEW_CA_FILE[] = "~/vedette-ca.crt";

static bool lacks_token(const struct vd_client *client)
{
    return client->kubeconfig.n && !client->peer.token.n;
}

/* A certificate is no password: the administrator makes a kubeconfig with a token. */
static void add_kubeconfig(struct vd_buf *out, const struct vd_client *client)
{
    struct vd_slice folder = vd_buf_slice(&client->ca_file);
    static const struct vd_slice below = {"/pki/ca.crt", 11};
    vd_buf_add_text(out, "  vedette kubeconfig --user admin --groups system:masters");
    if (vd_slice_ends_with(folder, below)) {
        vd_buf_add_text(out, " --data ");
        vd_repo_add_shell_word(out, vd_slice(folder.p, folder.n - below.n));
    }
    vd_buf_addf(out, " --output %s\n", NEW_KUBECONFIG);
}

/* By which git asks this program for the token. */
static void add_helper(struct vd_buf *out, const struct vd_client *client)
{
    struct vd_buf helper = {0};
    vd_buf_add_text(&helper, "!vedette repo credential ");
    if (lacks_token(client)) {
        vd_buf_addf(&helper, "--kubeconfig %s", NEW_KUBECONFIG);
    } else if (client->kubeconfig.n) {
        vd_buf_add_text(&helper, "--kubeconfig ");
        vd_repo_add_shell_word(&helper, vd_buf_slice(&client->kubeconfig));
    } else {
        vd_buf_addf(&helper, "--server %s", vd_buf_text(&client->server));
        if (client->token_file.n) {
            vd_buf_add_text(&helper, " --token-file ");
            vd_repo_add_shell_word(&helper, vd_buf_slice(&client->token_file));
        }
    }
    vd_buf_addf(out, "  git config --global credential.%s.helper ", vd_buf_text(&client->server));
    vd_repo_add_shell_word(out, vd_buf_slice(&helper));
    vd_buf_add_char(out, '\n');
    vd_buf_release(&helper);
}

/* git has to know the server's authority, too, if the system does not. */
static void add_authority(struct vd_buf *out, const struct vd_client *client)
{
    bool is_here = client->ca_file.n > 0;
    if (!is_here && !client->ca.n)
        return;
    if (!is_here) {
        vd_buf_add_text(out, "  kubectl config view --raw --minify --kubeconfig ");
        vd_repo_add_shell_word(out, vd_buf_slice(&client->kubeconfig));
        vd_buf_addf(out,
                    " \\\n    -o 'jsonpath={.clusters[0].cluster.certificate-authority-data}' | "
                    "base64 -d >%s\n",
                    NEW_CA_FILE);
    }
    vd_buf_addf(out, "  git config --global http.%s.sslCAInfo ", vd_buf_text(&client->server));
    if (is_here)
        vd_repo_add_shell_word(out, vd_buf_slice(&client->ca_file));
    else
        vd_buf_add_text(out, NEW_CA_FILE);
    vd_buf_add_char(out, '\n');
}

static void add_next(struct vd_buf *out, const struct vd_client *client,
                     const struct vd_repo_name *name)
{
    vd_buf_add_text(out, "Next, once for this server:\n\n");
    if (lacks_token(client))
        add_kubeconfig(out, client);
    add_helper(out, client);
    add_authority(out, client);
    vd_buf_add_text(out, "\nand then:\n\n  git clone ");
    vd_repo_add_url(out, client, name);
    vd_buf_add_char(out, '\n');
}

static void print(const struct vd_client *client, const struct vd_repo_name *name,
                  const struct vd_json *repository, bool json)
{
    struct vd_buf out = {0}, url = {0};
    vd_repo_add_url(&url, client, name);
    if (json) {
        vd_buf_add_text(&out, "{\"url\":");
        vd_json_add_text(&out, vd_buf_slice(&url));
        vd_buf_add_text(&out, ",\"repository\":");
        vd_json_write(&out, repository);
        vd_buf_add_text(&out, "}\n");
    } else {
        vd_buf_addf(&out, "Repository %.*s/%.*s is ready: %s\n\n", VD_FMT(name->namespace),
                    VD_FMT(name->name), vd_buf_text(&url));
        add_next(&out, client, name);
    }
    printf("%s", vd_buf_text(&out));
    vd_buf_release(&out);
    vd_buf_release(&url);
}

static enum vd_exit run(const struct vd_option_value *values)
{
    struct vd_client client = {0};
    struct vd_repo_name name;
    struct vd_json *repository = NULL;
    struct vd_error error;
    enum vd_exit status;
    const struct vd_repo_wait ready = {
        .timeout_ms = values[OPTION_TIMEOUT].given ? values[OPTION_TIMEOUT].number : READY_MS,
        .holds = is_ready,
        .otherwise = "was created, but is not ready",
    };
    if (!check(values))
        return VD_EXIT_USAGE;
    if (vd_repo_open(&client, &name, values[OPTION_REPOSITORY].text, &values[OPTION_CLIENT],
                     &status)) {
        int code = create(&client, &name, values, &error);
        if (!code)
            code = vd_repo_wait(&client, &name, &ready, &repository, &error);
        if (code) {
            vd_complain("%s", error.text);
            status = VD_EXIT_FAILED;
        } else {
            print(&client, &name, repository, vd_option_is_json(&values[OPTION_OUTPUT]));
        }
    }
    vd_client_release(&client);
    return status;
}

const struct vd_command vd_command_repo_create = {
    .name = "create",
    .summary = "Create a repository, and say how to clone it.",
    .details = "Waits until it can be cloned.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
