/*
 * Merging an applied configuration into an object, and taking fields out of one.
 *
 * Both follow the schema's cut into fields (field_shape.h) and make new values in the
 * arena that share texts with what they were given, which does not change. The root's
 * node may be NULL. Pure.
 */
#ifndef VD_KINDS_OBJECT_MERGE_H
#define VD_KINDS_OBJECT_MERGE_H

#include "kinds/field_set.h"
#include "kinds/schema.h"

/*
 * The live object with what the configuration says. Lists that are merged keep the
 * configuration's order among its items; the others stay where they were between them.
 */
struct vd_json *vd_object_merge(struct vd_arena *a, const struct vd_schema_node *root,
                                const struct vd_json *live, const struct vd_json *config);

/* The object without the members of the set, and without what is below them. An object or
 * list that loses all it has becomes null. */
struct vd_json *vd_object_without(struct vd_arena *a, const struct vd_schema_node *root,
                                  const struct vd_json *object, const struct vd_field_set *set);

/*
 * What of a configuration cannot be applied: a field that the schema does not know, an item
 * without its keys, or two items alike. VD_ERR_INVALID with Kubernetes' words:
 * ".spec.foo: field not declared in schema".
 */
int vd_apply_check(struct vd_arena *a, const struct vd_schema_node *root,
                   const struct vd_json *config, struct vd_error *error) VD_MUST_USE;

#endif
