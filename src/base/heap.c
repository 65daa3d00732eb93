/*
 * A 4-ary heap: half the depth of a binary one, and the four children of a
 * node lie in at most two cache lines.
 *
 * Invariant: no node precedes its parent in (key, order); nodes[i]->at is
 * i + 1. `order` grows with each push, so the order is total and stable.
 */
#include "base/heap.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

enum {
    ARITY = 4,    /* children of a node */
    CAP_MIN = 16, /* nodes that the first memory has room for */
};

static bool precedes(const struct vd_heap_node *a, const struct vd_heap_node *b)
{
    return a->key != b->key ? a->key < b->key : a->order < b->order;
}

static void place(struct vd_heap *h, size_t i, struct vd_heap_node *node)
{
    h->nodes[i] = node;
    node->at = i + 1;
}

static void sift_up(struct vd_heap *h, size_t i, struct vd_heap_node *node)
{
    while (i > 0) {
        size_t parent = (i - 1) / ARITY;
        if (!precedes(node, h->nodes[parent]))
            break;
        place(h, i, h->nodes[parent]);
        i = parent;
    }
    place(h, i, node);
}

static void sift_down(struct vd_heap *h, size_t i, struct vd_heap_node *node)
{
    for (;;) {
        size_t first = i * ARITY + 1, least = first;
        if (first >= h->n)
            break;
        for (size_t child = first + 1; child < first + ARITY && child < h->n; child++)
            if (precedes(h->nodes[child], h->nodes[least]))
                least = child;
        if (!precedes(h->nodes[least], node))
            break;
        place(h, i, h->nodes[least]);
        i = least;
    }
    place(h, i, node);
}

/* Puts a node at place i, then where it belongs from there. */
static void settle(struct vd_heap *h, size_t i, struct vd_heap_node *node)
{
    if (i > 0 && precedes(node, h->nodes[(i - 1) / ARITY]))
        sift_up(h, i, node);
    else
        sift_down(h, i, node);
}

void vd_heap_release(struct vd_heap *h)
{
    for (size_t i = 0; i < h->n; i++)
        h->nodes[i]->at = 0;
    free(h->nodes);
    *h = (struct vd_heap){0};
}

void vd_heap_push(struct vd_heap *h, struct vd_heap_node *node, uint64_t key)
{
    assert(!vd_heap_has(node));
    if (h->n == h->cap) {
        h->cap = h->cap ? h->cap * 2 : CAP_MIN;
        h->nodes = vd_realloc(h->nodes, h->cap, sizeof(struct vd_heap_node *));
    }
    node->key = key;
    node->order = h->order_next++;
    sift_up(h, h->n++, node);
}

struct vd_heap_node *vd_heap_peek(const struct vd_heap *h)
{
    return h->n ? h->nodes[0] : NULL;
}

struct vd_heap_node *vd_heap_pop(struct vd_heap *h)
{
    struct vd_heap_node *least = vd_heap_peek(h);
    if (least)
        vd_heap_remove(h, least);
    return least;
}

void vd_heap_remove(struct vd_heap *h, struct vd_heap_node *node)
{
    assert(vd_heap_has(node) && node->at <= h->n && h->nodes[node->at - 1] == node);
    size_t i = node->at - 1;
    struct vd_heap_node *last = h->nodes[--h->n];
    node->at = 0;
    if (last != node)
        settle(h, i, last);
}

void vd_heap_update(struct vd_heap *h, struct vd_heap_node *node, uint64_t key)
{
    assert(vd_heap_has(node) && node->at <= h->n && h->nodes[node->at - 1] == node);
    node->key = key;
    node->order = h->order_next++;
    settle(h, node->at - 1, node);
}
