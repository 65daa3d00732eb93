/*
 * See http2.h: the life of a connection of HTTP/2. nghttp2 knows the protocol and does
 * no I/O; what it says of requests goes to http2_request.c, and http2_answer.c gives
 * it what is to be sent.
 *
 * Nothing closes the connection while nghttp2 is at work: its callbacks note what is
 * to be done, and vd_http2_receive() and the flush at the turn's end do it.
 *
 * What protects the server from its clients:
 * - streams_max requests at a time, which nghttp2 enforces; handlers are started
 *   VD_HTTP_TURN_REQUESTS_MAX in a turn, and a request that was reset before its turn
 *   came costs nothing;
 * - what costs the client less than the server - resets, pings, settings, empty frames,
 *   windows of a few bytes - comes out of one budget (vd_http2_nuisance);
 * - a block of headers is bounded in bytes, before and after it is unpacked, and in time;
 * - bodies and answers that wait are bounded for the connection as a whole;
 * - the connection is not read from while too many frames wait to be sent.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "net/account.h"
#include "net/body_reader.h"
#include "net/connection_internal.h"
#include "net/http2_internal.h"
#include "net/output.h"

enum {
    BLOCK_RECEIVED_MAX = 2 * VD_HTTP_HEAD_LEN_MAX, /* bytes of a header block, compressed */
    CONNECTION_WINDOW = 1048576, /* bytes of bodies that a connection may send ahead */
    SETTINGS_MAX = 32,           /* in one frame */
    SLICE_LEN = 4096,            /* bytes that nghttp2 is given at a time */
    READ_LEN = 16384,            /* once: hundreds of requests fit into it */
    FRAME_HEAD_LEN = 9,          /* bytes before a frame's payload */
    ACKS_MAX = VD_HTTP2_NUISANCES_MAX + SLICE_LEN / FRAME_HEAD_LEN + 16,
};

static const uint8_t notice[8] = "goodbye"; /* of the ping that follows the first GOAWAY */

/* ---- lists ---- */

void vd_stream_list_add(struct vd_stream_list *list, struct vd_stream *s)
{
    s->next_ready = NULL;
    s->prev_ready = list->last;
    *(list->last ? &list->last->next_ready : &list->first) = s;
    list->last = s;
}

void vd_stream_list_remove(struct vd_stream_list *list, struct vd_stream *s)
{
    *(s->prev_ready ? &s->prev_ready->next_ready : &list->first) = s->next_ready;
    *(s->next_ready ? &s->next_ready->prev_ready : &list->last) = s->prev_ready;
}

/* ---- nuisances ---- */

void vd_http2_terminate(struct vd_http2 *h, uint32_t code)
{
    h->terminated = true;
    nghttp2_session_terminate_session(h->session, code);
    vd_output_mark(h->connection);
}

/* A bucket that is full at first and at rest. `nuisance_ns` is the time at which it will be
 * full again, which says all of it. */
void vd_http2_nuisance(struct vd_http2 *h)
{
    const uint64_t one_ns = 1000000000 / VD_HTTP2_NUISANCES_PER_S;
    uint64_t now_ns = vd_clock_mono_ns(vd_clock_system());
    if (h->nuisance_ns < now_ns)
        h->nuisance_ns = now_ns;
    h->nuisance_ns += one_ns;
    if (h->nuisance_ns - now_ns > VD_HTTP2_NUISANCES_MAX * one_ns)
        vd_http2_terminate(h, NGHTTP2_ENHANCE_YOUR_CALM);
}

/* ---- streams ---- */

void vd_stream_set_deadline(struct vd_stream *s, uint64_t ms)
{
    s->progressed = false;
    vd_timer_set(s->exchange.loop, &s->deadline, ms);
}

void vd_stream_reset(struct vd_stream *s, uint32_t code)
{
    nghttp2_submit_rst_stream(s->http2->session, NGHTTP2_FLAG_NONE, s->id, code);
    vd_output_mark(s->http2->connection);
}

