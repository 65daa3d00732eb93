/*
 * HTTP/1.1 on a connection: how requests arrive; http1_answer.c has the answers.
 *
 * Bytes come in through received() into the intake, where vd_http1_process() takes one request
 * after the other off the front; a request that is complete goes to its route's handler, and the
 * next one waits until its answer is complete and most of what was answered before has left.
 */
#include "net/http1.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "net/account.h"
#include "net/body_reader.h"
#include "net/http2.h"
#include "net/output.h"

enum {
    COUNTED_LEN_MIN = 4096,  /* a head that is smaller is part of what a connection costs */
    STREAM_AHEAD_LEN = 4096, /* that is read of a client while a stream goes to it */
};

static void refuse(struct vd_connection *c, enum vd_http_refusal refusal);

void vd_connection_free_intake(struct vd_connection *c)
{
    vd_intake_give(c->service, c->intake);
    c->intake = NULL;
}

/* ---- deadlines ---- */

void vd_connection_set_idle(struct vd_connection *c)
{
    const struct vd_http_deadlines *d = &c->service->deadlines;
    c->state = VD_CONNECTION_IDLE;
    vd_connection_set_deadline(c, c->service->draining ? d->head_ms : d->idle_ms);
}

/* A stream may stand still for as long as it likes, unless too much waits for its user. */
void vd_connection_on_stall(struct vd_connection *c)
{
    if (c->backlog && !c->progressed && vd_exchange_is_over(&c->exchange))
        vd_connection_close(c);
    else if (c->backlog)
        vd_connection_set_deadline(c, c->service->deadlines.send_ms);
}

static void on_deadline(struct vd_connection *c)
{
    bool receiving = c->state == VD_CONNECTION_HEAD || c->state == VD_CONNECTION_BODY;
    if (c->state == VD_CONNECTION_ANSWER)
        vd_connection_on_stall(c);
    else if (receiving && !c->paused)
        refuse(c, VD_HTTP_REFUSED_SLOW);
    else
        vd_connection_close_if_stuck(c);
}

/* ---- when the next request is looked at ---- */

/* Bytes that belong to later requests. */
static size_t ahead_len(const struct vd_intake *in)
{
    return in->bytes.n - in->next_at + in->later.n;
}

static size_t ahead_max(const struct vd_connection *c)
{
    return c->streaming ? STREAM_AHEAD_LEN : VD_HTTP_AHEAD_LEN_MAX;
}

/* Whether what comes next is of a body that is given on as it comes. */
static bool is_reading_body(const struct vd_connection *c)
{
    return c->state == VD_CONNECTION_ANSWER && c->exchange.reader && !c->exchange.reader->is_whole;
}

static bool may_read(const struct vd_connection *c)
{
    if (c->state != VD_CONNECTION_ANSWER)
        return !c->paused;
    if (is_reading_body(c))
        return vd_body_reader_is_hungry(c->exchange.reader) && c->intake->later.n == 0;
    return !c->admitting && (!c->intake || ahead_len(c->intake) < ahead_max(c));
}

static size_t read_len(const struct vd_connection *c)
{
    if (c->state != VD_CONNECTION_ANSWER || is_reading_body(c))
        return VD_LOOP_SCRATCH_LEN;
    return ahead_max(c) - (c->intake ? ahead_len(c->intake) : 0);
}

/* How much may wait to be sent when the next request is looked at. A stranger is charged to no
 * account, so he gets little. */
static size_t output_max(const struct vd_connection *c)
{
    return c->has_user ? VD_HTTP_AHEAD_OUTPUT_MAX : VD_HTTP_STRANGER_OUTPUT_MAX;
}

