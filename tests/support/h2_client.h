/*
 * An HTTP/2 client for tests, on top of net_client.h: it uses nghttp2, and sends as raw frames what
 * nghttp2 would refuse to send.
 */
#ifndef VD_TESTS_H2_CLIENT_H
#define VD_TESTS_H2_CLIENT_H

#include <nghttp2/nghttp2.h>

#include "net_client.h"

enum { H2_STREAMS_MAX = 4096, H2_GOAWAYS_MAX = 8 };

struct h2_stream {
    int32_t id;
    unsigned status;    /* 0: no head has come */
    unsigned interim;   /* the last 1xx */
    struct vd_buf body; /* of the answer */
    struct vd_buf head; /* "name: value\n" each */
    bool ended;         /* it ended as it should, with END_STREAM */
    bool closed;
    uint32_t code;          /* why it was reset; 0: it was not, or NO_ERROR */
    struct vd_slice upload; /* what is still to be sent; borrowed */
};

struct h2 {
    struct client io;
    nghttp2_session *session;
    struct h2_stream streams[H2_STREAMS_MAX];
    size_t streams_n;
    int32_t goaway_last[H2_GOAWAYS_MAX]; /* the last stream id of each GOAWAY that was received */
    uint32_t goaway_code;                /* of the last GOAWAY */
    size_t goaways_n;
    size_t pings; /* pings that the server has answered */
};

struct h2_options {
    SSL_CTX *tls;    /* NULL: plain, with prior knowledge */
    uint32_t window; /* the window that each stream starts with; 0: HTTP/2's default */
    bool no_updates; /* windows are not opened again */
    bool unchecked;  /* nghttp2 does not check whether requests are valid */
};

/* Connects and sends the settings. */
void h2_open(struct h2 *h, struct server *s, const struct h2_options *options);
void h2_close(struct h2 *h);

/* Sends a request. Returns its stream, which will hold the answer. `body` NULL: none. */
struct h2_stream *h2_ask(struct h2 *h, const char *method, const char *path, const char *body);

/* The same with these headers: name, value, ..., NULL. With `body` NULL and `open` set, a body is
 * announced and never sent. */
struct h2_stream *h2_ask_with(struct h2 *h, const char *const *headers, const char *body,
                              bool open);

/* Sends what waits to be sent; false when the server has closed the connection. */
bool h2_push(struct h2 *h);

/* Receives some bytes and sends what nghttp2 answers. False at the end of the connection. */
bool h2_pump(struct h2 *h);

/* Pumps until the answer is complete, and compares. */
void h2_expect(struct h2 *h, struct h2_stream *s, unsigned status, const char *body);
/* Pumps until the stream is closed, by a reset of this code. */
void h2_expect_reset(struct h2 *h, struct h2_stream *s, uint32_t code);
/* Pumps until this many bytes of the answer are there. */
void h2_expect_len(struct h2 *h, struct h2_stream *s, size_t len);
/* Pumps until the server has closed; the last GOAWAY had this code. */
void h2_expect_goaway(struct h2 *h, uint32_t code);

/* Sends a frame as it is, without nghttp2. False: the server has closed the connection. */
bool h2_raw(struct h2 *h, uint8_t type, uint8_t flags, int32_t id, const void *payload, size_t n);

/* A block of headers for raw frames: GET of this path. Returns its length. */
size_t h2_pack(uint8_t *out, size_t cap, const char *path);

#endif
