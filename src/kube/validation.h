/* Whether an object is valid, asked without holding the loop. */
#ifndef VD_KUBE_VALIDATION_H
#define VD_KUBE_VALIDATION_H

#include "kinds/violation.h"
#include "kube/call.h"
#include "json/document.h"

/*
 * Checks the schema and the rules of the call's kind, and calls `then`, on the loop, if nothing is
 * wrong: at once, or when a worker has done what takes too long for a turn. The object is then
 * a copy. Otherwise, and when the client has left, the call has ended. `old` is NULL for a new
 * object, and is the arena's.
 */
void vd_call_validate(struct vd_call *call, struct vd_json *object, const struct vd_json *old,
                      void (*then)(struct vd_call *call, struct vd_json *object));

/* The same for a kind whose objects are small, at once. False: the call has been answered. */
bool vd_call_check_valid(struct vd_call *call, const struct vd_kind *kind,
                         const struct vd_json *object) VD_MUST_USE;

/* 422 with all that is wrong. */
void vd_call_reply_invalid(struct vd_call *call, const struct vd_kind *kind,
                           const struct vd_json *object, const struct vd_violations *violations);

#endif
