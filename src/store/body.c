/* See body.h. */
#include "store/body.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Makes a body of the parts before and after the digits, with new digits between them. */
static struct vd_body *assemble(struct vd_slice head, struct vd_slice tail, uint64_t revision)
{
    char digits[20];
    size_t n = head.n ? vd_u64_digits(revision, digits) : 0;
    size_t len = head.n + n + tail.n;
    assert(len <= UINT32_MAX);
    struct vd_body *body = vd_malloc(sizeof *body + len);
    vd_refcount_init(&body->refs);
    body->len = (uint32_t)len;
    body->hole = (uint32_t)head.n;
    body->digits = (uint32_t)n;
    char *at = body->bytes;
    if (head.n)
        memcpy(at, head.p, head.n);
    memcpy(at + head.n, digits, n);
    if (tail.n)
        memcpy(at + head.n + n, tail.p, tail.n);
    return body;
}

struct vd_body *vd_body_new(struct vd_template from, uint64_t revision)
{
    assert(from.hole <= from.bytes.n);
    return assemble(vd_slice(from.bytes.p, from.hole), vd_slice_from(from.bytes, from.hole),
                    revision);
}

struct vd_body *vd_body_restamp(const struct vd_body *body, uint64_t revision)
{
    struct vd_slice all = vd_body_slice(body);
    return assemble(vd_slice(all.p, body->hole), vd_slice_from(all, body->hole + body->digits),
                    revision);
}

bool vd_body_is_made_from(const struct vd_body *body, struct vd_template from)
{
    struct vd_slice all = vd_body_slice(body);
    struct vd_slice tail = vd_slice_from(all, body->hole + body->digits);
    return body->hole == from.hole && vd_slice_eq(tail, vd_slice_from(from.bytes, from.hole)) &&
           memcmp(all.p, from.bytes.p, from.hole) == 0;
}

struct vd_body *vd_body_ref(struct vd_body *body)
{
    vd_ref(&body->refs);
    return body;
}

void vd_body_unref(struct vd_body *body)
{
    if (body && vd_unref(&body->refs))
        free(body);
}

static void release_body(void *body)
{
    vd_body_unref(body);
}

struct vd_bytes *vd_body_bytes(struct vd_body *body)
{
    return vd_bytes_view(vd_body_slice(body), release_body, vd_body_ref(body));
}
