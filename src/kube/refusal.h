/*
 * Requests that are refused before they become calls: by the protocols, which could not read them,
 * by whoever has found out who sends them, or by a page of the server (request/page.h).
 */
#ifndef VD_KUBE_REFUSAL_H
#define VD_KUBE_REFUSAL_H

#include "kube/kube_internal.h"
#include "net/route.h"

/* Audits the refusal, if it is one of a user, and answers with a Status. */
void vd_kube_refuse(struct vd_kube_loop *l, struct vd_exchange *x,
                    const struct vd_route_refusal *refusal);

#endif
