/*
 * Resets: somebody puts the annotation vedette.dev/reset with a new text on a Repository, and all
 * objects of its branches are written again as Git has them (git/sync.h). What was overridden is
 * undone, also objects that were deleted. The status records the text as lastReset, in the same
 * batch; a reset that fails says why in lastError and is tried again, after longer and longer
 * pauses.
 *
 * The write's user is the server itself: what is written was allowed when it was pushed.
 *
 * All on the controller's loop, which is loop 0.
 */
#ifndef VD_GIT_RESETS_H
#define VD_GIT_RESETS_H

#include "api/controller.h"
#include "base/attributes.h"
#include "git/branch_admission.h"
#include "git/repositories.h"

#define VD_GIT_RESET "vedette.dev/reset"

struct vd_resets;

/* Adds them to the controller, which has not been started. All is borrowed. */
struct vd_resets *vd_resets_new(struct vd_controller *controller, struct vd_admissions *all,
                                struct vd_repositories *repositories) VD_MUST_USE;

/* On loop 0, before it is stopped: those that have not come to their batch are given up. */
void vd_resets_stop(struct vd_resets *resets);

/* When the controller and the loop have stopped. NULL allowed. */
void vd_resets_free(struct vd_resets *resets);

#endif
