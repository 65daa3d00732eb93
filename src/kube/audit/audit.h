/*
 * Auditing: what becomes of requests, as audit.k8s.io/v1 events.
 *
 * A request that the policy wants written down gets an entry, which hangs on its record
 * (record.h) and gathers what the events say; without one, all functions that take an entry do
 * nothing. An event is one line of JSON in the log (auth/audit_log.h):
 *
 *     {"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"...",
 *      "stage":"ResponseComplete","requestURI":"/api/v1/namespaces/default/configmaps/a",
 *      "verb":"get","user":{...},"sourceIPs":["127.0.0.1"],"userAgent":"curl/8","objectRef":{...},
 *      "responseStatus":{"metadata":{},"code":200},...}
 */
#ifndef VD_KUBE_AUDIT_AUDIT_H
#define VD_KUBE_AUDIT_AUDIT_H

#include "auth/audit_log.h"
#include "auth/audit_policy.h"
#include "kube/call.h"
#include "kube/status/status.h"

struct vd_audit;
struct vd_audit_entry;
struct vd_request_log;

struct vd_audit_options {
    const char *log;    /* the file, or "-" */
    const char *policy; /* the file; NULL: vd_audit_policy_default() */
    enum vd_audit_mode mode;
    const struct vd_clock *clock;
};

/* Reads the policy and opens the log. Texts are borrowed. */
int vd_audit_open(struct vd_audit **out, const struct vd_audit_options *options,
                  struct vd_error *error) VD_MUST_USE;
void vd_audit_close(struct vd_audit *audit); /* writes what is queued; NULL is fine */

/* Reads the policy and opens the log again, each for itself: what fails stays as it was, and the
 * program's log says so. NULL is fine. */
void vd_audit_reload(struct vd_audit *audit);

/* From now on no request waits for the log, whatever the mode. NULL is fine. */
void vd_audit_stop_blocking(struct vd_audit *audit);

/* ---- on the way of a request, on its loop ---- */

/* The request has come; hangs an entry on the record if its policy says so. */
void vd_audit_received(struct vd_call *call, struct vd_request_log *record);

/* It was decided whether the user may. */
void vd_audit_decided(struct vd_audit_entry *entry, bool allowed, struct vd_slice reason);

/* What Git owns was changed, for this reason: an annotation of the event says so. */
void vd_audit_overridden(struct vd_audit_entry *entry, struct vd_slice reason);

/* What the answer is: an object (JSON), or a Status. */
void vd_audit_object(struct vd_audit_entry *entry, struct vd_slice json);
void vd_audit_status(struct vd_audit_entry *entry, const struct vd_status *status,
                     struct vd_slice json);

/* The head of a stream has been given. */
void vd_audit_started(struct vd_audit_entry *entry, const struct vd_exchange *x);

/* The answer is complete or broken off; frees the entry. */
void vd_audit_complete(struct vd_audit_entry *entry, const struct vd_exchange *x);

/* The header that tells a client how the audit log calls its request. */
struct vd_audit_stamp {
    struct vd_http_field field;
    char id[VD_AUDIT_ID_LEN_MAX + 1];
};

/* A request that never becomes a call is about to be refused: with whom it came, if that is known.
 * The exchange's stamp lies in `stamp` until vd_kube_finished(). */
void vd_audit_refused(struct vd_audit *audit, struct vd_exchange *x, struct vd_user *user,
                      const struct vd_status *status, struct vd_audit_stamp *stamp);

#endif
