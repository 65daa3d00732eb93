/*
 * What the bookmark at the end of a watch's initial events is annotated with: that it is
 * the end, and a list without items. client-go 1.32 and 1.33 make the answer of List()
 * from it when they list by watching, and fail when it is missing; later ones have no use
 * for it.
 */
#ifndef VD_KUBE_INITIAL_EVENTS_H
#define VD_KUBE_INITIAL_EVENTS_H

#include "kinds/kind.h"
#include "kube/output.h"

/* Adds {"k8s.io/initial-events-end":"true",...}. The output is not one of Tables. */
void vd_initial_events_end_write(struct vd_buf *out, const struct vd_kind *kind,
                                 const struct vd_kube_output *output);

#endif
