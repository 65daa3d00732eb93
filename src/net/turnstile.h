/*
 * A turnstile: how the users of one loop take turns.
 *
 * A loop is one thread. If it did what it finds in the order in which it finds it, a
 * user with two hundred busy connections would have two hundred requests done between
 * any two of somebody else's. So work goes through a turnstile: each user has a *lane*
 * on the loop, and work that is more than the lane's share of a turn waits in it. At the
 * end of the turn the lanes are served one after the other, each for its share of time;
 * what it has overdrawn is taken off its next shares.
 *
 * While a loop sees one user only, nobody waits until a turn has become long: what asks for
 * no lane, such as a probe of its health, comes between turns. Nobody is made to wait for
 * nothing either: when only one lane has work, it has all turns.
 *
 * All on the loop's thread.
 */
#ifndef VD_NET_TURNSTILE_H
#define VD_NET_TURNSTILE_H

#include "base/clock.h"
#include "net/fair_queue.h"
#include "net/loop.h"

struct vd_lane;
struct vd_turnstile;

/* Work that waits, embedded in what it is about. Zeroed, it does not wait. */
struct vd_chore {
    void (*run)(struct vd_chore *chore);
    /* Private: */
    struct vd_turnstile *turnstile;
    struct vd_fair_item item;
};

/* One user on one loop. Zeroed, it is empty. It must stay where it is while it has work,
 * and until the end of the turn. */
struct vd_lane {
    struct vd_fair_flow queue;
    uint64_t turn; /* that spent_ns is as of */
    uint64_t spent_ns;
};

struct vd_turnstile {
    struct vd_loop *loop;
    const struct vd_clock *clock; /* the system's, unless somebody sets another */
    /* Private: */
    struct vd_turn_hook hook;
    struct vd_fair_queue queue; /* the lanes with work */
    uint64_t turn, entered_turn;
    uint64_t turn_ns;             /* when the first one entered in entered_turn */
    const struct vd_lane *recent; /* who came last ... */
    uint64_t recent_ns;           /* ... when, */
    uint64_t other_ns;            /* and when somebody else had */
    const struct vd_lane *before; /* the same three before the last one came */
    uint64_t before_ns, before_other_ns;
    unsigned depth; /* of work inside work: the outermost is measured */
    uint64_t entered_ns;
};

/* Adds the turnstile's hook to the loop. */
void vd_turnstile_init(struct vd_turnstile *t, struct vd_loop *loop);

/* Puts it behind the hooks that have come since: what did not have to wait is written and sent
 * before those who wait have their turn, which ask for another one. */
void vd_turnstile_stand_last(struct vd_turnstile *t);

/* True: do it now, then call vd_turnstile_leave(). False: it is not its turn, and it has
 * to wait. */
bool vd_turnstile_enter(struct vd_turnstile *t, struct vd_lane *lane) VD_MUST_USE;
void vd_turnstile_leave(struct vd_turnstile *t, struct vd_lane *lane);

/* Whoever has just entered in one lane turns out to be of another: a stranger who says who he is
 * may be the only user there is. */
void vd_turnstile_meet(struct vd_turnstile *t, const struct vd_lane *entered,
                       const struct vd_lane *lane);

/* Has the chore run when it is its turn. */
void vd_turnstile_wait(struct vd_turnstile *t, struct vd_lane *lane, struct vd_chore *chore);

/* It will not run. Does nothing to one that does not wait. */
void vd_chore_cancel(struct vd_chore *chore);

/* Whether several users have come within the last moments: then whoever has much to do
 * should do it in small pieces. */
bool vd_turnstile_is_shared(const struct vd_turnstile *t);

#endif
