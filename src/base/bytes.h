/*
 * Bytes that many may hold: immutable once they are shared, and counted.
 *
 * The same event bytes go to a thousand watchers as a thousand references.
 */
#ifndef VD_BASE_BYTES_H
#define VD_BASE_BYTES_H

#include "base/attributes.h"
#include "base/buf.h"
#include "base/refcount.h"

struct vd_bytes {
    struct vd_refcount refs;
    size_t len;
    char *data; /* lies behind this struct, or belongs to the owner */
    void *owner;
    void (*release)(void *owner); /* NULL: there is no owner */
    /* These two belong to src/net/output.h and are used on the one loop that sends the bytes: the
     * account that is charged for them, and in how many of its output queues they wait. The account
     * is charged once, however many these are. */
    void *payer;
    size_t payer_waits;
};

/* Uninitialised, for the creator to fill before anyone else sees it. */
struct vd_bytes *vd_bytes_new(size_t len) VD_MUST_USE;

/* A copy of what the slice holds. */
struct vd_bytes *vd_bytes_copy(struct vd_slice from) VD_MUST_USE;

/* Bytes that belong to something else, which stays until the last reference to them has gone:
 * then release(owner) is called. They must not change. */
struct vd_bytes *vd_bytes_view(struct vd_slice of, void (*release)(void *owner),
                               void *owner) VD_MUST_USE;

struct vd_bytes *vd_bytes_ref(struct vd_bytes *bytes);
void vd_bytes_unref(struct vd_bytes *bytes); /* NULL allowed */

#endif
