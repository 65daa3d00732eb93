/*
 * A work queue: items that are to be worked on, each by one worker at a time.
 *
 * An item is part of whatever it is about. However often it is added before it is taken, it runs
 * once. An item that is added while it runs is queued again when that run ends, so that no reason
 * to work on it is lost and no two runs of it overlap:
 *
 *     idle ----- add -----> queued -- take --> running -- done --> idle
 *       \                     ^                   |
 *        add_after        it is due              done, added meanwhile
 *         \                   |                   |
 *          `-------------> delayed                `----> queued
 *
 * Items leave in the order in which they became due, so that one that is always added again does
 * not keep others waiting. An item whose run has failed is added with vd_work_queue_retry(): after
 * a pause that doubles from failure to failure, until vd_work_queue_forget() says that a run has
 * succeeded.
 *
 * The queue knows no clock and no loop: its owner passes the time, in milliseconds of a monotonic
 * clock, and takes items when `wake` was called or the time of vd_work_queue_next_ms() has come.
 * Only one thread may use a queue.
 */
#ifndef VD_WATCH_WORK_QUEUE_H
#define VD_WATCH_WORK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/heap.h"

/* `= {0}` is idle. An item that is not idle must not move in memory. */
struct vd_work_item {
    /* Used by the queue: */
    struct vd_work_item *prev, *next; /* while it is queued */
    struct vd_heap_node delay;        /* while it is delayed: by the time when it is due */
    bool queued, running;
    bool again; /* it was added while it runs */
    bool later; /* it was added with a delay while it runs, and is due at: */
    uint64_t later_ms;
    unsigned failures; /* retries since it was last forgotten */
};

struct vd_work_queue_options {
    void (*wake)(void *arg); /* an item can be taken, and none could before; NULL: not called */
    void *arg;
    uint64_t retry_min_ms; /* the pause after the first failure ... */
    uint64_t retry_max_ms; /* ... and the longest pause */
};

struct vd_work_queue {
    struct vd_work_queue_options options;
    /* Private: */
    struct vd_work_item *first, *last;
    struct vd_heap delayed;
    size_t queued_n, running_n;
};

void vd_work_queue_init(struct vd_work_queue *q, const struct vd_work_queue_options *options);

/* Frees the queue's own memory. Items that are still in it are not touched any more. */
void vd_work_queue_release(struct vd_work_queue *q);

/* The item will be taken once more: as soon as possible, also if it was delayed. */
void vd_work_queue_add(struct vd_work_queue *q, struct vd_work_item *item);

/* The item will be taken once more, not before `delay_ms` have passed. One that is queued, or
 * delayed until an earlier time, stays as it is. */
void vd_work_queue_add_after(struct vd_work_queue *q, struct vd_work_item *item, uint64_t now_ms,
                             uint64_t delay_ms);

/* The item has failed: it is added after the pause that its failures ask for. */
void vd_work_queue_retry(struct vd_work_queue *q, struct vd_work_item *item, uint64_t now_ms);

/* A run of the item has succeeded: its next failure counts as its first. */
void vd_work_queue_forget(struct vd_work_item *item);

/* The next item, which runs until vd_work_queue_done(). NULL: none is due. */
struct vd_work_item *vd_work_queue_take(struct vd_work_queue *q, uint64_t now_ms) VD_MUST_USE;

/* A run of the item is over; if it was added meanwhile it is queued or delayed again. */
void vd_work_queue_done(struct vd_work_queue *q, struct vd_work_item *item);

/* Takes an item that is not running out of the queue: it need not be worked on any more. */
void vd_work_queue_remove(struct vd_work_queue *q, struct vd_work_item *item);

/* When the next delayed item is due; UINT64_MAX: none is delayed. */
uint64_t vd_work_queue_next_ms(const struct vd_work_queue *q);

/* Items that can be taken without waiting, apart from delayed ones. */
static inline size_t vd_work_queue_count(const struct vd_work_queue *q)
{
    return q->queued_n;
}

/* Whether a run of the item is still to come, now or later. */
static inline bool vd_work_item_is_pending(const struct vd_work_item *item)
{
    return item->queued || item->again || item->later || vd_heap_has(&item->delay);
}

/* Whether the queue has nothing to do with the item: it may be freed. */
static inline bool vd_work_item_is_idle(const struct vd_work_item *item)
{
    return !item->running && !vd_work_item_is_pending(item);
}

#endif
