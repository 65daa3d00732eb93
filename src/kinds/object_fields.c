/* See object_fields.h. The comparison is in object_compare.c. */
#include "kinds/object_fields.h"

#include "kinds/field_shape.h"

struct walk {
    struct vd_arena *arena;
};

/* What a value brings: itself, and what is below it. */
struct found {
    bool self;
    const struct vd_field_set *below;
};

static struct found fields_of(struct walk *w, const struct vd_schema_node *node,
                              const struct vd_json *v, struct vd_slice name, unsigned depth);

static bool is_empty_map(const struct vd_json *v)
{
    return vd_json_is(v, VD_JSON_NULL) || (vd_json_is(v, VD_JSON_OBJECT) && vd_json_count(v) == 0);
}

/* `name` is the object's own key, for what is never tracked: depth 0 is the root. */
static const struct vd_field_set *of_members(struct walk *w, const struct vd_schema_node *node,
                                             const struct vd_json *v, struct vd_slice name,
                                             unsigned depth)
{
    struct vd_field_level level = {.arena = w->arena};
    VD_JSON_EACH (member, v) {
        bool named;
        struct vd_slice key = vd_json_key(member);
        if (depth < 2 && vd_field_is_untracked(name, key))
            continue;
        const struct vd_schema_node *child = vd_field_member_node(node, key, &named);
        struct found found = fields_of(w, child, member, key, depth + 1);
        bool self = found.self || !named || is_empty_map(member);
        if (depth == 0 && vd_slice_is(key, "metadata"))
            self = false;
        struct vd_path_element at = vd_path_name(key);
        vd_field_level_add(&level, &at, self, found.below);
    }
    return vd_field_level_set(&level);
}

static const struct vd_field_set *of_items(struct walk *w, const struct vd_schema_node *node,
                                           const struct vd_json *v)
{
    struct vd_field_level level = {.arena = w->arena};
    struct vd_field_item *items = vd_field_items(w->arena, node, v, NULL);
    for (size_t i = 0; i < vd_json_count(v); i++) {
        struct found found = fields_of(w, node->items, items[i].item, VD_SLICE("[]"), 2);
        vd_field_level_add(&level, &items[i].at, true, found.below);
    }
    return vd_field_level_set(&level);
}

static struct found fields_of(struct walk *w, const struct vd_schema_node *node,
                              const struct vd_json *v, struct vd_slice name, unsigned depth)
{
    switch (vd_field_shape(node, v)) {
    case VD_SHAPE_MAP:
        return (struct found){false, of_members(w, node, v, name, depth)};
    case VD_SHAPE_LIST:
        return (struct found){false, of_items(w, node, v)};
    default:
        return (struct found){true, NULL};
    }
}

const struct vd_field_set *vd_object_fields(struct vd_arena *a, const struct vd_schema_node *root,
                                            const struct vd_json *object)
{
    struct walk w = {a};
    return fields_of(&w, root, object, VD_SLICE(""), 0).below;
}

/* ---- sets and schemas ---- */

/* The node that the step leads to, and whether the schema names it. */
static const struct vd_schema_node *step_node(const struct vd_schema_node *node,
                                              const struct vd_path_element *at, bool *named)
{
    *named = false;
    if (at->type == VD_PATH_NAME)
        return vd_field_member_node(node, at->name, named);
    return node ? node->items : NULL;
}

const struct vd_field_set *vd_fields_with_named(struct vd_arena *a,
                                                const struct vd_schema_node *root,
                                                const struct vd_field_set *set)
{
    struct vd_field_level level = {.arena = a};
    bool same = true;
    for (size_t i = 0; set && i < set->n; i++) {
        const struct vd_field_node *node = &set->p[i];
        bool named;
        const struct vd_schema_node *child = step_node(root, &node->at, &named);
        const struct vd_field_set *below = vd_fields_with_named(a, child, node->below);
        bool member = node->member || (named && below);
        same = same && member == node->member && below == node->below;
        vd_field_level_add(&level, &node->at, member, below);
    }
    return same ? set : vd_field_level_set(&level);
}

/* Is whatever the node describes one field? */
static bool is_atomic(const struct vd_schema_node *node)
{
    if (!node || !node->types)
        return false;
    if (node->types & VD_TYPE_OBJECT)
        return node->flags & VD_SCHEMA_ATOMIC_MAP;
    return !(node->types & VD_TYPE_ARRAY) || node->merge_type == VD_LIST_ATOMIC;
}

const struct vd_field_set *vd_fields_reconcile(struct vd_arena *a,
                                               const struct vd_schema_node *root,
                                               const struct vd_field_set *set)
{
    struct vd_field_level level = {.arena = a};
    bool same = true;
    for (size_t i = 0; set && i < set->n; i++) {
        const struct vd_field_node *node = &set->p[i];
        bool named, member = node->member;
        const struct vd_field_set *below = node->below;
        const struct vd_schema_node *child = step_node(root, &node->at, &named);
        if (below && is_atomic(child)) {
            member = true;
            below = NULL;
        } else {
            below = vd_fields_reconcile(a, child, below);
        }
        same = same && member == node->member && below == node->below;
        vd_field_level_add(&level, &node->at, member, below);
    }
    return same ? set : vd_field_level_set(&level);
}
