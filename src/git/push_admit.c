/*
 * proc-receive: the objects are in the repository; the push is admitted and its refs are moved.
 *
 *     the turn -> refs are locked and compared -> the batch -> refs are moved -> the status tells
 *     the revisions -> the answer
 *
 * The batch is what makes the push happen. Up to it, whatever goes wrong leaves all as it was; from
 * then on nothing is given up, whoever waits for it.
 */
#include <string.h>

#include "base/container_of.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "git/push_internal.h"

static void next_turn(struct vd_push *done);

/* ---- the end ---- */

static void finish(struct vd_push *p, struct vd_slice text, const char *reason, const char *result)
{
    vd_push_count(result);
    vd_push_observe(p, "admission");
    vd_push_report(p, text, reason);
    if (p->has_admission)
        vd_git_admission_release(&p->admission);
    p->has_admission = false;
    next_turn(p);
    vd_push_rest(p);
}

static void finish_well(struct vd_push *p)
{
    struct vd_buf text = {0};
    if (p->has_admission) {
        vd_git_admission_write_text(&text, &p->admission);
        vd_log_info("push admitted", VD_F_SLICE("repository", p->admission.mark),
                    VD_F_SLICE("user", p->user->is.name),
                    VD_F_U64("created", p->admission.push.created),
                    VD_F_U64("updated", p->admission.push.updated),
                    VD_F_U64("deleted", p->admission.push.deleted),
                    VD_F_U64("revision", p->admission.batch.revision));
        vd_push_count_resources(&p->admission.push);
        vd_buf_add_char(&text, '\n');
    }
    finish(p, vd_buf_slice(&text), NULL, "admitted");
    vd_buf_release(&text);
}

/* ---- the revisions, in the status ---- */

static bool settle(struct vd_write *w, const struct vd_json *old, struct vd_json **out)
{
    struct vd_push *p = VD_CONTAINER_OF(w, struct vd_push, settling);
    *out = vd_write_pruned_copy(w, old);
    vd_repository_status_settle(w->arena, *out, p->admission.revision_first,
                                p->admission.revision_last);
    w->version_tested = true;
    return true;
}

static void on_settled(struct vd_write *w)
{
    struct vd_push *p = VD_CONTAINER_OF(w, struct vd_push, settling);
    vd_write_release(w);
    vd_buf_release(&w->body);
    vd_arena_release(&p->settling_arena);
    finish_well(p);
}

static const struct vd_write_ops settle_ops = {.make = settle, .done = on_settled};

static void write_revisions(struct vd_push *p)
{
    p->settling = (struct vd_write){
        .l = p->pushes->options.l,
        .ops = &settle_ops,
        .arena = &p->settling_arena,
        .user = p->user,
        .author = VD_AUTHOR_GIT,
        .kinds = p->kinds.set,
        .kind = vd_kind_set_resource(p->kinds.set, VD_SLICE(VD_GIT_GROUP), VD_SLICE("v1"),
                                     VD_SLICE("repositories")),
        .verb = VD_WRITE_PATCH,
        .part = VD_PART_STATUS,
        .namespace = p->namespace,
        .name = p->name,
        .manager = VD_SLICE("vedette-git"),
    };
    vd_write_start(&p->settling);
}

/* ---- refs and the batch ---- */

static bool is_committed(const struct vd_push *p)
{
    return p->has_admission && p->admission.result == VD_GIT_ADMITTED;
}

/* What git says of a ref that is not what the pusher saw. */
static bool is_stale(const struct vd_error *error)
{
    return strstr(error->text, "but expected") || strstr(error->text, "already exists") ||
           strstr(error->text, "unable to resolve reference");
}

/* git was killed, or found the lock of one that was: the controller of repositories removes it. */
static bool has_left_locks(const struct vd_error *error)
{
    return strstr(error->text, ".lock'") || strstr(error->text, "ended");
}

static void recover(struct vd_push *p)
{
    const struct vd_pushes_options *o = &p->pushes->options;
    if (o->refs_behind)
        o->refs_behind(o->arg, p->namespace, p->name);
}

static void finish_behind(struct vd_push *p, const struct vd_error *error)
{
    struct vd_buf text = {0};
    vd_git_admission_write_text(&text, &p->admission);
    vd_buf_addf(&text, ", but git could not move its refs: %s\nthe server tries again by itself\n",
                error->text);
    vd_log_warn("refs of a push could not be moved", VD_F_SLICE("repository", p->admission.mark),
                VD_F_ERROR(error));
    finish(p, vd_buf_slice(&text), "admitted, but the ref could not be moved yet", "admitted");
    vd_buf_release(&text);
}

