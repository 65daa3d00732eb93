/* See key_index.h. Entries are ordered by hash first, so that most comparisons
 * are of two integers; the bytes decide only when hashes collide. */
#include "json/key_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "json/stable_hash.h"

static int key_order(uint64_t hash, struct vd_slice key, const struct vd_key_entry *e)
{
    if (hash != e->hash)
        return hash < e->hash ? -1 : 1;
    return vd_slice_cmp(key, vd_json_key(e->member));
}

static int entry_order(const void *a, const void *b)
{
    const struct vd_key_entry *x = a, *y = b;
    int order = key_order(x->hash, vd_json_key(x->member), y);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

void vd_key_index_init_all(struct vd_key_index *index, const struct vd_json *object)
{
    size_t count = vd_json_count(object), place = 0;
    *index = (struct vd_key_index){.object = object, .n = count};
    index->p = vd_malloc((count + 1) * sizeof *index->p); /* +1: never NULL */
    VD_JSON_EACH (member, object) {
        uint64_t hash = vd_stable_hash_bytes(0, vd_json_key(member));
        index->p[place] = (struct vd_key_entry){hash, member, place};
        place++;
    }
    qsort(index->p, count, sizeof *index->p, entry_order);
}

void vd_key_index_init(struct vd_key_index *index, const struct vd_json *object)
{
    if (vd_json_count(object) > VD_KEY_INDEX_MIN)
        vd_key_index_init_all(index, object);
    else
        *index = (struct vd_key_index){.object = object};
}

void vd_key_index_release(struct vd_key_index *index)
{
    free(index->p);
    *index = (struct vd_key_index){0};
}

/*
 * The hashes go into a table with open addressing. Two equal hashes are a key
 * that repeats, or a collision. A table that takes too many probes, which only
 * keys that were chosen for it can cause, is answered like a collision.
 */
bool vd_key_index_may_repeat(const struct vd_json *object)
{
    size_t size = 64, probes_left = 8 * object->n;
    while (size < 2 * object->n)
        size *= 2;
    uint64_t small[512], *table = small; /* 0 is an empty place */
    if (size > sizeof small / sizeof *small)
        table = vd_calloc(size, sizeof *table);
    else
        memset(small, 0, size * sizeof *small);
    bool repeats = false;
    for (const struct vd_json *m = object->first; m && !repeats; m = m->next) {
        uint64_t hash = vd_stable_hash_bytes(0, vd_json_key(m)) | 1;
        size_t at = (size_t)(hash >> 8) & (size - 1);
        while (table[at] && table[at] != hash && probes_left) {
            at = (at + 1) & (size - 1);
            probes_left--;
        }
        repeats = table[at] != 0;
        table[at] = hash;
    }
    if (table != small)
        free(table);
    return repeats;
}

struct vd_json *vd_key_index_get(const struct vd_key_index *index, struct vd_slice key)
{
    if (!index->p)
        return vd_json_get(index->object, key);
    uint64_t hash = vd_stable_hash_bytes(0, key);
    size_t low = 0, high = index->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (key_order(hash, key, &index->p[middle]) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < index->n && key_order(hash, key, &index->p[low]) == 0)
        return index->p[low].member;
    return NULL;
}
