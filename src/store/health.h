/* The health of a store: what keeps it from writing, and what of its log is damaged. */
#ifndef VD_STORE_HEALTH_H
#define VD_STORE_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct vd_store;

/* Whether the store is well; the sentence says what is wrong and what to do. While a condition that
 * can pass (full, locked, short of memory) lasts and nobody writes, the store looks about once a
 * second whether it has passed. */
struct vd_health {
    bool read_only;       /* a write or sync failed: no write is accepted until restart */
    bool full;            /* the last write found no room; the next one tries again */
    bool locked;          /* another process had the log for too long; the next write tries again */
    bool short_of_memory; /* SQLite ran out of memory; the next write tries again */
    size_t damaged;       /* versions that fail their checksum, found at open */
    uint64_t damaged_revision; /* the oldest of them */
    struct vd_error error;
};
void vd_store_health(struct vd_store *store, struct vd_health *out);

#endif
