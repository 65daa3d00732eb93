/* See sync.h. */
#include "git/sync.h"

#include "base/container_of.h"
#include "git/bare_repository.h"
#include "git/stored_object.h"

static void finish(struct vd_sync *s, enum vd_branch_result result)
{
    s->result = result;
    vd_folder_use_end(&s->use);
    s->done(s);
}

static void fail(struct vd_sync *s, const struct vd_error *error)
{
    s->error = *error;
    finish(s, VD_BRANCH_FAILED);
}

static void on_admitted(struct vd_branch_admission *b)
{
    struct vd_sync *s = VD_CONTAINER_OF(b, struct vd_sync, admission);
    s->error = b->error;
    finish(s, b->result);
}

static void on_validated(struct vd_branch_admission *b)
{
    struct vd_sync *s = VD_CONTAINER_OF(b, struct vd_sync, admission);
    if (b->result == VD_BRANCH_GOOD) {
        s->is_validated = true;
        vd_branch_admission_admit(b, s->commands, s->commands_n, on_admitted);
    } else {
        on_admitted(b);
    }
}

/* ---- which branches ---- */

static void add_branch(struct vd_sync *s, struct vd_slice name, struct vd_slice before,
                       struct vd_slice after)
{
    struct vd_branch_admission *b = &s->admission;
    size_t i = b->branches_n++;
    b->changed[i] = (struct vd_branch_change){
        .name = name, .before = {.commit = before}, .after = {.commit = after}};
    b->branches[i] = (struct vd_admitted_branch){name, before, after};
}

/* The store decides what the ref is to be: what it has now matters only if it goes. */
static void add_command(struct vd_sync *s, struct vd_slice branch, struct vd_slice before,
                        struct vd_slice after)
{
    static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
    struct vd_buf ref = {0};
    vd_buf_addf(&ref, "refs/heads/%.*s", VD_FMT(branch));
    s->commands[s->commands_n++] = (struct vd_ref_command){
        .before = after.n ? VD_SLICE("") : before,
        .after = after.n ? after : vd_slice(zeros, before.n),
        .ref = vd_arena_copy(&s->arena, vd_buf_slice(&ref)),
    };
    vd_buf_release(&ref);
}

/* The branch gets its commit, and the other ones go. */
static void add_followed(struct vd_sync *s, const struct vd_repository *repository)
{
    struct vd_slice recorded = VD_SLICE("");
    (void)vd_repository_commit(repository, s->branch, &recorded);
    add_branch(s, s->branch, recorded, s->commit);
    add_command(s, s->branch, recorded, s->commit);
    VD_JSON_EACH (item, repository->recorded) {
        struct vd_slice name = vd_json_text(vd_json_get(item, VD_SLICE("name")));
        struct vd_slice commit = vd_json_text(vd_json_get(item, VD_SLICE("commit")));
        if (!commit.n || vd_slice_eq(name, s->branch))
            continue;
        add_branch(s, name, commit, VD_SLICE(""));
        add_command(s, name, commit, VD_SLICE(""));
    }
}

static void add_recorded(struct vd_sync *s, const struct vd_repository *repository)
{
    VD_JSON_EACH (item, repository->recorded) {
        struct vd_slice commit = vd_json_text(vd_json_get(item, VD_SLICE("commit")));
        if (commit.n)
            add_branch(s, vd_json_text(vd_json_get(item, VD_SLICE("name"))), commit, commit);
    }
}

static void begin(struct vd_sync *s, const struct vd_repository *repository)
{
    size_t n = vd_json_count(repository->recorded) + 1;
    struct vd_buf folder = {0};
    vd_bare_repository_path(&folder, s->all->root, repository->uid);
    s->commands = vd_arena_alloc(&s->arena, n * sizeof *s->commands);
    s->admission = (struct vd_branch_admission){
        .all = s->all,
        .namespace = s->namespace,
        .name = s->name,
        .uid = s->uid,
        .folder = vd_arena_copy(&s->arena, vd_buf_slice(&folder)).p,
        .user = s->user,
        .changed = vd_arena_alloc(&s->arena, n * sizeof(struct vd_branch_change)),
        .branches = vd_arena_alloc(&s->arena, n * sizeof(struct vd_admitted_branch)),
        .file_len_max = repository->file_len_max,
        .files_max = repository->files_max,
        .is_whole = !s->branch.n,
        .reset = s->reset,
    };
    vd_buf_release(&folder);
    if (s->branch.n)
        add_followed(s, repository);
    else
        add_recorded(s, repository);
}

void vd_sync_start(struct vd_sync *s)
{
    struct vd_repository repository;
    struct vd_error error;
    vd_folder_use_begin(&s->use, &s->all->uses, s->uid);
    if (vd_stored_repository(s->all->l->env, s->namespace, s->name, s->uid, &s->arena, &repository,
                             &error)) {
        fail(s, &error);
        return;
    }
    if (repository.is_deleting) {
        (void)vd_error_set(&error, VD_ERR_CLOSED, "Repository %.*s is being deleted",
                           VD_FMT(s->name));
        fail(s, &error);
        return;
    }
    begin(s, &repository);
    struct vd_git_place place = {.program = s->all->program, .folder = s->admission.folder};
    vd_branch_admission_validate(&s->admission, &place, on_validated);
}

void vd_sync_stop(struct vd_sync *s)
{
    s->admission.is_cancelled = true;
    if (!s->is_validated)
        vd_branch_admission_stop(&s->admission);
}

void vd_sync_release(struct vd_sync *s)
{
    vd_branch_admission_release(&s->admission);
    vd_arena_release(&s->arena);
    s->admission = (struct vd_branch_admission){0};
    s->is_validated = false;
    s->commands_n = 0;
}

/* ---- what people are told ---- */

static struct vd_git_report *report_of(struct vd_sync *s)
{
    return s->is_validated ? &s->admission.report : &s->admission.changes.report;
}

bool vd_sync_is_forbidden(struct vd_sync *s)
{
    return s->result == VD_BRANCH_REFUSED && report_of(s)->forbidden > 0;
}

void vd_sync_write_text(struct vd_buf *out, struct vd_sync *s)
{
    struct vd_git_report *report = report_of(s);
    switch (s->result) {
    case VD_BRANCH_GOOD:
    case VD_BRANCH_BEHIND:
        vd_buf_add_slice(out, vd_buf_slice(&s->admission.text));
        return;
    case VD_BRANCH_STALE:
        vd_buf_add_text(out, "somebody else has changed the branches meanwhile");
        return;
    case VD_BRANCH_REFUSED:
        vd_git_report_sort(report);
        vd_git_report_write_text(out, report);
        return;
    case VD_BRANCH_LOCKED:
    case VD_BRANCH_FAILED:
        vd_buf_add_text(out, s->error.text);
    }
}
