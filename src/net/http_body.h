/*
 * The body of an HTTP/1.1 request: where it ends, and its bytes without framing.
 *
 * Content-Length or chunked, as the head said. The decoder works in place and
 * byte by byte: what it says does not depend on how the body arrives. It is
 * strict, like the head's parser. Trailers are checked, counted and dropped.
 */
#ifndef VD_NET_HTTP_BODY_H
#define VD_NET_HTTP_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "net/http_head.h"
#include "net/http_refusal.h"

struct vd_http_body {
    enum vd_http_refusal refusal; /* why, after VD_HTTP_REFUSED */
    uint64_t total;               /* bytes of the body given so far */

    /* The decoder's own. */
    uint64_t len_max;
    uint64_t left; /* bytes to come, of the body or of the chunk */
    uint8_t state;
    uint8_t digits;      /* of the chunk's size */
    uint16_t extensions; /* bytes of chunk extensions */
    uint16_t trailer;    /* bytes of the trailer */
};

/* The body that follows `head`, which is done; more than `len_max` bytes of it
 * are refused with 413, at once when the head tells. Nothing to release. */
void vd_http_body_init(struct vd_http_body *b, const struct vd_http_head *head, uint64_t len_max);

/*
 * Reads the next `n` bytes received at `p`. The body's bytes among them are
 * moved to the front: *got of them. *used is the number of bytes that belonged
 * to the body and its framing: all n, unless the result is DONE; then the rest,
 * left where it was, is the next request. On REFUSED both are 0 and the bytes
 * are lost. A body of no bytes is DONE in a call with n == 0. After DONE further
 * calls use nothing.
 */
enum vd_http_result vd_http_body_read(struct vd_http_body *b, char *p, size_t n, size_t *used,
                                      size_t *got) VD_MUST_USE;

#endif