static void after_flush(struct vd_connection *c, bool late)
{
    if (c->state == VD_CONNECTION_IDLE && c->backlog == 0 && late)
        vd_connection_set_idle(c); /* the time for sending was not the client's to think */
    else if (c->paused && c->backlog <= output_max(c))
        vd_http1_process(c);
    if (c->streaming && c->backlog && !vd_timer_is_set(&c->deadline))
        vd_connection_set_deadline(c, c->service->deadlines.send_ms);
    if (c->backlog == 0 && c->await_drain) {
        c->await_drain = false;
        if (c->state == VD_CONNECTION_ANSWER && c->exchange.ops)
            c->exchange.ops->drained(&c->exchange);
    }
    if (c->state == VD_CONNECTION_ANSWER && c->exchange.reader)
        vd_http1_give_body(c);
}

/* ---- requests ---- */

static struct vd_intake *intake_ensure(struct vd_connection *c)
{
    if (!c->intake)
        c->intake = vd_intake_take(c->service);
    return c->intake;
}

void vd_http1_forget_request(struct vd_exchange *x)
{
    struct vd_connection *c = x->connection;
    struct vd_intake *in = c->intake;
    if (!in || ahead_len(in) == 0) {
        vd_connection_free_intake(c);
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
    in->route = NULL;
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
    bool has_route = c->intake && c->intake->route;
    begin_answer(c);
    c->keep_alive = c->head_only = false;
    c->chunked = true;
    c->exchange.route = has_route ? c->intake->route
                                  : vd_route_table_find(c->service->routes, NULL);
    vd_route_refuse(&c->exchange,
                    &(struct vd_route_refusal){.status = vd_http_refusal_status(refusal),
                                               .why = vd_http_refusal_text(refusal)});
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
    c->exchange.route = in->route;
}

/* Asks whether the body is wanted. Where the rest of it is not, the connection ends with the
 * answer. */
static void ask_to_admit(struct vd_connection *c, bool is_whole)
{
    begin_request(c);
    c->keep_alive &= is_whole;
    c->admitting = true;
    c->exchange.upload = &c->intake->upload;
    vd_route_begin_admit(&c->exchange);
}

void vd_http1_receive(struct vd_exchange *x)
{
    struct vd_connection *c = x->connection;
    struct vd_intake *in = c->intake;
    assert(c->state == VD_CONNECTION_ANSWER && c->admitting);
    (void)vd_intake_count(c->service, in, 0);
    c->admitting = false;
    c->state = VD_CONNECTION_BODY;
    vd_connection_set_deadline(c, c->service->deadlines.body_ms);
    if (in->head.expect_continue && in->framing.total == 0 && in->next_at == in->head.used)
        vd_output_add(c, vd_bytes_copy(VD_HTTP_CONTINUE), 0, VD_HTTP_CONTINUE.n);
    vd_output_mark(c);
    vd_http1_process(c);
}

static void dispatch(struct vd_connection *c)
{
    struct vd_intake *in = c->intake;
    begin_request(c);
    c->exchange.upload = in->upload.is_admitted ? &in->upload : NULL;
    c->exchange.body = vd_slice(in->bytes.p + in->head.used, in->body_end - in->head.used);
    vd_route_begin_handle(&c->exchange);
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
    if (!is_small && !in->upload.is_admitted && vd_route_asks(c->service, in->route))
        ask_to_admit(c, is_whole);
    else if (is_whole)
        dispatch(c);
    else
        return false;
    return true;
}

/* Hands the request on; its handler reads the body. */
static void dispatch_head(struct vd_connection *c)
{
    struct vd_intake *in = c->intake;
    vd_http_body_init(&in->framing, &in->head, vd_body_reader_len_max(in->route));
    if (in->framing.refusal) {
        refuse(c, in->framing.refusal);
        return;
    }
    begin_request(c);
    vd_http1_begin_body(c);
    vd_route_begin_handle(&c->exchange);
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
    vd_http_head_rebase(&in->head, in->bytes.p);
    in->route = vd_route_table_find(c->service->routes, &in->head);
    bool has_body = in->head.chunked || in->head.length > 0;
    if (has_body && in->route->streams_body) {
        dispatch_head(c);
        return true;
    }
    vd_http_body_init(&in->framing, &in->head, in->route->body_len_max);
    c->state = VD_CONNECTION_BODY;
    bool waits = in->head.expect_continue && has_body && in->bytes.n == in->head.used &&
                 in->head.length <= in->route->body_len_max;
    if (waits && !vd_route_asks(c->service, in->route))
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
 * complete at once comes back here through vd_http1_finish_answer(): one loop
 * is enough. */
void vd_http1_process(struct vd_connection *c)
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
    vd_connection_set_events(c);
}

void vd_http1_finish_answer(struct vd_connection *c)
{
    vd_route_finished(&c->exchange);
    c->exchange.ops = NULL;
    c->keep_alive &= vd_http1_body_is_read(c);
    vd_body_reader_free(&c->exchange);
    c->await_drain = c->streaming = c->admitting = false;
    vd_output_mark(c); /* what to wait for has changed, even if nothing is queued */
    if (c->keep_alive)
        vd_http1_forget_request(&c->exchange);
    if (!c->keep_alive || (c->peer_done && !c->intake)) {
        vd_connection_begin_close(c);
    } else if (!c->intake) {
        vd_connection_set_idle(c);
    } else {
        c->state = VD_CONNECTION_HEAD;
        vd_connection_set_deadline(c, c->service->deadlines.head_ms);
        vd_http1_process(c);
    }
}

/* ---- bytes ---- */

/* Counts what it holds of requests about which nobody was asked; see upload.h. */
static void count_stranger(struct vd_connection *c)
{
    struct vd_intake *in = c->intake;
    if (!in || c->state == VD_CONNECTION_CLOSED)
        return;
    bool is_held = c->state == VD_CONNECTION_HEAD ||
                   (c->state == VD_CONNECTION_ANSWER && (c->admitting || !c->has_user));
    size_t n = in->bytes.n + in->later.n;
    if (vd_intake_count(c->service, in, is_held && n > COUNTED_LEN_MIN ? n : 0))
        return;
    if (c->state == VD_CONNECTION_HEAD && !c->paused)
        refuse(c, VD_HTTP_REFUSED_HEADS);
    else
        vd_connection_close(c);
}

static void received(struct vd_connection *c, const char *p, size_t n)
{
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
        if (is_reading_body(c))
            vd_http1_give_body(c);
        else
            vd_http1_process(c);
        count_stranger(c);
    }
}

