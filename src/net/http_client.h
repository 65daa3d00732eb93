/*
 * An HTTP/1.1 client on a loop: one request, one connection, one whole answer.
 *
 *     c = vd_http_client_start(loop, &(struct vd_http_client_request){
 *         .url = url, .tls = context, .timeout_ms = 10000, .len_max = 1 << 20,
 *         .done = have_it, .arg = me});
 *
 * Everything is bounded: the answer's head and body in bytes, the whole in time, from looking the
 * name up to the last byte. A certificate must be good for the URL's host. Redirects are answers
 * like any other and are not followed, and proxies of the environment are not used: whoever asks
 * decides whom to trust.
 *
 * All on the loop's thread. Names are looked up on libuv's own threads; addresses are not.
 */
#ifndef VD_NET_HTTP_CLIENT_H
#define VD_NET_HTTP_CLIENT_H

#include <openssl/ssl.h>

#include "net/http_write.h"
#include "net/loop.h"

struct vd_http_client;

struct vd_http_client_answer {
    unsigned status;
    struct vd_slice content_type;
    struct vd_slice body;
};

struct vd_http_client_request {
    struct vd_slice method; /* empty: GET */
    struct vd_slice url;
    struct vd_slice via; /* a name or address to connect to in the place of the URL's host, for
                            which the certificate must still be good; empty: that host */
    const struct vd_http_field *fields; /* further headers, but those of connection and body */
    size_t fields_n;
    struct vd_slice body;
    SSL_CTX *tls;        /* for https, vd_tls_load_client(); a reference is taken */
    uint64_t timeout_ms; /* for all of it */
    size_t len_max;      /* of the answer's body */
    /* The end, once, never before vd_http_client_start() has returned: an answer, borrowed for
     * the call, or NULL and why there is none. The client is gone then. */
    void (*done)(void *arg, const struct vd_http_client_answer *answer,
                 const struct vd_error *error);
    void *arg;
};

/* Copies what it needs of the request. */
struct vd_http_client *vd_http_client_start(
    struct vd_loop *loop, const struct vd_http_client_request *request) VD_MUST_USE;

/* Breaks it off: `done` is not called. The loop must turn once more for it to be freed. */
void vd_http_client_stop(struct vd_http_client *client);

#endif
