/*
 * Field managers: who a request's write is by, and the record of it in call->managed, which
 * kinds/field_tracking.h keeps.
 */
#ifndef VD_KUBE_FIELD_MANAGER_H
#define VD_KUBE_FIELD_MANAGER_H

#include "kinds/field_tracking.h"
#include "kube/call.h"
#include "json/document.h"

/* The parameters fieldManager and force; `apply`: they are those of a server-side apply.
 * False: they are wrong, and the call has been answered. */
bool vd_call_check_manager(struct vd_call *call, bool apply) VD_MUST_USE;

/* Who the call's write is by, and now; in the arena. */
struct vd_managed_who vd_call_manager(struct vd_call *call);

/*
 * Brings call->managed up to date with a write that makes `object` of `old` (NULL: a
 * new object). `given` is the list that the client has sent, NULL if it has not; at
 * a subresource it does not count. True if fields that can be owned differ.
 */
bool vd_call_track(struct vd_call *call, const struct vd_json *old, const struct vd_json *object,
                   const struct vd_json *given);

#endif
