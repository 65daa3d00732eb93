/*
 * See connection.h. Bytes that come in go to the connection's protocol; bytes go out through
 * output.c at the end of each turn.
 *
 * A connection ends in steps. After the last answer it is CLOSING until all is sent.
 * Then it says that it is finished and LINGERs, reading without looking: closing a
 * socket that has unread bytes resets the connection, and a reset can overtake the
 * answer. vd_connection_close() ends it at any time, and the loop frees it when
 * libuv has let go of its handle.
 */
#include "net/connection.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "net/account.h"
#include "net/body_reader.h"
#include "net/connection_internal.h"
#include "net/http1.h"
#include "net/http2.h"
#include "net/output.h"
#include "net/protocol.h"
#include "net/ticket.h"

enum {
    READS_PER_EVENT = 4, /* reads of one connection before others have their turn */
    FLUSH_ROUNDS = 2,    /* times that the end of a turn goes through the connections with output */
};

/* Whether its protocol has no more to say. */
static bool is_ending(const struct vd_connection *c)
{
    return c->state >= VD_CONNECTION_CLOSING;
}

/* ---- life and death ---- */

static void free_connection(uv_handle_t *handle)
{
    struct vd_connection *c = handle->data;
    vd_output_release(c);
    vd_account_unref(c->account);
    free(c);
}

static void handshake_dequeue(struct vd_connection *c)
{
    struct vd_http_service *s = c->service;
    if (!c->handshake_queued)
        return;
    c->handshake_queued = false;
    *(c->prev_queued ? &c->prev_queued->next_queued : &s->handshakes_first) = c->next_queued;
    *(c->next_queued ? &c->next_queued->prev_queued : &s->handshakes_last) = c->prev_queued;
}

static void unlink_connection(struct vd_connection *c)
{
    struct vd_http_service *s = c->service;
    vd_connection_unlink(c);
    s->count--;
    handshake_dequeue(c);
    vd_output_unmark(c);
    if (s->count == 0)
        vd_intake_free_spare(s);
}

void vd_connection_close(struct vd_connection *c)
{
    if (c->state == VD_CONNECTION_CLOSED)
        return;
    enum vd_connection_state from = c->state;
    c->state = VD_CONNECTION_CLOSED;
    if (from < VD_CONNECTION_CLOSING)
        c->protocol->close(c, from);
    if (c->memo.what)
        c->memo.free(c->memo.what);
    vd_timer_stop(c->loop, &c->deadline);
    vd_ticket_give_back(c);
    vd_connection_free_intake(c);
    unlink_connection(c);
    /* In this order: once closed, the descriptor's number may be another thread's. */
    uv_close((uv_handle_t *)&c->poll, free_connection);
    vd_transport_close(&c->transport);
}

/* ---- deadlines ---- */

void vd_connection_set_deadline(struct vd_connection *c, uint64_t ms)
{
    c->progressed = false;
    vd_timer_set(c->loop, &c->deadline, ms);
}

void vd_connection_begin_close(struct vd_connection *c)
{
    c->state = VD_CONNECTION_CLOSING;
    vd_connection_free_intake(c);
    vd_connection_set_deadline(c, c->service->deadlines.send_ms);
    vd_output_mark(c);
}

void vd_connection_close_if_stuck(struct vd_connection *c)
{
    if (c->backlog && c->progressed) /* slow, but it reads */
        vd_connection_set_deadline(c, c->service->deadlines.send_ms);
    else
        vd_connection_close(c);
}

static void on_deadline(struct vd_timer *timer)
{
    struct vd_connection *c = VD_CONTAINER_OF(timer, struct vd_connection, deadline);
    if (c->ticket) /* it is not the client's fault */
        vd_connection_set_deadline(c, c->service->deadlines.head_ms);
    else if (c->state == VD_CONNECTION_HANDSHAKE || is_ending(c))
        vd_connection_close_if_stuck(c);
    else
        c->protocol->on_deadline(c);
}

