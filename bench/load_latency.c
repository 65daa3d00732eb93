/* Latencies in buckets: see load.h. The error of a quantile is under one sixteenth. */
#include <stdio.h>

#include "load.h"

static unsigned bucket_of(uint64_t us)
{
    if (us < 16)
        return (unsigned)us;
    unsigned top = 63 - (unsigned)__builtin_clzll(us);
    return (top - 3) * 16 + (unsigned)((us >> (top - 4)) & 15);
}

static uint64_t bucket_us(unsigned bucket)
{
    if (bucket < 16)
        return bucket;
    return (UINT64_C(16) + bucket % 16) << (bucket / 16 - 1);
}

void latency_add(struct latency *l, uint64_t ns)
{
    l->counts[bucket_of(ns / 1000)]++;
    l->n++;
    if (ns > l->longest_ns)
        l->longest_ns = ns;
}

void latency_merge(struct latency *into, const struct latency *from)
{
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
        into->counts[i] += from->counts[i];
    into->n += from->n;
    if (from->longest_ns > into->longest_ns)
        into->longest_ns = from->longest_ns;
}

double latency_ms(const struct latency *l, double quantile)
{
    uint64_t rank = (uint64_t)(quantile * (double)l->n), seen = 0;
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
        seen += l->counts[i];
        if (seen > rank)
            return (double)bucket_us(i) / 1000;
    }
    return (double)l->longest_ns / 1e6;
}

void latency_print(const char *name, const struct latency *l)
{
    printf(",\"%s\":{\"n\":%llu,\"p50\":%.3f,\"p99\":%.3f,\"max\":%.3f}", name,
           (unsigned long long)l->n, latency_ms(l, 0.5), latency_ms(l, 0.99),
           (double)l->longest_ns / 1e6);
}
