/* See gzip.h. */
#include "request/gzip.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "net/account.h"
#include "net/media_type.h"

enum { PIECE_LEN = 131072 }; /* compressed in one turn: about a millisecond */

const struct vd_http_field vd_gzip_fields[VD_GZIP_FIELDS] = {
    {{"Content-Encoding", 16}, {"gzip", 4}},
    {{"Vary", 4}, {"Accept-Encoding", 15}},
};

bool vd_request_takes_gzip(const struct vd_exchange *x)
{
    struct vd_slice value;
    size_t at = 0;
    bool takes = false;
    if (!x->head || x->head->method != VD_HTTP_GET)
        return false;
    while (vd_http_head_next(x->head, VD_SLICE("accept-encoding"), &at, &value))
        takes |= vd_accept_encoding_gzip(value);
    return takes;
}

struct vd_gzip *vd_request_gzip(struct vd_request_loop *l)
{
    if (!l->gzip) {
        l->gzip = VD_NEW(struct vd_gzip);
        vd_gzip_init(l->gzip, VD_GZIP_LEVEL);
    }
    return l->gzip;
}

void vd_request_gzip_release(struct vd_request_loop *l)
{
    if (l->gzip)
        vd_gzip_release(l->gzip);
    free(l->gzip);
    l->gzip = NULL;
}

/* ---- a body that is whole ---- */

/* What is left to be sent of an answer. */
struct remainder {
    struct vd_request_loop *l;
    struct vd_buf body;
    size_t at; /* where in the body the next piece begins */
    struct vd_gzip_stream stream;
};

static void remainder_free(struct remainder *r)
{
    vd_buf_release(&r->body);
    free(r);
}

static void send_piece(struct vd_exchange *x)
{
    struct remainder *r = x->arg;
    struct vd_buf *piece = &r->l->piece;
    size_t n = r->body.n - r->at < PIECE_LEN ? r->body.n - r->at : PIECE_LEN;
    bool last = r->at + n == r->body.n;
    vd_buf_reset(piece);
    vd_gzip_add(vd_request_gzip(r->l), &r->stream, vd_slice(r->body.p + r->at, n), last, piece);
    r->at += n;
    vd_exchange_send(x, vd_bytes_copy(vd_buf_slice(piece)));
    if (!last) {
        vd_exchange_await_drain(x);
        return;
    }
    x->ops = NULL;
    vd_exchange_end(x);
    remainder_free(r);
}

static void gone(struct vd_exchange *x)
{
    remainder_free(x->arg);
}

static const struct vd_exchange_ops ops = {send_piece, gone};

void vd_request_respond_gzipped(struct vd_request_loop *l, struct vd_exchange *x,
                                const struct vd_response *response)
{
    struct remainder *r = VD_NEW(struct remainder);
    struct vd_response head = *response;
    r->l = l;
    vd_buf_add_slice(&r->body, response->body);
    vd_exchange_hold(x, (int64_t)r->body.n);
    head.body = VD_SLICE("");
    vd_exchange_stream(x, &head);
    x->ops = &ops;
    x->arg = r;
    send_piece(x);
}
