/* An object of a plan, for the files that make it. */
#ifndef VD_GIT_PLAN_INTERNAL_H
#define VD_GIT_PLAN_INTERNAL_H

#include "git/plan.h"
#include "kinds/references.h"

/* An object that the push is about. */
struct vd_plan_object {
    struct vd_slice key; /* its identity as one text */
    struct vd_plan_identity identity;
    const struct vd_plan_manifest *old_manifest, *new_manifest; /* the first of each; NULL: none */
    uint32_t name_line; /* of the name in the new manifest; 0: nobody has asked */
    struct vd_plan_stored stored;
    bool is_deleted, is_foreign, is_wrong;
    enum vd_plan_action action;
    struct vd_slice scope_text, scope_field; /* see struct vd_plan_operation */
    struct vd_references references; /* of the new manifest; of one that is deleted, the old one */
    /* For the order: */
    size_t waits_for;                     /* objects that have to come before it */
    VD_VEC(struct vd_plan_object *) next; /* those for which it has to come before */
    bool is_placed;
};

/* The object with this identity, or NULL. */
struct vd_plan_object *vd_plan_object_find(const struct vd_plan *plan,
                                           const struct vd_plan_identity *identity);

/* The objects that are meant: with the reference's namespace, or with none. NULL: the push is not
 * about it. */
struct vd_plan_object *vd_plan_object_meant(const struct vd_plan *plan,
                                            const struct vd_reference *reference);

struct vd_plan_objects {
    VD_VEC(struct vd_plan_object *);
};

/* Puts the objects, of which all or none are deleted, into the order in which they are written. */
void vd_plan_order(struct vd_plan *plan, struct vd_plan_objects *objects);

/* Looks at what the object refers to; see plan.h. */
void vd_plan_check_references(struct vd_plan *plan, struct vd_plan_object *object);

#endif
