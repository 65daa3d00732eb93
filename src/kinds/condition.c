/* See condition.h. */
#include "kinds/condition.h"

#include "base/human_time.h"

static struct vd_json *find(const struct vd_json *object, struct vd_slice type)
{
    VD_JSON_EACH (item, vd_json_dig(object, "status", "conditions", NULL)) {
        if (vd_slice_eq(vd_json_text(vd_json_get(item, VD_SLICE("type"))), type))
            return item;
    }
    return NULL;
}

bool vd_condition_is_true(const struct vd_json *object, struct vd_slice type)
{
    return vd_slice_is(vd_json_text(vd_json_get(find(object, type), VD_SLICE("status"))), "True");
}

/* The member, which becomes an empty container of the type if it is none. */
static struct vd_json *member(struct vd_arena *a, struct vd_json *object, struct vd_slice key,
                              enum vd_json_type type)
{
    struct vd_json *value = vd_json_get(object, key);
    if (vd_json_is(value, type))
        return value;
    value = type == VD_JSON_OBJECT ? vd_json_object(a) : vd_json_array(a);
    vd_json_set(a, object, key, value);
    return value;
}

static void set(struct vd_arena *a, struct vd_json *item, struct vd_slice key, struct vd_slice text)
{
    vd_json_set(a, item, key, vd_json_string(a, text));
}

void vd_condition_set(struct vd_arena *a, struct vd_json *object,
                      const struct vd_condition *condition, int64_t now_ms)
{
    struct vd_json *status = member(a, object, VD_SLICE("status"), VD_JSON_OBJECT);
    struct vd_json *list = member(a, status, VD_SLICE("conditions"), VD_JSON_ARRAY);
    struct vd_json *item = find(object, condition->type);
    char time[VD_RFC3339_MAX];
    if (!item) {
        item = vd_json_object(a);
        vd_json_append(list, item);
    }
    struct vd_slice was = vd_json_text(vd_json_get(item, VD_SLICE("status")));
    bool changes = !vd_slice_eq(was, condition->status);
    set(a, item, VD_SLICE("type"), condition->type);
    set(a, item, VD_SLICE("status"), condition->status);
    if (changes)
        set(a, item, VD_SLICE("lastTransitionTime"), vd_rfc3339_format(now_ms, time));
    set(a, item, VD_SLICE("reason"), condition->reason);
    set(a, item, VD_SLICE("message"), condition->message);
}

bool vd_condition_remove(struct vd_json *object, struct vd_slice type)
{
    struct vd_json *list = vd_json_dig(object, "status", "conditions", NULL), *before = NULL;
    struct vd_json *found = find(object, type);
    VD_JSON_EACH (item, list) {
        if (item == found) {
            vd_json_remove_after(list, before);
            return true;
        }
        before = item;
    }
    return false;
}
