/*
 * An arena: many small allocations, freed together.
 *
 * A request's or a document's memory comes from one arena and goes with it.
 * `= {0}` is a valid empty arena. Memory is aligned for any type and not
 * zeroed. Not thread-safe: one owner at a time.
 */
#ifndef VD_BASE_ARENA_H
#define VD_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/slice.h"

struct vd_arena_chunk;

struct vd_arena {
    struct vd_arena_chunk *chunks; /* newest first */
    char *at;                      /* next free byte of the newest chunk */
    char *end;
    size_t total; /* bytes asked from the heap so far */
};

void *vd_arena_alloc_slow(struct vd_arena *a, size_t size) VD_MUST_USE;

/* Memory for `size` bytes (0 gives a pointer too), borrowed until the arena is
 * reset or released. */
static inline void *vd_arena_alloc(struct vd_arena *a, size_t size)
{
    size = size ? (size + 15) & ~(size_t)15 : 16;
    if (VD_UNLIKELY(size > (size_t)(a->end - a->at)))
        return vd_arena_alloc_slow(a, size);
    void *p = a->at;
    a->at += size;
    return p;
}

/* A copy of the bytes inside the arena, with a NUL behind them. */
struct vd_slice vd_arena_copy(struct vd_arena *a, struct vd_slice s);

/* Forgets all allocations but keeps the largest chunk for reuse. */
void vd_arena_reset(struct vd_arena *a);

/* Gets room for `size` bytes in all, for an arena that has none yet. */
void vd_arena_reserve(struct vd_arena *a, size_t size);

/* Bytes that have been asked for so far, or a little more. */
size_t vd_arena_used(const struct vd_arena *a);

/* Frees everything and leaves an empty arena. */
void vd_arena_release(struct vd_arena *a);

#endif
