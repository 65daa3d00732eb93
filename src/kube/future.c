/*
 * Calls that ask for a revision that is to come.
 *
 * A client may have heard of a revision from elsewhere - another watch, a backup that was
 * put back - before this store has it. Such a call waits a while in its loop's heap,
 * ordered by revision; the turn that follows a commit lets go on whoever has what it
 * wants. A waiting call costs its memory and a timer, and no thread.
 */
#include "kube/call.h"

static void leave(struct vd_call *call)
{
    vd_heap_remove(&call->l->futures, &call->future.node);
    vd_timer_stop(call->l->loop, &call->future.patience);
}

/* The revision has come, or will not: either way the verb sees for itself. */
static void go_on(struct vd_call *call)
{
    leave(call);
    call->x->ops = NULL;
    call->future.go_on(call);
}

static void on_patience(struct vd_timer *timer)
{
    go_on(VD_HEAP_OWNER(timer, struct vd_call, future.patience));
}

static void on_gone(struct vd_exchange *x)
{
    struct vd_call *call = x->arg;
    leave(call);
    vd_call_free(call);
}

static void on_drained(struct vd_exchange *x)
{
    (void)x;
}

static const struct vd_exchange_ops waiting = {on_drained, on_gone};

bool vd_call_await(struct vd_call *call, uint64_t revision, void (*verb)(struct vd_call *call))
{
    uint64_t ms = call->kube->options.version_wait_ms;
    if (call->future.go_on || !ms || revision <= vd_store_revision(call->kube->store))
        return true;
    call->future.go_on = verb;
    call->future.patience.fire = on_patience;
    call->x->ops = &waiting;
    call->x->arg = call;
    vd_heap_push(&call->l->futures, &call->future.node, revision);
    vd_timer_set(call->l->loop, &call->future.patience, ms);
    vd_loop_again(call->l->loop); /* it may have come just now */
    return false;
}

void vd_kube_loop_let_go_on(struct vd_kube_loop *l)
{
    struct vd_heap_node *node = vd_heap_peek(&l->futures);
    if (!node)
        return;
    uint64_t newest = vd_store_revision(l->kube->store);
    for (; node && node->key <= newest; node = vd_heap_peek(&l->futures))
        go_on(VD_HEAP_OWNER(node, struct vd_call, future.node));
}
