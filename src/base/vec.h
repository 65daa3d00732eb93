/*
 * A typed growable array.
 *
 *     struct names { VD_VEC(struct vd_slice); };   or   VD_VEC(int) numbers = {0};
 *     *VD_VEC_PUSH(&numbers) = 7;
 *     for (size_t i = 0; i < numbers.n; i++) use(numbers.p[i]);
 *     VD_VEC_RELEASE(&numbers);
 *
 * Invariant: the first n of cap items of p are in use. `= {0}` is empty.
 * Pointers into p are good until the next push.
 */
#ifndef VD_BASE_VEC_H
#define VD_BASE_VEC_H

#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"

#define VD_VEC(type)                                                                               \
    struct {                                                                                       \
        type *p;                                                                                   \
        size_t n;                                                                                  \
        size_t cap;                                                                                \
    }

/* Room for one more item at the end: a pointer to it, uninitialised. */
#define VD_VEC_PUSH(v) (VD_VEC_RESERVE((v), 1), &(v)->p[(v)->n++])

/* Makes room for `extra` more items. */
#define VD_VEC_RESERVE(v, extra)                                                                   \
    ((v)->n + (extra) <= (v)->cap                                                                  \
         ? (void)0                                                                                 \
         : (void)((v)->p = vd_vec_grow((v)->p, (v)->n + (extra), &(v)->cap, sizeof *(v)->p)))

/* Frees the items' memory and leaves an empty vector. */
#define VD_VEC_RELEASE(v) (free((v)->p), (v)->p = NULL, (v)->n = 0, (v)->cap = 0)

/* For VD_VEC_RESERVE: memory for at least `need` items; *cap is updated. */
static inline void *vd_vec_grow(void *p, size_t need, size_t *cap, size_t size)
{
    size_t grown = *cap ? *cap * 2 : 8;
    while (grown < need)
        grown *= 2;
    *cap = grown;
    return vd_realloc(p, grown, size);
}

#endif
