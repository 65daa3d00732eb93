/* One audit event, and its line of JSON; see audit.h. */
#ifndef VD_REQUEST_AUDIT_EVENT_H
#define VD_REQUEST_AUDIT_EVENT_H

#include "auth/audit_policy.h"
#include "base/buf.h"

struct vd_audit_event {
    enum vd_audit_level level;
    enum vd_audit_stage stage;
    struct vd_slice id;
    struct vd_slice uri;
    const struct vd_access *access; /* its user, and who impersonates that one; NULL: not known */
    struct vd_slice api_version;    /* of the resource: "v1" */
    struct vd_slice name;           /* the object's, if the access has none */
    struct vd_slice source_ips;     /* with commas between them */
    struct vd_slice agent;
    unsigned status; /* 0: there is no answer */
    struct vd_slice status_text, reason, message;
    struct vd_slice request, response; /* JSON; empty: none */
    int64_t received_us, stage_us;     /* wall clock */
    struct vd_slice decision, decision_reason;
    struct vd_slice override; /* the reason why what Git owns was changed; empty: it was not */
};

/* Adds the line, with its newline. Texts may be no UTF-8. */
void vd_audit_event_write(struct vd_buf *out, const struct vd_audit_event *event);

/* "2026-11-15T09:35:21.042317Z" */
enum { VD_MICRO_TIME_MAX = 32 };
struct vd_slice vd_micro_time_format(int64_t wall_us, char out[VD_MICRO_TIME_MAX]);

#endif
