/*
 * Who may delete a Repository whose objects are deleted with it (spec.deletionPolicy: Cascade).
 *
 * In the Repository's own namespace a cascade is like the garbage collection of dependents, and
 * takes no right but that to delete the Repository. Objects of other namespaces and of none were
 * brought by somebody who had the right to write them: whoever deletes the Repository needs the
 * right to delete each of these. If he has it, the deletion is recorded as one that may delete them
 * (kinds/deletion.h); a Repository that is deleted otherwise, as with its namespace or by the
 * garbage collector, has no such record, and its objects elsewhere are not deleted.
 *
 * The objects are found in a scan over all objects, for which there is no index. What is found
 * holds for the version of the Repository that was read before: a push that brings another object
 * writes a new version of the Repository, and none is admitted once it is being deleted.
 */
#ifndef VD_API_CASCADE_H
#define VD_API_CASCADE_H

#include "api/env.h"

enum vd_cascade {
    VD_CASCADE_NONE,    /* no objects are deleted with it, or the record is there already */
    VD_CASCADE_ALLOWED, /* the user may delete everything */
    VD_CASCADE_UNKNOWN, /* vd_cascade_check() has to be asked */
};

/* Whether the deletion of this object by the user is one that deletes others. Any thread. */
enum vd_cascade vd_cascade_of(const struct vd_api_env *env, const struct vd_user *user,
                              struct vd_slice resource, const struct vd_json *object);

/* Whether the user may delete all objects that these Repositories ("namespace/name") own outside
 * their own namespaces. VD_ERR_FORBIDDEN names the first that he may not, and the right. On a
 * worker's thread: it takes as long as it takes to look at every stored object. */
int vd_cascade_check(const struct vd_api_env *env, const struct vd_user *user,
                     const struct vd_slice *repositories, size_t n,
                     struct vd_error *error) VD_MUST_USE;

#endif
