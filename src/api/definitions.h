/*
 * The life cycle of CustomResourceDefinitions.
 *
 * A definition whose names are free is established: its kinds are in the registry, and
 * its status says so. One that is being deleted takes no new objects; those that it
 * has are deleted, and when the last has gone, so has the definition, and then its
 * kinds.
 */
#ifndef VD_API_DEFINITIONS_H
#define VD_API_DEFINITIONS_H

#include "api/controller.h"

struct vd_definitions;

/* See vd_controller_start(). */
struct vd_definitions *vd_definitions_start(const struct vd_controller_env *env) VD_MUST_USE;

/* See vd_controller_stop(). Frees it; whoever waits has been told. NULL allowed. */
void vd_definitions_stop(struct vd_definitions *definitions);

/*
 * From any thread: posts the task to the loop when the registry shows the definition as it was at
 * this revision, or later: when that version or a newer one has been seen to, or the informer has
 * passed the revision and nothing is left to do for the definition. The name is copied.
 */
void vd_definitions_await(struct vd_definitions *definitions, struct vd_slice name,
                          uint64_t revision, struct vd_loop *loop, struct vd_task *task);

#endif
