/* See attributes.h. */
#include "watch/attributes.h"

#include "json/span.h"

enum { FIELD_DEPTH_MAX = 16 }; /* parts that the path of a field may have */

void vd_attributes_set(struct vd_attributes *attributes, const struct vd_event *event)
{
    attributes->event = event;
    attributes->labels_read = false;
    attributes->labels.n = 0;
    if (attributes->arena.chunks)
        vd_arena_reset(&attributes->arena);
}

void vd_attributes_release(struct vd_attributes *attributes)
{
    VD_VEC_RELEASE(&attributes->labels);
    vd_arena_release(&attributes->arena);
}

static struct vd_slice body_of(const struct vd_attributes *attributes)
{
    const struct vd_event *event = attributes->event;
    return event && event->body ? vd_body_slice(event->body) : VD_SLICE("");
}

const struct vd_label *vd_attributes_labels(struct vd_attributes *attributes, size_t *n)
{
    static const struct vd_slice path[] = {{"metadata", 8}, {"labels", 6}};
    struct vd_slice object, key, value;
    if (!attributes->labels_read && vd_span_find(body_of(attributes), path, 2, &object)) {
        struct vd_span_cursor at;
        vd_span_open(&at, object);
        while (at.object && vd_span_next(&at, &key, &value)) {
            struct vd_label label;
            if (vd_span_decode(&attributes->arena, key, &label.key) &&
                vd_span_text(&attributes->arena, value, &label.value))
                *VD_VEC_PUSH(&attributes->labels) = label;
        }
    }
    attributes->labels_read = true;
    *n = attributes->labels.n;
    return attributes->labels.p;
}

bool vd_attributes_label(const void *arg, struct vd_slice key, struct vd_slice *value)
{
    const struct vd_attributes *attributes = arg;
    for (size_t i = 0; i < attributes->labels.n; i++)
        if (vd_slice_eq(attributes->labels.p[i].key, key)) {
            *value = attributes->labels.p[i].value;
            return true;
        }
    return false;
}

static bool is_scalar(struct vd_slice json)
{
    return json.n && json.p[0] != '{' && json.p[0] != '[' && !vd_slice_is(json, "null");
}

/* Decoding may need memory that lives as long as the attributes: their arena. The const is cast
 * away only for that: the arena grows, but the attributes' values stay the same. */
static bool text_of(const struct vd_attributes *attributes, struct vd_slice json,
                    struct vd_slice *value)
{
    if (!is_scalar(json))
        return false;
    if (json.p[0] == '"')
        return vd_span_text(&((struct vd_attributes *)(uintptr_t)attributes)->arena, json, value);
    *value = json;
    return true;
}

bool vd_attributes_field(const void *arg, struct vd_slice field, struct vd_slice *value)
{
    const struct vd_attributes *attributes = arg;
    struct vd_slice keys[FIELD_DEPTH_MAX], rest = field, json;
    size_t n = 0;
    if (!attributes->event)
        return false;
    if (vd_slice_is(field, "metadata.name")) {
        *value = vd_entry_name(attributes->event->entry);
        return true;
    }
    if (vd_slice_is(field, "metadata.namespace")) {
        *value = vd_entry_namespace(attributes->event->entry);
        return true;
    }
    while (n < FIELD_DEPTH_MAX && vd_slice_cut(&rest, '.', &keys[n]))
        n++;
    return !rest.p && vd_span_find(body_of(attributes), keys, n, &json) &&
           text_of(attributes, json, value);
}

bool vd_attributes_first_field(const void *arg, struct vd_slice fields, struct vd_slice *value)
{
    struct vd_slice field, found;
    while (vd_slice_cut(&fields, '|', &field))
        if (vd_attributes_field(arg, field, &found) && found.n) {
            *value = found;
            return true;
        }
    return false;
}
