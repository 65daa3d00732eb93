/*
 * The audit log of fetches: each fetch of a followed remote is an event there, as a push of the
 * same commit would be. Nobody has sent it: its verb is `update` on `repositories/contents`, its
 * user the ServiceAccount that writes, or the server itself where it has not come to that, and its
 * user agent `vedette-git`.
 *
 *     200   up to date, or admitted      403  Forbidden            422  ManifestsInvalid
 *     502   FetchFailed                  500  AdmissionFailed
 *
 * Any thread.
 */
#ifndef VD_GIT_FOLLOW_AUDIT_H
#define VD_GIT_FOLLOW_AUDIT_H

#include <stdint.h>

#include "auth/user.h"
#include "request/audit.h"

/* All borrowed for the call. */
struct vd_followed {
    struct vd_slice namespace, name; /* of the Repository */
    struct vd_user *user;            /* NULL: the server itself */
    const char *url;                 /* of the remote; NULL: it has not come to that */
    const char *reason;              /* why it has failed: as in the condition Synced; or NULL */
    struct vd_slice message;
    uint64_t duration_ns;
};

/* An audit that is NULL is fine. */
void vd_follow_audit(struct vd_audit *audit, const struct vd_followed *followed);

#endif
