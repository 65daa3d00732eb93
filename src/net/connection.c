/*
 * See connection.h. Bytes come in through receive() into the intake, where
 * process() takes one request after the other off the front; a request that is
 * complete goes to the service's handler, and the next one waits until its answer
 * is complete. Bytes go out through output.c at the end of each turn.
 *
 * A connection is freed in two steps: close_now() ends it, and the loop frees it
 * when libuv has let go of its handle.
 */
#include "net/connection.h"

#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "net/output.h"

enum {
    HANDSHAKE_MS = 10000,
    HEAD_MS = 10000,
    BODY_MS = 60000,
    IDLE_MS = 180000,
    CLOSING_MS = 10000,
    READS_PER_EVENT = 4,
    AHEAD_MAX = 65536, /* bytes of later requests that are kept while one is answered */
    KEEPALIVE_IDLE_S = 60,
    KEEPALIVE_INTERVAL_S = 15,
    KEEPALIVE_PROBES = 4,
    USER_TIMEOUT_MS = 120000,
};

static void process(struct vd_connection *c);
static void finish_answer(struct vd_connection *c);

/* ---- life and death ---- */

static void free_connection(uv_handle_t *handle)
{
    struct vd_connection *c = handle->data;
    vd_output_release(c);
    free(c);
}

static void intake_free(struct vd_connection *c)
{
    if (c->intake)
        vd_buf_release(&c->intake->bytes);
    free(c->intake);
    c->intake = NULL;
}

static void unlink_connection(struct vd_connection *c)
{
    struct vd_http_service *s = c->service;
    *(c->prev ? &c->prev->next : &s->connections) = c->next;
    if (c->next)
        c->next->prev = c->prev;
    s->count--;
    struct vd_connection **at = &s->dirty;
    while (c->is_dirty && *at != c)
        at = &(*at)->next_dirty;
    if (c->is_dirty)
        *at = c->next_dirty;
}

static void close_now(struct vd_connection *c)
{
    if (c->state == VD_CONNECTION_CLOSED)
        return;
    bool answering = c->state == VD_CONNECTION_ANSWER;
    c->state = VD_CONNECTION_CLOSED;
    if (answering && c->exchange.ops)
        c->exchange.ops->gone(&c->exchange);
    if (answering && c->service->finished)
        c->service->finished(c->service, &c->exchange);
    vd_timer_stop(c->loop, &c->deadline);
    unlink_connection(c);
    intake_free(c);
    uv_poll_stop(&c->poll);
    vd_transport_close(&c->transport);
    uv_close((uv_handle_t *)&c->poll, free_connection);
}

static void on_deadline(struct vd_timer *timer)
{
    close_now(VD_HEAP_OWNER(timer, struct vd_connection, deadline));
}

/* ---- what to wait for ---- */

static void on_poll(uv_poll_t *poll, int status, int events);

static bool may_read(const struct vd_connection *c)
{
    if (c->state == VD_CONNECTION_CLOSING)
        return false;
    size_t have = c->intake ? c->intake->bytes.n : 0;
    return c->state != VD_CONNECTION_ANSWER || have < AHEAD_MAX;
}

static void set_events(struct vd_connection *c)
{
    if (c->state == VD_CONNECTION_CLOSED)
        return;
    int events = UV_DISCONNECT | (may_read(c) ? UV_READABLE : 0);
    if (c->backlog || c->transport.wants_write)
        events |= UV_WRITABLE;
    if (events == c->events)
        return;
    c->events = events;
    uv_poll_start(&c->poll, events, on_poll);
}

/* ---- writing ---- */

static void flush(struct vd_connection *c)
{
    if (!c->transport.handshaken)
        return;
    if (!vd_output_flush(c)) {
        close_now(c);
        return;
    }
    if (c->backlog == 0 && c->state == VD_CONNECTION_CLOSING) {
        close_now(c);
        return;
    }
    if (c->backlog == 0 && c->await_drain) {
        c->await_drain = false;
        if (c->state == VD_CONNECTION_ANSWER && c->exchange.ops)
            c->exchange.ops->drained(&c->exchange);
    }
    set_events(c);
}

/* What was queued in this turn leaves now. Draining streams may queue more; that is
 * for the next round. */
static bool flush_dirty(struct vd_turn_hook *hook)
{
    struct vd_http_service *s =
        (struct vd_http_service *)((char *)hook - offsetof(struct vd_http_service, flush_hook));
    for (int round = 0; s->dirty && round < 2; round++) {
        struct vd_connection *list = s->dirty;
        s->dirty = NULL;
        while (list) {
            struct vd_connection *c = list;
            list = c->next_dirty;
            c->is_dirty = false;
            flush(c);
        }
    }
    return s->dirty != NULL;
}

/* ---- reading ---- */

