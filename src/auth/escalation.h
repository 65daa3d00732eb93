/*
 * Privilege escalation: nobody can grant rights that he does not have.
 *
 * Who creates or updates a role must hold every right in it, or may `escalate` that role; who
 * creates or updates a binding must hold every right of the role that it refers to, or may `bind`
 * that role. This is checked in the namespace of the role or binding, as in Kubernetes, on every
 * write that changes more than ownerReferences or finalizers.
 */
#ifndef VD_AUTH_ESCALATION_H
#define VD_AUTH_ESCALATION_H

#include "auth/rbac.h"

enum vd_escalation {
    VD_ESCALATION_NONE,    /* go on */
    VD_ESCALATION_REFUSED, /* 403; the message says what is missing */
    VD_ESCALATION_NO_ROLE, /* 404: a binding to a role that does not exist */
};

/* `creating`: the request is a create, which has no name that a rule with resourceNames could
 * allow. The message, added to `why`, belongs after `roles.rbac.authorization.k8s.io "NAME" is
 * forbidden: `. */
enum vd_escalation vd_escalation_by_role(const struct vd_rbac *rbac, const struct vd_user *user,
                                         const struct vd_role *role, bool creating,
                                         struct vd_buf *why);

/* For VD_ESCALATION_NO_ROLE `why` is the whole message. */
enum vd_escalation vd_escalation_by_binding(const struct vd_rbac *rbac, const struct vd_user *user,
                                            const struct vd_binding *binding, struct vd_buf *why);

/* The same with the role that the binding refers to, as it is going to be; NULL: it will not exist.
 */
enum vd_escalation vd_escalation_by_binding_to(const struct vd_rbac *rbac,
                                               const struct vd_user *user,
                                               const struct vd_binding *binding,
                                               const struct vd_role *role, struct vd_buf *why);

#endif
