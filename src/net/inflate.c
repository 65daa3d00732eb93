/* See inflate.h. zlib does the work; its memory is ours, so that it cannot fail. */
#include "net/inflate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "net/zlib_memory.h"

enum { GZIP_WINDOW = 15 + 16 }; /* the largest window, and gzip's head and tail around it */

static const char too_long[] = "the gzip body unpacks to more than is allowed";

void vd_inflate_init(struct vd_inflate *i, uint64_t len_max)
{
    *i = (struct vd_inflate){.z = {.zalloc = vd_zlib_take_memory, .zfree = vd_zlib_give_memory},
                             .piece = vd_malloc(VD_INFLATE_PIECE_LEN),
                             .len_max = len_max};
    int rc = inflateInit2(&i->z, GZIP_WINDOW);
    assert(rc == Z_OK);
    (void)rc;
}

void vd_inflate_release(struct vd_inflate *i)
{
    if (i->piece)
        inflateEnd(&i->z);
    free(i->piece);
    vd_buf_release(&i->input);
    *i = (struct vd_inflate){0};
}

void vd_inflate_add(struct vd_inflate *i, struct vd_slice bytes)
{
    size_t left = i->z.avail_in;
    assert(left + bytes.n <= UINT32_MAX); /* who adds waits until what came before is used */
    if (left)
        memmove(i->input.p, i->z.next_in, left);
    i->input.n = left;
    vd_buf_add_slice(&i->input, bytes);
    i->z.next_in = (unsigned char *)i->input.p;
    i->z.avail_in = (unsigned)i->input.n;
}

static enum vd_inflate_result break_off(struct vd_inflate *i, const char *why)
{
    i->why = why;
    return VD_INFLATE_BROKEN;
}

/* What zlib has said, for people. */
static const char *damage(const struct vd_inflate *i)
{
    static const char *const known[][2] = {
        {"incorrect header check", "the body is not gzip: incorrect header check"},
        {"incorrect data check", "the gzip body is damaged: incorrect data check"},
        {"incorrect length check", "the gzip body is damaged: incorrect length check"},
    };
    for (size_t k = 0; i->z.msg && k < sizeof known / sizeof *known; k++)
        if (strcmp(i->z.msg, known[k][0]) == 0)
            return known[k][1];
    return "the gzip body is damaged";
}

enum vd_inflate_result vd_inflate_next(struct vd_inflate *i, struct vd_slice *out)
{
    if (i->why)
        return VD_INFLATE_BROKEN;
    size_t n = 0;
    while (!i->has_ended && n == 0) {
        i->z.next_out = (unsigned char *)i->piece;
        i->z.avail_out = VD_INFLATE_PIECE_LEN;
        int rc = inflate(&i->z, Z_NO_FLUSH);
        n = VD_INFLATE_PIECE_LEN - i->z.avail_out;
        i->has_ended = rc == Z_STREAM_END;
        if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
            return break_off(i, damage(i));
        if (n == 0 && !i->has_ended && i->z.avail_in == 0)
            return VD_INFLATE_HUNGRY;
    }
    i->total += n;
    if (i->len_max && i->total > i->len_max)
        return break_off(i, too_long);
    *out = vd_slice(i->piece, n);
    if (n)
        return VD_INFLATE_PIECE;
    return i->z.avail_in ? break_off(i, "there are bytes behind the end of the gzip body")
                         : VD_INFLATE_END;
}

const char *vd_inflate_why(const struct vd_inflate *i)
{
    return i->why ? i->why : "the gzip body was cut: its end is missing";
}

bool vd_inflate_is_too_long(const struct vd_inflate *i)
{
    return i->why == too_long;
}
