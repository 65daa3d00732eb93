/*
 * Random choices that a test can repeat.
 *
 * A test takes its seed from seed_of_run(), which is VEDETTE_SEED when that is
 * set, and names the seed when it fails. One generator per thread.
 */
#ifndef VD_TESTS_SEED_H
#define VD_TESTS_SEED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/slice.h"

struct seed_rng {
    uint64_t state;
};

/* VEDETTE_SEED, or a new one. */
static inline uint64_t seed_of_run(void)
{
    uint64_t seed;
    const char *given = getenv("VEDETTE_SEED");
    if (!given || vd_slice_to_u64(vd_slice_of(given), &seed) != 0)
        vd_random_bytes(&seed, sizeof seed);
    return seed;
}

/* A count that the environment can raise for a longer run. */
static inline uint64_t seed_runs(const char *variable, uint64_t runs)
{
    uint64_t given;
    const char *text = getenv(variable);
    return text && vd_slice_to_u64(vd_slice_of(text), &given) == 0 ? given : runs;
}

/* splitmix64: any state is a good one. */
static inline uint64_t seed_next(struct seed_rng *rng)
{
    uint64_t z = rng->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A number below n, which is not 0. */
static inline uint64_t seed_below(struct seed_rng *rng, uint64_t n)
{
    return seed_next(rng) % n;
}

/* True once in n times. */
static inline bool seed_once_in(struct seed_rng *rng, uint64_t n)
{
    return seed_below(rng, n) == 0;
}

/* True in `percent` of 100 cases. */
static inline bool seed_percent(struct seed_rng *rng, unsigned percent)
{
    return seed_below(rng, 100) < percent;
}

#endif
