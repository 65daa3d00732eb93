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

#include "kinds/object.h"
#include "kube/decode.h"
#include "kube/deletion.h"
#include "kube/escalation_check.h"
#include "kube/object_meta.h"
#include "kube/strategic_merge.h"
#include "kube/uid.h"
#include "json/compare.h"
#include "json/merge_patch.h"
#include "json/parse.h"
#include "json/patch.h"
#include "json/revision_hole.h"
#include "json/write.h"

enum { ATTEMPTS_MAX = 8 };

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
static bool check_kind(struct vd_call *call, struct vd_json *object)
{
    const struct vd_kind *expected = call->kind;
    struct vd_slice api_version = text_or(call, object, VD_SLICE("apiVersion"),
                                          expected->api_version);
    struct vd_slice kind = text_or(call, object, VD_SLICE("kind"), expected->kind);
    struct vd_status status;
    struct vd_error error;
    if (vd_meta_check(object, &error)) {
        status = vd_status_bad_request(&call->arena, vd_slice_of(error.text));
    } else if (!vd_slice_eq(api_version, call->kind->api_version)) {
        status = vd_status_version_differs(&call->arena, api_version, call->kind->api_version);
    } else if (!vd_slice_eq(kind, call->kind->kind)) {
        vd_error_set(&error, VD_ERR_INVALID,
                     "the kind in the data (%.*s) does not match the expected kind (%.*s)",
                     VD_FMT(kind), VD_FMT(call->kind->kind));
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
static bool check_fields(struct vd_call *call, const struct vd_pruned *pruned)
{
    for (size_t i = 0; call->validation != VD_FIELDS_IGNORE && i < pruned->paths.n; i++)
        vd_call_warn(call, "unknown field \"%.*s\"", VD_FMT(pruned->paths.p[i]));
    if (call->validation != VD_FIELDS_STRICT || call->warnings.n == 0)
        return true;
    struct vd_buf text = {0};
    vd_buf_addf(&text,
                "%.*s in version \"%.*s\" cannot be handled as a %.*s: strict decoding error: ",
                VD_FMT(call->kind->kind), VD_FMT(call->kind->version), VD_FMT(call->kind->kind));
    for (size_t i = 0; i < call->warnings.n; i++)
        vd_buf_addf(&text, "%s%.*s", i ? ", " : "", VD_FMT(call->warnings.p[i]));
    call->warnings.n = 0;
    struct vd_status status = vd_status_bad_request(
        &call->arena, vd_arena_copy(&call->arena, vd_buf_slice(&text)));
    vd_buf_release(&text);
    vd_call_reply_status(call, &status);
    return false;
}

static bool check_valid(struct vd_call *call, const struct vd_json *object,
                        const struct vd_json *old)
{
    struct vd_violations violations = {0};
    bool ok = vd_object_validate(call->kind, object, old, &violations);
    for (size_t i = 0; i < violations.passed.n; i++)
        vd_call_warn(call, "%.*s: %.*s", VD_FMT(violations.passed.p[i].field),
                     VD_FMT(violations.passed.p[i].message));
    if (!ok) {
        size_t n = violations.list.n;
        struct vd_status_cause *causes = vd_arena_alloc(&call->arena, n * sizeof *causes);
        for (size_t i = 0; i < n; i++) {
            const struct vd_violation *v = &violations.list.p[i];
            causes[i] = (struct vd_status_cause){
                .reason = vd_slice_of(vd_violation_reason(v->type)),
                .message = vd_arena_copy(&call->arena, v->message),
                .field = vd_arena_copy(&call->arena, v->field),
            };
        }
        struct vd_status_target about = vd_call_about(call);
        about.plural = call->kind->kind;
        about.name = vd_meta_name(object);
        struct vd_status status = vd_status_invalid(&call->arena, &about, causes, n);
        vd_call_reply_status(call, &status);
    }
    vd_violations_release(&violations);
    return ok;
}

/* A namespaced object needs its namespace, alive. */
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
    if (!call->x) {
        vd_call_free(call);
        return;
    }
    if (awaits_definition(call))
        return;
    call->x->ops = NULL;
    bool again = (o->code == VD_ERR_CONFLICT || o->code == VD_ERR_NOT_FOUND) && call->write &&
                 ++call->attempts < ATTEMPTS_MAX;
    if (again) {
        call->write(call);
    } else if (o->code == VD_ERR_CONFLICT) {
        struct vd_status_target about = vd_call_about(call);
        struct vd_status status = vd_status_modified(&call->arena, &about);
        vd_call_reply_status(call, &status);
    } else if (o->code) {
        vd_call_reply_error(call, (int)o->code, &o->error);
    } else if (call->deletes) {
        reply_deleted(call);
    } else {
        reply_written(call, o->revision);
    }
}

void vd_call_propose(struct vd_call *call)
{
    if (call->dry_run) {
        if (call->deletes)
            reply_deleted(call);
        else
            reply_written(call, call->wish.revision ? call->wish.revision
                                                    : vd_store_revision(call->kube->store));
        return;
    }
    call->answered.run = on_answered;
    call->proposal = (struct vd_proposal){&call->wish, 1, proposal_done, call, NULL};
    call->x->ops = &waiting;
    call->x->arg = call;
    vd_store_propose(call->kube->store, &call->proposal);
}

/* The kind in whose form objects are stored. */
static const struct vd_kind *stored_kind(const struct vd_call *call)
{
    const struct vd_kind *kind = vd_kind_set_stored(call->kinds, call->kind->storage_key);
    return kind ? kind : call->kind;
}

int vd_call_put(struct vd_call *call, const struct vd_json *object, struct vd_error *error)
{
    size_t hole = 0;
    if (call->kind->converts) {
        struct vd_json *stored = vd_json_clone(&call->arena, object);
        vd_object_convert(call->kind, stored_kind(call), &call->arena, stored);
        object = stored;
    }
    vd_buf_reset(&call->json);
    vd_buf_reset(&call->body);
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
    if (call->kind->has_status && !call->kind->builtin)
        vd_json_remove(object, VD_SLICE("status"));
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
    struct vd_pruned pruned = {0};
    struct vd_error error;
    if (!vd_call_decode(call, false, &object) || !check_kind(call, object) ||
        !check_space(call, object) || !check_namespace_lives(call))
        return;
    if (vd_meta_resource_version(object).n) {
        struct vd_status status = vd_status_bad_request(
            &call->arena, VD_SLICE("resourceVersion should not be set on objects to be created"));
        vd_call_reply_status(call, &status);
        return;
    }
    vd_object_prepare(call->kind, &call->arena, object, true, &pruned);
    bool ok = check_fields(call, &pruned);
    vd_pruned_release(&pruned);
    if (!ok)
        return;
    if (!vd_meta_name(object).n && vd_meta_generate_name(object).n)
        vd_meta_set_name(&call->arena, object,
                         vd_name_generate(&call->arena, vd_meta_generate_name(object)));
    stamp_new(call, object);
    furnish_namespace(call, object);
    if (!check_valid(call, object, NULL) || !vd_call_check_escalation(call, object, true))
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
        code = vd_json_parse_copy(&call->arena, vd_body_slice(event->body), NULL, out, &error);
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
    static const char *const kept[] = {"uid",          "creationTimestamp",
                                       "generation",   "deletionTimestamp",
                                       "generateName", "deletionGracePeriodSeconds"};
    struct vd_arena *a = &call->arena;
    struct vd_json *was = vd_json_get(old, VD_SLICE("metadata"));
    struct vd_json *is = vd_json_get(object, VD_SLICE("metadata"));
    vd_json_remove(is, VD_SLICE("selfLink"));
    vd_json_remove(is, VD_SLICE("managedFields"));
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        struct vd_slice key = vd_slice_of(kept[i]);
        const struct vd_json *value = vd_json_get(was, key);
        if (value)
            vd_json_set(a, is, key, vd_json_clone(a, value));
        else
            vd_json_remove(is, key);
    }
    vd_meta_set_resource_version(a, object, VD_SLICE(""));
}

