/*
 * See http2.h: how requests arrive.
 *
 * Headers are written down as the head that the same request has in HTTP/1.1, and then
 * read by the same parser: what one protocol refuses, the other refuses too, with the
 * same words, and handlers see no difference.
 *
 *   :method GET  :path /a  :authority h  accept x   ->   GET /a HTTP/1.1\r\n
 *                                                        host: h\r\naccept: x\r\n\r\n
 *
 * nghttp2 has made sure before that a name or a value cannot break out of its line, that
 * pseudo-headers come first and once, that there are no headers of connections (RFC 9113,
 * 8.2.2), and that Content-Length is the body's length.
 *
 * A body that has not come with the head waits until somebody has looked at the head: the
 * stream is given no new window, nor is the connection for what comes of it; so a client that
 * nobody knows can send no more than the connection's first window.
 *
 * Bodies are gathered whole, but for those that go to their handlers as they arrive (http2_body.c).
 * A stream is given a new window for what has arrived of it as
 * long as all bodies of the connection together are small; above that only one stream
 * is, the first to ask, until its request is answered. So each of them gets through, and
 * the others hold no more than the window that every stream starts with.
 */
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/container_of.h"
#include "net/account.h"
#include "net/body_reader.h"
#include "net/connection_internal.h"
#include "net/http2_internal.h"
#include "net/http_token.h"
#include "net/output.h"

/* ---- headers ---- */

static struct vd_slice slice_of(nghttp2_rcbuf *text)
{
    if (!text)
        return VD_SLICE("");
    nghttp2_vec v = nghttp2_rcbuf_get_buf(text);
    return vd_slice((const char *)v.base, v.len);
}

static void keep(nghttp2_rcbuf **at, nghttp2_rcbuf *text)
{
    if (*at)
        nghttp2_rcbuf_decref(*at);
    if (text)
        nghttp2_rcbuf_incref(text);
    *at = text;
}

void vd_http2_block_release(struct vd_http2 *h)
{
    keep(&h->block.method, NULL);
    keep(&h->block.path, NULL);
    keep(&h->block.authority, NULL);
    h->block = (struct vd_http2_block){0};
}

/* The client takes nothing. Nor may it take the reset, so what waits is let go of now. */
static void break_off(struct vd_stream *s)
{
    struct vd_exchange *x = &s->exchange;
    const struct vd_exchange_ops *ops = x->ops;
    if (s->state == VD_STREAM_ANSWER) {
        vd_http2_abort(x);
        if (ops)
            ops->gone(x);
    } else {
        vd_stream_release_output(s);
        vd_stream_reset(s, NGHTTP2_CANCEL);
    }
}

static void on_stream_deadline(struct vd_timer *timer)
{
    struct vd_stream *s = VD_CONTAINER_OF(timer, struct vd_stream, deadline);
    if (s->state == VD_STREAM_HEAD) { /* and nothing else can arrive before its end */
        vd_http2_terminate(s->http2, NGHTTP2_ENHANCE_YOUR_CALM);
    } else if (s->state == VD_STREAM_BODY && s->ungranted) { /* it waits for others */
        vd_stream_set_deadline(s, s->http2->connection->service->deadlines.body_ms);
    } else if (s->state == VD_STREAM_BODY) {
        vd_stream_refuse(s, VD_HTTP_REFUSED_SLOW);
        vd_http2_process(s->http2);
    } else if (s->lingers) {
        vd_stream_reset(s, NGHTTP2_NO_ERROR);
    } else if (s->state == VD_STREAM_ANSWER && s->backlog == 0) { /* it waits for events */
        return;
    } else if (s->progressed || /* slow, but it reads; or it is a stream, and may stand still */
               (s->state == VD_STREAM_ANSWER && !vd_exchange_is_over(&s->exchange))) {
        vd_stream_set_deadline(s, s->http2->connection->service->deadlines.send_ms);
    } else {
        break_off(s);
    }
}