/* ---- what to wait for ---- */

static void on_poll(uv_poll_t *poll, int status, int events);

static bool may_read(const struct vd_connection *c)
{
    if (c->peer_done || c->ticket || c->state == VD_CONNECTION_CLOSING ||
        c->state == VD_CONNECTION_CLOSED)
        return false;
    return c->state == VD_CONNECTION_HANDSHAKE || c->state == VD_CONNECTION_LINGER ||
           c->protocol->may_read(c);
}

/* Whether somebody has yet to say something to the client. */
static bool is_answering(const struct vd_connection *c)
{
    return c->state == VD_CONNECTION_ANSWER || c->state == VD_CONNECTION_STREAMS ||
           c->state == VD_CONNECTION_UPGRADED;
}

/* A stream that answers a body which is read as it arrives has an end of its own, and is good for a
 * client that has said all it had to say. */
static bool is_endless(const struct vd_connection *c)
{
    return c->streaming && !c->exchange.reader;
}

/* Whether the connection is of no more use when the client sends no more: nobody could tell it
 * from one that has left, or the body of its request will never be complete. `all_read`: what it
 * had sent before has been read. */
static bool ends_with_input(const struct vd_connection *c, bool all_read)
{
    const struct vd_body_reader *reader = c->exchange.reader;
    return is_endless(c) || c->state == VD_CONNECTION_STREAMS ||
           (all_read && reader && !reader->is_whole);
}

/* TLS reads ahead. While it lingers, a connection is not read through TLS any more. */
static bool has_unread(const struct vd_connection *c)
{
    return c->state != VD_CONNECTION_LINGER && vd_transport_has_pending(&c->transport);
}

/* Each change costs up to three system calls. A dirty connection is looked at again
 * when it is flushed, and then nearly always waits for the same as before. */
void vd_connection_set_events(struct vd_connection *c)
{
    if (c->state == VD_CONNECTION_CLOSED || c->is_dirty || c->handshake_queued)
        return;
    bool reads = may_read(c);
    if (reads && has_unread(c)) { /* no event will tell of it: the flush does */
        vd_output_mark(c);
        return;
    }
    int events = reads ? UV_READABLE : 0;
    /* A client that leaves while it is not read from must be noticed too. */
    if (!reads && is_answering(c) && !c->peer_done && !c->eof_pending)
        events |= UV_DISCONNECT;
    if (c->backlog || (reads && c->transport.wants_write))
        events |= UV_WRITABLE;
    if (events == c->events)
        return;
    c->events = events;
    uv_poll_start(&c->poll, events, on_poll);
}

/* ---- writing ---- */

static void linger(struct vd_connection *c)
{
    if (c->peer_done) {
        vd_connection_close(c);
        return;
    }
    vd_transport_finish(&c->transport);
    c->state = VD_CONNECTION_LINGER;
    vd_connection_set_deadline(c, c->service->deadlines.linger_ms);
}

static void read_on_turn(struct vd_connection *c);

static void flush(struct vd_connection *c, bool late)
{
    if (!c->transport.handshaken)
        return;
    bool left = is_endless(c) && (c->peer_done || c->eof_pending);
    if (left || !(is_ending(c) ? vd_output_flush(c) : c->protocol->flush(c)))
        vd_connection_close(c);
    else if (!is_ending(c))
        c->protocol->after_flush(c, late);
    if (c->state == VD_CONNECTION_CLOSING && c->backlog == 0)
        linger(c);
    if (may_read(c) && has_unread(c))
        read_on_turn(c);
    else
        vd_connection_set_events(c);
}

static void handshake_step(struct vd_connection *c);

/* Handshakes that had to wait; they count for the turn to come. */
static void run_handshakes(struct vd_http_service *s)
{
    for (s->handshakes = 0; s->handshakes_first && s->handshakes < VD_HTTP_TURN_HANDSHAKES_MAX;) {
        struct vd_connection *c = s->handshakes_first;
        handshake_dequeue(c);
        s->handshakes++;
        handshake_step(c);
    }
}