/* spec and status have their own doors: each door keeps the other's part. */
static struct vd_json *through_its_door(struct vd_call *call, const struct vd_json *old,
                                        struct vd_json *object)
{
    struct vd_arena *a = &call->arena;
    struct vd_slice status = VD_SLICE("status");
    if (!call->kind->has_status)
        return object;
    bool at_status = vd_slice_is(call->target.subresource, "status");
    struct vd_json *from = at_status ? object : (struct vd_json *)(uintptr_t)old;
    struct vd_json *into = at_status ? vd_json_clone(a, old) : object;
    const struct vd_json *value = vd_json_get(from, status);
    if (value)
        vd_json_set(a, into, status, vd_json_clone(a, value));
    else
        vd_json_remove(into, status);
    return into;
}

/* Anything but metadata and status counts as a new generation. */
static void count_generation(struct vd_call *call, const struct vd_json *old,
                             struct vd_json *object)
{
    if (!call->kind->counts_generation || vd_slice_is(call->target.subresource, "status"))
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
        status = vd_status_modified(&call->arena, &about);
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

void vd_call_write_new(struct vd_call *call, const struct vd_json *old, struct vd_json *object,
                       bool is_put)
{
    struct vd_pruned pruned = {0};
    struct vd_error error;
    if (!check_kind(call, object) || !check_space(call, object))
        return;
    if (!vd_slice_eq(vd_meta_name(object), call->target.name)) {
        struct vd_status status = vd_status_name_differs(&call->arena, vd_meta_name(object),
                                                         call->target.name);
        vd_call_reply_status(call, &status);
        return;
    }
    vd_object_prepare(call->kind, &call->arena, object, false, &pruned);
    bool ok = check_fields(call, &pruned);
    vd_pruned_release(&pruned);
    if (!ok || !check_preconditions(call, object, is_put))
        return;
    keep_metadata(call, old, object);
    object = through_its_door(call, old, object);
    count_generation(call, old, object);
    if (!check_valid(call, object, old) || !vd_call_check_escalation(call, object, false))
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
    if (vd_call_decode(call, false, &object) && vd_call_read_current(call, &old))
        vd_call_write_new(call, old, object, true);
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
        return vd_json_patch(a, doc, patch, error) ? VD_ERR_CONFLICT : VD_OK;
    }
    code = vd_json_parse(a, call->x->body, NULL, &patch, error);
    if (code)
        return code;
    if (!vd_json_is(patch, VD_JSON_OBJECT))
        return vd_error_set(error, VD_ERR_INVALID, "the patch is not a JSON object");
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

void vd_call_patch(struct vd_call *call)
{
    enum vd_body_format format = vd_body_format(call->x);
    struct vd_json *old = NULL;
    struct vd_error error;
    bool strategic = format == VD_BODY_STRATEGIC_PATCH && call->kind->builtin;
    if (format != VD_BODY_JSON_PATCH && format != VD_BODY_MERGE_PATCH && !strategic) {
        struct vd_status status = vd_status_unsupported_media_type(
            &call->arena,
            call->kind->builtin
                ? VD_SLICE("application/json-patch+json, application/merge-patch+json, "
                           "application/strategic-merge-patch+json")
                : VD_SLICE("application/json-patch+json, application/merge-patch+json"));
        vd_call_reply_status(call, &status);
        return;
    }
    call->write = vd_call_patch;
    if (!vd_call_read_current(call, &old))
        return;
    struct vd_json *object = vd_json_clone(&call->arena, old);
    struct vd_slice before = vd_meta_resource_version(object);
    int code = vd_call_apply_patch(call, object, format, &error);
    if (code) {
        vd_call_reply_bad_patch(call, code, &error);
        return;
    }
    /* A patch that does not speak of the version means whatever is there. */
    if (vd_slice_eq(before, vd_meta_resource_version(object)))
        vd_meta_set_resource_version(&call->arena, object, VD_SLICE(""));
    vd_call_write_new(call, old, object, false);
}
