/* What token.c, which reads the file, and token_change.c, which writes it, share. */
#ifndef VD_AUTH_TOKEN_INTERNAL_H
#define VD_AUTH_TOKEN_INTERNAL_H

#include <stdatomic.h>

#include "auth/token.h"

enum {
    VD_TOKEN_HASH_LEN = 32,                               /* bytes of SHA-256 */
    VD_TOKEN_SECRET_LEN = 32,                             /* random bytes */
    VD_TOKEN_LEN = 3 + (VD_TOKEN_SECRET_LEN * 4 + 2) / 3, /* of the whole text */
};

struct vd_token_entry {
    struct vd_token token;
    unsigned char hash[VD_TOKEN_HASH_LEN];
    _Atomic(struct vd_user *) cached_user; /* the token's user, made when the token is first used */
};

const struct vd_token_entry *vd_token_set_entry(const struct vd_token_set *set, size_t i);

/* SHA-256 of the token's text. */
void vd_token_hash(struct vd_slice token, unsigned char out[VD_TOKEN_HASH_LEN]);

#endif
