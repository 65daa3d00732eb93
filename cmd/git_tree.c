/* See git_tree.h. */
#include "git_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <openssl/crypto.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "auth/private_file.h"
#include "terminal.h"

enum { FOLDERS_MAX = 16 }; /* descriptors that the removal of a folder uses */

/* ---- git's environment ---- */

void vd_git_tree_set(struct vd_git_tree *tree, const char *name, struct vd_slice value)
{
    struct vd_buf text = {0};
    vd_buf_addf(&text, "%s=%.*s", name, VD_FMT(value));
    *VD_VEC_PUSH(&tree->added) = vd_buf_take(&text, &(size_t){0});
}

/* A setting of git's, by variables: behind those that the user has given in this way. */
static void set_setting(struct vd_git_tree *tree, const char *key, struct vd_slice value)
{
    struct vd_buf name = {0};
    vd_buf_addf(&name, "GIT_CONFIG_KEY_%u", tree->settings);
    vd_git_tree_set(tree, vd_buf_text(&name), vd_slice_of(key));
    vd_buf_reset(&name);
    vd_buf_addf(&name, "GIT_CONFIG_VALUE_%u", tree->settings);
    vd_git_tree_set(tree, vd_buf_text(&name), value);
    vd_buf_release(&name);
    tree->settings++;
}

/* A file beside the work tree, and the variable that names it. */
static int set_file(struct vd_git_tree *tree, const char *variable, const char *name,
                    const struct vd_buf *text, struct vd_error *error)
{
    struct vd_buf path = {0};
    vd_buf_addf(&path, "%s/%s", vd_buf_text(&tree->folder), name);
    int code = vd_private_file_create(vd_buf_text(&path), vd_buf_slice(text), VD_FILE_MODE_SECRET,
                                      error);
    vd_git_tree_set(tree, variable, vd_buf_slice(&path));
    vd_buf_release(&path);
    return code;
}

static int set_credentials(struct vd_git_tree *tree, const struct vd_client *client,
                           struct vd_error *error)
{
    struct vd_buf header = {0}, key = {0};
    int code = VD_OK;
    if (client->peer.token.n) {
        vd_buf_addf(&key, "http.%s.extraHeader", vd_buf_text(&client->server));
        vd_buf_addf(&header, "Authorization: Bearer %s", vd_buf_text(&client->peer.token));
        set_setting(tree, vd_buf_text(&key), vd_buf_slice(&header));
        OPENSSL_cleanse(header.p, header.n);
    } else if (client->certificate.n) {
        code = set_file(tree, "GIT_SSL_CERT", "client.crt", &client->certificate, error);
        if (!code)
            code = set_file(tree, "GIT_SSL_KEY", "client.key", &client->key, error);
    }
    if (!code && client->ca_file.n)
        vd_git_tree_set(tree, "GIT_SSL_CAINFO", vd_buf_slice(&client->ca_file));
    else if (!code && client->ca.n)
        code = set_file(tree, "GIT_SSL_CAINFO", "ca.crt", &client->ca, error);
    vd_buf_release(&header);
    vd_buf_release(&key);
    return code;
}

int vd_git_tree_open(struct vd_git_tree *tree, const struct vd_client *client,
                     struct vd_error *error)
{
    const char *root = getenv("TMPDIR"), *count = getenv("GIT_CONFIG_COUNT");
    uint64_t settings = 0;
    struct vd_buf number = {0};
    *tree = (struct vd_git_tree){0};
    vd_buf_addf(&tree->folder, "%s/vedette-XXXXXX", root && *root ? root : "/tmp");
    if (!mkdtemp(tree->folder.p)) {
        int code = vd_error_set(error, VD_ERR_IO, "%s: %s", vd_buf_text(&tree->folder),
                                strerror(errno));
        vd_buf_reset(&tree->folder);
        return code;
    }
    if (count && vd_slice_to_u64(vd_slice_of(count), &settings) == 0 && settings < 1000)
        tree->settings = (unsigned)settings;
    vd_git_tree_set(tree, "GIT_TERMINAL_PROMPT", VD_SLICE("0"));
    /* A server that says nothing for a minute is not waited for. */
    set_setting(tree, "http.lowSpeedLimit", VD_SLICE("1"));
    set_setting(tree, "http.lowSpeedTime", VD_SLICE("60"));
    int code = set_credentials(tree, client, error);
    vd_buf_addf(&number, "%u", tree->settings);
    vd_git_tree_set(tree, "GIT_CONFIG_COUNT", vd_buf_slice(&number));
    vd_buf_release(&number);
    return code;
}

