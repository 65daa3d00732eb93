/*
 * The way to the store and back. What is to be stored is proposed on the condition that the object
 * is still what was read. If it is not, and the write does not say which version it means, it is
 * made again from the new one.
 *
 * The store answers on its writer's thread, which may be the loop's own; then the write is back on
 * its loop. A write that is cancelled in between goes on to its end: its memory belongs to the
 * store until then.
 */
#include "api/batch/batch_internal.h"
#include "api/definitions.h"
#include "api/write/write_internal.h"
#include "base/container_of.h"
#include "kinds/admission.h"
#include "kinds/deletion.h"
#include "kinds/object_meta.h"
#include "json/parse.h"

enum vd_write_result vd_write_result_of(const struct vd_write *w, bool changed)
{
    if (w->wish.action == VD_CHECK && w->wish.when == VD_WHEN_ABSENT)
        return VD_WRITE_ABSENT;
    if (w->deletes || w->finishes)
        return VD_WRITE_DELETED;
    if (w->wish.when == VD_WHEN_ABSENT)
        return VD_WRITE_CREATED;
    return !changed                     ? VD_WRITE_UNCHANGED
           : w->verb == VD_WRITE_DELETE ? VD_WRITE_MARKED
                                        : VD_WRITE_UPDATED;
}

bool vd_write_exists(const struct vd_write *w)
{
    struct vd_event *event = NULL;
    bool exists = !vd_store_get(w->l->env->store, &w->wish.key, 0, &event, NULL);
    vd_event_unref(event);
    return exists;
}

struct vd_refusal vd_write_existing(struct vd_write *w)
{
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    bool found = !vd_store_get(w->l->env->store, &w->wish.key, 0, &event, NULL) &&
                 !vd_json_parse_copy(w->arena, vd_body_slice(event->body), NULL, &object, NULL);
    vd_event_unref(event);
    return (struct vd_refusal){.reason = w->makes_name ? VD_REFUSED_NAME_NOT_MADE
                                                       : VD_REFUSED_EXISTS,
                               .deleting = found && vd_meta_is_deleting(object)};
}

struct vd_refusal vd_write_refusal_of(struct vd_write *w, const struct vd_outcome *o, bool its_own)
{
    if (o->code == VD_ERR_CONFLICT)
        return (struct vd_refusal){.reason = VD_REFUSED_CONFLICT,
                                   .current = its_own ? o->revision : 0};
    return o->code == VD_ERR_EXISTS ? vd_write_existing(w)
                                    : vd_write_refusal_of_error(w, (int)o->code, &o->error);
}

static void conclude(struct vd_write *w);

static void on_defined(struct vd_task *task)
{
    conclude(VD_CONTAINER_OF(task, struct vd_write, defined));
}

/* Whoever has written a definition finds its kind when the answer comes: this calls conclude()
 * again by then. False: there is nothing to wait for. */
static bool awaits_definition(struct vd_write *w)
{
    const struct vd_api_env *env = w->l->env;
    if (w->awaited || w->proposal.outcome.code || !env->definitions ||
        !vd_slice_eq(w->kind->resource, VD_DEFINITIONS))
        return false;
    w->awaited = true;
    w->defined.run = on_defined;
    vd_definitions_await(env->definitions, w->name, w->proposal.outcome.revision, w->l->loop,
                         &w->defined);
    return true;
}

static void conclude(struct vd_write *w)
{
    const struct vd_outcome *o = &w->proposal.outcome;
    if (w->cancelled) {
        vd_write_finish(w, VD_WRITE_CANCELLED);
        return;
    }
    if (awaits_definition(w))
        return;
    bool taken = o->code == VD_ERR_EXISTS;
    bool lost = o->code == VD_ERR_CONFLICT || o->code == VD_ERR_NOT_FOUND ||
                (taken && (w->applied || w->makes_name || w->verb == VD_WRITE_REPLACE));
    if (lost && !w->once && vd_write_may_try_again(w, taken)) {
        vd_write_try_again(w);
    } else if (o->code) {
        bool its_own = o->at == w->proposal.proposal.n - 1; /* and not a guard's */
        struct vd_refusal refusal = vd_write_refusal_of(w, o, its_own);
        vd_write_refuse(w, &refusal);
    } else {
        w->revision = o->revision;
        vd_write_finish(w, vd_write_result_of(w, o->changed));
    }
}

static void on_answered(struct vd_loop_proposal *p)
{
    conclude(VD_CONTAINER_OF(p, struct vd_write, proposal));
}

/* A dry run ends as the store would have ended it: only what others do meanwhile is not seen. */
static void conclude_dry_run(struct vd_write *w)
{
    struct vd_error error;
    size_t at;
    int code = vd_proposal_check(&w->proposal.proposal, &at, &error);
    bool exists = !code && w->wish.when == VD_WHEN_ABSENT && vd_write_exists(w);
    if (code) {
        vd_write_refuse_error(w, code, &error);
    } else if (exists && w->makes_name && vd_write_may_try_again(w, true)) {
        vd_write_try_again(w);
    } else if (exists) {
        struct vd_refusal refusal = vd_write_existing(w);
        vd_write_refuse(w, &refusal);
    } else {
        w->revision = w->wish.revision;
        vd_write_finish(w, vd_write_result_of(w, !w->unchanged));
    }
}

/* Whether the user may change what is proposed. NULL: the write has been refused. */
static struct vd_admitted *admit(struct vd_write *w)
{
    struct vd_refusal refusal = {.reason = VD_REFUSED_OWNED_BY_GIT};
    struct vd_admission admission = {
        .store = w->l->env->store, .author = w->author, .subject = {w->kind, w->before}};
    struct vd_admitted *admitted = vd_admission_admit(&admission, &w->proposal.proposal, w->arena,
                                                      &refusal.claim);
    w->overridden = VD_SLICE("");
    if (!admitted)
        admitted = vd_write_override(w, &refusal.claim);
    if (!admitted)
        vd_write_refuse(w, &refusal);
    return admitted;
}

/* For a batch it is a condition like others: the object must still be absent. */
void vd_write_propose_absent(struct vd_write *w)
{
    if (w->job) {
        vd_write_job_end(w, vd_write_propose_absent);
        return;
    }
    w->wish = (struct vd_wish){.action = VD_CHECK, .when = VD_WHEN_ABSENT, .key = vd_write_key(w)};
    if (w->member)
        vd_batch_take(w->member);
    else
        vd_write_finish(w, VD_WRITE_ABSENT);
}

void vd_write_propose(struct vd_write *w)
{
    size_t n = w->guard_count;
    if (w->job) { /* the loop does */
        vd_write_job_end(w, vd_write_propose);
        return;
    }
    w->wishes[n++] = w->wish;
    w->proposal.proposal = (struct vd_proposal){.wishes = w->wishes, .n = n};
    w->proposal.done = on_answered;
    struct vd_admitted *admitted = admit(w);
    if (!admitted)
        return;
    if (w->member)
        vd_batch_take(w->member);
    else if (w->dry_run)
        conclude_dry_run(w);
    else
        vd_api_loop_propose(w->l, &w->proposal, admitted, w->ops->is_alone && w->ops->is_alone(w));
}
