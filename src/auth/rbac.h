/*
 * May you: Kubernetes' role based access control.
 *
 * The owner of the roles (one thread) keeps them in a struct vd_policy, fed
 * with each object as it changes, and takes a snapshot afterwards: a struct
 * vd_rbac, immutable, shared by reference count, asked by any thread. Taking
 * one costs a pass over all bindings; a burst of changes should share one.
 *
 * Everything is denied but what a rule allows. Members of system:masters are
 * allowed everything, whatever the rules say.
 */
#ifndef VD_AUTH_RBAC_H
#define VD_AUTH_RBAC_H

#include "auth/access.h"
#include "auth/role.h"

/* ---- the owner's side ---- */

struct vd_policy;

struct vd_policy *vd_policy_new(void) VD_MUST_USE;
void vd_policy_free(struct vd_policy *policy); /* NULL is fine; snapshots stay */

/*
 * Takes in a Role, ClusterRole, RoleBinding or ClusterRoleBinding, in place of
 * the one with the same name. VD_ERR_INVALID: another kind, or one that cannot
 * be read; if it has a name, the one it should replace is gone, so that a
 * mistake grants nothing.
 */
int vd_policy_put(struct vd_policy *policy, const struct vd_json *object,
                  struct vd_error *error) VD_MUST_USE;

/* False when there was none. */
bool vd_policy_remove(struct vd_policy *policy, struct vd_slice kind, struct vd_slice namespace,
                      struct vd_slice name);

/* ---- the snapshot ---- */

struct vd_rbac;

/* What the policy says at this moment. One reference. */
struct vd_rbac *vd_policy_snapshot(const struct vd_policy *policy) VD_MUST_USE;
struct vd_rbac *vd_rbac_ref(struct vd_rbac *rbac);
void vd_rbac_unref(struct vd_rbac *rbac); /* NULL is fine */

/* Whether the request is allowed. */
bool vd_rbac_allows(const struct vd_rbac *rbac, const struct vd_access *access);

/*
 * The same with the reason, as Kubernetes words it, added to `reason`: of the
 * binding that allows ("RBAC: allowed by ClusterRoleBinding ..."), or of roles
 * that are bound but missing ("RBAC: clusterrole... not found"); often nothing.
 */
bool vd_rbac_decide(const struct vd_rbac *rbac, const struct vd_access *access,
                    struct vd_buf *reason);

/* A role's rules given to a user, by one binding and subject of it. */
struct vd_grant {
    const struct vd_binding *binding;
    const struct vd_subject *subject;
    const struct vd_role *role; /* NULL: there is no such role */
};

/* Calls `visit` for each grant to the user, cluster-wide ones first, then those
 * in the namespace (unless that is empty), until it returns false. */
void vd_rbac_each_grant(const struct vd_rbac *rbac, const struct vd_user *user,
                        struct vd_slice namespace,
                        bool (*visit)(void *arg, const struct vd_grant *grant), void *arg);

/* The role that is referred to from a binding in this namespace, or NULL. */
const struct vd_role *vd_rbac_role(const struct vd_rbac *rbac, bool cluster_role,
                                   struct vd_slice namespace, struct vd_slice name);

/* The status of a SelfSubjectRulesReview: all rules of the user that hold in the
 * namespace. In the arena; its texts are borrowed from the snapshot. */
struct vd_json *vd_rbac_rules_review(const struct vd_rbac *rbac, const struct vd_user *user,
                                     struct vd_slice namespace, struct vd_arena *arena);

#endif