static struct vd_intake *intake_ensure(struct vd_connection *c)
{
    if (!c->intake) {
        c->intake = vd_malloc(sizeof *c->intake);
        c->intake->bytes = (struct vd_buf){0};
        vd_http_head_init(&c->intake->head);
        c->intake->body_end = c->intake->next_at = 0;
    }
    return c->intake;
}

static void refuse(struct vd_connection *c, enum vd_http_refusal refusal)
{
    struct vd_buf text = {0};
    vd_buf_addf(&text, "%s\n", vd_http_refusal_text(refusal));
    c->state = VD_CONNECTION_ANSWER;
    c->keep_alive = false;
    c->exchange = (struct vd_exchange){.connection = c, .loop = c->loop};
    vd_exchange_respond(&c->exchange,
                        &(struct vd_response){.status = vd_http_refusal_status(refusal),
                                              .content_type = VD_SLICE("text/plain; charset=utf-8"),
                                              .body = vd_buf_slice(&text),
                                              .close = true});
    vd_buf_release(&text);
}

static void dispatch(struct vd_connection *c)
{
    struct vd_intake *in = c->intake;
    vd_timer_stop(c->loop, &c->deadline);
    vd_http_head_rebase(&in->head, in->bytes.p);
    c->state = VD_CONNECTION_ANSWER;
    c->keep_alive = in->head.keep_alive && !c->service->draining;
    c->chunked = in->head.minor == 1;
    c->head_only = in->head.method == VD_HTTP_HEAD;
    c->streaming = false;
    c->exchange = (struct vd_exchange){
        .connection = c,
        .loop = c->loop,
        .head = &in->head,
        .body = vd_slice(in->bytes.p + in->head.used, in->body_end - in->head.used),
        .start_ns = vd_clock_mono_ns(vd_clock_system()),
    };
    c->service->handle(c->service, &c->exchange);
}

/* Decodes what has arrived of the body, in place behind the head. False: more is
 * needed. */
static bool read_body(struct vd_connection *c)
{
    struct vd_intake *in = c->intake;
    size_t used = 0, got = 0;
    char *at = in->bytes.p + in->next_at;
    enum vd_http_result result = vd_http_body_read(&in->framing, at, in->bytes.n - in->next_at,
                                                   &used, &got);
    if (result == VD_HTTP_REFUSED) {
        refuse(c, in->framing.refusal);
        return true;
    }
    memmove(in->bytes.p + in->body_end, at, got);
    in->body_end += got;
    in->next_at += used;
    if (result == VD_HTTP_DONE) {
        dispatch(c);
        return true;
    }
    in->bytes.n = in->next_at = in->body_end;
    return false;
}

static bool read_head(struct vd_connection *c)
{
    struct vd_intake *in = c->intake;
    enum vd_http_result result = vd_http_head_parse(&in->head, in->bytes.p, in->bytes.n);
    if (result == VD_HTTP_MORE)
        return false;
    if (result == VD_HTTP_REFUSED) {
        refuse(c, in->head.refusal);
        return true;
    }
    in->body_end = in->next_at = in->head.used;
    vd_http_body_init(&in->framing, &in->head, c->service->body_len_max);
    c->state = VD_CONNECTION_BODY;
    bool waits = in->head.expect_continue && in->bytes.n == in->head.used &&
                 (!in->head.has_length || in->head.length <= c->service->body_len_max);
    if (waits)
        vd_output_add(c, vd_bytes_copy(VD_HTTP_CONTINUE), 0, VD_HTTP_CONTINUE.n);
    vd_timer_set(c->loop, &c->deadline, BODY_MS);
    return true;
}

/* Takes requests off the front while there are complete ones. An answer that is
 * complete at once comes back here through finish_answer(): one loop is enough. */
static void process(struct vd_connection *c)
{
    if (c->processing)
        return;
    c->processing = true;
    bool go_on = true;
    while (go_on) {
        if (c->state == VD_CONNECTION_HEAD)
            go_on = read_head(c);
        else if (c->state == VD_CONNECTION_BODY)
            go_on = read_body(c);
        else
            go_on = false;
    }
    c->processing = false;
    set_events(c);
}

static void receive(struct vd_connection *c, const char *p, size_t n)
{
    vd_buf_add(&intake_ensure(c)->bytes, p, n);
    if (c->state == VD_CONNECTION_IDLE) {
        c->state = VD_CONNECTION_HEAD;
        vd_timer_set(c->loop, &c->deadline, HEAD_MS);
    }
    process(c);
}

/* The peer has said its last word. A short answer may still be on its way. */
static void end_of_input(struct vd_connection *c)
{
    if (c->state == VD_CONNECTION_ANSWER && !c->streaming) {
        c->keep_alive = false;
        c->events = UV_WRITABLE; /* no more reading: the end would come up for ever */
        uv_poll_start(&c->poll, c->backlog ? UV_WRITABLE : 0, on_poll);
        return;
    }
    close_now(c);
}

