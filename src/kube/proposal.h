/* What is stored, and what is proposed to be: the verbs that change something share this. */
#ifndef VD_KUBE_PROPOSAL_H
#define VD_KUBE_PROPOSAL_H

#include "kube/call.h"
#include "json/document.h"

/* The stored object, decoded, in the call's version, or, with call->as_stored, in its own; the wish
 * is set to the condition that it is still that. False: the call has been answered, or waits for a
 * webhook and begins again with call->write. */
bool vd_call_read_current(struct vd_call *call, struct vd_json **out) VD_MUST_USE;

/* Makes the wish one that puts this object, in the version that is stored and with call->managed in
 * it, and proposes it; its condition and key stay. With call->finishes the object goes. */
void vd_call_store(struct vd_call *call, struct vd_json *object);

/* Answers that the object was deleted. */
void vd_call_reply_deleted(struct vd_call *call);

/* Asks whether the call's user may make these changes. NULL: the user may not, and the call has
 * been answered. */
struct vd_admitted *vd_call_admit(struct vd_call *call, struct vd_proposal *proposal) VD_MUST_USE;

/* Proposes the call's wish and answers when the store has: with the object that was
 * put, or, if call->deletes, with a Status. call->write is tried again when
 * somebody else was faster. */
void vd_call_propose(struct vd_call *call);

#endif
