/* The Status of a write that was refused, in Kubernetes' words. */
#ifndef VD_KUBE_STATUS_REFUSAL_H
#define VD_KUBE_STATUS_REFUSAL_H

#include "api/write.h"
#include "kube/status/status.h"

/* Of every reason but VD_REFUSED_BY_CALLER and VD_REFUSED_KIND_NOT_FOUND, which have no Status that
 * could be made of them alone. `path` and `verb` are the request's. In the write's arena. */
struct vd_status vd_status_of_refusal(const struct vd_write *w, struct vd_slice path,
                                      struct vd_slice verb);

/* The kind will be gone soon: it takes no new objects. */
struct vd_status vd_status_kind_terminating(struct vd_arena *a,
                                            const struct vd_status_target *target,
                                            struct vd_slice verb);

#endif
