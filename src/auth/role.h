/*
 * Roles and bindings, decoded from the objects of rbac.authorization.k8s.io/v1.
 *
 * Immutable, shared by reference count, independent of the JSON they came from.
 */
#ifndef VD_AUTH_ROLE_H
#define VD_AUTH_ROLE_H

#include "auth/rule.h"
#include "base/refcount.h"

#define VD_RBAC_GROUP "rbac.authorization.k8s.io"

/* A Role (it has a namespace) or a ClusterRole (it has none). */
struct vd_role {
    struct vd_slice namespace, name;
    const struct vd_rule *rules;
    size_t rules_n;
    /* private */
    struct vd_refcount count;
    struct vd_arena arena;
};

enum vd_subject_kind {
    VD_SUBJECT_USER,
    VD_SUBJECT_GROUP,
    VD_SUBJECT_SERVICE_ACCOUNT,
};

struct vd_subject {
    enum vd_subject_kind kind;
    struct vd_slice namespace, name; /* a ServiceAccount's namespace: its own, or the binding's */
    /* What the user's name or group is compared with: the name, or for a ServiceAccount
     * "system:serviceaccount:NAMESPACE:NAME". */
    struct vd_slice matches;
};

/* A RoleBinding (it has a namespace) or a ClusterRoleBinding (it has none). */
struct vd_binding {
    struct vd_slice namespace, name;
    bool to_cluster_role; /* roleRef.kind */
    struct vd_slice role_name;
    const struct vd_subject *subjects; /* subjects of unknown kinds are left out */
    size_t subjects_n;
    /* private */
    struct vd_refcount count;
    struct vd_arena arena;
};

/* From a Role or ClusterRole. VD_ERR_INVALID: no name, or rules that cannot be
 * read. One reference. */
int vd_role_from_json(struct vd_role **out, const struct vd_json *object,
                      struct vd_error *error) VD_MUST_USE;
struct vd_role *vd_role_ref(struct vd_role *role);
void vd_role_unref(struct vd_role *role); /* NULL is fine */

/* From a RoleBinding or ClusterRoleBinding. */
int vd_binding_from_json(struct vd_binding **out, const struct vd_json *object,
                         struct vd_error *error) VD_MUST_USE;
struct vd_binding *vd_binding_ref(struct vd_binding *binding);
void vd_binding_unref(struct vd_binding *binding); /* NULL is fine */

/* Adds `RoleBinding "name/namespace" of ClusterRole "role" to User "x"`. */
void vd_binding_add_text(struct vd_buf *out, const struct vd_binding *binding,
                         const struct vd_subject *subject);

#endif
