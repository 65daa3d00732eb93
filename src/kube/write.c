/*
 * create, update and patch: from a document to an event.
 *
 * An update reads the object, makes the new one from it, and proposes that on the
 * condition that the object is still what was read. If it is not, and the client
 * has not said which version it means, the attempt is made again on the new one.
 *
 * The store answers on its writer's thread; `answered` brings the call back to its
 * loop. A client that has left in between is told nothing, but the call goes on to
 * its end: its memory belongs to the store until then.
 */
#include "kube/write.h"

#include <stdlib.h>

#include "kinds/admission.h"
#include "kinds/conditions.h"
#include "kinds/metadata.h"
#include "kinds/object.h"
#include "kinds/status_door.h"
#include "kube/decode.h"
#include "kube/deletion.h"
#include "kube/escalation_check.h"
#include "kube/field_manager.h"
#include "kube/object_meta.h"
#include "kube/strategic_merge.h"
#include "kube/uid.h"
#include "json/compare.h"
#include "json/merge_patch.h"
#include "json/parse.h"
#include "json/patch.h"
#include "json/plain_number.h"
#include "json/revision_hole.h"
#include "json/write.h"

/* Each failure of an attempt is somebody else's success, so that a crowd on one object needs as
 * many as it has members. What the attempts leave in the call's arena bounds them, too. */
enum { ATTEMPTS_MIN = 8, ATTEMPTS_MAX = 200, ATTEMPTS_LEN_MAX = 16 << 20 };

/* ---- checks ---- */

/* The text of a top-level member, which is filled in where it is not said: typed clients
 * leave apiVersion and kind out, since the URL has them. */
static struct vd_slice text_or(struct vd_call *call, struct vd_json *object, struct vd_slice key,
                               struct vd_slice text)
{
    if (object->type == VD_JSON_OBJECT && !vd_json_get(object, key))
        vd_json_set(&call->arena, object, key, vd_json_string(&call->arena, text));
    return vd_json_text(vd_json_get(object, key));
}

/* False: the call has been answered. */
static bool check_kind(struct vd_call *call, const struct vd_kind *expected, struct vd_json *object)
{
    struct vd_slice api_version = text_or(call, object, VD_SLICE("apiVersion"),
                                          expected->api_version);
    struct vd_slice kind = text_or(call, object, VD_SLICE("kind"), expected->kind);
    struct vd_status status;
    struct vd_error error;
    if (vd_meta_check(object, &error)) {
        status = vd_status_bad_request(&call->arena, vd_slice_of(error.text));
    } else if (!vd_slice_eq(api_version, expected->api_version)) {
        status = vd_status_version_differs(&call->arena, api_version, expected->api_version);
    } else if (!vd_slice_eq(kind, expected->kind)) {
        vd_error_set(&error, VD_ERR_INVALID,
                     "the kind in the data (%.*s) does not match the expected kind (%.*s)",
                     VD_FMT(kind), VD_FMT(expected->kind));
        status = vd_status_bad_request(&call->arena, vd_slice_of(error.text));
    } else {
        return true;
    }
    vd_call_reply_status(call, &status);
    return false;
}

/* The body's namespace is the URL's, or is not said. */
static bool check_space(struct vd_call *call, struct vd_json *object)
{
    struct vd_slice space = vd_meta_namespace(object);
    if (!call->kind->namespaced) {
        vd_meta_set_namespace(&call->arena, object, VD_SLICE(""));
        return true;
    }
    if (space.n && !vd_slice_eq(space, call->target.space)) {
        struct vd_status status = vd_status_namespace_differs(&call->arena);
        vd_call_reply_status(call, &status);
        return false;
    }
    vd_meta_set_namespace(&call->arena, object, call->target.space);
    return true;
}

