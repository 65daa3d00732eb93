/*
 * The way to the store and back: what is stored is read, and what is to be stored is proposed on
 * the condition that the object is still what was read. If it is not, and the client has not said
 * which version it means, the attempt is made again on the new one.
 *
 * The store answers on its writer's thread, which may be the loop's own; then the
 * call is back on its loop. A client that has left in between is told nothing, but the call goes on
 * to its end: its memory belongs to the store until then.
 */
#include "kube/proposal.h"

#include <stdlib.h>

#include "kinds/admission.h"
#include "kinds/deletion.h"
#include "kinds/object.h"
#include "kinds/object_meta.h"
#include "kinds/served_form.h"
#include "kinds/uid.h"
#include "kube/call_conversion.h"
#include "kube/field_manager.h"
#include "kube/offload.h"
#include "json/parse.h"
#include "json/revision_hole.h"
#include "json/write.h"

/* Each failure of an attempt is somebody else's success, so that a crowd on one object needs as
 * many as it has members. What the attempts leave in the call's arena bounds them, too. */
enum { ATTEMPTS_MIN = 8, ATTEMPTS_MAX = 200, ATTEMPTS_LEN_MAX = 16 << 20 };

enum { LEN_MORE = 512 }; /* of a new object: what the server says of it */

enum {
    NAMES_MAX = 8
}; /* made for one object, as in Kubernetes, before the client has to try again */

static void on_gone(struct vd_exchange *x)
{
    ((struct vd_call *)x->arg)->x = NULL;
}

static void on_drained(struct vd_exchange *x)
{
    (void)x;
}

static const struct vd_exchange_ops waiting = {on_drained, on_gone};

/* What was written, with the outcome's revision. If that takes too long here a worker does this
 * again, and nothing else of the call. */
static void reply_written(struct vd_call *call)
{
    struct vd_buf own = {0}, *object = call->away ? &own : &call->l->written;
    uint64_t revision = call->outcome.revision;
    struct vd_template body = call->shown.bytes.n ? call->shown : call->wish.body;
    call->write = reply_written;
    vd_buf_reset(object);
    vd_revision_hole_fill(object, body.bytes, body.hole, revision);
    /* What was written through a version that is not the one that is stored is shown as it is read
     * from now on. */
    vd_call_reply_object(call, call->success, vd_buf_slice(object),
                         call->kind->storage_version ? VD_WRITTEN_NOW : revision);
    vd_scratch_let_go(object);
    vd_buf_release(&own);
}

void vd_call_reply_deleted(struct vd_call *call)
{
    struct vd_status_target about = vd_call_about(call);
    char uid[VD_UID_TEXT_MAX];
    struct vd_status status = vd_status_deleted(&call->arena, &about,
                                                vd_uid_format(call->wish.expect_uid, uid));
    vd_call_reply_status(call, &status);
}

static bool may_try_again(struct vd_call *call, bool name_taken)
{
    call->attempts++;
    if (name_taken && call->makes_name)
        return call->attempts < NAMES_MAX;
    return call->attempts < ATTEMPTS_MIN ||
           (call->attempts < ATTEMPTS_MAX && call->arena.total < ATTEMPTS_LEN_MAX);
}

static void answer(struct vd_call *call);

static void on_defined(struct vd_task *task)
{
    answer(VD_HEAP_OWNER(task, struct vd_call, defined));
}

/* Whoever has written a definition finds its kind when the answer comes: this calls
 * answer() again by then. False: there is nothing to wait for. */
static bool awaits_definition(struct vd_call *call)
{
    if (call->awaited || call->outcome.code || !call->kube->await_definition ||
        !vd_slice_eq(call->kind->storage_key, VD_DEFINITIONS))
        return false;
    call->awaited = true;
    call->defined.run = on_defined;
    call->kube->await_definition(call->kube->definitions, call->target.name, call->outcome.revision,
                                 call->l->loop, &call->defined);
    return true;
}

