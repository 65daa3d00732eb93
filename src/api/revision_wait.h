/*
 * Waiting for a revision that is to come.
 *
 * A client may have heard of a revision from elsewhere - another watch, a backup that was put back
 * - before this store has it. Whoever reads at such a revision waits a while in its loop's heap,
 * ordered by revision; the turn that follows a commit lets go on whoever has what it wants. Who
 * waits costs its memory and a timer, and no thread.
 */
#ifndef VD_API_REVISION_WAIT_H
#define VD_API_REVISION_WAIT_H

#include "api/loop.h"

/* Embedded in whatever waits. Zeroed, it does not. */
struct vd_revision_wait {
    /* Called once, on the loop: the revision has come, or will not. Not NULL: it waits, or has
     * waited. */
    void (*go_on)(struct vd_revision_wait *wait);
    /* Private: */
    struct vd_api_loop *l;
    struct vd_heap_node node;
    struct vd_timer patience;
};

/* True: there is such a revision, or it was waited for long enough. False: `go_on` is called when
 * that is so. */
bool vd_revision_wait(struct vd_revision_wait *wait, struct vd_api_loop *l, uint64_t revision,
                      void (*go_on)(struct vd_revision_wait *wait)) VD_MUST_USE;

/* It will not be called. */
void vd_revision_wait_cancel(struct vd_revision_wait *wait);

/* Every turn: wakes those whose revision has come. */
void vd_revision_waits_turn(struct vd_api_loop *l);

#endif
