/* A call as request.h describes requests: what its access is, and how it is counted and audited. */
#ifndef VD_KUBE_CALL_REQUEST_H
#define VD_KUBE_CALL_REQUEST_H

#include "kube/call.h"
#include "request/request.h"

/* Of a call whose target and kind are known. Texts are borrowed from it. */
struct vd_request vd_call_request(struct vd_call *call);

/* The same of an exchange that is refused before it becomes a call. Texts are in the arena, or
 * borrowed from the exchange. */
struct vd_request vd_refused_request(struct vd_exchange *x, struct vd_arena *arena);

/* Hands the request's body to the audit, if that wants it. */
void vd_call_audit_body(const struct vd_call *call, struct vd_audit_entry *entry);

/* What the audit is told of a Status, whose JSON may be empty. Texts are borrowed. */
struct vd_audit_answer vd_status_audit_answer(const struct vd_status *status, struct vd_slice json);

#endif
