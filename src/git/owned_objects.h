/*
 * The objects that a repository owns, found and deleted or released when the repository is deleted.
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

/* What becomes of an object. */
enum vd_owned_action {
    VD_OWNED_KEEP,    /* nothing: the repository waits for it */
    VD_OWNED_DELETE,  /* it is deleted, or marked if it has finalizers */
    VD_OWNED_RELEASE, /* it stays, and belongs to the API from then on */
};

struct vd_owned_policy {
    struct vd_slice namespace;            /* the repository's */
    enum vd_owned_action here, elsewhere; /* for what is in it, and for what is not */
};

/* `= {0}` is at rest. */
struct vd_owned_objects {
    struct vd_object_scan scan;
    bool is_scanning;
    bool only_containers; /* the last scan has deleted nothing but definitions and namespaces */
    size_t found;         /* by the scan so far */
    size_t contents;      /* of those, the ones to delete that are no definitions or namespaces */
    size_t staying;       /* of those, the ones that wait for finalizers */
    size_t kept;          /* of those, the ones that are kept */
};

enum vd_owned_step {
    VD_OWNED_MORE, /* the scan goes on: call again, after the batch if one was sent */
    VD_OWNED_SOME, /* the scan is over and has found some: begin another one later */
    VD_OWNED_NONE, /* the repository owns nothing */
};

/*
 * Looks at the next few objects for those of `repository`, which is "namespace/name", and puts what
 * the policy says into the batch. A scan that has to begin again does so by itself.
 */
enum vd_owned_step vd_owned_objects_step(struct vd_owned_objects *owned,
                                         struct vd_controller *controller,
                                         struct vd_slice repository,
                                         struct vd_conditional_batch *batch,
                                         const struct vd_owned_policy *policy) VD_MUST_USE;

void vd_owned_objects_release(struct vd_owned_objects *owned);

#endif
