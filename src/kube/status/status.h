/*
 * Status: the object that answers what failed, and what was deleted.
 *
 *     struct vd_status status = vd_status_not_found(&arena, target);
 *     vd_status_write(&body, &status);            and the HTTP code is status.code
 *
 * A constructor for each answer that Kubernetes gives, with its exact text.
 * Messages are made in the arena and live as long as it; names, groups and
 * causes are borrowed from the caller. Bytes of a request that are no UTF-8
 * become U+FFFD, at the latest when the Status is written. No I/O; any thread.
 */
#ifndef VD_KUBE_STATUS_STATUS_H
#define VD_KUBE_STATUS_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"
#include "kinds/admission.h"
#include "kube/status/cause.h"

/* What the answer is about. The resource's plural is in `plural`, except where a
 * function asks for the Kind. Empty parts are left out. */
struct vd_status_target {
    struct vd_slice group; /* empty: the core group */
    struct vd_slice plural;
    struct vd_slice name;
};

/* Zero or empty is "not there". */
struct vd_status {
    int code;     /* the HTTP status, too */
    bool success; /* "Success"; then the code is not in the body */
    struct vd_slice reason;
    struct vd_slice message;
    struct vd_slice continue_token; /* metadata.continue */

    bool has_details; /* "details" is there, if only as {} */
    struct vd_slice name;
    struct vd_slice group;
    struct vd_slice kind; /* mostly the plural, as Kubernetes has it */
    struct vd_slice uid;
    const struct vd_status_cause *causes;
    size_t causes_n;
    int retry_after_s; /* also for the header Retry-After */
};

/* Adds the object as JSON, fields in Kubernetes' order, without a newline. */
void vd_status_write(struct vd_buf *out, const struct vd_status *status);

/* --- 200 --- */

/* What was deleted; kubectl waits for that uid to go. */
struct vd_status vd_status_deleted(struct vd_arena *a, const struct vd_status_target *target,
                                   struct vd_slice uid);

/* --- 4xx about an object --- */

/* 404 `configmaps "a" not found` */
struct vd_status vd_status_not_found(struct vd_arena *a, const struct vd_status_target *target);

/* A path that a group of Kubernetes' own does not have. */
struct vd_status vd_status_no_resource(struct vd_arena *a);

/* 409 `configmaps "a" already exists`; `deleting`: with "object is being deleted: " in front */
struct vd_status vd_status_already_exists(struct vd_arena *a, const struct vd_status_target *target,
                                          bool deleting);

/* 409 for generateName: no free name was found; retry after a second. */
struct vd_status vd_status_name_not_generated(struct vd_arena *a,
                                              const struct vd_status_target *target);

/* 409 `Operation cannot be fulfilled on configmaps "a": <why>` */
struct vd_status vd_status_conflict(struct vd_arena *a, const struct vd_status_target *target,
                                    struct vd_slice why);

/* 409: the stale resourceVersion of an update. The current one, unless 0, is the
 * message of a cause with the reason CurrentResourceVersion, so that whoever tries
 * again needs no read to learn it. */
struct vd_status vd_status_modified(struct vd_arena *a, const struct vd_status_target *target,
                                    uint64_t current);

/* 409: an update with a uid that is not the object's. */
struct vd_status vd_status_uid_differs(struct vd_arena *a, const struct vd_status_target *target,
                                       struct vd_slice key, struct vd_slice wanted,
                                       struct vd_slice actual);

/* 409: a precondition of a delete; the target's plural is the Kind. */
struct vd_status vd_status_uid_precondition(struct vd_arena *a,
                                            const struct vd_status_target *target,
                                            struct vd_slice wanted, struct vd_slice actual);
struct vd_status vd_status_version_precondition(struct vd_arena *a,
                                                const struct vd_status_target *target,
                                                struct vd_slice wanted, struct vd_slice actual);

/* 409 of server-side apply, with a cause for each field. */
struct vd_status vd_status_apply_conflict(struct vd_arena *a, struct vd_slice message,
                                          const struct vd_status_cause *causes, size_t n);

/* 422 `Widget.example.com "w1" is invalid: <field>: <message>`, for which the target
 * has the Kind in the place of the plural; several causes are "[.., ..]" and equal ones said once.
 * The causes are borrowed; those beyond VD_STATUS_CAUSES_MAX are not named. */
struct vd_status vd_status_invalid(struct vd_arena *a, const struct vd_status_target *target,
                                   const struct vd_status_cause *causes, size_t n);

/* 422 for an update of a kind that does not allow one without resourceVersion; the
 * target has the Kind, too. */
struct vd_status vd_status_version_required(struct vd_arena *a,
                                            const struct vd_status_target *target);

/* 422 of list or watch options. */
struct vd_status vd_status_invalid_options(struct vd_arena *a, const struct vd_status_cause *causes,
                                           size_t n);

/* 422 without more, of a patch that does not apply (a `test` that failed). */
struct vd_status vd_status_unprocessable(struct vd_arena *a, struct vd_slice why);

/* --- 4xx about a request --- */

struct vd_status vd_status_bad_request(struct vd_arena *a, struct vd_slice message); /* 400 */

