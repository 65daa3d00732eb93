/* See branch_admission.h: what its two steps, branch_validate.c and branch_admit.c, share. */
#include "git/branch_admission.h"

void vd_branch_admission_start_batch(struct vd_branch_admission *b, bool dry_run,
                                     void (*done)(struct vd_git_admission *a))
{
    b->has_admission = true;
    b->admission = (struct vd_git_admission){
        .l = b->all->l,
        .user = b->user,
        .namespace = b->namespace,
        .name = b->name,
        .uid = b->uid,
        .changes = &b->changes,
        .kinds = &b->kinds,
        .branches = b->branches,
        .branches_n = b->branches_n,
        .is_whole = b->is_whole,
        .reset = b->reset,
        .adopts = b->adopts,
        .report = dry_run ? &b->changes.report : &b->report,
        .dry_run = dry_run,
        .done = done,
    };
    vd_git_admission_start(&b->admission);
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
