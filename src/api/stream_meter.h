/*
 * What the metrics tell of a loop's streams, whichever face they belong to.
 *
 * What streams deliver is counted on the loop and told to the metrics once a turn, since one commit
 * may reach thousands.
 */
#ifndef VD_API_STREAM_METER_H
#define VD_API_STREAM_METER_H

#include <stddef.h>
#include <stdint.h>

#include "watch/registry.h"

enum vd_stream_end;

/* What became of a cursor that a client came back with. */
enum vd_resume { VD_RESUME_OK, VD_RESUME_EXPIRED, VD_RESUME_FUTURE };

enum { VD_STREAM_STATES = 4 };

/* One loop's. */
struct vd_stream_meter {
    uint64_t live_n; /* deliveries of commits in this turn */
    /* Private: */
    uint64_t overruns_told;
    struct vd_metric *watchers[VD_STREAM_STATES], *revision, *overruns, *latency;
};

/* The families, to be seen at zero. Once, before the loops start. */
void vd_stream_meters_register(void);

void vd_stream_meter_init(struct vd_stream_meter *meter, size_t loop_index);

/* When the turn's bytes are with the sockets; `now_ns` by the monotonic clock, if the turn has
 * served a commit. */
void vd_stream_meter_turn(struct vd_stream_meter *meter, const struct vd_registry_stats *stats,
                          uint64_t now_ns);

/* A stream has ended; one came back with a cursor. */
void vd_stream_meter_ended(enum vd_stream_end why);
void vd_stream_meter_resumed(enum vd_resume result);

/* For a scrape, on any thread: sets how far each of the n loops is behind the newest revision. */
void vd_stream_meters_set_lag(size_t loops_n, uint64_t newest);

#endif
