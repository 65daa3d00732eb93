/*
 * A fair queue: work of several users, who take turns.
 *
 * Each user has a flow: a queue of items, first in, first out. The flows that have items stand in a
 * ring in the order of their turns, and no others do: an empty flow may go away with its user. How
 * much a flow gets on its turn is up to whoever serves the queue; a flow that has as much as it may
 * have for the moment is held, and is not in the ring meanwhile.
 *
 * Zeroed, all of these are empty. Everything is embedded in what it is about, and belongs to one
 * thread.
 */
#ifndef VD_NET_FAIR_QUEUE_H
#define VD_NET_FAIR_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

/* Must stay where it is while it waits. */
struct vd_fair_item {
    struct vd_fair_flow *flow; /* that it waits in; NULL: it does not wait */
    struct vd_fair_item *prev, *next;
};

/* Must stay where it is while it has items. */
struct vd_fair_flow {
    struct vd_fair_item *first, *last;
    bool is_held;
    bool in_ring;
    struct vd_fair_flow *prev, *next; /* in the ring */
};

struct vd_fair_queue {
    struct vd_fair_flow *first, *last; /* the ring: the next turn is the first one's */
};

/* Puts the item last in the flow. */
void vd_fair_queue_add(struct vd_fair_queue *q, struct vd_fair_flow *flow,
                       struct vd_fair_item *item);

/* Takes an item that waits out of its flow. */
void vd_fair_queue_remove(struct vd_fair_queue *q, struct vd_fair_item *item);

/* Ends the turn of the first flow: it stands last from now on. */
void vd_fair_queue_rotate(struct vd_fair_queue *q);

/* Takes a flow out of the ring, or lets it in again, behind all others. */
void vd_fair_queue_hold(struct vd_fair_queue *q, struct vd_fair_flow *flow, bool is_held);

/* How many flows have a turn to come. */
size_t vd_fair_queue_count(const struct vd_fair_queue *q);

#endif