static void answer(struct vd_call *call)
{
    const struct vd_outcome *o = &call->outcome;
    if (!call->x) {
        vd_call_free(call);
        return;
    }
    if (awaits_definition(call))
        return;
    call->x->ops = NULL;
    bool taken = o->code == VD_ERR_EXISTS;
    bool lost = o->code == VD_ERR_CONFLICT || o->code == VD_ERR_NOT_FOUND ||
                (taken && (call->applied || call->makes_name));
    if (lost && call->write && may_try_again(call, taken)) {
        call->warnings.n = call->yaml_warnings = 0; /* the next attempt finds them anew */
        call->write(call);
    } else if (o->code == VD_ERR_CONFLICT) {
        struct vd_status_target about = vd_call_about(call);
        bool its_own = o->at == call->proposal.proposal.n - 1; /* and not a guard's */
        struct vd_status status = vd_status_modified(&call->arena, &about,
                                                     its_own ? o->revision : 0);
        vd_call_reply_status(call, &status);
    } else if (taken) {
        vd_call_reply_exists(call);
    } else if (o->code) {
        vd_call_reply_error(call, (int)o->code, &o->error);
    } else if (call->deletes) {
        vd_call_reply_deleted(call);
    } else {
        reply_written(call);
    }
}

static void on_answered(struct vd_loop_proposal *p)
{
    struct vd_call *call = VD_HEAP_OWNER(p, struct vd_call, proposal);
    call->outcome = p->outcome;
    answer(call);
}

/* Nobody but the pipeline, whatever their rights: not even who may speak for others. */
static enum vd_author author(const struct vd_call *call)
{
    bool pipeline = vd_user_in_group(call->user, VD_SLICE(VD_GROUP_GIT)) && !call->user->is.by;
    return pipeline ? VD_AUTHOR_GIT : VD_AUTHOR_API;
}

struct vd_admitted *vd_call_admit(struct vd_call *call, struct vd_proposal *proposal)
{
    struct vd_git_claim claim;
    struct vd_admission admission = {
        .store = call->kube->store, .author = author(call), .subject = {call->kind, call->before}};
    struct vd_admitted *admitted = vd_admission_admit(&admission, proposal, &call->arena, &claim);
    if (admitted)
        return admitted;
    struct vd_status_target about = vd_call_about(call);
    about.name = claim.name;
    struct vd_status status = vd_status_owned_by_git(&call->arena, &about, &claim);
    call->x->ops = NULL;
    vd_call_reply_status(call, &status);
    return NULL;
}

/* The object that would be created: it has no version. */
static void reply_unwritten(struct vd_call *call)
{
    struct vd_buf text = {0};
    struct vd_json *object = NULL;
    if (vd_call_is_too_long_here(call, call->wish.body.bytes.n)) {
        vd_call_offload(call, reply_unwritten);
        return;
    }
    if (vd_json_parse(&call->arena, call->wish.body.bytes, NULL, &object, NULL)) {
        vd_buf_add_slice(&text, call->wish.body.bytes); /* never: it was written just now */
    } else {
        vd_meta_set_resource_version(&call->arena, object, VD_SLICE(""));
        vd_json_write(&text, object);
    }
    vd_call_reply_object(call, call->success, vd_buf_slice(&text), VD_WRITTEN_NOW);
    vd_buf_release(&text);
}

