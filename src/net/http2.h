/*
 * HTTP/2 on a connection: many exchanges at a time, each on a stream.
 *
 * A connection comes here when TLS has agreed on "h2", or when the first bytes on a
 * plain door are HTTP/2's preface (prior knowledge; there is no Upgrade). From then on
 * connection.c gives it the bytes that arrive and asks it for bytes to send:
 *
 *   bytes in    vd_http2_receive() -> nghttp2 -> http2_request.c -> the handler
 *   bytes out   exchange.c -> http2_answer.c: a queue for each stream
 *               vd_http2_flush() pulls frames out of nghttp2 and into the
 *               connection's output, as the socket takes them
 *
 * What waits to be sent waits with its stream, as references to shared bytes, until
 * both the stream's window and the socket have room. So a stream that is not read
 * costs what it costs over HTTP/1.1, its backlog, and holds up nobody else; streams
 * that have something to send take turns.
 *
 * For src/net only. All on the loop's thread.
 */
#ifndef VD_NET_HTTP2_H
#define VD_NET_HTTP2_H

#include "net/connection.h"

/* ---- for connection.c ---- */

/* Whether bytes from the start of a connection are the preface: DONE, MORE (so far), or
 * REFUSED: they are not. */
enum vd_http_result vd_http2_preface(struct vd_slice bytes);

/* Makes it a connection of HTTP/2: STREAMS. */
void vd_http2_start(struct vd_connection *c);

/* The connection may be closed afterwards. */
void vd_http2_receive(struct vd_connection *c, const char *p, size_t n);
bool vd_http2_may_read(const struct vd_connection *c);

/* Whether the handler has a request of it. */
bool vd_http2_is_answering(const struct vd_connection *c);

/* Sends what the socket takes, and no more than a turn's share. False: it is broken. */
bool vd_http2_flush(struct vd_connection *c);
/* What had to wait for that. */
void vd_http2_after_flush(struct vd_connection *c);

void vd_http2_on_deadline(struct vd_connection *c);

/* Tells the client that no more requests are taken, lets the others finish, and then
 * closes. In two steps, so that none is lost that is on its way (RFC 9113, 6.8). */
void vd_http2_drain(struct vd_connection *c);

/* Ends all streams; who has an answer to give is told `gone`. Frees c->http2. */
void vd_http2_close(struct vd_connection *c);

/* ---- for exchange.c: the same as vd_exchange_... of that name ---- */

/* The client is known now: it may send more at a time. */
void vd_http2_widen(struct vd_connection *c);

void vd_http2_receive_body(struct vd_exchange *x);
void vd_http2_respond(struct vd_exchange *x, const struct vd_response *response);
void vd_http2_stream(struct vd_exchange *x, const struct vd_response *response);
void vd_http2_send(struct vd_exchange *x, struct vd_bytes *bytes);
void vd_http2_end(struct vd_exchange *x);
void vd_http2_abort(struct vd_exchange *x);
size_t vd_http2_backlog(const struct vd_exchange *x);
void vd_http2_await_drain(struct vd_exchange *x);
void vd_http2_forget_request(struct vd_exchange *x);

#endif
