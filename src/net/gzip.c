/* See gzip.h. zlib does the work; its memory is ours, so that it cannot fail. */
#include "net/gzip.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

#include "base/alloc.h"

enum {
    GZIP_WINDOW = 15 + 16, /* the largest window, and gzip's head and tail around it */
    MEMORY_LEVEL = 8,
    ROOM_MIN = 16384,
};

static void *take_memory(void *arg, unsigned n, unsigned size)
{
    (void)arg;
    return vd_realloc(NULL, n, size);
}

static void give_memory(void *arg, void *p)
{
    (void)arg;
    free(p);
}

void vd_gzip_init(struct vd_gzip *g, int level)
{
    assert(level >= 1 && level <= 9);
    *g = (struct vd_gzip){.z = {.zalloc = take_memory, .zfree = give_memory}};
    int rc = deflateInit2(&g->z, level, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
    assert(rc == Z_OK);
    (void)rc;
}

void vd_gzip_release(struct vd_gzip *g)
{
    deflateEnd(&g->z);
}

void vd_gzip_reset(struct vd_gzip *g)
{
    int rc = deflateReset(&g->z);
    assert(rc == Z_OK);
    (void)rc;
    g->ended = false;
}

/* Runs zlib until it has taken all input and, as `mode` asks, given all output. */
static void run(struct vd_gzip *g, int mode, struct vd_buf *out)
{
    do {
        vd_buf_reserve(out, ROOM_MIN);
        size_t room = out->cap - out->n - 1;
        g->z.avail_out = room < UINT_MAX ? (unsigned)room : UINT_MAX;
        g->z.next_out = (unsigned char *)out->p + out->n;
        unsigned before = g->z.avail_out;
        int rc = deflate(&g->z, mode);
        assert(rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR);
        (void)rc;
        out->n += before - g->z.avail_out;
        out->p[out->n] = 0;
    } while (g->z.avail_out == 0);
    assert(g->z.avail_in == 0);
}

void vd_gzip_add(struct vd_gzip *g, struct vd_slice data, struct vd_buf *out)
{
    assert(!g->ended);
    while (data.n) {
        size_t part = data.n < UINT_MAX ? data.n : UINT_MAX;
        g->z.next_in = (unsigned char *)(uintptr_t)data.p;
        g->z.avail_in = (unsigned)part;
        run(g, Z_NO_FLUSH, out);
        data = vd_slice(data.p + part, data.n - part);
    }
}

void vd_gzip_flush(struct vd_gzip *g, struct vd_buf *out)
{
    assert(!g->ended);
    run(g, Z_SYNC_FLUSH, out);
}

void vd_gzip_end(struct vd_gzip *g, struct vd_buf *out)
{
    assert(!g->ended);
    run(g, Z_FINISH, out);
    g->ended = true;
}

void vd_gzip_whole(struct vd_slice data, int level, struct vd_buf *out)
{
    struct vd_gzip g;
    vd_gzip_init(&g, level);
    vd_gzip_add(&g, data, out);
    vd_gzip_end(&g, out);
    vd_gzip_release(&g);
}
