/*
 * What others need to verify ServiceAccount tokens by themselves, as OpenID Connect
 * Discovery has it and Kubernetes serves it: who issues them, and the public keys.
 */
#ifndef VD_AUTH_ISSUER_DOCUMENT_H
#define VD_AUTH_ISSUER_DOCUMENT_H

#include "auth/service_account.h"

#define VD_ISSUER_CONFIGURATION_PATH "/.well-known/openid-configuration"
#define VD_ISSUER_KEYS_PATH          "/openid/v1/jwks"

/* Adds the discovery document; `keys_url` is where the keys are. */
void vd_issuer_configuration_write(struct vd_buf *out, const struct vd_service_accounts *accounts,
                                   struct vd_slice keys_url);

/* Adds the JWK set (RFC 7517): every key that a valid token may be signed with. */
void vd_issuer_keys_write(struct vd_buf *out, const struct vd_service_accounts *accounts);

#endif
