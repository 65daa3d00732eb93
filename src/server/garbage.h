/*
 * The garbage collector: what is owned goes with its owners.
 *
 *   background  an object whose owners are all gone is deleted
 *   foreground  an owner with the finalizer foregroundDeletion waits until its
 *               dependents with blockOwnerDeletion are gone
 *   orphan      with the finalizer orphan, its dependents forget it first
 *
 * An owner is looked for where its reference says: by kind and name in the
 * dependent's namespace, or cluster-wide, and it must have that uid. One that is not
 * there is gone, also if it never existed. A reference that cannot be judged - to an
 * unknown kind, or from a cluster-scoped object to a kind in namespaces - keeps its
 * object, as in Kubernetes.
 */
#ifndef VD_SERVER_GARBAGE_H
#define VD_SERVER_GARBAGE_H

#include "api/controller.h"

struct vd_garbage;

/* Adds the collector to a controller that has not been started. */
struct vd_garbage *vd_garbage_new(struct vd_controller *controller) VD_MUST_USE;

/* When the controller has been stopped. NULL allowed. */
void vd_garbage_free(struct vd_garbage *garbage);

#endif
