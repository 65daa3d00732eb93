/*
 * A scan: all stored objects of all kinds, as of one revision, in bounded pieces. For a controller
 * that looks for objects which no index leads to, and has time.
 *
 *     struct vd_object_scan scan = {0};
 *     vd_object_scan_begin(&scan, store, kinds);
 *     while (!vd_object_scan_next(&scan, events, 64, &n) && !scan.done) ...
 *     vd_object_scan_end(&scan);
 *
 * Kinds are those of the moment in which the scan begins. One thread at a time; between two calls
 * nothing is held but the set of kinds.
 */
#ifndef VD_API_OBJECT_SCAN_H
#define VD_API_OBJECT_SCAN_H

#include "kinds/kinds.h"
#include "store/snapshot.h"
#include "store/store.h"

/* `= {0}` is at rest. */
struct vd_object_scan {
    bool done; /* there are no more */
    /* Private: */
    struct vd_store *store;
    struct vd_kind_set *kinds;
    size_t kind_at;
    struct vd_snapshot snapshot;
    bool is_open; /* the snapshot */
    uint64_t revision;
};

/* From the first object on, also if a scan was under way. */
void vd_object_scan_begin(struct vd_object_scan *scan, struct vd_store *store,
                          struct vd_kinds *kinds);

/* A reference to each of the next objects, at most `max`; *n may be 0 before the end. When all have
 * been given, `done` is set. VD_ERR_EXPIRED: the window has passed the scan, which has to begin
 * again; VD_ERR_CORRUPT: an object cannot be read, and is passed over by the next call. */
int vd_object_scan_next(struct vd_object_scan *scan, struct vd_event **out, size_t max, size_t *n,
                        struct vd_error *error) VD_MUST_USE;

/* Lets go of all. At rest it does nothing. */
void vd_object_scan_end(struct vd_object_scan *scan);

#endif
