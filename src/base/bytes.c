/* See bytes.h. */
#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct vd_bytes *vd_bytes_new(size_t len)
{
    struct vd_bytes *bytes = vd_malloc(sizeof *bytes + len);
    vd_refcount_init(&bytes->refs);
    bytes->len = len;
    bytes->data = (char *)(bytes + 1);
    bytes->owner = NULL;
    bytes->release = NULL;
    bytes->payer = NULL;
    bytes->payer_waits = 0;
    return bytes;
}

struct vd_bytes *vd_bytes_view(struct vd_slice of, void (*release)(void *owner), void *owner)
{
    struct vd_bytes *bytes = vd_bytes_new(0);
    bytes->len = of.n;
    bytes->data = (char *)(uintptr_t)of.p; /* to be read only */
    bytes->owner = owner;
    bytes->release = release;
    return bytes;
}

struct vd_bytes *vd_bytes_copy(struct vd_slice from)
{
    struct vd_bytes *bytes = vd_bytes_new(from.n);
    if (from.n)
        memcpy(bytes->data, from.p, from.n);
    return bytes;
}

struct vd_bytes *vd_bytes_take(struct vd_buf *from)
{
    struct vd_bytes *bytes = vd_bytes_view(vd_buf_slice(from), free, from->p);
    *from = (struct vd_buf){0};
    return bytes;
}

struct vd_bytes *vd_bytes_ref(struct vd_bytes *bytes)
{
    vd_ref(&bytes->refs);
    return bytes;
}

void vd_bytes_unref(struct vd_bytes *bytes)
{
    if (!bytes || !vd_unref(&bytes->refs))
        return;
    if (bytes->release)
        bytes->release(bytes->owner);
    free(bytes);
}