/* Unknown and duplicate fields: refused, warned of, or passed over. */
static bool check_fields(struct vd_call *call, const struct vd_kind *kind,
                         const struct vd_pruned *pruned)
{
    for (size_t i = 0; call->validation != VD_FIELDS_IGNORE && i < pruned->paths.n; i++)
        vd_call_warn(call, "unknown field \"%.*s\"", VD_FMT(pruned->paths.p[i]));
    if (call->validation != VD_FIELDS_STRICT || call->warnings.n == 0)
        return true;
    struct vd_buf text = {0};
    vd_buf_addf(&text,
                "%.*s in version \"%.*s\" cannot be handled as a %.*s: strict decoding error: ",
                VD_FMT(kind->kind), VD_FMT(kind->version), VD_FMT(kind->kind));
    for (size_t i = 0; i < call->warnings.n; i++)
        vd_buf_addf(&text, "%s%.*s", i ? ", " : "", VD_FMT(call->warnings.p[i]));
    call->warnings.n = 0;
    struct vd_status status = vd_status_bad_request(
        &call->arena, vd_arena_copy(&call->arena, vd_buf_slice(&text)));
    vd_buf_release(&text);
    vd_call_reply_status(call, &status);
    return false;
}

static void reply_invalid(struct vd_call *call, const struct vd_kind *kind,
                          const struct vd_json *object, const struct vd_violations *violations)
{
    size_t n = violations->list.n;
    struct vd_status_cause *causes = vd_arena_alloc(&call->arena, n * sizeof *causes);
    for (size_t i = 0; i < n; i++) {
        const struct vd_violation *v = &violations->list.p[i];
        causes[i] = (struct vd_status_cause){
            .reason = vd_slice_of(vd_violation_reason(v->type)),
            .message = vd_arena_copy(&call->arena, v->message),
            .field = vd_arena_copy(&call->arena, v->field),
        };
    }
    struct vd_status_target about = vd_call_about(call);
    about.plural = kind->kind;
    about.name = vd_meta_name(object);
    struct vd_status status = vd_status_invalid(&call->arena, &about, causes, n);
    vd_call_reply_status(call, &status);
}

static bool is_at_status(const struct vd_call *call)
{
    return vd_slice_is(call->target.subresource, "status");
}

static bool check_valid(struct vd_call *call, const struct vd_kind *kind,
                        const struct vd_json *object, const struct vd_json *old)
{
    struct vd_violations violations = {0};
    bool ok = vd_object_validate(kind, object, old, &violations);
    for (size_t i = 0; i < violations.passed.n; i++)
        vd_call_warn(call, "%.*s: %.*s", VD_FMT(violations.passed.p[i].field),
                     VD_FMT(violations.passed.p[i].message));
    if (is_at_status(call)) {
        vd_conditions_check(kind, object, &violations);
        ok = ok && !vd_violations_any(&violations);
    }
    if (!ok)
        reply_invalid(call, kind, object, &violations);
    vd_violations_release(&violations);
    return ok;
}

/* The past is seen with the eyes of today's schema: what that has made of it, nobody has
 * touched. */
bool vd_call_check_boundary(struct vd_call *call, const struct vd_json *object,
                            const struct vd_json *old)
{
    struct vd_violations violations = {0};
    if (!is_at_status(call) || !call->kind->status_boundary_strict)
        return true;
    struct vd_json *was = vd_json_clone(&call->arena, old);
    vd_object_prepare(call->kind, &call->arena, was, false, NULL);
    vd_meta_drop_empty(was);
    bool ok = vd_status_door_check(object, was, &violations);
    if (!ok)
        reply_invalid(call, call->kind, object, &violations);
    vd_violations_release(&violations);
    return ok;
}

bool vd_call_check_question(struct vd_call *call, const struct vd_kind *kind,
                            struct vd_json *object)
{
    struct vd_pruned pruned = {0};
    if (!check_kind(call, kind, object))
        return false;
    vd_object_prepare(kind, &call->arena, object, true, &pruned);
    bool ok = check_fields(call, kind, &pruned);
    vd_pruned_release(&pruned);
    return ok && check_valid(call, kind, object, NULL);
}

/* A namespaced object needs its namespace, alive: now, and, by the guard, when the
 * object is written. Nothing then comes into a namespace that is being emptied. */
