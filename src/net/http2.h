/*
 * HTTP/2 on a connection: many exchanges at a time, each on a stream.
 *
 * A connection comes here when TLS has agreed on "h2", or when the first bytes on a
 * plain listener are HTTP/2's preface (prior knowledge; there is no Upgrade). From then on
 * connection.c gives it the bytes that arrive and asks it for bytes to send (protocol.h):
 *
 *   bytes in    vd_http2_receive() -> nghttp2 -> http2_request.c -> the handler
 *   bytes out   exchange.c -> http2_answer.c: a queue for each stream
 *               its flush() pulls frames out of nghttp2 and into the
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

/* Whether bytes from the start of a connection are the preface: DONE, MORE (so far), or
 * REFUSED: they are not. */
enum vd_http_result vd_http2_preface(struct vd_slice bytes);

/* Makes it a connection of HTTP/2: STREAMS. From then on its protocol is vd_protocol_http2. */
void vd_http2_start(struct vd_connection *c);

/* Bytes that have come before it was one. The connection may be closed afterwards. */
void vd_http2_receive(struct vd_connection *c, const char *p, size_t n);

#endif