/* What was queued in this turn leaves now. What that brings about may queue more;
 * that is for the next round. */
static bool flush_dirty(struct vd_turn_hook *hook)
{
    struct vd_http_service *s = VD_CONTAINER_OF(hook, struct vd_http_service, flush_hook);
    run_handshakes(s);
    for (int round = 0; s->dirty && round < FLUSH_ROUNDS; round++) {
        for (size_t n = s->dirty_n; s->dirty && n > 0; n--) {
            struct vd_connection *c = s->dirty;
            vd_output_unmark(c);
            flush(c, false);
        }
    }
    return s->dirty != NULL || s->handshakes_first != NULL;
}

/* ---- reading ---- */

/* The peer has said its last word. */
static void end_of_input(struct vd_connection *c)
{
    c->peer_done = true;
    if (ends_with_input(c, true))
        vd_connection_close(c);
    else if (c->state != VD_CONNECTION_ANSWER)
        vd_connection_begin_close(
            c); /* nothing is asked for; earlier answers may still have to leave */
}

/* Reads once. False: there is no more just now. */
static bool read_once(struct vd_connection *c)
{
    char *room = c->loop->scratch;
    size_t len = c->protocol->read_len(c);
    ssize_t n = vd_transport_read(&c->transport, room, len);
    if (n == VD_TRANSPORT_AGAIN)
        return false;
    if (n < 0) {
        vd_connection_close(c);
        return false;
    }
    if (n == 0) {
        end_of_input(c);
        return false;
    }
    c->protocol->received(c, room, (size_t)n);
    return !c->protocol->reads_once &&
           (c->transport.ssl ? vd_transport_has_pending(&c->transport) : (size_t)n == len);
}

void vd_connection_read(struct vd_connection *c)
{
    if (c->state == VD_CONNECTION_LINGER) {
        if (!vd_transport_discard(&c->transport, c->loop->scratch, VD_LOOP_SCRATCH_LEN))
            vd_connection_close(c);
        return;
    }
    for (int i = 0; i < READS_PER_EVENT && may_read(c) && read_once(c);)
        i++;
    vd_connection_set_events(c);
}

static void read_on_turn(struct vd_connection *c)
{
    struct vd_account *entered;
    if (vd_ticket_enter(c, &entered)) {
        vd_connection_read(c);
        vd_ticket_leave(c, entered);
    } else {
        vd_connection_set_events(c);
    }
}

/* A step of a handshake costs as much as many requests: when a turn has taken its share,
 * the others wait, unheard, for later ones. The second step goes before all first ones: of
 * a herd that comes at once, each is then served soon after it was answered, where in the
 * order of arrival all would wait for all, and none be done when the time is over. It goes
 * first once only, so that nobody can stay in front by sending little at a time. */
static bool handshake_must_wait(struct vd_connection *c)
{
    struct vd_http_service *s = c->service;
    if (s->handshakes++ < VD_HTTP_TURN_HANDSHAKES_MAX)
        return false;
    uv_poll_stop(&c->poll);
    c->events = 0;
    c->handshake_queued = true;
    bool first = c->handshake_steps == 1;
    c->next_queued = first ? s->handshakes_first : NULL;
    c->prev_queued = first ? NULL : s->handshakes_last;
    *(c->prev_queued ? &c->prev_queued->next_queued : &s->handshakes_first) = c;
    *(c->next_queued ? &c->next_queued->prev_queued : &s->handshakes_last) = c;
    return true;
}

