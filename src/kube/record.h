/*
 * A record: what a request was about and who sent it.
 *
 * It hangs on the exchange (`record`) from the moment that the request is understood
 * until its answer is complete or broken off. The access log and the metrics are
 * written from it, the audit log too, and a watch is re-authorised by it. Answers that the face did
 * not give - health, 401, malformed requests - have none.
 */
#ifndef VD_KUBE_RECORD_H
#define VD_KUBE_RECORD_H

#include "auth/access.h"
#include "kube/call.h"
#include "kube/meter.h"

struct vd_record {
    struct vd_access access; /* holds a reference to its user */
    struct vd_meter *meter;
    struct vd_audit_entry *audit; /* NULL: it is not audited */
    char text[];                  /* what the access's slices point at */
};

/* Hangs a record on the call's exchange. */
struct vd_record *vd_record_attach(struct vd_call *call);

/* That of an exchange, or NULL. */
static inline struct vd_record *vd_record_of(const struct vd_exchange *x)
{
    return x->record;
}

/* The audit's entry of a call, or NULL. */
static inline struct vd_audit_entry *vd_record_audit(const struct vd_call *call)
{
    return call->x && call->x->record ? vd_record_of(call->x)->audit : NULL;
}

#endif
