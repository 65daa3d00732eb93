/*
 * What the logs and the metrics need to know of a request: what it was about and who sent it.
 *
 * It hangs on the exchange (`record`) from the moment that the request is understood until its
 * answer is complete or broken off. The access log and the metrics are written from it, the audit
 * log too, and a watch is authorized again by it. Answers that the face did not give - health, 401,
 * malformed requests - have none.
 */
#ifndef VD_KUBE_REQUEST_LOG_H
#define VD_KUBE_REQUEST_LOG_H

#include "auth/access.h"
#include "kube/call.h"
#include "kube/meter.h"

enum { VD_REQUEST_LOG_PARTS = 7 };

/* An idle watch is a connection, a watch and one of these: it is packed. */
struct vd_request_log {
    struct vd_user *user; /* a reference */
    struct vd_meter *meter;
    struct vd_audit_entry *audit;           /* NULL: it is not audited */
    uint32_t lengths[VD_REQUEST_LOG_PARTS]; /* of the access's texts, which ... */
    uint32_t agent_len;                     /* ... and of the user agent; 0 without an access log */
    char text[];                            /* ... stand here one behind the other */
};

/* Hangs one on the call's exchange. */
struct vd_request_log *vd_request_log_attach(struct vd_call *call);

/* What was asked for. Its texts belong to it. */
struct vd_access vd_request_log_access(const struct vd_request_log *log);

/* That of an exchange, or NULL. */
static inline struct vd_request_log *vd_request_log_of(const struct vd_exchange *x)
{
    return x->request_info;
}

/* The audit's entry of a call, or NULL. */
static inline struct vd_audit_entry *vd_request_log_audit(const struct vd_call *call)
{
    return call->x && call->x->request_info ? vd_request_log_of(call->x)->audit : NULL;
}

#endif
