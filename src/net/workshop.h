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

#include "net/loop.h"

/* Embedded in whatever it is about. */
struct vd_order {
    void (*run)(struct vd_order *order);  /* on a worker's thread */
    void (*done)(struct vd_order *order); /* then on the loop; the order may go with it */
    /* The workshop's: */
    struct vd_work work;
    struct vd_loop *loop;
    struct vd_workshop *workshop;
    struct vd_place *place;
    bool waits;
    struct vd_order *prev, *next;
};

/* One user. Zeroed, it is empty. It must stay where it is until `done` of its last order. */
struct vd_place {
    struct vd_order *first, *last; /* that wait */
    unsigned running;              /* that the workers have */
    bool in_ring;
    struct vd_place *prev, *next; /* in the ring of those who may have one more done */
};

/* Zeroed, it is empty. */
struct vd_workshop {
    struct vd_place *first, *last;
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
