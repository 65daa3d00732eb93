/*
 * What a user is told when a change is refused because Git owns the object: where to push, and
 * whether there is a way around it.
 *
 * The claim itself is made where the change is judged (kinds/git_ownership.h). This adds what only
 * the rules of access and the store know. It is done for refusals alone, on any thread.
 */
#ifndef VD_API_GIT_CLAIM_H
#define VD_API_GIT_CLAIM_H

#include "api/env.h"
#include "kinds/git_ownership.h"

/* The verb that lets a user write what Git owns. */
#define VD_VERB_OVERRIDE VD_SLICE("override")

/* Fills in `may_override` and, if the object has no mark, `may_list` and `repositories`. */
void vd_git_claim_complete(struct vd_git_claim *claim, const struct vd_api_env *env,
                           const struct vd_user *user, const struct vd_kind *kind,
                           struct vd_slice namespace, struct vd_arena *arena);

#endif
