/*
 * A batch: writes of several objects, of any kinds, that are made together or not at all.
 *
 *     struct vd_write_batch b = {.l = loop, .done = done, .dry_run = false};
 *     vd_write_batch_init(&b, writes, n);        each filled in as for itself
 *     vd_write_batch_start(&b);
 *     ...                                         done(&b): b.result; writes[i]->result, ->refusal
 *     vd_write_batch_release(&b);
 *
 * Every member goes the whole way of a write, so that all that is wrong with any of them is known
 * at once: each member that was refused says so itself. What is judged is the state that the batch
 * would make: an object may come into a namespace that another member creates, and may not come
 * into one that another member deletes. If no member is refused, all are one proposal: their events
 * become visible together.
 *
 * If somebody else was faster, the members are made again from what is there now, unless the one
 * that lost means a certain version: then it is refused, and so is the batch.
 *
 * An object is changed by one member at most. A member's kind must exist before the batch: the
 * kinds of definitions that it creates do not yet.
 */
#ifndef VD_API_BATCH_H
#define VD_API_BATCH_H

#include "api/write.h"

enum vd_batch_result {
    VD_BATCH_DONE,      /* all of it, or, in a dry run, all of it could be */
    VD_BATCH_REFUSED,   /* none of it: at least one member says why */
    VD_BATCH_CANCELLED, /* what was proposed by then stands */
};

struct vd_write_batch {
    /* ---- the caller's, before it is started ---- */
    struct vd_api_loop *l;
    bool dry_run;
    void (*done)(struct vd_write_batch *b); /* on the loop, once */

    /* ---- the outcome, when `done` is called ---- */
    enum vd_batch_result result;
    size_t refused;    /* members that were refused */
    uint64_t revision; /* of the last of them; a dry run has none */
    bool changed;      /* false: all of it was so already */

    /* ---- private ---- */
    struct vd_write **members;
    size_t n;
    struct vd_write **order;    /* in which they are made */
    size_t next;                /* of that order, to be made */
    struct vd_write *waits_for; /* is being made; NULL: none */
    bool in_step;               /* a turn is making members */
    bool cancelled;
    unsigned attempts;
    VD_VEC(struct vd_write *) namespaces; /* members that change a namespace */
    VD_VEC(struct vd_wish) wishes;
    VD_VEC(struct vd_write *) owners;        /* of each wish, the member, ... */
    VD_VEC(struct vd_wish_subject) subjects; /* ... and what is known of the object */
    struct vd_arena arena;
    struct vd_loop_proposal proposal;
    struct vd_task task; /* goes on with the members in a later turn */
};

/* Makes the writes, all of one user, members of the batch, which borrows them and the list until
 * `done`. Their `ops` need no `done`: it is not called. Only the batch's `dry_run` counts. */
void vd_write_batch_init(struct vd_write_batch *b, struct vd_write **members, size_t n);

/* On the loop; `done` may be called at once. */
void vd_write_batch_start(struct vd_write_batch *b);

/* On the loop, once, after it was started and before `done`: nobody waits for it any more. */
void vd_write_batch_cancel(struct vd_write_batch *b);

/* Of one that is done or was never started. The members are the caller's to release. */
void vd_write_batch_release(struct vd_write_batch *b);

#endif
