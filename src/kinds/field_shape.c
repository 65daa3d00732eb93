/* See field_shape.h. */
#include "kinds/field_shape.h"

#include <stdlib.h>

static bool takes(const struct vd_schema_node *node, enum vd_schema_type type)
{
    return !node || !node->types || (node->types & type);
}

enum vd_field_shape vd_field_shape(const struct vd_schema_node *node, const struct vd_json *v)
{
    enum vd_json_type type = (enum vd_json_type)v->type;
    bool atomic = node && (node->flags & VD_SCHEMA_ATOMIC_MAP);
    bool merged = node && node->merge_type != VD_LIST_ATOMIC;
    if (type == VD_JSON_NULL)
        type = takes(node, VD_TYPE_OBJECT)  ? VD_JSON_OBJECT
               : takes(node, VD_TYPE_ARRAY) ? VD_JSON_ARRAY
                                            : VD_JSON_NULL;
    if (type == VD_JSON_OBJECT)
        return atomic || !takes(node, VD_TYPE_OBJECT) ? VD_SHAPE_LEAF : VD_SHAPE_MAP;
    if (type == VD_JSON_ARRAY)
        return merged ? VD_SHAPE_LIST : VD_SHAPE_LEAF;
    return VD_SHAPE_LEAF;
}

const struct vd_schema_node *vd_field_member_node(const struct vd_schema_node *node,
                                                  struct vd_slice key, bool *named)
{
    *named = false;
    if (!node)
        return NULL;
    if (node->flags & VD_SCHEMA_RESOURCE) {
        bool metadata = vd_slice_is(key, "metadata");
        *named = metadata || vd_slice_is(key, "kind") || vd_slice_is(key, "apiVersion");
        if (metadata && node->metadata)
            return node->metadata;
    }
    const struct vd_schema_property *property = vd_schema_find(node, key);
    if (property && property->node) {
        *named = true;
        return property->node;
    }
    return node->additional;
}

/* ---- items ---- */

/* The keys of an item as an object; NULL if it has not all of them. */
static const struct vd_json *keys_of(struct vd_arena *a, const struct vd_schema_node *node,
                                     const struct vd_json *item)
{
    struct vd_json *keys = vd_json_object(a);
    VD_JSON_EACH (name, node->map_keys) {
        const struct vd_json *value = vd_json_get(item, vd_json_text(name));
        const struct vd_schema_property *property = value || !node->items
                                                        ? NULL
                                                        : vd_schema_find(node->items,
                                                                         vd_json_text(name));
        if (!value && property && property->node)
            value = property->node->fallback;
        if (!value || value->type >= VD_JSON_ARRAY)
            return NULL;
        vd_json_add_ref(keys, vd_json_text(name), vd_json_clone(a, value));
    }
    vd_path_keys_sort(keys);
    return vd_json_count(keys) ? keys : NULL;
}

static struct vd_path_element step_of(struct vd_arena *a, const struct vd_schema_node *node,
                                      const struct vd_json *item, size_t place)
{
    if (node->merge_type == VD_LIST_SET && item->type < VD_JSON_ARRAY)
        return (struct vd_path_element){.type = VD_PATH_VALUE, .value = item};
    const struct vd_json *keys = node->merge_type == VD_LIST_MAP ? keys_of(a, node, item) : NULL;
    if (keys)
        return (struct vd_path_element){.type = VD_PATH_KEYS, .value = keys};
    return (struct vd_path_element){.type = VD_PATH_INDEX, .index = place};
}

static int by_step(const void *a, const void *b)
{
    const struct vd_field_item *x = a, *y = b;
    int c = vd_path_element_cmp(&x->at, &y->at);
    return c ? c : (x->place > y->place) - (x->place < y->place);
}

struct vd_field_item *vd_field_items(struct vd_arena *a, const struct vd_schema_node *node,
                                     const struct vd_json *list, struct vd_field_item **sorted)
{
    size_t n = vd_json_count(list), i = 0;
    struct vd_field_item *items = vd_arena_alloc(a, n * sizeof *items);
    VD_JSON_EACH (item, list) {
        items[i] = (struct vd_field_item){step_of(a, node, item, i), item, i};
        i++;
    }
    if (sorted) {
        *sorted = vd_arena_alloc(a, n * sizeof *items);
        if (n) {
            memcpy(*sorted, items, n * sizeof *items);
            qsort(*sorted, n, sizeof *items, by_step);
        }
    }
    return items;
}

const struct vd_field_item *vd_field_item_find(const struct vd_field_item *sorted, size_t n,
                                               const struct vd_path_element *at)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (vd_path_element_cmp(&sorted[middle].at, at) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && vd_path_element_cmp(&sorted[low].at, at) == 0 ? &sorted[low] : NULL;
}

/* ---- what nobody owns ---- */

bool vd_field_is_untracked(struct vd_slice parent, struct vd_slice key)
{
    static const char *const in_metadata[] = {"name",       "namespace",     "creationTimestamp",
                                              "selfLink",   "uid",           "clusterName",
                                              "generation", "managedFields", "resourceVersion"};
    if (!parent.n)
        return vd_slice_is(key, "apiVersion") || vd_slice_is(key, "kind");
    if (!vd_slice_is(parent, "metadata"))
        return false;
    for (size_t i = 0; i < sizeof in_metadata / sizeof *in_metadata; i++)
        if (vd_slice_is(key, in_metadata[i]))
            return true;
    return false;
}
