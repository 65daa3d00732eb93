/*
 * See http2.h: how answers leave.
 *
 * A stream has a queue of references to bytes. When nghttp2 finds room for it - its
 * window, the connection's, and its turn among the streams - it asks read_data() how much
 * there is, makes the nine bytes of a frame's head, and has vd_http2_send_data() move them
 * and the references to the connection's output. So the bytes of an event are copied
 * nowhere until they are gathered for the socket, however many streams share them, and the
 * frames of all streams of a turn leave together.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "net/account.h"
#include "net/body_reader.h"
#include "net/connection_internal.h"
#include "net/http2_internal.h"
#include "net/http_token.h"
#include "net/output.h"

enum {
    CHUNK_LEN = 4096,      /* bytes of a buffer for frames */
    CHUNK_LEN_FIRST = 512, /* bytes of a connection's first one */
    OUTPUT_CAP_KEPT = 8,   /* entries of an output queue that keeps its memory when it is empty */
    DRIBBLE_LEN = 64,      /* a window that lets less than this through is a nuisance */
};

/* ---- frames ---- */

/* Hands what was written into the chunk to the connection's output. */
static void flush_chunk(struct vd_http2 *h)
{
    if (h->chunk_from < h->chunk_at)
        vd_output_add(h->connection, vd_bytes_ref(h->chunk), h->chunk_from, h->chunk_at);
    h->chunk_from = h->chunk_at;
}

/* Control frames and heads are small and many: they are gathered. */
static void add_small(struct vd_http2 *h, const uint8_t *p, size_t n)
{
    if (!h->chunk || h->chunk_at + n > h->chunk->len) {
        size_t len = h->chunk ? CHUNK_LEN : CHUNK_LEN_FIRST;
        flush_chunk(h);
        vd_bytes_unref(h->chunk);
        h->chunk = vd_bytes_new(n > len ? n : len);
        h->chunk_from = h->chunk_at = 0;
    }
    memcpy(h->chunk->data + h->chunk_at, p, n);
    h->chunk_at += n;
}

static bool is_full(const struct vd_http2 *h)
{
    return h->connection->backlog + (h->chunk_at - h->chunk_from) >= VD_HTTP2_OUTPUT_LEN_MAX;
}

bool vd_http2_fill(struct vd_http2 *h)
{
    ssize_t n = 0;
    while (!is_full(h)) {
        const uint8_t *p = NULL;
        n = nghttp2_session_mem_send(h->session, &p);
        if (n <= 0)
            break;
        add_small(h, p, (size_t)n);
    }
    flush_chunk(h);
    vd_bytes_unref(h->chunk);
    h->chunk = NULL;
    h->chunk_from = h->chunk_at = 0;
    return n >= 0;
}

/* ---- a stream's output ---- */

void vd_stream_release_output(struct vd_stream *s)
{
    for (size_t i = s->output_first; i < s->output.n; i++) {
        vd_output_discharge(s->account, s->output.p[i].bytes, s->output.p[i].charge);
        vd_bytes_unref(s->output.p[i].bytes);
    }
    VD_VEC_RELEASE(&s->output);
    if (s->has_ended)
        s->http2->answers_len -= s->backlog;
    s->output_first = s->backlog = 0;
}

static void note_drained(struct vd_stream *s)
{
    if (s->is_drained)
        return;
    s->is_drained = true;
    vd_stream_list_add(&s->http2->drained, s);
}

/* The request is discharged before its answer has left, and others of the connection may be
 * another user's. */
static void find_payer(struct vd_stream *s)
{
    struct vd_account *account = s->exchange.account ? s->exchange.account
                                                     : s->http2->connection->account;
    if (!s->account && account)
        s->account = vd_account_ref(account);
}

static void add_output(struct vd_stream *s, struct vd_bytes *bytes)
{
    if (!bytes->len || s->head_only) {
        vd_bytes_unref(bytes);
        return;
    }
    find_payer(s);
    *VD_VEC_PUSH(&s->output) = (struct vd_output){
        .bytes = bytes, .end = bytes->len, .charge = vd_output_charge(s->account, bytes)};
    s->backlog += bytes->len;
    s->exchange.sent_len += bytes->len;
}

/* There is something to send again. It may be that nghttp2 has not asked yet. */
static void resume(struct vd_stream *s)
{
    nghttp2_session_resume_data(s->http2->session, s->id);
    vd_output_mark(s->http2->connection);
}

