/*
 * A listener: accepts connections on one address and deals them out to the loops
 * in turn, so that a thousand watchers are spread evenly.
 *
 * When the process runs out of descriptors, a spare one is given up so that the
 * waiting clients are turned away rather than left hanging, and accepting pauses.
 */
#ifndef VD_NET_LISTENER_H
#define VD_NET_LISTENER_H

#include <openssl/ssl.h>
#include <pthread.h>

#include "net/connection.h"

struct vd_http_listener_tls {
    pthread_mutex_t lock; /* guards context; held for a reference only */
    SSL_CTX *context;
};

struct vd_http_listener {
    struct vd_loop *loop; /* that accepts */
    struct vd_http_service *services;
    size_t services_n;
    struct vd_http_listener_tls *tls; /* NULL: plain */
    uv_poll_t poll;
    struct vd_timer pause;
    bool is_open;
    int fd;
    int spare_fd; /* given up when descriptors run out; -1: none */
    size_t turn;
    char address[64]; /* "127.0.0.1:6443", with the port that was taken */
};

/*
 * Binds and listens; `address` is HOST:PORT with a numeric host, port 0 picks
 * one. VD_ERR_IO says why not. Then loop, services and tls are set, and
 * vd_http_listener_open() is called on the loop's thread or before it starts.
 */
int vd_http_listener_bind(struct vd_http_listener *listener, const char *address,
                          struct vd_error *error) VD_MUST_USE;
int vd_http_listener_open(struct vd_http_listener *listener, struct vd_error *error) VD_MUST_USE;

/* On the loop's thread, or before it starts: accepts no more. A client that was just
 * accepted may still be on its way to its loop, in a task posted before this returns. */
void vd_http_listener_close(struct vd_http_listener *listener);

/* Whether vd_http_listener_bind could understand the address; VD_ERR_INVALID says why not. */
int vd_address_check(const char *address, struct vd_error *error) VD_MUST_USE;

/* Whether an address is one of this machine only. */
bool vd_address_is_loopback(const char *address);

/* Replaces the certificate for connections to come. Takes over the context. */
void vd_http_listener_tls_set(struct vd_http_listener_tls *tls, SSL_CTX *context);

#endif