static struct vd_stream *stream_new(struct vd_http2 *h, int32_t id)
{
    struct vd_connection *c = h->connection;
    struct vd_stream *s = VD_NEW(struct vd_stream);
    s->http2 = h;
    s->id = id;
    s->deadline.fire = on_stream_deadline;
    s->exchange = (struct vd_exchange){
        .connection = c, .stream = s, .loop = c->loop, .protocol = "HTTP/2.0"};
    s->prev = h->streams_last;
    *(h->streams_last ? &h->streams_last->next : &h->streams) = s;
    h->streams_last = s;
    h->streams_n++;
    if (h->drain == VD_HTTP2_OPEN)
        vd_timer_stop(c->loop, &c->deadline);
    return s;
}

int vd_http2_on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct vd_http2 *h = arg;
    int32_t id = frame->hd.stream_id;
    if (frame->hd.type != NGHTTP2_HEADERS)
        return 0;
    vd_http2_block_release(h);
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) {
        h->block.stream = nghttp2_session_get_stream_user_data(session, id);
        h->block.is_trailer = true;
        return 0;
    }
    /* Streams take turns with what they send, whatever the client would like. */
    static const nghttp2_extpri in_turns = {.urgency = NGHTTP2_EXTPRI_DEFAULT_URGENCY, .inc = 1};
    struct vd_stream *s = stream_new(h, id);
    h->block.stream = s;
    s->intake = vd_intake_take(h->connection->service);
    nghttp2_session_set_stream_user_data(session, id, s);
    nghttp2_session_change_extpri_stream_priority(session, id, &in_turns, 1);
    vd_stream_set_deadline(s, h->connection->service->deadlines.head_ms);
    return 0;
}

/* The first line, and the header that HTTP/1.1 has for the authority. */
static void write_line(struct vd_http2 *h, struct vd_buf *out)
{
    struct vd_http2_block *b = &h->block;
    struct vd_slice method = slice_of(b->method), path = slice_of(b->path);
    struct vd_slice authority = slice_of(b->authority);
    if (vd_slice_eq(method, VD_SLICE("CONNECT")))
        path = VD_SLICE("/"); /* it has none; it is refused for its name */
    vd_buf_add_slice(out, method);
    vd_buf_add_char(out, ' ');
    vd_buf_add_slice(out, path);
    vd_buf_add_text(out, " HTTP/1.1\r\n");
    if (b->authority) {
        vd_buf_add_text(out, "host: ");
        vd_buf_add_slice(out, authority);
        vd_buf_add_text(out, "\r\n");
    }
    b->has_line = true;
}

/* Whether a pseudo-header was taken. The scheme says nothing that the listener does not. */
static bool take_pseudo(struct vd_http2_block *b, struct vd_slice name, nghttp2_rcbuf *value)
{
    if (name.n == 0 || name.p[0] != ':')
        return false;
    if (vd_slice_eq(name, VD_SLICE(":method")))
        keep(&b->method, value);
    else if (vd_slice_eq(name, VD_SLICE(":path")))
        keep(&b->path, value);
    else if (vd_slice_eq(name, VD_SLICE(":authority")))
        keep(&b->authority, value);
    return true;
}

/* Limits that must hold before anything is kept; the parser has the others. */
static enum vd_http_refusal size_refusal(const struct vd_intake *in, struct vd_slice name,
                                         struct vd_slice value)
{
    if (vd_slice_eq(name, VD_SLICE(":path")) && value.n > VD_HTTP_TARGET_LEN_MAX)
        return VD_HTTP_REFUSED_TARGET_LONG;
    if (vd_slice_eq(name, VD_SLICE(":method")) && value.n > VD_HTTP_METHOD_LEN_MAX)
        return VD_HTTP_REFUSED_METHOD_LONG;
    if (name.n + value.n + 2 > VD_HTTP_HEADER_LEN_MAX)
        return VD_HTTP_REFUSED_HEADER_LONG;
    if (in->bytes.n + name.n + value.n + 6 > VD_HTTP_HEAD_LEN_MAX)
        return VD_HTTP_REFUSED_HEAD_LONG;
    return VD_HTTP_REFUSED_NOTHING;
}

