/*
 * The way of a request, as far as it is the same for every face:
 *
 *     vd_request_begin()        the face knows what is asked for: from now on the request has a
 *                               request log, and an entry in the audit log if the policy says so
 *     vd_request_authorize()    may the user do that?
 *     ...                       the face answers, and tells the audit (audit.h) what
 *     vd_request_finished()     the answer is complete or broken off: the request is counted, and
 *                               the access log and the audit log get their lines
 *
 * A face makes its `struct vd_request` of the path, the method and the query as it understands
 * them. Where a request is for no resource but for a path, vd_request_of_path() makes it.
 */
#ifndef VD_REQUEST_REQUEST_H
#define VD_REQUEST_REQUEST_H

#include "request/audit.h"
#include "request/loop.h"
#include "request/request_log.h"

/* The verb in the rules of access, of a request for a path: "get", "post". "" for a method that
 * HTTP does not have. */
struct vd_slice vd_request_verb(enum vd_http_method method);

/* The verb in the metrics of such a request: "GET", "POST"; or "". */
struct vd_slice vd_request_metric_verb(enum vd_http_method method);

/* The request of an exchange that asks for its path, and in the name of its user. */
struct vd_request vd_request_of_path(struct vd_exchange *x);

/* Attaches the request log, and has the request audited. If vd_audit_wants_body() says so of the
 * log's entry, the face gives it the request's body. */
struct vd_request_log *vd_request_begin(struct vd_request_loop *l,
                                        const struct vd_request *request);

/* Whether the user may do what the request log says. Adds why, or why not, to `reason`. */
bool vd_request_authorize(struct vd_request_loop *l, const struct vd_request_log *log,
                          struct vd_buf *reason);

/* For the service's `finished`. */
void vd_request_finished(struct vd_request_loop *l, struct vd_exchange *x);

#endif
