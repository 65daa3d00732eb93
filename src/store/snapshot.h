/*
 * A snapshot: the objects of a resource as of one revision, in path order, read in
 * pieces. However long it takes and whatever is written meanwhile, all pieces
 * show the same state - or the reading ends with VD_ERR_EXPIRED, when the window
 * has moved past the revision.
 *
 * A page of a list is a piece; its position (revision and path) is all that a
 * continue token needs.
 */
#ifndef VD_STORE_SNAPSHOT_H
#define VD_STORE_SNAPSHOT_H

#include "base/buf.h"
#include "store/store.h"

struct vd_snapshot {
    struct vd_store *store;
    uint64_t revision; /* the state shown; never inside an atomic batch */
    struct vd_buf resource;
    struct vd_buf prefix; /* only paths that start with it: "" all, "default/" one namespace */
    struct vd_buf after;  /* the path that was given last */
    bool done;            /* nothing is left */
};

/*
 * `revision` 0 is the newest. One inside an atomic batch becomes the batch's end: nobody sees half
 * of it. `after` is the path to continue after; empty: from the start. VD_ERR_EXPIRED,
 * VD_ERR_FUTURE.
 */
int vd_snapshot_open(struct vd_snapshot *snapshot, struct vd_store *store, struct vd_slice resource,
                     struct vd_slice prefix, uint64_t revision, struct vd_slice after,
                     struct vd_error *error) VD_MUST_USE;
void vd_snapshot_release(struct vd_snapshot *snapshot);

/*
 * Gives references to the next objects, at most `max`, and their number in *n. It stops early once
 * their bodies have reached VD_READ_STEP_BYTES, so that one call gives at most one body more than
 * that. *n may be 0 though snapshot->done is not set: the entries that one call looks at are
 * bounded, and none of them existed. VD_ERR_CORRUPT names an object whose bytes are damaged, and
 * passes it: the next call goes on after it.
 */
int vd_snapshot_next(struct vd_snapshot *snapshot, struct vd_event **events, size_t max, size_t *n,
                     struct vd_error *error) VD_MUST_USE;

/* How many objects are left, without moving. */
int vd_snapshot_remaining(const struct vd_snapshot *snapshot, size_t *count,
                          struct vd_error *error) VD_MUST_USE;

#endif
