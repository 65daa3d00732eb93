/*
 * See http_client.h.
 *
 *   look up -> connect -> handshake (TLS) -> send -> head -> body -> done
 *
 * An address that cannot be reached gives way to the next of the name. What libuv still holds - the
 * look-up, the poll handle - keeps the client's memory until it lets go; `live` counts both.
 */
#include "net/http_client.h"

#include <errno.h>
#include <netdb.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/container_of.h"
#include "base/limits.h"
#include "net/http_answer.h"
#include "net/http_body.h"
#include "net/http_url.h"
#include "net/tls.h"
#include "net/transport.h"

enum state { LOOK_UP, CONNECT, HANDSHAKE, SEND, HEAD, BODY, OVER };

struct vd_http_client {
    struct vd_loop *loop;
    enum state state;
    struct vd_http_client_request request; /* without what is borrowed */
    struct vd_buf host;                    /* of the URL: whom the certificate must name */
    struct vd_buf via;                     /* where to connect in its place; empty: to the host */
    bool is_address;                       /* the host is one */
    char port[8];
    struct vd_buf out; /* what is to be sent */
    size_t sent;
    uv_getaddrinfo_t look_up;
    struct addrinfo *found, *next; /* the addresses, and the one to try next */
    bool found_here;               /* freed by freeaddrinfo, not by libuv */
    struct vd_transport transport;
    uv_poll_t poll;
    bool polling, closing; /* the poll handle is open; is on its way out */
    bool looking;          /* the look-up is with libuv */
    unsigned live;
    struct vd_timer deadline;
    struct vd_task begin; /* the first step, from the loop */
    struct vd_buf in;     /* the head's bytes, then the body's */
    struct vd_http_answer_head head;
    struct vd_buf type; /* of the content */
    struct vd_http_body framing;
    bool until_close;
};

static void step(struct vd_http_client *c);

/* ---- the end ---- */

static void free_when_quiet(struct vd_http_client *c)
{
    if (c->live)
        return;
    if (c->found && c->found_here)
        freeaddrinfo(c->found);
    else if (c->found)
        uv_freeaddrinfo(c->found);
    SSL_CTX_free(c->request.tls);
    vd_buf_release(&c->host);
    vd_buf_release(&c->via);
    vd_buf_release(&c->out);
    vd_buf_release(&c->in);
    vd_buf_release(&c->type);
    free(c);
}

static void on_poll_closed(uv_handle_t *handle)
{
    struct vd_http_client *c = handle->data;
    c->live--;
    c->closing = false;
    if (c->state == OVER)
        free_when_quiet(c);
    else
        step(c); /* the next address */
}

/* The socket of the address that is being tried. */
static void drop_socket(struct vd_http_client *c)
{
    if (!c->polling)
        return;
    c->polling = false;
    c->closing = true;
    uv_poll_stop(&c->poll);
    vd_transport_close(&c->transport);
    uv_close((uv_handle_t *)&c->poll, on_poll_closed);
}

/* From here on it waits to be freed, which is left to whoever came from outside: the loop's
 * callbacks, step() and vd_http_client_stop(). What they call may look at it until the end. */
static void finish(struct vd_http_client *c)
{
    c->state = OVER;
    vd_timer_stop(c->loop, &c->deadline);
    drop_socket(c);
    if (c->looking)
        uv_cancel((uv_req_t *)&c->look_up); /* has no effect on one that has begun */
}

static void fail(struct vd_http_client *c, const char *what, const char *why)
{
    struct vd_error error;
    void (*done)(void *, const struct vd_http_client_answer *,
                 const struct vd_error *) = c->request.done;
    void *arg = c->request.arg;
    vd_error_set(&error, VD_ERR_IO, "%s%s%s", what, why ? ": " : "", why ? why : "");
    finish(c);
    done(arg, NULL, &error);
}

