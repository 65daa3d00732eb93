/*
 * JSON web keys (RFC 7517, RFC 7518, RFC 8037): the public keys that an issuer publishes.
 *
 *     {"keys":[{"kty":"RSA","kid":"2026","use":"sig","alg":"RS256","n":"...","e":"AQAB"}]}
 *
 * A key says how it is used, once for all: by its `alg`, or without one by what it is - RS256 for
 * RSA, ES256, ES384 and ES512 for their curves, EdDSA for Ed25519. Keys that are not for verifying
 * signatures (use, key_ops), secret ones (oct), those of other kinds, and those that are too weak
 * are left out; a set may have them. So a signature is never checked with a shared secret, and a
 * public key is never taken for such a secret.
 */
#ifndef VD_AUTH_JWK_H
#define VD_AUTH_JWK_H

#include "auth/signing_key.h"
#include "base/refcount.h"
#include "json/document.h"

/* Immutable, shared by reference count. */
struct vd_key_set {
    struct vd_signing_key **keys;
    size_t n;
    size_t skipped; /* keys of the document that are not used */
    struct vd_refcount count;
};

/*
 * Reads a JWK set. VD_ERR_INVALID: not such a document. VD_ERR_LIMIT: more than VD_JWKS_LEN_MAX
 * bytes or VD_JWKS_KEYS_MAX keys. A set without a key that can be used is an error as well: the
 * caller then keeps the keys that it had.
 */
int vd_key_set_parse(struct vd_key_set **out, struct vd_slice text,
                     struct vd_error *error) VD_MUST_USE;

struct vd_key_set *vd_key_set_ref(struct vd_key_set *set);
void vd_key_set_unref(struct vd_key_set *set); /* NULL is fine */

/* Whether a key has this id. */
bool vd_key_set_has_id(const struct vd_key_set *set, struct vd_slice id);

/* Whether both sets have the same keys under the same ids, in the same order. */
bool vd_key_set_eq(const struct vd_key_set *a, const struct vd_key_set *b);

#endif
