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
    vd_branch_admission_start_batch(b, true, on_tried);
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
