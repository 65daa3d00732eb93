/* See pending_frame.h. */
#include "api/pending_frame.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "kinds/served_form.h"
#include "net/account.h"

/* What a worker has of a frame. */
struct vd_frame_order {
    struct vd_pool_item order;
    struct vd_pending_frame *owner; /* whose reference is the order's */
    struct vd_account *account;     /* a reference; NULL: nobody's */
    struct vd_stream_encoder *encoder;
    /* And what it has made: */
    struct vd_event_frame frame;
    bool broken;
};

static void order_free(struct vd_frame_order *o)
{
    if (!o)
        return;
    vd_account_unref(o->account);
    o->encoder->free(o->encoder);
    free(o);
}

static void frame_free(struct vd_shared *shared)
{
    struct vd_pending_frame *f = VD_CONTAINER_OF(shared, struct vd_pending_frame, shared);
    order_free(f->order);
    vd_deliveries_release(&f->deliveries);
    vd_event_frame_release(&f->frame);
    free(f);
}

struct vd_pending_frame *vd_pending_frame_of(struct vd_shared *shared)
{
    return shared && shared->free == frame_free
               ? VD_CONTAINER_OF(shared, struct vd_pending_frame, shared)
               : NULL;
}

bool vd_pending_frame_is_needed(const struct vd_kind *kind, const struct vd_deliveries *d)
{
    for (size_t i = 0; kind->webhook && i < d->list.n; i++)
        if (d->list.p[i].body && vd_conversion_is_needed(kind, vd_body_slice(d->list.p[i].body)))
            return true;
    return false;
}

/* Tells those who wait that it is done. */
static void tell(struct vd_pending_frame *f)
{
    while (f->first) {
        struct vd_api_stream *stream = f->first;
        vd_pending_frame_leave(stream); /* the maker's reference keeps the frame */
        vd_stream_frame_ready(stream, f);
    }
    vd_shared_unref(&f->shared);
}

/* The bytes that are being made for the stream count as if they waited for its user already. */
static void hold(struct vd_pending_frame *f, struct vd_api_stream *stream)
{
    for (size_t i = 0; i < f->deliveries.list.n; i++)
        f->held += f->deliveries.list.p[i].body ? f->deliveries.list.p[i].body->len : 0;
    f->holder = stream;
    vd_account_queue(stream->account, f->held);
}

static struct vd_pending_frame *frame_new(struct vd_api_stream *stream,
                                          const struct vd_deliveries *from)
{
    struct vd_pending_frame *f = VD_NEW(struct vd_pending_frame);
    vd_refcount_init(&f->shared.refs);
    f->shared.free = frame_free;
    f->deliveries.upto = from->upto;
    f->deliveries.whole = from->whole;
    f->deliveries.snapshot_end = from->snapshot_end;
    f->deliveries.live = from->live;
    for (size_t i = 0; i < from->list.n; i++) {
        const struct vd_delivery *d = &from->list.p[i];
        struct vd_body *body = d->body ? vd_body_ref(d->body) : NULL;
        *VD_VEC_PUSH(&f->deliveries.list) = (struct vd_delivery){d->type, vd_event_ref(d->event),
                                                                 body};
    }
    hold(f, stream);
    return f;
}

/* ---- by a webhook ---- */

/* The deliveries get the bodies that are shown, and those who wait are told. */
static void converted(struct vd_conversion *c)
{
    struct vd_pending_frame *f = c->arg;
    f->done = true;
    f->code = c->code;
    f->error = c->error;
    for (size_t i = 0, at = 0; !c->code && i < f->deliveries.list.n; i++) {
        struct vd_delivery *d = &f->deliveries.list.p[i];
        if (!d->body)
            continue;
        vd_body_unref(d->body);
        d->body = vd_body_ref(c->items.p[at++].converted);
    }
    vd_conversion_free(c);
    tell(f);
}

struct vd_pending_frame *vd_pending_frame_convert(struct vd_api_stream *stream,
                                                  const struct vd_deliveries *deliveries)
{
    struct vd_pending_frame *f = frame_new(stream, deliveries);
    struct vd_conversion *c = vd_conversion_new(stream->l, stream->kind, converted, f);
    for (size_t i = 0; i < f->deliveries.list.n; i++) {
        const struct vd_delivery *d = &f->deliveries.list.p[i];
        if (d->body)
            vd_conversion_add(c, d->body, d->event->revision, d->body != d->event->body,
                              vd_served_form_written(d->event, d->type == VD_DELETED));
    }
    vd_ref(&f->shared.refs); /* the conversion's */
    vd_conversion_start(c);
    return f;
}

/* ---- by a worker ---- */

static void run(struct vd_pool_item *order)
{
    struct vd_frame_order *o = VD_CONTAINER_OF(order, struct vd_frame_order, order);
    struct vd_buf out = {0};
    o->broken = o->encoder->encode(o->encoder, &o->frame, &out, &o->owner->deliveries) ==
                VD_FRAME_BROKEN;
    vd_buf_release(&out);
}

static void made(struct vd_pool_item *order)
{
    struct vd_frame_order *o = VD_CONTAINER_OF(order, struct vd_frame_order, order);
    struct vd_pending_frame *f = o->owner;
    f->done = true;
    f->frame = o->frame;
    f->broken = o->broken;
    tell(f);
}

struct vd_pending_frame *vd_pending_frame_order(struct vd_api_stream *stream,
                                                const struct vd_deliveries *deliveries)
{
    struct vd_pending_frame *f = frame_new(stream, deliveries);
    struct vd_frame_order *o = VD_NEW(struct vd_frame_order);
    struct vd_account *account = stream->account;
    struct vd_api_loop *l = stream->l;
    f->order = o;
    o->owner = f;
    o->account = account ? vd_account_ref(account) : NULL;
    o->order = (struct vd_pool_item){.run = run, .done = made};
    o->encoder = stream->ops->encoder(stream);
    vd_ref(&f->shared.refs); /* the order's */
    vd_worker_pool_add(&l->worker_pool, l->loop, vd_api_loop_worker_flow(l, account), &o->order);
    return f;
}

/* ---- who waits ---- */

void vd_pending_frame_wait(struct vd_pending_frame *f, struct vd_api_stream *stream)
{
    vd_ref(&f->shared.refs);
    stream->pending = f;
    vd_stream_wait_in(stream, &f->first);
}

void vd_pending_frame_leave(struct vd_api_stream *stream)
{
    struct vd_pending_frame *f = stream->pending;
    if (!f)
        return;
    stream->pending = NULL;
    vd_stream_wait_out(stream);
    if (f->holder == stream) {
        vd_account_queue(stream->account, -f->held);
        f->holder = NULL;
    }
    vd_shared_unref(&f->shared);
}
