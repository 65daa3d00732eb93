/*
 * gzip (RFC 1952), for answers that are large enough to be worth it.
 *
 *     vd_gzip_init(&g, VD_GZIP_LEVEL);
 *     struct vd_gzip_stream s = {0};
 *     vd_gzip_add(&g, &s, part, false, &out); ...     as often as there is more
 *     vd_gzip_add(&g, &s, part, true, &out);          the last part, which may be empty
 *     vd_gzip_release(&g);
 *
 * A compressor takes about 270 KB; a stream, which is one answer, a few bytes. Each
 * part is compressed by itself, so that one compressor serves any number of streams
 * in turns, and all that was added can be decoded from the output so far. Parts of
 * 100 KB lose next to nothing by it.
 *
 * Output is added to a buffer of the caller, who may send and reset it after any
 * call. One thread at a time.
 */
#ifndef VD_NET_GZIP_H
#define VD_NET_GZIP_H

#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#include "base/buf.h"

/* Fast rather than small, as in Kubernetes. `make bench TEST=net` compares them. */
enum { VD_GZIP_LEVEL = 1 };

struct vd_gzip {
    z_stream z;
};

/* `= {0}` has not begun. */
struct vd_gzip_stream {
    bool begun;
    uint32_t crc; /* of all that was added */
    uint32_t len; /* modulo 2^32 */
};

/* `level` is 1 (fast) to 9 (small). */
void vd_gzip_init(struct vd_gzip *g, int level);
void vd_gzip_release(struct vd_gzip *g);

/* The next part of a stream; nothing follows the last. Adds at least a byte. */
void vd_gzip_add(struct vd_gzip *g, struct vd_gzip_stream *s, struct vd_slice data, bool last,
                 struct vd_buf *out);

#endif
