/*
 * Tokens of other issuers (OpenID Connect): which issuers are trusted, and which user a token
 * names.
 *
 * The issuers stand in a file, Kubernetes' AuthenticationConfiguration, with two fields of our own
 * (jwksFile, jwksURL) and without CEL expressions:
 *
 *     apiVersion: apiserver.config.k8s.io/v1
 *     kind: AuthenticationConfiguration
 *     jwt:
 *     - issuer:
 *         url: https://issuer.example
 *         audiences: [vedette]
 *       claimValidationRules:
 *       - {claim: hd, requiredValue: example.com}
 *       claimMappings:
 *         username: {claim: email, prefix: "oidc:"}
 *         groups: {claim: groups, prefix: "oidc:"}
 *
 * Everything is immutable, and any thread may use it. auth/issuers.h fetches the keys.
 */
#ifndef VD_AUTH_OIDC_H
#define VD_AUTH_OIDC_H

#include <stdint.h>

#include "auth/jwk.h"
#include "auth/jwt.h"
#include "auth/user.h"
#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/refcount.h"

struct vd_required_claim {
    struct vd_slice claim, value;
};

struct vd_oidc_issuer {
    struct vd_slice url;
    /* Where its keys are: a file, a URL, or what the document at discovery_url names. */
    struct vd_slice jwks_file, jwks_url, discovery_url;
    struct vd_slice ca_pem; /* the CAs for its TLS certificate; empty: the system's */
    const struct vd_slice *audiences;
    size_t audiences_n;
    struct vd_slice username_claim, username_prefix;
    struct vd_slice groups_claim, groups_prefix; /* claim empty: no groups */
    struct vd_slice uid_claim;                   /* empty: none */
    const struct vd_required_claim *required;
    size_t required_n;
    int64_t skew_ms;
    struct vd_slice fingerprint; /* a hash of the fields: equal issuers accept the same users */
};

/* Shared by reference count. */
struct vd_oidc_config {
    struct vd_oidc_issuer *issuers;
    size_t n;
    struct vd_arena arena;
    struct vd_refcount count;
};

/* Reads the file, and the CA files that it names. The error names the line. Blocks on the file. */
int vd_oidc_config_load(struct vd_oidc_config **out, const char *path,
                        struct vd_error *error) VD_MUST_USE;
/* The same of a text; `name` stands in messages. */
int vd_oidc_config_parse(struct vd_oidc_config **out, const char *name, struct vd_slice text,
                         struct vd_error *error) VD_MUST_USE;

struct vd_oidc_config *vd_oidc_config_ref(struct vd_oidc_config *config);
void vd_oidc_config_unref(struct vd_oidc_config *config); /* NULL is fine */

/* The issuer with this URL, or NULL. */
const struct vd_oidc_issuer *vd_oidc_config_find(const struct vd_oidc_config *config,
                                                 struct vd_slice url);

/* Whether a URL may be asked for keys: https, or plain http on this machine. */
bool vd_oidc_url_is_safe(struct vd_slice url);

/*
 * Where a discovery document says that the keys are, copied into the arena. VD_ERR_INVALID: it does
 * not say so, it is another issuer's document, or the URL is not safe.
 */
int vd_oidc_discover(const struct vd_oidc_issuer *issuer, struct vd_slice document,
                     struct vd_arena *arena, struct vd_slice *jwks_url,
                     struct vd_error *error) VD_MUST_USE;

/*
 * The user whom the issuer's token names: one reference in *out. The token must have been parsed;
 * this verifies it. Names and groups that begin with "system:" are the server's own: such a name is
 * refused, such a group left out.
 */
int vd_oidc_authenticate(const struct vd_oidc_issuer *issuer, const struct vd_key_set *keys,
                         struct vd_jwt *jwt, int64_t now_ms, struct vd_user **out,
                         struct vd_error *error) VD_MUST_USE;

/* Whether a user of vd_oidc_authenticate() would still be accepted from this issuer with these
 * keys, apart from the token's times. */
bool vd_oidc_user_is_valid(const struct vd_oidc_issuer *issuer, const struct vd_key_set *keys,
                           const struct vd_user *user);

#endif
