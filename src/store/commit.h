/*
 * A commit, as the subscribers of a store are told of it, and the subscribers.
 *
 * The writer makes one commit of each group that it has written, and one of each atomic batch that
 * another process has written to the same log.
 */
#ifndef VD_STORE_COMMIT_H
#define VD_STORE_COMMIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/refcount.h"
#include "store/event.h"

struct vd_store;

/* The changes of one commit, all visible by now, in order. Shared and immutable; a subscriber that
 * keeps it takes a reference. */
struct vd_commit {
    struct vd_refcount refs;
    uint64_t after;    /* the newest revision before this commit */
    uint64_t revision; /* of its last change */
    uint64_t mono_ns;  /* when it became visible */
    size_t n;
    struct vd_change changes[];
};

struct vd_commit *vd_commit_ref(struct vd_commit *commit);
void vd_commit_unref(struct vd_commit *commit); /* NULL allowed */

/* The writer calls `committed`, on whatever thread it runs, once per commit and before the
 * proposers are answered. The function must only hand the commit over and return. */
struct vd_subscriber {
    void (*committed)(struct vd_subscriber *subscriber, struct vd_commit *commit);
    struct vd_subscriber *next; /* owned by the store */
};

/* From now on the subscriber is told of every commit after the revision that is returned. */
uint64_t vd_store_subscribe(struct vd_store *store, struct vd_subscriber *subscriber);

/* When this returns, the subscriber's function is not running and will not be called again. */
void vd_store_unsubscribe(struct vd_store *store, struct vd_subscriber *subscriber);

#endif
