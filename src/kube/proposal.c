/*
 * The way to the store and back: what is stored is read, and what is to be stored is proposed on
 * the condition that the object is still what was read. If it is not, and the client has not said
 * which version it means, the attempt is made again on the new one.
 *
 * The store answers on its writer's thread, which may be the loop's own; `answered` brings the
 * call back to its loop. A client that has left in between is told nothing, but the call goes on to
 * its end: its memory belongs to the store until then.
 */
#include "kube/proposal.h"

#include <stdlib.h>

#include "kinds/admission.h"
#include "kinds/object.h"
#include "kube/deletion.h"
#include "kube/field_manager.h"
#include "kube/object_meta.h"
#include "kube/offload.h"
#include "kube/shown.h"
#include "kube/uid.h"
#include "json/revision_hole.h"

/* Each failure of an attempt is somebody else's success, so that a crowd on one object needs as
 * many as it has members. What the attempts leave in the call's arena bounds them, too. */
enum { ATTEMPTS_MIN = 8, ATTEMPTS_MAX = 200, ATTEMPTS_LEN_MAX = 16 << 20 };

enum { LEN_MORE = 512 }; /* of a new object: what the server says of it */

static void on_gone(struct vd_exchange *x)
{
    ((struct vd_call *)x->arg)->x = NULL;
}

static void on_drained(struct vd_exchange *x)
{
    (void)x;
}

static const struct vd_exchange_ops waiting = {on_drained, on_gone};

/* The writer: back to the loop. */
static void proposal_done(struct vd_proposal *p, const struct vd_outcome *outcome)
{
    struct vd_call *call = p->arg;
    call->outcome = *outcome;
    vd_loop_post(call->l->loop, &call->answered);
}

static void reply_written(struct vd_call *call, uint64_t revision)
{
    struct vd_buf *object = &call->l->written;
    struct vd_template body = call->wish.body;
    vd_buf_reset(object);
    vd_revision_hole_fill(object, body.bytes, body.hole, revision);
    vd_call_reply_object(call, call->success, vd_buf_slice(object), VD_WRITTEN_NOW);
    vd_scratch_let_go(object);
}

static void reply_deleted(struct vd_call *call)
{
    struct vd_status_target about = vd_call_about(call);
    char uid[VD_UID_TEXT_MAX];
    struct vd_status status = vd_status_deleted(&call->arena, &about,
                                                vd_uid_format(call->wish.expect_uid, uid));
    vd_call_reply_status(call, &status);
}

static bool may_try_again(struct vd_call *call)
{
    call->attempts++;
    return call->attempts < ATTEMPTS_MIN ||
           (call->attempts < ATTEMPTS_MAX && call->arena.total < ATTEMPTS_LEN_MAX);
}

/* Whoever has written a definition finds its kind when the answer comes: this calls
 * on_answered() again by then. False: there is nothing to wait for. */
static bool awaits_definition(struct vd_call *call)
{
    if (call->awaited || call->outcome.code || !call->kube->await_definition ||
        !vd_slice_eq(call->kind->storage_key, VD_DEFINITIONS))
        return false;
    call->awaited = true;
    call->kube->await_definition(call->kube->definitions, call->target.name, call->outcome.revision,
                                 call->l->loop, &call->answered);
    return true;
}

static void on_answered(struct vd_task *task)
{
    struct vd_call *call = (struct vd_call *)((char *)task - offsetof(struct vd_call, answered));
    const struct vd_outcome *o = &call->outcome;
    if (!call->awaited)
        call->l->in_flight--;
    if (!call->x) {
        vd_call_free(call);
        return;
    }
    if (awaits_definition(call))
        return;
    call->x->ops = NULL;
    bool lost = o->code == VD_ERR_CONFLICT || o->code == VD_ERR_NOT_FOUND ||
                (o->code == VD_ERR_EXISTS && call->applied);
    if (lost && call->write && may_try_again(call)) {
        call->warnings.n = 0; /* the next attempt finds them anew */
        call->write(call);
    } else if (o->code == VD_ERR_CONFLICT) {
        struct vd_status_target about = vd_call_about(call);
        bool its_own = o->at == call->proposal.n - 1; /* and not a guard's */
        struct vd_status status = vd_status_modified(&call->arena, &about,
                                                     its_own ? o->revision : 0);
        vd_call_reply_status(call, &status);
    } else if (o->code == VD_ERR_EXISTS) {
        vd_call_reply_exists(call);
    } else if (o->code) {
        vd_call_reply_error(call, (int)o->code, &o->error);
    } else if (call->deletes) {
        reply_deleted(call);
    } else {
        reply_written(call, o->revision);
    }
}

/* Nobody but the pipeline, whatever their rights: not even who may speak for others. */
static enum vd_author author(const struct vd_call *call)
{
    bool pipeline = vd_user_in_group(call->user, VD_SLICE(VD_GROUP_GIT)) && !call->user->is.by;
    return pipeline ? VD_AUTHOR_GIT : VD_AUTHOR_API;
}

/* Judges what is proposed, and proposes it unless it is only to be judged. False: the call
 * has been answered. */