static bool check_namespace_lives(struct vd_call *call)
{
    struct vd_key key = {VD_SLICE("namespaces"), VD_SLICE(""), call->target.space};
    struct vd_event *event = NULL;
    struct vd_status status;
    if (!call->kind->namespaced)
        return true;
    if (vd_store_get(call->kube->store, &key, 0, &event, NULL)) {
        struct vd_status_target about = {.plural = VD_SLICE("namespaces"),
                                         .name = call->target.space};
        status = vd_status_not_found(&call->arena, &about);
        vd_call_reply_status(call, &status);
        return false;
    }
    struct vd_json *space = NULL;
    int code = vd_json_parse_copy(&call->arena, vd_body_slice(event->body), NULL, &space, NULL);
    bool dying = !code && vd_meta_is_deleting(space);
    call->guard = (struct vd_wish){
        .action = VD_CHECK, .when = VD_WHEN_REVISION, .revision = event->revision, .key = key};
    vd_event_unref(event);
    if (!dying)
        return true;
    struct vd_status_target about = vd_call_about(call);
    status = vd_status_namespace_terminating(&call->arena, &about, call->target.space);
    vd_call_reply_status(call, &status);
    return false;
}

/* ---- the way to the store ---- */

static void on_gone(struct vd_exchange *x)
{
    ((struct vd_call *)x->arg)->x = NULL;
}

static void on_drained(struct vd_exchange *x)
{
    (void)x;
}

static const struct vd_exchange_ops waiting = {on_drained, on_gone};

/* Writer thread: back to the loop. */
static void proposal_done(struct vd_proposal *p, const struct vd_outcome *outcome)
{
    struct vd_call *call = p->arg;
    call->outcome = *outcome;
    vd_loop_post(call->l->loop, &call->answered);
}

