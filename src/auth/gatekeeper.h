/*
 * The gatekeeper: who is asking, and whether they may.
 *
 * A user is known by a client certificate, a bearer token of DIR/tokens, a ServiceAccount's token,
 * or a token of another issuer. What a user may do is said by RBAC, from the roles and bindings
 * that are in the store at the moment; a change to them is in force as soon as its commit is told.
 *
 * Every face holds a pointer to the server's one gatekeeper and asks it. Snapshots of tokens and
 * rules are swapped under a lock and asked without it. The user of a client certificate is found
 * once for a connection. That a bearer token is good is remembered for a while, by each loop for
 * itself, and forgotten as soon as an object goes that tokens are bound to.
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
    const char *folder;   /* with tokens and pki; NULL: no tokens of either sort */
    struct vd_loop *loop; /* where changes of roles are taken in */
    size_t loops_n;       /* that requests come on */
    const struct vd_clock *clock;
    const char *issuers; /* the file of issuers (auth/oidc.h); NULL: none but ourselves */
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

/* Hears of changes from now on. After the roles that must exist do. */
int vd_gatekeeper_start(struct vd_gatekeeper *gatekeeper, struct vd_error *error) VD_MUST_USE;

/*
 * The user behind a request: one reference in *out. VD_ERR_NOT_FOUND when it brings
 * no credential at all; any other code is a credential that is no good. On the
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

/* Whether the credential that the user came with is still good. Any thread. */
bool vd_gatekeeper_is_valid(struct vd_gatekeeper *gatekeeper, const struct vd_user *user);

/* A number, never 0, that changes when an answer of vd_gatekeeper_allows() or
 * vd_gatekeeper_is_valid() may have changed for another reason than time. Any thread. */
uint64_t vd_gatekeeper_version(struct vd_gatekeeper *gatekeeper);

/* A reference to the rules of this moment. Any thread. */
struct vd_rbac *vd_gatekeeper_rbac(struct vd_gatekeeper *gatekeeper) VD_MUST_USE;

/* Whether the rules follow the log; see vd_access_rules_are_current(). Any thread. */
bool vd_gatekeeper_is_current(const struct vd_gatekeeper *gatekeeper);

/* NULL: there are none. */
struct vd_issuers *vd_gatekeeper_issuers(const struct vd_gatekeeper *gatekeeper);

const struct vd_service_accounts *vd_gatekeeper_accounts(const struct vd_gatekeeper *gatekeeper);

#endif
