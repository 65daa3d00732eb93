/*
 * Keys that sign: ECDSA on P-256 (made here, and preferred) or RSA. Other issuers'
 * public keys come in more kinds: see jwk.h.
 *
 * Immutable after loading, shared by reference count, usable on any thread.
 */
#ifndef VD_AUTH_SIGNING_KEY_H
#define VD_AUTH_SIGNING_KEY_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"

/* The one algorithm of JSON web signatures (RFC 7518, RFC 8037) that a key is used with. */
enum vd_signing_key_alg {
    VD_KEY_ES256, /* ECDSA on P-256 with SHA-256 */
    VD_KEY_ES384, /* on P-384 with SHA-384 */
    VD_KEY_ES512, /* on P-521 with SHA-512 */
    VD_KEY_RS256, /* RSA of 2048 bits or more, PKCS #1 v1.5 with SHA-256 */
    VD_KEY_RS384,
    VD_KEY_RS512,
    VD_KEY_PS256, /* the same with PSS padding */
    VD_KEY_PS384,
    VD_KEY_PS512,
    VD_KEY_EDDSA, /* Ed25519 */
    VD_KEY_ALGS,
};

/* "ES256", and back: VD_KEY_ALGS for any other name. */
const char *vd_key_alg_name(enum vd_signing_key_alg alg);
enum vd_signing_key_alg vd_key_alg_find(struct vd_slice name);

struct vd_signing_key;
struct evp_pkey_st;

/* A new P-256 key. */
struct vd_signing_key *vd_signing_key_generate(void) VD_MUST_USE;

/* From PEM: a private key (PKCS #8 or the older forms, not encrypted) or a
 * public one. VD_ERR_INVALID: none of these, or a key of another kind. */
int vd_signing_key_from_pem(struct vd_signing_key **out, struct vd_slice pem,
                            struct vd_error *error) VD_MUST_USE;

/* A public key of somebody else, under the id that its owner gave it. The handle is taken over on
 * success. VD_ERR_INVALID: the algorithm is not for such a key, or the key is too weak. */
int vd_signing_key_adopt(struct vd_signing_key **out, struct evp_pkey_st *handle,
                         enum vd_signing_key_alg alg, struct vd_slice id,
                         struct vd_error *error) VD_MUST_USE;

struct vd_signing_key *vd_signing_key_ref(struct vd_signing_key *key);
void vd_signing_key_unref(struct vd_signing_key *key); /* NULL is fine */

enum vd_signing_key_alg vd_signing_key_alg(const struct vd_signing_key *key);
const char *vd_signing_key_alg_name(const struct vd_signing_key *key); /* "ES256" */
bool vd_signing_key_is_private(const struct vd_signing_key *key);

/* The key id: base64url of the SHA-256 of the public key's DER, as Kubernetes makes it, or the id
 * that its owner gave it. Borrowed from the key. */
struct vd_slice vd_signing_key_id(const struct vd_signing_key *key);

/* That hash, even if the owner gave the key another id. */
struct vd_slice vd_signing_key_thumbprint(const struct vd_signing_key *key);

/* OpenSSL's handle, borrowed from the key. */
struct evp_pkey_st *vd_signing_key_handle(const struct vd_signing_key *key);

/* Adds the private key as PKCS #8 PEM; wipe the buffer after use. */
void vd_signing_key_add_pem(const struct vd_signing_key *key, struct vd_buf *pem);

/* Adds the signature in JWS form: for ES256 the 64 bytes of r and s. */
int vd_signing_key_sign(const struct vd_signing_key *key, struct vd_slice text,
                        struct vd_buf *signature, struct vd_error *error) VD_MUST_USE;

/* Whether `signature`, in JWS form, is this key's for the text. */
bool vd_signing_key_verifies(const struct vd_signing_key *key, struct vd_slice text,
                             struct vd_slice signature);

#endif
