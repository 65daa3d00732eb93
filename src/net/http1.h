/*
 * HTTP/1.1 on a connection: one exchange after the other. See protocol.h.
 *
 * For src/net only. All on the loop's thread.
 */
#ifndef VD_NET_HTTP1_H
#define VD_NET_HTTP1_H

#include "net/connection_internal.h"
#include "net/protocol.h"

/* Waits for the next request. */
void vd_connection_set_idle(struct vd_connection *c);

/* Frees the memory of the request, and what has come behind it. */
void vd_connection_free_intake(struct vd_connection *c);

/* Time has passed in which a stream has sent nothing: it may stand still for as long as it likes,
 * unless too much waits for its user. */
void vd_connection_on_stall(struct vd_connection *c);

/* The connection's exchange ends with it. */
void vd_http1_close(struct vd_connection *c, enum vd_connection_state from);

/* Takes requests off the front of what has come, while there are complete ones. */
void vd_http1_process(struct vd_connection *c);

/* ---- http1_body.c: bodies that are given to their handlers as they arrive ---- */

/* The head has come, and what came with it of the body is put aside. */
void vd_http1_begin_body(struct vd_connection *c);
/* Gives what has come, if the handler takes it. The connection may be closed afterwards. */
void vd_http1_give_body(struct vd_connection *c);
/* Whether nothing of the body is still to come, so that another request can follow. For when the
 * answer ends: what has come and was not given is dropped. */
bool vd_http1_body_is_read(struct vd_connection *c);
/* See protocol.h. */
void vd_http1_read_body(struct vd_exchange *x);
void vd_http1_mark_body(struct vd_exchange *x);
void vd_http1_break_body(struct vd_exchange *x, enum vd_http_refusal why);

/* ---- http1_answer.c: exchanges; see protocol.h ---- */

void vd_http1_receive(struct vd_exchange *x);
void vd_http1_respond(struct vd_exchange *x, const struct vd_response *response);
void vd_http1_stream(struct vd_exchange *x, const struct vd_response *response);
bool vd_http1_upgrade(struct vd_exchange *x, const struct vd_response *response);
void vd_http1_send(struct vd_exchange *x, struct vd_bytes *bytes);
void vd_http1_end(struct vd_exchange *x);
void vd_http1_abort(struct vd_exchange *x);
size_t vd_http1_backlog(const struct vd_exchange *x);
void vd_http1_await_drain(struct vd_exchange *x);
/* Frees the intake, but for bytes that belong to later requests. */
void vd_http1_forget_request(struct vd_exchange *x);

/* The answer is queued whole: on to the next request, or to the end. */
void vd_http1_finish_answer(struct vd_connection *c);

#endif
