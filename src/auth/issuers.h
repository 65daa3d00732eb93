/*
 * The issuers whose JSON web tokens this server accepts, and their keys.
 *
 * The keys are fetched on a loop, in the background: at start, every VD_JWKS_REFRESH_MS, and soon
 * when a token names a key that is not known, though not more often than every VD_JWKS_ASK_MS. No
 * request waits for that: until the key is there such a token is refused. When a fetch fails, the
 * keys of the last one stay in use, the failure is logged and counted in
 * vedette_oidc_refreshes_total, and the fetch is tried again.
 *
 * Tokens are verified with an immutable snapshot of issuers and keys, which is swapped under a lock
 * and used without it.
 */
#ifndef VD_AUTH_ISSUERS_H
#define VD_AUTH_ISSUERS_H

#include "auth/user.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "base/error.h"
#include "net/loop.h"

struct vd_issuers;

struct vd_issuers_options {
    const char *file;     /* see auth/oidc.h; borrowed */
    struct vd_loop *loop; /* the loop on which keys are fetched */
    const struct vd_clock *clock;
    /* Called, on any thread, when a token or user that was valid may not be valid any more. */
    void (*changed)(void *arg);
    void *arg;
};

/* Reads the file. No loop has to run yet. */
int vd_issuers_new(struct vd_issuers **out, const struct vd_issuers_options *options,
                   struct vd_error *error) VD_MUST_USE;
void vd_issuers_free(struct vd_issuers *issuers); /* stopped, or never started; NULL allowed */

/* From the main thread, while the loop runs: begins and ends the fetching. NULL is fine. */
void vd_issuers_start(struct vd_issuers *issuers);
void vd_issuers_stop(struct vd_issuers *issuers);

/* From the main thread: reads the file again. An issuer that is no longer in it, or has changed, is
 * not trusted any more as it was. After an error nothing has changed. */
int vd_issuers_reload(struct vd_issuers *issuers, struct vd_error *error) VD_MUST_USE;

/* The user of a token: one reference in *out. VD_ERR_NOT_FOUND: the token's issuer is none of
 * these. Any thread. */
int vd_issuers_authenticate(struct vd_issuers *issuers, struct vd_slice token, int64_t now_ms,
                            struct vd_user **out, struct vd_error *error) VD_MUST_USE;

/* Whether a user of vd_issuers_authenticate() would still be accepted, apart from the token's
 * times. */
bool vd_issuers_is_valid(struct vd_issuers *issuers, const struct vd_user *user);

#endif