int vd_http2_on_header(nghttp2_session *session, const nghttp2_frame *frame, nghttp2_rcbuf *name,
                       nghttp2_rcbuf *value, uint8_t flags, void *arg)
{
    struct vd_http2 *h = arg;
    struct vd_stream *s = h->block.stream;
    struct vd_slice n = slice_of(name), v = slice_of(value);
    (void)session;
    (void)frame;
    (void)flags;
    if (!s || h->block.is_trailer || s->refusal) /* trailers are dropped, as in HTTP/1.1 */
        return 0;
    struct vd_buf *out = &s->intake->bytes;
    s->refusal = size_refusal(s->intake, n, v);
    if (s->refusal || take_pseudo(&h->block, n, value))
        return 0;
    if (!h->block.has_line)
        write_line(h, out);
    if (h->block.authority && vd_slice_eq(n, VD_SLICE("host"))) {
        if (!vd_http_token_eq(v, slice_of(h->block.authority)))
            s->refusal = VD_HTTP_REFUSED_HOST_DIFFERS;
        return 0;
    }
    vd_buf_add_slice(out, n);
    vd_buf_add_text(out, ": ");
    vd_buf_add_slice(out, v);
    vd_buf_add_text(out, "\r\n");
    return 0;
}

int vd_http2_on_invalid_header(nghttp2_session *session, const nghttp2_frame *frame,
                               nghttp2_rcbuf *name, nghttp2_rcbuf *value, uint8_t flags, void *arg)
{
    struct vd_http2 *h = arg;
    (void)session;
    (void)frame;
    (void)value;
    (void)flags;
    if (h->block.stream && !h->block.is_trailer && !h->block.stream->refusal)
        h->block.stream->refusal = vd_http_token_is(slice_of(name)) ? VD_HTTP_REFUSED_CONTROL
                                                                    : VD_HTTP_REFUSED_NAME;
    return 0;
}

/* Reads the head that was written down. */
static enum vd_http_refusal read_head(struct vd_stream *s)
{
    struct vd_intake *in = s->intake;
    vd_buf_add_text(&in->bytes, "\r\n");
    enum vd_http_result result = vd_http_head_parse(&in->head, in->bytes.p, in->bytes.n);
    if (result == VD_HTTP_REFUSED)
        return in->head.refusal;
    assert(result == VD_HTTP_DONE && in->head.used == in->bytes.n); /* nobody got out of a line */
    in->body_end = in->next_at = in->head.used;
    vd_http_head_rebase(&in->head, in->bytes.p);
    s->exchange.route = vd_route_table_find(s->http2->connection->service->routes, &in->head);
    const struct vd_route *route = s->exchange.route;
    uint64_t len_max = route->streams_body ? vd_body_reader_len_max(route) : route->body_len_max;
    return in->head.length > len_max ? VD_HTTP_REFUSED_BODY_LARGE : VD_HTTP_REFUSED_NOTHING;
}

static void stop_asking(struct vd_stream *s)
{
    if (s->is_asking)
        vd_stream_list_remove(&s->http2->asking, s);
    s->is_asking = false;
    vd_stream_release_withheld(s);
}

static void set_ready(struct vd_stream *s)
{
    stop_asking(s);
    s->state = VD_STREAM_READY;
    s->is_ready = true;
    vd_timer_stop(s->exchange.loop, &s->deadline);
    vd_stream_list_add(&s->http2->ready, s);
}

void vd_stream_refuse(struct vd_stream *s, enum vd_http_refusal why)
{
    s->refusal = why;
    set_ready(s);
}

void vd_stream_say_continue(struct vd_stream *s)
{
    static const char name[] = ":status", value[] = "100";
    const nghttp2_nv status = {.name = (uint8_t *)(uintptr_t)name,
                               .value = (uint8_t *)(uintptr_t)value,
                               .namelen = sizeof name - 1,
                               .valuelen = sizeof value - 1};
    nghttp2_submit_headers(s->http2->session, NGHTTP2_FLAG_NONE, s->id, NULL, &status, 1, NULL);
}

