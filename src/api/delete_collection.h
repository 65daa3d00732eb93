/*
 * Deleting a collection: every object that a list of the same selection would show is deleted, or
 * marked if it has finalizers.
 *
 *     d->l = loop; d->kind = ...;                    the first part of the struct
 *     vd_delete_collection_start(d);
 *     ...                                            d->done(d): d->result
 *     vd_delete_collection_release(d);
 *
 * It is done in pieces, each an atomic change; the whole is not atomic. A piece lists on from the
 * last name of the one before, at the newest revision: a snapshot for all of them would be expired
 * by the deletions themselves once there are more of them than the window holds. So whatever was
 * there at the beginning goes, as it is when its piece comes; what was created meanwhile stays, but
 * for what has been changed since; one that is gone, or has been replaced by another of its name,
 * is passed over. When it is cancelled, the pieces that were done stay done.
 *
 * A piece is bounded by number and bytes, and so is what is kept of the objects for an answer:
 * nothing of it when they are more than VD_CLEARED_BYTES_MAX.
 *
 * All on the loop's thread.
 */
#ifndef VD_API_DELETE_COLLECTION_H
#define VD_API_DELETE_COLLECTION_H

#include "api/loop.h"
#include "base/arena.h"
#include "kinds/admission.h"
#include "watch/filter.h"

enum vd_delete_collection_result {
    VD_COLLECTION_DELETED,
    VD_COLLECTION_OWNED_BY_GIT, /* `claim` says which object, and whose it is */
    VD_COLLECTION_IN_USE,       /* an object owns others, `error` says which */
    VD_COLLECTION_FAILED,       /* `error` says why; VD_ERR_FORBIDDEN: api/cascade.h */
    VD_COLLECTION_CANCELLED,
};

struct vd_delete_collection {
    /* ---- the caller's, before it is started; all of it is borrowed until `done` ---- */
    struct vd_api_loop *l;
    void (*done)(struct vd_delete_collection *d); /* once, maybe before the start returns */
    struct vd_kind_set *kinds;
    const struct vd_kind *kind;
    struct vd_filter *filter;
    const struct vd_user *user;
    struct vd_slice namespace;   /* the namespace; empty: all */
    struct vd_slice propagation; /* "Foreground", "Orphan" */
    struct vd_slice begin;       /* the path that it begins behind; empty: from the start */
    uint64_t revision;           /* what was created later stays; 0: the newest */
    uint64_t limit;              /* objects at most; 0: all */
    bool dry_run;
    bool cancelled; /* may be set until `done`, which then comes in a later turn */

    /* ---- the outcome, when `done` is called ---- */
    enum vd_delete_collection_result result;
    struct vd_error error;
    struct vd_git_claim claim;
    VD_VEC(struct vd_event *) listed; /* references: the objects, unless they are too many */
    size_t listed_bytes;              /* of their bodies, also when they are too many */
    uint64_t count;                   /* of all that match */
    bool more;           /* the limit was reached; the next request begins behind `after` */
    struct vd_buf after; /* the path that was passed last */

    /* ---- private ---- */
    struct vd_attributes attributes;
    struct vd_buf prefix;
    uint64_t left;                   /* of the limit; UINT64_MAX: no limit */
    bool ended;                      /* nothing is behind `after` */
    VD_VEC(struct vd_event *) piece; /* references */
    struct vd_arena arena;           /* of the piece */
    VD_VEC(struct vd_wish) wishes;
    VD_VEC(struct vd_slice)
    cascades;                     /* Repositories of which it has to be asked whether the user
                                     may delete what they own; in the arena */
    struct vd_pool_item checking; /* that, on a worker's thread */
    struct vd_loop_proposal proposal;
    struct vd_task task; /* goes on in a later turn */
    unsigned attempts;
};

void vd_delete_collection_start(struct vd_delete_collection *d);

/* When it is done, or was never started. */
void vd_delete_collection_release(struct vd_delete_collection *d);

#endif
