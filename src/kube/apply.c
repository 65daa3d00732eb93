/*
 * Server-side apply: PATCH with application/apply-patch+yaml.
 *
 * The rules are in kinds/object_apply.h; what is here is the request. An object that is
 * not there is created, for which one needs the right to create. At a subresource only
 * its own part of the configuration counts.
 */
#include "kinds/object_apply.h"

#include "base/limits.h"
#include "kinds/object.h"
#include "kinds/object_merge.h"
#include "kinds/object_meta.h"
#include "kube/decode.h"
#include "kube/field_manager.h"
#include "kube/object_check.h"
#include "kube/offload.h"
#include "kube/proposal.h"
#include "kube/query_option.h"
#include "kube/record.h"
#include "kube/scale.h"
#include "kube/write.h"
#include "json/merge_patch.h"
#include "json/write.h"

static bool reply_bad(struct vd_call *call, const char *text)
{
    struct vd_status status = vd_status_bad_request(&call->arena, vd_slice_of(text));
    vd_call_reply_status(call, &status);
    return false;
}

/* ---- the configuration ---- */

/* The field must be what the URL says, and is filled in if it is not said. */
static bool check_name(struct vd_call *call, struct vd_json *config)
{
    struct vd_slice name = vd_meta_name(config);
    if (name.n && !vd_slice_eq(name, call->target.name)) {
        struct vd_status status = vd_status_name_differs(&call->arena, name, call->target.name);
        vd_call_reply_status(call, &status);
        return false;
    }
    vd_meta_set_name(&call->arena, config, call->target.name);
    return true;
}

static bool check_type(struct vd_call *call, struct vd_json *config)
{
    struct vd_slice version = vd_json_text(vd_json_get(config, VD_SLICE("apiVersion")));
    struct vd_slice kind = vd_json_text(vd_json_get(config, VD_SLICE("kind")));
    struct vd_error error;
    vd_meta_fill_texts(config);
    if (!vd_slice_eq(kind, call->kind->kind) || !vd_slice_eq(version, call->kind->api_version)) {
        bool grouped = version.n && memchr(version.p, '/', version.n);
        vd_error_set(&error, VD_ERR_INVALID, "invalid object type: %s%.*s, Kind=%.*s",
                     grouped ? "" : "/", VD_FMT(version), VD_FMT(kind));
    } else if (!vd_meta_check(config, &error)) {
        return true;
    }
    return reply_bad(call, error.text);
}

/* What the schema does not know, or a list that cannot be merged. */
static bool check_schema(struct vd_call *call, const struct vd_json *config)
{
    struct vd_error error;
    if (!vd_apply_check(&call->arena, vd_schema_root(call->kind->schema), config, &error))
        return true;
    struct vd_slice space = call->kind->namespaced ? call->target.space : VD_SLICE("");
    vd_error_prefix(&error, "failed to create typed patch object (%.*s/%.*s; %s%.*s, Kind=%.*s)",
                    VD_FMT(space), VD_FMT(call->target.name), call->kind->group.n ? "" : "/",
                    VD_FMT(call->kind->api_version), VD_FMT(call->kind->kind));
    return reply_bad(call, error.text);
}

/* At its door status is all that counts, and what marks an object of a built-in kind; elsewhere
 * status is what does not. */
static void leave_at_the_door(struct vd_call *call, struct vd_json *config)
{
    static const char *const let_in[] = {"name",   "namespace",  "uid", "resourceVersion",
                                         "labels", "annotations"};
    size_t n = sizeof let_in / sizeof *let_in - (call->kind->builtin ? 0 : 2);
    struct vd_json *metadata = vd_json_get(config, VD_SLICE("metadata"));
    struct vd_json *kept = vd_json_object(&call->arena), *before = NULL;
    if (!vd_slice_is(call->target.subresource, "status")) {
        if (call->kind->has_status)
            vd_json_remove(config, VD_SLICE("status"));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct vd_json *value = vd_json_remove(metadata, vd_slice_of(let_in[i]));
        if (value)
            vd_json_add_ref(kept, vd_slice_of(let_in[i]), value);
    }
    vd_json_set(&call->arena, config, VD_SLICE("metadata"), kept);
    for (struct vd_json *member = vd_json_first(config), *next; member; member = next) {
        struct vd_slice key = vd_json_key(member);
        next = vd_json_next(member);
        if (vd_slice_is(key, "apiVersion") || vd_slice_is(key, "kind") ||
            vd_slice_is(key, "metadata") || vd_slice_is(key, "status"))
            before = member;
        else
            vd_json_remove_after(config, before);
    }
}