/* A dry run is answered as the store would have: only what others do meanwhile is not seen. */
static void reply_dry_run(struct vd_call *call)
{
    struct vd_error error;
    struct vd_event *event = NULL;
    size_t at;
    int code = vd_proposal_check(&call->proposal.proposal, &at, &error);
    bool exists = !code && call->wish.when == VD_WHEN_ABSENT &&
                  !vd_store_get(call->kube->store, &call->wish.key, 0, &event, NULL);
    vd_event_unref(event);
    if (code) {
        vd_call_reply_error(call, code, &error);
    } else if (exists && call->makes_name && may_try_again(call, true)) {
        call->warnings.n = call->yaml_warnings = 0;
        call->write(call);
    } else if (exists) {
        vd_call_reply_exists(call);
    } else if (call->deletes) {
        vd_call_reply_deleted(call);
    } else if (call->wish.when == VD_WHEN_ABSENT) {
        reply_unwritten(call);
    } else {
        call->outcome.revision = call->wish.revision;
        reply_written(call);
    }
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
    call->proposal.proposal = (struct vd_proposal){.wishes = call->wishes, .n = n};
    call->proposal.done = on_answered;
    call->x->ops = &waiting;
    call->x->arg = call;
    struct vd_admitted *admitted = vd_call_admit(call, &call->proposal.proposal);
    if (!admitted)
        return;
    if (!call->dry_run) {
        vd_api_loop_propose(call->l->api, &call->proposal, admitted, vd_exchange_is_alone(call->x));
        return;
    }
    call->x->ops = NULL;
    reply_dry_run(call);
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

/* Makes the wish one that puts the object, which is in the version that is stored. */
static int put(struct vd_call *call, struct vd_json *object, struct vd_error *error)
{
    size_t hole = 0;
    vd_managed_put_back(&call->arena, object, call->managed);
    vd_buf_reset(&call->body);
    vd_buf_reserve(&call->body, likely_len(call));
    int code = vd_revision_hole_write(&call->body, object, &hole, error);
    if (code)
        return code;
    call->wish.action = call->finishes ? VD_DELETE : VD_PUT;
    call->wish.uid = vd_meta_uid(object);
    call->wish.body = (struct vd_template){vd_buf_slice(&call->body), (uint32_t)hole};
    return VD_OK;
}

/* ---- through a webhook ---- */

/*
 * An object that is written in another version than the stored one goes to the webhook twice: to be
 * stored, and from what is stored back again, for the answer. Both happen before it is proposed, so
 * that a webhook that fails never leaves a write behind of which the client was told that it
 * failed.
 */

/* The answer's template. */
static int make_shown(struct vd_call *call, struct vd_body *shown, struct vd_error *error)
{
    struct vd_json *object = NULL;
    struct vd_slice managed;
    struct vd_buf text = {0};
    size_t hole = 0;
    int code = vd_body_parse(&call->arena, vd_body_slice(shown), &object, &managed, error);
    if (!code) {
        vd_managed_put_back(&call->arena, object, call->managed);
        code = vd_revision_hole_write(&text, object, &hole, error);
    }
    if (!code)
        call->shown = (struct vd_template){vd_arena_copy(&call->arena, vd_buf_slice(&text)),
                                           (uint32_t)hole};
    vd_buf_release(&text);
    return code;
}

static void propose_converted(struct vd_call *call, struct vd_body *shown)
{
    struct vd_json *object = NULL;
    struct vd_slice managed;
    struct vd_error error;
    int code = make_shown(call, shown, &error);
    if (!code)
        code = vd_body_parse(&call->arena, vd_body_slice(call->stored), &object, &managed, &error);
    if (!code)
        code = put(call, object, &error);
    if (code)
        vd_call_reply_error(call, code, &error);
    else
        vd_call_propose(call);
}

static void set_stored(struct vd_call *call, struct vd_body *stored)
{
    vd_body_unref(call->stored);
    call->stored = vd_body_ref(stored);
}

static void convert_back(struct vd_call *call, struct vd_body *stored)
{
    set_stored(call, stored);
    vd_call_convert(call, call->kind, vd_body_slice(stored), 0, propose_converted);
}

static void store_converted(struct vd_call *call, const struct vd_kind *stored,
                            const struct vd_json *object)
{
    struct vd_buf body = {0};
    if (call->unchanged && call->current &&
        vd_served_form_is_of_version(stored, vd_body_slice(call->before->body))) {
        set_stored(call, call->before->body);
        propose_converted(call, call->current);
        return;
    }
    vd_json_write(&body, object);
    vd_call_convert(call, stored, vd_buf_slice(&body), 0, convert_back);
    vd_buf_release(&body);
}

void vd_call_store(struct vd_call *call, struct vd_json *object)
{
    const struct vd_kind *stored = stored_kind(call);
    struct vd_error error;
    if (call->kind->webhook && !call->as_stored && stored != call->kind) {
        store_converted(call, stored, object);
        return;
    }
    if (call->kind->converts && !call->as_stored) {
        object = vd_json_clone(&call->arena, object);
        vd_object_convert(call->kind, stored, &call->arena, object);
        if (stored != call->kind && stored->schemas_differ)
            vd_object_prune(stored, object);
    }
    int code = put(call, object, &error);
    if (code)
        vd_call_reply_error(call, code, &error);
    else
        vd_call_propose(call);
}

static void begin_again(struct vd_call *call, struct vd_body *shown)
{
    struct vd_error error;
    call->current = vd_body_ref(shown);
    call->warnings.n = call->yaml_warnings = 0; /* the next attempt finds them anew */
    if (may_try_again(call, false)) {
        call->write(call);
        return;
    }
    vd_error_set(&error, VD_ERR_LOCKED, "the object changes faster than its webhook converts it");
    vd_call_reply_error(call, VD_ERR_LOCKED, &error);
}

/* The bytes of the object in the version that is wanted. False: the call waits for them. */
static bool find_current(struct vd_call *call, struct vd_event *event, struct vd_slice *out)
{
    *out = vd_body_slice(event->body);
    if (call->as_stored || !vd_conversion_is_needed(call->kind, *out))
        return true;
    if (call->current && call->current_revision == event->revision) {
        *out = vd_body_slice(call->current);
        return true;
    }
    vd_body_unref(call->current);
    call->current = NULL;
    call->current_revision = event->revision;
    vd_call_convert(call, call->kind, *out, event->revision, begin_again);
    return false;
}

/* ---- reading ---- */

/* Brings the object, which was written at the revision, into the form that it is to be read in. */
static int fit(struct vd_call *call, struct vd_json *object, uint64_t revision,
               struct vd_effort *effort, struct vd_error *error)
{
    const struct vd_kind *stored = stored_kind(call);
    int code = VD_OK;
    if (call->as_stored)
        return vd_object_must_catch_up(stored, revision)
                   ? vd_object_catch_up(stored, &call->arena, object, effort, error)
                   : VD_OK;
    if (vd_object_is_behind(call->kind, revision))
        code = vd_object_catch_up(call->kind, &call->arena, object, effort, error);
    if (!code && call->kind->converts)
        vd_object_convert(stored, call->kind, &call->arena, object);
    return code;
}

/* Decodes what is stored, in the kind's form of today. An object that is to be deleted is taken as
 * it is when the defaults of today are too much for it. */
static int decode_current(struct vd_call *call, struct vd_slice body, uint64_t revision,
                          struct vd_json **out, struct vd_effort *effort, struct vd_error *error)
{
    for (;;) {
        int code = vd_body_parse(&call->arena, body, out, &call->managed, error);
        call->managed_before = call->managed;
        if (!code)
            code = fit(call, *out, revision, effort, error);
        if (!code || effort->in_turn || !effort->over || call->target.verb != VD_VERB_DELETE)
            return code;
        revision = VD_WRITTEN_NOW;
        *effort = (struct vd_effort){0};
    }
}

/* The stored object, decoded into the arena, and its event's revision and uid in the wish. False:
 * the call has been answered, or waits, or a worker makes it from the beginning. */
bool vd_call_read_current(struct vd_call *call, struct vd_json **out)
{
    struct vd_event *event = NULL;
    struct vd_slice body = VD_SLICE("");
    struct vd_error error;
    struct vd_effort effort = vd_call_effort(call);
    struct vd_key key = vd_call_key(call);
    int code = vd_store_get(call->kube->store, &key, 0, &event, &error);
    vd_event_unref(call->before);
    call->before = event;
    call->guard_count = 0;
    call->managed = call->managed_before = VD_SLICE("");
    if (!code && !find_current(call, event, &body))
        return false;
    effort.over = !code && vd_call_is_too_long_here(call, body.n);
    if (!code && !effort.over)
        code = decode_current(call, body, event->revision, out, &effort, &error);
    if (effort.in_turn && effort.over) {
        vd_call_start_over(call);
        return false;
    }
    if (code) {
        vd_call_reply_error(call, code, &error);
        return false;
    }
    call->wish = (struct vd_wish){.when = VD_WHEN_REVISION,
                                  .revision = event->revision,
                                  .expect_uid = event->uid,
                                  .key = key};
    return true;
}
