/*
 * Kubernetes' role based access control: whether a user may do something.
 *
 * One thread keeps the roles and bindings in a struct vd_policy, puts each object there when it
 * changes, and takes a snapshot afterwards: a struct vd_rbac, immutable, shared by reference count,
 * which any thread may ask. Taking a snapshot costs a pass over all bindings; several changes
 * should share one.
 *
 * Everything is denied but what a rule allows. Members of system:masters are
 * allowed everything, whatever the rules say.
 */
#ifndef VD_AUTH_RBAC_H
#define VD_AUTH_RBAC_H

#include "auth/access.h"
#include "auth/role.h"

/* ---- the policy: roles and bindings, on one thread ---- */

struct vd_policy;

struct vd_policy *vd_policy_new(void) VD_MUST_USE;
void vd_policy_free(struct vd_policy *policy); /* NULL allowed; snapshots stay valid */

/*
 * Takes in a Role, ClusterRole, RoleBinding or ClusterRoleBinding, in place of the one with the
 * same name. VD_ERR_INVALID: it is of another kind or cannot be read; if it has a name, the object
 * that it should replace is removed all the same, so that a mistake grants nothing.
 */
int vd_policy_put(struct vd_policy *policy, const struct vd_json *object,
                  struct vd_error *error) VD_MUST_USE;

/* Removes an object. False when there was none. */
bool vd_policy_remove(struct vd_policy *policy, struct vd_slice kind, struct vd_slice namespace,
                      struct vd_slice name);

/* ---- the snapshot ---- */

struct vd_rbac;

/* A snapshot of the policy at this moment, with one reference. */
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

/* The rules of a role that a user has through one binding and one of its subjects. */
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
