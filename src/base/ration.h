/*
 * A ration: so many of something in a second, and a count of what was over it. For log
 * lines that a stranger can cause as often as he likes.
 *
 * Zeroed, it is full. One thread at a time.
 */
#ifndef VD_BASE_RATION_H
#define VD_BASE_RATION_H

#include <stdbool.h>
#include <stdint.h>

struct vd_ration {
    uint64_t second; /* that `taken` is of */
    uint64_t taken;
    uint64_t held_back; /* since vd_ration_told() */
};

/* Whether there is one more for this second; if not, it is counted. */
static inline bool vd_ration_take(struct vd_ration *r, uint64_t now_ns, uint64_t per_s)
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

/* How many were held back; the count starts again. */
static inline uint64_t vd_ration_told(struct vd_ration *r)
{
    uint64_t n = r->held_back;
    r->held_back = 0;
    return n;
}

#endif
