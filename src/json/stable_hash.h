/*
 * A 64-bit hash of bytes that never changes: it may be written to disk.
 *
 * Fast and well spread, but without a secret: whoever chooses the bytes can
 * choose collisions, so nothing may become slow or wrong when hashes collide.
 */
#ifndef VD_JSON_STABLE_HASH_H
#define VD_JSON_STABLE_HASH_H

#include <stdint.h>

#include "base/slice.h"

/* One step: folds `value` into `state`; the order of the steps matters. */
static inline uint64_t vd_stable_hash_mix(uint64_t state, uint64_t value)
{
    state ^= value + 0x9e3779b97f4a7c15u;
    state *= 0xbf58476d1ce4e5b9u;
    state ^= state >> 29;
    state *= 0x94d049bb133111ebu;
    return state ^ (state >> 32);
}

/* The hash of the bytes, begun with `state`. */
uint64_t vd_stable_hash_bytes(uint64_t state, struct vd_slice s);

#endif
