/*
 * A worker pool: how the users of one loop share the workers.
 *
 * Work that takes too long for a loop is done by a few threads (vd_loop_work), first come, first
 * served: a user who sends much of it would make all others wait until it is done. So it
 * is given to a worker pool. A user has one *flow* there for each loop; the workers get at most
 * VD_WORK_LOOP_MAX items at a time, shared by the loops, and of a flow at most half of its
 * loop's share and VD_WORK_USER_MAX. The flows whose items wait take turns, an item each.
 *
 * All on the loop's thread but `run`. A loop that is stopped waits for what was added.
 */
#ifndef VD_NET_WORKER_POOL_H
#define VD_NET_WORKER_POOL_H

#include "net/fair_queue.h"
#include "net/loop.h"

/* Embedded in whatever it is about. */
struct vd_pool_item {
    void (*run)(struct vd_pool_item *item);  /* on a worker's thread */
    void (*done)(struct vd_pool_item *item); /* then on the loop; the item may go with it */
    /* Private: */
    struct vd_work work;
    struct vd_loop *loop;
    struct vd_worker_pool *worker_pool;
    struct vd_worker_flow *flow;
    struct vd_fair_item queued;
};

/* One user. Zeroed, it is empty. It must stay where it is until `done` of its last item. */
struct vd_worker_flow {
    struct vd_fair_flow queue; /* held while the workers have as many of it as they may */
    unsigned running;          /* that the workers have */
};

/* Zeroed, it is empty. */
struct vd_worker_pool {
    struct vd_fair_queue queue;
    unsigned running;
    unsigned share; /* items that the workers have at a time; 0: VD_WORK_LOOP_MAX */
};

/* All loops have the same workers: each gets its share of them, one at least. */
void vd_worker_pool_init(struct vd_worker_pool *w, size_t loops);

/* Has the item done when it is the user's turn. */
void vd_worker_pool_add(struct vd_worker_pool *w, struct vd_loop *loop, struct vd_worker_flow *flow,
                        struct vd_pool_item *item);

/* True: it was waiting, and will be neither run nor done. False: it is too late. */
bool vd_pool_item_cancel(struct vd_pool_item *item) VD_MUST_USE;

#endif
