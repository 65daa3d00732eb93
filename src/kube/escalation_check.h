/* Nobody gives away rights that they do not have: writes of roles and bindings. */
#ifndef VD_KUBE_ESCALATION_CHECK_H
#define VD_KUBE_ESCALATION_CHECK_H

#include "kube/call.h"
#include "json/document.h"

/* Whether the user may write this object, if it is a role or a binding; any other
 * object may be. False: the call has been answered. */
bool vd_call_check_escalation(struct vd_call *call, const struct vd_json *object, bool creating);

#endif
