/*
 * How a schema cuts an object into fields; what the walks of server-side apply share.
 *
 * A value is a leaf (a scalar, an atomic list or object: it changes hands as a whole), an
 * object whose members are fields, or a list whose items are, told apart by their values
 * or by some of their members. Where the schema is silent, objects have fields and lists
 * are leaves.
 */
#ifndef VD_KINDS_FIELD_SHAPE_H
#define VD_KINDS_FIELD_SHAPE_H

#include "kinds/path_element.h"
#include "kinds/schema_internal.h"

enum vd_field_shape {
    VD_SHAPE_LEAF,
    VD_SHAPE_MAP,
    VD_SHAPE_LIST, /* of type set or map */
};

/* The shape of a value; a null has that of what could stand in its place. The node may
 * be NULL everywhere here: nothing is known. */
enum vd_field_shape vd_field_shape(const struct vd_schema_node *node, const struct vd_json *v);

/* The member's node, and whether the schema names it: as a property, and not only as one
 * of any number of members. */
const struct vd_schema_node *vd_field_member_node(const struct vd_schema_node *node,
                                                  struct vd_slice key, bool *named);

/* An item of a VD_SHAPE_LIST, by its step. */
struct vd_field_item {
    struct vd_path_element at;
    struct vd_json *item;
    size_t place;
};

/*
 * The items in their order; their steps come from the arena. `sorted` gets them by step,
 * equal ones by place, unless it is NULL. An item without the keys that it should have
 * goes by its place in the list.
 */
struct vd_field_item *vd_field_items(struct vd_arena *a, const struct vd_schema_node *node,
                                     const struct vd_json *list, struct vd_field_item **sorted);

/* The first item of that step in the n sorted ones, or NULL. */
const struct vd_field_item *vd_field_item_find(const struct vd_field_item *sorted, size_t n,
                                               const struct vd_path_element *at);

/* Fields that nobody owns: identity and what only the server sets. */
bool vd_field_is_untracked(struct vd_slice parent, struct vd_slice key);

#endif
