/* What GET / answers: the paths that are served, as Kubernetes' RootPaths. */
#ifndef VD_KUBE_DISCOVERY_ROOT_PATHS_H
#define VD_KUBE_DISCOVERY_ROOT_PATHS_H

#include "base/buf.h"
#include "kinds/kinds.h"

/* Adds {"paths":[...]}, sorted: those of the set's groups and versions, and the `others`, a
 * line each. */
void vd_root_paths_write(struct vd_buf *out, const struct vd_kind_set *set, struct vd_slice others);

#endif
