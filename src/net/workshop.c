/* See workshop.h. A place is in the ring exactly while it has an order that waits and less than
 * its share with the workers. */
#include "net/workshop.h"

#include "base/heap.h"
#include "base/limits.h"

static void ring_remove(struct vd_workshop *w, struct vd_place *place)
{
    place->in_ring = false;
    *(place->prev ? &place->prev->next : &w->first) = place->next;
    *(place->next ? &place->next->prev : &w->last) = place->prev;
}

void vd_workshop_init(struct vd_workshop *w, size_t loops)
{
    *w = (struct vd_workshop){
        .share = loops < VD_WORK_LOOP_MAX ? (unsigned)(VD_WORK_LOOP_MAX / (loops ? loops : 1)) : 1};
}

static unsigned share(const struct vd_workshop *w)
{
    return w->share ? w->share : VD_WORK_LOOP_MAX;
}

/* Half of it, so that others find a worker. */
static unsigned share_of_user(const struct vd_workshop *w)
{
    unsigned half = (share(w) + 1) / 2;
    return half < VD_WORK_USER_MAX ? half : VD_WORK_USER_MAX;
}

/* Puts the place last in the ring, or leaves it out, as it should be now. */
static void ring_settle(struct vd_workshop *w, struct vd_place *place)
{
    bool belongs = place->first && place->running < share_of_user(w);
    if (place->in_ring && !belongs)
        ring_remove(w, place);
    if (place->in_ring || !belongs)
        return;
    place->in_ring = true;
    place->next = NULL;
    place->prev = w->last;
    *(w->last ? &w->last->next : &w->first) = place;
    w->last = place;
}

static void take_out(struct vd_order *order)
{
    struct vd_place *place = order->place;
    order->waits = false;
    *(order->prev ? &order->prev->next : &place->first) = order->next;
    *(order->next ? &order->next->prev : &place->last) = order->prev;
}

static void start_some(struct vd_workshop *w);

static struct vd_order *order_of(struct vd_work *work)
{
    return VD_HEAP_OWNER(work, struct vd_order, work);
}

static void run(struct vd_work *work)
{
    struct vd_order *order = order_of(work);
    order->run(order);
}

/* The next one does not wait for what is made of this one. */
static void done(struct vd_work *work)
{
    struct vd_order *order = order_of(work);
    struct vd_workshop *w = order->workshop;
    w->running--;
    order->place->running--;
    ring_settle(w, order->place);
    start_some(w);
    order->done(order);
}

static void start_some(struct vd_workshop *w)
{
    while (w->first && w->running < share(w)) {
        struct vd_place *place = w->first;
        struct vd_order *order = place->first;
        take_out(order);
        w->running++;
        place->running++;
        ring_remove(w, place);
        ring_settle(w, place);
        order->work = (struct vd_work){.run = run, .done = done};
        vd_loop_work(order->loop, &order->work);
    }
}

void vd_workshop_order(struct vd_workshop *w, struct vd_loop *loop, struct vd_place *place,
                       struct vd_order *order)
{
    order->loop = loop;
    order->workshop = w;
    order->place = place;
    order->waits = true;
    order->next = NULL;
    order->prev = place->last;
    *(place->last ? &place->last->next : &place->first) = order;
    place->last = order;
    ring_settle(w, place);
    start_some(w);
}

bool vd_order_cancel(struct vd_order *order)
{
    if (!order->waits)
        return false;
    take_out(order);
    ring_settle(order->workshop, order->place);
    return true;
}
