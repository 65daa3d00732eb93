/* See changes.h. One `git cat-file` answers all questions about objects, step by step:
 *
 *     ids of .vedette.yaml -> their contents -> (diff-tree, ls-tree)
 *     -> lengths of files -> their contents -> a worker parses them
 */
#include "git/changes.h"

#include "base/container_of.h"
#include "base/limits.h"

enum step { CONFIG_IDS, CONFIGS, TREES, LENGTHS, CONTENTS, PARSING };

static struct vd_changes *of_blobs(struct vd_blobs *blobs)
{
    return VD_CONTAINER_OF(blobs, struct vd_changes, blobs);
}

static void fail(struct vd_changes *c, const struct vd_error *error)
{
    if (!c->error.code)
        c->error = *error;
    vd_blobs_close(&c->blobs);
}

/* The i-th side of all: both of the first branch, both of the second, ... */
static struct vd_branch_side *side_at(struct vd_changes *c, size_t i)
{
    struct vd_branch_change *branch = &c->branches[i / 2];
    return i % 2 ? &branch->after : &branch->before;
}

/* ---- .vedette.yaml ---- */

static void ask_config_ids(struct vd_changes *c)
{
    char name[160];
    c->step = CONFIG_IDS;
    c->at = 0;
    for (size_t i = 0; i < 2 * c->branches_n; i++) {
        struct vd_slice commit = side_at(c, i)->commit;
        int n = snprintf(name, sizeof name, "%.*s:%s", VD_FMT(commit), VD_REPOSITORY_CONFIG_PATH);
        if (commit.n)
            vd_blobs_ask(&c->blobs, vd_slice(name, (size_t)n), VD_BLOB_INFO);
    }
    vd_blobs_flush(&c->blobs);
}

static void take_config_id(struct vd_changes *c, const struct vd_object_answer *answer)
{
    while (!side_at(c, c->at)->commit.n)
        c->at++;
    struct vd_branch_side *side = side_at(c, c->at++);
    if (!answer->found || !vd_slice_is(answer->type, "blob"))
        return;
    side->config_id = vd_arena_copy(&c->arena, answer->id);
    if (answer->len > VD_GIT_CONFIG_LEN_MAX && side->commit.p)
        (void)vd_error_set(&c->error, VD_ERR_LIMIT, "%s has more than %d bytes",
                           VD_REPOSITORY_CONFIG_PATH, VD_GIT_CONFIG_LEN_MAX);
}

static void ask_configs(struct vd_changes *c)
{
    c->step = CONFIGS;
    c->at = 0;
    for (size_t i = 0; i < 2 * c->branches_n; i++)
        if (side_at(c, i)->config_id.n)
            vd_blobs_ask(&c->blobs, side_at(c, i)->config_id, VD_BLOB_CONTENTS);
    vd_blobs_flush(&c->blobs);
}

/* What is wrong with the old one was so when it was admitted: nobody is told. */
static void take_config(struct vd_changes *c, const struct vd_object_answer *answer)
{
    while (!side_at(c, c->at)->config_id.n)
        c->at++;
    bool is_new = c->at % 2;
    struct vd_branch_side *side = side_at(c, c->at++);
    struct vd_git_report ignored = {0};
    struct vd_slice text = vd_arena_copy(&c->arena, answer->contents);
    if (!vd_repository_config_read(&side->config, text, is_new ? &c->report : &ignored)) {
        vd_repository_config_release(&side->config);
        side->config = (struct vd_repository_config){0};
    }
    vd_git_report_release(&ignored);
}

/* ---- which files ---- */

static void ask_lengths(struct vd_changes *c);

static bool takes_file(const struct vd_tree_files *files, bool is_new, struct vd_slice path)
{
    const struct vd_branch_change *branch = files->arg;
    return vd_git_path_counts(is_new ? &branch->after.config : &branch->before.config, path);
}

static void prepare_branch(struct vd_changes *c, struct vd_branch_change *branch)
{
    branch->files.files_max = c->files_max;
    branch->files.takes = takes_file;
    branch->files.arg = branch;
    branch->is_same = vd_slice_eq(branch->before.commit, branch->after.commit);
    branch->reads_all = c->is_whole || !branch->before.commit.n || !branch->after.commit.n ||
                        !vd_slice_eq(branch->before.config_id, branch->after.config_id);
}

/* Three runs of git for each branch at most: the difference, or one list or two. True: one was
 * started, or has failed to. */
