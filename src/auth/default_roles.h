/*
 * The roles and bindings that a new server has, with Kubernetes' names.
 *
 * cluster-admin, admin, edit and view for people; system:controllers for controllers (bound to the
 * group of that name); and the system: roles that clients need for discovery. They are documents
 * for the store: a server creates those that are missing at start, and brings those of an older
 * version up to date unless their annotation rbac.authorization.kubernetes.io/autoupdate was set to
 * "false".
 */
#ifndef VD_AUTH_DEFAULT_ROLES_H
#define VD_AUTH_DEFAULT_ROLES_H

#include "base/arena.h"
#include "json/document.h"

/* An array of ClusterRoles, followed by ClusterRoleBindings. */
struct vd_json *vd_default_roles(struct vd_arena *arena);

#endif
