/*
 * HTTP/2: bodies that are given to their handlers as they arrive; see body_reader.h.
 *
 * Data comes while nghttp2 is at work, when no handler may be called: it is added to the reader,
 * the stream is listed, and the handler gets it behind that. Until the handler reads, neither the
 * stream nor the connection is given room for what has come, as for bodies that wait to be
 * admitted. From then on the connection is given room at once, so that its other streams go on, and
 * the stream as the handler takes bytes.
 */
#include <assert.h>

#include "net/body_reader.h"
#include "net/connection_internal.h"
#include "net/http2_internal.h"
#include "net/output.h"

void vd_http2_list_body(struct vd_stream *s)
{
    if (s->has_body_listed)
        return;
    s->has_body_listed = true;
    s->next_body = NULL;
    s->prev_body = s->http2->bodies_last;
    *(s->prev_body ? &s->prev_body->next_body : &s->http2->bodies) = s;
    s->http2->bodies_last = s;
}

void vd_http2_unlist_body(struct vd_stream *s)
{
    if (!s->has_body_listed)
        return;
    s->has_body_listed = false;
    *(s->prev_body ? &s->prev_body->next_body : &s->http2->bodies) = s->next_body;
    *(s->next_body ? &s->next_body->prev_body : &s->http2->bodies_last) = s->prev_body;
}

void vd_http2_add_body(struct vd_stream *s, struct vd_slice data)
{
    struct vd_http2 *h = s->http2;
    struct vd_body_reader *r = s->exchange.reader;
    s->ungranted += data.n;
    if (r->ops) {
        nghttp2_session_consume_connection(h->session, data.n);
    } else {
        s->withheld += data.n;
        s->body_len += data.n;
        h->bodies_len += data.n;
    }
    r->total += data.n;
    if (r->total > vd_body_reader_len_max(s->exchange.route))
        r->refusal = VD_HTTP_REFUSED_BODY_LARGE;
    else
        vd_buf_add_slice(&r->bytes, data);
    vd_http2_list_body(s);
}

/* What was given makes room for as much. */
static void give(struct vd_stream *s)
{
    struct vd_body_reader *r = s->exchange.reader;
    size_t given = 0;
    if (!r || !r->ops)
        return;
    if (r->refusal) {
        vd_body_reader_break(r, r->refusal);
        return;
    }
    if (!vd_body_reader_give(r, &given) || !given)
        return;
    nghttp2_session_consume_stream(s->http2->session, s->id, given);
    s->ungranted -= given;
    vd_output_mark(s->http2->connection);
}

/* Those that are listed meanwhile are for the next time. */
void vd_http2_give_bodies(struct vd_http2 *h)
{
    struct vd_stream *last = h->bodies_last;
    for (bool more = last != NULL; more;) {
        struct vd_stream *s = h->bodies;
        more = s != last;
        vd_http2_unlist_body(s);
        give(s);
    }
}

void vd_http2_mark_body(struct vd_exchange *x)
{
    vd_http2_list_body(x->stream);
    vd_output_mark(x->connection);
}

void vd_http2_read_body(struct vd_exchange *x)
{
    struct vd_stream *s = x->stream;
    struct vd_http2 *h = s->http2;
    vd_http2_mark_body(x);
    if (x->reader->is_whole)
        return;
    h->bodies_len -= s->body_len;
    s->body_len = 0;
    vd_stream_release_withheld(s);
    int code = nghttp2_session_set_local_window_size(h->session, NGHTTP2_FLAG_NONE, s->id,
                                                     VD_HTTP_BODY_BUFFER_LEN);
    assert(code == 0);
    (void)code;
    if (s->intake->head.expect_continue && x->reader->total == 0 && !s->streaming)
        vd_stream_say_continue(s);
}

void vd_http2_break_body(struct vd_exchange *x, enum vd_http_refusal why)
{
    vd_body_reader_free(x);
    x->head = NULL;
    if (x->stream->streaming)
        vd_http2_abort(x);
    else
        vd_route_refuse(x, &(struct vd_route_refusal){.status = vd_http_refusal_status(why),
                                                      .why = vd_http_refusal_text(why)});
}
