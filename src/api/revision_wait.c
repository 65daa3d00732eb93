/* See revision_wait.h. */
#include "api/revision_wait.h"

#include "base/container_of.h"

void vd_revision_wait_cancel(struct vd_revision_wait *wait)
{
    vd_heap_remove(&wait->l->revision_waits, &wait->node);
    vd_timer_stop(wait->l->loop, &wait->patience);
}

/* Either way, whoever has waited sees for himself. */
static void go_on(struct vd_revision_wait *wait)
{
    vd_revision_wait_cancel(wait);
    wait->go_on(wait);
}

static void on_patience(struct vd_timer *timer)
{
    go_on(VD_CONTAINER_OF(timer, struct vd_revision_wait, patience));
}

bool vd_revision_wait(struct vd_revision_wait *wait, struct vd_api_loop *l, uint64_t revision,
                      void (*then)(struct vd_revision_wait *wait))
{
    uint64_t ms = l->env->version_wait_ms;
    if (wait->go_on || !ms || revision <= vd_store_revision(l->env->store))
        return true;
    wait->go_on = then;
    wait->l = l;
    wait->patience.fire = on_patience;
    vd_heap_push(&l->revision_waits, &wait->node, revision);
    vd_timer_set(l->loop, &wait->patience, ms);
    vd_loop_again(l->loop); /* it may have come just now */
    return false;
}

void vd_revision_waits_turn(struct vd_api_loop *l)
{
    struct vd_heap_node *node = vd_heap_peek(&l->revision_waits);
    if (!node)
        return;
    uint64_t newest = vd_store_revision(l->env->store);
    for (; node && node->key <= newest; node = vd_heap_peek(&l->revision_waits))
        go_on(VD_CONTAINER_OF(node, struct vd_revision_wait, node));
}
