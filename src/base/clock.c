/* See clock.h. */
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

static int64_t system_wall_ms(const struct vd_clock *clock)
{
    (void)clock;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t system_wall_us(const struct vd_clock *clock)
{
    (void)clock;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static uint64_t system_mono_ns(const struct vd_clock *clock)
{
    (void)clock;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

const struct vd_clock *vd_clock_system(void)
{
    static const struct vd_clock system = {system_wall_ms, system_mono_ns, system_wall_us};
    return &system;
}

struct vd_slice vd_time_format(int64_t wall_ms, char out[VD_TIME_TEXT_MAX])
{
    int64_t ms = wall_ms % 1000;
    time_t seconds = (time_t)(wall_ms / 1000);
    if (ms < 0) { /* before 1970, milliseconds still count forward */
        ms += 1000;
        seconds--;
    }
    struct tm t;
    if (!gmtime_r(&seconds, &t) || t.tm_year + 1900 < 0 || t.tm_year + 1900 > 9999)
        return vd_slice("?", 1);
    char text[64];
    int n = snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", t.tm_year + 1900,
                     t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, (int)ms);
    memcpy(out, text, (size_t)n + 1);
    return vd_slice(out, (size_t)n);
}

void vd_random_bytes(void *out, size_t n)
{
    char *p = out;
    while (n) {
        ssize_t got = getrandom(p, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) /* only on a kernel without getrandom, or a bad pointer */
            abort();
        p += got;
        n -= (size_t)got;
    }
}
