/*
 * HTTP/1.1: how answers become bytes in a connection's output. When they leave is output.c's and
 * connection.c's.
 */
#include <assert.h>
#include <string.h>

#include "net/http1.h"
#include "net/output.h"
#include "net/upgrade.h"

static bool has_no_body(unsigned status)
{
    return status == 204 || status == 304;
}

static void write_head(struct vd_connection *c, const struct vd_response *r, bool streamed,
                       struct vd_buf *out)
{
    if (r->close || c->service->draining || (streamed && !c->chunked))
        c->keep_alive = false;
    if (!streamed) /* a stream may outlast the body */
        c->keep_alive &= vd_http1_body_is_read(c);
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

void vd_http1_respond(struct vd_exchange *x, const struct vd_response *r)
{
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
    vd_http1_finish_answer(c);
}

void vd_http1_stream(struct vd_exchange *x, const struct vd_response *r)
{
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

/* Bytes that have come behind the request are the new protocol's. */
bool vd_http1_upgrade(struct vd_exchange *x, const struct vd_response *r)
{
    struct vd_connection *c = x->connection;
    struct vd_buf head = {0};
    assert(c->state == VD_CONNECTION_ANSWER && !c->streaming && !c->admitting);
    assert(r->status == 101 && r->body.n == 0 && !r->shared);
    if (!c->chunked || !c->keep_alive || c->service->draining)
        return false;
    struct vd_http_answer answer = {.status = 101,
                                    .framing = VD_HTTP_FRAMING_NONE,
                                    .persistence = VD_HTTP_PERSIST_UPGRADE,
                                    .fields = r->fields,
                                    .fields_n = r->fields_n,
                                    .stamp = x->stamp};
    vd_http_write_head(&head, &c->service->date, &answer);
    struct vd_bytes *bytes = vd_bytes_take(&head);
    vd_output_add(c, bytes, 0, bytes->len);
    vd_upgrade_start(c);
    return true;
}

void vd_http1_send(struct vd_exchange *x, struct vd_bytes *bytes)
{
    struct vd_connection *c = x->connection;
    assert(c->state == VD_CONNECTION_ANSWER && c->streaming);
    if (c->head_only)
        vd_bytes_unref(bytes);
    else if (c->chunked)
        vd_output_add_chunk(c, bytes);
    else
        vd_output_add(c, bytes, 0, bytes->len);
}

void vd_http1_end(struct vd_exchange *x)
{
    struct vd_connection *c = x->connection;
    assert(c->state == VD_CONNECTION_ANSWER && c->streaming);
    if (c->chunked && !c->head_only)
        vd_output_add(c, vd_bytes_copy(VD_HTTP_CHUNK_LAST), 0, VD_HTTP_CHUNK_LAST.n);
    vd_http1_finish_answer(c);
}

void vd_http1_abort(struct vd_exchange *x)
{
    struct vd_connection *c = x->connection;
    x->ops = NULL;
    /* Where only the close ends the answer, an orderly one would make it look whole. */
    if (c->streaming && !c->chunked)
        vd_transport_spoil(&c->transport);
    vd_connection_close(c);
}

size_t vd_http1_backlog(const struct vd_exchange *x)
{
    return x->connection->backlog;
}

void vd_http1_await_drain(struct vd_exchange *x)
{
    x->connection->await_drain = true;
    vd_output_mark(x->connection);
}
