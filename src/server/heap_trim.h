/*
 * Gives memory that is free inside the C library's heap back to the operating system.
 *
 * The library keeps what was freed in the middle of its heap: after a burst of large requests,
 * hundreds of megabytes that nobody needs. Returning them costs some milliseconds for each
 * hundred, in which other threads may have to wait for the heap, so it is done only with
 * memory that stays free.
 */
#ifndef VD_SERVER_HEAP_TRIM_H
#define VD_SERVER_HEAP_TRIM_H

#include <stdbool.h>
#include <stddef.h>

enum { VD_HEAP_TRIM_S = 5 }; /* how often to look */

/* Zero it. */
struct vd_heap_trim {
    size_t idle_before; /* bytes that were resident and not in use at the last look ... */
    size_t idle_kept;   /* ... and after the last trim: these cannot be returned */
};

/* To be called every VD_HEAP_TRIM_S, by one thread. Returns memory if much was idle the last time,
 * and is still. Says whether it did. */
bool vd_heap_trim_look(struct vd_heap_trim *trim);

#endif
