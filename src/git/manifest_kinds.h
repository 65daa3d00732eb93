/*
 * The kinds of manifests: each manifest of a push becomes an object of its kind.
 *
 * A manifest may be of a kind that a CustomResourceDefinition of the same push defines or changes.
 * What is wrong with new manifests goes to the report. An old manifest whose kind is gone, or with
 * which anything is wrong, is left out: the store has no object of it.
 *
 * Any thread; it may take long.
 */
#ifndef VD_GIT_MANIFEST_KINDS_H
#define VD_GIT_MANIFEST_KINDS_H

#include "api/env.h"
#include "git/changes.h"
#include "git/plan.h"

/* `= {0}` is none. */
struct vd_manifest_kinds {
    struct vd_kind_set *set; /* the kinds that there would be: a reference */
    VD_VEC(struct vd_plan_manifest) old_list;
    VD_VEC(struct vd_plan_manifest) new_list;
};

/* Of all branches of the changes, whose report and arena are used. `namespace` is the
 * repository's. */
void vd_manifest_kinds_find(struct vd_manifest_kinds *k, const struct vd_api_env *env,
                            struct vd_changes *changes, struct vd_slice namespace);

/* A kind of the manifest's name in another version or group, which it may have meant; or NULL. */
const struct vd_kind *vd_manifest_kind_meant(const struct vd_kind_set *set,
                                             const struct vd_git_manifest *m);

void vd_manifest_kinds_release(struct vd_manifest_kinds *k);

#endif
