/*
 * vedette lint: checks the manifests of a work tree before they are pushed.
 *
 * The tree is the one that the path lies in: the nearest folder upwards that has .vedette.yaml or
 * .git. All of it is read, since definitions and namesakes may stand anywhere in it; only findings
 * in the paths that were given are printed.
 */
#include "git/lint.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "command.h"
#include "lint_server.h"
#include "terminal.h"
#include "work_tree.h"

enum {
    OPTION_PATH,
    OPTION_NAMESPACE,
    OPTION_OUTPUT,
    OPTION_MAX_ERRORS,
    OPTION_SERVER,
    OPTION_TOKEN_FILE,
    OPTION_CA_FILE,
};

static const struct vd_option options[] = {
    [OPTION_PATH] = {.name = "path",
                     .value = "PATH...",
                     .type = VD_OPTION_TEXT,
                     .required = true,
                     .operand = true,
                     .repeated = true,
                     .help = "folders and files of a work tree"},
    [OPTION_NAMESPACE] = {.name = "namespace",
                          .value = "NAME",
                          .type = VD_OPTION_TEXT,
                          .help = "of the repository, for objects that name none; default unless "
                                  "given"},
    [OPTION_OUTPUT] = {.name = "output",
                       .value = "FORMAT",
                       .type = VD_OPTION_TEXT,
                       .choices = "text json github",
                       .help = "text, json, or github for the log of a workflow"},
    [OPTION_MAX_ERRORS] = {.name = "max-errors",
                           .value = "N",
                           .type = VD_OPTION_NUMBER,
                           .help = "errors that are shown; the rest is counted. 1000 unless given"},
    [OPTION_SERVER] = {.name = "server",
                       .value = "URL",
                       .type = VD_OPTION_TEXT,
                       .help = "ask this server about each object as well, by dry runs"},
    [OPTION_TOKEN_FILE] = {.name = "token-file",
                           .value = "FILE",
                           .type = VD_OPTION_TEXT,
                           .help = "the token for that server; VEDETTE_TOKEN unless given"},
    [OPTION_CA_FILE] = {.name = "ca-file",
                        .value = "FILE",
                        .type = VD_OPTION_TEXT,
                        .help = "the authority of that server; those of the system unless given"},
};

/* ---- paths ---- */

/* A work tree, and which of its paths were given. The texts are the arena's. */
struct tree {
    struct vd_slice root;             /* absolute */
    VD_VEC(struct vd_slice) selected; /* from the root; an empty one is all of it */
};

struct trees {
    VD_VEC(struct tree) list;
    struct vd_arena arena;
};

static void trees_release(struct trees *trees)
{
    for (size_t i = 0; i < trees->list.n; i++)
        VD_VEC_RELEASE(&trees->list.p[i].selected);
    VD_VEC_RELEASE(&trees->list);
    vd_arena_release(&trees->arena);
}

static bool exists_in(const char *folder, const char *name)
{
    struct vd_buf path = {0};
    struct stat about;
    vd_buf_addf(&path, "%s/%s", folder, name);
    bool found = lstat(vd_buf_text(&path), &about) == 0;
    vd_buf_release(&path);
    return found;
}

/* The bytes of the absolute path that are the root of its work tree. Without one that can be told,
 * the folder itself. */
static size_t root_len(const char *path, bool is_folder)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t n = is_folder ? strlen(path) : (size_t)(slash - path);
    for (size_t i = n; i > 0; i = (size_t)(strrchr(folder, '/') - folder)) {
        memcpy(folder, path, i);
        folder[i] = 0;
        if (exists_in(folder, VD_REPOSITORY_CONFIG_PATH) || exists_in(folder, ".git"))
            return i;
    }
    return n ? n : 1;
}

static struct tree *tree_of(struct trees *trees, struct vd_slice root)
{
    for (size_t i = 0; i < trees->list.n; i++)
        if (vd_slice_eq(trees->list.p[i].root, root))
            return &trees->list.p[i];
    struct tree *made = VD_VEC_PUSH(&trees->list);
    *made = (struct tree){.root = vd_arena_copy(&trees->arena, root)};
    return made;
}

/* Notes a path of the command line; false if there is none such. */
static bool select_path(struct trees *trees, const char *path)
{
    struct stat about;
    char *whole = realpath(path, NULL);
    if (!whole || stat(whole, &about) != 0) {
        vd_complain("%s: %s", path, strerror(errno));
        free(whole);
        return false;
    }
    size_t n = root_len(whole, S_ISDIR(about.st_mode));
    struct tree *t = tree_of(trees, vd_slice(whole, n));
    struct vd_slice rest = vd_slice_of(whole + n);
    if (rest.n && rest.p[0] == '/')
        rest = vd_slice_from(rest, 1);
    *VD_VEC_PUSH(&t->selected) = vd_arena_copy(&trees->arena, rest);
    free(whole);
    return true;
}

