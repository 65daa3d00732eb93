/*
 * The webhook of a repository that follows a remote: POST /NAMESPACE/NAME.git/webhook. Whoever
 * hosts the remote calls it when something was pushed there, and the server fetches at once.
 *
 * A call proves that its sender knows the key `secret` of the Secret that
 * spec.remote.webhookSecretRef names:
 *
 *     X-Hub-Signature-256   "sha256=" and the HMAC-SHA256 of the body, in hexadecimal digits
 *                           (GitHub, Gitea, Forgejo)
 *     X-Gitlab-Token        the key itself (GitLab)
 *
 * Both are compared in constant time. What the body says does not matter. A call that has come
 * before within VD_GIT_WEBHOOK_WINDOW_MS - the same body for the same repository - is refused as a
 * replay: the sender's own numbers of deliveries are not part of what is signed.
 *
 * Calls that are accepted are counted, so many in a second; those of strangers take nothing of
 * that. Hashing a long body costs time: an address from which many bytes were refused within a
 * second may send only short ones until the next.
 *
 *     202 accepted   403 wrong signature   404 no such repository, or it has no webhook
 *     409 replay     413 the body is too long     429 too many calls
 *
 * Any thread.
 */
#ifndef VD_GIT_WEBHOOK_H
#define VD_GIT_WEBHOOK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/slice.h"

enum vd_webhook_result {
    VD_WEBHOOK_ACCEPTED,
    VD_WEBHOOK_REFUSED,
    VD_WEBHOOK_REPLAYED,
    VD_WEBHOOK_LIMITED, /* too many are accepted in this second */
};

enum { VD_WEBHOOK_STRANGERS = 256 }; /* addresses that are told apart, by a hash of each */

/* What was refused from an address. */
struct vd_webhook_stranger {
    uint64_t second; /* of the monotonic clock, in which there were so many bytes: */
    uint64_t len;
};

/* Which calls have come. */
struct vd_webhooks {
    pthread_mutex_t lock;          /* guards the rest; held for a search in a table */
    struct vd_webhook_call *calls; /* VD_GIT_WEBHOOKS_KEPT, the next one of which is: */
    size_t next;
    uint64_t second; /* of the monotonic clock, in which there were so many were accepted: */
    unsigned in_second;
    struct vd_webhook_stranger strangers[VD_WEBHOOK_STRANGERS];
};

void vd_webhooks_init(struct vd_webhooks *webhooks);
void vd_webhooks_release(struct vd_webhooks *webhooks);

/* Whether a body of so many bytes from this address is looked at now. */
bool vd_webhooks_look(struct vd_webhooks *webhooks, struct vd_slice address, uint64_t len,
                      uint64_t now_ms) VD_MUST_USE;

/* One was refused. */
void vd_webhooks_refused(struct vd_webhooks *webhooks, struct vd_slice address, uint64_t len,
                         uint64_t now_ms);

/* A call; headers that it has not are empty. */
struct vd_webhook_request {
    struct vd_slice repository; /* its uid */
    struct vd_slice body;
    struct vd_slice signature; /* X-Hub-Signature-256 */
    struct vd_slice token;     /* X-Gitlab-Token */
};

enum vd_webhook_result vd_webhook_judge(struct vd_webhooks *webhooks,
                                        const struct vd_webhook_request *request,
                                        struct vd_slice secret, uint64_t now_ms) VD_MUST_USE;

#endif