static bool admit(struct vd_call *call, struct vd_proposal *proposal, bool judge_only)
{
    struct vd_git_claim claim;
    struct vd_admission admission = {.store = call->kube->store,
                                     .kind = call->kind,
                                     .author = author(call),
                                     .before = call->before,
                                     .dry_run = judge_only};
    if (vd_admission_propose(&admission, proposal, &call->arena, &claim))
        return true;
    struct vd_status_target about = vd_call_about(call);
    about.name = claim.name;
    struct vd_status status = vd_status_owned_by_git(&call->arena, &about, &claim);
    call->x->ops = NULL;
    vd_call_reply_status(call, &status);
    return false;
}

bool vd_call_admit(struct vd_call *call, struct vd_proposal *proposal)
{
    return admit(call, proposal, call->dry_run);
}

void vd_call_propose(struct vd_call *call)
{
    size_t n = 0;
    if (call->away) { /* the loop does */
        vd_call_back(call, vd_call_propose);
        return;
    }
    for (; n < call->guard_count; n++)
        call->wishes[n] = call->guards[n];
    call->wishes[n++] = call->wish;
    call->answered.run = on_answered;
    call->proposal = (struct vd_proposal){call->wishes, n, proposal_done, call, NULL};
    call->x->ops = &waiting;
    call->x->arg = call;
    if (!admit(call, &call->proposal, true))
        return;
    if (!call->dry_run) {
        vd_kube_loop_propose(call->l, call->x, &call->proposal);
        return;
    }
    call->x->ops = NULL;
    if (call->deletes)
        reply_deleted(call);
    else
        reply_written(call, call->wish.revision ? call->wish.revision
                                                : vd_store_revision(call->kube->store));
}

/* The kind in whose form objects are stored. */
static const struct vd_kind *stored_kind(const struct vd_call *call)
{
    const struct vd_kind *kind = vd_kind_set_stored(call->kinds, call->kind->storage_key);
    return kind ? kind : call->kind;
}

/* How long the object will be, mostly: as it was, and what was sent. */
static size_t likely_len(const struct vd_call *call)
{
    size_t was = call->before ? call->before->body->len : 0;
    return was + vd_call_body(call).n + LEN_MORE;
}

int vd_call_put(struct vd_call *call, struct vd_json *object, struct vd_error *error)
{
    size_t hole = 0;
    if (call->kind->converts) {
        struct vd_json *stored = vd_json_clone(&call->arena, object);
        vd_object_convert(call->kind, stored_kind(call), &call->arena, stored);
        object = stored;
    }
    vd_managed_put_back(&call->arena, object, call->managed);
    vd_buf_reset(&call->body);
    vd_buf_reserve(&call->body, likely_len(call));
    int code = vd_revision_hole_write(&call->body, object, &hole, error);
    if (code)
        return code;
    call->wish.action = VD_PUT;
    call->wish.uid = vd_meta_uid(object);
    call->wish.body = (struct vd_template){vd_buf_slice(&call->body), (uint32_t)hole};
    return VD_OK;
}

/* Decodes what is stored, in the kind's form of today. An object that is to be deleted is taken as
 * it is when the defaults of today are too much for it. */
static int decode_current(struct vd_call *call, const struct vd_event *event, struct vd_json **out,
                          struct vd_effort *effort, struct vd_error *error)
{
    bool behind = vd_object_is_behind(call->kind, event->revision);
    for (;;) {
        int code = vd_body_parse(&call->arena, vd_body_slice(event->body), out, &call->managed,
                                 error);
        call->managed_before = call->managed;
        if (!code && call->kind->converts)
            vd_object_convert(stored_kind(call), call->kind, &call->arena, *out);
        if (!code && behind)
            code = vd_object_catch_up(call->kind, &call->arena, *out, effort, error);
        if (!code || effort->in_turn || !effort->over || call->target.verb != VD_VERB_DELETE)
            return code;
        behind = false;
        *effort = (struct vd_effort){0};
    }
}

/* The stored object, decoded into the arena, and its event's revision and uid in the wish. False:
 * the call has been answered, or a worker makes it from the beginning. */
bool vd_call_read_current(struct vd_call *call, struct vd_json **out)
{
    struct vd_event *event = NULL;
    struct vd_error error;
    struct vd_effort effort = vd_call_effort(call);
    struct vd_key key = vd_call_key(call);
    int code = vd_store_get(call->kube->store, &key, 0, &event, &error);
    vd_event_unref(call->before);
    call->before = event;
    call->guard_count = 0;
    call->managed = call->managed_before = VD_SLICE("");
    effort.over = !code && vd_call_is_too_long_here(call, event->body->len);
    if (!code && !effort.over)
        code = decode_current(call, event, out, &effort, &error);
    if (effort.in_turn && effort.over) {
        vd_call_offload(call, call->write);
        return false;
    }
    if (!code)
        call->wish = (struct vd_wish){.when = VD_WHEN_REVISION,
                                      .revision = event->revision,
                                      .expect_uid = event->uid,
                                      .key = key};
    if (code)
        vd_call_reply_error(call, code, &error);
    return !code;
}