static void read_some(struct vd_connection *c)
{
    for (int i = 0; i < READS_PER_EVENT && may_read(c); i++) {
        ssize_t n = vd_transport_read(&c->transport, c->loop->scratch, VD_LOOP_SCRATCH_LEN);
        if (n == VD_TRANSPORT_AGAIN)
            break;
        if (n == 0) {
            end_of_input(c);
            return;
        }
        if (n < 0) {
            close_now(c);
            return;
        }
        receive(c, c->loop->scratch, (size_t)n);
        if (c->state == VD_CONNECTION_CLOSED)
            return;
        if (!c->transport.ssl && n < VD_LOOP_SCRATCH_LEN)
            break;
    }
    set_events(c);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct vd_connection *c = poll->data;
    if (status < 0) {
        close_now(c);
        return;
    }
    if (c->state == VD_CONNECTION_HANDSHAKE) {
        int rc = vd_transport_handshake(&c->transport);
        if (rc == VD_TRANSPORT_BROKEN) {
            close_now(c);
            return;
        }
        if (rc == 1) {
            c->state = VD_CONNECTION_IDLE;
            vd_timer_set(c->loop, &c->deadline, IDLE_MS);
        }
        set_events(c);
        return;
    }
    if (events & UV_WRITABLE)
        flush(c);
    if (c->state != VD_CONNECTION_CLOSED && events & (UV_READABLE | UV_DISCONNECT)) {
        if (may_read(c))
            read_some(c);
        else
            close_now(c);
    }
}

/* ---- accepting ---- */

static void set_socket_options(int fd)
{
    int on = 1, idle = KEEPALIVE_IDLE_S, interval = KEEPALIVE_INTERVAL_S;
    int probes = KEEPALIVE_PROBES, timeout = USER_TIMEOUT_MS;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof timeout);
}

void vd_connection_accept(struct vd_http_service *service, int fd, SSL_CTX *tls)
{
    struct vd_connection *c = VD_NEW(struct vd_connection);
    c->loop = service->loop;
    c->service = service;
    c->state = tls ? VD_CONNECTION_HANDSHAKE : VD_CONNECTION_IDLE;
    c->deadline.fire = on_deadline;
    set_socket_options(fd);
    if (!vd_transport_open(&c->transport, fd, tls) || uv_poll_init(&c->loop->uv, &c->poll, fd)) {
        vd_transport_close(&c->transport);
        free(c);
        return;
    }
    c->poll.data = c;
    c->next = service->connections;
    if (c->next)
        c->next->prev = c;
    service->connections = c;
    service->count++;
    vd_timer_set(c->loop, &c->deadline, tls ? HANDSHAKE_MS : IDLE_MS);
    set_events(c);
}

X509 *vd_connection_certificate(const struct vd_connection *c)
{
    if (!c->transport.ssl || SSL_get_verify_result(c->transport.ssl) != X509_V_OK)
        return NULL;
    return SSL_get1_peer_certificate(c->transport.ssl);
}

/* ---- answering ---- */

static void write_head(struct vd_connection *c, const struct vd_response *r, bool streamed,
                       struct vd_buf *out)
{
    bool bodiless = r->status == 204 || r->status == 304 || r->status < 200;
    if (r->close || c->service->draining || (streamed && !c->chunked))
        c->keep_alive = false;
    struct vd_http_answer answer = {
        .status = r->status,
        .content_type = r->content_type,
        .framing = bodiless     ? VD_HTTP_FRAMING_NONE
                   : !streamed  ? VD_HTTP_FRAMING_LENGTH
                   : c->chunked ? VD_HTTP_FRAMING_CHUNKED
                                : VD_HTTP_FRAMING_CLOSE,
        .length = r->body.n,
        .persistence = !c->keep_alive ? VD_HTTP_PERSIST_CLOSE
                       : c->chunked   ? VD_HTTP_PERSIST_DEFAULT
                                      : VD_HTTP_PERSIST_KEEP,
        .fields = r->fields,
        .fields_n = r->fields_n,
    };
    vd_http_write_head(out, &c->service->date, &answer);
    c->exchange.status = r->status;
}

void vd_exchange_respond(struct vd_exchange *x, const struct vd_response *r)
{
    struct vd_connection *c = x->connection;
    struct vd_buf head = {0};
    assert(c->state == VD_CONNECTION_ANSWER && !c->streaming);
    write_head(c, r, false, &head);
    size_t body_n = c->head_only || r->status == 204 || r->status == 304 ? 0 : r->body.n;
    struct vd_bytes *bytes = vd_bytes_new(head.n + body_n);
    memcpy(bytes->data, head.p, head.n);
    if (body_n)
        memcpy(bytes->data + head.n, r->body.p, body_n);
    vd_output_add(c, bytes, 0, bytes->len);
    vd_buf_release(&head);
    finish_answer(c);
}

