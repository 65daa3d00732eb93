/*
 * See gzip.h. zlib does the work; its memory is ours, so that it cannot fail.
 *
 * A gzip file is a head, one deflate stream, and the checksum and length of what was
 * packed. The deflate stream is made of blocks, and a flush ends at a whole byte with
 * a block that is not the last. A compressor that is reset before each part refers to
 * nothing that came before; what it gives for one part after the other is therefore
 * one deflate stream, whoever else it worked for in between.
 */
#include "net/gzip.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "net/zlib_memory.h"

enum {
    RAW_WINDOW = -15, /* the largest window, and nothing around the deflate stream */
    MEMORY_LEVEL = 8, /* zlib's memLevel, its default */
    ROOM_MIN = 16384, /* bytes of room for output, at least */
};

void vd_gzip_init(struct vd_gzip *g, int level)
{
    assert(level >= 1 && level <= 9);
    *g = (struct vd_gzip){.z = {.zalloc = vd_zlib_take_memory, .zfree = vd_zlib_give_memory}};
    int rc = deflateInit2(&g->z, level, Z_DEFLATED, RAW_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
    assert(rc == Z_OK);
    (void)rc;
}

void vd_gzip_release(struct vd_gzip *g)
{
    deflateEnd(&g->z);
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

/* No name and no time; 255: of an unknown system. */
static void add_head(struct vd_buf *out)
{
    static const unsigned char head[] = {0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0, 255};
    vd_buf_add(out, head, sizeof head);
}

static void add_u32(struct vd_buf *out, uint32_t value)
{
    for (unsigned shift = 0; shift < 32; shift += 8)
        vd_buf_add_char(out, (char)(unsigned char)(value >> shift));
}

void vd_gzip_add(struct vd_gzip *g, struct vd_gzip_stream *s, struct vd_slice data, bool last,
                 struct vd_buf *out)
{
    int rc = deflateReset(&g->z);
    assert(rc == Z_OK);
    (void)rc;
    if (!s->begun) {
        add_head(out);
        s->begun = true;
    }
    s->len += (uint32_t)data.n;
    s->crc = (uint32_t)crc32_z(s->crc, (const unsigned char *)data.p, data.n);
    while (data.n) {
        size_t part = data.n < UINT_MAX ? data.n : UINT_MAX;
        g->z.next_in = (unsigned char *)(uintptr_t)data.p;
        g->z.avail_in = (unsigned)part;
        run(g, Z_NO_FLUSH, out);
        data = vd_slice(data.p + part, data.n - part);
    }
    run(g, last ? Z_FINISH : Z_SYNC_FLUSH, out);
    if (last) {
        add_u32(out, s->crc);
        add_u32(out, s->len);
    }
}
