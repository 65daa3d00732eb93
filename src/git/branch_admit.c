/*
 * The second step of branch_admission.h:
 *
 *     the turn -> refs are locked and compared -> the batch -> refs are moved -> the status tells
 *     the revisions -> done
 */
#include <string.h>

#include "base/container_of.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "git/branch_admission.h"
#include "git/push_metrics.h"

static void next_turn(struct vd_branch_admission *over);

/* ---- the end ---- */

static void note_admitted(struct vd_branch_admission *b)
{
    const struct vd_git_admission *a = &b->admission;
    b->is_admitted = true;
    b->admitted = a->push;
    vd_git_admission_write_text(&b->text, a);
    vd_log_info("branches are admitted", VD_F_SLICE("repository", a->mark),
                VD_F_SLICE("user", b->user->is.name), VD_F_U64("created", a->push.created),
                VD_F_U64("updated", a->push.updated), VD_F_U64("deleted", a->push.deleted),
                VD_F_U64("revision", a->batch.revision));
    vd_push_count_resources(&a->push);
}

static void finish(struct vd_branch_admission *b, enum vd_branch_result result)
{
    b->result = result;
    if (b->has_admission && b->admission.result == VD_GIT_ADMITTED)
        note_admitted(b);
    if (b->has_admission)
        vd_git_admission_release(&b->admission);
    b->has_admission = false;
    vd_branch_admission_observe(b, "admission");
    next_turn(b);
    b->done(b);
}

/* ---- the revisions, in the status ---- */

static bool settle(struct vd_write *w, const struct vd_json *old, struct vd_json **out)
{
    struct vd_branch_admission *b = VD_CONTAINER_OF(w, struct vd_branch_admission, settling);
    *out = vd_write_pruned_copy(w, old);
    vd_repository_status_settle(w->arena, *out, b->admission.revision_first,
                                b->admission.revision_last);
    w->version_tested = true;
    return true;
}

static void on_settled(struct vd_write *w)
{
    struct vd_branch_admission *b = VD_CONTAINER_OF(w, struct vd_branch_admission, settling);
    vd_write_release(w);
    vd_buf_release(&w->body);
    vd_arena_release(&b->settling_arena);
    finish(b, VD_BRANCH_GOOD);
}

static const struct vd_write_ops settle_ops = {.make = settle, .done = on_settled};

static void write_revisions(struct vd_branch_admission *b)
{
    b->settling = (struct vd_write){
        .l = b->all->l,
        .ops = &settle_ops,
        .arena = &b->settling_arena,
        .user = b->user,
        .author = VD_AUTHOR_GIT,
        .kinds = b->kinds.set,
        .kind = vd_kind_set_resource(b->kinds.set, VD_SLICE(VD_GIT_GROUP), VD_SLICE("v1"),
                                     VD_SLICE("repositories")),
        .verb = VD_WRITE_PATCH,
        .part = VD_PART_STATUS,
        .namespace = b->namespace,
        .name = b->name,
        .manager = VD_SLICE("vedette-git"),
    };
    vd_write_start(&b->settling);
}

/* ---- refs and the batch ---- */

static bool is_committed(const struct vd_branch_admission *b)
{
    return b->has_admission && b->admission.result == VD_GIT_ADMITTED;
}

/* What git says of a ref that is not what it should be. */
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

static void recover(struct vd_branch_admission *b)
{
    const struct vd_admissions *all = b->all;
    if (all->refs_behind)
        all->refs_behind(all->arg, b->namespace, b->name);
}

/* The batch was refused: somebody was faster. */
static enum vd_branch_result refusal_of(struct vd_branch_admission *b)
{
    const struct vd_git_admission *a = &b->admission;
    if (a->result == VD_GIT_FAILED)
        b->error = a->error;
    return a->result == VD_GIT_STALE    ? VD_BRANCH_STALE
           : a->result == VD_GIT_FAILED ? VD_BRANCH_FAILED
                                        : VD_BRANCH_REFUSED;
}