/* 400: what the body says is not what the URL says. */
struct vd_status vd_status_name_differs(struct vd_arena *a, struct vd_slice in_body,
                                        struct vd_slice in_url);
struct vd_status vd_status_namespace_differs(struct vd_arena *a);
struct vd_status vd_status_version_differs(struct vd_arena *a, struct vd_slice in_body,
                                           struct vd_slice in_url);

/* 401; an empty message is "Unauthorized". */
struct vd_status vd_status_unauthorized(struct vd_arena *a, struct vd_slice message);

/* 403 `configmaps "a" is forbidden: <why>` */
struct vd_status vd_status_forbidden(struct vd_arena *a, const struct vd_status_target *target,
                                     struct vd_slice why);

/* What was asked for, for the words of a refusal by the authorizer. */
struct vd_status_access {
    struct vd_slice user;
    struct vd_slice verb;
    struct vd_slice path; /* of a request that is about no resource; else empty */
    struct vd_status_target target;
    struct vd_slice subresource;
    struct vd_slice namespace; /* empty: at the cluster scope */
};

/* 403 `... is forbidden: User "u" cannot list resource "configmaps" in API group
 * "" in the namespace "default"`, with ": <why>" behind it unless that is empty. */
struct vd_status vd_status_access_denied(struct vd_arena *a, const struct vd_status_access *access,
                                         struct vd_slice why);

/* 403 with reason SpecOwnedByGit: the object, or its whole kind, is changed by a push.
 * What there is to say of repository, branch, path and commit is in the message, and in causes
 * with the reasons GitRepository, GitBranch, GitPath and GitCommit. */
struct vd_status vd_status_owned_by_git(struct vd_arena *a, const struct vd_status_target *target,
                                        const struct vd_git_claim *claim, bool namespaced);

/* 403: creation in a namespace that is being deleted. */
struct vd_status vd_status_namespace_terminating(struct vd_arena *a,
                                                 const struct vd_status_target *target,
                                                 struct vd_slice namespace);

/* 405 `delete is not supported on resources of kind "widgets.example.com"` */
struct vd_status vd_status_method_not_allowed(struct vd_arena *a,
                                              const struct vd_status_target *target,
                                              struct vd_slice action);

/* 406, 415; `accepted` is "application/json, application/yaml". */
struct vd_status vd_status_not_acceptable(struct vd_arena *a, struct vd_slice accepted);
struct vd_status vd_status_unsupported_media_type(struct vd_arena *a, struct vd_slice accepted);

/* 413 `Request entity too large: <message>` */
struct vd_status vd_status_too_large(struct vd_arena *a, struct vd_slice message);

/* 428: a write of this status has to say which version it changes. */
struct vd_status vd_status_precondition_required(struct vd_arena *a,
                                                 const struct vd_status_target *target);

/* 429, with Retry-After. */
struct vd_status vd_status_too_many_requests(struct vd_arena *a, struct vd_slice message,
                                             int retry_after_s);

/* The same in the words of Kubernetes' fairness: try again after a second. */
struct vd_status vd_status_over_limit(struct vd_arena *a);

/* --- versions --- */

/* 410 with reason Expired, 410 with the older reason Gone. */
struct vd_status vd_status_expired(struct vd_arena *a, struct vd_slice message);
struct vd_status vd_status_gone(struct vd_arena *a, struct vd_slice message);

/* 410 inside a watch: `too old resource version: 1 (213)` */
struct vd_status vd_status_watch_expired(struct vd_arena *a, uint64_t wanted, uint64_t oldest);

/* 410 of a list at a version that is compacted away. */
struct vd_status vd_status_list_expired(struct vd_arena *a);

/* 410 of a continue token, with one that continues at the newest version. */
struct vd_status vd_status_continue_expired(struct vd_arena *a, struct vd_slice fresh_token);

/* 504: a version that is not there yet, in the store's sentence; retry after a second. */
struct vd_status vd_status_version_too_large(struct vd_arena *a, struct vd_slice text);

/* --- 5xx --- */

struct vd_status vd_status_internal_error(struct vd_arena *a, struct vd_slice message); /* 500 */

/* 500 without a reason, as Kubernetes answers when a conversion webhook has failed. */
struct vd_status vd_status_conversion_failed(struct vd_arena *a, const struct vd_error *error);

struct vd_status vd_status_unavailable(struct vd_arena *a, struct vd_slice message); /* 503 */
struct vd_status vd_status_insufficient_storage(struct vd_arena *a,
                                                struct vd_slice message); /* 507 */

/* 504 `Timeout: <message>` */
struct vd_status vd_status_timeout(struct vd_arena *a, struct vd_slice message, int retry_after_s);

/*
 * The answer for an error of the layers below, by its code, where nothing better
 * is known: VD_ERR_NOT_FOUND, EXISTS and CONFLICT by the target, the others by
 * the sentence. The code is not VD_OK. `error` may be NULL.
 */
struct vd_status vd_status_of_error(struct vd_arena *a, const struct vd_status_target *target,
                                    int code, const struct vd_error *error);

#endif