/* Whether something of the path is to be told: a path that was given, or one below it. */
static bool is_selected(void *arg, struct vd_slice path)
{
    const struct tree *t = arg;
    if (!path.n || vd_slice_is(path, VD_REPOSITORY_CONFIG_PATH))
        return true;
    for (size_t i = 0; i < t->selected.n; i++) {
        struct vd_slice chosen = t->selected.p[i];
        if (!chosen.n ||
            (vd_slice_starts_with(path, chosen) && (path.n == chosen.n || path.p[chosen.n] == '/')))
            return true;
    }
    return false;
}

/* What stands before the tree's paths when they are told: from the current folder, if the tree is
 * inside it; nothing if the current folder is inside the tree. */
static void prefix_of(struct vd_slice tree, struct vd_buf *out)
{
    char *here = realpath(".", NULL);
    struct vd_slice folder = vd_slice_of(here ? here : "");
    bool inside = vd_slice_starts_with(folder, tree) &&
                  (folder.n == tree.n || folder.p[tree.n] == '/');
    if (!inside && folder.n > 1 && vd_slice_starts_with(tree, folder) && tree.p[folder.n] == '/')
        vd_buf_addf(out, "%s/", tree.p + folder.n + 1);
    else if (!inside)
        vd_buf_addf(out, "%s/", tree.p);
    free(here);
}

/* ---- the work ---- */

/* What one run of the command works with. */
struct run {
    struct vd_slice namespace;
    struct vd_client client;
    bool asks; /* the client's server */
    struct vd_git_report report;
    size_t files, manifests;
};

/* Reads .vedette.yaml; false if it is wrong. */
static bool configure(struct vd_git_lint *l, const struct vd_work_tree *tree,
                      struct vd_git_report *report)
{
    struct vd_buf text = {0};
    bool ok = true;
    for (size_t i = 0; i < tree->entries.n; i++) {
        struct vd_slice path = tree->entries.p[i].path;
        if (!vd_slice_is(path, VD_REPOSITORY_CONFIG_PATH))
            continue;
        const char *problem = vd_work_tree_read(tree, path, VD_GIT_CONFIG_LEN_MAX, &text);
        if (problem)
            vd_git_report_add(report, VD_GIT_ERROR, path, (struct vd_yaml_position){0},
                              VD_SLICE(""), "cannot be read: %s", problem);
        ok = !problem && vd_git_lint_configure(l, vd_buf_slice(&text), report);
    }
    vd_buf_release(&text);
    return ok;
}

static void add_files(struct vd_git_lint *l, const struct vd_work_tree *tree,
                      struct vd_git_report *report)
{
    struct vd_buf text = {0};
    for (size_t i = 0; i < tree->entries.n; i++) {
        const struct vd_work_tree_entry *e = &tree->entries.p[i];
        if (!vd_git_lint_wants(l, e->path, e->mode, e->len, report))
            continue;
        vd_buf_reset(&text);
        const char *problem = vd_work_tree_read(tree, e->path, VD_GIT_FILE_LEN_DEFAULT, &text);
        if (problem)
            vd_git_report_add(report, VD_GIT_ERROR, e->path, (struct vd_yaml_position){0},
                              VD_SLICE(""), "cannot be read: %s", problem);
        else
            vd_git_lint_add(l, e->path, vd_buf_slice(&text), report);
    }
    vd_buf_release(&text);
}

/* Checks all files of the tree, and asks the server if there is one. */
static int check_tree(struct run *r, struct vd_git_lint *l, const struct vd_work_tree *tree,
                      struct vd_error *error)
{
    int code = VD_OK;
    for (size_t i = 0; i < tree->problems.n; i++)
        vd_git_report_add(&r->report, VD_GIT_ERROR, tree->problems.p[i].path,
                          (struct vd_yaml_position){0}, VD_SLICE(""), "cannot be read: %s",
                          tree->problems.p[i].reason);
    if (!configure(l, tree, &r->report))
        return VD_OK;
    if (r->asks)
        code = vd_lint_server_learn(&r->client, l, &r->report, error);
    if (code)
        return code;
    add_files(l, tree, &r->report);
    vd_git_lint_check(l, &r->report);
    return r->asks ? vd_lint_server_check(&r->client, l, &r->report, error) : VD_OK;
}