static bool is_answering(const struct vd_connection *c)
{
    return c->state == VD_CONNECTION_ANSWER;
}

static void set_has_user(struct vd_connection *c)
{
    (void)c;
}

static void drain(struct vd_connection *c)
{
    if (c->state == VD_CONNECTION_IDLE && c->backlog == 0)
        vd_connection_close(c);
    else if (c->state == VD_CONNECTION_IDLE)
        vd_connection_begin_close(c);
}

void vd_http1_close(struct vd_connection *c, enum vd_connection_state from)
{
    struct vd_exchange *x = &c->exchange;
    x->sent_len -= x->sent_len < c->backlog ? x->sent_len : c->backlog;
    if (from != VD_CONNECTION_ANSWER && from != VD_CONNECTION_UPGRADED)
        return;
    vd_route_finished(x);
    if (x->ops)
        x->ops->gone(x);
    vd_body_reader_free(x);
}

const struct vd_protocol vd_protocol_http1 = {
    .receive = vd_http1_receive,
    .read_body = vd_http1_read_body,
    .give_body = vd_http1_mark_body,
    .break_body = vd_http1_break_body,
    .respond = vd_http1_respond,
    .stream = vd_http1_stream,
    .upgrade = vd_http1_upgrade,
    .send = vd_http1_send,
    .end = vd_http1_end,
    .abort = vd_http1_abort,
    .backlog = vd_http1_backlog,
    .await_drain = vd_http1_await_drain,
    .forget_request = vd_http1_forget_request,
    .received = received,
    .may_read = may_read,
    .read_len = read_len,
    .flush = vd_output_flush,
    .after_flush = after_flush,
    .on_deadline = on_deadline,
    .is_answering = is_answering,
    .set_has_user = set_has_user,
    .drain = drain,
    .close = vd_http1_close,
};
