/*
 * An HTTP client for tests: blocking, with a deadline on everything, and ready to be
 * as rude as a test needs it.
 */
#ifndef VD_TESTS_NET_CLIENT_H
#define VD_TESTS_NET_CLIENT_H

#include <openssl/ssl.h>

#include "base/buf.h"
#include "net_server.h"

struct client {
    int fd;
    SSL *ssl;         /* NULL: plain */
    struct vd_buf in; /* received and not yet taken */
    bool ended;       /* the server has finished, in order */
    bool broken;      /* or not */
};

void client_open(struct client *c, struct server *s);

/* With a TLS context of the caller's. False: no handshake. */
bool client_open_tls(struct client *c, struct server *s, SSL_CTX *context);

/* A context that trusts the CA; certificate and key NULL: none is shown. */
SSL_CTX *client_context(const char *ca, const char *certificate, const char *key);

void client_close(struct client *c);
/* With a reset. */
void client_vanish(struct client *c);
/* Says that nothing more will be sent. */
void client_finish(struct client *c);

void client_send(struct client *c, const char *text);
void client_send_n(struct client *c, const char *p, size_t n);
/* Whether it was possible: the server may have gone. */
bool client_try_send(struct client *c, const char *p, size_t n);

/* Receives some more; false at the end. */
bool client_receive(struct client *c);
/* Receives until this text has come, and takes it all. */
void client_expect(struct client *c, const char *text);
/* Receives until the server closes; all that came. */
const char *client_rest(struct client *c);

struct answer {
    unsigned status;
    bool closes;  /* Connection: close */
    bool chunked; /* */
    struct vd_buf head, body;
};

/* One answer, whole. `bodiless`: to HEAD, or of 204 or 304. Release it. */
void client_answer(struct client *c, struct answer *a, bool bodiless);
void answer_release(struct answer *a);

/* One answer with this status and body. */
void client_expect_answer(struct client *c, unsigned status, const char *body);

/* The server has closed, in order, and has said nothing more. */
void client_expect_end(struct client *c);

#endif
