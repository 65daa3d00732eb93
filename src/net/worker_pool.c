/* See worker_pool.h. */
#include "net/worker_pool.h"

#include "base/container_of.h"
#include "base/limits.h"

void vd_worker_pool_init(struct vd_worker_pool *w, size_t loops)
{
    *w = (struct vd_worker_pool){
        .share = loops < VD_WORK_LOOP_MAX ? (unsigned)(VD_WORK_LOOP_MAX / (loops ? loops : 1)) : 1};
}

static unsigned share(const struct vd_worker_pool *w)
{
    return w->share ? w->share : VD_WORK_LOOP_MAX;
}

/* Half of it, so that others find a worker. */
static unsigned share_of_user(const struct vd_worker_pool *w)
{
    unsigned half = (share(w) + 1) / 2;
    return half < VD_WORK_USER_MAX ? half : VD_WORK_USER_MAX;
}

/* So many more, or less, are with the workers. */
static void count(struct vd_worker_pool *w, struct vd_worker_flow *flow, int more)
{
    w->running += (unsigned)more;
    flow->running += (unsigned)more;
    vd_fair_queue_hold(&w->queue, &flow->queue, flow->running >= share_of_user(w));
}

static void start_some(struct vd_worker_pool *w);

static struct vd_pool_item *item_of(struct vd_work *work)
{
    return VD_CONTAINER_OF(work, struct vd_pool_item, work);
}

static void run(struct vd_work *work)
{
    struct vd_pool_item *item = item_of(work);
    item->run(item);
}

/* The next one does not wait for what is made of this one. */
static void done(struct vd_work *work)
{
    struct vd_pool_item *item = item_of(work);
    struct vd_worker_pool *w = item->worker_pool;
    count(w, item->flow, -1);
    start_some(w);
    item->done(item);
}

static void start_some(struct vd_worker_pool *w)
{
    while (w->queue.first && w->running < share(w)) {
        struct vd_pool_item *item = VD_CONTAINER_OF(w->queue.first->first, struct vd_pool_item,
                                                    queued);
        vd_fair_queue_rotate(&w->queue);
        vd_fair_queue_remove(&w->queue, &item->queued);
        count(w, item->flow, 1);
        item->work = (struct vd_work){.run = run, .done = done};
        vd_loop_work(item->loop, &item->work);
    }
}

void vd_worker_pool_add(struct vd_worker_pool *w, struct vd_loop *loop, struct vd_worker_flow *flow,
                        struct vd_pool_item *item)
{
    item->loop = loop;
    item->worker_pool = w;
    item->flow = flow;
    vd_fair_queue_add(&w->queue, &flow->queue, &item->queued);
    start_some(w);
}

bool vd_pool_item_cancel(struct vd_pool_item *item)
{
    if (!item->queued.flow)
        return false;
    vd_fair_queue_remove(&item->worker_pool->queue, &item->queued);
    return true;
}