static int lint_tree(struct run *r, struct tree *t, struct vd_error *error)
{
    struct vd_work_tree tree;
    struct vd_buf prefix = {0};
    int code = vd_work_tree_open(&tree, t->root.p, error);
    if (code)
        return code;
    struct vd_git_lint *l = vd_git_lint_new(r->namespace);
    prefix_of(t->root, &prefix);
    r->report.prefix = vd_buf_slice(&prefix);
    r->report.takes = is_selected;
    r->report.takes_arg = t;
    code = check_tree(r, l, &tree, error);
    r->files += vd_git_lint_file_count(l);
    r->manifests += vd_git_lint_manifests(l)->list.n;
    vd_git_lint_free(l);
    vd_work_tree_close(&tree);
    vd_buf_release(&prefix);
    return code;
}

/* ---- the answer ---- */

/* Adds "3 errors" and what stands behind it. */
static void add_count(struct vd_buf *out, size_t n, const char *what, const char *behind)
{
    vd_buf_addf(out, "%zu %s%s%s", n, what, n == 1 ? "" : "s", behind);
}

static void print_report(const struct run *r, const char *format)
{
    const struct vd_git_report *report = &r->report;
    struct vd_buf out = {0};
    if (strcmp(format, "json") == 0)
        vd_git_report_write_json(&out, report);
    else if (strcmp(format, "github") == 0)
        vd_git_report_write_github(&out, report);
    else
        vd_git_report_write_text(&out, report);
    fwrite(out.p ? out.p : "", 1, out.n, stdout);
    fflush(stdout);
    vd_buf_reset(&out);
    add_count(&out, r->manifests, "manifest", " in ");
    add_count(&out, r->files, "file", ": ");
    add_count(&out, report->found[VD_GIT_ERROR], "error", ", ");
    add_count(&out, report->found[VD_GIT_WARNING], "warning", "\n");
    fputs(vd_buf_text(&out), stderr);
    vd_buf_release(&out);
}

static enum vd_exit check_options(const struct vd_option_value *values)
{
    const char *namespace = values[OPTION_NAMESPACE].text;
    if (namespace && namespace[strspn(namespace, "abcdefghijklmnopqrstuvwxyz0123456789-")]) {
        vd_complain("option '--namespace' wants the name of a namespace, not '%s'; run 'vedette "
                    "lint --help'",
                    namespace);
        return VD_EXIT_USAGE;
    }
    if (values[OPTION_MAX_ERRORS].given && !values[OPTION_MAX_ERRORS].number) {
        vd_complain("option '--max-errors' wants a number from 1 on; run 'vedette lint --help'");
        return VD_EXIT_USAGE;
    }
    return VD_EXIT_OK;
}

/* Prepares to ask the server, if one is given. */
static int set_server(struct run *r, const struct vd_option_value *values, struct vd_error *error)
{
    r->asks = values[OPTION_SERVER].given;
    return r->asks ? vd_client_open_server(&r->client, values[OPTION_SERVER].text,
                                           values[OPTION_TOKEN_FILE].text,
                                           values[OPTION_CA_FILE].text, error)
                   : VD_OK;
}

static int lint_trees(struct run *r, struct trees *trees, struct vd_error *error)
{
    int code = VD_OK;
    for (size_t i = 0; !code && i < trees->list.n; i++)
        code = lint_tree(r, &trees->list.p[i], error);
    return code;
}

static enum vd_exit run(const struct vd_option_value *values)
{
    const struct vd_option_value *paths = &values[OPTION_PATH];
    const char *namespace = values[OPTION_NAMESPACE].text, *format = values[OPTION_OUTPUT].text;
    struct run r = {.namespace = vd_slice_of(namespace ? namespace : "default"),
                    .report = {.kept_max = values[OPTION_MAX_ERRORS].number}};
    struct trees trees = {0};
    struct vd_error error;
    enum vd_exit status = check_options(values);
    for (size_t i = 0; !status && i < paths->count; i++)
        if (!select_path(&trees, paths->texts[i]))
            status = VD_EXIT_USAGE;
    if (!status && set_server(&r, values, &error)) {
        vd_complain("%s", error.text);
        status = VD_EXIT_USAGE;
    }
    if (!status && lint_trees(&r, &trees, &error)) {
        vd_complain("%s", error.text);
        status = VD_EXIT_FAILED;
    } else if (!status) {
        vd_git_report_sort(&r.report);
        print_report(&r, format ? format : "text");
        status = vd_git_report_has_errors(&r.report) ? VD_EXIT_FAILED : VD_EXIT_OK;
    }
    vd_git_report_release(&r.report);
    vd_client_release(&r.client);
    trees_release(&trees);
    return status;
}

const struct vd_command vd_command_lint = {
    .name = "lint",
    .summary = "Check the manifests of a work tree as a push of them would be.",
    .details =
        "Reads the whole work tree that the paths lie in, and tells what is wrong in them:\n"
        "PATH:LINE:COLUMN: FIELD: REASON. Objects are checked against the built-in kinds and\n"
        "the CustomResourceDefinitions in the tree.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
