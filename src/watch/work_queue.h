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
 * Each item waits with a priority: what has just changed comes before what is tried again, and that
 * comes before what is only looked at once more. Items of one priority leave in the order in which
 * they became due, so that one that is always added again does not keep others waiting. One take of
 * VD_WORK_QUEUE_SHARE goes to a lower priority, so that none of them waits for ever. Each priority
 * can have a rate limit of its own: what fails and is tried again cannot use up what fresh work may
 * take.
 *
 * An item whose run has failed is added with vd_work_queue_retry(): after a pause that grows from
 * failure to failure, until vd_work_queue_forget() says that a run has succeeded.
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
#include "watch/work_rate.h"

enum vd_work_priority {
    VD_WORK_FRESH,  /* something has changed */
    VD_WORK_LATER,  /* it was to be taken after a delay, or failed before */
    VD_WORK_RESYNC, /* nothing has changed: it is looked at once more */
    VD_WORK_PRIORITIES
};

enum {
    VD_WORK_QUEUE_SHARE = 8 /* of so many takes, one goes to a lower priority that waits */
};

/* `= {0}` is idle. An item that is not idle must not move in memory. */
struct vd_work_item {
    /* Used by the queue: */
    struct vd_work_item *prev, *next; /* while it is queued */
    struct vd_heap_node delay;        /* while it is delayed: by the time when it is due */
    uint64_t later_ms;                /* see `later` */
    unsigned failures;                /* retries since it was last forgotten */
    unsigned char priority;           /* enum vd_work_priority: while it is queued */
    unsigned char again_priority;     /* see `again` */
    bool queued, running;
    bool again; /* it was added while it runs */
    bool later; /* it was added with a delay while it runs, and is due at later_ms */
};

/* The pauses after failures: the first is `min_ms`, each further one `factor_percent` of the one
 * before, none above `max_ms`. Each is then made up to `jitter_percent` shorter or longer, so that
 * items that failed together do not come back together. */
struct vd_work_retry {
    uint64_t min_ms, max_ms;
    unsigned factor_percent; /* 0: 200 */
    unsigned jitter_percent; /* 0 to 100 */
};

struct vd_work_queue_options {
    void (*wake)(void *arg); /* an item can be taken, and none could before; NULL: not called */
    void *arg;
    struct vd_work_retry retry;
    struct vd_work_rate rates[VD_WORK_PRIORITIES]; /* {0}: no limit */
    uint64_t seed;                                 /* of the jitter */
};

struct vd_work_list {
    struct vd_work_item *first, *last;
};

struct vd_work_queue {
    struct vd_work_queue_options options;
    /* Private: */
    struct vd_work_list lists[VD_WORK_PRIORITIES];
    struct vd_heap delayed;
    size_t queued_n, running_n;
    unsigned takes;      /* since a lower priority had its share */
    unsigned share_next; /* which of the lower priorities has the next one */
    uint64_t random;
};

void vd_work_queue_init(struct vd_work_queue *q, const struct vd_work_queue_options *options);

/* Frees the queue's own memory. Items that are still in it are not touched any more. */
void vd_work_queue_release(struct vd_work_queue *q);

/* The pauses of failures to come. */
void vd_work_queue_set_retry(struct vd_work_queue *q, const struct vd_work_retry *retry);

/* The item will be taken once more: as soon as possible, also if it was delayed. One that waits
 * with a lower priority gets this one. */
void vd_work_queue_add_as(struct vd_work_queue *q, struct vd_work_item *item,
                          enum vd_work_priority priority);

static inline void vd_work_queue_add(struct vd_work_queue *q, struct vd_work_item *item)
{
    vd_work_queue_add_as(q, item, VD_WORK_FRESH);
}

/* The item will be taken once more, not before `delay_ms` have passed. One that is queued, or
 * delayed until an earlier time, stays as it is. */
void vd_work_queue_add_after(struct vd_work_queue *q, struct vd_work_item *item, uint64_t now_ms,
                             uint64_t delay_ms);

/* The item has failed: it is added after the pause that its failures ask for, which is returned. */
uint64_t vd_work_queue_retry(struct vd_work_queue *q, struct vd_work_item *item, uint64_t now_ms);

/* A run of the item has succeeded: its next failure counts as its first. */
void vd_work_queue_forget(struct vd_work_item *item);

/* The next item, which runs until vd_work_queue_done(). NULL: none is due. */
struct vd_work_item *vd_work_queue_take(struct vd_work_queue *q, uint64_t now_ms) VD_MUST_USE;

/* A run of the item is over; if it was added meanwhile it is queued or delayed again. */
void vd_work_queue_done(struct vd_work_queue *q, struct vd_work_item *item);

/* Takes an item that is not running out of the queue: it need not be worked on any more. */
void vd_work_queue_remove(struct vd_work_queue *q, struct vd_work_item *item);

/* When the next item that cannot be taken yet is due: one that is delayed, or one that a rate limit
 * holds back. UINT64_MAX: there is none. */
uint64_t vd_work_queue_next_ms(const struct vd_work_queue *q);

/* Whether vd_work_queue_take() would give one. */
bool vd_work_queue_can_take(const struct vd_work_queue *q, uint64_t now_ms);

/* Items that are not delayed and wait to be taken. */
static inline size_t vd_work_queue_count(const struct vd_work_queue *q)
{
    return q->queued_n;
}

/* Items that are delayed. */
static inline size_t vd_work_queue_delayed(const struct vd_work_queue *q)
{
    return vd_heap_count(&q->delayed);
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
