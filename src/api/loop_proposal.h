/*
 * A proposal on its way from a loop to the store and back. The store answers on its writer's
 * thread, which may be the loop's own; `done` is called on the loop. The memory belongs to the
 * store until then.
 */
#ifndef VD_API_LOOP_PROPOSAL_H
#define VD_API_LOOP_PROPOSAL_H

#include <stddef.h>

#include "net/loop.h"
#include "store/proposal.h"

struct vd_loop_proposal {
    struct vd_proposal proposal; /* the wishes and their number are the caller's to set */
    void (*done)(struct vd_loop_proposal *p);
    struct vd_outcome outcome; /* when `done` is called */
    /* Private: */
    struct vd_loop *loop;
    size_t *in_flight; /* is counted down when it is answered; NULL: nothing is */
    struct vd_task answered;
};

/* Sees to it that the answer comes to the loop; then the proposal can be proposed. `in_flight`, if
 * it is not NULL, is counted up now and down when the answer is there. On the loop. */
void vd_loop_proposal_begin(struct vd_loop_proposal *p, struct vd_loop *loop, size_t *in_flight);

#endif
