/* See fair_queue.h. */
#include "net/fair_queue.h"

static void ring_add(struct vd_fair_queue *q, struct vd_fair_flow *flow)
{
    flow->in_ring = true;
    flow->next = NULL;
    flow->prev = q->last;
    *(q->last ? &q->last->next : &q->first) = flow;
    q->last = flow;
}

static void ring_remove(struct vd_fair_queue *q, struct vd_fair_flow *flow)
{
    flow->in_ring = false;
    *(flow->prev ? &flow->prev->next : &q->first) = flow->next;
    *(flow->next ? &flow->next->prev : &q->last) = flow->prev;
}

/* Has the flow in the ring, or not, as it should be now. */
static void settle(struct vd_fair_queue *q, struct vd_fair_flow *flow)
{
    bool belongs = flow->first && !flow->is_held;
    if (belongs && !flow->in_ring)
        ring_add(q, flow);
    else if (!belongs && flow->in_ring)
        ring_remove(q, flow);
}

void vd_fair_queue_add(struct vd_fair_queue *q, struct vd_fair_flow *flow,
                       struct vd_fair_item *item)
{
    item->flow = flow;
    item->next = NULL;
    item->prev = flow->last;
    *(flow->last ? &flow->last->next : &flow->first) = item;
    flow->last = item;
    settle(q, flow);
}

void vd_fair_queue_remove(struct vd_fair_queue *q, struct vd_fair_item *item)
{
    struct vd_fair_flow *flow = item->flow;
    item->flow = NULL;
    *(item->prev ? &item->prev->next : &flow->first) = item->next;
    *(item->next ? &item->next->prev : &flow->last) = item->prev;
    settle(q, flow);
}

void vd_fair_queue_rotate(struct vd_fair_queue *q)
{
    struct vd_fair_flow *flow = q->first;
    ring_remove(q, flow);
    ring_add(q, flow);
}

void vd_fair_queue_hold(struct vd_fair_queue *q, struct vd_fair_flow *flow, bool is_held)
{
    flow->is_held = is_held;
    settle(q, flow);
}

size_t vd_fair_queue_count(const struct vd_fair_queue *q)
{
    size_t n = 0;
    for (const struct vd_fair_flow *flow = q->first; flow; flow = flow->next)
        n++;
    return n;
}
