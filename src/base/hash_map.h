/*
 * A hash map from byte-string keys to items, and the hash itself.
 *
 * As in ordered_map.h, the map holds pointers to the caller's items and a
 * function that yields an item's key; an item must stay where it is, with its
 * key unchanged, while it is in the map. The hash is keyed with a secret of
 * this process, so nobody outside can choose keys that collide, and the order
 * of iteration differs from run to run.
 *
 * Threads: get and next write nothing, so any number of threads may read while
 * none changes the map.
 *
 *     size_t at = 0;
 *     for (struct session *s; (s = vd_hash_map_next(&map, &at));)
 *         use(s);
 */
#ifndef VD_BASE_HASH_MAP_H
#define VD_BASE_HASH_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

struct vd_hash_map {
    struct vd_slice (*key_of)(const void *item);
    void **items;     /* NULL where a slot is free */
    uint32_t *hashes; /* of the items in use; in the same block as `items` */
    size_t slots;     /* a power of two, or 0 */
    size_t count;
};

/* SipHash-1-3 of the bytes under this process' secret. Thread-safe. */
uint64_t vd_hash_bytes(const void *p, size_t n);

/* Two hashes of the bytes, under two secrets. Nobody who does not know the secrets can find two
 * texts with the same 128 bits, so the bits may be kept in place of a text that must not be, such
 * as a token. Thread-safe. */
void vd_hash_bytes_wide(const void *p, size_t n, uint64_t out[2]);

void vd_hash_map_init(struct vd_hash_map *m, struct vd_slice (*key_of)(const void *item));

/* Frees the table, not the items, and leaves an empty map. */
void vd_hash_map_release(struct vd_hash_map *m);

static inline size_t vd_hash_map_count(const struct vd_hash_map *m)
{
    return m->count;
}

/* The item with this key, or NULL. */
void *vd_hash_map_get(const struct vd_hash_map *m, struct vd_slice key);

/* Adds an item, in place of the one with an equal key if there is one: that
 * item is returned, no longer in the map; otherwise NULL. */
void *vd_hash_map_put(struct vd_hash_map *m, void *item);

/* Takes the item with this key out and returns it, or NULL. `key` may point
 * into that item. */
void *vd_hash_map_remove(struct vd_hash_map *m, struct vd_slice key);

/* The next item in no particular order, or NULL after the last. *at starts at
 * 0; the map must not change during an iteration. */
void *vd_hash_map_next(const struct vd_hash_map *m, size_t *at);

#endif
