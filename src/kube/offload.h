/*
 * Answers that take too long for a turn of the loop: a worker's thread makes them.
 *
 *     vd_call_offload(call, show);  it has turned out to be too much: again, by a worker
 *
 * While a worker has the call (`away` is not NULL), the loop does not touch it, and its exchange
 * may end. The work does there what it does on the loop, with these differences: the request is a
 * copy, and the answer is kept and given later. Users share the workers: see worker_pool.h. What a
 * webhook converts stays on the loop, to which the webhook answers; there such a call waits for it,
 * and no worker has it. What a write needs of the workers is in src/api/write.
 */
#ifndef VD_KUBE_OFFLOAD_H
#define VD_KUBE_OFFLOAD_H

#include "kube/call.h"

struct vd_audit_answer;

/* The request's body and two of its headers, wherever the call is made; p is NULL for a header
 * that it does not have. */
struct vd_slice vd_call_body(const struct vd_call *call);
struct vd_slice vd_call_content_type(const struct vd_call *call);
struct vd_slice vd_call_user_agent(const struct vd_call *call);

/* Copies them: the request's bytes go when the client does. Once; on the loop. */
void vd_call_copy_request(struct vd_call *call);

/* How much may be done where the call is made: little on the loop, if a worker can have it. */
struct vd_effort vd_call_effort(const struct vd_call *call);

/* Whether so many bytes are too many for the loop, on which the call is, and a worker can have it.
 */
bool vd_call_is_too_long_here(const struct vd_call *call, size_t len);

/* Has a worker do it. Only on the loop; the caller does not touch the call again. */
void vd_call_offload(struct vd_call *call, void (*work)(struct vd_call *call));

/* On a worker's thread: the answer, copied, for the loop to give. */
void vd_call_keep_answer(struct vd_call *call, unsigned status, struct vd_slice content_type,
                         struct vd_slice body, unsigned retry_after_s);

/* And what the audit log is to know of it: the object, or what the Status says. */
void vd_call_keep_object(struct vd_call *call, struct vd_slice json);
void vd_call_keep_status(struct vd_call *call, const struct vd_audit_answer *answer);

/* On the loop, when the call has come back with an answer: see call_reply.c. */
void vd_call_reply_kept(struct vd_call *call, unsigned status, struct vd_slice content_type,
                        struct vd_slice body, unsigned retry_after_s);

#endif