/* The stream has ended, well or not. */
static void stream_free(struct vd_http2 *h, struct vd_stream *s)
{
    struct vd_exchange *x = &s->exchange;
    bool answering = s->state == VD_STREAM_ANSWER;
    s->state = VD_STREAM_SENT;
    x->sent_len -= x->sent_len < s->backlog ? x->sent_len : s->backlog;
    if (answering)
        vd_route_finished(x);
    if (answering && x->ops)
        x->ops->gone(x);
    vd_body_reader_free(x);
    vd_http2_unlist_body(s);
    vd_timer_stop(x->loop, &s->deadline);
    if (h->block.stream == s)
        vd_http2_block_release(h);
    if (s->is_ready)
        vd_stream_list_remove(&h->ready, s);
    if (s->is_asking)
        vd_stream_list_remove(&h->asking, s);
    vd_stream_release_withheld(s);
    if (s->is_drained)
        vd_stream_list_remove(&h->drained, s);
    *(h->streams == s ? &h->streams : &s->prev->next) = s->next;
    *(h->streams_last == s ? &h->streams_last : &s->next->prev) = s->prev;
    h->streams_n--;
    vd_stream_forget_request(s);
    vd_stream_release_output(s);
    vd_account_unref(s->account);
    free(s);
}

static void set_idle(struct vd_http2 *h)
{
    struct vd_connection *c = h->connection;
    if (h->drain == VD_HTTP2_OPEN)
        vd_connection_set_deadline(c, c->service->deadlines.idle_ms);
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *arg)
{
    struct vd_http2 *h = arg;
    struct vd_stream *s = nghttp2_session_get_stream_user_data(session, id);
    (void)code;
    if (s)
        stream_free(h, s);
    if (s && h->streams_n == 0)
        set_idle(h);
    return 0;
}

/* ---- frames ---- */

static void say_last_goaway(struct vd_http2 *h)
{
    h->drain = VD_HTTP2_LEAVING;
    nghttp2_submit_goaway(h->session, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(h->session), NGHTTP2_NO_ERROR,
                          NULL, 0);
    vd_output_mark(h->connection);
}

static void on_ping(struct vd_http2 *h, const nghttp2_ping *ping)
{
    if (!(ping->hd.flags & NGHTTP2_FLAG_ACK))
        vd_http2_nuisance(h);
    else if (h->drain == VD_HTTP2_NOTICED && memcmp(ping->opaque_data, notice, 8) == 0)
        say_last_goaway(h);
}

static void on_settings(struct vd_http2 *h, const nghttp2_frame *frame)
{
    if (frame->hd.flags & NGHTTP2_FLAG_ACK)
        return;
    if (h->greeted)
        vd_http2_nuisance(h);
    else if (h->streams_n == 0)
        set_idle(h);
    h->greeted = true;
}

static void on_data_frame(struct vd_http2 *h, const nghttp2_frame *frame)
{
    struct vd_stream *s = nghttp2_session_get_stream_user_data(h->session, frame->hd.stream_id);
    bool ends = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (ends && s)
        vd_stream_end_body(s);
    else if (frame->hd.length <= frame->data.padlen)
        vd_http2_nuisance(h);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct vd_http2 *h = arg;
    (void)session;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
        vd_http2_end_headers(h, frame->hd.flags & NGHTTP2_FLAG_END_STREAM);
        break;
    case NGHTTP2_DATA:
        on_data_frame(h, frame);
        break;
    case NGHTTP2_SETTINGS:
        on_settings(h, frame);
        break;
    case NGHTTP2_PING:
        on_ping(h, &frame->ping);
        break;
    case NGHTTP2_RST_STREAM:
        vd_http2_nuisance(h);
        break;
    default:
        break;
    }
    return 0;
}

/* A frame that is wrong, and that nghttp2 resets a stream for: a client could have the
 * server reset streams instead of doing it itself. */
static int on_invalid_frame(nghttp2_session *session, const nghttp2_frame *frame, int code,
                            void *arg)
{
    struct vd_http2 *h = arg;
    (void)session;
    (void)code;
    if (h->block.stream && h->block.stream->id == frame->hd.stream_id)
        vd_http2_block_release(h);
    vd_http2_nuisance(h);
    return 0;
}

/* An answer that is complete while its request is not: the client may stop sending. */
static int on_frame_sent(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct vd_http2 *h = arg;
    int32_t id = frame->hd.stream_id;
    bool ends = (frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS) &&
                frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (!ends || nghttp2_session_get_stream_remote_close(session, id) != 0)
        return 0;
    struct vd_stream *s = nghttp2_session_get_stream_user_data(session, id);
    if (s && h->drain == VD_HTTP2_OPEN)
        vd_stream_linger(s);
    else
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
    return 0;
}

/* ---- the beginning ---- */

