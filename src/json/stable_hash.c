/* See stable_hash.h. Eight bytes a step, read as little-endian on every machine. */
#include "json/stable_hash.h"

static uint64_t load(const char *p, size_t n)
{
    uint64_t word = 0;
    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)(unsigned char)p[i] << (8 * i);
    return word;
}

uint64_t vd_stable_hash_bytes(uint64_t state, struct vd_slice s)
{
    size_t n = s.n;
    const char *p = s.p;
    for (; n >= 8; p += 8, n -= 8)
        state = vd_stable_hash_mix(state, load(p, 8));
    /* The length goes with the tail, so that "a" and "a\0" differ. */
    return vd_stable_hash_mix(state, load(p, n) ^ ((uint64_t)s.n << 56) ^ (uint64_t)s.n << 24);
}
