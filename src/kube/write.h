/* What the verbs that change something share. */
#ifndef VD_KUBE_WRITE_H
#define VD_KUBE_WRITE_H

#include "kube/call.h"
#include "json/document.h"

/* The stored object, decoded; the wish is set to the condition that it is still
 * that. False: the call has been answered. */
bool vd_call_read_current(struct vd_call *call, struct vd_json **out) VD_MUST_USE;

/* Makes the wish one that puts this object; its condition and key stay. */
int vd_call_put(struct vd_call *call, const struct vd_json *object,
                struct vd_error *error) VD_MUST_USE;

/* Proposes the call's wish and answers when the store has: with the object that was
 * put, or, if call->deletes, with a Status. call->write is tried again when
 * somebody else was faster. */
void vd_call_propose(struct vd_call *call);

/* Whether a body that is answered and never stored is a document of this kind: then it is an
 * object with what the schema demands. False: the call has been answered. */
bool vd_call_check_question(struct vd_call *call, const struct vd_kind *kind,
                            struct vd_json *object) VD_MUST_USE;

/* ---- deletion ---- */

/* The request's DeleteOptions, NULL if there are none; sets call->dry_run if they say
 * so. False: the call has been answered. */
bool vd_call_delete_options(struct vd_call *call, struct vd_json **out) VD_MUST_USE;

/* How dependents are to be treated, for vd_deletion_propagate(); borrowed. */
struct vd_slice vd_call_propagation(const struct vd_call *call, const struct vd_json *options);

#endif