enum vd_http_result vd_http2_preface(struct vd_slice bytes)
{
    size_t n = bytes.n < NGHTTP2_CLIENT_MAGIC_LEN ? bytes.n : NGHTTP2_CLIENT_MAGIC_LEN;
    if (memcmp(bytes.p, NGHTTP2_CLIENT_MAGIC, n) != 0)
        return VD_HTTP_REFUSED;
    return n == NGHTTP2_CLIENT_MAGIC_LEN ? VD_HTTP_DONE : VD_HTTP_MORE;
}

static nghttp2_session *session_new(struct vd_http2 *h)
{
    nghttp2_session *session = NULL;
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    int code = nghttp2_session_callbacks_new(&callbacks);
    if (!code)
        code = nghttp2_option_new(&option);
    assert(code == 0);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, vd_http2_on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback2(callbacks, vd_http2_on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback2(callbacks,
                                                              vd_http2_on_invalid_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, vd_http2_on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, on_invalid_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, vd_http2_send_data);
    nghttp2_option_set_no_auto_window_update(option, 1); /* see http2_request.c */
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_option_set_max_outbound_ack(option, ACKS_MAX);
    nghttp2_option_set_max_settings(option, SETTINGS_MAX);
    nghttp2_option_set_max_deflate_dynamic_table_size(option, VD_HTTP2_TABLE_LEN_MAX);
    code = nghttp2_session_server_new2(&session, callbacks, h, option);
    assert(code == 0);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return session;
}

/* The client is known now: it may send more at a time. */
static void widen(struct vd_connection *c)
{
    int code = nghttp2_session_set_local_window_size(c->http2->session, NGHTTP2_FLAG_NONE, 0,
                                                     CONNECTION_WINDOW);
    assert(code == 0);
    (void)code;
}

void vd_http2_start(struct vd_connection *c)
{
    struct vd_http2 *h = VD_NEW(struct vd_http2);
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, c->service->streams_max},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, VD_HTTP_HEAD_LEN_MAX},
        {NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, VD_HTTP2_TABLE_LEN_MAX},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
    };
    h->connection = c;
    h->session = session_new(h);
    c->http2 = h;
    c->protocol = &vd_protocol_http2;
    c->state = VD_CONNECTION_STREAMS;
    int code = nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, settings,
                                       sizeof settings / sizeof *settings);
    assert(code == 0);
    (void)code;
    if (c->has_user)
        widen(c);
    vd_connection_set_deadline(c, c->service->deadlines.head_ms);
    if (c->service->draining)
        vd_http2_drain(c);
    vd_output_mark(c);
}

/* ---- bytes ---- */

/* Counts what the client, who is not known, has sent of requests; see upload.h. */
static void count_strangers(struct vd_http2 *h)
{
    struct vd_connection *c = h->connection;
    size_t n = c->has_user ? 0 : h->heads_len + h->bodies_len;
    c->service->strangers_len += n - h->counted;
    h->counted = n;
    if (n && c->service->strangers_len_max &&
        c->service->strangers_len > c->service->strangers_len_max)
        vd_http2_terminate(h, NGHTTP2_ENHANCE_YOUR_CALM);
}

/* In slices: what a slice can do to nghttp2 before it is looked at is bounded. */
void vd_http2_receive(struct vd_connection *c, const char *p, size_t n)
{
    struct vd_http2 *h = c->http2;
    for (size_t part; n && !h->terminated; p += part, n -= part) {
        part = n < SLICE_LEN ? n : SLICE_LEN;
        if (nghttp2_session_mem_recv(h->session, (const uint8_t *)p, part) < 0) {
            vd_connection_close(c);
            return;
        }
        if (!h->block.stream)
            continue;
        h->block.received += part;
        if (h->block.received > BLOCK_RECEIVED_MAX)
            vd_http2_terminate(h, NGHTTP2_ENHANCE_YOUR_CALM);
    }
    vd_http2_ask(h);
    count_strangers(h);
    vd_http2_process(h);
    vd_http2_give_bodies(h);
    vd_output_mark(c);
}

static bool may_read(const struct vd_connection *c)
{
    const struct vd_http2 *h = c->http2;
    return (nghttp2_session_want_read(h->session) || h->drain == VD_HTTP2_NOTICED) &&
           nghttp2_session_get_outbound_queue_size(h->session) <
               VD_HTTP2_QUEUE_FRAMES_MAX + 4 * (size_t)c->service->streams_max;
}

static bool is_answering(const struct vd_connection *c)
{
    const struct vd_stream *s = c->http2->streams;
    while (s && s->state != VD_STREAM_ANSWER)
        s = s->next;
    return s != NULL;
}