void vd_http2_end_headers(struct vd_http2 *h, bool end_stream)
{
    struct vd_stream *s = h->block.stream;
    bool is_trailer = h->block.is_trailer;
    if (s && !is_trailer && !s->refusal) {
        if (!h->block.has_line)
            write_line(h, &s->intake->bytes);
        s->refusal = read_head(s);
        s->head_len = s->intake->bytes.n;
        h->heads_len += s->head_len;
    }
    vd_http2_block_release(h);
    if (!s) {
        return;
    } else if (is_trailer) { /* nghttp2 sees to it that it ends the stream */
        vd_stream_end_body(s);
    } else if (end_stream || s->refusal) {
        set_ready(s);
    } else if (s->exchange.route->streams_body) { /* its handler reads the body */
        vd_body_reader_new(&s->exchange);
        set_ready(s);
    } else {
        s->state = VD_STREAM_BODY;
        vd_stream_set_deadline(s, h->connection->service->deadlines.body_ms);
        s->is_asking = vd_route_asks(h->connection->service, s->exchange.route);
        if (s->is_asking)
            vd_stream_list_add(&h->asking, s);
        else if (s->intake->head.expect_continue)
            vd_stream_say_continue(s);
    }
}

/* ---- bodies ---- */

static void grant_one(struct vd_stream *s)
{
    nghttp2_session_consume_stream(s->http2->session, s->id, s->ungranted);
    s->ungranted = 0;
}

/* Gives streams room to send, in the order in which they came. */
static void grant(struct vd_http2 *h)
{
    bool few = h->bodies_len <= VD_HTTP2_UPLOAD_LEN_MAX;
    for (struct vd_stream *s = h->streams; s && (few || !h->uploader); s = s->next) {
        if (s->state != VD_STREAM_BODY || s->is_asking || !s->ungranted)
            continue;
        if (!few)
            h->uploader = s;
        grant_one(s);
    }
}

/* Gives it room again, unless others have it. */
static void grant_if_few(struct vd_stream *s)
{
    struct vd_http2 *h = s->http2;
    bool few = h->bodies_len <= VD_HTTP2_UPLOAD_LEN_MAX;
    if (!few && h->uploader && h->uploader != s)
        return;
    if (!few)
        h->uploader = s;
    grant_one(s);
}

void vd_stream_release_withheld(struct vd_stream *s)
{
    if (s->withheld)
        nghttp2_session_consume_connection(s->http2->session, s->withheld);
    s->withheld = 0;
}

int vd_http2_on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
                     size_t len, void *arg)
{
    struct vd_http2 *h = arg;
    struct vd_stream *s = nghttp2_session_get_stream_user_data(session, id);
    (void)flags;
    if (s && s->exchange.reader) {
        vd_http2_add_body(s, vd_slice(data, len));
        return 0;
    }
    bool waits = s && (s->is_asking || s->admitting);
    if (waits)
        s->withheld += len;
    else
        nghttp2_session_consume_connection(session, len);
    if (!s)
        return 0;
    if (s->state != VD_STREAM_BODY && !s->admitting) { /* the answer did not wait for it */
        s->ungranted += len;
        if (s->lingers)
            grant_one(s);
        return 0;
    }
    if (!s->admitting && s->body_len + len > s->exchange.route->body_len_max) {
        vd_stream_refuse(s, VD_HTTP_REFUSED_BODY_LARGE);
        return 0;
    }
    /* The head that `admit` looks at must stay where it is. */
    vd_buf_add(s->admitting ? &s->intake->later : &s->intake->bytes, data, len);
    s->body_len += len;
    h->bodies_len += len;
    s->ungranted += len;
    if (!waits)
        grant_if_few(s);
    return 0;
}

void vd_stream_end_body(struct vd_stream *s)
{
    s->is_whole = true;
    if (s->exchange.reader) {
        s->exchange.reader->is_whole = true;
        vd_http2_list_body(s);
    }
    if (s->state == VD_STREAM_BODY && !(s->is_asking && s->intake->bytes.n > VD_HTTP_BODY_FREE_LEN))
        set_ready(s);
}

/* ---- asking ---- */

static void ask_to_admit(struct vd_stream *s)
{
    struct vd_intake *in = s->intake;
    vd_stream_list_remove(&s->http2->asking, s);
    s->is_asking = false;
    s->admitting = true;
    s->state = VD_STREAM_ANSWER;
    vd_timer_stop(s->exchange.loop, &s->deadline);
    vd_http_head_rebase(&in->head, in->bytes.p);
    s->head_only = in->head.method == VD_HTTP_HEAD;
    s->exchange.start_ns = vd_clock_mono_ns(vd_clock_system());
    s->exchange.head = &in->head;
    s->exchange.upload = &in->upload;
    vd_route_begin_admit(&s->exchange);
}