/* Where the boundary is strict, a configuration may say what is there already, and no more. */
static bool check_rest(struct vd_call *call, const struct vd_json *config,
                       const struct vd_json *live)
{
    if (!call->kind->status_boundary_strict || call->scales)
        return true;
    struct vd_json *object = vd_json_clone(&call->arena, live);
    vd_json_merge_patch(&call->arena, object, config);
    if (!vd_call_prepare(call, object, false, NULL))
        return false;
    vd_meta_drop_empty(object);
    return vd_call_check_boundary(call, object, live);
}

/* Keys that are repeated: refused, or warned of, as the request wants it. */
static bool check_strict(struct vd_call *call)
{
    struct vd_buf text = {0};
    if (call->validation != VD_FIELDS_STRICT || call->warnings.n == 0)
        return true;
    vd_buf_add_text(&text, "error strict decoding YAML: error converting YAML to JSON: ");
    vd_call_take_strict(call, &text);
    struct vd_slice all = vd_arena_copy(&call->arena, vd_buf_slice(&text));
    vd_buf_release(&text);
    return reply_bad(call, all.p);
}

/* False: the call has been answered. */
static bool read_config(struct vd_call *call, struct vd_json **out)
{
    if (!vd_call_check_manager(call, true) || !vd_call_decode_config(call, out) ||
        (call->scales && !vd_scale_config(call, *out, out)) || !check_type(call, *out))
        return false;
    struct vd_json *managed = vd_json_dig(*out, "metadata", "managedFields", NULL);
    if (managed && !vd_json_is(managed, VD_JSON_NULL))
        return reply_bad(call, "metadata.managedFields must be nil");
    if (managed)
        vd_json_remove(vd_json_get(*out, VD_SLICE("metadata")), VD_SLICE("managedFields"));
    return check_name(call, *out) && check_schema(call, *out) && check_strict(call);
}

/* ---- the answer to conflicts ---- */

static void reply_conflicts(struct vd_call *call, const struct vd_apply *apply)
{
    struct vd_arena *a = &call->arena;
    struct vd_status_cause *causes = vd_arena_alloc(a, apply->conflicts_n * sizeof *causes);
    for (size_t i = 0; i < apply->conflicts_n; i++) {
        struct vd_buf text = {0};
        vd_buf_addf(&text, "conflict with %.*s", VD_FMT(apply->conflicts[i].manager));
        causes[i] = (struct vd_status_cause){VD_SLICE("FieldManagerConflict"),
                                             vd_arena_copy(a, vd_buf_slice(&text)),
                                             apply->conflicts[i].path};
        vd_buf_release(&text);
    }
    struct vd_status status = vd_status_apply_conflict(a, vd_apply_conflict_text(a, apply), causes,
                                                       apply->conflicts_n);
    vd_call_reply_status(call, &status);
}

/* ---- applying ---- */

/* Client-side apply of the same manager goes on from what is applied here, unless that is too long
 * for an annotation: then it begins anew. */
static void note_last_applied(struct vd_call *call, const struct vd_apply *apply)
{
    struct vd_slice key = VD_SLICE(VD_LAST_APPLIED), before;
    struct vd_buf text = {0};
    if (!vd_slice_is(apply->who.manager, "kubectl") ||
        !vd_meta_annotation(apply->object, key, &before) || !before.n)
        return;
    struct vd_json *config = vd_json_clone(&call->arena, apply->config);
    vd_meta_remove_annotation(config, key);
    vd_json_write(&text, config);
    vd_buf_add_char(&text, '\n');
    vd_meta_set_annotation(&call->arena, apply->object, key, vd_buf_slice(&text));
    vd_buf_release(&text);
    if (vd_meta_annotations_len(vd_meta_annotations(apply->object)) > VD_ANNOTATIONS_LEN_MAX)
        vd_meta_remove_annotation(apply->object, key);
}

