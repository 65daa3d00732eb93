/*
 * Impersonation: a request that is to be answered as if somebody else had sent it.
 *
 *     Impersonate-User: ann                     kubectl --as=ann
 *     Impersonate-Group: dev                    --as-group=dev, as often as there are groups
 *     Impersonate-Uid: 7c0e                     --as-uid=7c0e
 *     Impersonate-Extra-scopes: view            values of the user's extra "scopes"
 *
 * Each of these needs the verb `impersonate` on what it names: the user (or, for a name like
 * system:serviceaccount:NS:NAME, the ServiceAccount), every group, the uid and every value of an
 * extra. This is as in Kubernetes. Any thread may call these functions.
 */
#ifndef VD_AUTH_IMPERSONATION_H
#define VD_AUTH_IMPERSONATION_H

#include "auth/rbac.h"
#include "net/http_head.h"

/*
 * Reads the headers of a request into name, uid, groups and extra of *out, in the arena; the name
 * is empty if nobody is impersonated. VD_ERR_INVALID: the headers make no sense.
 */
int vd_impersonation_read(struct vd_identity *out, struct vd_arena *arena,
                          const struct vd_http_head *head, struct vd_error *error) VD_MUST_USE;

/* Whether `by` may impersonate `who`. If not, *refused is the access that `by` would need, borrowed
 * from `by` and `who`, and *reason is what RBAC says. */
bool vd_impersonation_allowed(const struct vd_rbac *rbac, const struct vd_user *by,
                              const struct vd_identity *who, struct vd_access *refused,
                              struct vd_buf *reason);

/* The impersonated user, with the groups that follow from the name; `is.impersonator` is `by`. The
 * user expires with the credential of `by`. */
struct vd_user *vd_impersonation_user(struct vd_user *by, const struct vd_identity *who,
                                      struct vd_arena *arena) VD_MUST_USE;

/* Whether the user's impersonator still may impersonate this user. */
bool vd_impersonation_is_valid(const struct vd_rbac *rbac, const struct vd_user *user);

#endif
