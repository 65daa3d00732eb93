/* See pending_frame.h. */
#include "kube/pending_frame.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "kinds/served_form.h"
#include "net/account.h"

/* What a worker has of a frame. */
struct vd_frame_making {
    struct vd_order order;
    struct vd_pending_frame *owner; /* whose reference is the order's */
    struct vd_account *account;     /* a reference; NULL: nobody's */
    struct vd_watch_form form;
    struct vd_kube_output output;
    struct vd_table *columns; /* a reference; NULL: not needed */
    struct vd_table_writer table;
    /* And what it has made: */
    struct vd_event_frame frame;
    bool broken;
};

static void making_free(struct vd_frame_making *m)
{
    if (!m)
        return;
    vd_account_unref(m->account);
    vd_table_unref(m->columns);
    vd_kind_unref(m->form.kind);
    free(m);
}

static void frame_free(struct vd_shared *shared)
{
    struct vd_pending_frame *f = (struct vd_pending_frame *)shared;
    making_free(f->making);
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

/* Tells those who wait that it is done. */
static void tell(struct vd_pending_frame *f)
{
    while (f->first) {
        struct vd_frame_waiter *waiter = f->first;
        void (*ready)(struct vd_frame_waiter *, struct vd_pending_frame *) = waiter->ready;
        vd_pending_frame_leave(waiter); /* the maker's reference keeps the frame */
        ready(waiter, f);
    }
    vd_shared_unref(&f->shared);
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
        d->body = vd_body_ref(c->items.p[at++].shown);
    }
    vd_conversion_free(c);
    tell(f);
}

static struct vd_pending_frame *frame_new(const struct vd_deliveries *from)
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
    return f;
}

struct vd_pending_frame *vd_pending_frame_new(struct vd_kube_loop *l, const struct vd_kind *kind,
                                              const struct vd_deliveries *deliveries)
{
    struct vd_pending_frame *f = frame_new(deliveries);
    struct vd_conversion *c = vd_conversion_new(l, kind, converted, f);
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

static void run(struct vd_order *order)
{
    struct vd_frame_making *m = VD_HEAP_OWNER(order, struct vd_frame_making, order);
    struct vd_buf out = {0};
    m->broken = vd_watch_frame_make(&m->frame, &out, &m->form, &m->owner->deliveries, false,
                                    false) == VD_FRAME_BROKEN;
    vd_buf_release(&out);
}

static void made(struct vd_order *order)
{
    struct vd_frame_making *m = VD_HEAP_OWNER(order, struct vd_frame_making, order);
    struct vd_pending_frame *f = m->owner;
    f->done = true;
    f->frame = m->frame;
    f->broken = m->broken;
    tell(f);
}

/* The form of its own: the watch may be gone before it is done. The frame has the columns, if any
 * are to come, and later ones do not. */
static void copy_form(struct vd_frame_making *m, const struct vd_watch_form *form)
{
    m->form = *form;
    m->form.kind = vd_kind_ref(form->kind);
    m->output = *form->output;
    m->form.output = &m->output;
    if (!form->table)
        return;
    m->table = *form->table;
    m->columns = vd_table_ref((struct vd_table *)(uintptr_t)form->table->table); /* for its count */
    m->form.table = &m->table;
    form->table->headed = true;
}

struct vd_pending_frame *vd_pending_frame_order(const struct vd_watch_form *form,
                                                const struct vd_deliveries *deliveries,
                                                struct vd_account *account)
{
    struct vd_pending_frame *f = frame_new(deliveries);
    struct vd_frame_making *m = VD_NEW(struct vd_frame_making);
    struct vd_kube_loop *l = form->l;
    f->making = m;
    m->owner = f;
    m->account = account ? vd_account_ref(account) : NULL;
    m->order = (struct vd_order){.run = run, .done = made};
    copy_form(m, form);
    vd_ref(&f->shared.refs); /* the order's */
    vd_workshop_order(&l->api->workshop, l->loop,
                      account ? vd_account_place(account, l->loop->index) : &l->api->place,
                      &m->order);
    return f;
}

/* ---- who waits ---- */

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
