/*
 * A min-heap of intrusive nodes, for timers and delayed work.
 *
 * A node is part of the caller's struct; the heap holds pointers to nodes, so
 * a node must stay where it is while it is in a heap. Of nodes with equal
 * keys, the one that came first leaves first. `= {0}` is a valid empty heap
 * and a valid node that is in none. Not thread-safe: one owner at a time.
 */
#ifndef VD_BASE_HEAP_H
#define VD_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vd_heap_node {
    uint64_t key;   /* set by push and update only */
    uint64_t order; /* of arrival, among equal keys */
    size_t at;      /* place in the heap from 1 on; 0 when in none */
};

struct vd_heap {
    struct vd_heap_node **nodes;
    size_t n;
    size_t cap;
    uint64_t order_next;
};

/* Frees the heap's own memory and leaves it empty; nodes still in it count as
 * taken out. */
void vd_heap_release(struct vd_heap *h);

static inline size_t vd_heap_count(const struct vd_heap *h)
{
    return h->n;
}

static inline bool vd_heap_has(const struct vd_heap_node *node)
{
    return node->at != 0;
}

/* Adds a node that is in no heap. */
void vd_heap_push(struct vd_heap *h, struct vd_heap_node *node, uint64_t key);

/* The node with the least key, still in the heap; NULL when empty. */
struct vd_heap_node *vd_heap_peek(const struct vd_heap *h);

/* Takes the node with the least key out; NULL when empty. */
struct vd_heap_node *vd_heap_pop(struct vd_heap *h);

/* Takes this node out; it must be in this heap. */
void vd_heap_remove(struct vd_heap *h, struct vd_heap_node *node);

/* Gives the node a new key. It then queues behind those with an equal key, as
 * if it had been removed and pushed. */
void vd_heap_update(struct vd_heap *h, struct vd_heap_node *node, uint64_t key);

#endif
