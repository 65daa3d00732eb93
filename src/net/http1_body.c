/*
 * HTTP/1.1: bodies that are given to their handlers as they arrive; see body_reader.h.
 *
 * What has come of such a body stands, as it came, in the intake's `later`, where it is decoded and
 * from where it goes to the reader whole. The socket is read again when the handler has taken that.
 * Behind the body's end `later` has the requests that follow, as it always does.
 */
#include <string.h>

#include "net/body_reader.h"
#include "net/http1.h"
#include "net/output.h"

void vd_http1_begin_body(struct vd_connection *c)
{
    struct vd_intake *in = c->intake;
    struct vd_slice tail = vd_slice(in->bytes.p + in->head.used, in->bytes.n - in->head.used);
    vd_buf_add_slice(&in->later, tail);
    in->bytes.n = in->head.used;
    c->exchange.upload = &in->upload;
    vd_body_reader_new(&c->exchange);
}

/* Decodes what has come. What stands behind the body's end stays. */
static enum vd_http_result decode(struct vd_intake *in, struct vd_body_reader *r)
{
    size_t used = 0, got = 0;
    enum vd_http_result result = vd_http_body_read(&in->framing, in->later.p, in->later.n, &used,
                                                   &got);
    if (result == VD_HTTP_REFUSED) {
        r->refusal = in->framing.refusal;
        return result;
    }
    struct vd_buf rest = r->bytes; /* which is empty: its memory is for what comes next */
    if (used < in->later.n)
        vd_buf_add(&rest, in->later.p + used, in->later.n - used);
    r->bytes = in->later;
    r->bytes.n = got;
    in->later = rest;
    r->is_whole = result == VD_HTTP_DONE;
    return result;
}

bool vd_http1_body_is_read(struct vd_connection *c)
{
    struct vd_body_reader *r = c->exchange.reader;
    if (!r || r->is_whole)
        return true;
    if (!c->intake->later.n || r->refusal)
        return false;
    vd_buf_reset(&r->bytes); /* nobody reads the rest */
    return decode(c->intake, r) == VD_HTTP_DONE;
}

void vd_http1_give_body(struct vd_connection *c)
{
    struct vd_body_reader *r = c->exchange.reader;
    size_t given;
    if (!r->ops || r->is_paused || c->processing)
        return;
    if (!r->is_whole && r->bytes.n == 0 && c->intake->later.n &&
        decode(c->intake, r) == VD_HTTP_REFUSED) {
        vd_body_reader_break(r, r->refusal);
        return;
    }
    c->processing = true; /* the next request is not begun while this one is given bytes */
    bool goes_on = vd_body_reader_give(r, &given);
    c->processing = false;
    if (!goes_on)
        vd_http1_process(c);
}

void vd_http1_read_body(struct vd_exchange *x)
{
    struct vd_connection *c = x->connection;
    struct vd_intake *in = c->intake;
    bool waits = !x->reader->is_whole && in->head.expect_continue && in->later.n == 0;
    if (waits && !c->streaming)
        vd_output_add(c, vd_bytes_copy(VD_HTTP_CONTINUE), 0, VD_HTTP_CONTINUE.n);
    vd_output_mark(c);
}

void vd_http1_mark_body(struct vd_exchange *x)
{
    vd_output_mark(x->connection);
}

void vd_http1_break_body(struct vd_exchange *x, enum vd_http_refusal why)
{
    struct vd_connection *c = x->connection;
    vd_body_reader_free(x);
    c->keep_alive = false;
    x->head = NULL;
    if (c->streaming)
        vd_http1_abort(x);
    else
        vd_route_refuse(x, &(struct vd_route_refusal){.status = vd_http_refusal_status(why),
                                                      .why = vd_http_refusal_text(why)});
}
