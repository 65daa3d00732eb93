/*
 * A rate limit: so many takes in a second, and so many at once after a rest (a token bucket).
 *
 * `= {0}` limits nothing. The level is counted in thousandths, so that a whole number of
 * milliseconds at any rate adds a whole number.
 */
#ifndef VD_WATCH_WORK_RATE_H
#define VD_WATCH_WORK_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct vd_work_rate {
    unsigned per_s; /* 0: no limit */
    unsigned burst; /* at least 1 is used */
    /* Private: */
    uint64_t level; /* thousandths of a take that may be had at `at_ms` */
    uint64_t at_ms; /* 0: it is full */
};

static inline uint64_t vd_work_rate_full(const struct vd_work_rate *rate)
{
    return 1000 * (uint64_t)(rate->burst ? rate->burst : 1);
}

/* The level at a time. */
static inline uint64_t vd_work_rate_level(const struct vd_work_rate *rate, uint64_t now_ms)
{
    uint64_t full = vd_work_rate_full(rate);
    if (!rate->at_ms)
        return full;
    uint64_t passed_ms = now_ms > rate->at_ms ? now_ms - rate->at_ms : 0;
    if (passed_ms >= full / rate->per_s + 1)
        return full;
    uint64_t level = rate->level + passed_ms * rate->per_s;
    return level < full ? level : full;
}

/* Whether one take may be had, which is then used up. */
static inline bool vd_work_rate_take(struct vd_work_rate *rate, uint64_t now_ms)
{
    if (!rate->per_s)
        return true;
    uint64_t level = vd_work_rate_level(rate, now_ms);
    if (level < 1000)
        return false;
    rate->level = level - 1000;
    rate->at_ms = now_ms ? now_ms : 1;
    return true;
}

/* When the next take may be had: a time in the past if it may be had already. */
static inline uint64_t vd_work_rate_next_ms(const struct vd_work_rate *rate)
{
    if (!rate->per_s || !rate->at_ms || rate->level >= 1000)
        return 0;
    return rate->at_ms + (1000 - rate->level + rate->per_s - 1) / rate->per_s;
}

#endif