static bool start_tree(struct vd_changes *c, size_t at)
{
    struct vd_branch_change *branch = &c->branches[at / 3];
    enum vd_tree_format format = (enum vd_tree_format)(at % 3);
    struct vd_error error;
    if (format == VD_TREE_DIFF)
        prepare_branch(c, branch);
    bool wanted = format == VD_TREE_DIFF ? !branch->reads_all
                  : format == VD_TREE_LIST_OLD
                      ? branch->reads_all && branch->before.commit.n && !branch->is_same
                      : branch->reads_all && branch->after.commit.n;
    if (!wanted)
        return false;
    if (vd_tree_diff_start(&c->diff, c->l->loop, &c->place, format, branch->before.commit,
                           branch->after.commit, &branch->files, &error))
        fail(c, &error);
    return true;
}

static void next_tree(struct vd_changes *c)
{
    while (c->at < 3 * c->branches_n)
        if (start_tree(c, c->at++))
            return;
    ask_lengths(c);
}

static void finish_if_idle(struct vd_changes *c);

static void on_tree(struct vd_tree_diff *diff, const struct vd_error *error)
{
    struct vd_changes *c = VD_CONTAINER_OF(diff, struct vd_changes, diff);
    if (error)
        fail(c, error);
    else if (!c->error.code && !c->is_stopped)
        next_tree(c);
    finish_if_idle(c);
}

static void read_trees(struct vd_changes *c)
{
    c->step = TREES;
    c->at = 0;
    c->diff.ended = on_tree;
    next_tree(c);
}

/* ---- their contents ---- */

static uint32_t mode_of(enum vd_file_type type)
{
    return type == VD_FILE_SYMLINK     ? VD_GIT_MODE_SYMLINK
           : type == VD_FILE_SUBMODULE ? VD_GIT_MODE_SUBMODULE
                                       : 0100644;
}

static void gather_files(struct vd_changes *c, struct vd_branch_change *branch, bool is_new)
{
    const struct vd_tree_file_list *list = is_new ? &branch->files.new_files
                                                  : &branch->files.old_files;
    for (size_t i = 0; i < list->n; i++) {
        const struct vd_tree_file *file = &list->p[i];
        if (file->type == VD_FILE_REGULAR)
            *VD_VEC_PUSH(&c->files) = (struct vd_changed_file){
                .branch = branch,
                .side = is_new ? &branch->after : &branch->before,
                .file = file,
                .is_new = is_new,
            };
        else if (is_new) /* a warning says that it is not read */
            (void)!vd_git_entry_check(file->path, mode_of(file->type), 0, 0, &c->report);
    }
}

static void ask_lengths(struct vd_changes *c)
{
    c->step = LENGTHS;
    c->at = 0;
    for (size_t i = 0; i < c->branches_n; i++) {
        gather_files(c, &c->branches[i], false);
        gather_files(c, &c->branches[i], true);
    }
    for (size_t i = 0; i < c->files.n; i++)
        vd_blobs_ask(&c->blobs, c->files.p[i].file->id, VD_BLOB_INFO);
    vd_blobs_flush(&c->blobs);
}

/* A file whose text is not wanted has p == NULL; the others get theirs later. */
static void take_length(struct vd_changes *c, const struct vd_object_answer *answer)
{
    struct vd_changed_file *f = &c->files.p[c->at++];
    struct vd_git_report ignored = {0};
    bool wanted = answer->found &&
                  vd_git_entry_check(f->file->path, mode_of(f->file->type), answer->len,
                                     c->file_len_max, f->is_new ? &c->report : &ignored);
    vd_git_report_release(&ignored);
    f->text = wanted ? VD_SLICE("") : vd_slice(NULL, 0);
    c->len += wanted ? answer->len : 0;
}

static void reserve(struct vd_changes *c, uint64_t len)
{
    if (!c->error.code && c->reserve && !c->reserve(c, len))
        (void)vd_error_set(&c->error, VD_ERR_LIMIT,
                           "other pushes need the memory for their manifests; push again in a "
                           "moment");
}

static bool check_len(struct vd_changes *c)
{
    if (c->len > VD_PUSH_MANIFESTS_LEN_MAX)
        (void)vd_error_set(&c->error, VD_ERR_LIMIT,
                           "the manifests that change have more than %d bytes, old and "
                           "new ones together; push them in several pushes",
                           VD_PUSH_MANIFESTS_LEN_MAX);
    else
        reserve(c, c->len);
    return !c->error.code;
}

static void ask_contents(struct vd_changes *c)
{
    c->step = CONTENTS;
    c->at = 0;
    if (!check_len(c)) {
        vd_blobs_close(&c->blobs);
        return;
    }
    for (size_t i = 0; i < c->files.n; i++)
        if (c->files.p[i].text.p)
            vd_blobs_ask(&c->blobs, c->files.p[i].file->id, VD_BLOB_CONTENTS);
    vd_blobs_flush(&c->blobs);
}

static void take_contents(struct vd_changes *c, const struct vd_object_answer *answer)
{
    while (!c->files.p[c->at].text.p)
        c->at++;
    c->files.p[c->at++].text = vd_arena_copy(&c->arena, answer->contents);
}

