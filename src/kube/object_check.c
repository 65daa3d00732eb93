/*
 * What a document has to be before it becomes an object: of the right kind and place, known in
 * its fields, valid. Each check that fails has answered the call.
 */
#include "kube/object_check.h"

#include <stdatomic.h>

#include "base/limits.h"
#include "kinds/deletion.h"
#include "kinds/object_meta.h"
#include "kinds/status_subresource.h"
#include "kinds/uid.h"
#include "kube/offload.h"
#include "kube/validation.h"
#include "watch/excerpt.h"
#include "json/parse.h"
#include "json/span.h"
#include "json/write.h"

/* The text of a top-level member, which is filled in where it is not said: typed clients
 * leave apiVersion and kind out, since the URL has them. */
static struct vd_slice text_or(struct vd_call *call, struct vd_json *object, struct vd_slice key,
                               struct vd_slice text)
{
    if (object->type == VD_JSON_OBJECT && !vd_json_get(object, key))
        vd_json_set(&call->arena, object, key, vd_json_string(&call->arena, text));
    return vd_json_text(vd_json_get(object, key));
}

/* 422 in the words of the validation of custom objects. The answer is about the kind that the
 * object says it is of. */
static void reply_wrong_type(struct vd_call *call, const struct vd_kind *expected,
                             struct vd_slice api_version, struct vd_slice kind,
                             const struct vd_json *object)
{
    const struct {
        const char *field;
        struct vd_slice is, wanted;
    } members[] = {{"kind", kind, expected->kind},
                   {"apiVersion", api_version, expected->api_version}};
    struct vd_status_cause causes[2];
    size_t n = 0;
    for (size_t i = 0; i < 2; i++) {
        struct vd_buf text = {0};
        if (vd_slice_eq(members[i].is, members[i].wanted))
            continue;
        vd_buf_add_text(&text, "Invalid value: ");
        vd_excerpt_add_quoted(&text, members[i].is, VD_VIOLATION_VALUE_LEN_MAX);
        vd_buf_addf(&text, ": must be %.*s", VD_FMT(members[i].wanted));
        causes[n++] = (struct vd_status_cause){
            .reason = VD_SLICE("FieldValueInvalid"),
            .message = vd_arena_copy(&call->arena, vd_buf_slice(&text)),
            .field = vd_slice_of(members[i].field)};
        vd_buf_release(&text);
    }
    struct vd_status_target about = vd_call_about(call);
    about.plural = kind;
    about.name = vd_meta_name(object);
    struct vd_status status = vd_status_invalid(&call->arena, &about, causes, n);
    vd_call_reply_status(call, &status);
}

