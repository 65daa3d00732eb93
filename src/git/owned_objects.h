/*
 * The objects that a repository owns, found and deleted when the repository is deleted.
 *
 * They are found by the annotation that the Git pipeline puts on them, in a scan over all objects:
 * repositories are deleted so rarely that no index is kept for it. A scan that finds objects is
 * followed by another one, until one finds none. Definitions and namespaces go last, behind the
 * objects in them.
 *
 * On the controller's loop.
 */
#ifndef VD_GIT_OWNED_OBJECTS_H
#define VD_GIT_OWNED_OBJECTS_H

#include "api/conditional_batch.h"
#include "api/object_scan.h"

/* `= {0}` is at rest. */
struct vd_owned_objects {
    struct vd_object_scan scan;
    bool is_scanning;
    bool only_containers; /* the last scan has found nothing but definitions and namespaces */
    size_t found;         /* by the scan so far */
    size_t contents;      /* of those, the ones that are no definitions and no namespaces */
    size_t staying;       /* of those, the ones that wait for finalizers */
};

enum vd_owned_step {
    VD_OWNED_MORE, /* the scan goes on: call again, after the batch if one was sent */
    VD_OWNED_SOME, /* the scan is over and has found some: begin another one later */
    VD_OWNED_NONE, /* the repository owns nothing */
};

/*
 * Looks at the next few objects for those of `repository`, which is "namespace/name", and puts
 * their deletion into the batch if `deletes`. *error is why a scan has to begin again, which it
 * does by itself.
 */
enum vd_owned_step vd_owned_objects_step(struct vd_owned_objects *owned,
                                         struct vd_controller *controller,
                                         struct vd_slice repository,
                                         struct vd_conditional_batch *batch,
                                         bool deletes) VD_MUST_USE;

void vd_owned_objects_release(struct vd_owned_objects *owned);

#endif
