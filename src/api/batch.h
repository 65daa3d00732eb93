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
 * would make:
 *
 *  - An object may come into a namespace that another member creates, and may not come into one
 *    that another member deletes.
 *  - An object may be of a kind whose definition another member creates or changes, and must not be
 *    of one whose definition another member deletes. Its kind is in no registry yet: the caller
 *    takes it from a set that vd_definition_plan() has made (api/definition_plan.h). When `done` is
 *    called the registry shows the definitions that were written.
 *  - A binding may name a role that another member creates or changes: the user's rights are
 *    compared with that role.
 *
 * If no member is refused, all are one proposal: their events become visible together. The events
 * come in the order of the members, but that a namespace and a definition come before what needs
 * them, and, when they are deleted, behind the deletions of what is in them. A member that changes
 * nothing has no event.
 *
 * If somebody else was faster, those members are made again whose object, namespace or definition
 * is another one now, unless the one that lost means a certain version: then it is refused, and so
 * is the batch.
 *
 * The caller may have looked at all objects of a kind before it has started the batch. It says so
 * by a condition: if one of them has changed since, the batch ends with VD_BATCH_OUTDATED, and the
 * caller looks again and restarts it.
 *
 * A member that creates a namespace, a definition or a role says its name in `name` or `document`.
 * An object is changed by one member at most. The members are made in slices of a turn of the loop;
 * while that is done, no more is kept of a member than what is proposed.
 *
 * Limits: VD_BATCH_CHANGES_MAX members with the conditions on their namespaces and definitions, and
 * VD_BATCH_BYTES_MAX bytes of what they put. A batch that goes beyond is refused, and the member
 * that does so says VD_REFUSED_TOO_LARGE.
 */
#ifndef VD_API_BATCH_H
#define VD_API_BATCH_H

#include "api/write.h"

enum vd_batch_result {
    VD_BATCH_DONE,      /* all of it, or, in a dry run, all of it could be */
    VD_BATCH_REFUSED,   /* none of it: at least one member says why */
    VD_BATCH_CANCELLED, /* what was proposed by then stands */
    VD_BATCH_OUTDATED,  /* none of it: a condition does not hold any more */
};

/* No object of the resource has changed since the revision. */
struct vd_batch_condition {
    struct vd_slice resource;
    uint64_t revision;
};

struct vd_batch_state;

struct vd_write_batch {
    /* ---- the caller's, before it is started ---- */
    struct vd_api_loop *l;
    bool dry_run;
    void (*done)(struct vd_write_batch *b); /* on the loop, once */
    void *arg;                              /* the caller's own */
    /* What must hold when the batch is committed, besides what its members want; borrowed. A dry
     * run does not look at it. */
    const struct vd_batch_condition *conditions;
    size_t conditions_n;

    /* ---- the outcome, when `done` is called ---- */
    enum vd_batch_result result;
    size_t refused;          /* members that were refused */
    uint64_t revision_first; /* of the first event; 0: there is none, as in a dry run */
    uint64_t revision;       /* of the last */
    bool changed;            /* false: all of it was so already */
    /* How many members have come to each result, or would, if the batch were not refused. Members
     * that write a status are made last, so that their `make` can look here. */
    size_t counts[VD_WRITE_RESULTS];

    /* ---- private ---- */
    struct vd_batch_state *state;
};

/* Makes the writes, all of one user and author, members of the batch, which borrows them and the
 * list until it is released. Their `arena` is the batch's from now on: what `read`, `make` and
 * `stamp` allocate there is gone when the member has been made, and refusals and warnings stay
 * until the batch is released. Their `ops` need no `done`: it is not called. Only the batch's
 * `dry_run` counts. */
void vd_write_batch_init(struct vd_write_batch *b, struct vd_write **members, size_t n);

/* On the loop; `done` may be called at once. */
void vd_write_batch_start(struct vd_write_batch *b);

/* On the loop, when it has ended with VD_BATCH_OUTDATED and the conditions are new ones: it is
 * proposed again. Of the members those are made again whose objects have changed. `done` is called
 * again. */
void vd_write_batch_restart(struct vd_write_batch *b);

/* On the loop, once, after it was started and before `done`: nobody waits for it any more. `done`
 * comes with VD_BATCH_CANCELLED, maybe at once. */
void vd_write_batch_cancel(struct vd_write_batch *b);

/* Of one that is done or was never started. The members are the caller's to release; what their
 * refusals, warnings and bodies point to is gone. */
void vd_write_batch_release(struct vd_write_batch *b);

#endif
