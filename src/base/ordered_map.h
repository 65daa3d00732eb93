/*
 * An ordered map from byte-string keys to items: a B+tree.
 *
 * The map holds pointers to the caller's items and no copies of their keys: a
 * function given at init yields the key of an item. As long as an item is in
 * the map, it must stay where it is and its key must not change. Keys are
 * unique and ordered by vd_slice_cmp. An item costs 13 to 24 bytes here.
 *
 * Threads: reading (get, seek, item, next, count) writes nothing, so any
 * number of threads may read while none changes the map.
 *
 *     struct vd_ordered_map_cursor c = vd_ordered_map_seek(&map, VD_SLICE("default/"));
 *     for (struct pod *pod; (pod = vd_ordered_map_item(&c)); vd_ordered_map_next(&c))
 *         use(pod);
 */
#ifndef VD_BASE_ORDERED_MAP_H
#define VD_BASE_ORDERED_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/slice.h"

struct vd_ordered_map_node;

struct vd_ordered_map {
    struct vd_slice (*key_of)(const void *item);
    struct vd_ordered_map_node *root; /* NULL when empty */
    size_t count;                     /* items */
    size_t bytes;                     /* heap memory of the nodes */
};

/* An item's place. Valid until the map changes. */
struct vd_ordered_map_cursor {
    const struct vd_ordered_map_node *leaf; /* NULL at the end */
    uint32_t at;
};

/* An empty map; `key_of` is called with items that are in it, by any reader. */
void vd_ordered_map_init(struct vd_ordered_map *m, struct vd_slice (*key_of)(const void *item));

/* Frees the nodes, not the items, and leaves an empty map. */
void vd_ordered_map_release(struct vd_ordered_map *m);

static inline size_t vd_ordered_map_count(const struct vd_ordered_map *m)
{
    return m->count;
}

/* The item with this key, or NULL. */
void *vd_ordered_map_get(const struct vd_ordered_map *m, struct vd_slice key);

/* Adds an item, in place of the one with an equal key if there is one: that
 * item is returned, no longer in the map; otherwise NULL. */
void *vd_ordered_map_put(struct vd_ordered_map *m, void *item);

/* Takes the item with this key out and returns it, or NULL. `key` may point
 * into that item. */
void *vd_ordered_map_remove(struct vd_ordered_map *m, struct vd_slice key);

/* The first item whose key is not less than `key`; an empty key is the start. */
struct vd_ordered_map_cursor vd_ordered_map_seek(const struct vd_ordered_map *m,
                                                 struct vd_slice key) VD_MUST_USE;

/* The item at the cursor, or NULL at the end. */
void *vd_ordered_map_item(const struct vd_ordered_map_cursor *c);

/* Moves to the next item in key order; at the end it stays there. */
void vd_ordered_map_next(struct vd_ordered_map_cursor *c);

/* For tests: asserts every invariant of the tree. Reads all of it. */
void vd_ordered_map_check(const struct vd_ordered_map *m);

#endif
