/* What a request says of how to delete. */
#ifndef VD_KUBE_DELETE_OPTIONS_H
#define VD_KUBE_DELETE_OPTIONS_H

#include "kube/call.h"
#include "json/document.h"

/* The request's DeleteOptions: its body or, without one, what its query says; sets the write's
 * dry_run if they say so. False: the call has been answered. */
bool vd_call_delete_options(struct vd_call *call, struct vd_json **out) VD_MUST_USE;

/* How dependents are to be treated; borrowed. */
struct vd_slice vd_call_propagation(const struct vd_call *call, const struct vd_json *options);

#endif
