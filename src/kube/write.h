/* What the verbs that change something share. */
#ifndef VD_KUBE_WRITE_H
#define VD_KUBE_WRITE_H

#include "kube/decode.h"
#include "json/document.h"

/* The stored object, decoded; the wish is set to the condition that it is still
 * that. False: the call has been answered. */
bool vd_call_read_current(struct vd_call *call, struct vd_json **out) VD_MUST_USE;

/* A copy of the stored object, without what its schema has ceased to know since: nobody who
 * changes the rest is to blame for that. */
struct vd_json *vd_call_known(struct vd_call *call, const struct vd_json *old);

/* Makes the wish one that puts this object, with call->managed in it; its condition and
 * key stay. The object is good for nothing else afterwards. */
int vd_call_put(struct vd_call *call, struct vd_json *object, struct vd_error *error) VD_MUST_USE;

/* Checks, furnishes and proposes a new object. Ends the call. */
void vd_call_create_object(struct vd_call *call, struct vd_json *object);

/* Server-side apply: see apply.c. */
void vd_call_apply(struct vd_call *call);

/* The whole way of an update: checks the new object, keeps what it cannot change of the
 * old one, and proposes it. `is_put`: the client has sent all of it. */
void vd_call_write_new(struct vd_call *call, const struct vd_json *old, struct vd_json *object,
                       bool is_put);

/* A kind can demand that a write of status touches nothing else than status. False: it
 * does, and the call has been answered. */
bool vd_call_check_boundary(struct vd_call *call, const struct vd_json *object,
                            const struct vd_json *old) VD_MUST_USE;

/* Applies the request's body, a patch of this format, to the document. Not all formats
 * are patches: the caller has looked. */
int vd_call_apply_patch(struct vd_call *call, struct vd_json *doc, enum vd_body_format format,
                        struct vd_error *error) VD_MUST_USE;
void vd_call_reply_bad_patch(struct vd_call *call, int code, const struct vd_error *error);

/* Gives a proposal of the call's user to the store, or, in a dry run, only asks whether
 * the user may. False: it was refused, and the call has been answered. */
bool vd_call_admit(struct vd_call *call, struct vd_proposal *proposal) VD_MUST_USE;

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
