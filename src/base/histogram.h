/*
 * A log-linear histogram of 64-bit values, such as nanoseconds or bytes.
 *
 * Values below 8 have a bucket each; above, each power of two has 8 equal
 * buckets, so a quantile is wrong by 1/8 of the value at most. Counting is
 * lock-free and may happen on any thread; reading at the same time sees some
 * recent state. 4 KB each; `= {0}` is a valid empty histogram.
 */
#ifndef VD_BASE_HISTOGRAM_H
#define VD_BASE_HISTOGRAM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* One for each value below 8, and 8 for each power of two from 2^3 to 2^63. */
enum { VD_HISTOGRAM_BUCKETS = 8 + 61 * 8 };

struct vd_histogram {
    _Atomic uint64_t sum; /* of all values; wraps */
    _Atomic uint64_t buckets[VD_HISTOGRAM_BUCKETS];
};

/* The bucket of a value: 0 to VD_HISTOGRAM_BUCKETS - 1, growing with it. */
static inline size_t vd_histogram_bucket(uint64_t value)
{
    if (value < 8)
        return (size_t)value;
    unsigned exponent = 63u - (unsigned)__builtin_clzll(value); /* 3 to 63 */
    return (size_t)(exponent - 2) * 8 + ((value >> (exponent - 3)) & 7);
}

/* The greatest value of a bucket. */
uint64_t vd_histogram_bucket_max(size_t bucket);

/* The same value n times. */
static inline void vd_histogram_add_n(struct vd_histogram *h, uint64_t value, uint64_t n)
{
    atomic_fetch_add_explicit(&h->buckets[vd_histogram_bucket(value)], n, memory_order_relaxed);
    atomic_fetch_add_explicit(&h->sum, value * n, memory_order_relaxed);
}

static inline void vd_histogram_add(struct vd_histogram *h, uint64_t value)
{
    vd_histogram_add_n(h, value, 1);
}

/* The number of values so far. */
uint64_t vd_histogram_count(const struct vd_histogram *h);

/* A value that the share `q` (0 to 1) of all values does not exceed: the upper
 * end of the bucket that holds the quantile. 0 when there are no values. */
uint64_t vd_histogram_quantile(const struct vd_histogram *h, double q);

#endif
