/*
 * A protocol: what a connection speaks over its transport.
 *
 * connection.c has the socket, TLS, deadlines and the output of a connection; a protocol says what
 * the bytes mean. There are three: HTTP/1.1 (http1.c), HTTP/2 (http2.c), and whatever an exchange
 * of HTTP/1.1 was upgraded to (upgrade.c), whose owner reads and writes plain bytes. A connection
 * begins with HTTP/1.1 and may change to one of the others.
 *
 * For src/net only. All on the loop's thread.
 */
#ifndef VD_NET_PROTOCOL_H
#define VD_NET_PROTOCOL_H

#include "net/connection.h"

struct vd_protocol {
    /* ---- exchanges: what vd_exchange_... of the same name does ---- */
    void (*receive)(struct vd_exchange *x);
    void (*read_body)(struct vd_exchange *x); /* its reader has been told to whom */
    void (*respond)(struct vd_exchange *x, const struct vd_response *response);
    void (*stream)(struct vd_exchange *x, const struct vd_response *response);
    bool (*upgrade)(struct vd_exchange *x, const struct vd_response *response);
    void (*send)(struct vd_exchange *x, struct vd_bytes *bytes);
    void (*end)(struct vd_exchange *x);
    void (*abort)(struct vd_exchange *x);
    size_t (*backlog)(const struct vd_exchange *x);
    void (*await_drain)(struct vd_exchange *x);
    void (*forget_request)(struct vd_exchange *x);

    /* ---- streamed bodies; see body_reader.h ---- */

    /* What has come of it is to be given to its handler before the turn ends. */
    void (*give_body)(struct vd_exchange *x);
    /* The body is broken, and the handler was told: refuses the request, or breaks the answer. */
    void (*break_body)(struct vd_exchange *x, enum vd_http_refusal why);

    /* ---- connections: called in the states before CLOSING, after the handshake ---- */

    /* Bytes have arrived; the connection may be closed afterwards. */
    void (*received)(struct vd_connection *c, const char *p, size_t n);
    bool (*may_read)(const struct vd_connection *c);
    size_t (*read_len)(const struct vd_connection *c); /* at once, at most */
    bool reads_once; /* an event is good for one read: what it brings can be much work */
    /* Sends what the socket takes, and no more than a turn's share. False: it is broken. */
    bool (*flush)(struct vd_connection *c);
    /* What had to wait for that. `late`: it could not be sent in one turn. */
    void (*after_flush)(struct vd_connection *c, bool late);
    void (*on_deadline)(struct vd_connection *c);
    bool (*is_answering)(const struct vd_connection *c); /* whether the handler has a request */
    void (*set_has_user)(struct vd_connection *c);       /* the client is no stranger any more */
    void (*drain)(struct vd_connection *c); /* takes no more requests, and ends after the last */
    /* The connection ends, from this state: who has an answer to give is told `gone`. */
    void (*close)(struct vd_connection *c, enum vd_connection_state from);
};

extern const struct vd_protocol vd_protocol_http1;
extern const struct vd_protocol vd_protocol_http2;
extern const struct vd_protocol vd_protocol_upgraded;

#endif
