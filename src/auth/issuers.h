/*
 * The issuers whose JSON web tokens are good here, and their keys.
 *
 * The keys are fetched on a loop, in the background: at start, every VD_JWKS_REFRESH_MS, and soon
 * when a token names a key that is not known, though not more often than every VD_JWKS_ASK_MS. No
 * request waits for that: until the key is there such a token is refused. When a fetch fails the
 * keys that there are stay, the log and vedette_oidc_refreshes_total say so, and it is tried again.
 *
 * What tokens are judged by is an immutable snapshot, swapped under a lock and asked without it.
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
    struct vd_loop *loop; /* where keys are fetched */
    const struct vd_clock *clock;
    /* Called when a token or user that was good may not be so any more. Any thread. */
    void (*changed)(void *arg);
    void *arg;
};

/* Reads the file. No loop has to run yet. */
int vd_issuers_new(struct vd_issuers **out, const struct vd_issuers_options *options,
                   struct vd_error *error) VD_MUST_USE;
void vd_issuers_free(struct vd_issuers *issuers); /* stopped, or never started; NULL is fine */

/* From the main thread, while the loop runs: begins and ends the fetching. NULL is fine. */
void vd_issuers_start(struct vd_issuers *issuers);
void vd_issuers_stop(struct vd_issuers *issuers);

/* From the main thread: reads the file again. An issuer that is no longer in it, or differently,
 * is not believed any more. After an error all is as before. */
int vd_issuers_reload(struct vd_issuers *issuers, struct vd_error *error) VD_MUST_USE;

/* The user of a token: one reference in *out. VD_ERR_NOT_FOUND: no issuer here is the token's.
 * Any thread. */
int vd_issuers_authenticate(struct vd_issuers *issuers, struct vd_slice token, int64_t now_ms,
                            struct vd_user **out, struct vd_error *error) VD_MUST_USE;

/* Whether a user of vd_issuers_authenticate() would still be let in, apart from times. */
bool vd_issuers_is_valid(struct vd_issuers *issuers, const struct vd_user *user);

#endif