/* The object that results, and call->managed. NULL: the call has been answered. */
static struct vd_json *applied(struct vd_call *call, const struct vd_json *live,
                               const struct vd_json *config)
{
    struct vd_managed managed;
    struct vd_buf record = {0};
    bool force;
    vd_query_flag(&call->query, VD_SLICE("force"), &force);
    vd_managed_read(&managed, &call->arena, live ? call->managed : VD_SLICE(""));
    struct vd_apply apply = {
        .root = vd_schema_root(call->kind->schema),
        .live = live,
        .config = config,
        .who = vd_call_manager(call),
        .force = force,
        .managed = &managed,
    };
    call->applied = true;
    if (vd_object_apply(&call->arena, &apply)) {
        reply_conflicts(call, &apply);
        return NULL;
    }
    note_last_applied(call, &apply);
    if (managed.changed || !live) {
        vd_managed_write(&record, &managed);
        call->managed = vd_arena_copy(&call->arena, vd_buf_slice(&record));
        vd_buf_release(&record);
    }
    return apply.object;
}

/* To create by an apply one must be allowed to create. */
static bool may_create(struct vd_call *call)
{
    struct vd_access access = vd_call_access(call);
    struct vd_buf reason = {0};
    access.verb = VD_SLICE("create");
    bool allowed = call->kube->allowed(call->kube->arg, &access, &reason);
    if (!allowed) {
        struct vd_slice why = vd_arena_copy(&call->arena, vd_buf_slice(&reason));
        struct vd_status status = vd_access_status(&call->arena, &access, why);
        vd_call_reply_status(call, &status);
    }
    vd_buf_release(&reason);
    return allowed;
}

/* A configuration that means an object which is not there. */
static bool means_none(struct vd_call *call, const struct vd_json *config)
{
    struct vd_status_target about = vd_call_about(call);
    struct vd_slice uid = vd_meta_text(config, VD_SLICE("uid"));
    struct vd_buf why = {0};
    if (!uid.n && !vd_meta_resource_version(config).n && !call->target.subresource.n)
        return true;
    if (uid.n)
        vd_buf_addf(&why,
                    "uid mismatch: the provided object specified uid %.*s, and no existing object "
                    "was found",
                    VD_FMT(uid));
    struct vd_status status = uid.n ? vd_status_conflict(&call->arena, &about, vd_buf_slice(&why))
                              : call->target.subresource.n
                                  ? vd_status_not_found(&call->arena, &about)
                                  : vd_status_modified(&call->arena, &about, 0);
    vd_buf_release(&why);
    vd_call_reply_status(call, &status);
    return false;
}

static void create(struct vd_call *call, struct vd_json *config)
{
    if (!means_none(call, config) || !may_create(call))
        return;
    if (call->kind->terminating) {
        vd_call_reply_terminating(call);
        return;
    }
    struct vd_json *object = applied(call, NULL, config);
    if (object)
        vd_call_create_object(call, object);
}

static void apply(struct vd_call *call)
{
    struct vd_json *config = NULL, *live = NULL;
    struct vd_event *event = NULL;
    struct vd_key key = vd_call_key(call);
    if (!read_config(call, &config))
        return;
    int code = vd_store_get(call->kube->store, &key, 0, &event, NULL);
    vd_event_unref(event);
    if (code == VD_ERR_NOT_FOUND) {
        leave_at_the_door(call, config);
        create(call, config);
        return;
    }
    if (!vd_call_read_current(call, &live) || !check_rest(call, config, live))
        return;
    leave_at_the_door(call, config);
    struct vd_slice version = vd_meta_resource_version(config);
    struct vd_json *object = applied(call, vd_call_known(call, live), config);
    if (!object)
        return;
    /* The version counts only if the configuration says it. */
    vd_meta_set_resource_version(&call->arena, object, version);
    vd_call_write_new(call, live, object, false);
}

void vd_call_apply(struct vd_call *call)
{
    call->write = vd_call_apply;
    vd_call_run(call, apply);
}
