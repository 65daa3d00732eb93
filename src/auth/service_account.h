/*
 * ServiceAccount tokens, as Kubernetes issues them through TokenRequest: signed JSON web tokens
 * that expire, and become invalid earlier when an object is deleted that they are bound to.
 *
 *     {"aud":["https://kubernetes.default.svc.cluster.local"],"exp":1794739190,
 *      "iat":1794735590,"iss":"https://kubernetes.default.svc.cluster.local",
 *      "jti":"0c1d...","kubernetes.io":{"namespace":"default","serviceaccount":
 *      {"name":"builder","uid":"9a..."}},"nbf":1794735590,
 *      "sub":"system:serviceaccount:default:builder"}
 *
 * A struct vd_service_accounts is immutable; any thread may issue and verify.
 */
#ifndef VD_AUTH_SERVICE_ACCOUNT_H
#define VD_AUTH_SERVICE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auth/signing_key.h"
#include "auth/user.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"

#define VD_SERVICE_ACCOUNT_ISSUER_DEFAULT "https://kubernetes.default.svc.cluster.local"

enum {
    VD_SERVICE_ACCOUNT_EXPIRY_DEFAULT_S =
        3600, /* seconds until a token expires, unless the request says otherwise */
    VD_SERVICE_ACCOUNT_EXPIRY_MIN_S = 600, /* the fewest seconds that a request may ask for */
};

struct vd_service_accounts_options {
    struct vd_slice issuer; /* empty: the default above */
    /* The first key signs and must be private; the others only verify. A
     * reference is taken to each. */
    struct vd_signing_key *const *keys;
    size_t keys_n;
    /* The server's own audiences; none: the issuer. */
    const struct vd_slice *audiences;
    size_t audiences_n;
    /* Whether this very object, with this uid, exists. One that is being deleted and waits for its
     * finalizers does.
     * Called on the verifying thread; must not block. */
    bool (*exists)(void *arg, const struct vd_bound_object *object);
    void *arg;
};

struct vd_service_accounts;

/* Copies the options. VD_ERR_INVALID: no key that can sign. */
int vd_service_accounts_new(struct vd_service_accounts **out,
                            const struct vd_service_accounts_options *options,
                            struct vd_error *error) VD_MUST_USE;
void vd_service_accounts_free(struct vd_service_accounts *accounts); /* NULL is fine */

/* The issuer that the tokens name; borrowed. */
struct vd_slice vd_service_accounts_issuer(const struct vd_service_accounts *accounts);

/* The keys that a valid token may be signed with; borrowed. */
struct vd_signing_key *const *vd_service_accounts_keys(const struct vd_service_accounts *accounts,
                                                       size_t *n);

struct vd_token_request {
    struct vd_slice namespace, name, uid; /* of the ServiceAccount */
    const struct vd_slice *audiences;     /* none: the server's own */
    size_t audiences_n;
    int64_t expiry_s;             /* 0: the default */
    struct vd_bound_object bound; /* resource empty: none; its namespace is the account's */
    int64_t now_ms;
};

/* Adds the token. *expires_ms is when it expires. VD_ERR_INVALID: the expiry is out of bounds, or
 * the bound object is of another kind. */
int vd_service_account_issue(const struct vd_service_accounts *accounts,
                             const struct vd_token_request *request, struct vd_buf *token,
                             int64_t *expires_ms, struct vd_error *error) VD_MUST_USE;

/*
 * The user whom a token stands for, with a reference for the caller. The token has to be for one of
 * `audiences` (none: the server's own). VD_ERR_NOT_FOUND: it is not a token of this issuer; another
 * authenticator may know it. VD_ERR_EXPIRED, VD_ERR_LIMIT, VD_ERR_INVALID: refused; the sentence
 * may be logged, and shown to whoever sent the token.
 */
int vd_service_account_authenticate(const struct vd_service_accounts *accounts,
                                    struct vd_slice token, const struct vd_slice *audiences,
                                    size_t audiences_n, int64_t now_ms, struct vd_user **out,
                                    struct vd_error *error) VD_MUST_USE;

/* Adds "system:serviceaccount:NAMESPACE:NAME". */
void vd_service_account_user_name(struct vd_buf *out, struct vd_slice namespace,
                                  struct vd_slice name);

#endif
