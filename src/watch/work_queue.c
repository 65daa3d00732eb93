/*
 * See work_queue.h. Queued items are a list, delayed ones a heap by the time when they are due; an
 * item is in one of them at most, and in neither while it runs.
 */
#include "watch/work_queue.h"

#include <assert.h>

#include "base/container_of.h"

void vd_work_queue_init(struct vd_work_queue *q, const struct vd_work_queue_options *options)
{
    *q = (struct vd_work_queue){.options = *options};
}

void vd_work_queue_release(struct vd_work_queue *q)
{
    vd_heap_release(&q->delayed);
    *q = (struct vd_work_queue){.options = q->options};
}

/* ---- the list ---- */

static void push(struct vd_work_queue *q, struct vd_work_item *item)
{
    item->queued = true;
    item->prev = q->last;
    item->next = NULL;
    if (q->last)
        q->last->next = item;
    else
        q->first = item;
    q->last = item;
    if (q->queued_n++ == 0 && q->options.wake)
        q->options.wake(q->options.arg);
}

static void unlink_item(struct vd_work_queue *q, struct vd_work_item *item)
{
    if (item->prev)
        item->prev->next = item->next;
    else
        q->first = item->next;
    if (item->next)
        item->next->prev = item->prev;
    else
        q->last = item->prev;
    item->queued = false;
    q->queued_n--;
}

/* ---- adding ---- */

void vd_work_queue_add(struct vd_work_queue *q, struct vd_work_item *item)
{
    if (item->running) {
        item->again = true;
        return;
    }
    if (vd_heap_has(&item->delay))
        vd_heap_remove(&q->delayed, &item->delay);
    if (!item->queued)
        push(q, item);
}

static void delay_until(struct vd_work_queue *q, struct vd_work_item *item, uint64_t due_ms)
{
    if (!vd_heap_has(&item->delay))
        vd_heap_push(&q->delayed, &item->delay, due_ms);
    else if (due_ms < item->delay.key)
        vd_heap_update(&q->delayed, &item->delay, due_ms);
}

void vd_work_queue_add_after(struct vd_work_queue *q, struct vd_work_item *item, uint64_t now_ms,
                             uint64_t delay_ms)
{
    uint64_t due_ms = delay_ms > UINT64_MAX - now_ms ? UINT64_MAX : now_ms + delay_ms;
    if (!delay_ms) {
        vd_work_queue_add(q, item);
    } else if (item->running) {
        item->later_ms = item->later && item->later_ms < due_ms ? item->later_ms : due_ms;
        item->later = true;
    } else if (!item->queued) {
        delay_until(q, item, due_ms);
    }
}

static uint64_t pause_ms(const struct vd_work_queue *q, unsigned failures)
{
    uint64_t pause = q->options.retry_min_ms;
    for (unsigned i = 0; i < failures && pause < q->options.retry_max_ms; i++)
        pause *= 2;
    return pause < q->options.retry_max_ms ? pause : q->options.retry_max_ms;
}

void vd_work_queue_retry(struct vd_work_queue *q, struct vd_work_item *item, uint64_t now_ms)
{
    uint64_t pause = pause_ms(q, item->failures);
    if (item->failures < UINT32_MAX)
        item->failures++;
    vd_work_queue_add_after(q, item, now_ms, pause);
}

void vd_work_queue_forget(struct vd_work_item *item)
{
    item->failures = 0;
}

/* ---- taking ---- */

uint64_t vd_work_queue_next_ms(const struct vd_work_queue *q)
{
    const struct vd_heap_node *node = vd_heap_peek(&q->delayed);
    return node ? node->key : UINT64_MAX;
}

struct vd_work_item *vd_work_queue_take(struct vd_work_queue *q, uint64_t now_ms)
{
    while (vd_work_queue_next_ms(q) <= now_ms && vd_heap_count(&q->delayed))
        push(q, VD_CONTAINER_OF(vd_heap_pop(&q->delayed), struct vd_work_item, delay));
    struct vd_work_item *item = q->first;
    if (!item)
        return NULL;
    unlink_item(q, item);
    item->running = true;
    q->running_n++;
    return item;
}

void vd_work_queue_done(struct vd_work_queue *q, struct vd_work_item *item)
{
    assert(item->running);
    bool again = item->again, later = item->later;
    item->running = item->again = item->later = false;
    q->running_n--;
    if (again)
        push(q, item);
    else if (later)
        delay_until(q, item, item->later_ms);
}

void vd_work_queue_remove(struct vd_work_queue *q, struct vd_work_item *item)
{
    assert(!item->running);
    if (item->queued)
        unlink_item(q, item);
    if (vd_heap_has(&item->delay))
        vd_heap_remove(&q->delayed, &item->delay);
}