static bool flush(struct vd_connection *c)
{
    struct vd_http2 *h = c->http2;
    for (size_t total = 0; total < VD_HTTP_TURN_SEND_MAX;) {
        if (c->backlog == 0 && !vd_http2_fill(h))
            return false;
        vd_output_unmark(c); /* by the fill */
        size_t before = c->backlog;
        if (before == 0)
            return true;
        if (!vd_output_flush(c))
            return false;
        if (c->backlog)
            return true;
        total += before;
    }
    vd_output_mark(c);
    return true;
}

/* Tells streams that their backlog has left. What they add now is for the next flush. */
static void tell_drained(struct vd_http2 *h)
{
    struct vd_stream *last = h->drained.last;
    for (bool more = last != NULL; more;) {
        struct vd_stream *s = h->drained.first;
        more = s != last;
        vd_stream_list_remove(&h->drained, s);
        s->is_drained = s->await_drain = false;
        if (s->state == VD_STREAM_ANSWER && s->exchange.ops)
            s->exchange.ops->drained(&s->exchange);
    }
}

/* Ends all streams; who has an answer to give is told `gone`. Frees c->http2. */
static void close_streams(struct vd_connection *c, enum vd_connection_state from)
{
    (void)from;
    struct vd_http2 *h = c->http2;
    while (h->streams)
        stream_free(h, h->streams);
    vd_http2_block_release(h);
    nghttp2_session_del(h->session);
    c->service->strangers_len -= h->counted;
    vd_bytes_unref(h->chunk);
    c->http2 = NULL;
    free(h);
}

static void after_flush(struct vd_connection *c, bool late)
{
    struct vd_http2 *h = c->http2;
    (void)late;
    vd_http2_process(h);
    tell_drained(h);
    vd_http2_give_bodies(h);
    /* After the first GOAWAY nghttp2 wants no more when there are no streams; but a request
     * may be on its way. */
    bool over = h->drain != VD_HTTP2_NOTICED && !nghttp2_session_want_read(h->session);
    bool left = h->drain == VD_HTTP2_LEAVING && h->streams_n == 0;
    if ((over || left) && c->backlog == 0 && !nghttp2_session_want_write(h->session)) {
        close_streams(c, c->state);
        vd_connection_begin_close(c);
    }
}

/* ---- the end ---- */

static void on_deadline(struct vd_connection *c)
{
    struct vd_http2 *h = c->http2;
    if (h->drain == VD_HTTP2_NOTICED) {
        say_last_goaway(h);
        vd_connection_set_deadline(c, c->service->deadlines.send_ms);
    } else if (h->streams_n && h->drain == VD_HTTP2_OPEN) {
        return;
    } else if (c->backlog && c->progressed) { /* slow, but it reads */
        vd_connection_set_deadline(c, c->service->deadlines.send_ms);
    } else if (!h->greeted || c->backlog || (h->drain == VD_HTTP2_LEAVING && h->streams_n == 0)) {
        vd_connection_close(c);
    } else if (h->drain == VD_HTTP2_OPEN) {
        vd_http2_drain(c);
    }
}

void vd_http2_drain(struct vd_connection *c)
{
    struct vd_http2 *h = c->http2;
    if (h->drain != VD_HTTP2_OPEN)
        return;
    h->drain = VD_HTTP2_NOTICED;
    nghttp2_submit_shutdown_notice(h->session);
    nghttp2_submit_ping(h->session, NGHTTP2_FLAG_NONE, notice);
    vd_connection_set_deadline(c, VD_HTTP2_NOTICE_MS);
    vd_output_mark(c);
}

static size_t read_len(const struct vd_connection *c)
{
    (void)c;
    return READ_LEN;
}

const struct vd_protocol vd_protocol_http2 = {
    .receive = vd_http2_receive_body,
    .read_body = vd_http2_read_body,
    .give_body = vd_http2_mark_body,
    .break_body = vd_http2_break_body,
    .respond = vd_http2_respond,
    .stream = vd_http2_stream,
    .upgrade = vd_http2_upgrade,
    .send = vd_http2_send,
    .end = vd_http2_end,
    .abort = vd_http2_abort,
    .backlog = vd_http2_backlog,
    .await_drain = vd_http2_await_drain,
    .forget_request = vd_http2_forget_request,
    .received = vd_http2_receive,
    .may_read = may_read,
    .read_len = read_len,
    .reads_once = true,
    .flush = flush,
    .after_flush = after_flush,
    .on_deadline = on_deadline,
    .is_answering = is_answering,
    .set_has_user = widen,
    .drain = vd_http2_drain,
    .close = close_streams,
};
