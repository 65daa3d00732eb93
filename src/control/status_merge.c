/* See status_merge.h. */
#include "control/status_merge.h"

#include "kinds/condition.h"
#include "kinds/object_meta.h"

static struct vd_json *status_of(struct vd_arena *a, struct vd_json *object)
{
    struct vd_json *status = vd_json_get(object, VD_SLICE("status"));
    if (vd_json_is(status, VD_JSON_OBJECT))
        return status;
    status = vd_json_object(a);
    vd_json_set(a, object, VD_SLICE("status"), status);
    return status;
}

static void merge_members(struct vd_arena *a, struct vd_json *object, const struct vd_json *members)
{
    struct vd_json *status = status_of(a, object);
    VD_JSON_EACH (member, members) {
        if (vd_json_is(member, VD_JSON_NULL))
            vd_json_remove(status, vd_json_key(member));
        else
            vd_json_set(a, status, vd_json_key(member), vd_json_copy(a, member));
    }
}

static struct vd_slice text_of(const struct vd_json *condition, const char *key)
{
    return vd_json_text(vd_json_get(condition, vd_slice_of(key)));
}

static struct vd_json *find_condition(const struct vd_json *object, struct vd_slice type)
{
    VD_JSON_EACH (item, vd_json_dig(object, "status", "conditions", NULL)) {
        if (vd_slice_eq(text_of(item, "type"), type))
            return item;
    }
    return NULL;
}

static int merge_condition(struct vd_arena *a, struct vd_json *object,
                           const struct vd_json *condition, size_t at, int64_t now_ms,
                           struct vd_error *error)
{
    struct vd_slice type = text_of(condition, "type"), status = text_of(condition, "status");
    const struct vd_json *observed = vd_json_get(condition, VD_SLICE("observedGeneration"));
    int64_t generation = vd_meta_generation(object);
    if (!type.n)
        return vd_error_set(error, VD_ERR_INVALID, "conditions[%zu].type: must be a text", at);
    if (!vd_slice_is(status, "True") && !vd_slice_is(status, "False") &&
        !vd_slice_is(status, "Unknown"))
        return vd_error_set(error, VD_ERR_INVALID,
                            "conditions[%zu].status: must be \"True\", \"False\" or \"Unknown\"",
                            at);
    vd_condition_set(a, object,
                     &(struct vd_condition){.type = type,
                                            .status = status,
                                            .reason = text_of(condition, "reason"),
                                            .message = text_of(condition, "message")},
                     now_ms);
    struct vd_json *merged = find_condition(object, type);
    if (observed)
        vd_json_set(a, merged, VD_SLICE("observedGeneration"), vd_json_copy(a, observed));
    else if (generation)
        vd_json_set(a, merged, VD_SLICE("observedGeneration"), vd_json_i64(a, generation));
    return VD_OK;
}

int vd_status_merge(struct vd_arena *a, struct vd_json *object, const struct vd_result *result,
                    int64_t now_ms, struct vd_error *error)
{
    size_t at = 0;
    int code = VD_OK;
    if (result->status)
        merge_members(a, object, result->status);
    if (!result->conditions)
        return VD_OK;
    VD_JSON_EACH (condition, result->conditions) {
        if (!code)
            code = merge_condition(a, object, condition, at++, now_ms, error);
    }
    return code;
}
