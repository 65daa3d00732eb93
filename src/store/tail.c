/* See tail.h. */
#include "store/tail.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

enum { TAIL_CAP_MIN = 16 }; /* events that the first ring has room for */

void vd_tail_release(struct vd_tail *tail)
{
    free(tail->ring);
    *tail = (struct vd_tail){0};
}

/* Resizing also straightens the ring out: the front comes to slot 0. */
static void resize(struct vd_tail *tail, size_t cap)
{
    struct vd_event **ring = vd_malloc(cap * sizeof(struct vd_event *));
    for (size_t i = 0; i < tail->n; i++)
        ring[i] = vd_tail_at(tail, i);
    free(tail->ring);
    tail->ring = ring;
    tail->head = 0;
    tail->cap = cap;
}

void vd_tail_push(struct vd_tail *tail, struct vd_event *event)
{
    if (tail->n == tail->cap)
        resize(tail, tail->cap ? tail->cap * 2 : TAIL_CAP_MIN);
    tail->ring[(tail->head + tail->n++) & (tail->cap - 1)] = event;
}

struct vd_event *vd_tail_pop(struct vd_tail *tail)
{
    assert(tail->n > 0);
    struct vd_event *event = vd_tail_at(tail, 0);
    tail->head = (tail->head + 1) & (tail->cap - 1);
    tail->n--;
    if (tail->cap > TAIL_CAP_MIN && tail->n < tail->cap / 8)
        resize(tail, tail->cap / 2);
    return event;
}

size_t vd_tail_first_after(const struct vd_tail *tail, uint64_t revision)
{
    size_t from = 0, to = tail->n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (vd_tail_at(tail, middle)->revision > revision)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

void vd_tail_reverse(struct vd_tail *tail)
{
    for (size_t i = 0, j = tail->n; i + 1 < j; i++) {
        j--;
        size_t a = (tail->head + i) & (tail->cap - 1), b = (tail->head + j) & (tail->cap - 1);
        struct vd_event *event = tail->ring[a];
        tail->ring[a] = tail->ring[b];
        tail->ring[b] = event;
    }
}
