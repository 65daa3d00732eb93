/*
 * Time and randomness from one place, so that tests can hold them still.
 *
 * Code that needs the time takes a `const struct vd_clock *`; the real one is
 * vd_clock_system(). All functions are thread-safe.
 */
#ifndef VD_BASE_CLOCK_H
#define VD_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

struct vd_clock {
    int64_t (*wall_ms)(const struct vd_clock *clock);  /* since 1970, UTC; may jump */
    uint64_t (*mono_ns)(const struct vd_clock *clock); /* only grows */
    int64_t (*wall_us)(
        const struct vd_clock *clock); /* like wall_ms; NULL: the clock has only milliseconds */
};

const struct vd_clock *vd_clock_system(void);

static inline int64_t vd_clock_wall_ms(const struct vd_clock *clock)
{
    return clock->wall_ms(clock);
}

static inline int64_t vd_clock_wall_us(const struct vd_clock *clock)
{
    return clock->wall_us ? clock->wall_us(clock) : clock->wall_ms(clock) * 1000;
}

static inline uint64_t vd_clock_mono_ns(const struct vd_clock *clock)
{
    return clock->mono_ns(clock);
}

/* RFC 3339 in UTC with milliseconds, "2026-11-15T09:35:21.042Z" (24 bytes and
 * a NUL), the form of logs and documents. Years 0 to 9999; any other is "?". */
enum { VD_TIME_TEXT_MAX = 25 };
struct vd_slice vd_time_format(int64_t wall_ms, char out[VD_TIME_TEXT_MAX]);

/* Bytes nobody can guess, from the kernel: seeds, tokens, uids. */
void vd_random_bytes(void *out, size_t n);

#endif
