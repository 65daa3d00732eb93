/* See gzip.h. */
#include "kube/gzip.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "net/account.h"

enum { PIECE_LEN = 131072 }; /* compressed in one turn: about a millisecond */

const struct vd_http_field vd_gzip_fields[VD_GZIP_FIELDS] = {
    {{"Content-Encoding", 16}, {"gzip", 4}},
    {{"Vary", 4}, {"Accept-Encoding", 15}},
};

bool vd_call_takes_gzip(const struct vd_call *call)
{
    struct vd_slice value;
    size_t at = 0;
    bool takes = false;
    if (!call->x || !call->x->head || call->x->head->method != VD_HTTP_GET)
        return false;
    while (vd_http_head_next(call->x->head, VD_SLICE("accept-encoding"), &at, &value))
        takes |= vd_accept_encoding_gzip(value);
    return takes;
}

struct vd_gzip *vd_kube_loop_gzip(struct vd_kube_loop *l)
{
    if (!l->gzip) {
        l->gzip = VD_NEW(struct vd_gzip);
        vd_gzip_init(l->gzip, VD_GZIP_LEVEL);
    }
    return l->gzip;
}

void vd_kube_loop_gzip_release(struct vd_kube_loop *l)
{
    if (l->gzip)
        vd_gzip_release(l->gzip);
    free(l->gzip);
    l->gzip = NULL;
}

/* ---- a body that is whole ---- */

struct zipping {
    struct vd_call *call;
    struct vd_buf body;
    size_t at;
    struct vd_gzip_stream stream;
};

static void zipping_free(struct zipping *z)
{
    vd_call_free(z->call);
    vd_buf_release(&z->body);
    free(z);
}

static void send_piece(struct vd_exchange *x)
{
    struct zipping *z = x->arg;
    struct vd_kube_loop *l = z->call->l;
    size_t n = z->body.n - z->at < PIECE_LEN ? z->body.n - z->at : PIECE_LEN;
    bool last = z->at + n == z->body.n;
    vd_buf_reset(&l->frame);
    vd_gzip_add(vd_kube_loop_gzip(l), &z->stream, vd_slice(z->body.p + z->at, n), last, &l->frame);
    z->at += n;
    vd_exchange_send(x, vd_bytes_copy(vd_buf_slice(&l->frame)));
    if (!last) {
        vd_exchange_await_drain(x);
        return;
    }
    x->ops = NULL;
    vd_exchange_end(x);
    zipping_free(z);
}

static void gone(struct vd_exchange *x)
{
    zipping_free(x->arg);
}

static const struct vd_exchange_ops ops = {send_piece, gone};

void vd_call_reply_gzipped(struct vd_call *call, const struct vd_response *response)
{
    struct vd_exchange *x = call->x;
    struct zipping *z = VD_NEW(struct zipping);
    struct vd_response head = *response;
    z->call = call;
    vd_buf_add_slice(&z->body, response->body);
    vd_exchange_hold(x, (int64_t)z->body.n);
    head.body = VD_SLICE("");
    vd_exchange_stream(x, &head);
    x->ops = &ops;
    x->arg = z;
    send_piece(x);
}
