/* See turnstile.h. */
#include "net/turnstile.h"

#include "base/heap.h"

enum {
    SHARED_NS = 100000000, /* how long a user is remembered as one who is there */
    SHARE_NS = 10000,      /* of a lane in a turn, when there are others */
    ALONE_NS = 1000000,    /* when there are none */
    ROUND_NS = 20000,      /* of all lanes in a turn, when there are several */
    DEBT_NS = 200000,      /* of a lane at most: the machine may have been elsewhere meanwhile */
    TURN_NS = 5000000,     /* of a turn in which somebody who is alone may still enter */
};

static uint64_t now_ns(const struct vd_turnstile *t)
{
    return vd_clock_mono_ns(t->clock);
}

static bool shared_at(const struct vd_turnstile *t, uint64_t ns)
{
    return t->other_ns && ns - t->other_ns < SHARED_NS;
}

bool vd_turnstile_is_shared(const struct vd_turnstile *t)
{
    return t->other_ns && shared_at(t, now_ns(t));
}

/* Each turn pays off a share of what the lane has spent. */
static void settle(const struct vd_turnstile *t, struct vd_lane *lane)
{
    uint64_t turns = t->turn - lane->turn;
    uint64_t paid_ns = turns > SHARED_NS / SHARE_NS ? SHARED_NS : turns * SHARE_NS;
    lane->spent_ns = lane->spent_ns > paid_ns ? lane->spent_ns - paid_ns : 0;
    lane->turn = t->turn;
}

static void spend(struct vd_lane *lane, uint64_t ns)
{
    lane->spent_ns = ns < DEBT_NS - lane->spent_ns ? lane->spent_ns + ns : DEBT_NS;
}

static bool enter_again(struct vd_turnstile *t, uint64_t ns)
{
    bool goes = ns - t->entered_ns < (shared_at(t, ns) ? SHARE_NS : TURN_NS);
    t->depth += goes;
    return goes;
}

bool vd_turnstile_enter(struct vd_turnstile *t, struct vd_lane *lane)
{
    uint64_t ns = now_ns(t);
    if (t->depth) /* of one who has entered: more of it, as long as there is time */
        return enter_again(t, ns);
    /* As it was before: whoever has just come, a stranger above all, may be nobody new. */
    bool shared = shared_at(t, ns);
    t->before = t->recent;
    t->before_ns = t->recent_ns;
    t->before_other_ns = t->other_ns;
    if (lane != t->recent) {
        t->other_ns = t->recent_ns;
        t->recent = lane;
    }
    t->recent_ns = ns;
    settle(t, lane);
    if (t->entered_turn != t->turn) {
        t->entered_turn = t->turn;
        t->turn_ns = ns;
    }
    bool in_time = shared ? lane->spent_ns < SHARE_NS : ns - t->turn_ns < TURN_NS;
    bool goes = !lane->queue.first && in_time;
    if (goes) {
        t->depth++;
        t->entered_ns = ns;
    }
    return goes;
}

void vd_turnstile_leave(struct vd_turnstile *t, struct vd_lane *lane)
{
    if (--t->depth == 0 && t->other_ns)
        spend(lane, now_ns(t) - t->entered_ns);
}

void vd_turnstile_meet(struct vd_turnstile *t, const struct vd_lane *entered,
                       const struct vd_lane *lane)
{
    if (t->recent != entered) /* somebody has come since */
        return;
    t->recent = lane;
    t->other_ns = t->before == lane ? t->before_other_ns : t->before_ns;
}

/* ---- waiting ---- */

void vd_turnstile_wait(struct vd_turnstile *t, struct vd_lane *lane, struct vd_chore *chore)
{
    vd_loop_again(t->loop);
    chore->turnstile = t;
    vd_fair_queue_add(&t->queue, &lane->queue, &chore->item);
}

void vd_chore_cancel(struct vd_chore *chore)
{
    if (chore->item.flow)
        vd_fair_queue_remove(&chore->turnstile->queue, &chore->item);
}

/* ---- the turn ---- */

/* Runs chores of the first lane until its share is spent, and puts it last if it has more. */
static uint64_t serve_first(struct vd_turnstile *t, uint64_t share_ns, uint64_t ns)
{
    struct vd_lane *lane = VD_HEAP_OWNER(t->queue.first, struct vd_lane, queue);
    settle(t, lane);
    if (share_ns == ALONE_NS)
        lane->spent_ns = 0; /* whom should it pay? */
    uint64_t start_ns = ns, left_ns = share_ns > lane->spent_ns ? share_ns - lane->spent_ns : 0;
    t->depth++;
    while (lane->queue.first && ns - start_ns < left_ns) {
        struct vd_chore *chore = VD_HEAP_OWNER(lane->queue.first, struct vd_chore, item);
        vd_chore_cancel(chore);
        t->entered_ns = ns;
        chore->run(chore);
        ns = now_ns(t);
    }
    t->depth--;
    spend(lane, ns - start_ns);
    if (&lane->queue == t->queue.first)
        vd_fair_queue_rotate(&t->queue);
    return ns;
}

static bool take_turn(struct vd_turn_hook *hook)
{
    struct vd_turnstile *t = VD_HEAP_OWNER(hook, struct vd_turnstile, hook);
    t->turn++;
    if (!t->queue.first)
        return false;
    uint64_t start_ns = now_ns(t), ns = start_ns;
    uint64_t share_ns = shared_at(t, ns) ? SHARE_NS : ALONE_NS;
    for (size_t lanes = vd_fair_queue_count(&t->queue);
         lanes && t->queue.first && ns - start_ns < ROUND_NS; lanes--)
        ns = serve_first(t, share_ns, ns);
    return true; /* what they have made is for other hooks */
}

void vd_turnstile_stand_last(struct vd_turnstile *t)
{
    vd_loop_hook(t->loop, &t->hook);
}

void vd_turnstile_init(struct vd_turnstile *t, struct vd_loop *loop)
{
    *t = (struct vd_turnstile){
        .loop = loop, .clock = vd_clock_system(), .hook = {.run = take_turn}, .turn = 1};
    vd_loop_hook(loop, &t->hook);
}
