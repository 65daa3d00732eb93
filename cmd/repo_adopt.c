/*
 * vedette repo adopt
 *
 * Objects that belong to the API are written as manifests into a clone of the repository, which is
 * committed and pushed with the option vedette.adopt: the server then takes them over, if the user
 * may update them. Nothing is changed on the server but by that push.
 */
#include <string.h>

#include "api_resource.h"
#include "git_tree.h"
#include "kinds/git_ownership.h"
#include "manifest_text.h"
#include "repo_client.h"
#include "terminal.h"

enum {
    OPTION_REPOSITORY,
    OPTION_KIND,
    OPTION_NAMES,
    OPTION_SELECTOR,
    OPTION_ALL,
    OPTION_PATH,
    OPTION_BRANCH,
    OPTION_AUTHOR,
    OPTION_MESSAGE,
    OPTION_CLIENT,
};

static const struct vd_option options[] = {
    [OPTION_REPOSITORY] = VD_REPO_OPERAND,
    [OPTION_KIND] = {.name = "kind",
                     .value = "KIND[.GROUP]",
                     .type = VD_OPTION_TEXT,
                     .required = true,
                     .operand = true,
                     .help = "of the objects, as kubectl calls it"},
    [OPTION_NAMES] = {.name = "name",
                      .value = "NAME...",
                      .type = VD_OPTION_TEXT,
                      .operand = true,
                      .repeated = true,
                      .help = "the objects"},
    [OPTION_SELECTOR] = {.name = "selector",
                         .value = "LABELS",
                         .type = VD_OPTION_TEXT,
                         .help = "the objects with these labels: app=web"},
    [OPTION_ALL] = {.name = "all", .help = "all objects of the kind"},
    [OPTION_PATH] = {.name = "path",
                     .value = "DIR",
                     .type = VD_OPTION_TEXT,
                     .help = "the folder of the manifests in the repository; the resource's name "
                             "unless given"},
    [OPTION_BRANCH] = {.name = "branch",
                       .value = "NAME",
                       .type = VD_OPTION_TEXT,
                       .help = "the branch to push to; the default branch unless given"},
    [OPTION_AUTHOR] = {.name = "author",
                       .value = "AUTHOR",
                       .type = VD_OPTION_TEXT,
                       .help = "of the commit: 'Name <mail>'; as git is configured unless given"},
    [OPTION_MESSAGE] = {.name = "message",
                        .value = "TEXT",
                        .type = VD_OPTION_TEXT,
                        .help = "of the commit"},
    [OPTION_CLIENT] = VD_CLIENT_OPTIONS,
};

/* What one run of the command works with. */
struct run {
    const struct vd_option_value *values;
    struct vd_client client;
    struct vd_repo_name name;
    struct vd_api_resource resource;
    struct vd_json *objects; /* that are adopted */
    struct vd_slice branch;
    bool has_commit; /* the branch */
    struct vd_git_tree tree;
};

/* ---- which objects ---- */

static struct vd_slice annotation(const struct vd_json *object, const char *name)
{
    return vd_repo_text(vd_json_dig(object, "metadata", "annotations", NULL), name);
}

