/*
 * Impersonation: a request that is to be answered as if somebody else had sent it.
 *
 *     Impersonate-User: ann                     kubectl --as=ann
 *     Impersonate-Group: dev                    --as-group=dev, as often as there are groups
 *     Impersonate-Uid: 7c0e                     --as-uid=7c0e
 *     Impersonate-Extra-scopes: view            values of the user's extra "scopes"
 *
 * Each of these needs the verb `impersonate` on what it names: the user (or, for a name
 * like system:serviceaccount:NS:NAME, the ServiceAccount), every group, the uid and every
 * value of an extra. As in Kubernetes; any thread.
 */
#ifndef VD_AUTH_IMPERSONATION_H
#define VD_AUTH_IMPERSONATION_H

#include "auth/rbac.h"
#include "net/http_head.h"

/*
 * Whom the headers name: name, uid, groups and extra of *out, in the arena; no name: they
 * name nobody. VD_ERR_INVALID: they make no sense.
 */
int vd_impersonation_read(struct vd_identity *out, struct vd_arena *arena,
                          const struct vd_http_head *head, struct vd_error *error) VD_MUST_USE;

/* Whether `by` may speak for them. If not, *refused is what it would take, borrowed from
 * the other two, and *reason what RBAC says. */
bool vd_impersonation_allowed(const struct vd_rbac *rbac, const struct vd_user *by,
                              const struct vd_identity *who, struct vd_access *refused,
                              struct vd_buf *reason);

/* Them, with the groups that their name brings with it; `user->is.by` is who speaks. The
 * user ends with that credential. */
struct vd_user *vd_impersonation_user(struct vd_user *by, const struct vd_identity *who,
                                      struct vd_arena *arena) VD_MUST_USE;

/* Whether the one who speaks for this user still may. */
bool vd_impersonation_is_valid(const struct vd_rbac *rbac, const struct vd_user *user);

#endif