static ssize_t read_data(nghttp2_session *session, int32_t id, uint8_t *room, size_t len,
                         uint32_t *flags, nghttp2_data_source *source, void *arg)
{
    struct vd_stream *s = source->ptr;
    (void)session;
    (void)id;
    (void)room;
    (void)arg;
    if (s->backlog == 0 && !s->has_ended)
        return NGHTTP2_ERR_DEFERRED;
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (s->has_ended && s->backlog <= len)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)(s->backlog < len ? s->backlog : len);
}

/* Moves the first `len` bytes of the stream's queue. */
static void move_output(struct vd_stream *s, size_t len)
{
    struct vd_http2 *h = s->http2;
    s->backlog -= len;
    if (s->has_ended)
        h->answers_len -= len;
    while (len) {
        struct vd_output *o = &s->output.p[s->output_first];
        size_t part = o->end - o->from < len ? o->end - o->from : len;
        bool last = o->from + part == o->end;
        if (last) { /* from here on the connection is charged for what waits */
            vd_output_discharge(s->account, o->bytes, o->charge);
            vd_output_add(h->connection, o->bytes, o->from, o->end);
        } else {
            vd_output_add_free(h->connection, vd_bytes_ref(o->bytes), o->from, o->from + part);
        }
        o->from += part;
        len -= part;
        s->output_first += last;
    }
    if (s->output_first < s->output.n)
        return;
    s->output.n = s->output_first = 0;
    if (s->output.cap > OUTPUT_CAP_KEPT || s->has_ended)
        VD_VEC_RELEASE(&s->output);
}

int vd_http2_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head,
                       size_t len, nghttp2_data_source *source, void *arg)
{
    struct vd_http2 *h = arg;
    struct vd_stream *s = source->ptr;
    (void)session;
    (void)frame;
    if (is_full(h))
        return NGHTTP2_ERR_WOULDBLOCK;
    if (len > s->backlog) /* broken off while this frame waited */
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    if (len < DRIBBLE_LEN && len < s->backlog)
        vd_http2_nuisance(h);
    add_small(h, head, 9);
    if (len)
        flush_chunk(h);
    move_output(s, len);
    s->progressed = true;
    if (s->backlog == 0 && s->await_drain)
        note_drained(s);
    return 0;
}

/* ---- heads ---- */

static bool has_no_body(unsigned status)
{
    return status == 204 || status == 304;
}

static size_t answer_len(const struct vd_response *r)
{
    return (r->shared ? r->shared->len : 0) + r->body.n;
}

/* The headers of an answer, for nghttp2, which copies them. */
struct fields {
    VD_VEC(nghttp2_nv) list;
    struct vd_buf names; /* in lower case; reserved, so that it does not move */
    char status[8];
    char length[24];
    size_t len; /* of all */
};

static void add_field(struct fields *f, struct vd_slice name, struct vd_slice value)
{
    assert(vd_http_value_is_safe(value));
    f->len += name.n + value.n;
    *VD_VEC_PUSH(&f->list) = (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name.p,
                                          .value = (uint8_t *)(uintptr_t)value.p,
                                          .namelen = name.n,
                                          .valuelen = value.n};
}

static void add_named(struct fields *f, struct vd_slice name, struct vd_slice value)
{
    assert(vd_http_token_is(name));
    size_t at = f->names.n;
    for (size_t i = 0; i < name.n; i++)
        vd_buf_add_char(&f->names, vd_http_lower(name.p[i]));
    add_field(f, vd_slice(f->names.p + at, name.n), value);
}

static void collect_fields(struct fields *f, struct vd_stream *s, const struct vd_response *r)
{
    struct vd_http_date *date = &s->http2->connection->service->date;
    const struct vd_http_field *stamp = s->exchange.stamp;
    size_t names_len = stamp ? stamp->name.n : 0;
    for (size_t i = 0; i < r->fields_n; i++)
        names_len += r->fields[i].name.n;
    vd_buf_reserve(&f->names, names_len);
    snprintf(f->status, sizeof f->status, "%u", r->status);
    add_field(f, VD_SLICE(":status"), vd_slice_of(f->status));
    add_field(f, VD_SLICE("date"), vd_http_date_text(date));
    if (r->content_type.n)
        add_field(f, VD_SLICE("content-type"), r->content_type);
    if (!s->streaming && !has_no_body(r->status)) {
        snprintf(f->length, sizeof f->length, "%zu", answer_len(r));
        add_field(f, VD_SLICE("content-length"), vd_slice_of(f->length));
    }
    for (size_t i = 0; i < r->fields_n; i++)
        add_named(f, r->fields[i].name, r->fields[i].value);
    if (stamp)
        add_named(f, stamp->name, stamp->value);
}