void vd_http2_ask(struct vd_http2 *h)
{
    while (h->asking.first)
        ask_to_admit(h->asking.first);
}

void vd_http2_receive_body(struct vd_exchange *x)
{
    struct vd_stream *s = x->stream;
    assert(s->state == VD_STREAM_ANSWER && s->admitting);
    s->admitting = false;
    s->state = VD_STREAM_BODY;
    vd_buf_add_slice(&s->intake->bytes, vd_buf_slice(&s->intake->later));
    vd_buf_release(&s->intake->later);
    vd_stream_release_withheld(s);
    vd_output_mark(s->http2->connection); /* after which those that are ready are handled */
    if (s->is_whole) {
        set_ready(s);
        return;
    }
    vd_stream_set_deadline(s, s->http2->connection->service->deadlines.body_ms);
    grant_if_few(s);
    if (s->intake->head.expect_continue && s->body_len == 0)
        vd_stream_say_continue(s);
}

/* A client that is told to stop (RST_STREAM, NO_ERROR) while it sends may never look at the answer:
 * curl 7.88 does not. So it may go on for as long as after the last answer of HTTP/1.1. */
void vd_stream_linger(struct vd_stream *s)
{
    s->lingers = true;
    grant_one(s);
    vd_stream_set_deadline(s, s->http2->connection->service->deadlines.linger_ms);
}

void vd_stream_forget_request(struct vd_stream *s)
{
    struct vd_http2 *h = s->http2;
    vd_intake_give(h->connection->service, s->intake);
    s->intake = NULL;
    h->bodies_len -= s->body_len;
    h->heads_len -= s->head_len;
    s->head_len = 0;
    bool waiting = s->body_len || h->uploader == s;
    s->body_len = 0;
    if (h->uploader == s)
        h->uploader = NULL;
    if (waiting)
        grant(h);
}

/* ---- handling ---- */

static void refuse(struct vd_stream *s)
{
    s->exchange.head = NULL; /* as it was judged: the body that came since may have moved it */
    s->exchange.upload = NULL;
    if (!s->exchange.route)
        s->exchange.route = vd_route_table_find(s->http2->connection->service->routes, NULL);
    vd_route_refuse(&s->exchange,
                    &(struct vd_route_refusal){.status = vd_http_refusal_status(s->refusal),
                                               .why = vd_http_refusal_text(s->refusal)});
    assert(s->state == VD_STREAM_SENT);
}

static void dispatch(struct vd_stream *s)
{
    struct vd_intake *in = s->intake;
    s->state = VD_STREAM_ANSWER;
    s->exchange.start_ns = vd_clock_mono_ns(vd_clock_system());
    if (s->refusal) {
        refuse(s);
        return;
    }
    vd_http_head_rebase(&in->head, in->bytes.p);
    s->head_only = in->head.method == VD_HTTP_HEAD;
    s->exchange.head = &in->head;
    s->exchange.upload = in->upload.is_admitted || s->exchange.reader ? &in->upload : NULL;
    if (in->upload.is_admitted) /* the route that admitted it may be one that it was passed on to */
        s->exchange.route = vd_route_table_find(s->http2->connection->service->routes, &in->head);
    s->exchange.body = vd_slice(in->bytes.p + in->head.used, in->bytes.n - in->head.used);
    vd_route_begin_handle(&s->exchange);
}

void vd_http2_process(struct vd_http2 *h)
{
    size_t answers_max = h->connection->has_user ? VD_HTTP2_ANSWERS_LEN_MAX
                                                 : VD_HTTP_STRANGER_OUTPUT_MAX;
    for (int taken = 0; h->ready.first && h->answers_len <= answers_max; taken++) {
        if (taken == VD_HTTP_TURN_REQUESTS_MAX) {
            vd_output_mark(h->connection); /* the others are looked at in the next turn */
            return;
        }
        struct vd_stream *s = h->ready.first;
        vd_stream_list_remove(&h->ready, s);
        s->is_ready = false;
        dispatch(s);
    }
}
