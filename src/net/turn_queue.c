/* See turn_queue.h. */
#include "net/turn_queue.h"

#include "base/container_of.h"

enum {
    SHARED_NS = 100000000, /* how long a user is remembered as one who is there */
    SHARE_NS = 10000,      /* of a flow in a turn, when there are others */
    ALONE_NS = 1000000,    /* when there are none */
    ROUND_NS = 20000,      /* of all flows in a turn, when there are several */
    DEBT_NS = 200000,      /* of a flow at most: the machine may have been elsewhere meanwhile */
    TURN_NS = 5000000,     /* of a turn in which somebody who is alone may still enter */
};

static uint64_t now_ns(const struct vd_turn_queue *t)
{
    return vd_clock_mono_ns(t->clock);
}

static bool shared_at(const struct vd_turn_queue *t, uint64_t ns)
{
    return t->other_ns && ns - t->other_ns < SHARED_NS;
}

bool vd_turn_queue_is_shared(const struct vd_turn_queue *t)
{
    return t->other_ns && shared_at(t, now_ns(t));
}

/* Each turn pays off a share of what the flow has spent. */
static void settle(const struct vd_turn_queue *t, struct vd_turn_flow *flow)
{
    uint64_t turns = t->turn - flow->turn;
    uint64_t paid_ns = turns > SHARED_NS / SHARE_NS ? SHARED_NS : turns * SHARE_NS;
    flow->spent_ns = flow->spent_ns > paid_ns ? flow->spent_ns - paid_ns : 0;
    flow->turn = t->turn;
}

static void spend(struct vd_turn_flow *flow, uint64_t ns)
{
    flow->spent_ns = ns < DEBT_NS - flow->spent_ns ? flow->spent_ns + ns : DEBT_NS;
}

static bool enter_again(struct vd_turn_queue *t, uint64_t ns)
{
    bool goes = ns - t->entered_ns < (shared_at(t, ns) ? SHARE_NS : TURN_NS);
    t->depth += goes;
    return goes;
}

bool vd_turn_queue_enter(struct vd_turn_queue *t, struct vd_turn_flow *flow)
{
    uint64_t ns = now_ns(t);
    if (t->depth) /* of one who has entered: more of it, as long as there is time */
        return enter_again(t, ns);
    /* As it was before: whoever has just come, a stranger above all, may be nobody new. */
    bool shared = shared_at(t, ns);
    t->before = t->recent;
    t->before_ns = t->recent_ns;
    t->before_other_ns = t->other_ns;
    if (flow != t->recent) {
        t->other_ns = t->recent_ns;
        t->recent = flow;
    }
    t->recent_ns = ns;
    settle(t, flow);
    if (t->entered_turn != t->turn) {
        t->entered_turn = t->turn;
        t->turn_ns = ns;
    }
    bool in_time = shared ? flow->spent_ns < SHARE_NS : ns - t->turn_ns < TURN_NS;
    bool goes = !flow->queue.first && in_time;
    if (goes) {
        t->depth++;
        t->entered_ns = ns;
    }
    return goes;
}

void vd_turn_queue_leave(struct vd_turn_queue *t, struct vd_turn_flow *flow)
{
    if (--t->depth == 0 && t->other_ns)
        spend(flow, now_ns(t) - t->entered_ns);
}

void vd_turn_queue_meet(struct vd_turn_queue *t, const struct vd_turn_flow *entered,
                        const struct vd_turn_flow *flow)
{
    if (t->recent != entered) /* somebody has come since */
        return;
    t->recent = flow;
    t->other_ns = t->before == flow ? t->before_other_ns : t->before_ns;
}

/* ---- waiting ---- */

void vd_turn_queue_wait(struct vd_turn_queue *t, struct vd_turn_flow *flow,
                        struct vd_turn_item *item)
{
    vd_loop_again(t->loop);
    item->turn_queue = t;
    vd_fair_queue_add(&t->queue, &flow->queue, &item->queued);
}

void vd_turn_item_cancel(struct vd_turn_item *item)
{
    if (item->queued.flow)
        vd_fair_queue_remove(&item->turn_queue->queue, &item->queued);
}

/* ---- the turn ---- */

/* Runs items of the first flow until its share is spent, and puts it last if it has more. */
static uint64_t serve_first(struct vd_turn_queue *t, uint64_t share_ns, uint64_t ns)
{
    struct vd_turn_flow *flow = VD_CONTAINER_OF(t->queue.first, struct vd_turn_flow, queue);
    settle(t, flow);
    if (share_ns == ALONE_NS)
        flow->spent_ns = 0; /* whom should it pay? */
    uint64_t start_ns = ns, left_ns = share_ns > flow->spent_ns ? share_ns - flow->spent_ns : 0;
    t->depth++;
    while (flow->queue.first && ns - start_ns < left_ns) {
        struct vd_turn_item *item = VD_CONTAINER_OF(flow->queue.first, struct vd_turn_item, queued);
        vd_turn_item_cancel(item);
        t->entered_ns = ns;
        item->run(item);
        ns = now_ns(t);
    }
    t->depth--;
    spend(flow, ns - start_ns);
    if (&flow->queue == t->queue.first)
        vd_fair_queue_rotate(&t->queue);
    return ns;
}

static bool take_turn(struct vd_turn_hook *hook)
{
    struct vd_turn_queue *t = VD_CONTAINER_OF(hook, struct vd_turn_queue, hook);
    t->turn++;
    if (!t->queue.first)
        return false;
    uint64_t start_ns = now_ns(t), ns = start_ns;
    uint64_t share_ns = shared_at(t, ns) ? SHARE_NS : ALONE_NS;
    for (size_t flows = vd_fair_queue_count(&t->queue);
         flows && t->queue.first && ns - start_ns < ROUND_NS; flows--)
        ns = serve_first(t, share_ns, ns);
    return true; /* what they have made is for other hooks */
}

void vd_turn_queue_stand_last(struct vd_turn_queue *t)
{
    vd_loop_hook(t->loop, &t->hook);
}

void vd_turn_queue_init(struct vd_turn_queue *t, struct vd_loop *loop)
{
    *t = (struct vd_turn_queue){
        .loop = loop, .clock = vd_clock_system(), .hook = {.run = take_turn}, .turn = 1};
    vd_loop_hook(loop, &t->hook);
}
