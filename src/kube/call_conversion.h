/* A call that waits for a conversion webhook. */
#ifndef VD_KUBE_CALL_CONVERSION_H
#define VD_KUBE_CALL_CONVERSION_H

#include "api/conversion.h"
#include "kube/call.h"

/*
 * Has the body converted into the version of `to` and then calls `then` with the result, borrowed
 * for that call. If that fails the call is answered; if the client goes before, it is freed.
 * `revision` is that of the body, if it is stored; else 0.
 */
void vd_call_convert(struct vd_call *call, const struct vd_kind *to, struct vd_slice body,
                     uint64_t revision,
                     void (*then)(struct vd_call *call, struct vd_body *converted));

/* Answers with why a conversion has failed. */
void vd_call_reply_unconverted(struct vd_call *call, const struct vd_error *error);

#endif
