/* New objects, and new versions of them. */
#ifndef VD_KUBE_WRITE_H
#define VD_KUBE_WRITE_H

#include "kube/call.h"
#include "json/document.h"

/* Checks, furnishes and proposes a new object. Ends the call. */
void vd_call_create_object(struct vd_call *call, struct vd_json *object);

/* Server-side apply: see apply.c. */
void vd_call_apply(struct vd_call *call);

/* A copy of the stored object, without what its schema has ceased to know since: nobody who
 * changes the rest is to blame for that. */
struct vd_json *vd_call_known(struct vd_call *call, const struct vd_json *old);

/* The whole way of an update: checks the new object, keeps what it cannot change of the
 * old one, and proposes it. `is_put`: the client has sent all of it. */
void vd_call_write_new(struct vd_call *call, const struct vd_json *old, struct vd_json *object,
                       bool is_put);

/* ---- deletion ---- */

/* The request's DeleteOptions: its body or, without one, what its query says; sets
 * call->dry_run if they say so. False: the call has been answered. */
bool vd_call_delete_options(struct vd_call *call, struct vd_json **out) VD_MUST_USE;

/* How dependents are to be treated, for struct vd_deletion; borrowed. */
struct vd_slice vd_call_propagation(const struct vd_call *call, const struct vd_json *options);

#endif
