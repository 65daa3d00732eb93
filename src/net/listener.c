/* See listener.h. */
#include "net/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "base/errno_advice.h"
#include "base/limits.h"

enum {
    BACKLOG = 4096,         /* connections that the kernel keeps until they are accepted */
    ACCEPTS_PER_EVENT = 64, /* connections that are accepted before others have their turn */
};

/* ---- addresses ---- */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* "127.0.0.1:80", "[::1]:80", "localhost:80". */
static int parse_address(const char *text, union address *out, socklen_t *len,
                         struct vd_error *error)
{
    const char *colon = strrchr(text, ':');
    char host[64];
    uint64_t port = 0;
    size_t host_n = colon ? (size_t)(colon - text) : 0;
    if (!colon || host_n >= sizeof host || vd_slice_to_u64(vd_slice_of(colon + 1), &port) != 0 ||
        port > 65535)
        return vd_error_set(error, VD_ERR_INVALID,
                            "\"%s\" is not an address: write HOST:PORT, like 127.0.0.1:8080", text);
    bool bracketed = host_n > 1 && text[0] == '[' && text[host_n - 1] == ']';
    snprintf(host, sizeof host, "%.*s", (int)(host_n - (bracketed ? 2 : 0)), text + bracketed);
    const char *numeric = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    *out = (union address){0};
    if (inet_pton(AF_INET, numeric, &out->v4.sin_addr) == 1) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons((uint16_t)port);
        *len = sizeof out->v4;
        return VD_OK;
    }
    if (inet_pton(AF_INET6, numeric, &out->v6.sin6_addr) == 1) {
        out->v6.sin6_family = AF_INET6;
        out->v6.sin6_port = htons((uint16_t)port);
        *len = sizeof out->v6;
        return VD_OK;
    }
    return vd_error_set(error, VD_ERR_INVALID,
                        "\"%s\" is not an address: the host must be a number, like 127.0.0.1 or "
                        "[::1]",
                        text);
}

int vd_address_check(const char *text, struct vd_error *error)
{
    union address address;
    socklen_t len;
    return parse_address(text, &address, &len, error);
}

bool vd_address_is_loopback(const char *text)
{
    union address address;
    socklen_t len;
    if (parse_address(text, &address, &len, NULL))
        return false;
    if (address.any.sa_family == AF_INET)
        return ntohl(address.v4.sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&address.v6.sin6_addr);
}

static void name_address(struct vd_http_listener *listener)
{
    union address address = {0};
    socklen_t len = sizeof address;
    char host[INET6_ADDRSTRLEN] = "";
    getsockname(listener->fd, &address.any, &len);
    if (address.any.sa_family == AF_INET) {
        inet_ntop(AF_INET, &address.v4.sin_addr, host, sizeof host);
        snprintf(listener->address, sizeof listener->address, "%s:%u", host,
                 ntohs(address.v4.sin_port));
    } else {
        inet_ntop(AF_INET6, &address.v6.sin6_addr, host, sizeof host);
        snprintf(listener->address, sizeof listener->address, "[%s]:%u", host,
                 ntohs(address.v6.sin6_port));
    }
}

static void spare_open(struct vd_http_listener *listener)
{
    if (listener->spare_fd < 0)
        listener->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int vd_http_listener_bind(struct vd_http_listener *listener, const char *text,
                          struct vd_error *error)
{
    union address address;
    socklen_t len;
    int on = 1;
    listener->fd = listener->spare_fd = -1;
    int code = parse_address(text, &address, &len, error);
    if (code)
        return code;
    int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(fd, &address.any, len) != 0 || listen(fd, BACKLOG) != 0) {
        code = vd_error_set(error, VD_ERR_IO, "could not listen on %s: %s%s", text, strerror(errno),
                            errno == EACCES ? ": choose a port from 1024 on"
                                            : vd_errno_advice(errno));
        if (fd >= 0)
            close(fd);
        return code;
    }
    listener->fd = fd;
    name_address(listener);
    spare_open(listener);
    return VD_OK;
}