static void succeed(struct vd_http_client *c)
{
    struct vd_http_client_answer answer = {.status = c->head.status,
                                           .content_type = vd_buf_slice(&c->type),
                                           .body = vd_buf_slice(&c->in)};
    c->live++; /* the answer is borrowed from it */
    c->request.done(c->request.arg, &answer, NULL);
    c->live--;
    finish(c);
}

void vd_http_client_stop(struct vd_http_client *c)
{
    finish(c);
    free_when_quiet(c);
}

static void on_deadline(struct vd_timer *timer)
{
    struct vd_http_client *c = VD_CONTAINER_OF(timer, struct vd_http_client, deadline);
    fail(c, "the server did not answer in time", NULL);
    free_when_quiet(c);
}

/* ---- receiving ---- */

static bool has_no_body(const struct vd_http_client *c)
{
    return c->head.status == 204 || c->head.status == 304 || vd_slice_is(c->request.method, "HEAD");
}

/* Bytes of the body, `n` at `p`, where they may be moved. False: the client is over. */
static bool take_body(struct vd_http_client *c, char *p, size_t n)
{
    size_t used = n, got = n;
    enum vd_http_result result = VD_HTTP_MORE;
    if (!c->until_close)
        result = vd_http_body_read(&c->framing, p, n, &used, &got);
    if (result == VD_HTTP_REFUSED || c->in.n + got > c->request.len_max) {
        fail(c, "the server's answer is malformed or too long", NULL);
        return false;
    }
    vd_buf_add(&c->in, p, got);
    if (result != VD_HTTP_DONE)
        return true;
    succeed(c);
    return false;
}

static bool begin_body(struct vd_http_client *c)
{
    struct vd_http_head framing;
    struct vd_buf rest = {0};
    vd_http_head_init(&framing);
    framing.done = true;
    framing.has_length = c->head.has_length || has_no_body(c);
    framing.length = has_no_body(c) ? 0 : c->head.length;
    framing.chunked = c->head.chunked && !has_no_body(c);
    c->until_close = !framing.has_length && !framing.chunked;
    vd_http_body_init(&c->framing, &framing, c->request.len_max);
    vd_buf_add_slice(&c->type, c->head.content_type);
    vd_buf_add_slice(&rest, vd_slice_from(vd_buf_slice(&c->in), c->head.used));
    vd_buf_reset(&c->in);
    c->state = BODY;
    vd_buf_reserve(&rest, 1);
    bool goes_on = take_body(c, rest.p, rest.n);
    vd_buf_release(&rest);
    return goes_on;
}

static bool take_head(struct vd_http_client *c)
{
    struct vd_error error;
    for (;;) {
        int rc = vd_http_answer_parse(&c->head, vd_buf_slice(&c->in), &error);
        if (rc < 0) {
            fail(c, error.text, NULL);
            return false;
        }
        if (rc == 0)
            return true;
        if (c->head.status >= 200)
            return begin_body(c);
        memmove(c->in.p, c->in.p + c->head.used, c->in.n - c->head.used); /* 100 Continue */
        c->in.n -= c->head.used;
    }
}

static void receive(struct vd_http_client *c)
{
    for (;;) {
        ssize_t n = vd_transport_read(&c->transport, c->loop->scratch, VD_LOOP_SCRATCH_LEN);
        if (n == VD_TRANSPORT_AGAIN)
            return;
        if (n == 0 && c->state == BODY && c->until_close) {
            succeed(c);
            return;
        }
        if (n <= 0) {
            fail(c, "the server closed the connection before its answer was complete", NULL);
            return;
        }
        if (c->state == HEAD) {
            vd_buf_add(&c->in, c->loop->scratch, (size_t)n);
            if (!take_head(c))
                return;
        } else if (!take_body(c, c->loop->scratch, (size_t)n)) {
            return;
        }
    }
}

/* ---- sending ---- */

