/*
 * The gatekeeper: who is asking, and whether they may.
 *
 * Who: a client certificate, a bearer token of DIR/tokens, a ServiceAccount's token, or
 * that of an issuer elsewhere. May they: RBAC, from the roles and bindings that are in the store at
 * the moment; a change to them is in force as soon as its commit is told.
 *
 * Snapshots of tokens and rules are swapped under a lock and asked without it. Whom a
 * certificate stands for is found out once for a connection; that a ServiceAccount's token
 * is good is remembered for a while, by each loop for itself, and forgotten as soon as an
 * object goes that tokens are bound to.
 */
#ifndef VD_SERVER_GATEKEEPER_H
#define VD_SERVER_GATEKEEPER_H

#include "auth/rbac.h"
#include "auth/service_account.h"
#include "kube/call.h"
#include "server/issuers.h"

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

/* Hears of changes from now on. After the roles that must exist do. */
int vd_gatekeeper_start(struct vd_gatekeeper *gatekeeper, struct vd_error *error) VD_MUST_USE;

/*
 * The user behind a request: one reference in *out. VD_ERR_NOT_FOUND when it brings
 * no credential at all; any other code is a credential that is no good. On the
 * exchange's loop.
 */
int vd_gatekeeper_identify(struct vd_gatekeeper *gatekeeper, struct vd_exchange *x,
                           struct vd_user **out, struct vd_error *error) VD_MUST_USE;

/* For struct vd_kube: `arg` is the gatekeeper. */
bool vd_gatekeeper_allows(void *arg, const struct vd_access *access, struct vd_buf *reason);
uint64_t vd_gatekeeper_version(void *arg);
bool vd_gatekeeper_stands(void *arg, const struct vd_user *user);
struct vd_rbac *vd_gatekeeper_rbac(void *arg) VD_MUST_USE;

/* Whether the rules follow the log; see vd_access_rules_are_current(). Any thread. */
bool vd_gatekeeper_is_current(const struct vd_gatekeeper *gatekeeper);

int vd_gatekeeper_identify_token(void *arg, struct vd_slice token, struct vd_user **out,
                                 struct vd_error *error) VD_MUST_USE;

/* NULL: there are none. */
struct vd_issuers *vd_gatekeeper_issuers(const struct vd_gatekeeper *gatekeeper);

const struct vd_service_accounts *vd_gatekeeper_accounts(const struct vd_gatekeeper *gatekeeper);

#endif