static void reply_written(struct vd_call *call, uint64_t revision)
{
    struct vd_body *body = vd_body_new(call->wish.body, revision);
    vd_call_reply_object(call, call->success, vd_body_slice(body));
    vd_body_unref(body);
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
        bool its_own = o->at == call->proposal.n - 1; /* and not the guard's */
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
    if (call->guard.key.kind.n)
        call->wishes[n++] = call->guard;
    call->wishes[n++] = call->wish;
    call->answered.run = on_answered;
    call->proposal = (struct vd_proposal){call->wishes, n, proposal_done, call, NULL};
    call->x->ops = &waiting;
    call->x->arg = call;
    if (!admit(call, &call->proposal, true))
        return;
    if (!call->dry_run) {
        vd_kube_loop_propose(call->l, &call->proposal);
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

int vd_call_put(struct vd_call *call, struct vd_json *object, struct vd_error *error)
{
    size_t hole = 0;
    if (call->kind->converts) {
        struct vd_json *stored = vd_json_clone(&call->arena, object);
        vd_object_convert(call->kind, stored_kind(call), &call->arena, stored);
        object = stored;
    }
    vd_buf_reset(&call->json);
    vd_buf_reset(&call->body);
    vd_managed_put_back(&call->arena, object, call->managed);
    vd_json_write(&call->json, object);
    int code = vd_revision_hole_make(&call->body, vd_buf_slice(&call->json), &hole, error);
    if (code)
        return code;
    call->wish.action = VD_PUT;
    call->wish.uid = vd_meta_uid(object);
    call->wish.body = (struct vd_template){vd_buf_slice(&call->body), (uint32_t)hole};
    return VD_OK;
}

/* ---- create ---- */

/* What only the server says of a new object. */
static void stamp_new(struct vd_call *call, struct vd_json *object)
{
    static const char *const not_yours[] = {"selfLink", "deletionTimestamp", "managedFields",
                                            "deletionGracePeriodSeconds", "generation"};
    struct vd_arena *a = &call->arena;
    struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    for (size_t i = 0; metadata && i < sizeof not_yours / sizeof *not_yours; i++)
        vd_json_remove(metadata, vd_slice_of(not_yours[i]));
    vd_meta_set_uid(a, object, vd_uid_generate());
    vd_meta_set_creation_timestamp(a, object, vd_clock_wall_ms(call->kube->clock));
    vd_meta_set_resource_version(a, object, VD_SLICE(""));
    if (call->kind->counts_generation)
        vd_meta_set_generation(a, object, 1);
}

/* A new namespace is active, and is emptied before it goes. */
static void furnish_namespace(struct vd_call *call, struct vd_json *object)
{
    struct vd_arena *a = &call->arena;
    if (!vd_slice_is(call->kind->storage_key, "namespaces"))
        return;
    struct vd_json *spec = vd_json_object(a), *finalizers = vd_json_array(a);
    struct vd_json *status = vd_json_object(a);
    vd_json_append(finalizers, vd_json_string_ref(a, VD_SLICE("kubernetes")));
    vd_json_add_ref(spec, VD_SLICE("finalizers"), finalizers);
    vd_json_add_ref(status, VD_SLICE("phase"), vd_json_string_ref(a, VD_SLICE("Active")));
    vd_json_set(a, object, VD_SLICE("spec"), spec);
    vd_json_set(a, object, VD_SLICE("status"), status);
    vd_meta_set_label(a, object, VD_SLICE("kubernetes.io/metadata.name"), vd_meta_name(object));
}

void vd_call_create(struct vd_call *call)
{
    struct vd_json *object = NULL;
    call->write = vd_call_create;
    if (vd_call_check_manager(call, false) && vd_call_decode(call, false, &object))
        vd_call_create_object(call, object);
}

void vd_call_create_object(struct vd_call *call, struct vd_json *object)
{
    struct vd_pruned pruned = {0};
    struct vd_error error;
    if (!check_kind(call, call->kind, object) || !check_space(call, object) ||
        !check_namespace_lives(call))
        return;
    if (vd_meta_resource_version(object).n) {
        struct vd_status status = vd_status_bad_request(
            &call->arena, VD_SLICE("resourceVersion should not be set on objects to be created"));
        vd_call_reply_status(call, &status);
        return;
    }
    if (call->kind->has_status) /* a new object has none but the server's */
        vd_json_remove(object, VD_SLICE("status"));
    vd_object_prepare(call->kind, &call->arena, object, true, &pruned);
    vd_meta_drop_empty(object);
    bool ok = check_fields(call, call->kind, &pruned);
    vd_pruned_release(&pruned);
    if (!ok)
        return;
    if (!vd_meta_name(object).n && vd_meta_generate_name(object).n)
        vd_meta_set_name(&call->arena, object,
                         vd_name_generate(&call->arena, vd_meta_generate_name(object)));
    stamp_new(call, object);
    furnish_namespace(call, object);
    if (!call->applied)
        vd_call_track(call, NULL, object, NULL);
    if (!check_valid(call, call->kind, object, NULL) ||
        !vd_call_check_escalation(call, object, true))
        return;
    call->target.name = vd_arena_copy(&call->arena, vd_meta_name(object));
    call->wish = (struct vd_wish){.when = VD_WHEN_ABSENT, .key = vd_call_key(call)};
    call->success = 201;
    int code = vd_call_put(call, object, &error);
    if (code)
        vd_call_reply_error(call, code, &error);
    else
        vd_call_propose(call);
}

/* ---- update and patch ---- */

/* The stored object, decoded into the arena, and its event's revision and uid in
 * the wish. False: the call has been answered. */
bool vd_call_read_current(struct vd_call *call, struct vd_json **out)
{
    struct vd_event *event = NULL;
    struct vd_error error;
    struct vd_key key = vd_call_key(call);
    int code = vd_store_get(call->kube->store, &key, 0, &event, &error);
    if (!code)
        code = vd_body_parse(&call->arena, vd_body_slice(event->body), out, &call->managed, &error);
    call->managed_before = call->managed;
    call->guard = (struct vd_wish){.revision = 0};
    if (!code && call->kind->converts)
        vd_object_convert(stored_kind(call), call->kind, &call->arena, *out);
    if (!code)
        call->wish = (struct vd_wish){.when = VD_WHEN_REVISION,
                                      .revision = event->revision,
                                      .expect_uid = event->uid,
                                      .key = key};
    vd_event_unref(event);
    if (code)
        vd_call_reply_error(call, code, &error);
    return !code;
}

/* What an update cannot change: identity, birth and the end of an object. */
static void keep_metadata(struct vd_call *call, const struct vd_json *old, struct vd_json *object)
{
    struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    vd_json_remove(metadata, VD_SLICE("selfLink"));
    vd_metadata_inherit(&call->arena, object, old);
    vd_meta_set_resource_version(&call->arena, object, VD_SLICE(""));
}

/* A namespace's spec has a door of its own: its finalizers see to it that it is emptied
 * before it goes. */
static struct vd_json *through_finalize(struct vd_call *call, const struct vd_json *old,
                                        struct vd_json *object)
{
    if (!vd_slice_is(call->kind->storage_key, "namespaces"))
        return object;
    bool at_door = vd_slice_is(call->target.subresource, "finalize");
    struct vd_json *into = at_door ? vd_json_clone(&call->arena, old) : object;
    const struct vd_json *spec = vd_json_get(at_door ? object : old, VD_SLICE("spec"));
    if (spec)
        vd_json_set(&call->arena, into, VD_SLICE("spec"), vd_json_clone(&call->arena, spec));
    else
        vd_json_remove(into, VD_SLICE("spec"));
    return into;
}

/* Anything but metadata and status counts as a new generation. */
static void count_generation(struct vd_call *call, const struct vd_json *old,
                             struct vd_json *object)
{
    if (!call->kind->counts_generation || is_at_status(call))
        return;
    struct vd_arena *a = &call->arena;
    struct vd_json *was = vd_json_clone(a, old), *is = vd_json_clone(a, object);
    vd_json_remove(was, VD_SLICE("metadata"));
    vd_json_remove(is, VD_SLICE("metadata"));
    if (call->kind->has_status) {
        vd_json_remove(was, VD_SLICE("status"));
        vd_json_remove(is, VD_SLICE("status"));
    }
    if (!vd_json_eq(was, is))
        vd_meta_set_generation(a, object, vd_meta_generation(old) + 1);
}

/* The version and uid that the client says it means. False: answered. */
static bool check_preconditions(struct vd_call *call, const struct vd_json *object, bool is_put)
{
    struct vd_slice version = vd_meta_resource_version(object);
    struct vd_slice uid = vd_meta_text(object, VD_SLICE("uid"));
    struct vd_status_target about = vd_call_about(call);
    struct vd_status status;
    char current[VD_UID_TEXT_MAX];
    struct vd_slice ours = vd_uid_format(call->wish.expect_uid, current);
    uint64_t revision = 0;
    if (uid.n && !vd_slice_eq(uid, ours)) {
        status = vd_status_uid_differs(&call->arena, &about, call->target.path, uid, ours);
    } else if (version.n && vd_slice_to_u64(version, &revision) != 0) {
        status = vd_status_bad_request(
            &call->arena, VD_SLICE("metadata.resourceVersion is not a number: leave it as it was "
                                   "read, or out"));
    } else if (version.n && revision && revision != call->wish.revision) {
        status = vd_status_modified(&call->arena, &about, call->wish.revision);
    } else if (is_at_status(call) && !revision && !call->version_tested &&
               call->kind->status_needs_version) {
        status = vd_status_precondition_required(&call->arena, &about);
    } else if (is_put && !revision && !call->kind->unconditional_update) {
        about.plural = call->kind->kind;
        status = vd_status_version_required(&call->arena, &about);
    } else {
        if (revision)
            call->write = NULL; /* it means this one, not any newer */
        return true;
    }
    vd_call_reply_status(call, &status);
    return false;
}

/* An object that was waiting for its finalizers goes with the last of them. */
static bool is_finished(const struct vd_json *object)
{
    return vd_meta_is_deleting(object) && vd_json_count(vd_meta_finalizers(object)) == 0 &&
           vd_json_count(vd_json_dig(object, "spec", "finalizers", NULL)) == 0;
}

/* Brings the record up to date. What changes nothing is written as it was, whatever the
 * order in which it came: then there is no event. */
static struct vd_json *track(struct vd_call *call, const struct vd_json *old,
                             struct vd_json *object, const struct vd_json *managed)
{
    bool changed = !call->applied && vd_call_track(call, old, object, managed);
    if (changed || !vd_slice_eq(call->managed_before, call->managed))
        return object;
    struct vd_json *same = vd_json_clone(&call->arena, old);
    vd_meta_set_resource_version(&call->arena, same, VD_SLICE(""));
    return vd_json_eq(same, object) ? same : object;
}

void vd_call_write_new(struct vd_call *call, const struct vd_json *old, struct vd_json *object,
                       bool is_put)
{
    struct vd_pruned pruned = {0};
    struct vd_error error;
    if (!check_kind(call, call->kind, object) || !check_space(call, object))
        return;
    struct vd_json *managed = vd_json_remove(vd_json_get(object, VD_SLICE("metadata")),
                                             VD_SLICE("managedFields"));
    if (!vd_slice_eq(vd_meta_name(object), call->target.name)) {
        struct vd_status status = vd_status_name_differs(&call->arena, vd_meta_name(object),
                                                         call->target.name);
        vd_call_reply_status(call, &status);
        return;
    }
    if (is_put && is_at_status(call))
        vd_status_door_fill(&call->arena, object, old);
    vd_object_prepare(call->kind, &call->arena, object, false, &pruned);
    vd_meta_drop_empty(object);
    bool ok = check_fields(call, call->kind, &pruned);
    vd_pruned_release(&pruned);
    if (!ok || !check_preconditions(call, object, is_put) ||
        !vd_call_check_boundary(call, object, old))
        return;
    keep_metadata(call, old, object);
    object = vd_status_door_pass(call->kind, &call->arena, object, old, is_at_status(call));
    object = through_finalize(call, old, object);
    if (is_at_status(call))
        vd_conditions_keep(call->kind, &call->arena, object, old);
    count_generation(call, old, object);
    object = track(call, old, object, managed);
    if (!check_valid(call, call->kind, object, old) ||
        !vd_call_check_escalation(call, object, false))
        return;
    call->success = 200;
    int code = vd_call_put(call, object, &error);
    if (code) {
        vd_call_reply_error(call, code, &error);
        return;
    }
    if (is_finished(object))
        call->wish.action = VD_DELETE;
    vd_call_propose(call);
}

void vd_call_update(struct vd_call *call)
{
    struct vd_json *object = NULL, *old = NULL;
    call->write = vd_call_update;
    if (vd_call_check_manager(call, false) && vd_call_decode(call, false, &object) &&
        vd_call_read_current(call, &old))
        vd_call_write_new(call, old, object, true);
}

struct vd_json *vd_call_known(struct vd_call *call, const struct vd_json *old)
{
    struct vd_json *known = vd_json_clone(&call->arena, old);
    if (!call->kind->builtin && !call->kind->preserve_unknown)
        vd_schema_prune(call->kind->schema, known, NULL);
    return known;
}

/* ---- patches ---- */

/* The kind's schema tells how lists are merged. */
static struct vd_merge_field merge_field(const void *node, struct vd_slice name)
{
    const struct vd_schema_node *child = node ? vd_schema_member(node, name) : NULL;
    struct vd_merge_field field = {.strategy = VD_MERGE_DEFAULT, .node = child};
    if (!child)
        return field;
    struct vd_patch_strategy p = vd_schema_patch_strategy(child);
    const struct vd_schema_node *items = vd_schema_items(child);
    if (vd_slice_is(p.strategy, "merge")) {
        field.strategy = VD_MERGE_LIST;
        field.key = p.merge_key;
        field.node = items ? items : child;
    } else if (vd_slice_is(p.strategy, "replace")) {
        field.strategy = VD_MERGE_REPLACE;
    }
    return field;
}

/* Whether the patch says which version it means, or sees to that itself, by a test. */
static void look_for_version(struct vd_call *call, const struct vd_json *patch,
                             enum vd_body_format format)
{
    call->version_tested = false;
    call->version_named = format != VD_BODY_JSON_PATCH && vd_meta_resource_version(patch).n > 0;
    if (format != VD_BODY_JSON_PATCH)
        return;
    VD_JSON_EACH (operation, patch) {
        struct vd_slice path = vd_json_text(vd_json_get(operation, VD_SLICE("path")));
        struct vd_slice op = vd_json_text(vd_json_get(operation, VD_SLICE("op")));
        if (!vd_slice_is(path, "/metadata/resourceVersion"))
            continue;
        if (vd_slice_is(op, "test"))
            call->version_tested = true;
        else
            call->version_named = true;
    }
}

int vd_call_apply_patch(struct vd_call *call, struct vd_json *doc, enum vd_body_format format,
                        struct vd_error *error)
{
    static const struct vd_merge_rules rules = {merge_field};
    struct vd_json *patch = NULL;
    struct vd_arena *a = &call->arena;
    int code;
    if (format == VD_BODY_JSON_PATCH) {
        code = vd_json_patch_parse(a, call->x->body, &patch, error);
        if (code)
            return code == VD_ERR_LIMIT ? code : VD_ERR_INVALID;
        look_for_version(call, patch, format);
        if (vd_json_plain_numbers(a, patch, error))
            return VD_ERR_INVALID;
        return vd_json_patch(a, doc, patch, error) ? VD_ERR_CONFLICT : VD_OK;
    }
    code = vd_json_parse(a, call->x->body, NULL, &patch, error);
    if (code)
        return code;
    if (!vd_json_is(patch, VD_JSON_OBJECT))
        return vd_error_set(error, VD_ERR_INVALID, "the patch is not a JSON object");
    look_for_version(call, patch, format);
    code = vd_json_plain_numbers(a, patch, error);
    if (code)
        return code;
    if (format == VD_BODY_STRATEGIC_PATCH)
        return vd_strategic_merge(a, doc, patch, &rules, vd_schema_root(call->kind->schema), error);
    vd_json_merge_patch(a, doc, patch);
    return VD_OK;
}

void vd_call_reply_bad_patch(struct vd_call *call, int code, const struct vd_error *error)
{
    struct vd_slice text = vd_slice_of(error->text);
    struct vd_status status = code == VD_ERR_CONFLICT ? vd_status_unprocessable(&call->arena, text)
                              : code == VD_ERR_LIMIT  ? vd_status_too_large(&call->arena, text)
                                                      : vd_status_bad_request(&call->arena, text);
    vd_call_reply_status(call, &status);
}

/* Whether the patch needs to see managedFields, which are not in the document. One that
 * copies or compares may look anywhere. */
static bool may_speak_of_managers(struct vd_call *call, enum vd_body_format format)
{
    struct vd_slice body = call->x->body;
    return call->managed.n &&
           (format == VD_BODY_JSON_PATCH || memmem(body.p, body.n, "managedFields", 13) ||
            memmem(body.p, body.n, "\\u", 2));
}

static void show_managers(struct vd_call *call, struct vd_json *object)
{
    struct vd_json *list = NULL;
    if (!vd_json_parse(&call->arena, call->managed, NULL, &list, NULL))
        vd_json_set(&call->arena, vd_json_get(object, VD_SLICE("metadata")),
                    VD_SLICE("managedFields"), list);
}

void vd_call_patch(struct vd_call *call)
{
    enum vd_body_format format = vd_body_format(call->x);
    struct vd_json *old = NULL;
    struct vd_error error;
    if (format == VD_BODY_APPLY_PATCH) {
        vd_call_apply(call);
        return;
    }
    bool strategic = format == VD_BODY_STRATEGIC_PATCH && call->kind->builtin;
    if (format != VD_BODY_JSON_PATCH && format != VD_BODY_MERGE_PATCH && !strategic) {
        struct vd_status status = vd_status_unsupported_media_type(
            &call->arena,
            call->kind->builtin
                ? VD_SLICE("application/json-patch+json, application/merge-patch+json, "
                           "application/strategic-merge-patch+json, application/apply-patch+yaml")
                : VD_SLICE("application/json-patch+json, application/merge-patch+json, "
                           "application/apply-patch+yaml"));
        vd_call_reply_status(call, &status);
        return;
    }
    call->write = vd_call_patch;
    if (!vd_call_check_manager(call, false) || !vd_call_read_current(call, &old))
        return;
    struct vd_json *object = vd_call_known(call, old);
    if (may_speak_of_managers(call, format))
        show_managers(call, object);
    int code = vd_call_apply_patch(call, object, format, &error);
    if (code) {
        vd_call_reply_bad_patch(call, code, &error);
        return;
    }
    /* A patch that does not speak of the version means whatever is there. What it has made
     * may be no object at all, which is for others to say. */
    if (!call->version_named && !vd_meta_check(object, NULL))
        vd_meta_set_resource_version(&call->arena, object, VD_SLICE(""));
    vd_call_write_new(call, old, object, false);
}
