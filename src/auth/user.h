/*
 * An identity: who a request comes from, as Kubernetes' user.Info.
 *
 * Made by an authenticator, immutable afterwards, shared by reference count
 * between a connection, its requests and its streams, on any thread.
 */
#ifndef VD_AUTH_USER_H
#define VD_AUTH_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/refcount.h"
#include "base/slice.h"

#define VD_GROUP_AUTHENTICATED   "system:authenticated"
#define VD_GROUP_UNAUTHENTICATED "system:unauthenticated"
#define VD_GROUP_MASTERS         "system:masters"
#define VD_USER_ANONYMOUS        "system:anonymous"
#define VD_EXTRA_CREDENTIAL_ID   "authentication.kubernetes.io/credential-id"

enum vd_auth_method {
    VD_AUTH_ANONYMOUS,
    VD_AUTH_TOKEN,
    VD_AUTH_SERVICE_ACCOUNT,
    VD_AUTH_CERTIFICATE,
    VD_AUTH_OIDC,
    VD_AUTH_IMPERSONATION, /* impersonated by another user: see `impersonator` */
};

/* "token", for logs and metrics. */
const char *vd_auth_method_name(enum vd_auth_method method);

struct vd_user_extra {
    struct vd_slice key;
    const struct vd_slice *values;
    size_t values_n;
};

/* An object that a token names. `resource` is "serviceaccounts", "secrets",
 * "pods" or "nodes"; nodes have no namespace. */
struct vd_bound_object {
    struct vd_slice resource;
    struct vd_slice namespace;
    struct vd_slice name;
    struct vd_slice uid;
};

struct vd_user;

/* The fields of a user. */
struct vd_identity {
    struct vd_slice name;
    struct vd_slice uid; /* may be empty */
    const struct vd_slice *groups;
    size_t groups_n;
    const struct vd_user_extra *extra;
    size_t extra_n;
    enum vd_auth_method method;
    int64_t expires_ms; /* wall clock; 0: never. The user's streams end at that time. */
    /* Names the credential without revealing it: "TOKEN=3f..", "JTI=..", "X509SHA256=..". While a
     * stream lives, its credential is checked again by this id. */
    struct vd_slice credential_id;
    struct vd_bound_object bound; /* what the credential is bound to; no resource: to nothing */
    /* Which issuer and key vouch for a token from elsewhere (auth/oidc.h); for checking it again
     * while a stream lives. */
    struct vd_slice signer;
    /* The user who impersonates this one (auth/impersonation.h); a reference is taken. NULL: nobody
     * does. */
    struct vd_user *impersonator;
};

struct vd_user {
    struct vd_identity is;
    /* private */
    bool masters;
    struct vd_refcount count;
    struct vd_arena arena;
};

/*
 * A user with one reference; everything in *identity is copied. Groups that
 * come twice are kept once. Unless the method is anonymous the user is also in
 * system:authenticated, and a credential id is also the extra
 * authentication.kubernetes.io/credential-id.
 */
struct vd_user *vd_user_new(const struct vd_identity *identity) VD_MUST_USE;

/* system:anonymous, in system:unauthenticated. */
struct vd_user *vd_user_new_anonymous(void) VD_MUST_USE;

/* Gives the user back, with one more reference. */
struct vd_user *vd_user_ref(struct vd_user *user);
void vd_user_unref(struct vd_user *user); /* NULL is fine */

bool vd_user_in_group(const struct vd_user *user, struct vd_slice group);

/* Whether the user is in system:masters, to whom nothing is refused. Takes constant time. */
static inline bool vd_user_is_master(const struct vd_user *user)
{
    return user->masters;
}

/* Whether the credential has expired at `now_ms`. */
static inline bool vd_user_has_expired(const struct vd_user *user, int64_t now_ms)
{
    return user->is.expires_ms && now_ms >= user->is.expires_ms;
}

/* Whether both are the same person with the same rights: name, uid, groups and extra are equal, in
 * the same order. */
bool vd_user_eq(const struct vd_user *a, const struct vd_user *b);

#endif
