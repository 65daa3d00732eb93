/* See arena.h. Chunks double up to a ceiling; a big request gets its own. */
#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum {
    CHUNK_MIN = 4096,    /* bytes of the first chunk */
    CHUNK_MAX = 1 << 20, /* bytes of a chunk, unless one allocation needs more */
};

struct vd_arena_chunk {
    _Alignas(16) struct vd_arena_chunk *next;
    size_t size; /* of data[] */
    _Alignas(16) char data[];
};

static void chunk_use(struct vd_arena *a, struct vd_arena_chunk *c)
{
    a->at = c->data;
    a->end = c->data + c->size;
}

void *vd_arena_alloc_slow(struct vd_arena *a, size_t size)
{
    size_t want = a->chunks ? a->chunks->size * 2 : CHUNK_MIN;
    if (want > CHUNK_MAX)
        want = CHUNK_MAX;
    if (want < size)
        want = size;
    struct vd_arena_chunk *c = vd_malloc(sizeof *c + want);
    c->size = want;
    c->next = a->chunks;
    a->chunks = c;
    a->total += sizeof *c + want;
    chunk_use(a, c);
    void *p = a->at;
    a->at += size;
    return p;
}

void vd_arena_reserve(struct vd_arena *a, size_t size)
{
    assert(!a->chunks);
    struct vd_arena_chunk *c = vd_malloc(sizeof *c + size);
    *c = (struct vd_arena_chunk){.size = size};
    a->chunks = c;
    a->total = sizeof *c + size;
    chunk_use(a, c);
}

size_t vd_arena_used(const struct vd_arena *a)
{
    return a->total - (size_t)(a->end - a->at);
}

struct vd_slice vd_arena_copy(struct vd_arena *a, struct vd_slice s)
{
    char *p = vd_arena_alloc(a, s.n + 1);
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = 0;
    return vd_slice(p, s.n);
}

void vd_arena_reset(struct vd_arena *a)
{
    struct vd_arena_chunk *keep = NULL;
    for (struct vd_arena_chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        if (!keep || c->size > keep->size) {
            free(keep);
            keep = c;
        } else {
            free(c);
        }
    }
    *a = (struct vd_arena){.chunks = keep};
    if (!keep)
        return;
    keep->next = NULL;
    a->total = sizeof *keep + keep->size;
    chunk_use(a, keep);
}

void vd_arena_release(struct vd_arena *a)
{
    for (struct vd_arena_chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    *a = (struct vd_arena){0};
}