/* The batch was refused: somebody was faster than the push. */
static void finish_refused(struct vd_push *p)
{
    const struct vd_git_admission *a = &p->admission;
    struct vd_buf text = {0};
    if (a->result == VD_GIT_STALE) {
        finish(p, VD_SLICE(""), "stale: fetch first", "stale");
        return;
    }
    if (a->result == VD_GIT_FAILED)
        vd_buf_addf(&text, "%s\n", a->error.text);
    vd_git_report_sort(&p->report);
    vd_git_report_write_text(&text, &p->report);
    finish(p, vd_buf_slice(&text), "not admitted", a->result == VD_GIT_FAILED ? "failed" : "stale");
    vd_buf_release(&text);
}

static void on_refs_ended(struct vd_refs *refs, const struct vd_error *error)
{
    struct vd_push *p = VD_CONTAINER_OF(refs, struct vd_push, transaction);
    if (p->is_admitting)
        return; /* somebody has killed git; on_admitted() sees it */
    if (error && (is_committed(p) || has_left_locks(error)))
        recover(p);
    if (error && is_committed(p)) {
        finish_behind(p, error);
    } else if (error && p->has_admission) {
        finish_refused(p);
    } else if (error) {
        struct vd_buf text = {0};
        vd_buf_addf(&text, "%s\n", error->text);
        if (is_stale(error))
            finish(p, VD_SLICE(""), "stale: fetch first", "stale");
        else
            finish(p, vd_buf_slice(&text), "the ref cannot be moved", "failed");
        vd_buf_release(&text);
    } else if (p->has_admission) {
        VD_FAILPOINT("git.after_refs");
        write_revisions(p);
    } else {
        finish_well(p);
    }
}

static void on_admitted(struct vd_git_admission *a)
{
    struct vd_push *p = VD_CONTAINER_OF(a, struct vd_push, admission);
    p->is_admitting = false;
    if (!vd_git_process_is_running(&p->transaction.git)) {
        struct vd_error error;
        (void)vd_error_set(&error, VD_ERR_IO, "git update-ref has ended");
        on_refs_ended(&p->transaction, &error);
    } else if (a->result == VD_GIT_ADMITTED) {
        VD_FAILPOINT("git.after_batch");
        vd_refs_commit(&p->transaction);
    } else {
        vd_refs_abort(&p->transaction);
    }
}

static void on_prepared(struct vd_refs *refs)
{
    struct vd_push *p = VD_CONTAINER_OF(refs, struct vd_push, transaction);
    if (p->is_gone) {
        vd_refs_abort(refs);
        return;
    }
    if (!p->branches_n) {
        vd_refs_commit(refs);
        return;
    }
    VD_FAILPOINT("git.before_batch");
    p->has_admission = p->is_admitting = true;
    p->admission = (struct vd_git_admission){
        .l = p->pushes->options.l,
        .user = p->user,
        .namespace = p->namespace,
        .name = p->name,
        .uid = p->uid,
        .changes = &p->changes,
        .kinds = &p->kinds,
        .branches = p->branches,
        .branches_n = p->branches_n,
        .report = &p->report,
        .adopts = p->adopts,
        .done = on_admitted,
    };
    vd_git_admission_start(&p->admission);
}

/* ---- the turn ---- */

static void begin(struct vd_push *p)
{
    const struct vd_pushes_options *o = &p->pushes->options;
    struct vd_git_place place = {.program = o->program, .folder = p->folder};
    struct vd_error error;
    VD_FAILPOINT("git.before_prepare");
    p->phase = VD_PUSH_ADMITTING;
    p->transaction.prepared = on_prepared;
    p->transaction.ended = on_refs_ended;
    if (vd_refs_prepare(&p->transaction, o->l->loop, &place, p->commands.p, p->commands.n, &error))
        on_refs_ended(&p->transaction, &error);
}

static struct vd_push *in_turn(const struct vd_push *of, enum vd_push_phase phase)
{
    struct vd_push *found = NULL;
    for (struct vd_push *p = of->pushes->first; p; p = p->next)
        if (p != of && p->phase == phase && vd_slice_eq(p->uid, of->uid))
            found = p; /* the last one of the list began first */
    return found;
}

static void next_turn(struct vd_push *done)
{
    struct vd_push *next = in_turn(done, VD_PUSH_WAITING);
    if (next)
        begin(next);
}

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
    p->started_ns = vd_clock_mono_ns(p->pushes->options.l->env->clock);
    if (!is_what_was_validated(p)) {
        vd_push_count("failed");
        vd_push_report(p, VD_SLICE(""), "git has refused other refs of this push");
        vd_push_rest(p);
    } else if (in_turn(p, VD_PUSH_ADMITTING)) {
        p->phase = VD_PUSH_WAITING;
    } else {
        begin(p);
    }
}
