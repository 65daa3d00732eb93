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
};

/* Which calls have come. */
struct vd_webhooks {
    pthread_mutex_t lock;          /* guards the rest; held for a search in a table */
    struct vd_webhook_call *calls; /* VD_GIT_WEBHOOKS_KEPT, the next one of which is: */
    size_t next;
    uint64_t second; /* of the monotonic clock, in which there were so many calls: */
    unsigned in_second;
};

void vd_webhooks_init(struct vd_webhooks *webhooks);
void vd_webhooks_release(struct vd_webhooks *webhooks);

/* Whether one more call may be looked at now. */
bool vd_webhooks_admit(struct vd_webhooks *webhooks, uint64_t now_ms) VD_MUST_USE;

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
