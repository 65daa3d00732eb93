/*
 * x-kubernetes-list-type: the elements of a set are unique, and so are the keys
 * of the elements of a map.
 *
 * Elements are sorted by a hash, so that long lists cost n log n. The hash has no
 * secret: elements that differ but collide can be made on purpose. Those of one
 * hash are compared with at most COLLISIONS_MAX others, and whatever has more
 * counts as a duplicate; it does not happen by chance.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "kinds/schema_internal.h"
#include "json/compare.h"
#include "json/key_index.h"
#include "json/stable_hash.h"

enum {
    COLLISIONS_MAX = 16, /* elements of one hash that are compared each with each */
    SHORT_LIST_MAX = 8,  /* elements that are compared each with each */
};

struct element {
    uint64_t hash;
    size_t index;
    const struct vd_json *item;
};

static int order(const void *a, const void *b)
{
    const struct element *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int order_by_index(const void *a, const void *b)
{
    const struct element *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* The value of a map key in an element: its own, or the default, or NULL. */
static const struct vd_json *key_value(const struct vd_schema_node *node,
                                       const struct vd_json *item, struct vd_slice name)
{
    const struct vd_json *value = vd_json_get(item, name);
    const struct vd_schema_property *property = value || !node->items
                                                    ? NULL
                                                    : vd_schema_find(node->items, name);
    return property && property->node ? property->node->fallback : value;
}

static uint64_t hash_of(const struct vd_schema_node *node, const struct vd_json *item)
{
    if (!node || node->list_type != VD_LIST_MAP)
        return vd_json_hash(item);
    uint64_t hash = 0;
    VD_JSON_EACH (name, node->map_keys) {
        const struct vd_json *value = key_value(node, item, vd_json_text(name));
        hash = vd_stable_hash_mix(hash, value ? vd_json_hash(value) : 1);
    }
    return hash;
}

static bool same(const struct vd_schema_node *node, const struct vd_json *a,
                 const struct vd_json *b)
{
    if (!node || node->list_type != VD_LIST_MAP)
        return vd_json_eq(a, b);
    VD_JSON_EACH (name, node->map_keys) {
        if (!vd_json_eq(key_value(node, a, vd_json_text(name)),
                        key_value(node, b, vd_json_text(name))))
            return false;
    }
    return true;
}

static bool has_twins_if_short(const struct vd_schema_node *node, const struct vd_json *array)
{
    VD_JSON_EACH (item, array) {
        for (const struct vd_json *next = vd_json_next(item); next; next = vd_json_next(next))
            if (same(node, item, next))
                return true;
    }
    return false;
}

/* Sorts the elements by hash; the caller frees. */
static struct element *sorted(const struct vd_schema_node *node, const struct vd_json *array)
{
    struct element *elements = vd_calloc(vd_json_count(array) + 1, sizeof *elements);
    size_t n = 0;
    VD_JSON_EACH (item, array) {
        elements[n] = (struct element){hash_of(node, item), n, item};
        n++;
    }
    qsort(elements, n, sizeof *elements, order);
    return elements;
}

/* The different elements that have one hash. */
struct run {
    const struct vd_json *p[COLLISIONS_MAX];
    size_t n;
};

/* Is the item equal to one of the run? If not it joins. */
static bool is_twin(const struct vd_schema_node *node, struct run *run, const struct vd_json *item)
{
    for (size_t i = 0; i < run->n; i++)
        if (same(node, run->p[i], item))
            return true;
    if (run->n == COLLISIONS_MAX)
        return true;
    run->p[run->n++] = item;
    return false;
}

/* Leaves only the elements that repeat an earlier one, in list order; their
 * number. */
static size_t keep_twins(const struct vd_schema_node *node, struct element *elements, size_t n)
{
    struct run run = {0};
    size_t twins = 0;
    uint64_t hash = 0;
    for (size_t i = 0; i < n; i++) {
        if (elements[i].hash != hash)
            run.n = 0;
        hash = elements[i].hash;
        if (is_twin(node, &run, elements[i].item))
            elements[twins++] = elements[i];
    }
    qsort(elements, twins, sizeof *elements, order_by_index);
    return twins;
}

/* The keys of an element that is in a list of type map, as an object. */
static struct vd_slice shown_keys(const struct vd_schema_node *node, const struct vd_json *item,
                                  struct vd_violations *out)
{
    struct vd_arena arena = {0};
    struct vd_json *keys = vd_json_object(&arena);
    VD_JSON_EACH (name, node->map_keys) {
        const struct vd_json *value = key_value(node, item, vd_json_text(name));
        if (value)
            vd_json_set(&arena, keys, vd_json_text(name), vd_json_clone(&arena, value));
    }
    struct vd_slice shown = vd_bad_value_json(out, keys);
    vd_arena_release(&arena);
    return shown;
}

bool vd_schema_has_twins(const struct vd_json *array)
{
    struct element *elements = sorted(NULL, array);
    size_t twins = keep_twins(NULL, elements, vd_json_count(array));
    free(elements);
    return twins > 0;
}

bool vd_schema_check_list(const struct vd_schema_node *node, const struct vd_json *array,
                          const struct vd_field_path *path, struct vd_violations *out)
{
    if (vd_json_count(array) <= SHORT_LIST_MAX && !has_twins_if_short(node, array))
        return true;
    struct element *elements = sorted(node, array);
    size_t twins = keep_twins(node, elements, vd_json_count(array));
    for (size_t i = 0; out && i < twins; i++) {
        struct vd_field_path at = vd_field_element(path, elements[i].index);
        struct vd_slice shown = node->list_type == VD_LIST_MAP
                                    ? shown_keys(node, elements[i].item, out)
                                    : vd_bad_value_json(out, elements[i].item);
        vd_violations_add(out, VD_VIOLATION_DUPLICATE, &at, shown, "%s", "");
    }
    free(elements);
    return twins == 0;
}

/* The first of the sorted elements whose hash is at least this one. */
static size_t lower_bound(const struct element *elements, size_t n, uint64_t hash)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (elements[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct vd_json **vd_schema_correlate(const struct vd_schema_node *node,
                                           const struct vd_json *array, const struct vd_json *old)
{
    size_t n = vd_json_count(old), index = 0;
    const struct vd_json **found = vd_calloc(vd_json_count(array) + 1, sizeof *found);
    struct element *elements = sorted(node, old);
    VD_JSON_EACH (item, array) {
        uint64_t hash = hash_of(node, item);
        size_t from = lower_bound(elements, n, hash);
        for (size_t i = from; i < n && elements[i].hash == hash && i < from + COLLISIONS_MAX; i++) {
            if (same(node, elements[i].item, item)) {
                found[index] = elements[i].item;
                break;
            }
        }
        index++;
    }
    free(elements);
    return found;
}

/* ---- what was there before ---- */

/* The node of a member; NULL: the schema says nothing of it. */
static const struct vd_schema_node *member_node(const struct vd_schema_node *node,
                                                const struct vd_json *member)
{
    const struct vd_schema_property *property = vd_schema_find(node, vd_json_key(member));
    return property ? property->node : node->additional;
}

bool vd_schema_has_bad_lists(const struct vd_schema_node *node, const struct vd_json *value)
{
    if (!node || !value || value->type < VD_JSON_ARRAY)
        return false;
    bool array = vd_json_is(value, VD_JSON_ARRAY);
    if (array && node->list_type != VD_LIST_ATOMIC &&
        !vd_schema_check_list(node, value, NULL, NULL))
        return true;
    VD_JSON_EACH (child, value)
        if (vd_schema_has_bad_lists(array ? node->items : member_node(node, child), child))
            return true;
    return false;
}

static bool same_items(const struct vd_schema_node *node, const struct vd_json *value,
                       const struct vd_json *old)
{
    const struct vd_json **olds = vd_schema_correlate(node, value, old);
    size_t index = 0;
    bool equal = true;
    VD_JSON_EACH (item, value) {
        equal = olds[index] && vd_schema_same(node->items, item, olds[index]);
        index++;
        if (!equal)
            break;
    }
    free(olds);
    return equal;
}

static bool same_members(const struct vd_schema_node *node, const struct vd_json *value,
                         const struct vd_json *old)
{
    struct vd_key_index olds;
    bool equal = true;
    vd_key_index_init(&olds, old);
    VD_JSON_EACH (member, value) {
        const struct vd_json *was = vd_key_index_get(&olds, vd_json_key(member));
        equal = was && vd_schema_same(member_node(node, member), member, was);
        if (!equal)
            break;
    }
    vd_key_index_release(&olds);
    return equal;
}

bool vd_schema_same(const struct vd_schema_node *node, const struct vd_json *value,
                    const struct vd_json *old)
{
    if (vd_json_eq(value, old))
        return true;
    if (!node || value->type != old->type || value->type < VD_JSON_ARRAY ||
        vd_json_count(value) != vd_json_count(old))
        return false;
    if (vd_json_is(value, VD_JSON_OBJECT))
        return same_members(node, value, old);
    return node->list_type == VD_LIST_MAP && same_items(node, value, old);
}
