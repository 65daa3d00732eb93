/*
 * Git's pkt-lines: a payload behind four hexadecimal digits that count it and themselves. "0000",
 * the flush packet, has no payload and ends a list.
 *
 *     0014ok refs/heads/main        four digits and sixteen bytes
 *
 * Pure functions; any thread.
 */
#ifndef VD_GIT_PKT_LINE_H
#define VD_GIT_PKT_LINE_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/slice.h"

enum { VD_PKT_LINE_PAYLOAD_MAX = 65516 }; /* bytes of a payload, as git has it */

enum vd_pkt_line_result {
    VD_PKT_LINE_MORE, /* the bytes end before the packet does */
    VD_PKT_LINE_DONE, /* a packet was read */
    VD_PKT_LINE_BAD,  /* no pkt-line begins like this */
};

struct vd_pkt_line {
    bool flush;              /* the flush packet */
    struct vd_slice payload; /* in the bytes that were read, without a line end at its end */
    size_t len;              /* bytes of the whole packet */
};

/* Reads the packet with which the bytes begin. *out is filled for VD_PKT_LINE_DONE only. */
enum vd_pkt_line_result vd_pkt_line_read(struct vd_slice bytes,
                                         struct vd_pkt_line *out) VD_MUST_USE;

/* Adds a packet; a payload longer than VD_PKT_LINE_PAYLOAD_MAX is cut. */
void vd_pkt_line_write(struct vd_buf *out, struct vd_slice payload);
void vd_pkt_line_write_flush(struct vd_buf *out);

#endif
