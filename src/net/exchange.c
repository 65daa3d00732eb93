/*
 * See exchange.h: how answers become bytes in a connection's output. When they
 * leave is output.c's and connection.c's. What belongs to a stream of HTTP/2 is
 * passed on to http2_answer.c.
 */
#include "net/exchange.h"

#include <assert.h>
#include <string.h>

#include "net/connection_internal.h"
#include "net/http2.h"
#include "net/output.h"
#include "net/upload.h"

/* ---- answers ---- */

static bool has_no_body(unsigned status)
{
    return status == 204 || status == 304;
}

static void write_head(struct vd_connection *c, const struct vd_response *r, bool streamed,
                       struct vd_buf *out)
{
    if (r->close || c->service->draining || (streamed && !c->chunked))
        c->keep_alive = false;
    struct vd_http_answer answer = {
        .status = r->status,
        .content_type = r->content_type,
        .framing = has_no_body(r->status) ? VD_HTTP_FRAMING_NONE
                   : !streamed            ? VD_HTTP_FRAMING_LENGTH
                   : c->chunked           ? VD_HTTP_FRAMING_CHUNKED
                                          : VD_HTTP_FRAMING_CLOSE,
        .length = (r->shared ? r->shared->len : 0) + r->body.n,
        .persistence = !c->keep_alive ? VD_HTTP_PERSIST_CLOSE
                       : c->chunked   ? VD_HTTP_PERSIST_DEFAULT
                                      : VD_HTTP_PERSIST_KEEP,
        .fields = r->fields,
        .fields_n = r->fields_n,
        .stamp = c->exchange.stamp,
    };
    vd_http_write_head(out, &c->service->date, &answer);
    c->exchange.status = r->status;
}

void vd_exchange_respond(struct vd_exchange *x, const struct vd_response *r)
{
    if (x->stream) {
        vd_http2_respond(x, r);
        return;
    }
    struct vd_connection *c = x->connection;
    struct vd_buf head = {0};
    assert(c->state == VD_CONNECTION_ANSWER && !c->streaming);
    assert(r->status >= 200);
    write_head(c, r, false, &head);
    bool no_body = c->head_only || has_no_body(r->status);
    size_t copied = no_body || r->shared ? 0 : r->body.n;
    struct vd_bytes *bytes = vd_bytes_new(head.n + copied);
    memcpy(bytes->data, head.p, head.n);
    if (copied)
        memcpy(bytes->data + head.n, r->body.p, copied);
    vd_output_add(c, bytes, 0, bytes->len);
    if (r->shared && no_body) {
        vd_bytes_unref(r->shared);
    } else if (r->shared) {
        vd_output_add(c, r->shared, 0, r->shared->len);
        vd_output_add(c, vd_bytes_copy(r->body), 0, r->body.n);
    }
    vd_buf_release(&head);
    vd_connection_finish_answer(c);
}

void vd_connection_refuse_plainly(struct vd_exchange *x, unsigned status, const char *why)
{
    struct vd_buf text = {0};
    vd_buf_addf(&text, "%s\n", why);
    vd_exchange_respond(x,
                        &(struct vd_response){.status = status,
                                              .content_type = VD_SLICE("text/plain; charset=utf-8"),
                                              .body = vd_buf_slice(&text)});
    vd_buf_release(&text);
}

void vd_exchange_receive(struct vd_exchange *x)
{
    x->ops = NULL;
    x->upload->is_admitted = true;
    if (x->stream)
        vd_http2_receive_body(x);
    else
        vd_connection_receive_body(x->connection);
}

void vd_exchange_stream(struct vd_exchange *x, const struct vd_response *r)
{
    if (x->stream) {
        vd_http2_stream(x, r);
        return;
    }
    struct vd_connection *c = x->connection;
    struct vd_buf head = {0};
    assert(c->state == VD_CONNECTION_ANSWER && !c->streaming);
    assert(r->status >= 200 && r->body.n == 0 && !r->shared);
    c->streaming = true;
    write_head(c, r, true, &head);
    c->head_only |= has_no_body(r->status);
    vd_output_add(c, vd_bytes_copy(vd_buf_slice(&head)), 0, head.n);
    vd_buf_release(&head);
}

void vd_exchange_send(struct vd_exchange *x, struct vd_bytes *bytes)
{
    if (x->stream) {
        vd_http2_send(x, bytes);
        return;
    }
    struct vd_connection *c = x->connection;
    assert(c->state == VD_CONNECTION_ANSWER && c->streaming);
    if (c->head_only)
        vd_bytes_unref(bytes);
    else if (c->chunked)
        vd_output_add_chunk(c, bytes);
    else
        vd_output_add(c, bytes, 0, bytes->len);
}

void vd_exchange_end(struct vd_exchange *x)
{
    if (x->stream) {
        vd_http2_end(x);
        return;
    }
    struct vd_connection *c = x->connection;
    assert(c->state == VD_CONNECTION_ANSWER && c->streaming);
    if (c->chunked && !c->head_only)
        vd_output_add(c, vd_bytes_copy(VD_HTTP_CHUNK_LAST), 0, VD_HTTP_CHUNK_LAST.n);
    vd_connection_finish_answer(c);
}

void vd_exchange_abort(struct vd_exchange *x)
{
    if (x->stream) {
        vd_http2_abort(x);
        return;
    }
    struct vd_connection *c = x->connection;
    x->ops = NULL;
    /* Where only the close ends the answer, an orderly one would make it look whole. */
    if (c->streaming && !c->chunked)
        vd_transport_spoil(&c->transport);
    vd_connection_close(c);
}

bool vd_exchange_is_alone(const struct vd_exchange *x)
{
    return x->connection->service->count == 1;
}

size_t vd_exchange_backlog(const struct vd_exchange *x)
{
    return x->stream ? vd_http2_backlog(x) : x->connection->backlog;
}

void vd_exchange_await_drain(struct vd_exchange *x)
{
    if (x->stream) {
        vd_http2_await_drain(x);
        return;
    }
    x->connection->await_drain = true;
    vd_output_mark(x->connection);
}

void vd_exchange_forget_request(struct vd_exchange *x)
{
    x->head = NULL;
    x->body = VD_SLICE("");
    if (x->stream)
        vd_http2_forget_request(x);
    else
        vd_connection_forget_request(x->connection);
}