static void on_refs_ended(struct vd_refs *refs, const struct vd_error *error)
{
    struct vd_branch_admission *b = VD_CONTAINER_OF(refs, struct vd_branch_admission, transaction);
    if (b->is_in_batch)
        return; /* somebody has killed git; on_admitted() sees it */
    if (error && (is_committed(b) || has_left_locks(error)))
        recover(b);
    if (error)
        b->error = *error;
    if (error && is_committed(b)) {
        vd_log_warn("refs of admitted branches could not be moved",
                    VD_F_SLICE("repository", b->admission.mark), VD_F_ERROR(error));
        finish(b, VD_BRANCH_BEHIND);
    } else if (error && b->has_admission) {
        finish(b, refusal_of(b));
    } else if (error) {
        finish(b, is_stale(error) ? VD_BRANCH_STALE : VD_BRANCH_LOCKED);
    } else if (b->has_admission) {
        VD_FAILPOINT("git.after_refs");
        write_revisions(b);
    } else {
        finish(b, VD_BRANCH_GOOD);
    }
}

static void on_admitted(struct vd_git_admission *a)
{
    struct vd_branch_admission *b = VD_CONTAINER_OF(a, struct vd_branch_admission, admission);
    b->is_in_batch = false;
    if (!vd_git_process_is_running(&b->transaction.git)) {
        struct vd_error error;
        (void)vd_error_set(&error, VD_ERR_IO, "git update-ref has ended");
        on_refs_ended(&b->transaction, &error);
    } else if (a->result == VD_GIT_ADMITTED) {
        VD_FAILPOINT("git.after_batch");
        vd_refs_commit(&b->transaction);
    } else {
        vd_refs_abort(&b->transaction);
    }
}

static void on_prepared(struct vd_refs *refs)
{
    struct vd_branch_admission *b = VD_CONTAINER_OF(refs, struct vd_branch_admission, transaction);
    if (b->is_cancelled) {
        vd_refs_abort(refs);
        return;
    }
    if (!b->branches_n) {
        vd_refs_commit(refs);
        return;
    }
    VD_FAILPOINT("git.before_batch");
    b->is_in_batch = true;
    vd_branch_admission_start_batch(b, false, on_admitted);
}

/* ---- the turn ---- */

static void begin(struct vd_branch_admission *b)
{
    const struct vd_admissions *all = b->all;
    struct vd_git_place place = {.program = all->program, .folder = b->folder};
    struct vd_error error;
    VD_FAILPOINT("git.before_prepare");
    b->is_waiting = false;
    b->is_admitting = true;
    b->transaction.prepared = on_prepared;
    b->transaction.ended = on_refs_ended;
    if (vd_refs_prepare(&b->transaction, all->l->loop, &place, b->commands, b->commands_n, &error))
        on_refs_ended(&b->transaction, &error);
}

static bool is_taken(const struct vd_admissions *all, struct vd_slice uid)
{
    for (const struct vd_branch_admission *b = all->first; b; b = b->next)
        if (b->is_admitting && vd_slice_eq(b->uid, uid))
            return true;
    return false;
}

/* This one is over; the longest waiting one of the same repository begins. */
static void next_turn(struct vd_branch_admission *over)
{
    struct vd_admissions *all = over->all;
    struct vd_branch_admission *next;
    *(over->prev ? &over->prev->next : &all->first) = over->next;
    *(over->next ? &over->next->prev : &all->last) = over->prev;
    over->prev = over->next = NULL;
    over->is_admitting = false;
    for (next = all->first; next; next = next->next)
        if (next->is_waiting && vd_slice_eq(next->uid, over->uid))
            break;
    if (next)
        begin(next);
}

void vd_branch_admission_admit(struct vd_branch_admission *b, const struct vd_ref_command *commands,
                               size_t n, void (*done)(struct vd_branch_admission *b))
{
    struct vd_admissions *all = b->all;
    bool waits = is_taken(all, b->uid);
    b->done = done;
    b->commands = commands;
    b->commands_n = n;
    b->started_ns = vd_clock_mono_ns(all->l->env->clock);
    b->prev = all->last;
    *(all->last ? &all->last->next : &all->first) = b;
    all->last = b;
    b->is_waiting = waits;
    if (!waits)
        begin(b);
}