static void send_request(struct vd_http_client *c)
{
    while (c->sent < c->out.n) {
        struct iovec piece = {c->out.p + c->sent, c->out.n - c->sent};
        ssize_t n = vd_transport_write(&c->transport, &piece, 1, c->loop->scratch,
                                       VD_LOOP_SCRATCH_LEN);
        if (n == VD_TRANSPORT_AGAIN)
            return;
        if (n < 0) {
            fail(c, "the server closed the connection before the request was sent", NULL);
            return;
        }
        c->sent += (size_t)n;
    }
    c->state = HEAD;
}

static void handshake_step(struct vd_http_client *c)
{
    char why[256];
    int rc = vd_transport_handshake(&c->transport);
    if (rc == VD_TRANSPORT_AGAIN)
        return;
    if (rc == 1) {
        c->state = SEND;
        return;
    }
    long verdict = SSL_get_verify_result(c->transport.ssl);
    snprintf(why, sizeof why, "%s",
             verdict == X509_V_OK ? "the handshake broke off"
                                  : X509_verify_cert_error_string(verdict));
    fail(c, "no TLS with the server", why);
}

/* ---- connecting ---- */

static void on_poll(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events; /* whatever it is, the next call on the socket says it better */
    step(poll->data);
}

/* The TLS side of a new socket: the certificate must be good for the host. */
static bool prepare_tls(struct vd_http_client *c)
{
    SSL *ssl = c->transport.ssl;
    SSL_set_connect_state(ssl);
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    const char *host = vd_buf_text(&c->host);
    if (c->is_address)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    /* OpenSSL's macro would cast the const away, which clang does not let pass. */
    char *name = (char *)(uintptr_t)host;
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, name) == 1;
}

/* False: this address will not do. */
static bool open_socket(struct vd_http_client *c, const struct addrinfo *address)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    if ((connect(fd, address->ai_addr, address->ai_addrlen) && errno != EINPROGRESS) ||
        uv_poll_init(&c->loop->uv, &c->poll, fd)) {
        close(fd);
        return false;
    }
    c->poll.data = c;
    c->polling = true;
    c->live++;
    return vd_transport_open(&c->transport, fd, c->request.tls) &&
           (!c->transport.ssl || prepare_tls(c));
}

static void connect_next(struct vd_http_client *c)
{
    while (c->next) {
        const struct addrinfo *address = c->next;
        c->next = address->ai_next;
        if (open_socket(c, address))
            return;
        if (c->polling) { /* goes on when the handle is closed */
            drop_socket(c);
            return;
        }
    }
    fail(c, "the server could not be reached", NULL);
}

static void check_connected(struct vd_http_client *c)
{
    int error = 0;
    socklen_t n = sizeof error;
    getsockopt(c->transport.fd, SOL_SOCKET, SO_ERROR, &error, &n);
    if (!error && getpeername(c->transport.fd, &(struct sockaddr){0}, &(socklen_t){0}) == 0)
        c->state = c->request.tls ? HANDSHAKE : SEND;
    else if (error || errno != ENOTCONN)
        drop_socket(c);
}

/* What the socket is to be waited for. */
static void await(struct vd_http_client *c)
{
    bool write = c->state == CONNECT || c->state == SEND ||
                 (c->state != LOOK_UP && c->transport.wants_write);
    if (c->polling)
        uv_poll_start(&c->poll, (write ? UV_WRITABLE : 0) | (c->state == CONNECT ? 0 : UV_READABLE),
                      on_poll);
}

/* Goes on as far as it can. Each state's function ends the client or leaves it waiting. */
static void step(struct vd_http_client *c)
{
    enum state before;
    c->live++; /* so that it is still there to be looked at */
    do {
        before = c->state;
        if (c->state == CONNECT && !c->polling && !c->closing)
            connect_next(c);
        else if (c->state == CONNECT && c->polling)
            check_connected(c);
        else if (c->state == HANDSHAKE)
            handshake_step(c);
        else if (c->state == SEND)
            send_request(c);
        else if (c->state == HEAD || c->state == BODY)
            receive(c);
    } while (c->state != before && c->state != OVER);
    c->live--;
    if (c->state == OVER)
        free_when_quiet(c);
    else
        await(c);
}

