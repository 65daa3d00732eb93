/*
 * A turn queue: how the users of one loop take turns.
 *
 * A loop is one thread. If it did what it finds in the order in which it finds it, a
 * user with two hundred busy connections would have two hundred requests done between
 * any two of somebody else's. So work goes through a turn queue: each user has a *flow*
 * on the loop, and work that is more than the flow's share of a turn waits in it. At the
 * end of the turn the flows are served one after the other, each for its share of time;
 * what it has overdrawn is taken off its next shares.
 *
 * While a loop sees one user only, nobody waits until a turn has become long: what asks for
 * no flow, such as a probe of its health, comes between turns. Nobody is made to wait for
 * nothing either: when only one flow has work, it has all turns.
 *
 * All on the loop's thread.
 */
#ifndef VD_NET_TURN_QUEUE_H
#define VD_NET_TURN_QUEUE_H

#include "base/clock.h"
#include "net/fair_queue.h"
#include "net/loop.h"

struct vd_turn_flow;
struct vd_turn_queue;

/* Work that waits, embedded in what it is about. Zeroed, it does not wait. */
struct vd_turn_item {
    void (*run)(struct vd_turn_item *item);
    /* Private: */
    struct vd_turn_queue *turn_queue;
    struct vd_fair_item queued;
};

/* One user on one loop. Zeroed, it is empty. It must stay where it is while it has work,
 * and until the end of the turn. */
struct vd_turn_flow {
    struct vd_fair_flow queue;
    uint64_t turn; /* that spent_ns is as of */
    uint64_t spent_ns;
};

struct vd_turn_queue {
    struct vd_loop *loop;
    const struct vd_clock *clock; /* the system's, unless somebody sets another */
    /* Private: */
    struct vd_turn_hook hook;
    struct vd_fair_queue queue; /* the flows with work */
    uint64_t turn, entered_turn;
    uint64_t turn_ns;                  /* when the first one entered in entered_turn */
    const struct vd_turn_flow *recent; /* who came last ... */
    uint64_t recent_ns;                /* ... when, */
    uint64_t other_ns;                 /* and when somebody else had */
    const struct vd_turn_flow *before; /* the same three before the last one came */
    uint64_t before_ns, before_other_ns;
    unsigned depth; /* of work inside work: the outermost is measured */
    uint64_t entered_ns;
};

/* Adds the turn queue's hook to the loop. */
void vd_turn_queue_init(struct vd_turn_queue *t, struct vd_loop *loop);

/* Puts it behind the hooks that have come since: what did not have to wait is written and sent
 * before those who wait have their turn, which ask for another one. */
void vd_turn_queue_stand_last(struct vd_turn_queue *t);

/* True: do it now, then call vd_turn_queue_leave(). False: it is not its turn, and it has
 * to wait. */
bool vd_turn_queue_enter(struct vd_turn_queue *t, struct vd_turn_flow *flow) VD_MUST_USE;
void vd_turn_queue_leave(struct vd_turn_queue *t, struct vd_turn_flow *flow);

/* Whoever has just entered in one flow turns out to be of another: a stranger who says who he is
 * may be the only user there is. */
void vd_turn_queue_meet(struct vd_turn_queue *t, const struct vd_turn_flow *entered,
                        const struct vd_turn_flow *flow);

/* Has the item run when it is its turn. */
void vd_turn_queue_wait(struct vd_turn_queue *t, struct vd_turn_flow *flow,
                        struct vd_turn_item *item);

/* It will not run. Does nothing to one that does not wait. */
void vd_turn_item_cancel(struct vd_turn_item *item);

/* Whether several users have come within the last moments: then whoever has much to do
 * should do it in small pieces. */
bool vd_turn_queue_is_shared(const struct vd_turn_queue *t);

#endif