void vd_exchange_stream(struct vd_exchange *x, const struct vd_response *r)
{
    struct vd_connection *c = x->connection;
    struct vd_buf head = {0};
    assert(c->state == VD_CONNECTION_ANSWER && !c->streaming);
    c->streaming = true;
    write_head(c, r, true, &head);
    vd_output_add(c, vd_bytes_copy(vd_buf_slice(&head)), 0, head.n);
    vd_buf_release(&head);
}

void vd_exchange_send(struct vd_exchange *x, struct vd_bytes *framed)
{
    struct vd_connection *c = x->connection;
    if (c->head_only)
        vd_bytes_unref(framed);
    else if (c->chunked)
        vd_output_add(c, framed, 0, framed->len);
    else /* without the frame */
        vd_output_add(c, framed, VD_FRAME_HEAD_LEN, framed->len - 2);
}

void vd_exchange_end(struct vd_exchange *x)
{
    struct vd_connection *c = x->connection;
    assert(c->state == VD_CONNECTION_ANSWER && c->streaming);
    if (c->chunked && !c->head_only)
        vd_output_add(c, vd_bytes_copy(VD_HTTP_CHUNK_LAST), 0, VD_HTTP_CHUNK_LAST.n);
    finish_answer(c);
}

void vd_exchange_abort(struct vd_exchange *x)
{
    x->ops = NULL;
    close_now(x->connection);
}

size_t vd_exchange_backlog(const struct vd_exchange *x)
{
    return x->connection->backlog;
}

void vd_exchange_await_drain(struct vd_exchange *x)
{
    x->connection->await_drain = true;
}

void vd_exchange_forget_request(struct vd_exchange *x)
{
    struct vd_connection *c = x->connection;
    struct vd_intake *in = c->intake;
    x->head = NULL;
    x->body = VD_SLICE("");
    if (in && in->bytes.n == in->next_at)
        intake_free(c);
}

/* The answer is complete: on to the next request, or to the end. */
static void finish_answer(struct vd_connection *c)
{
    if (c->service->finished)
        c->service->finished(c->service, &c->exchange);
    c->exchange.ops = NULL;
    c->await_drain = false;
    c->streaming = false;
    if (!c->keep_alive) {
        c->state = VD_CONNECTION_CLOSING;
        intake_free(c);
        vd_timer_set(c->loop, &c->deadline, CLOSING_MS);
        vd_output_mark(c);
        return;
    }
    struct vd_intake *in = c->intake;
    size_t left = in ? in->bytes.n - in->next_at : 0;
    if (left == 0) {
        intake_free(c);
        c->state = VD_CONNECTION_IDLE;
        vd_timer_set(c->loop, &c->deadline, IDLE_MS);
        return;
    }
    memmove(in->bytes.p, in->bytes.p + in->next_at, left);
    in->bytes.n = left;
    in->body_end = in->next_at = 0;
    vd_http_head_init(&in->head);
    c->state = VD_CONNECTION_HEAD;
    vd_timer_set(c->loop, &c->deadline, HEAD_MS);
    process(c);
}

/* ---- frames ---- */

void vd_frame_begin(struct vd_buf *out)
{
    vd_buf_reset(out);
    vd_buf_add(out, "00000000\r\n", VD_FRAME_HEAD_LEN);
}

struct vd_bytes *vd_frame_end(struct vd_buf *out)
{
    static const char digits[] = "0123456789abcdef";
    size_t n = out->n - VD_FRAME_HEAD_LEN;
    assert(n > 0 && n <= UINT32_MAX);
    for (int i = 0; i < 8; i++)
        out->p[i] = digits[n >> (28 - 4 * i) & 15];
    vd_buf_add(out, "\r\n", 2);
    struct vd_bytes *bytes = vd_bytes_copy(vd_buf_slice(out));
    vd_buf_reset(out);
    return bytes;
}

/* ---- services ---- */

void vd_http_service_init(struct vd_http_service *service, struct vd_loop *loop)
{
    service->loop = loop;
    service->flush_hook.run = flush_dirty;
    vd_http_date_init(&service->date, vd_clock_system());
    vd_loop_hook(loop, &service->flush_hook);
}

void vd_http_service_drain(struct vd_http_service *service)
{
    service->draining = true;
    for (struct vd_connection *c = service->connections, *next; c; c = next) {
        next = c->next;
        c->keep_alive = false;
        if (c->state == VD_CONNECTION_IDLE)
            close_now(c);
    }
}

void vd_http_service_close_all(struct vd_http_service *service)
{
    while (service->connections)
        close_now(service->connections);
}
