/* proc-receive: the objects are in the repository; the push is admitted and its refs are moved
 * (git/branch_admission.h), and git is told what became of it. */
#include "base/container_of.h"
#include "git/push_internal.h"

/* ---- the outcome ---- */

static void finish(struct vd_push *p, struct vd_slice text, const char *reason, const char *result)
{
    vd_push_count(result);
    vd_push_report(p, text, reason);
    vd_push_rest(p);
}

static void finish_well(struct vd_push *p)
{
    const struct vd_admissions *all = p->pushes->all;
    struct vd_buf *text = &p->branches.text;
    if (p->mends && all->refs_behind) /* the condition of the Repository says so at once */
        all->refs_behind(all->arg, p->namespace, p->name);
    if (p->branches.is_admitted)
        vd_buf_add_char(text, '\n');
    finish(p, vd_buf_slice(text), NULL, "admitted");
}

static void finish_behind(struct vd_push *p)
{
    struct vd_branch_admission *b = &p->branches;
    vd_buf_addf(&b->text,
                ", but git could not move its refs: %s\nthe server tries again by itself\n",
                b->error.text);
    finish(p, vd_buf_slice(&b->text), "admitted, but the ref could not be moved yet", "admitted");
}

/* The batch was refused: somebody was faster than the push. */
static void finish_refused(struct vd_push *p)
{
    struct vd_branch_admission *b = &p->branches;
    bool failed = b->result == VD_BRANCH_FAILED;
    struct vd_buf text = {0};
    if (failed)
        vd_buf_addf(&text, "%s\n", b->error.text);
    vd_git_report_sort(&b->report);
    vd_git_report_write_text(&text, &b->report);
    finish(p, vd_buf_slice(&text), "not admitted", failed ? "failed" : "stale");
    vd_buf_release(&text);
}

static void finish_locked(struct vd_push *p)
{
    struct vd_buf text = {0};
    vd_buf_addf(&text, "%s\n", p->branches.error.text);
    finish(p, vd_buf_slice(&text), "the ref cannot be moved", "failed");
    vd_buf_release(&text);
}

static void on_admitted(struct vd_branch_admission *b)
{
    struct vd_push *p = VD_CONTAINER_OF(b, struct vd_push, branches);
    switch (b->result) {
    case VD_BRANCH_GOOD:
        finish_well(p);
        return;
    case VD_BRANCH_BEHIND:
        finish_behind(p);
        return;
    case VD_BRANCH_STALE:
        finish(p, VD_SLICE(""), "stale: fetch first", "stale");
        return;
    case VD_BRANCH_LOCKED:
        finish_locked(p);
        return;
    case VD_BRANCH_REFUSED:
    case VD_BRANCH_FAILED:
        finish_refused(p);
    }
}

/* ---- the beginning ---- */

/* git may have refused some of the refs for itself: then the rest is not what was validated. */
static bool is_what_was_validated(const struct vd_push *p)
{
    if (p->commands.n != p->validated.n)
        return false;
    for (size_t i = 0; i < p->commands.n; i++)
        if (!vd_slice_eq(p->commands.p[i].ref, p->validated.p[i].ref) ||
            !vd_slice_eq(p->commands.p[i].after, p->validated.p[i].after) ||
            !vd_slice_eq(p->commands.p[i].before, p->validated.p[i].before))
            return false;
    return true;
}

void vd_push_admit(struct vd_push *p)
{
    p->is_busy = true;
    if (!is_what_was_validated(p)) {
        vd_push_count("failed");
        vd_push_report(p, VD_SLICE(""), "git has refused other refs of this push");
        vd_push_rest(p);
        return;
    }
    p->phase = VD_PUSH_ADMITTING;
    vd_branch_admission_admit(&p->branches, p->commands.p, p->commands.n, on_admitted);
}
