/*
 * A transport: a non-blocking socket, plain or under TLS.
 *
 * Results are bytes moved, or one of the enum below. TLS may need to write in
 * order to read: `wants_write` then asks for the same call when the socket takes
 * bytes. A write that would block needs no flag, as its bytes are still there.
 *
 * OpenSSL writes with write(2): SIGPIPE must be blocked or ignored, as it is on the
 * threads of loops.
 */
#ifndef VD_NET_TRANSPORT_H
#define VD_NET_TRANSPORT_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

enum {
    VD_TRANSPORT_AGAIN = -1,  /* would block */
    VD_TRANSPORT_BROKEN = -2, /* the connection is of no more use */
};

struct vd_transport {
    int fd;
    bool handshaken;
    bool wants_write;
    bool starved; /* TLS cannot go on before the socket has more */
    SSL *ssl;     /* NULL: plain */
};

/* What every accepted socket has: no delay, probes of silent peers, little unsent in the kernel. */
void vd_transport_set_options(int fd);

/* Takes over the descriptor. `tls` NULL: plain. False when TLS refuses to start. */
bool vd_transport_open(struct vd_transport *t, int fd, SSL_CTX *tls);

/* Says goodbye if it can be said at once, and closes the descriptor. */
void vd_transport_close(struct vd_transport *t);

/* Nothing more will be written; the peer reads the end, and can still be read. */
void vd_transport_finish(struct vd_transport *t);

/* The close to come will not look like an orderly end: no goodbye of TLS, and a
 * reset where the kernel can send one. */
void vd_transport_spoil(struct vd_transport *t);

/* Goes on with the handshake: 1 done, or AGAIN, or BROKEN. */
int vd_transport_handshake(struct vd_transport *t);

/* Whether both sides have agreed on HTTP/2 in the handshake (ALPN). */
bool vd_transport_speaks_http2(const struct vd_transport *t);

/* 0: the peer has finished. */
ssize_t vd_transport_read(struct vd_transport *t, char *p, size_t n);

/* Whether there is something to read of which the socket does not tell any more. */
bool vd_transport_has_pending(const struct vd_transport *t);

/* Reads into `room` what nobody wants any more. False: the peer has finished. */
bool vd_transport_discard(struct vd_transport *t, char *room, size_t n);

/* Under TLS the pieces are gathered in `room` (of `room_n` bytes), so that small
 * ones fill a record; what is offered after AGAIN must begin with the same bytes. */
ssize_t vd_transport_write(struct vd_transport *t, const struct iovec *pieces, int n, char *room,
                           size_t room_n);

#endif
