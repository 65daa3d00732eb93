/*
 * JSON web tokens (RFC 7519) in the compact form of signatures (RFC 7515).
 *
 *     struct vd_jwt jwt;
 *     code = vd_jwt_parse(&jwt, &arena, token, &error);
 *     code = vd_jwt_verify(&jwt, &expected, &error);
 *     use(jwt.claims);
 *
 * The claims are NULL until everything was verified, so that nobody reads one too early; only the
 * issuer and the key id can be read before, to find the keys.
 *
 * What decides how a signature is checked is the key, never the token: a token's `alg` must be the
 * one algorithm of the key it names, and other members of its header that name keys (jku, jwk, x5u,
 * x5c) are ignored. `crit` is refused, since no extension is understood. Duplicate members, texts
 * that are not strict base64url, and tokens longer than VD_JWT_LEN_MAX are refused.
 */
#ifndef VD_AUTH_JWT_H
#define VD_AUTH_JWT_H

#include <stdint.h>

#include "auth/signing_key.h"
#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"
#include "json/document.h"

struct vd_jwt {
    const struct vd_json *claims; /* NULL until verified */
    /* The registered claims, set with `claims`; 0 and empty where missing. */
    struct vd_slice subject;
    struct vd_slice id;
    int64_t expires_ms;
    int64_t issued_ms;
    const struct vd_signing_key *key; /* that verifies the signature; borrowed from `expected` */
    /* private: what is not verified yet */
    const struct vd_json *unverified;
    struct vd_slice alg, kid, issuer, signed_text, signature;
};

struct vd_jwt_expected {
    /* A token that names a key (kid) is checked with that one, any other with
     * each key of its algorithm. */
    struct vd_signing_key *const *keys;
    size_t keys_n;
    struct vd_slice issuer;
    const struct vd_slice *audiences; /* the token must have one of these */
    size_t audiences_n;
    int64_t now_ms;
    int64_t skew_ms; /* how far other clocks may be off */
};

/*
 * Takes a token apart; nothing in it is believed yet. The arena keeps what it
 * is made of, and the token's text is borrowed. VD_ERR_INVALID: no such token;
 * VD_ERR_LIMIT: too long.
 */
int vd_jwt_parse(struct vd_jwt *jwt, struct vd_arena *arena, struct vd_slice token,
                 struct vd_error *error) VD_MUST_USE;

/* What the token says of its issuer, unverified: for finding the keys. */
static inline struct vd_slice vd_jwt_issuer_unverified(const struct vd_jwt *jwt)
{
    return jwt->issuer;
}

/* The key that the token names, unverified; empty: none. */
static inline struct vd_slice vd_jwt_kid_unverified(const struct vd_jwt *jwt)
{
    return jwt->kid;
}

/*
 * Checks signature, issuer, audience and times (exp is needed; nbf and iat must not be in the
 * future), in this order, and opens the claims. VD_ERR_NOT_FOUND: it is another issuer's token.
 * VD_ERR_EXPIRED: it has expired. VD_ERR_INVALID: anything else.
 */
int vd_jwt_verify(struct vd_jwt *jwt, const struct vd_jwt_expected *expected,
                  struct vd_error *error) VD_MUST_USE;

/* Whether the verified token has this audience. */
bool vd_jwt_has_audience(const struct vd_jwt *jwt, struct vd_slice audience);

/* Adds the signed token with these claims. */
int vd_jwt_sign(struct vd_buf *out, const struct vd_signing_key *key, const struct vd_json *claims,
                struct vd_error *error) VD_MUST_USE;

#endif
