/*
 * Defaulting: a property that is absent gets its default, if its parent is there.
 *
 * The walk goes from the root down, so a default that is an object is itself
 * filled in. A null counts as absent where the schema does not allow one.
 * Subtrees without any default are not entered.
 */
#include "kinds/schema_internal.h"
#include "json/key_index.h"

static bool is_bad_null(const struct vd_schema_node *node, const struct vd_json *value)
{
    return vd_json_is(value, VD_JSON_NULL) && !(node->flags & VD_SCHEMA_NULLABLE);
}

/* Replaces a null by the node's default, then fills in below. */
static void fill(const struct vd_schema_node *node, struct vd_arena *arena, struct vd_json *value);

/* Adds what is missing. It is found first and added then: the index must not see
 * the object change. */
static void add_missing(const struct vd_schema_node *node, struct vd_arena *arena,
                        struct vd_json *object)
{
    VD_VEC(const struct vd_schema_property *) missing = {0};
    struct vd_key_index index;
    vd_key_index_init(&index, object);
    for (uint32_t i = 0; i < node->property_count; i++) {
        const struct vd_schema_property *property = &node->properties[i];
        if (property->node && property->node->fallback && !vd_key_index_get(&index, property->name))
            *VD_VEC_PUSH(&missing) = property;
    }
    vd_key_index_release(&index);
    for (size_t i = 0; i < missing.n; i++)
        vd_json_add(arena, object, missing.p[i]->name,
                    vd_json_copy(arena, missing.p[i]->node->fallback));
    VD_VEC_RELEASE(&missing);
}

static void fill_object(const struct vd_schema_node *node, struct vd_arena *arena,
                        struct vd_json *object)
{
    add_missing(node, arena, object);
    VD_JSON_EACH (member, object) {
        const struct vd_schema_property *property = vd_schema_find(node, vd_json_key(member));
        const struct vd_schema_node *child = property ? property->node : node->additional;
        if (child)
            fill(child, arena, member);
    }
}

static void fill(const struct vd_schema_node *node, struct vd_arena *arena, struct vd_json *value)
{
    if (!(node->flags & VD_SCHEMA_DEFAULTS_BELOW))
        return;
    if (node->fallback && is_bad_null(node, value))
        vd_json_assign(value, vd_json_copy(arena, node->fallback));
    if (vd_json_is(value, VD_JSON_OBJECT)) {
        fill_object(node, arena, value);
    } else if (vd_json_is(value, VD_JSON_ARRAY) && node->items) {
        VD_JSON_EACH (item, value)
            fill(node->items, arena, item);
    }
}

void vd_schema_default(const struct vd_schema *s, struct vd_arena *arena, struct vd_json *object)
{
    fill(s->root, arena, object);
}
