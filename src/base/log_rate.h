/*
 * A rate limit for log lines that any client can cause as often as it likes: so many lines may be
 * logged in a second, and the lines beyond are counted.
 *
 * `= {0}` is a limit of which nothing has been used. Only one thread at a time may use it.
 */
#ifndef VD_BASE_LOG_RATE_H
#define VD_BASE_LOG_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct vd_log_rate {
    uint64_t second; /* the second in which `taken` lines were logged */
    uint64_t taken;
    uint64_t held_back; /* lines that were not logged since vd_log_rate_take_dropped() */
};

/* Whether one more line may be logged in this second. A line that may not is counted. */
static inline bool vd_log_rate_take(struct vd_log_rate *r, uint64_t now_ns, uint64_t per_s)
{
    uint64_t second = now_ns / UINT64_C(1000000000);
    if (second != r->second) {
        r->second = second;
        r->taken = 0;
    }
    bool has = r->taken < per_s;
    r->taken += has;
    r->held_back += !has;
    return has;
}

/* How many lines were not logged since the last call; the count starts again. */
static inline uint64_t vd_log_rate_take_dropped(struct vd_log_rate *r)
{
    uint64_t n = r->held_back;
    r->held_back = 0;
    return n;
}

#endif
