/* See pending_frame.h. */
#include "kube/pending_frame.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "kube/shown.h"

static void frame_free(struct vd_shared *shared)
{
    struct vd_pending_frame *f = (struct vd_pending_frame *)shared;
    vd_deliveries_release(&f->deliveries);
    vd_event_frame_release(&f->frame);
    free(f);
}

struct vd_pending_frame *vd_pending_frame_of(struct vd_shared *shared)
{
    return shared && shared->free == frame_free ? (struct vd_pending_frame *)shared : NULL;
}

bool vd_pending_frame_is_needed(const struct vd_kind *kind, const struct vd_deliveries *d)
{
    for (size_t i = 0; kind->webhook && i < d->list.n; i++)
        if (d->list.p[i].body && vd_conversion_is_needed(kind, vd_body_slice(d->list.p[i].body)))
            return true;
    return false;
}

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
        d->body = vd_body_ref(c->items.p[at++].shown);
    }
    vd_conversion_free(c);
    while (f->first) {
        struct vd_frame_waiter *waiter = f->first;
        void (*ready)(struct vd_frame_waiter *, struct vd_pending_frame *) = waiter->ready;
        vd_pending_frame_leave(waiter); /* the conversion's reference keeps the frame */
        ready(waiter, f);
    }
    vd_shared_unref(&f->shared);
}

static void add_deliveries(struct vd_pending_frame *f, struct vd_conversion *c,
                           const struct vd_deliveries *from)
{
    f->deliveries.upto = from->upto;
    f->deliveries.whole = from->whole;
    f->deliveries.snapshot_end = from->snapshot_end;
    f->deliveries.live = from->live;
    for (size_t i = 0; i < from->list.n; i++) {
        const struct vd_delivery *d = &from->list.p[i];
        struct vd_body *body = d->body ? vd_body_ref(d->body) : NULL;
        *VD_VEC_PUSH(&f->deliveries.list) = (struct vd_delivery){d->type, vd_event_ref(d->event),
                                                                 body};
        if (body)
            vd_conversion_add(c, body, d->event->revision, body != d->event->body,
                              vd_shown_written(d->event, d->type == VD_DELETED));
    }
}

struct vd_pending_frame *vd_pending_frame_new(struct vd_kube_loop *l, const struct vd_kind *kind,
                                              const struct vd_deliveries *deliveries)
{
    struct vd_pending_frame *f = VD_NEW(struct vd_pending_frame);
    struct vd_conversion *c = vd_conversion_new(l, kind, converted, f);
    vd_refcount_init(&f->shared.refs);
    f->shared.free = frame_free;
    add_deliveries(f, c, deliveries);
    vd_ref(&f->shared.refs); /* the conversion's */
    vd_conversion_start(c);
    return f;
}

void vd_pending_frame_wait(struct vd_pending_frame *f, struct vd_frame_waiter *waiter)
{
    vd_ref(&f->shared.refs);
    waiter->frame = f;
    waiter->prev = NULL;
    waiter->next = f->first;
    if (f->first)
        f->first->prev = waiter;
    f->first = waiter;
}

void vd_pending_frame_leave(struct vd_frame_waiter *waiter)
{
    struct vd_pending_frame *f = waiter->frame;
    if (!f)
        return;
    waiter->frame = NULL;
    *(waiter->prev ? &waiter->prev->next : &f->first) = waiter->next;
    if (waiter->next)
        waiter->next->prev = waiter->prev;
    vd_shared_unref(&f->shared);
}
