/*
 * gzip (RFC 1952) of a request's body, unpacked piece by piece.
 *
 *     vd_inflate_init(&i, len_max);
 *     vd_inflate_add(&i, piece);                      when vd_inflate_next() wants input
 *     while (vd_inflate_next(&i, &out) == VD_INFLATE_PIECE)
 *         ...                                         may stop here, and go on later
 *     vd_inflate_next(&i, &out) == VD_INFLATE_END     when the body has ended, or it was cut
 *     vd_inflate_release(&i);
 *
 * A few bytes can unpack to a thousand times as much. So the output is asked for, in pieces of at
 * most VD_INFLATE_PIECE_LEN bytes, and whoever cannot take more stops asking; what was added waits
 * meanwhile in a copy. An inflater takes about 60 KB and that copy.
 *
 * One thread at a time. No I/O.
 */
#ifndef VD_NET_INFLATE_H
#define VD_NET_INFLATE_H

#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"

enum { VD_INFLATE_PIECE_LEN = 16384 }; /* bytes of output at a time, at most */

enum vd_inflate_result {
    VD_INFLATE_PIECE,  /* *out has bytes, borrowed until the next call */
    VD_INFLATE_HUNGRY, /* all input has been used: add some, or it was cut if there is none */
    VD_INFLATE_END,    /* it was whole, its checksum is right, and nothing stands behind it */
    VD_INFLATE_BROKEN, /* see vd_inflate_why() */
};

struct vd_inflate {
    z_stream z;
    struct vd_buf input; /* that was added; z has used the bytes before z.next_in */
    char *piece;         /* VD_INFLATE_PIECE_LEN bytes */
    uint64_t total, len_max;
    bool has_ended;
    const char *why;
};

/* More than `len_max` bytes of output are refused; 0: any number. */
void vd_inflate_init(struct vd_inflate *i, uint64_t len_max);
void vd_inflate_release(struct vd_inflate *i); /* also of a zeroed one */

/* The next bytes of the input; copied. */
void vd_inflate_add(struct vd_inflate *i, struct vd_slice bytes);

enum vd_inflate_result vd_inflate_next(struct vd_inflate *i, struct vd_slice *out) VD_MUST_USE;

/* What is wrong, for people: "the gzip body is damaged: incorrect data check". After
 * VD_INFLATE_BROKEN, or after VD_INFLATE_HUNGRY at the end of a body: that it was cut. */
const char *vd_inflate_why(const struct vd_inflate *i);

/* Whether it was broken by its length alone: 413 and not 400. */
bool vd_inflate_is_too_long(const struct vd_inflate *i);

#endif
