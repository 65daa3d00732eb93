/* See loop_proposal.h. */
#include "api/loop_proposal.h"

#include "base/container_of.h"

/* Back on the loop. */
static void on_answered(struct vd_task *task)
{
    struct vd_loop_proposal *p = VD_CONTAINER_OF(task, struct vd_loop_proposal, answered);
    if (p->in_flight)
        --*p->in_flight;
    p->done(p);
}

/* By the writer, on its thread. */
static void proposal_done(struct vd_proposal *proposal, const struct vd_outcome *outcome)
{
    struct vd_loop_proposal *p = proposal->arg;
    p->outcome = *outcome;
    vd_loop_post(p->loop, &p->answered);
}

void vd_loop_proposal_begin(struct vd_loop_proposal *p, struct vd_loop *loop, size_t *in_flight)
{
    p->loop = loop;
    p->in_flight = in_flight;
    p->answered.run = on_answered;
    p->proposal.done = proposal_done;
    p->proposal.arg = p;
    if (in_flight)
        ++*in_flight;
}
