/*
 * gzip (RFC 1952), for answers that are large enough to be worth it.
 *
 *     vd_gzip_init(&g, VD_GZIP_LEVEL);
 *     vd_gzip_add(&g, part, &out); ...        as often as there is more
 *     vd_gzip_flush(&g, &out);                a reader can now decode all of it
 *     vd_gzip_end(&g, &out);                  the last bytes
 *     vd_gzip_release(&g);
 *
 * Output is added to a buffer of the caller, who may send and reset it after any
 * call. A compressor takes about 270 KB while it lives. One owner at a time.
 */
#ifndef VD_NET_GZIP_H
#define VD_NET_GZIP_H

#include <stdbool.h>
#include <zlib.h>

#include "base/buf.h"

/* Fast rather than small; Kubernetes uses 4. `make bench TEST=net` compares them. */
enum { VD_GZIP_LEVEL = 1 };

struct vd_gzip {
    z_stream z;
    bool ended;
};

/* `level` is 1 (fast) to 9 (small). */
void vd_gzip_init(struct vd_gzip *g, int level);
void vd_gzip_release(struct vd_gzip *g);

/* Starts anew, with the same memory. */
void vd_gzip_reset(struct vd_gzip *g);

void vd_gzip_add(struct vd_gzip *g, struct vd_slice data, struct vd_buf *out);

/* What was added so far can be decoded from the output so far. Costs about five
 * bytes, and compression. */
void vd_gzip_flush(struct vd_gzip *g, struct vd_buf *out);

/* The end; then only reset or release. */
void vd_gzip_end(struct vd_gzip *g, struct vd_buf *out);

/* All at once: a whole body. */
void vd_gzip_whole(struct vd_slice data, int level, struct vd_buf *out);

#endif
