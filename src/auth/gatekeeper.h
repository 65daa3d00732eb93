/*
 * The gatekeeper: who is asking, and whether they may.
 *
 * A user is identified by a client certificate, a bearer token of DIR/tokens, a ServiceAccount's
 * token, or a token of another issuer. RBAC decides what a user may do, by the roles and bindings
 * in the store; a change to them is in force as soon as the informer has told of its commit.
 *
 * Every face holds a pointer to the server's one gatekeeper and asks it. Snapshots of tokens and
 * rules are swapped under a lock and asked without it. The user of a client certificate is found
 * once for a connection. Each loop remembers for a while which bearer tokens are valid, and forgets
 * all of them as soon as an object is deleted that tokens may be bound to.
 */
#ifndef VD_AUTH_GATEKEEPER_H
#define VD_AUTH_GATEKEEPER_H

#include "auth/issuers.h"
#include "auth/rbac.h"
#include "auth/service_account.h"
#include "net/exchange.h"
#include "store/store.h"

struct vd_gatekeeper;

struct vd_gatekeeper_options {
    struct vd_store *store;
    const char *folder;   /* the data folder, with tokens and pki; NULL: neither bearer tokens nor
                             ServiceAccount tokens */
    struct vd_loop *loop; /* the loop on which changes of roles are taken in */
    size_t loops_n;       /* how many loops handle requests */
    const struct vd_clock *clock;
    const char *issuers; /* the file of issuers (auth/oidc.h); NULL: none but this server */
};

int vd_gatekeeper_new(struct vd_gatekeeper **out, const struct vd_gatekeeper_options *options,
                      struct vd_error *error) VD_MUST_USE;
void vd_gatekeeper_free(struct vd_gatekeeper *gatekeeper); /* NULL allowed */

/*
 * A gatekeeper whose rules are given and not read from a store: for tests and for tools that have
 * no store. It knows no tokens, takes a reference to the rules, and is not started.
 */
struct vd_gatekeeper *vd_gatekeeper_new_fixed(struct vd_rbac *rules,
                                              const struct vd_clock *clock) VD_MUST_USE;

/* Puts other rules in the place of those that were given. Any thread. */
void vd_gatekeeper_fix(struct vd_gatekeeper *gatekeeper, struct vd_rbac *rules);

/* Follows changes from now on. To be called when the default roles exist. */
int vd_gatekeeper_start(struct vd_gatekeeper *gatekeeper, struct vd_error *error) VD_MUST_USE;

/*
 * The user who sends a request: one reference in *out. VD_ERR_NOT_FOUND when the request has no
 * credential at all; any other code means that its credential is not valid. To be called on the
 * exchange's loop.
 */
int vd_gatekeeper_identify(struct vd_gatekeeper *gatekeeper, struct vd_exchange *x,
                           struct vd_user **out, struct vd_error *error) VD_MUST_USE;

/* The user of a bearer token, in the same way. Any thread. */
int vd_gatekeeper_identify_token(struct vd_gatekeeper *gatekeeper, struct vd_slice token,
                                 struct vd_user **out, struct vd_error *error) VD_MUST_USE;

/* Whether the user may do this. Adds the reason, for people, to *reason. Any thread. */
bool vd_gatekeeper_allows(struct vd_gatekeeper *gatekeeper, const struct vd_access *access,
                          struct vd_buf *reason);

/* Whether the user's credential is still valid. Any thread. */
bool vd_gatekeeper_is_valid(struct vd_gatekeeper *gatekeeper, const struct vd_user *user);

/* A number, never 0, that changes when an answer of vd_gatekeeper_allows() or
 * vd_gatekeeper_is_valid() may have changed; that a credential expires does not change it. Any
 * thread. */
uint64_t vd_gatekeeper_version(struct vd_gatekeeper *gatekeeper);

/* A reference to the rules of this moment. Any thread. */
struct vd_rbac *vd_gatekeeper_rbac(struct vd_gatekeeper *gatekeeper) VD_MUST_USE;

/* Whether the rules follow the log; see vd_access_rules_are_current(). Any thread. */
bool vd_gatekeeper_is_current(const struct vd_gatekeeper *gatekeeper);

/* The issuers whose tokens are accepted, or NULL. */
struct vd_issuers *vd_gatekeeper_issuers(const struct vd_gatekeeper *gatekeeper);

const struct vd_service_accounts *vd_gatekeeper_accounts(const struct vd_gatekeeper *gatekeeper);

#endif
