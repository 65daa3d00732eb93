/*
 * A tail: the newest events of a log, oldest at the front, in a ring.
 *
 * Invariant: revisions grow from front to back. The tail holds pointers only;
 * who owns the references is said by whoever owns the tail.
 */
#ifndef VD_STORE_TAIL_H
#define VD_STORE_TAIL_H

#include <stddef.h>
#include <stdint.h>

#include "store/event.h"

struct vd_tail {
    struct vd_event **ring; /* cap is a power of two */
    size_t head;
    size_t n;
    size_t cap;
};

void vd_tail_release(struct vd_tail *tail); /* frees the ring, not the events */

static inline struct vd_event *vd_tail_at(const struct vd_tail *tail, size_t i)
{
    return tail->ring[(tail->head + i) & (tail->cap - 1)];
}

/* Adds the newest event, at the back. */
void vd_tail_push(struct vd_tail *tail, struct vd_event *event);

/* Takes the oldest event off the front; the tail must not be empty. */
struct vd_event *vd_tail_pop(struct vd_tail *tail);

/* The position of the first event with a revision greater than this one; n if none. */
size_t vd_tail_first_after(const struct vd_tail *tail, uint64_t revision);

/* Turns the order around: the log is loaded newest first. */
void vd_tail_reverse(struct vd_tail *tail);

#endif
