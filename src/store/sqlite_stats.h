/* What is in a log file, in numbers. Only reads; a server may go on writing. */
#ifndef VD_STORE_SQLITE_STATS_H
#define VD_STORE_SQLITE_STATS_H

#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

struct vd_resource_stats {
    char *resource; /* owned by the statistics */
    uint64_t objects;
    uint64_t bytes; /* of their bodies */
};

/* `= {0}` is empty. */
struct vd_log_stats {
    uint64_t revision; /* newest */
    uint64_t floor;
    uint64_t rows;
    uint64_t window_events;
    int64_t window_oldest_ms; /* wall clock of the window's oldest event; 0: it is empty */
    uint64_t objects;
    uint64_t object_bytes;
    uint64_t file_bytes;
    uint64_t wal_bytes;
    uint64_t free_bytes;                        /* of the file: room that deleted rows have left */
    VD_VEC(struct vd_resource_stats) resources; /* most bytes first */
};

/* Of the log in `folder`. It does not check what it reads: see sqlite_verify.h. */
int vd_log_stats_read(struct vd_log_stats *stats, const char *folder,
                      struct vd_error *error) VD_MUST_USE;
void vd_log_stats_release(struct vd_log_stats *stats);

/* The lowest floor with which the window of the log in `folder` has at most
 * `events_max` events, none older than `since_ms`; 0 when any floor will do. */
int vd_log_floor_for(const char *folder, uint64_t events_max, int64_t since_ms, uint64_t *floor,
                     struct vd_error *error) VD_MUST_USE;

#endif