/* Objects that are named have to be free; of others, those that are not are left out. */
static int take(struct run *r, struct vd_json *object, bool is_named, struct vd_error *error)
{
    const struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    struct vd_slice name = vd_repo_text(metadata, "name");
    struct vd_slice owner = annotation(object, VD_GIT_REPOSITORY);
    bool deleting = vd_json_get(metadata, VD_SLICE("deletionTimestamp"));
    bool controlled = vd_json_count(vd_json_get(metadata, VD_SLICE("ownerReferences"))) > 0;
    if (is_named && owner.n)
        return vd_error_set(error, VD_ERR_EXISTS, "%.*s %.*s belongs to repository %.*s already",
                            VD_FMT(r->resource.kind), VD_FMT(name), VD_FMT(owner));
    if (is_named && deleting)
        return vd_error_set(error, VD_ERR_INVALID, "%.*s %.*s is being deleted",
                            VD_FMT(r->resource.kind), VD_FMT(name));
    if (owner.n || deleting || (!is_named && controlled)) {
        fprintf(stderr, "%.*s %.*s is left out: %s\n", VD_FMT(r->resource.kind), VD_FMT(name),
                owner.n    ? "a repository has it already"
                : deleting ? "it is being deleted"
                           : "another object owns it");
        return VD_OK;
    }
    object = vd_json_copy(&r->client.arena, object);
    /* The members of a list say neither. */
    if (!vd_json_get(object, VD_SLICE("apiVersion")))
        vd_json_set(&r->client.arena, object, VD_SLICE("apiVersion"),
                    vd_json_string(&r->client.arena, r->resource.api_version));
    if (!vd_json_get(object, VD_SLICE("kind")))
        vd_json_set(&r->client.arena, object, VD_SLICE("kind"),
                    vd_json_string(&r->client.arena, r->resource.kind));
    vd_json_append(r->objects, object);
    return VD_OK;
}

static int read_named(struct run *r, const struct vd_option_value *names, struct vd_error *error)
{
    struct vd_buf path = {0};
    int code = VD_OK;
    for (size_t i = 0; !code && i < names->count; i++) {
        struct vd_json *object = NULL;
        vd_buf_reset(&path);
        vd_api_resource_add_path(&path, &r->resource, r->name.namespace);
        vd_buf_add_char(&path, '/');
        vd_http_add_encoded(&path, vd_slice_of(names->texts[i]));
        code = vd_client_get(&r->client, vd_buf_text(&path), &object, error);
        if (code == VD_ERR_NOT_FOUND)
            vd_error_set(error, code, "there is no %.*s %s%s%.*s", VD_FMT(r->resource.kind),
                         names->texts[i], r->resource.namespaced ? " in namespace " : "",
                         r->resource.namespaced ? (int)r->name.namespace.n : 0,
                         r->name.namespace.p);
        if (!code)
            code = take(r, object, true, error);
    }
    vd_buf_release(&path);
    return code;
}

static int take_listed(void *arg, struct vd_json *object, struct vd_error *error)
{
    return take(arg, object, false, error);
}

static int read_selected(struct run *r, const char *labels, struct vd_error *error)
{
    struct vd_buf path = {0};
    vd_api_resource_add_path(&path, &r->resource, r->name.namespace);
    int code = vd_client_list(&r->client, vd_buf_text(&path), labels, take_listed, r, error);
    if (code && r->client.status == 400)
        vd_error_prefix(error, "option '--selector' is wrong");
    vd_buf_release(&path);
    return code;
}

static int read_objects(struct run *r, struct vd_error *error)
{
    const struct vd_option_value *names = &r->values[OPTION_NAMES];
    int code = vd_api_resource_find(&r->client, r->values[OPTION_KIND].text, &r->resource, error);
    r->objects = vd_json_array(&r->client.arena);
    if (!code && names->given)
        code = read_named(r, names, error);
    else if (!code)
        code = read_selected(
            r, r->values[OPTION_SELECTOR].given ? r->values[OPTION_SELECTOR].text : "", error);
    if (!code && !vd_json_count(r->objects))
        code = vd_error_set(error, VD_ERR_NOT_FOUND,
                            "there is no %.*s that could be adopted; nothing has changed",
                            VD_FMT(r->resource.kind));
    return code;
}

/* ---- the repository ---- */

