/*
 * An index of an object's keys, for work that looks up many of them.
 *
 * It is a sorted array: building it costs n log n and a look-up log n
 * whatever the keys are, so nobody can choose keys that make it slow. It
 * borrows the object, whose members must not change while it is used.
 */
#ifndef VD_JSON_KEY_INDEX_H
#define VD_JSON_KEY_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "json/document.h"

/* Objects of up to so many members are searched without an index. */
enum { VD_KEY_INDEX_MIN = 32 };

struct vd_key_entry {
    uint64_t hash;
    struct vd_json *member;
    size_t place; /* in the object, from 0 */
};

/* Sorted by key (in no readable order), equal keys by place. */
struct vd_key_index {
    const struct vd_json *object;
    struct vd_key_entry *p; /* NULL while the object is small */
    size_t n;
};

/* Indexes the object, if it has more than VD_KEY_INDEX_MIN members. */
void vd_key_index_init(struct vd_key_index *index, const struct vd_json *object);

/* Indexes the object whatever its size. */
void vd_key_index_init_all(struct vd_key_index *index, const struct vd_json *object);

void vd_key_index_release(struct vd_key_index *index);

/* The (first) member named `key`, or NULL. */
struct vd_json *vd_key_index_get(const struct vd_key_index *index, struct vd_slice key);

/* False means that no two members have the same key. True means that two probably
 * have; the caller has to look. It takes linear time. */
bool vd_key_index_may_repeat(const struct vd_json *object);

#endif
