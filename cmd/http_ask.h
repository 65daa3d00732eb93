/*
 * Asks an HTTP server a question and waits for the answer. One connection for each question:
 * HTTP/1.0, whose answer ends with the connection. Blocking.
 *
 *     struct vd_http_peer peer = {0};
 *     code = vd_http_peer_set(&peer, "https://127.0.0.1:6443", ca, &error);
 *     code = vd_http_ask(&peer, &question, &answer, &error);
 *     vd_http_peer_release(&peer);
 */
#ifndef VD_CMD_HTTP_ASK_H
#define VD_CMD_HTTP_ASK_H

#include <openssl/ssl.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"

/* `= {0}` is none. */
struct vd_http_peer {
    SSL_CTX *context;      /* NULL: without TLS */
    struct vd_buf address; /* "127.0.0.1:6443" */
    struct vd_buf token;   /* sent as a bearer token; may be empty */
};

/* Who is asked: a URL of http or https without a path. Its certificate is checked against these
 * authorities (PEM), or, if there are none, against the system's. VD_ERR_INVALID if the URL or the
 * PEM is wrong. */
int vd_http_peer_set(struct vd_http_peer *peer, struct vd_slice url, struct vd_slice ca,
                     struct vd_error *error) VD_MUST_USE;

/* The user shows this client certificate, of which the key is at hand (PEM). VD_ERR_INVALID if they
 * are wrong. The peer has TLS. */
int vd_http_peer_use_certificate(struct vd_http_peer *peer, struct vd_slice certificate,
                                 struct vd_slice key, struct vd_error *error) VD_MUST_USE;

/* The user has this token. It is one word, or VD_ERR_INVALID: anything else would end up in the
 * head of a request. Spaces around it do not count; an empty one is none. */
int vd_http_peer_set_token(struct vd_http_peer *peer, struct vd_slice token,
                           struct vd_error *error) VD_MUST_USE;

void vd_http_peer_release(struct vd_http_peer *peer);

struct vd_http_question {
    const char *method;       /* "GET" */
    const char *path;         /* with its query */
    const char *content_type; /* of the body; NULL: there is none */
    struct vd_slice body;
};

/* `= {0}` is none. The body lies in the bytes. */
struct vd_http_answer {
    unsigned status; /* 200 */
    struct vd_slice body;
    struct vd_buf bytes;
};

/* Adds a text as a part of a path or a query. */
void vd_http_add_encoded(struct vd_buf *out, struct vd_slice text);

/* VD_ERR_IO: nobody answers there, or not in good order. The answer is to be released in any case.
 */
int vd_http_ask(const struct vd_http_peer *peer, const struct vd_http_question *question,
                struct vd_http_answer *answer, struct vd_error *error) VD_MUST_USE;

void vd_http_answer_release(struct vd_http_answer *answer);

#endif
