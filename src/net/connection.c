/*
 * See connection.h. Bytes come in through receive() into the intake, where
 * process() takes one request after the other off the front; a request that is
 * complete goes to the service's handler, and the next one waits until its answer
 * is complete and most of what was answered before has left. Bytes go out through
 * output.c at the end of each turn.
 *
 * A connection ends in steps. After the last answer it is CLOSING until all is sent.
 * Then it says that it is finished and LINGERs, reading without looking: closing a
 * socket that has unread bytes resets the connection, and a reset can overtake the
 * answer. vd_connection_close() ends it at any time, and the loop frees it when
 * libuv has let go of its handle.
 */
#include "net/connection.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "net/account.h"
#include "net/connection_internal.h"
#include "net/http2.h"
#include "net/output.h"
#include "net/ticket.h"

enum {
    READS_PER_EVENT = 4,
    STREAMS_READ_LEN = 16384, /* once: hundreds of requests fit into it */
    FLUSH_ROUNDS = 2,
    COUNTED_LEN_MIN = 4096,  /* a head that is smaller is part of what a connection costs */
    STREAM_AHEAD_LEN = 4096, /* that is read of a client while a stream goes to it */
};

static void process(struct vd_connection *c);
static void refuse(struct vd_connection *c, enum vd_http_refusal refusal);

/* ---- life and death ---- */

static void free_connection(uv_handle_t *handle)
{
    struct vd_connection *c = handle->data;
    vd_output_release(c);
    vd_account_unref(c->account);
    free(c);
}

static void intake_free(struct vd_connection *c)
{
    vd_intake_give(c->service, c->intake);
    c->intake = NULL;
}

static void shaking_remove(struct vd_connection *c)
{
    struct vd_http_service *s = c->service;
    if (!c->shaking)
        return;
    c->shaking = false;
    *(c->prev_dirty ? &c->prev_dirty->next_dirty : &s->shaking) = c->next_dirty;
    *(c->next_dirty ? &c->next_dirty->prev_dirty : &s->shaking_last) = c->prev_dirty;
}

static void unlink_connection(struct vd_connection *c)
{
    struct vd_http_service *s = c->service;
    vd_connection_unlink(c);
    s->count--;
    shaking_remove(c);
    vd_output_unmark(c);
    if (s->count == 0)
        vd_intake_free_spare(s);
}