/* ---- starting ---- */

static void on_found(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
    struct vd_http_client *c = request->data;
    c->live--;
    c->looking = false;
    c->found = c->next = found;
    if (c->state == OVER) {
        free_when_quiet(c);
    } else if (status) {
        fail(c, "the server's name could not be looked up", uv_strerror(status));
        free_when_quiet(c);
    } else {
        c->state = CONNECT;
        step(c);
    }
}

static void begin(struct vd_task *task)
{
    struct vd_http_client *c = VD_CONTAINER_OF(task, struct vd_http_client, begin);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    c->live--;
    if (c->state == OVER) {
        free_when_quiet(c);
        return;
    }
    if (c->host.n == 0) {
        fail(c, "the URL is no good", NULL);
        free_when_quiet(c);
        return;
    }
    const char *place = vd_buf_text(c->via.n ? &c->via : &c->host);
    if (getaddrinfo(place, c->port, &hints, &c->found) == 0) {
        c->next = c->found;
        c->found_here = true;
        c->is_address = !c->via.n;
        c->state = CONNECT;
        step(c);
        return;
    }
    hints.ai_flags = AI_ADDRCONFIG;
    c->look_up.data = c;
    int rc = uv_getaddrinfo(&c->loop->uv, &c->look_up, on_found, place, c->port, &hints);
    if (rc) {
        fail(c, "the server's name could not be looked up", uv_strerror(rc));
        free_when_quiet(c);
    } else {
        c->looking = true;
        c->live++;
    }
}

static void write_request(struct vd_http_client *c, const struct vd_http_client_request *r,
                          const struct vd_http_url *url)
{
    struct vd_slice method = r->method.n ? r->method : VD_SLICE("GET");
    struct vd_slice target = url->target.n ? url->target : VD_SLICE("/");
    vd_buf_addf(&c->out, "%.*s %.*s HTTP/1.1\r\nHost: %.*s\r\nConnection: close\r\n",
                VD_FMT(method), VD_FMT(target), VD_FMT(url->authority));
    for (size_t i = 0; i < r->fields_n; i++)
        vd_buf_addf(&c->out, "%.*s: %.*s\r\n", VD_FMT(r->fields[i].name),
                    VD_FMT(r->fields[i].value));
    if (r->body.n || !vd_slice_is(method, "GET"))
        vd_buf_addf(&c->out, "Content-Length: %zu\r\n", r->body.n);
    vd_buf_add_text(&c->out, "\r\n");
    vd_buf_add_slice(&c->out, r->body);
}

struct vd_http_client *vd_http_client_start(struct vd_loop *loop,
                                            const struct vd_http_client_request *request)
{
    struct vd_http_client *c = VD_NEW(struct vd_http_client);
    struct vd_http_url url;
    c->loop = loop;
    c->request = *request;
    c->request.method = vd_slice_is(request->method, "HEAD") ? VD_SLICE("HEAD") : VD_SLICE("");
    c->request.tls = NULL;
    c->transport.fd = -1;
    if (!vd_http_url_parse(&url, request->url, NULL) && (!url.tls || request->tls)) {
        vd_buf_add_slice(&c->host, url.host);
        vd_buf_add_slice(&c->via, request->via);
        snprintf(c->port, sizeof c->port, "%u", url.port);
        write_request(c, request, &url);
        if (url.tls && SSL_CTX_up_ref(request->tls) == 1)
            c->request.tls = request->tls;
    }
    c->deadline.fire = on_deadline;
    vd_timer_set(loop, &c->deadline, request->timeout_ms);
    c->begin.run = begin;
    c->live++; /* the task */
    vd_loop_post(loop, &c->begin);
    return c;
}