static int read_repository(struct run *r, struct vd_error *error)
{
    struct vd_json *repository = NULL;
    int code = vd_repo_get(&r->client, &r->name, &repository, error);
    if (code)
        return code;
    const struct vd_json *spec = vd_json_get(repository, VD_SLICE("spec"));
    struct vd_slice url = vd_repo_text(vd_json_get(spec, VD_SLICE("remote")), "url");
    if (url.n)
        return vd_error_set(error, VD_ERR_INVALID,
                            "Repository %.*s/%.*s follows %.*s and takes no pushes",
                            VD_FMT(r->name.namespace), VD_FMT(r->name.name), VD_FMT(url));
    r->branch = r->values[OPTION_BRANCH].given ? vd_slice_of(r->values[OPTION_BRANCH].text)
                                               : vd_repo_text(spec, "defaultBranch");
    if (!r->branch.n)
        r->branch = VD_SLICE("main");
    VD_JSON_EACH (b, vd_json_dig(repository, "status", "branches", NULL))
        if (vd_slice_eq(vd_repo_text(b, "name"), r->branch))
            r->has_commit = vd_repo_text(b, "commit").n > 0;
    return VD_OK;
}

/* 'Name <mail>', for author and committer. */
static int set_author(struct run *r, const char *author, struct vd_error *error)
{
    const char *open = strchr(author, '<'), *close = strrchr(author, '>');
    if (!open || open == author || !close || close < open)
        return vd_error_set(error, VD_ERR_INVALID,
                            "option '--author' wants 'Name <mail>', not '%s'", author);
    struct vd_slice name = vd_slice_trim(vd_slice(author, (size_t)(open - author)));
    struct vd_slice mail = vd_slice_trim(vd_slice(open + 1, (size_t)(close - open - 1)));
    vd_git_tree_set(&r->tree, "GIT_AUTHOR_NAME", name);
    vd_git_tree_set(&r->tree, "GIT_AUTHOR_EMAIL", mail);
    vd_git_tree_set(&r->tree, "GIT_COMMITTER_NAME", name);
    vd_git_tree_set(&r->tree, "GIT_COMMITTER_EMAIL", mail);
    return VD_OK;
}

static int make_work_tree(struct run *r, const char *url, const char *branch,
                          struct vd_error *error)
{
    const char *const clone[] = {"clone", "-q", "--branch", branch, "--", url, "work", NULL};
    const char *const init[] = {"init", "-q", "-b", branch, "--", "work", NULL};
    return vd_git_tree_run(&r->tree, r->has_commit ? clone : init, error);
}

static int write_manifests(struct run *r, struct vd_error *error)
{
    const char *folder = r->values[OPTION_PATH].text;
    struct vd_buf path = {0}, text = {0};
    int code = VD_OK;
    VD_JSON_EACH (object, r->objects) {
        vd_buf_reset(&path);
        vd_buf_reset(&text);
        bool is_markdown = vd_manifest_text_write(&text, &r->client.arena, object);
        vd_buf_add_text(&path, "work/");
        if (folder)
            vd_buf_add_text(&path, folder);
        else
            vd_buf_add_slice(&path, r->resource.plural);
        vd_buf_addf(&path, "/%.*s.%s",
                    VD_FMT(vd_repo_text(vd_json_get(object, VD_SLICE("metadata")), "name")),
                    is_markdown ? "md" : "yaml");
        code = vd_git_tree_write(&r->tree, vd_buf_text(&path), vd_buf_slice(&text), error);
        if (code == VD_ERR_EXISTS)
            code = vd_error_set(error, VD_ERR_EXISTS,
                                "the repository has a file %s already: name another folder with "
                                "--path",
                                vd_buf_text(&path) + strlen("work/"));
        if (code)
            break;
    }
    vd_buf_release(&path);
    vd_buf_release(&text);
    return code;
}

