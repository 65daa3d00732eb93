/*
 * What is refused before it is a call: by the protocols, which could not read it, or by whoever has
 * found out who sends it.
 *
 *     vd_kube_refusal_open(&refusal, kube, x, &why);    it is audited
 *     vd_kube_refusal_answer(&refusal);                 with a Status, unless somebody else answers
 *     vd_kube_refusal_close(&refusal);
 */
#ifndef VD_KUBE_REFUSAL_H
#define VD_KUBE_REFUSAL_H

#include "kube/audit/audit.h"
#include "kube/kube.h"
#include "kube/status/status.h"
#include "net/route.h"

struct vd_kube_refusal {
    struct vd_exchange *x;
    struct vd_arena arena;
    struct vd_status status;
    struct vd_audit_stamp stamp; /* whichever answer is given takes it off the exchange */
};

void vd_kube_refusal_open(struct vd_kube_refusal *refusal, struct vd_kube *kube,
                          struct vd_exchange *x, const struct vd_route_refusal *why);
void vd_kube_refusal_answer(const struct vd_kube_refusal *refusal);
void vd_kube_refusal_close(struct vd_kube_refusal *refusal);

#endif
