/* The first step of branch_admission.h: what changes is read, planned and tried out. */
#include "base/container_of.h"
#include "base/failpoint.h"
#include "base/limits.h"
#include "git/branch_admission.h"

static void finish(struct vd_branch_admission *b, enum vd_branch_result result)
{
    b->result = result;
    b->done(b);
}

static void fail(struct vd_branch_admission *b, const struct vd_error *error)
{
    b->error = *error;
    finish(b, VD_BRANCH_FAILED);
}

static void on_tried(struct vd_git_admission *a)
{
    struct vd_branch_admission *b = VD_CONTAINER_OF(a, struct vd_branch_admission, admission);
    enum vd_git_admission_result result = a->result;
    struct vd_error error = a->error;
    b->has_admission = false;
    vd_git_admission_release(a);
    vd_branch_admission_observe(b, "validation");
    VD_FAILPOINT("git.after_validation");
    if (result == VD_GIT_FAILED)
        fail(b, &error);
    else
        finish(b, result == VD_GIT_STALE     ? VD_BRANCH_STALE
                  : result == VD_GIT_REFUSED ? VD_BRANCH_REFUSED
                                             : VD_BRANCH_GOOD);
}

static void on_changes(struct vd_changes *c)
{
    struct vd_branch_admission *b = VD_CONTAINER_OF(c, struct vd_branch_admission, changes);
    if (c->error.code) {
        fail(b, &c->error);
        return;
    }
    b->has_admission = true;
    b->admission = (struct vd_git_admission){
        .l = c->l,
        .user = b->user,
        .namespace = b->namespace,
        .name = b->name,
        .uid = b->uid,
        .changes = c,
        .kinds = &b->kinds,
        .branches = b->branches,
        .branches_n = b->branches_n,
        .is_whole = b->is_whole,
        .reset = b->reset,
        .adopts = b->adopts,
        .report = &c->report,
        .dry_run = true,
        .done = on_tried,
    };
    vd_git_admission_start(&b->admission);
}

static bool reserve(struct vd_changes *c, uint64_t len)
{
    struct vd_branch_admission *b = VD_CONTAINER_OF(c, struct vd_branch_admission, changes);
    struct vd_admissions *all = b->all;
    uint64_t others = all->reserved - b->reserved;
    if (len > VD_PUSHES_MEMORY_MAX - others)
        return false;
    all->reserved = others + len;
    b->reserved = len;
    return true;
}

void vd_branch_admission_validate(struct vd_branch_admission *b, const struct vd_git_place *place,
                                  void (*done)(struct vd_branch_admission *b))
{
    b->done = done;
    b->started_ns = vd_clock_mono_ns(b->all->l->env->clock);
    if (!b->branches_n) {
        finish(b, VD_BRANCH_GOOD);
        return;
    }
    b->has_changes = true;
    b->changes = (struct vd_changes){
        .l = b->all->l,
        .place = *place,
        .branches = b->changed,
        .branches_n = b->branches_n,
        .file_len_max = b->file_len_max,
        .files_max = b->files_max,
        .is_whole = b->is_whole,
        .reserve = reserve,
        .done = on_changes,
    };
    vd_changes_start(&b->changes);
}

void vd_branch_admission_stop(struct vd_branch_admission *b)
{
    if (b->has_changes)
        vd_changes_stop(&b->changes);
}

void vd_branch_admission_release(struct vd_branch_admission *b)
{
    if (!b->all)
        return;
    b->all->reserved -= b->reserved;
    b->reserved = 0;
    vd_manifest_kinds_release(&b->kinds);
    if (b->has_changes)
        vd_changes_release(&b->changes);
    b->has_changes = false;
    vd_git_report_release(&b->report);
    vd_buf_release(&b->text);
}
