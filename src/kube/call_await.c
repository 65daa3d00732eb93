/* Calls that ask for a revision that is to come: see api/revision_wait.h. */
#include "kube/call.h"

#include "base/container_of.h"

static void go_on(struct vd_revision_wait *wait)
{
    struct vd_call *call = VD_CONTAINER_OF(wait, struct vd_call, wait);
    call->x->ops = NULL;
    call->awaited_by(call);
}

static void on_gone(struct vd_exchange *x)
{
    struct vd_call *call = x->arg;
    vd_revision_wait_cancel(&call->wait);
    vd_call_free(call);
}

static void on_drained(struct vd_exchange *x)
{
    (void)x;
}

static const struct vd_exchange_ops waiting = {on_drained, on_gone};

bool vd_call_await(struct vd_call *call, uint64_t revision, void (*verb)(struct vd_call *call))
{
    if (vd_revision_wait(&call->wait, call->l->api, revision, go_on))
        return true;
    call->awaited_by = verb;
    call->x->ops = &waiting;
    call->x->arg = call;
    return false;
}