/* ---- git ---- */

/* Whether git gets this variable of the user's: neither one that is set here, nor one by which it
 * would work on another repository. */
static bool is_passed_on(const struct vd_git_tree *tree, const char *variable)
{
    static const char *const others[] = {
        "GIT_DIR=", "GIT_WORK_TREE=", "GIT_INDEX_FILE=", "GIT_PREFIX="};
    for (size_t i = 0; i < tree->added.n; i++) {
        size_t n = strcspn(tree->added.p[i], "=") + 1;
        if (strncmp(variable, tree->added.p[i], n) == 0)
            return false;
    }
    for (size_t i = 0; i < VD_COUNT(others); i++)
        if (strncmp(variable, others[i], strlen(others[i])) == 0)
            return false;
    return true;
}

static int spawn(const struct vd_git_tree *tree, char *const *argv, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    VD_VEC(char *) variables = {0};
    for (size_t i = 0; i < tree->added.n; i++)
        *VD_VEC_PUSH(&variables) = tree->added.p[i];
    for (char **v = environ; *v; v++)
        if (is_passed_on(tree, *v))
            *VD_VEC_PUSH(&variables) = *v;
    *VD_VEC_PUSH(&variables) = NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawnattr_init(&attributes);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE); /* which this program ignores */
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int failure = posix_spawnp(child, "git", &actions, &attributes, argv, variables.p);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    VD_VEC_RELEASE(&variables);
    return failure;
}

int vd_git_tree_run(const struct vd_git_tree *tree, const char *const *arguments,
                    struct vd_error *error)
{
    VD_VEC(char *) argv = {0};
    pid_t child;
    int state = 0;
    *VD_VEC_PUSH(&argv) = (char *)(uintptr_t) "git";
    *VD_VEC_PUSH(&argv) = (char *)(uintptr_t) "-C";
    *VD_VEC_PUSH(&argv) = tree->folder.p;
    for (size_t i = 0; arguments[i]; i++)
        *VD_VEC_PUSH(&argv) = (char *)(uintptr_t)arguments[i]; /* exec does not change them */
    *VD_VEC_PUSH(&argv) = NULL;
    fflush(stdout);
    int failure = spawn(tree, argv.p, &child);
    VD_VEC_RELEASE(&argv);
    if (failure)
        return vd_error_set(error, VD_ERR_IO, "git cannot be run: %s", strerror(failure));
    while (waitpid(child, &state, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
        return VD_OK;
    return vd_error_set(error, VD_ERR_IO, "git has failed; what it said stands above");
}

/* ---- files ---- */

static int make_folders(char *path, size_t from, struct vd_error *error)
{
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        int failed = mkdir(path, 0777) != 0 && errno != EEXIST;
        int code = failed ? vd_error_set(error, VD_ERR_IO, "%s: %s", path, strerror(errno)) : VD_OK;
        *slash = '/';
        if (code)
            return code;
    }
    return VD_OK;
}

int vd_git_tree_write(const struct vd_git_tree *tree, const char *path, struct vd_slice text,
                      struct vd_error *error)
{
    struct vd_buf whole = {0};
    vd_buf_addf(&whole, "%s/%s", vd_buf_text(&tree->folder), path);
    int code = make_folders(whole.p, tree->folder.n + 1, error);
    if (!code)
        code = vd_private_file_create(vd_buf_text(&whole), text, VD_FILE_MODE_PUBLIC, error);
    vd_buf_release(&whole);
    return code;
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *at)
{
    (void)about;
    (void)type;
    (void)at;
    return remove(path);
}

void vd_git_tree_close(struct vd_git_tree *tree)
{
    if (tree->folder.n &&
        nftw(vd_buf_text(&tree->folder), remove_entry, FOLDERS_MAX, FTW_DEPTH | FTW_PHYS) != 0)
        vd_complain("%s cannot be removed: %s", vd_buf_text(&tree->folder), strerror(errno));
    for (size_t i = 0; i < tree->added.n; i++) {
        OPENSSL_cleanse(tree->added.p[i], strlen(tree->added.p[i]));
        free(tree->added.p[i]);
    }
    VD_VEC_RELEASE(&tree->added);
    vd_buf_release(&tree->folder);
}
