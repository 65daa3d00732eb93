/*
 * A call that changes an object: what the write (api/write.h) needs of the request, and the
 * answer that is made of its outcome.
 *
 *     static const struct vd_write_ops ops = VD_CALL_WRITE_OPS(.read = read);
 *     vd_call_write(call, VD_WRITE_CREATE, &ops);        ends the call
 */
#ifndef VD_KUBE_CALL_WRITE_H
#define VD_KUBE_CALL_WRITE_H

#include "kube/call.h"

#include "base/container_of.h"

/* The ops of a call's write, with a `read` or a `make`. */
#define VD_CALL_WRITE_OPS(...)                                                                     \
    {                                                                                              \
        .detach = vd_call_write_detach, .is_alone = vd_call_write_is_alone,                        \
        .done = vd_call_write_done, __VA_ARGS__                                                    \
    }

static inline struct vd_call *vd_call_of(struct vd_write *w)
{
    return VD_CONTAINER_OF(w, struct vd_call, write);
}

/* Makes the write and answers with what becomes of it. */
void vd_call_write(struct vd_call *call, enum vd_write_verb verb, const struct vd_write_ops *ops);

/* Keeps why the body cannot be read, or means nothing, for the answer: in call->refused. Always
 * false. Any thread that has the call. */
bool vd_call_refuse(struct vd_call *call, const struct vd_status *status);

/* The request's body, a document of this kind that is answered and never stored. False: it is none,
 * and the call has been answered. */
bool vd_call_read_question(struct vd_call *call, const struct vd_kind *kind,
                           struct vd_json **out) VD_MUST_USE;

/* The parameters fieldManager and force; `apply`: they are those of a server-side apply.
 * False: they are wrong, and the call has been answered. */
bool vd_call_check_manager(struct vd_call *call, bool apply) VD_MUST_USE;

/* Who the request is by, as the fields that it changes are recorded. */
struct vd_slice vd_call_manager(struct vd_call *call);

/* Server-side apply. */
void vd_call_apply(struct vd_call *call);

/* Answers that the object was deleted. */
void vd_call_reply_deleted(struct vd_call *call);

/* The kind will be gone soon: it takes no new objects. */
void vd_call_reply_terminating(struct vd_call *call);

/* The ops that all have. */
void vd_call_write_detach(struct vd_write *w);
bool vd_call_write_is_alone(struct vd_write *w);
void vd_call_write_done(struct vd_write *w);

#endif