void vd_connection_close(struct vd_connection *c)
{
    if (c->state == VD_CONNECTION_CLOSED)
        return;
    struct vd_exchange *x = &c->exchange;
    bool answering = c->state == VD_CONNECTION_ANSWER;
    c->state = VD_CONNECTION_CLOSED;
    x->sent_len -= x->sent_len < c->backlog ? x->sent_len : c->backlog;
    if (answering && c->service->finished)
        c->service->finished(c->service, x);
    if (answering && x->ops)
        x->ops->gone(x);
    if (c->http2)
        vd_http2_close(c);
    if (c->memo.what)
        c->memo.free(c->memo.what);
    vd_timer_stop(c->loop, &c->deadline);
    vd_ticket_give_back(c);
    intake_free(c);
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

static void set_idle(struct vd_connection *c)
{
    const struct vd_http_deadlines *d = &c->service->deadlines;
    c->state = VD_CONNECTION_IDLE;
    vd_connection_set_deadline(c, c->service->draining ? d->head_ms : d->idle_ms);
}

void vd_connection_begin_close(struct vd_connection *c)
{
    c->state = VD_CONNECTION_CLOSING;
    intake_free(c);
    vd_connection_set_deadline(c, c->service->deadlines.send_ms);
    vd_output_mark(c);
}

/* A stream may stand still for as long as it likes, unless too much waits for its user. */
static void on_stall(struct vd_connection *c)
{
    if (c->backlog && !c->progressed && vd_exchange_is_over(&c->exchange))
        vd_connection_close(c);
    else if (c->backlog)
        vd_connection_set_deadline(c, c->service->deadlines.send_ms);
}

static void on_deadline(struct vd_timer *timer)
{
    struct vd_connection *c = VD_HEAP_OWNER(timer, struct vd_connection, deadline);
    bool receiving = c->state == VD_CONNECTION_HEAD || c->state == VD_CONNECTION_BODY;
    if (c->ticket) /* it is not the client's fault */
        vd_connection_set_deadline(c, c->service->deadlines.head_ms);
    else if (c->state == VD_CONNECTION_ANSWER)
        on_stall(c);
    else if (c->http2)
        vd_http2_on_deadline(c);
    else if (receiving && !c->paused)
        refuse(c, VD_HTTP_REFUSED_SLOW);
    else if (c->backlog && c->progressed) /* slow, but it reads */
        vd_connection_set_deadline(c, c->service->deadlines.send_ms);
    else
        vd_connection_close(c);
}

/* ---- what to wait for ---- */

static void on_poll(uv_poll_t *poll, int status, int events);

/* Bytes that belong to later requests. */
static size_t ahead_len(const struct vd_intake *in)
{
    return in->bytes.n - in->next_at + in->later.n;
}

static size_t ahead_max(const struct vd_connection *c)
{
    return c->streaming ? STREAM_AHEAD_LEN : VD_HTTP_AHEAD_LEN_MAX;
}

static bool may_read(const struct vd_connection *c)
{
    if (c->peer_done || c->ticket || c->state == VD_CONNECTION_CLOSING ||
        c->state == VD_CONNECTION_CLOSED)
        return false;
    if (c->http2)
        return vd_http2_may_read(c);
    if (c->state != VD_CONNECTION_ANSWER)
        return !c->paused;
    return !c->admitting && (!c->intake || ahead_len(c->intake) < ahead_max(c));
}

/* TLS reads ahead. While it lingers, a connection is not read through TLS any more. */
static bool has_unread(const struct vd_connection *c)
{
    return c->state != VD_CONNECTION_LINGER && vd_transport_has_pending(&c->transport);
}

/* Each change costs up to three system calls. A dirty connection is looked at again
 * when it is flushed, and then nearly always waits for the same as before. */
static void set_events(struct vd_connection *c)
{
    if (c->state == VD_CONNECTION_CLOSED || c->is_dirty || c->shaking)
        return;
    bool reads = may_read(c);
    if (reads && has_unread(c)) { /* no event will tell of it: the flush does */
        vd_output_mark(c);
        return;
    }
    int events = reads ? UV_READABLE : 0;
    /* A client that leaves while it is not read from must be noticed too. */
    bool answering = c->state == VD_CONNECTION_ANSWER || c->http2;
    if (!reads && answering && !c->peer_done && !c->deaf)
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

/* How much may wait to be sent when the next request is looked at. A stranger is charged to no
 * account, so he gets little. */
static size_t output_max(const struct vd_connection *c)
{
    return c->is_known ? VD_HTTP_AHEAD_OUTPUT_MAX : VD_HTTP_STRANGER_OUTPUT_MAX;
}

/* What had to wait for the backlog. `late`: it could not be sent in one turn. */
static void after_flush(struct vd_connection *c, bool late)
{
    if (c->http2) {
        vd_http2_after_flush(c);
        return;
    }
    if (c->state == VD_CONNECTION_CLOSING && c->backlog == 0)
        linger(c);
    else if (c->state == VD_CONNECTION_IDLE && c->backlog == 0 && late)
        set_idle(c); /* the time for sending was not the client's to think */
    else if (c->paused && c->backlog <= output_max(c))
        process(c);
    if (c->streaming && c->backlog && !vd_timer_is_set(&c->deadline))
        vd_connection_set_deadline(c, c->service->deadlines.send_ms);
    if (c->backlog == 0 && c->await_drain) {
        c->await_drain = false;
        if (c->state == VD_CONNECTION_ANSWER && c->exchange.ops)
            c->exchange.ops->drained(&c->exchange);
    }
}

static void read_on_turn(struct vd_connection *c);

static void flush(struct vd_connection *c, bool late)
{
    if (!c->transport.handshaken)
        return;
    bool left = c->streaming && (c->peer_done || c->deaf);
    if (left || !(c->http2 ? vd_http2_flush(c) : vd_output_flush(c)))
        vd_connection_close(c);
    else
        after_flush(c, late);
    if (may_read(c) && has_unread(c))
        read_on_turn(c);
    else
        set_events(c);
}

static void shake_hands(struct vd_connection *c);

/* Handshakes that had to wait; they count for the turn to come. */
static void shake_some(struct vd_http_service *s)
{
    for (s->handshakes = 0; s->shaking && s->handshakes < VD_HTTP_TURN_HANDSHAKES_MAX;) {
        struct vd_connection *c = s->shaking;
        shaking_remove(c);
        s->handshakes++;
        shake_hands(c);
    }
}

/* What was queued in this turn leaves now. What that brings about may queue more;
 * that is for the next round. */
static bool flush_dirty(struct vd_turn_hook *hook)
{
    struct vd_http_service *s =
        (struct vd_http_service *)((char *)hook - offsetof(struct vd_http_service, flush_hook));
    shake_some(s);
    for (int round = 0; s->dirty && round < FLUSH_ROUNDS; round++) {
        for (size_t n = s->dirty_n; s->dirty && n > 0; n--) {
            struct vd_connection *c = s->dirty;
            vd_output_unmark(c);
            flush(c, false);
        }
    }
    return s->dirty != NULL || s->shaking != NULL;
}

/* ---- requests ---- */

static struct vd_intake *intake_ensure(struct vd_connection *c)
{
    if (!c->intake)
        c->intake = vd_intake_take(c->service);
    return c->intake;
}

void vd_connection_forget_request(struct vd_connection *c)
{
    struct vd_intake *in = c->intake;
    if (!in || ahead_len(in) == 0) {
        intake_free(c);
        return;
    }
    vd_upload_release(&in->upload);
    size_t left = in->bytes.n - in->next_at;
    if (left)
        memmove(in->bytes.p, in->bytes.p + in->next_at, left);
    in->bytes.n = left;
    vd_buf_add_slice(&in->bytes, vd_buf_slice(&in->later));
    vd_buf_release(&in->later);
    in->body_end = in->next_at = 0;
    vd_http_head_init(&in->head);
}

static void begin_answer(struct vd_connection *c)
{
    vd_timer_stop(c->loop, &c->deadline);
    c->state = VD_CONNECTION_ANSWER;
    c->streaming = c->await_drain = c->admitting = false;
    c->exchange = (struct vd_exchange){
        .connection = c,
        .loop = c->loop,
        .start_ns = vd_clock_mono_ns(vd_clock_system()),
        .protocol = c->intake && c->intake->head.done && c->intake->head.minor == 0 ? "HTTP/1.0"
                                                                                    : "HTTP/1.1",
    };
}

static void refuse(struct vd_connection *c, enum vd_http_refusal refusal)
{
    unsigned status = vd_http_refusal_status(refusal);
    const char *why = vd_http_refusal_text(refusal);
    begin_answer(c);
    c->keep_alive = c->head_only = false;
    c->chunked = true;
    if (c->service->refused)
        c->service->refused(c->service, &c->exchange, status, why);
    else
        vd_connection_refuse_plainly(&c->exchange, status, why);
    assert(c->state != VD_CONNECTION_ANSWER);
}

/* What is asked for is known from here on. */
static void begin_request(struct vd_connection *c)
{
    struct vd_intake *in = c->intake;
    vd_http_head_rebase(&in->head, in->bytes.p);
    begin_answer(c);
    c->keep_alive = in->head.keep_alive && !c->service->draining;
    c->chunked = in->head.minor == 1;
    c->head_only = in->head.method == VD_HTTP_HEAD;
    c->exchange.head = &in->head;
}

/* Asks whether the body is wanted. Where the rest of it is not, the connection ends with the
 * answer. */
static void ask_to_admit(struct vd_connection *c, bool is_whole)
{
    begin_request(c);
    c->keep_alive &= is_whole;
    c->admitting = true;
    c->exchange.upload = &c->intake->upload;
    c->service->admit(c->service, &c->exchange);
}

void vd_connection_receive_body(struct vd_connection *c)
{
    struct vd_intake *in = c->intake;
    assert(c->state == VD_CONNECTION_ANSWER && c->admitting);
    (void)vd_intake_count(c->service, in, 0);
    c->admitting = false;
    c->state = VD_CONNECTION_BODY;
    vd_connection_set_deadline(c, c->service->deadlines.body_ms);
    if (in->head.expect_continue && in->framing.total == 0 && in->next_at == in->head.used)
        vd_output_add(c, vd_bytes_copy(VD_HTTP_CONTINUE), 0, VD_HTTP_CONTINUE.n);
    vd_output_mark(c);
    process(c);
}

static void dispatch(struct vd_connection *c)
{
    struct vd_intake *in = c->intake;
    begin_request(c);
    c->exchange.upload = in->upload.is_admitted ? &in->upload : NULL;
    c->exchange.body = vd_slice(in->bytes.p + in->head.used, in->body_end - in->head.used);
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
    bool is_whole = result == VD_HTTP_DONE;
    bool is_small = is_whole && in->body_end <= VD_HTTP_BODY_FREE_LEN;
    if (!is_whole)
        in->bytes.n = in->next_at = in->body_end;
    if (c->service->admit && !in->upload.is_admitted && !is_small)
        ask_to_admit(c, is_whole);
    else if (is_whole)
        dispatch(c);
    else
        return false;
    return true;
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
    bool has_body = in->head.chunked || in->head.length > 0;
    bool waits = in->head.expect_continue && has_body && in->bytes.n == in->head.used &&
                 in->head.length <= c->service->body_len_max;
    if (waits && !c->service->admit)
        vd_output_add(c, vd_bytes_copy(VD_HTTP_CONTINUE), 0, VD_HTTP_CONTINUE.n);
    if (has_body)
        vd_connection_set_deadline(c, c->service->deadlines.body_ms);
    return true;
}

/* Whether the next request must wait: a client that asks and asks but does not read
 * would have its answers pile up, and one with many small requests the loop to
 * itself. */
static bool must_pause(const struct vd_connection *c, int taken)
{
    return c->state == VD_CONNECTION_HEAD &&
           (c->backlog > output_max(c) || taken >= VD_HTTP_TURN_REQUESTS_MAX);
}

/* Takes requests off the front while there are complete ones. An answer that is
 * complete at once comes back here through vd_connection_finish_answer(): one loop
 * is enough. */
static void process(struct vd_connection *c)
{
    if (c->processing)
        return;
    if (c->paused && c->state == VD_CONNECTION_HEAD)
        vd_connection_set_deadline(c, c->service->deadlines.head_ms);
    c->processing = true;
    c->paused = false;
    bool go_on = true;
    for (int taken = 0; go_on && !c->paused;) {
        if (must_pause(c, taken)) {
            c->paused = true;
            vd_output_mark(c);
        } else if (c->state == VD_CONNECTION_HEAD) {
            go_on = read_head(c);
            taken++;
        } else if (c->state == VD_CONNECTION_BODY) {
            go_on = read_body(c);
        } else {
            go_on = false;
        }
    }
    c->processing = false;
    bool receiving = c->state == VD_CONNECTION_HEAD || c->state == VD_CONNECTION_BODY;
    if (receiving && c->peer_done && !c->paused)
        vd_connection_begin_close(c); /* the rest of it will never come */
    set_events(c);
}

void vd_connection_finish_answer(struct vd_connection *c)
{
    if (c->service->finished)
        c->service->finished(c->service, &c->exchange);
    c->exchange.ops = NULL;
    c->await_drain = c->streaming = c->admitting = false;
    vd_output_mark(c); /* what to wait for has changed, even if nothing is queued */
    if (c->keep_alive)
        vd_connection_forget_request(c);
    if (!c->keep_alive || (c->peer_done && !c->intake)) {
        vd_connection_begin_close(c);
    } else if (!c->intake) {
        set_idle(c);
    } else {
        c->state = VD_CONNECTION_HEAD;
        vd_connection_set_deadline(c, c->service->deadlines.head_ms);
        process(c);
    }
}

/* ---- reading ---- */

/* Counts what it holds of requests about which nobody was asked; see upload.h. */
static void count_stranger(struct vd_connection *c)
{
    struct vd_intake *in = c->intake;
    if (!in || c->state == VD_CONNECTION_CLOSED)
        return;
    bool is_held = c->state == VD_CONNECTION_HEAD ||
                   (c->state == VD_CONNECTION_ANSWER && (c->admitting || !c->is_known));
    size_t n = in->bytes.n + in->later.n;
    if (vd_intake_count(c->service, in, is_held && n > COUNTED_LEN_MIN ? n : 0))
        return;
    if (c->state == VD_CONNECTION_HEAD && !c->paused)
        refuse(c, VD_HTTP_REFUSED_HEADS);
    else
        vd_connection_close(c);
}

static void receive(struct vd_connection *c, const char *p, size_t n)
{
    if (c->http2) {
        vd_http2_receive(c, p, n);
        return;
    }
    struct vd_intake *in = intake_ensure(c);
    vd_buf_add(c->state == VD_CONNECTION_ANSWER ? &in->later : &in->bytes, p, n);
    if (c->state == VD_CONNECTION_IDLE) {
        c->state = VD_CONNECTION_HEAD;
        vd_connection_set_deadline(c, c->service->deadlines.head_ms);
    }
    enum vd_http_result preface = VD_HTTP_REFUSED;
    if (c->fresh)
        preface = vd_http2_preface(vd_buf_slice(&c->intake->bytes));
    c->fresh = preface == VD_HTTP_MORE;
    if (preface == VD_HTTP_DONE) {
        struct vd_intake *first = c->intake;
        c->intake = NULL;
        vd_http2_start(c);
        vd_http2_receive(c, first->bytes.p, first->bytes.n);
        vd_intake_give(c->service, first);
    } else if (preface == VD_HTTP_REFUSED) {
        process(c);
        count_stranger(c);
    }
}

/* The peer has said its last word. */
static void end_of_input(struct vd_connection *c)
{
    c->peer_done = true;
    if (c->streaming || c->http2)
        vd_connection_close(c);
    else if (c->state != VD_CONNECTION_ANSWER)
        vd_connection_begin_close(
            c); /* nothing is asked for; earlier answers may still have to leave */
}

static size_t read_len(const struct vd_connection *c)
{
    if (c->http2)
        return STREAMS_READ_LEN;
    if (c->state != VD_CONNECTION_ANSWER)
        return VD_LOOP_SCRATCH_LEN;
    return ahead_max(c) - (c->intake ? ahead_len(c->intake) : 0);
}

/* Reads once. False: there is no more just now. */
static bool read_once(struct vd_connection *c)
{
    char *room = c->loop->scratch;
    size_t len = read_len(c);
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
    receive(c, room, (size_t)n);
    return !c->http2 &&
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
    set_events(c);
}

static void read_on_turn(struct vd_connection *c)
{
    struct vd_account *lane_of;
    if (vd_ticket_enter(c, &lane_of)) {
        vd_connection_read(c);
        vd_ticket_leave(c, lane_of);
    } else {
        set_events(c);
    }
}

/* A step of a handshake costs as much as many requests: when a turn has taken its share,
 * the others wait, unheard, for later ones. The second step goes before all first ones: of
 * a herd that comes at once, each is then served soon after it was answered, where in the
 * order of arrival all would wait for all, and none be done when the time is over. It goes
 * first once only, so that nobody can stay in front by sending little at a time. */
static bool must_wait_to_shake(struct vd_connection *c)
{
    struct vd_http_service *s = c->service;
    if (s->handshakes++ < VD_HTTP_TURN_HANDSHAKES_MAX)
        return false;
    uv_poll_stop(&c->poll);
    c->events = 0;
    c->shaking = true;
    bool first = c->shakes == 1;
    c->next_dirty = first ? s->shaking : NULL;
    c->prev_dirty = first ? NULL : s->shaking_last;
    *(c->prev_dirty ? &c->prev_dirty->next_dirty : &s->shaking) = c;
    *(c->next_dirty ? &c->next_dirty->prev_dirty : &s->shaking_last) = c;
    return true;
}

static void shake_hands(struct vd_connection *c)
{
    int rc = vd_transport_handshake(&c->transport);
    if (c->shakes < 2)
        c->shakes++;
    if (rc == VD_TRANSPORT_BROKEN)
        vd_connection_close(c);
    else if (rc == 1 && c->service->streams_max && vd_transport_speaks_http2(&c->transport))
        vd_http2_start(c);
    else if (rc == 1)
        set_idle(c);
    set_events(c);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct vd_connection *c = poll->data;
    if (status < 0) {
        vd_connection_close(c);
        return;
    }
    if (c->state == VD_CONNECTION_HANDSHAKE) {
        if (!must_wait_to_shake(c))
            shake_hands(c);
        return;
    }
    bool reads = events & UV_READABLE || c->transport.wants_write;
    if (events & UV_WRITABLE)
        flush(c, true);
    if (reads && may_read(c)) {
        read_on_turn(c);
    } else if (events & UV_DISCONNECT && (c->state == VD_CONNECTION_ANSWER || c->http2) &&
               !may_read(c)) {
        c->deaf = true;
        if (c->streaming || c->http2)
            vd_connection_close(c);
        set_events(c);
    }
}

/* ---- accepting ---- */

void vd_connection_accept(struct vd_http_service *service, int fd, SSL_CTX *tls)
{
    struct vd_connection *c = VD_NEW(struct vd_connection);
    c->loop = service->loop;
    c->service = service;
    c->deadline.fire = on_deadline;
    c->peer = vd_peer_of(fd);
    vd_transport_set_options(fd);
    if (!vd_transport_open(&c->transport, fd, tls) || uv_poll_init(&c->loop->uv, &c->poll, fd)) {
        vd_transport_close(&c->transport);
        free(c);
        return;
    }
    c->poll.data = c;
    c->is_known = !service->strangers_max; /* nobody asks */
    if (service->strangers_max && service->strangers_n >= service->strangers_max)
        vd_strangers_make_room(service);
    vd_connection_link(c);
    service->count++;
    if (tls) {
        c->state = VD_CONNECTION_HANDSHAKE;
        vd_connection_set_deadline(c, service->deadlines.handshake_ms);
    } else {
        c->fresh = service->streams_max > 0;
        set_idle(c);
    }
    set_events(c);
}

/* ---- services ---- */

void vd_http_service_init(struct vd_http_service *service, struct vd_loop *loop)
{
    *service = (struct vd_http_service){
        .loop = loop,
        .body_len_max = VD_BODY_LEN_MAX,
        .streams_max = VD_HTTP2_STREAMS_DEFAULT,
        .deadlines = {.handshake_ms = VD_HTTP_HANDSHAKE_MS,
                      .head_ms = VD_HTTP_HEAD_MS,
                      .body_ms = VD_HTTP_BODY_MS,
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
        if (c->http2)
            vd_http2_drain(c);
        else if (c->state == VD_CONNECTION_HANDSHAKE ||
                 (c->state == VD_CONNECTION_IDLE && c->backlog == 0))
            vd_connection_close(c);
        else if (c->state == VD_CONNECTION_IDLE)
            vd_connection_begin_close(c);
    }
}

void vd_http_service_drain(struct vd_http_service *service)
{
    service->draining = true;
    drain_list(service->strangers);
    drain_list(service->connections);
}

void vd_http_service_close_all(struct vd_http_service *service)
{
    while (service->connections)
        vd_connection_close(service->connections);
    while (service->strangers)
        vd_connection_close(service->strangers);
}