/* ---- parsing ---- */

/* On a worker's thread. */
static void parse(struct vd_pool_item *item)
{
    struct vd_changes *c = VD_CONTAINER_OF(item, struct vd_changes, parsing);
    for (size_t i = 0; i < c->files.n && !c->error.code; i++) {
        const struct vd_changed_file *f = &c->files.p[i];
        struct vd_git_file file = {f->file->path, f->text};
        struct vd_git_report ignored = {0};
        if (f->text.p)
            (void)vd_git_file_read(&file, &f->side->config, &c->arena, &f->side->manifests,
                                   f->is_new ? &c->report : &ignored);
        vd_git_report_release(&ignored);
        if (vd_arena_used(&c->arena) > VD_PUSH_MEMORY_MAX)
            (void)vd_error_set(&c->error, VD_ERR_LIMIT,
                               "the manifests that the push changes take more than %d bytes of "
                               "memory when they are parsed; push them in several pushes",
                               VD_PUSH_MEMORY_MAX);
    }
}

static void on_parsed(struct vd_pool_item *item)
{
    struct vd_changes *c = VD_CONTAINER_OF(item, struct vd_changes, parsing);
    c->is_parsing = false;
    reserve(c, vd_arena_used(&c->arena));
    finish_if_idle(c);
}

static void start_parsing(struct vd_changes *c)
{
    c->step = PARSING;
    vd_blobs_close(&c->blobs);
    c->is_parsing = true;
    c->parsing.run = parse;
    c->parsing.done = on_parsed;
    vd_worker_pool_add(&c->l->worker_pool, c->l->loop, &c->l->worker_flow, &c->parsing);
}

/* ---- the way through ---- */

static void on_answer(struct vd_blobs *blobs, const struct vd_object_answer *answer)
{
    struct vd_changes *c = of_blobs(blobs);
    if (c->step == CONFIG_IDS)
        take_config_id(c, answer);
    else if (c->step == CONFIGS)
        take_config(c, answer);
    else if (c->step == LENGTHS)
        take_length(c, answer);
    else
        take_contents(c, answer);
}

static void on_settled(struct vd_blobs *blobs)
{
    struct vd_changes *c = of_blobs(blobs);
    if (c->error.code)
        vd_blobs_close(&c->blobs);
    else if (c->step == CONFIG_IDS)
        ask_configs(c);
    else if (c->step == CONFIGS)
        read_trees(c);
    else if (c->step == LENGTHS)
        ask_contents(c);
    else
        start_parsing(c);
}

static void on_ended(struct vd_blobs *blobs, const struct vd_error *error)
{
    struct vd_changes *c = of_blobs(blobs);
    if (error && !c->error.code)
        c->error = *error;
    if (vd_git_process_is_running(&c->diff.git))
        vd_tree_diff_stop(&c->diff);
    finish_if_idle(c);
}

static void finish_if_idle(struct vd_changes *c)
{
    if (c->is_done || c->is_parsing || vd_git_process_is_running(&c->blobs.git) ||
        vd_git_process_is_running(&c->diff.git))
        return;
    c->is_done = true;
    if (c->is_stopped)
        (void)vd_error_set(&c->error, VD_ERR_CLOSED, "the push was given up");
    c->done(c);
}

static const struct vd_blobs_ops blobs_ops = {
    .answer = on_answer,
    .settled = on_settled,
    .ended = on_ended,
};

void vd_changes_start(struct vd_changes *c)
{
    c->blobs.len_max = c->file_len_max > VD_GIT_CONFIG_LEN_MAX ? c->file_len_max
                                                               : VD_GIT_CONFIG_LEN_MAX;
    if (vd_blobs_start(&c->blobs, c->l->loop, &c->place, &blobs_ops, &c->error)) {
        c->is_done = true;
        c->done(c);
        return;
    }
    ask_config_ids(c);
}

void vd_changes_stop(struct vd_changes *c)
{
    if (c->is_done || c->is_stopped)
        return;
    c->is_stopped = true;
    vd_blobs_close(&c->blobs);
    vd_tree_diff_stop(&c->diff);
}

static void release_side(struct vd_branch_side *side)
{
    vd_repository_config_release(&side->config);
    VD_VEC_RELEASE(&side->manifests.list);
}

void vd_changes_release(struct vd_changes *c)
{
    for (size_t i = 0; i < c->branches_n; i++) {
        release_side(&c->branches[i].before);
        release_side(&c->branches[i].after);
        vd_tree_files_release(&c->branches[i].files);
    }
    VD_VEC_RELEASE(&c->files);
    vd_git_report_release(&c->report);
    vd_arena_release(&c->arena);
}
