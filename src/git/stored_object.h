/*
 * Objects of the store as the Git pipeline sees them: the Repository itself, and from
 * which repository, branch and file an object comes. Any thread.
 */
#ifndef VD_GIT_STORED_OBJECT_H
#define VD_GIT_STORED_OBJECT_H

#include "api/env.h"
#include "git/plan.h"
#include "git/repository.h"

/* Reads a Repository; its texts are in the arena. VD_ERR_NOT_FOUND: there is none, or it is another
 * one than that with this uid. */
int vd_stored_repository(const struct vd_api_env *env, struct vd_slice namespace,
                         struct vd_slice name, struct vd_slice uid, struct vd_arena *arena,
                         struct vd_repository *out, struct vd_error *error) VD_MUST_USE;

/* Where a plan looks for objects: its `arg`. */
struct vd_stored_objects {
    const struct vd_api_env *env;
    struct vd_kind_set *kinds;  /* borrowed */
    const struct vd_kind *last; /* that was asked for; NULL at first */
};

/* `find` of a plan. */
void vd_stored_object_find(struct vd_plan *plan, const struct vd_plan_identity *identity,
                           struct vd_plan_stored *out);

#endif
