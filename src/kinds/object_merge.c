/* See object_merge.h. */
#include "kinds/object_merge.h"

#include "kinds/field_shape.h"
#include "json/key_index.h"

static struct vd_json *merge(struct vd_arena *a, const struct vd_schema_node *node,
                             const struct vd_json *live, const struct vd_json *config);

/* ---- merging ---- */

static struct vd_json *merge_members(struct vd_arena *a, const struct vd_schema_node *node,
                                     const struct vd_json *live, const struct vd_json *config)
{
    struct vd_json *out = vd_json_object(a);
    struct vd_key_index ours, theirs;
    bool named;
    vd_key_index_init(&ours, live);
    vd_key_index_init(&theirs, config);
    VD_JSON_EACH (member, live) {
        struct vd_slice key = vd_json_key(member);
        const struct vd_json *other = vd_key_index_get(&theirs, key);
        vd_json_add_ref(out, key, merge(a, vd_field_member_node(node, key, &named), member, other));
    }
    VD_JSON_EACH (member, config)
        if (!vd_key_index_get(&ours, vd_json_key(member)))
            vd_json_add_ref(out, vd_json_key(member), vd_json_clone(a, member));
    vd_key_index_release(&ours);
    vd_key_index_release(&theirs);
    return out;
}

/* Two lists that become one. `taken` says which of the configuration's items have gone
 * into it, by place. */
struct weave {
    struct vd_arena *arena;
    const struct vd_schema_node *node;
    const struct vd_field_item *live, *live_sorted;
    const struct vd_field_item *config, *config_sorted;
    size_t live_n, config_n;
    bool *taken;
    struct vd_json *out;
};

/* The configuration's item of this step, or NULL. */
static const struct vd_field_item *in_config(const struct weave *w,
                                             const struct vd_path_element *at)
{
    return vd_field_item_find(w->config_sorted, w->config_n, at);
}

/* The item of the configuration, with what the live object has for it. */
static void take_config(struct weave *w, const struct vd_field_item *c)
{
    const struct vd_field_item *old = vd_field_item_find(w->live_sorted, w->live_n, &c->at);
    /* Of several live items of one step none is the one that is meant. */
    if (old && old + 1 < w->live_sorted + w->live_n &&
        vd_path_element_cmp(&old->at, &old[1].at) == 0)
        old = NULL;
    w->taken[c->place] = true;
    vd_json_append(w->out, merge(w->arena, w->node->items, old ? old->item : NULL, c->item));
}

/* The first item from `j` on that the live list has too: the next that both must agree
 * on. */
static size_t next_shared(const struct weave *w, size_t j)
{
    while (j < w->config_n && !vd_field_item_find(w->live_sorted, w->live_n, &w->config[j].at))
        j++;
    return j;
}

/*
 * Live items that the configuration does not name keep their place relative to the
 * shared ones; shared ones come in the configuration's order.
 */
static void weave(struct weave *w)
{
    size_t i = 0, j = 0, shared = next_shared(w, 0);
    while (i < w->live_n || j < w->config_n) {
        const struct vd_field_item *c = i < w->live_n ? in_config(w, &w->live[i].at) : NULL;
        if (i < w->live_n && !c) {
            vd_json_append(w->out, vd_json_clone(w->arena, w->live[i++].item));
            continue;
        }
        /* A live item that is shared, but not the one whose turn it is, or that has
         * been taken: the configuration says where it goes. */
        if (c && (w->taken[c->place] ||
                  (j < w->config_n && shared < w->config_n && c->place != shared))) {
            i++;
            continue;
        }
        if (j == w->config_n)
            break;
        take_config(w, &w->config[j]);
        i += c && c->place == j;
        if (j++ == shared)
            shared = next_shared(w, j);
    }
}

