/*
 * A workshop: how the users of one loop share the workers.
 *
 * Work that takes too long for a loop is done by a few threads (vd_loop_work), first come, first
 * served: a user who sends much of it would make all others wait until it is done. So it is
 * ordered at a workshop. A user has one *place* there for each loop; the workers get at most
 * VD_WORK_LOOP_MAX orders at a time, shared by the loops, and of a place at most half of its
 * loop's share and VD_WORK_USER_MAX. The places whose orders wait take turns, an order each.
 *
 * All on the loop's thread but `run`. A loop that is stopped waits for what was ordered.
 */
#ifndef VD_NET_WORKSHOP_H
#define VD_NET_WORKSHOP_H

#include "net/fair_queue.h"
#include "net/loop.h"

/* Embedded in whatever it is about. */
struct vd_order {
    void (*run)(struct vd_order *order);  /* on a worker's thread */
    void (*done)(struct vd_order *order); /* then on the loop; the order may go with it */
    /* Private: */
    struct vd_work work;
    struct vd_loop *loop;
    struct vd_workshop *workshop;
    struct vd_place *place;
    struct vd_fair_item item;
};

/* One user. Zeroed, it is empty. It must stay where it is until `done` of its last order. */
struct vd_place {
    struct vd_fair_flow queue; /* held while the workers have as many of it as they may */
    unsigned running;          /* that the workers have */
};

/* Zeroed, it is empty. */
struct vd_workshop {
    struct vd_fair_queue queue;
    unsigned running;
    unsigned share; /* orders that the workers have at a time; 0: VD_WORK_LOOP_MAX */
};

/* All loops have the same workers: each gets its share of them, one at least. */
void vd_workshop_init(struct vd_workshop *w, size_t loops);

/* Has the order done when it is the user's turn. */
void vd_workshop_order(struct vd_workshop *w, struct vd_loop *loop, struct vd_place *place,
                       struct vd_order *order);

/* True: it was waiting, and will be neither run nor done. False: it is too late. */
bool vd_order_cancel(struct vd_order *order) VD_MUST_USE;

#endif
