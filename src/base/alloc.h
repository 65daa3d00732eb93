/*
 * Heap allocation that does not fail.
 *
 * Memory is bounded by the limits in limits.h, so running out of it means the
 * machine is misconfigured. The process then says so in one line and aborts;
 * the alternative is a branch behind every allocation that no test can reach.
 */
#ifndef VD_BASE_ALLOC_H
#define VD_BASE_ALLOC_H

#include <stddef.h>

#include "base/attributes.h"

/* Uninitialised memory; size 0 gives a pointer that free() accepts. */
void *vd_malloc(size_t size) VD_MUST_USE;

/* Zeroed memory for `count` items; the multiplication is checked. */
void *vd_calloc(size_t count, size_t size) VD_MUST_USE;

/* Grows or shrinks `p` (NULL allowed) to `count` items of `size` bytes. */
void *vd_realloc(void *p, size_t count, size_t size) VD_MUST_USE;

/* A heap copy of `n` bytes. */
void *vd_memdup(const void *p, size_t n) VD_MUST_USE;

/* A heap copy of a C string. */
char *vd_strdup(const char *text) VD_MUST_USE;

#define VD_NEW(type) ((type *)vd_calloc(1, sizeof(type)))

#endif