/* ---- accepting ---- */

void vd_http_listener_tls_set(struct vd_http_listener_tls *tls, SSL_CTX *context)
{
    pthread_mutex_lock(&tls->lock);
    SSL_CTX *old = tls->context;
    tls->context = context;
    pthread_mutex_unlock(&tls->lock);
    SSL_CTX_free(old);
}

static SSL_CTX *tls_ref(struct vd_http_listener_tls *tls)
{
    pthread_mutex_lock(&tls->lock);
    SSL_CTX_up_ref(tls->context);
    SSL_CTX *context = tls->context;
    pthread_mutex_unlock(&tls->lock);
    return context;
}

/* An accepted socket on its way to its loop. */
struct arrival {
    struct vd_task task;
    struct vd_http_service *service;
    SSL_CTX *tls;
    int fd;
};

static void arrive(struct vd_task *task)
{
    struct arrival *a = VD_CONTAINER_OF(task, struct arrival, task);
    vd_connection_accept(a->service, a->fd, a->tls);
    SSL_CTX_free(a->tls);
    free(a);
}

static void send_on(struct vd_http_listener *listener, int fd)
{
    struct arrival *a = VD_NEW(struct arrival);
    a->task.run = arrive;
    a->service = &listener->services[listener->turn++ % listener->services_n];
    a->tls = listener->tls ? tls_ref(listener->tls) : NULL;
    a->fd = fd;
    if (a->service->loop == listener->loop)
        arrive(&a->task);
    else
        vd_loop_post(a->service->loop, &a->task);
}

/* No descriptor is left: turn away whoever is waiting, with the spare one, and let
 * the others be for a while. */
static void turn_away(struct vd_http_listener *listener)
{
    if (listener->spare_fd >= 0)
        close(listener->spare_fd);
    listener->spare_fd = -1;
    for (int i = 0; i < ACCEPTS_PER_EVENT; i++) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            break;
        close(fd);
    }
    spare_open(listener);
    uv_poll_stop(&listener->poll);
    vd_timer_set(listener->loop, &listener->pause, VD_LISTENER_PAUSE_MS);
}

static void on_arrivals(uv_poll_t *poll, int status, int events)
{
    struct vd_http_listener *listener = poll->data;
    (void)status;
    (void)events;
    for (int i = 0; i < ACCEPTS_PER_EVENT; i++) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            send_on(listener, fd);
            continue;
        }
        if (errno == ECONNABORTED || errno == EINTR)
            continue;
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            turn_away(listener);
        return;
    }
}

static void resume(struct vd_timer *timer)
{
    struct vd_http_listener *listener = VD_CONTAINER_OF(timer, struct vd_http_listener, pause);
    spare_open(listener);
    uv_poll_start(&listener->poll, UV_READABLE, on_arrivals);
}

int vd_http_listener_open(struct vd_http_listener *listener, struct vd_error *error)
{
    listener->pause.fire = resume;
    int rc = uv_poll_init(&listener->loop->uv, &listener->poll, listener->fd);
    if (rc)
        return vd_error_set(error, VD_ERR_IO, "could not wait for clients on %s: %s",
                            listener->address, uv_strerror(rc));
    listener->is_open = true;
    listener->poll.data = listener;
    uv_poll_start(&listener->poll, UV_READABLE, on_arrivals);
    return VD_OK;
}

static void closed(uv_handle_t *handle)
{
    (void)handle; /* the listener belongs to the server, which outlives its loops */
}

void vd_http_listener_close(struct vd_http_listener *listener)
{
    if (listener->fd < 0)
        return;
    if (listener->is_open) {
        vd_timer_stop(listener->loop, &listener->pause);
        uv_close((uv_handle_t *)&listener->poll, closed);
    }
    listener->is_open = false;
    close(listener->fd);
    if (listener->spare_fd >= 0)
        close(listener->spare_fd);
    listener->fd = listener->spare_fd = -1;
}
