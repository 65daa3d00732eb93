/*
 * Open addressing with linear probing, and SipHash-1-3.
 *
 * An item lies in the first free slot at or after its home, hash & (slots-1).
 * Beside each item 32 bits of its hash are kept: a lookup compares those
 * first, and moving items around needs no keys. A removal closes the gap by
 * moving later items of the same run back (no tombstones), so a table that
 * sees many removals stays as good as a new one.
 *
 * Invariants: no free slot lies between an item's home and the item; at most
 * 3/4 of the slots are in use, so a probe always ends.
 */
#include "base/hash_map.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"

enum { SLOTS_MIN = 16 }; /* slots of the first table */

/* ---- SipHash-1-3: one round per word, three at the end ---- */

struct sip {
    uint64_t v0, v1, v2, v3;
};

static uint64_t secret[4];
static pthread_once_t secret_once = PTHREAD_ONCE_INIT;

static void secret_make(void)
{
    vd_random_bytes(secret, sizeof secret);
}

static inline uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v2 = rotate(s->v2, 32);
}

static inline void sip_word(struct sip *s, uint64_t word)
{
    s->v3 ^= word;
    sip_round(s);
    s->v0 ^= word;
}

static uint64_t sip13(const uint64_t key[2], const unsigned char *p, size_t n)
{
    struct sip s = {
        key[0] ^ 0x736f6d6570736575u,
        key[1] ^ 0x646f72616e646f6du,
        key[0] ^ 0x6c7967656e657261u,
        key[1] ^ 0x7465646279746573u,
    };
    uint64_t last = (uint64_t)n << 56;
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t word; /* in the machine's own byte order: hashes never leave the process */
        memcpy(&word, p, 8);
        sip_word(&s, word);
    }
    for (size_t i = 0; i < n; i++)
        last |= (uint64_t)p[i] << (8 * i);
    sip_word(&s, last);
    s.v2 ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

uint64_t vd_hash_bytes(const void *p, size_t n)
{
    pthread_once(&secret_once, secret_make);
    return sip13(secret, p, n);
}

void vd_hash_bytes_wide(const void *p, size_t n, uint64_t out[2])
{
    out[0] = vd_hash_bytes(p, n);
    out[1] = sip13(secret + 2, p, n);
}

/* ---- the table ---- */

static uint32_t hash_key(struct vd_slice key)
{
    return (uint32_t)vd_hash_bytes(key.p, key.n);
}

/* The slot of the item with this key, or the free slot where it would go. */
static size_t slot_find(const struct vd_hash_map *m, struct vd_slice key, uint32_t hash)
{
    size_t mask = m->slots - 1, at = hash & mask;
    while (m->items[at]) {
        if (m->hashes[at] == hash && vd_slice_eq(m->key_of(m->items[at]), key))
            break;
        at = (at + 1) & mask;
    }
    return at;
}

static void table_resize(struct vd_hash_map *m, size_t slots)
{
    struct vd_hash_map old = *m;
    m->slots = slots;
    m->items = vd_calloc(slots, sizeof *m->items + sizeof *m->hashes);
    m->hashes = (uint32_t *)(m->items + slots);
    for (size_t i = 0; i < old.slots; i++) {
        if (!old.items[i])
            continue;
        size_t at = old.hashes[i] & (slots - 1);
        while (m->items[at])
            at = (at + 1) & (slots - 1);
        m->items[at] = old.items[i];
        m->hashes[at] = old.hashes[i];
    }
    free(old.items);
}

/* Frees a slot and moves back those behind it that it kept from their home. */
static void slot_close(struct vd_hash_map *m, size_t gap)
{
    size_t mask = m->slots - 1;
    for (size_t at = (gap + 1) & mask; m->items[at]; at = (at + 1) & mask) {
        size_t from_home = (at - m->hashes[at]) & mask, from_gap = (at - gap) & mask;
        if (from_home < from_gap)
            continue; /* its home is behind the gap */
        m->items[gap] = m->items[at];
        m->hashes[gap] = m->hashes[at];
        gap = at;
    }
    m->items[gap] = NULL;
}

void vd_hash_map_init(struct vd_hash_map *m, struct vd_slice (*key_of)(const void *item))
{
    *m = (struct vd_hash_map){.key_of = key_of};
}

void vd_hash_map_release(struct vd_hash_map *m)
{
    free(m->items);
    vd_hash_map_init(m, m->key_of);
}

void *vd_hash_map_get(const struct vd_hash_map *m, struct vd_slice key)
{
    return m->count ? m->items[slot_find(m, key, hash_key(key))] : NULL;
}

void *vd_hash_map_put(struct vd_hash_map *m, void *item)
{
    assert(item);
    if (m->count >= m->slots / 4 * 3)
        table_resize(m, m->slots ? m->slots * 2 : SLOTS_MIN);
    struct vd_slice key = m->key_of(item);
    uint32_t hash = hash_key(key);
    size_t at = slot_find(m, key, hash);
    void *replaced = m->items[at];
    m->items[at] = item;
    m->hashes[at] = hash;
    m->count += !replaced;
    return replaced;
}

void *vd_hash_map_remove(struct vd_hash_map *m, struct vd_slice key)
{
    if (!m->count)
        return NULL;
    size_t at = slot_find(m, key, hash_key(key));
    void *removed = m->items[at];
    if (!removed)
        return NULL;
    slot_close(m, at);
    m->count--;
    if (m->slots > SLOTS_MIN && m->count < m->slots / 8)
        table_resize(m, m->slots / 2);
    return removed;
}

void *vd_hash_map_next(const struct vd_hash_map *m, size_t *at)
{
    while (*at < m->slots) {
        void *item = m->items[(*at)++];
        if (item)
            return item;
    }
    return NULL;
}
