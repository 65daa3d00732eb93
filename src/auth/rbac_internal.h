/* What policy.c, which keeps the objects, and rbac.c, which indexes them, share. */
#ifndef VD_AUTH_RBAC_INTERNAL_H
#define VD_AUTH_RBAC_INTERNAL_H

#include "auth/rbac.h"
#include "base/hash_map.h"

/* A role or a binding; the other one is NULL. */
struct vd_policy_object {
    struct vd_buf key;
    struct vd_role *role;
    struct vd_binding *binding;
};

/* A snapshot of a map of struct vd_policy_object. */
struct vd_rbac *vd_rbac_build(const struct vd_hash_map *objects);

#endif
