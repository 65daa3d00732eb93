/* A seeded random sequence for tests: the same seed gives the same test. */
#ifndef VD_TESTS_RANDOM_H
#define VD_TESTS_RANDOM_H

#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/slice.h"

struct test_random {
    uint64_t state;
};

/* splitmix64 */
static inline uint64_t random_next(struct test_random *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 .. n-1 */
static inline unsigned random_below(struct test_random *r, unsigned n)
{
    return (unsigned)(random_next(r) % n);
}

/* True once in n times. */
static inline int random_once_in(struct test_random *r, unsigned n)
{
    return random_below(r, n) == 0;
}

/* VEDETTE_SEED, to run a test again; otherwise a new one. */
static inline uint64_t random_seed(void)
{
    uint64_t seed;
    if (vd_slice_to_u64(vd_slice_of(getenv("VEDETTE_SEED")), &seed) != 0)
        vd_random_bytes(&seed, sizeof seed);
    return seed;
}

#endif
