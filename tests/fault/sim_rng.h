/*
 * A small seeded generator (splitmix64) for simulations.
 *
 * The same seed gives the same numbers on every machine, so a failure that
 * prints its seed can be run again. Not thread-safe, and not for secrets.
 */
#ifndef VD_TESTS_SIM_RNG_H
#define VD_TESTS_SIM_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct sim_rng {
    uint64_t state; /* the seed; any value is a good one */
};

static inline uint64_t sim_rng_next(struct sim_rng *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A number in [0, n); n is at least 1. */
static inline uint64_t sim_rng_below(struct sim_rng *r, uint64_t n)
{
    return sim_rng_next(r) % n;
}

/* True in `percent` of 100 cases. */
static inline bool sim_rng_percent(struct sim_rng *r, unsigned percent)
{
    return sim_rng_below(r, 100) < percent;
}

#endif
