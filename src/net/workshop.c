/* See workshop.h. */
#include "net/workshop.h"

#include "base/heap.h"
#include "base/limits.h"

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

/* So many more, or less, are with the workers. */
static void count(struct vd_workshop *w, struct vd_place *place, int more)
{
    w->running += (unsigned)more;
    place->running += (unsigned)more;
    vd_fair_queue_hold(&w->queue, &place->queue, place->running >= share_of_user(w));
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
    count(w, order->place, -1);
    start_some(w);
    order->done(order);
}

static void start_some(struct vd_workshop *w)
{
    while (w->queue.first && w->running < share(w)) {
        struct vd_order *order = VD_HEAP_OWNER(w->queue.first->first, struct vd_order, item);
        vd_fair_queue_rotate(&w->queue);
        vd_fair_queue_remove(&w->queue, &order->item);
        count(w, order->place, 1);
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
    vd_fair_queue_add(&w->queue, &place->queue, &order->item);
    start_some(w);
}

bool vd_order_cancel(struct vd_order *order)
{
    if (!order->item.flow)
        return false;
    vd_fair_queue_remove(&order->workshop->queue, &order->item);
    return true;
}