bool vd_call_check_kind(struct vd_call *call, const struct vd_kind *expected,
                        struct vd_json *object)
{
    vd_meta_fill_texts(object);
    struct vd_slice api_version = text_or(call, object, VD_SLICE("apiVersion"),
                                          expected->api_version);
    struct vd_slice kind = text_or(call, object, VD_SLICE("kind"), expected->kind);
    struct vd_status status;
    struct vd_error error;
    bool patched = call->target.verb == VD_VERB_PATCH && !call->applied;
    bool other_version = !vd_slice_eq(api_version, expected->api_version);
    bool other_kind = !vd_slice_eq(kind, expected->kind);
    if (vd_meta_check(object, &error)) {
        status = vd_status_bad_request(&call->arena, vd_slice_of(error.text));
    } else if (!expected->builtin &&
               (patched ? other_version || other_kind : other_kind && !other_version)) {
        reply_wrong_type(call, expected, api_version, kind, object);
        return false;
    } else if (other_version) {
        status = vd_status_version_differs(&call->arena, api_version, expected->api_version);
    } else if (other_kind) {
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

bool vd_call_check_space(struct vd_call *call, struct vd_json *object)
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

/* Keys that a YAML text repeats are one error of several lines. */
void vd_call_take_strict(struct vd_call *call, struct vd_buf *out)
{
    for (size_t i = 0; i < call->warnings.n; i++) {
        if (i < call->yaml_warnings)
            vd_buf_add_text(out, i ? "\n  " : "yaml: unmarshal errors:\n  ");
        else if (i)
            vd_buf_add_text(out, ", ");
        vd_buf_add_slice(out, call->warnings.p[i]);
    }
    call->warnings.n = call->yaml_warnings = 0;
}

/* 422: Kubernetes reads an object after it is patched, and says so. */
static void reply_strict_patch(struct vd_call *call, const struct vd_json *object,
                               struct vd_slice error)
{
    struct vd_arena *a = &call->arena;
    struct vd_buf text = {0}, message = {0};
    vd_json_write(&text, object);
    vd_buf_add_text(&message, "Invalid value: ");
    vd_excerpt_add_quoted(&message, vd_buf_slice(&text), VD_VIOLATION_VALUE_LEN_MAX);
    vd_buf_addf(&message, ": %.*s", VD_FMT(error));
    struct vd_status_cause cause = {.reason = VD_SLICE("FieldValueInvalid"),
                                    .message = vd_arena_copy(a, vd_buf_slice(&message)),
                                    .field = VD_SLICE("patch")};
    struct vd_status_target nothing = {0};
    struct vd_status status = vd_status_invalid(a, &nothing, &cause, 1);
    vd_buf_release(&text);
    vd_buf_release(&message);
    vd_call_reply_status(call, &status);
}

bool vd_call_prepare(struct vd_call *call, struct vd_json *object, bool create,
                     struct vd_pruned *pruned)
{
    struct vd_effort effort = vd_call_effort(call);
    struct vd_error error;
    int code = vd_object_prepare(call->kind, &call->arena, object, create, pruned, &effort, &error);
    if (code && effort.in_turn)
        vd_call_start_over(call);
    else if (code)
        vd_call_reply_error(call, code, &error);
    return !code;
}

bool vd_call_check_fields(struct vd_call *call, const struct vd_kind *kind,
                          const struct vd_pruned *pruned, const struct vd_json *object)
{
    for (size_t i = 0; call->validation != VD_FIELDS_IGNORE && i < pruned->paths.n; i++)
        vd_call_warn(call, "unknown field \"%.*s\"", VD_FMT(pruned->paths.p[i]));
    if (call->validation != VD_FIELDS_STRICT || call->warnings.n == 0)
        return true;
    bool patched = call->target.verb == VD_VERB_PATCH && !call->applied;
    struct vd_buf text = {0};
    if (!patched)
        vd_buf_addf(&text,
                    "%.*s in version \"%.*s\" cannot be handled as a %.*s: ", VD_FMT(kind->kind),
                    VD_FMT(kind->version), VD_FMT(kind->kind));
    vd_buf_add_text(&text, "strict decoding error: ");
    vd_call_take_strict(call, &text);
    struct vd_slice error = vd_arena_copy(&call->arena, vd_buf_slice(&text));
    vd_buf_release(&text);
    if (patched) {
        reply_strict_patch(call, object, error);
    } else {
        struct vd_status status = vd_status_bad_request(&call->arena, error);
        vd_call_reply_status(call, &status);
    }
    return false;
}

bool vd_call_is_at_status(const struct vd_call *call)
{
    return vd_slice_is(call->target.subresource, "status");
}

bool vd_call_check_boundary(struct vd_call *call, const struct vd_json *object,
                            const struct vd_json *old)
{
    struct vd_violations violations = {0};
    if (!vd_call_is_at_status(call) || !call->kind->status_boundary_strict)
        return true;
    /* The past is seen with the eyes of today's schema: what that has made of it, nobody has
     * touched. */
    struct vd_json *was = vd_json_clone(&call->arena, old);
    if (!vd_call_prepare(call, was, false, NULL))
        return false;
    vd_meta_drop_empty(was);
    bool ok = vd_status_subresource_check(object, was, &violations);
    if (!ok)
        vd_call_reply_invalid(call, call->kind, object, &violations);
    vd_violations_release(&violations);
    return ok;
}

bool vd_call_check_question(struct vd_call *call, const struct vd_kind *kind,
                            struct vd_json *object)
{
    struct vd_pruned pruned = {0};
    if (!vd_call_check_kind(call, kind, object))
        return false;
    struct vd_effort effort = {0};
    struct vd_error error;
    int code = vd_object_prepare(kind, &call->arena, object, true, &pruned, &effort, &error);
    if (code)
        vd_call_reply_error(call, code, &error);
    bool ok = !code && vd_call_check_fields(call, kind, &pruned, object);
    vd_pruned_release(&pruned);
    return ok && vd_call_check_valid(call, kind, object);
}

/* What is written is written only while this version is the newest. */
static void guard(struct vd_call *call, const struct vd_key *key, const struct vd_event *event)
{
    call->guards[call->guard_count++] = (struct vd_wish){
        .action = VD_CHECK, .when = VD_WHEN_REVISION, .revision = event->revision, .key = *key};
}

/* Definitions are large, so that one version is looked into only once. */
static bool is_alive(const struct vd_kind *kind, const struct vd_event *event)
{
    static const struct vd_slice path[] = {{"metadata", 8}, {"deletionTimestamp", 17}};
    struct vd_slice time;
    if (atomic_load_explicit(kind->definition_alive, memory_order_relaxed) == event->revision)
        return true;
    if (vd_span_find(vd_body_slice(event->body), path, 2, &time))
        return false;
    atomic_store_explicit(kind->definition_alive, event->revision, memory_order_relaxed);
    return true;
}

bool vd_call_check_definition(struct vd_call *call)
{
    struct vd_key key = {VD_DEFINITIONS, VD_SLICE(""), call->kind->storage_key};
    struct vd_event *event = NULL;
    char uid[VD_UID_TEXT_MAX];
    if (!call->kind->definition_uid.n)
        return true;
    bool gone = vd_store_get(call->kube->store, &key, 0, &event, NULL) ||
                !vd_slice_eq(vd_uid_format(event->uid, uid), call->kind->definition_uid);
    bool alive = !gone && is_alive(call->kind, event);
    if (alive)
        guard(call, &key, event);
    else if (gone)
        vd_call_reply_no_path(call);
    else
        vd_call_reply_terminating(call);
    vd_event_unref(event);
    return alive;
}

bool vd_call_check_namespace(struct vd_call *call)
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
    guard(call, &key, event);
    vd_event_unref(event);
    if (!dying)
        return true;
    struct vd_status_target about = vd_call_about(call);
    status = vd_status_namespace_terminating(&call->arena, &about, call->target.space);
    vd_call_reply_status(call, &status);
    return false;
}