static struct vd_json *merge_items(struct vd_arena *a, const struct vd_schema_node *node,
                                   const struct vd_json *live, const struct vd_json *config)
{
    struct weave w = {.arena = a, .node = node, .out = vd_json_array(a)};
    struct vd_field_item *live_sorted, *config_sorted;
    w.live_n = vd_json_count(live);
    w.config_n = vd_json_count(config);
    w.live = vd_field_items(a, node, live, &live_sorted);
    w.config = vd_field_items(a, node, config, &config_sorted);
    w.live_sorted = live_sorted;
    w.config_sorted = config_sorted;
    w.taken = vd_arena_alloc(a, w.config_n);
    memset(w.taken, 0, w.config_n);
    weave(&w);
    return w.out;
}

/* Either may be NULL, but not both. */
static struct vd_json *merge(struct vd_arena *a, const struct vd_schema_node *node,
                             const struct vd_json *live, const struct vd_json *config)
{
    if (!live || !config)
        return vd_json_clone(a, config ? config : live);
    enum vd_field_shape shape = vd_field_shape(node, config);
    if (shape == VD_SHAPE_LEAF || shape != vd_field_shape(node, live))
        return vd_json_clone(a, config);
    if (vd_json_count(live) == 0)
        return vd_json_clone(a, config);
    if (vd_json_count(config) == 0)
        return vd_json_clone(a, live);
    return shape == VD_SHAPE_MAP ? merge_members(a, node, live, config)
                                 : merge_items(a, node, live, config);
}

struct vd_json *vd_object_merge(struct vd_arena *a, const struct vd_schema_node *root,
                                const struct vd_json *live, const struct vd_json *config)
{
    return merge(a, root, live, config);
}

/* ---- taking out ---- */

static struct vd_json *without(struct vd_arena *a, const struct vd_schema_node *node,
                               const struct vd_json *v, const struct vd_field_set *set);

static struct vd_json *without_members(struct vd_arena *a, const struct vd_schema_node *node,
                                       const struct vd_json *v, const struct vd_field_set *set)
{
    struct vd_json *out = vd_json_object(a);
    VD_JSON_EACH (member, v) {
        struct vd_slice key = vd_json_key(member);
        struct vd_path_element at = vd_path_name(key);
        const struct vd_field_node *step = vd_field_set_find(set, &at);
        bool named;
        if (step && step->member)
            continue;
        const struct vd_schema_node *child = vd_field_member_node(node, key, &named);
        vd_json_add_ref(out, key, without(a, child, member, step ? step->below : NULL));
    }
    return out;
}

static struct vd_json *without_items(struct vd_arena *a, const struct vd_schema_node *node,
                                     const struct vd_json *v, const struct vd_field_set *set)
{
    struct vd_json *out = vd_json_array(a);
    struct vd_field_item *items = vd_field_items(a, node, v, NULL);
    for (size_t i = 0; i < vd_json_count(v); i++) {
        const struct vd_field_node *step = vd_field_set_find(set, &items[i].at);
        if (step && step->member)
            continue;
        struct vd_json *item = without(a, node->items, items[i].item, step ? step->below : NULL);
        if (!vd_json_is(item, VD_JSON_NULL) || vd_json_is(items[i].item, VD_JSON_NULL))
            vd_json_append(out, item);
    }
    return out;
}

static struct vd_json *without(struct vd_arena *a, const struct vd_schema_node *node,
                               const struct vd_json *v, const struct vd_field_set *set)
{
    enum vd_field_shape shape = vd_field_shape(node, v);
    if (!set || shape == VD_SHAPE_LEAF || vd_json_count(v) == 0)
        return vd_json_clone(a, v);
    struct vd_json *out = shape == VD_SHAPE_MAP ? without_members(a, node, v, set)
                                                : without_items(a, node, v, set);
    return vd_json_count(out) ? out : vd_json_null(a);
}

struct vd_json *vd_object_without(struct vd_arena *a, const struct vd_schema_node *root,
                                  const struct vd_json *object, const struct vd_field_set *set)
{
    return without(a, root, object, set);
}
