/*
 * See work_queue.h. Queued items are lists, one for each priority, delayed ones a heap by the time
 * when they are due; an item is in one of them at most, and in none while it runs.
 */
#include "watch/work_queue.h"

#include <assert.h>

#include "base/container_of.h"

void vd_work_queue_init(struct vd_work_queue *q, const struct vd_work_queue_options *options)
{
    *q = (struct vd_work_queue){.options = *options, .random = options->seed};
}

void vd_work_queue_release(struct vd_work_queue *q)
{
    vd_heap_release(&q->delayed);
    vd_work_queue_init(q, &(struct vd_work_queue_options){.wake = q->options.wake,
                                                          .arg = q->options.arg,
                                                          .retry = q->options.retry,
                                                          .seed = q->random});
}

void vd_work_queue_set_retry(struct vd_work_queue *q, const struct vd_work_retry *retry)
{
    q->options.retry = *retry;
}

/* ---- the lists ---- */

static void push(struct vd_work_queue *q, struct vd_work_item *item, enum vd_work_priority priority)
{
    struct vd_work_list *list = &q->lists[priority];
    item->queued = true;
    item->priority = (unsigned char)priority;
    item->prev = list->last;
    item->next = NULL;
    if (list->last)
        list->last->next = item;
    else
        list->first = item;
    list->last = item;
    if (q->queued_n++ == 0 && q->options.wake)
        q->options.wake(q->options.arg);
}

static void unlink_item(struct vd_work_queue *q, struct vd_work_item *item)
{
    struct vd_work_list *list = &q->lists[item->priority];
    if (item->prev)
        item->prev->next = item->next;
    else
        list->first = item->next;
    if (item->next)
        item->next->prev = item->prev;
    else
        list->last = item->prev;
    item->queued = false;
    q->queued_n--;
}

/* ---- adding ---- */

void vd_work_queue_add_as(struct vd_work_queue *q, struct vd_work_item *item,
                          enum vd_work_priority priority)
{
    if (item->running) {
        if (!item->again || priority < item->again_priority)
            item->again_priority = (unsigned char)priority;
        item->again = true;
        return;
    }
    if (vd_heap_has(&item->delay))
        vd_heap_remove(&q->delayed, &item->delay);
    if (item->queued && priority < item->priority)
        unlink_item(q, item);
    if (!item->queued)
        push(q, item, priority);
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

/* Any number below n, of which no one needs to be surprised: an xorshift generator. */
static uint64_t random_below(struct vd_work_queue *q, uint64_t n)
{
    uint64_t x = q->random ? q->random : 0x9e3779b97f4a7c15;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    q->random = x;
    return n ? x % n : 0;
}

static uint64_t pause_ms(struct vd_work_queue *q, unsigned failures)
{
    const struct vd_work_retry *retry = &q->options.retry;
    uint64_t pause = retry->min_ms, factor = retry->factor_percent ? retry->factor_percent : 200;
    if (factor > 100)
        for (unsigned i = 0; i < failures && pause && pause < retry->max_ms; i++)
            pause = pause * factor / 100;
    if (pause > retry->max_ms)
        pause = retry->max_ms;
    uint64_t jitter = pause * retry->jitter_percent / 100;
    return pause - jitter + random_below(q, 2 * jitter + 1);
}

uint64_t vd_work_queue_retry(struct vd_work_queue *q, struct vd_work_item *item, uint64_t now_ms)
{
    uint64_t pause = pause_ms(q, item->failures);
    if (item->failures < UINT32_MAX)
        item->failures++;
    vd_work_queue_add_after(q, item, now_ms, pause);
    return pause;
}

void vd_work_queue_forget(struct vd_work_item *item)
{
    item->failures = 0;
}

/* ---- taking ---- */

uint64_t vd_work_queue_next_ms(const struct vd_work_queue *q)
{
    const struct vd_heap_node *node = vd_heap_peek(&q->delayed);
    uint64_t next_ms = node ? node->key : UINT64_MAX;
    for (int i = 0; i < VD_WORK_PRIORITIES; i++) {
        uint64_t due_ms = q->lists[i].first ? vd_work_rate_next_ms(&q->options.rates[i]) : 0;
        if (due_ms && due_ms < next_ms)
            next_ms = due_ms;
    }
    return next_ms;
}

bool vd_work_queue_can_take(const struct vd_work_queue *q, uint64_t now_ms)
{
    const struct vd_heap_node *node = vd_heap_peek(&q->delayed);
    bool can = node && node->key <= now_ms;
    for (int i = 0; i < VD_WORK_PRIORITIES && !can; i++)
        can = q->lists[i].first && vd_work_rate_next_ms(&q->options.rates[i]) <= now_ms;
    return can;
}

static struct vd_work_item *take_of(struct vd_work_queue *q, int priority, uint64_t now_ms)
{
    struct vd_work_item *item = q->lists[priority].first;
    return item && vd_work_rate_take(&q->options.rates[priority], now_ms) ? item : NULL;
}

/* The first item of a lower priority; these take turns. */
static struct vd_work_item *choose_lower(struct vd_work_queue *q, uint64_t now_ms)
{
    enum { LOWER = VD_WORK_PRIORITIES - 1 };
    struct vd_work_item *item = NULL;
    for (int i = 0; i < LOWER && !item; i++) {
        item = take_of(q, VD_WORK_FRESH + 1 + (int)q->share_next, now_ms);
        q->share_next = (q->share_next + 1) % LOWER;
    }
    return item;
}

/* The item whose turn it is: the first of the highest priority that has one, or, once in a while,
 * one of a lower priority. */
static struct vd_work_item *choose(struct vd_work_queue *q, uint64_t now_ms)
{
    struct vd_work_item *item = NULL;
    if (++q->takes >= VD_WORK_QUEUE_SHARE) {
        q->takes = 0;
        item = choose_lower(q, now_ms);
    }
    for (int i = 0; i < VD_WORK_PRIORITIES && !item; i++)
        item = take_of(q, i, now_ms);
    return item;
}

struct vd_work_item *vd_work_queue_take(struct vd_work_queue *q, uint64_t now_ms)
{
    const struct vd_heap_node *due;
    while ((due = vd_heap_peek(&q->delayed)) && due->key <= now_ms)
        push(q, VD_CONTAINER_OF(vd_heap_pop(&q->delayed), struct vd_work_item, delay),
             VD_WORK_LATER);
    struct vd_work_item *item = q->queued_n ? choose(q, now_ms) : NULL;
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
        push(q, item, item->again_priority);
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