static int commit_and_push(struct run *r, const char *url, const char *branch,
                           struct vd_error *error)
{
    struct vd_buf message = {0}, ref = {0};
    size_t n = vd_json_count(r->objects);
    if (r->values[OPTION_MESSAGE].given)
        vd_buf_add_text(&message, r->values[OPTION_MESSAGE].text);
    else
        vd_buf_addf(&message, "adopt %zu %.*s", n, VD_FMT(r->resource.plural));
    vd_buf_addf(&ref, "HEAD:refs/heads/%s", branch);
    const char *const add[] = {"-C", "work", "add", "-A", NULL};
    const char *const commit[] = {"-C", "work", "commit", "-q", "-m", vd_buf_text(&message), NULL};
    const char *const push[] = {
        "-C", "work", "push", "-q", "-o", "vedette.adopt", "--", url, vd_buf_text(&ref), NULL};
    int code = vd_git_tree_run(&r->tree, add, error);
    if (!code)
        code = vd_git_tree_run(&r->tree, commit, error);
    if (!code)
        code = vd_git_tree_run(&r->tree, push, error);
    vd_buf_release(&message);
    vd_buf_release(&ref);
    return code;
}

static int push_objects(struct run *r, struct vd_error *error)
{
    struct vd_buf url = {0}, branch = {0};
    vd_repo_add_url(&url, &r->client, &r->name);
    vd_buf_add_slice(&branch, r->branch);
    int code = vd_git_tree_open(&r->tree, &r->client, error);
    if (!code && r->values[OPTION_AUTHOR].given)
        code = set_author(r, r->values[OPTION_AUTHOR].text, error);
    if (!code)
        code = make_work_tree(r, vd_buf_text(&url), vd_buf_text(&branch), error);
    if (!code)
        code = write_manifests(r, error);
    if (!code)
        code = commit_and_push(r, vd_buf_text(&url), vd_buf_text(&branch), error);
    vd_git_tree_close(&r->tree);
    vd_buf_release(&url);
    vd_buf_release(&branch);
    return code;
}

/* ---- the command ---- */

static bool is_inside(const char *path)
{
    struct vd_slice rest = vd_slice_of(path), part;
    if (path[0] == '/')
        return false;
    while (vd_slice_cut(&rest, '/', &part))
        if (!part.n || vd_slice_is(part, "..") || vd_slice_is(part, ".") ||
            vd_slice_is(part, ".git"))
            return false;
    return true;
}

static bool check(const struct vd_option_value *values)
{
    const char *wrong = NULL;
    int ways = values[OPTION_NAMES].given + values[OPTION_SELECTOR].given +
               values[OPTION_ALL].given;
    if (ways != 1)
        wrong = "say which objects: NAME..., '--selector' or '--all', and one of these only";
    else if (values[OPTION_PATH].given && !is_inside(values[OPTION_PATH].text))
        wrong = "option '--path' wants a folder inside the repository, as teams/web";
    if (wrong)
        vd_complain("%s; run 'vedette repo adopt --help'", wrong);
    return !wrong;
}

static enum vd_exit run(const struct vd_option_value *values)
{
    struct run r = {.values = values};
    struct vd_error error;
    enum vd_exit status = VD_EXIT_USAGE;
    if (!check(values))
        return status;
    if (vd_repo_open(&r.client, &r.name, values[OPTION_REPOSITORY].text, &values[OPTION_CLIENT],
                     &status)) {
        int code = read_repository(&r, &error);
        if (!code)
            code = read_objects(&r, &error);
        if (!code)
            code = push_objects(&r, &error);
        if (code) {
            vd_complain("%s", error.text);
            status = VD_EXIT_FAILED;
        } else {
            printf("adopted %zu object%s (%.*s) into %.*s/%.*s\n", vd_json_count(r.objects),
                   vd_json_count(r.objects) == 1 ? "" : "s", VD_FMT(r.resource.plural),
                   VD_FMT(r.name.namespace), VD_FMT(r.name.name));
        }
    }
    vd_client_release(&r.client);
    return status;
}

const struct vd_command vd_command_repo_adopt = {
    .name = "adopt",
    .summary = "Take objects that belong to the API into a repository.",
    .details = "Writes their manifests, commits them with git and pushes them. From then on only\n"
               "pushes change these objects. The user needs the verb update on each of them.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
