/* PATCH: what a patch makes of the stored object is written as an update is. */
#include "kube/patch/patch.h"

#include "kinds/object_meta.h"
#include "kube/call_write.h"
#include "kube/decode.h"
#include "kube/offload.h"
#include "kube/patch/strategic_merge.h"
#include "json/merge_patch.h"
#include "json/parse.h"
#include "json/patch.h"
#include "json/plain_number.h"

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
    call->write.version_tested = false;
    call->write.version_named = format != VD_BODY_JSON_PATCH &&
                                vd_meta_resource_version(patch).n > 0;
    if (format != VD_BODY_JSON_PATCH)
        return;
    VD_JSON_EACH (operation, patch) {
        struct vd_slice path = vd_json_text(vd_json_get(operation, VD_SLICE("path")));
        struct vd_slice op = vd_json_text(vd_json_get(operation, VD_SLICE("op")));
        if (!vd_slice_is(path, "/metadata/resourceVersion"))
            continue;
        if (vd_slice_is(op, "test"))
            call->write.version_tested = true;
        else
            call->write.version_named = true;
    }
}

static void note_repeated_member(void *context, struct vd_slice place)
{
    struct vd_call *call = context;
    if (call->write.validation != VD_FIELDS_IGNORE)
        vd_write_warn(&call->write, "json patch duplicate field \"%.*s\"", VD_FMT(place));
}

static void note_unknown_member(void *context, struct vd_slice place)
{
    struct vd_call *call = context;
    if (call->write.validation != VD_FIELDS_IGNORE)
        vd_write_warn(&call->write, "json patch unknown field \"%.*s\"", VD_FMT(place));
}

int vd_call_apply_patch(struct vd_call *call, struct vd_json *doc, enum vd_body_format format,
                        struct vd_error *error)
{
    const struct vd_merge_rules rules = {merge_field, call->kind->hides_values};
    struct vd_json *patch = NULL;
    struct vd_arena *a = &call->arena;
    int code;
    struct vd_json_options options = vd_call_json_options(call);
    if (format == VD_BODY_JSON_PATCH) {
        options.on_duplicate = note_repeated_member;
        code = vd_json_patch_parse(a, vd_call_body(call), &options, &patch, error);
        if (code)
            return code == VD_ERR_LIMIT ? code : VD_ERR_INVALID;
        vd_json_patch_unknown(patch, note_unknown_member, call);
        look_for_version(call, patch, format);
        if (vd_json_plain_numbers(a, patch, error))
            return VD_ERR_INVALID;
        return vd_json_patch(a, doc, patch, error) ? VD_ERR_CONFLICT : VD_OK;
    }
    if (vd_json_parse(a, vd_call_body(call), &options, &patch, error))
        return VD_ERR_INVALID; /* also what is nested too deep: the body itself is not too long */
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

bool vd_call_refuse_patch(struct vd_call *call, int code, const struct vd_error *error)
{
    struct vd_slice text = vd_slice_of(error->text);
    struct vd_status status = code == VD_ERR_CONFLICT ? vd_status_unprocessable(&call->arena, text)
                              : code == VD_ERR_LIMIT  ? vd_status_too_large(&call->arena, text)
                                                      : vd_status_bad_request(&call->arena, text);
    return vd_call_refuse(call, &status);
}

/* Whether the patch needs to see managedFields, which are not in the document. One that
 * copies or compares may look anywhere. */
static bool may_speak_of_managers(struct vd_call *call, enum vd_body_format format)
{
    struct vd_slice body = vd_call_body(call);
    return call->write.managed.n &&
           (format == VD_BODY_JSON_PATCH || memmem(body.p, body.n, "managedFields", 13) ||
            memmem(body.p, body.n, "\\u", 2));
}

static void show_managers(struct vd_call *call, struct vd_json *object)
{
    struct vd_json *list = NULL;
    if (!vd_json_parse(&call->arena, call->write.managed, NULL, &list, NULL))
        vd_json_set(&call->arena, vd_json_get(object, VD_SLICE("metadata")),
                    VD_SLICE("managedFields"), list);
}

static bool has_metadata(const struct vd_json *object)
{
    return vd_json_is(vd_json_get(object, VD_SLICE("metadata")), VD_JSON_OBJECT);
}

static bool make_object(struct vd_write *w, const struct vd_json *old, struct vd_json **out)
{
    struct vd_call *call = vd_call_of(w);
    enum vd_body_format format = vd_body_format(vd_call_content_type(call));
    struct vd_error error;
    struct vd_json *object = vd_write_pruned_copy(w, old);
    if (may_speak_of_managers(call, format))
        show_managers(call, object);
    int code = vd_call_apply_patch(call, object, format, &error);
    if (code)
        return vd_call_refuse_patch(call, code, &error);
    /* A patch that does not speak of the version means whatever is there. What it has made
     * may be no object at all, which is for others to say. */
    if (!w->version_named && has_metadata(object))
        vd_meta_set_resource_version(w->arena, object, VD_SLICE(""));
    *out = object;
    return true;
}

void vd_call_patch(struct vd_call *call)
{
    static const struct vd_write_ops ops = VD_CALL_WRITE_OPS(.make = make_object);
    enum vd_body_format format = vd_body_format(vd_call_content_type(call));
    bool strategic = format == VD_BODY_STRATEGIC_PATCH && call->kind->native;
    if (format == VD_BODY_APPLY_PATCH) {
        vd_call_apply(call);
    } else if (format == VD_BODY_JSON_PATCH || format == VD_BODY_MERGE_PATCH || strategic) {
        if (vd_call_check_manager(call, false))
            vd_call_write(call, VD_WRITE_PATCH, &ops);
    } else {
        struct vd_status status = vd_status_unsupported_media_type(
            &call->arena,
            call->kind->native
                ? VD_SLICE("application/json-patch+json, application/merge-patch+json, "
                           "application/strategic-merge-patch+json, application/apply-patch+yaml")
                : VD_SLICE("application/json-patch+json, application/merge-patch+json, "
                           "application/apply-patch+yaml"));
        vd_call_reply_status(call, &status);
    }
}
