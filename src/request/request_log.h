/*
 * The request log of an exchange: what the request asks for and who sent it.
 *
 * The face that answers a request attaches one to the exchange (`request_info`) as soon as it has
 * understood the request, and it stays there until the answer is complete or broken off. The access
 * log, the metrics and the audit log are written from it, and the rights of a watch are checked
 * again by it. A request that no face has understood - it was malformed, or its credential is no
 * good - and a probe of the server's health have none.
 */
#ifndef VD_REQUEST_REQUEST_LOG_H
#define VD_REQUEST_REQUEST_LOG_H

#include "auth/access.h"
#include "net/exchange.h"
#include "request/meter.h"

struct vd_audit_entry;

/* What a face tells of a request that it has understood. All is borrowed. */
struct vd_request {
    struct vd_exchange *x;
    struct vd_user *user;          /* in whose name it is made; NULL: not known */
    struct vd_access access;       /* what is asked for; its user is `user` */
    struct vd_slice api_version;   /* of the resource: "v1"; for the audit log */
    struct vd_meter_labels labels; /* under which it is counted */
};

enum { VD_REQUEST_LOG_PARTS = 7 }; /* texts of a struct vd_access */

/* It is small, since every idle watch has one. */
struct vd_request_log {
    struct vd_user *user; /* a reference */
    struct vd_meter *meter;
    struct vd_audit_entry *audit;           /* NULL: the request is not audited */
    uint32_t lengths[VD_REQUEST_LOG_PARTS]; /* of the texts of the access */
    uint32_t agent_len;                     /* of the user agent; 0 without an access log */
    char text[];                            /* those texts and the user agent, one after another */
};

/* Makes the log of a request and attaches it to the exchange. With `has_agent` it keeps the user
 * agent, which a long stream's line in the access log needs when the request has been forgotten. */
struct vd_request_log *vd_request_log_attach(const struct vd_request *request,
                                             struct vd_meter *meter, bool has_agent);

/* Releases the log of an exchange, which has none from then on. */
void vd_request_log_detach(struct vd_exchange *x);

/* What was asked for. The texts belong to the log. */
struct vd_access vd_request_log_access(const struct vd_request_log *log);

/* The log of an exchange, or NULL. */
static inline struct vd_request_log *vd_request_log_of(const struct vd_exchange *x)
{
    return x->request_info;
}

/* The entry of an exchange in the audit log, or NULL. `x` may be NULL: its client has left. */
static inline struct vd_audit_entry *vd_request_log_audit(const struct vd_exchange *x)
{
    return x && x->request_info ? vd_request_log_of(x)->audit : NULL;
}

/* Writes the line of the access log about an exchange that has ended. */
void vd_request_log_write(const struct vd_exchange *x, uint64_t duration_ns);

#endif
