/*
 * An HTTP client for tests: blocking, with a deadline on everything, and able to send whatever a
 * test needs, also what no proper client sends.
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
    bool ended;       /* the server has closed the connection as it should */
    bool broken;      /* the connection was broken off */
};

void client_open(struct client *c, struct server *s);

/* Connects with the caller's TLS context. False: the handshake failed. */
bool client_open_tls(struct client *c, struct server *s, SSL_CTX *context);

/* A TLS context that trusts the CA; with certificate and key NULL the client has no certificate. */
SSL_CTX *client_context(const char *ca, const char *certificate, const char *key);

void client_close(struct client *c);
/* Closes the connection with a reset. */
void client_vanish(struct client *c);
/* Tells the server that nothing more will be sent. */
void client_finish(struct client *c);

void client_send(struct client *c, const char *text);
void client_send_n(struct client *c, const char *p, size_t n);
/* Sends bytes; false if that failed because the server has closed the connection. */
bool client_try_send(struct client *c, const char *p, size_t n);

/* Receives some more; false at the end. */
bool client_receive(struct client *c);
/* Receives until this text has come, and takes it all. */
void client_expect(struct client *c, const char *text);
/* Receives until the server closes the connection. Returns all that came. */
const char *client_rest(struct client *c);

struct answer {
    unsigned status;
    bool closes;  /* Connection: close */
    bool chunked; /* Transfer-Encoding: chunked */
    struct vd_buf head, body;
};

/* Receives one whole answer. `bodiless`: it has no body, as after HEAD or with 204 or 304. The
 * caller releases it. */
void client_answer(struct client *c, struct answer *a, bool bodiless);
void answer_release(struct answer *a);

/* Receives one answer, which must have this status and body. */
void client_expect_answer(struct client *c, unsigned status, const char *body);

/* The server must close the connection as it should, without sending anything more. */
void client_expect_end(struct client *c);

#endif
