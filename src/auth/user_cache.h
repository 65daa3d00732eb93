/*
 * A cache of bearer tokens that were verified a short time ago, and of their users.
 *
 * Verifying a signature costs some 100 us, and finding a stored token costs a SHA-256; a client
 * sends the same token with every request. The cache keeps the answer for a short while, by a hash
 * of the token under a secret of the process, so that it holds no token. What it says may be as old
 * as its time to live: keep that below the time within which a revoked credential has to be
 * refused. Refusals are not cached.
 *
 * Not thread-safe: each event loop has its own.
 */
#ifndef VD_AUTH_USER_CACHE_H
#define VD_AUTH_USER_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "auth/user.h"
#include "base/attributes.h"
#include "base/slice.h"

struct vd_user_cache;

/* Keeps at most `entries_max` users, each for `ttl_ms`; the oldest goes first. */
struct vd_user_cache *vd_user_cache_new(size_t entries_max, int64_t ttl_ms) VD_MUST_USE;
void vd_user_cache_free(struct vd_user_cache *cache); /* NULL is fine */

/* The user with a reference for the caller, or NULL: the token is not in the cache, its entry is
 * too old, or the credential has expired. */
struct vd_user *vd_user_cache_get(struct vd_user_cache *cache, struct vd_slice token,
                                  int64_t now_ms) VD_MUST_USE;

/* Remembers the user (a reference is taken) whom the token was verified for. */
void vd_user_cache_put(struct vd_user_cache *cache, struct vd_slice token, struct vd_user *user,
                       int64_t now_ms);

/* Forgets everything: tokens were revoked, or keys were changed. */
void vd_user_cache_clear(struct vd_user_cache *cache);

#endif
