/*
 * An audit policy: which requests are audited, and how much of each is written. Format and meaning
 * are Kubernetes' own:
 *
 *     apiVersion: audit.k8s.io/v1
 *     kind: Policy
 *     omitStages: [RequestReceived]
 *     rules:
 *     - level: None
 *       users: ["system:kube-proxy"]
 *       verbs: [watch]
 *     - level: RequestResponse
 *       resources:
 *       - group: ""
 *         resources: [configmaps, secrets/status]
 *     - level: Metadata
 *
 * The first rule that matches a request decides; a request that no rule matches is not audited. A
 * rule names the user who sent the request, not the one whom that user impersonates. Immutable,
 * shared by reference count.
 */
#ifndef VD_AUTH_AUDIT_POLICY_H
#define VD_AUTH_AUDIT_POLICY_H

#include "auth/access.h"
#include "base/attributes.h"
#include "base/error.h"

enum vd_audit_level {
    VD_AUDIT_NONE,
    VD_AUDIT_METADATA,         /* who, what, when */
    VD_AUDIT_REQUEST,          /* also the object of the request */
    VD_AUDIT_REQUEST_RESPONSE, /* also that of the answer */
};

/* The stages of a request, as bits. */
enum vd_audit_stage {
    VD_AUDIT_RECEIVED = 1,
    VD_AUDIT_STARTED = 2, /* the answer's head has gone out, and the rest takes long: a watch */
    VD_AUDIT_COMPLETE = 4,
    VD_AUDIT_PANIC = 8,
};

struct vd_audit_verdict {
    enum vd_audit_level level;
    unsigned omit_stages; /* enum vd_audit_stage */
    bool omit_managed_fields;
};

/* "Metadata", "ResponseComplete" */
const char *vd_audit_level_name(enum vd_audit_level level);
const char *vd_audit_stage_name(enum vd_audit_stage stage);

struct vd_audit_policy;

/* Reads the file. The error names the line. Blocks on the file. */
int vd_audit_policy_load(struct vd_audit_policy **out, const char *path,
                         struct vd_error *error) VD_MUST_USE;
/* The same of a text; `name` stands in messages. */
int vd_audit_policy_parse(struct vd_audit_policy **out, const char *name, struct vd_slice text,
                          struct vd_error *error) VD_MUST_USE;
/* The metadata of every request, when it is complete. */
struct vd_audit_policy *vd_audit_policy_default(void) VD_MUST_USE;

struct vd_audit_policy *vd_audit_policy_ref(struct vd_audit_policy *policy);
void vd_audit_policy_unref(struct vd_audit_policy *policy); /* NULL is fine */

/* What is to be done with a request. `user` is who sent it, NULL if that is not known; the user in
 * `access` is not looked at. */
struct vd_audit_verdict vd_audit_policy_judge(const struct vd_audit_policy *policy,
                                              const struct vd_user *user,
                                              const struct vd_access *access);

#endif
