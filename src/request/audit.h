/*
 * Auditing: what becomes of requests, as events of audit.k8s.io/v1.
 *
 * A request that the audit policy wants to be written down gets an entry, which hangs on its
 * request log (request_log.h) and gathers what the events say. A request without one has the entry
 * NULL, with which all functions that take an entry do nothing. An event is one line of JSON in the
 * log (auth/audit_log.h):
 *
 *     {"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"...",
 *      "stage":"ResponseComplete","requestURI":"/api/v1/namespaces/default/configmaps/a",
 *      "verb":"get","user":{...},"sourceIPs":["127.0.0.1"],"userAgent":"curl/8","objectRef":{...},
 *      "responseStatus":{"metadata":{},"code":200},...}
 *
 * The audit knows no face. What only a face can say - the document in a request's body, the reason
 * and the message of a refusal - the face hands over.
 */
#ifndef VD_REQUEST_AUDIT_H
#define VD_REQUEST_AUDIT_H

#include "auth/audit_log.h"
#include "auth/audit_policy.h"
#include "base/clock.h"
#include "net/exchange.h"
#include "request/request_log.h"
#include "json/document.h"

struct vd_audit;
struct vd_audit_entry;

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

/* Reads the policy and opens the log again. Either of the two that fails stays as it was, and the
 * program's log says so. NULL is fine. */
void vd_audit_reload(struct vd_audit *audit);

/* From now on no request waits for the log, whatever the mode. NULL is fine. */
void vd_audit_stop_blocking(struct vd_audit *audit);

/* ---- on the way of a request, on its loop ---- */

/* The request has come: gives its request log an entry if the policy says so. */
void vd_audit_received(struct vd_audit *audit, const struct vd_request *request,
                       struct vd_request_log *log);

/* Whether the events are to have the document that the request's body is. Then the face hands it
 * over with vd_audit_body(), which may change it. A body that is no document is left out. */
bool vd_audit_wants_body(const struct vd_audit_entry *entry);
void vd_audit_body(struct vd_audit_entry *entry, struct vd_json *document);

/* It was decided whether the user may do what was asked for. */
void vd_audit_decided(struct vd_audit_entry *entry, bool allowed, struct vd_slice reason);

/* What Git owns was changed, for this reason: an annotation of the event says so. */
void vd_audit_overridden(struct vd_audit_entry *entry, struct vd_slice reason);

/* The answer is an object, as JSON. */
void vd_audit_object(struct vd_audit_entry *entry, struct vd_slice json);

/* The answer says how the request ended, and why. */
struct vd_audit_answer {
    bool success;
    struct vd_slice reason;  /* a word: "NotFound" */
    struct vd_slice message; /* for people */
    struct vd_slice json;    /* the answer itself, for a policy that wants it; or empty */
};
void vd_audit_answer(struct vd_audit_entry *entry, const struct vd_audit_answer *answer);

/* The head of a stream has been sent. */
void vd_audit_started(struct vd_audit_entry *entry, const struct vd_exchange *x);

/* The answer is complete or broken off; frees the entry. */
void vd_audit_complete(struct vd_audit_entry *entry, const struct vd_exchange *x);

/* The header that tells a client the id of its request in the audit log. */
struct vd_audit_stamp {
    struct vd_http_field field;
    char id[VD_AUDIT_ID_LEN_MAX + 1];
};

/* A request without a request log is about to be refused with this status. `stamp` is to stay until
 * the answer has been given, which has it as a header. An audit that is NULL is fine. */
void vd_audit_refused(struct vd_audit *audit, const struct vd_request *request, unsigned status,
                      const struct vd_audit_answer *answer, struct vd_audit_stamp *stamp);

/* Something that the server does without a request, as a fetch of a remote repository. All is
 * borrowed. */
struct vd_audit_act {
    const struct vd_access *access; /* what it does, and in whose name */
    struct vd_slice api_version;    /* of the resource: "v1" */
    struct vd_slice uri, agent;     /* what stands for those of a request */
    uint64_t duration_ns;           /* it has just ended, and took so long */
    unsigned status;
    struct vd_audit_answer answer;
};

/* Writes its event, of the last stage, if the policy wants it. Any thread. */
void vd_audit_act(struct vd_audit *audit, const struct vd_audit_act *act);

#endif