static void handshake_step(struct vd_connection *c)
{
    int rc = vd_transport_handshake(&c->transport);
    if (c->handshake_steps < 2)
        c->handshake_steps++;
    if (rc == VD_TRANSPORT_BROKEN)
        vd_connection_close(c);
    else if (rc == 1 && c->service->streams_max && vd_transport_speaks_http2(&c->transport))
        vd_http2_start(c);
    else if (rc == 1)
        vd_connection_set_idle(c);
    vd_connection_set_events(c);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct vd_connection *c = poll->data;
    if (status < 0) {
        vd_connection_close(c);
        return;
    }
    if (c->state == VD_CONNECTION_HANDSHAKE) {
        if (!handshake_must_wait(c))
            handshake_step(c);
        return;
    }
    bool reads = events & UV_READABLE || c->transport.wants_write;
    if (events & UV_WRITABLE)
        flush(c, true);
    if (reads && may_read(c)) {
        read_on_turn(c);
    } else if (events & UV_DISCONNECT && is_answering(c) && !may_read(c)) {
        c->eof_pending = true;
        if (ends_with_input(c, false))
            vd_connection_close(c);
        vd_connection_set_events(c);
    }
}

/* ---- accepting ---- */

void vd_connection_accept(struct vd_http_service *service, int fd, SSL_CTX *tls)
{
    struct vd_connection *c = VD_NEW(struct vd_connection);
    c->loop = service->loop;
    c->service = service;
    c->protocol = &vd_protocol_http1;
    c->deadline.fire = on_deadline;
    c->peer = vd_peer_of(fd);
    vd_transport_set_options(fd);
    if (!vd_transport_open(&c->transport, fd, tls) || uv_poll_init(&c->loop->uv, &c->poll, fd)) {
        vd_transport_close(&c->transport);
        free(c);
        return;
    }
    c->poll.data = c;
    c->has_user = !service->strangers_max; /* nobody asks */
    if (service->strangers_max && service->strangers_n >= service->strangers_max)
        vd_strangers_make_room(service);
    vd_connection_link(c);
    service->count++;
    if (tls) {
        c->state = VD_CONNECTION_HANDSHAKE;
        vd_connection_set_deadline(c, service->deadlines.handshake_ms);
    } else {
        c->fresh = service->streams_max > 0;
        vd_connection_set_idle(c);
    }
    vd_connection_set_events(c);
}

/* ---- services ---- */

void vd_http_service_init(struct vd_http_service *service, struct vd_loop *loop)
{
    *service = (struct vd_http_service){
        .loop = loop,
        .streams_max = VD_HTTP2_STREAMS_DEFAULT,
        .deadlines = {.handshake_ms = VD_HTTP_HANDSHAKE_MS,
                      .head_ms = VD_HTTP_HEAD_MS,
                      .body_ms = VD_HTTP_BODY_MS,
                      .body_idle_ms = VD_HTTP_BODY_IDLE_MS,
                      .idle_ms = VD_HTTP_IDLE_MS,
                      .send_ms = VD_HTTP_SEND_MS,
                      .linger_ms = VD_HTTP_LINGER_MS},
        .flush_hook.run = flush_dirty,
    };
    vd_http_date_init(&service->date, vd_clock_system());
    vd_loop_hook(loop, &service->flush_hook);
}

static void drain_list(struct vd_connection *first)
{
    for (struct vd_connection *c = first, *next; c; c = next) {
        next = c->next;
        c->keep_alive = false;
        if (c->state == VD_CONNECTION_HANDSHAKE)
            vd_connection_close(c);
        else if (!is_ending(c))
            c->protocol->drain(c);
    }
}

void vd_http_service_drain(struct vd_http_service *service, uint64_t spread_ms)
{
    service->draining = true;
    drain_list(service->strangers);
    drain_list(service->connections);
    for (size_t i = 0; i < service->routes->list.n; i++) {
        const struct vd_route *route = service->routes->list.p[i];
        if (route->drain)
            route->drain(service, route, spread_ms);
    }
}

void vd_http_service_close_all(struct vd_http_service *service)
{
    while (service->connections)
        vd_connection_close(service->connections);
    while (service->strangers)
        vd_connection_close(service->strangers);
}
