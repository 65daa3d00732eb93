/*
 * The fields of objects: which an object has, and which differ between two.
 *
 * What counts as a field is Kubernetes' rule (field_shape.h has the cut): an object
 * that the schema describes by its properties is not a field of its own, unless it is
 * empty; a member of a free map is, and so is each item of a list that is merged.
 * Identity and what only the server sets are no fields: nobody owns them.
 *
 * The root's node may be NULL: nothing is known of the kind. Pure; sets come from the
 * arena and borrow names and values from the objects.
 */
#ifndef VD_KINDS_OBJECT_FIELDS_H
#define VD_KINDS_OBJECT_FIELDS_H

#include "kinds/field_set.h"
#include "kinds/schema.h"

/* The fields that the object has. */
const struct vd_field_set *vd_object_fields(struct vd_arena *a, const struct vd_schema_node *root,
                                            const struct vd_json *object);

/* The fields in which two objects differ. An object or list that is new is added itself,
 * and so is all below it. */
struct vd_field_changes {
    const struct vd_field_set *added, *modified, *removed;
};

struct vd_field_changes vd_object_compare(struct vd_arena *a, const struct vd_schema_node *root,
                                          const struct vd_json *old, const struct vd_json *object);

static inline bool vd_field_changes_none(const struct vd_field_changes *c)
{
    return !c->added && !c->modified && !c->removed;
}

/* The set and all described objects and lists that have a member below them: who owns
 * .spec.a has a say in .spec. */
const struct vd_field_set *vd_fields_with_named(struct vd_arena *a,
                                                const struct vd_schema_node *root,
                                                const struct vd_field_set *set);

/* The set, with what is below a field that has become atomic made that field: schemas
 * change while the sets of old are stored. */
const struct vd_field_set *vd_fields_reconcile(struct vd_arena *a,
                                               const struct vd_schema_node *root,
                                               const struct vd_field_set *set);

#endif
