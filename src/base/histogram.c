/* See histogram.h. */
#include "base/histogram.h"

uint64_t vd_histogram_bucket_max(size_t bucket)
{
    if (bucket < 8)
        return bucket;
    unsigned shift = (unsigned)(bucket / 8) - 1; /* a bucket is 2^shift wide */
    uint64_t first = (8 + (uint64_t)(bucket % 8)) << shift;
    return first + (((uint64_t)1 << shift) - 1);
}

uint64_t vd_histogram_count(const struct vd_histogram *h)
{
    uint64_t count = 0;
    for (size_t i = 0; i < VD_HISTOGRAM_BUCKETS; i++)
        count += atomic_load_explicit(&h->buckets[i], memory_order_relaxed);
    return count;
}

uint64_t vd_histogram_quantile(const struct vd_histogram *h, double q)
{
    uint64_t counts[VD_HISTOGRAM_BUCKETS], total = 0, below = 0;
    for (size_t i = 0; i < VD_HISTOGRAM_BUCKETS; i++) {
        counts[i] = atomic_load_explicit(&h->buckets[i], memory_order_relaxed);
        total += counts[i];
    }
    if (!total)
        return 0;
    /* The rank of the value that is asked for, from 1 to total. */
    double wanted = q * (double)total;
    size_t last = 0;
    for (size_t i = 0; i < VD_HISTOGRAM_BUCKETS; i++) {
        if (!counts[i])
            continue;
        last = i;
        below += counts[i];
        if ((double)below >= wanted)
            break;
    }
    return vd_histogram_bucket_max(last);
}