/* Gives nghttp2 the head; `body`: frames of data follow it. */
static void submit(struct vd_stream *s, const struct vd_response *r, bool body)
{
    struct vd_http2 *h = s->http2;
    struct fields f = {0};
    const nghttp2_data_provider data = {.source.ptr = s, .read_callback = read_data};
    collect_fields(&f, s, r);
    int code = nghttp2_submit_response(h->session, s->id, f.list.p, f.list.n, body ? &data : NULL);
    assert(code == 0 || code == NGHTTP2_ERR_DATA_EXIST);
    (void)code;
    s->exchange.status = r->status;
    s->exchange.sent_len += f.len;
    VD_VEC_RELEASE(&f.list);
    vd_buf_release(&f.names);
    if (r->close)
        vd_http2_drain(h->connection);
    vd_output_mark(h->connection);
}

/* Nothing is added any more. */
static void finish(struct vd_stream *s)
{
    struct vd_http_service *service = s->http2->connection->service;
    s->state = VD_STREAM_SENT;
    s->has_ended = true;
    s->admitting = false;
    vd_stream_release_withheld(s);
    s->http2->answers_len += s->backlog;
    vd_route_finished(&s->exchange);
    s->exchange.ops = NULL;
    s->exchange.head = NULL;
    vd_body_reader_free(&s->exchange);
    vd_stream_forget_request(s);
    vd_stream_set_deadline(s, service->deadlines.send_ms);
}

/* ---- exchanges ---- */

void vd_http2_respond(struct vd_exchange *x, const struct vd_response *r)
{
    struct vd_stream *s = x->stream;
    assert(s->state == VD_STREAM_ANSWER && !s->streaming);
    assert(r->status >= 200);
    s->head_only |= has_no_body(r->status);
    submit(s, r, answer_len(r) && !s->head_only);
    if (r->shared)
        add_output(s, r->shared);
    if (r->body.n && !s->head_only)
        add_output(s, vd_bytes_copy(r->body));
    finish(s);
}

void vd_http2_stream(struct vd_exchange *x, const struct vd_response *r)
{
    struct vd_stream *s = x->stream;
    assert(s->state == VD_STREAM_ANSWER && !s->streaming);
    assert(r->status >= 200 && r->body.n == 0 && !r->shared);
    s->streaming = true;
    s->head_only |= has_no_body(r->status);
    submit(s, r, !s->head_only);
}

/* A connection that many exchanges share is nobody's own. */
bool vd_http2_upgrade(struct vd_exchange *x, const struct vd_response *r)
{
    (void)x;
    (void)r;
    return false;
}

void vd_http2_send(struct vd_exchange *x, struct vd_bytes *bytes)
{
    struct vd_stream *s = x->stream;
    assert(s->state == VD_STREAM_ANSWER && s->streaming);
    bool was_empty = s->backlog == 0;
    add_output(s, bytes);
    if (s->backlog && !vd_timer_is_set(&s->deadline))
        vd_stream_set_deadline(s, s->http2->connection->service->deadlines.send_ms);
    if (was_empty && s->backlog)
        resume(s);
}

void vd_http2_end(struct vd_exchange *x)
{
    struct vd_stream *s = x->stream;
    assert(s->state == VD_STREAM_ANSWER && s->streaming);
    finish(s);
    resume(s);
}

void vd_http2_abort(struct vd_exchange *x)
{
    struct vd_stream *s = x->stream;
    assert(s->state == VD_STREAM_ANSWER);
    x->ops = NULL;
    s->state = VD_STREAM_SENT;
    x->sent_len -= x->sent_len < s->backlog ? x->sent_len : s->backlog;
    vd_stream_release_output(s);
    vd_route_finished(x);
    vd_body_reader_free(x);
    vd_stream_forget_request(s);
    vd_stream_reset(s, NGHTTP2_INTERNAL_ERROR);
}

size_t vd_http2_backlog(const struct vd_exchange *x)
{
    return x->stream->backlog;
}

void vd_http2_await_drain(struct vd_exchange *x)
{
    struct vd_stream *s = x->stream;
    s->await_drain = true;
    if (s->backlog == 0)
        note_drained(s);
    vd_output_mark(s->http2->connection);
}

void vd_http2_forget_request(struct vd_exchange *x)
{
    vd_stream_forget_request(x->stream);
}
