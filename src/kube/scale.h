/*
 * The scale subresource: autoscaling/v1 Scale in front of a number in the object.
 */
#ifndef VD_KUBE_SCALE_H
#define VD_KUBE_SCALE_H

#include "base/arena.h"
#include "kinds/kind.h"
#include "kube/call.h"

/* The Scale of an object, as JSON in the arena. A number that is not there is 0. */
struct vd_slice vd_scale_of(const struct vd_kind *kind, struct vd_slice body, struct vd_arena *a);

void vd_call_scale_get(struct vd_call *call);
void vd_call_scale_update(struct vd_call *call);
void vd_call_scale_patch(struct vd_call *call);

/* A Scale that is applied, as a configuration of the object that has nothing but the number.
 * False: it is none, and call->refused says why. */
bool vd_scale_config(struct vd_call *call, const struct vd_json *scale,
                     struct vd_json **config) VD_MUST_USE;

#endif
