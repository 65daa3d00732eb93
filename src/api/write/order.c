/*
 * What a worker does of a write.
 *
 * While a worker has the write (`away` is not NULL), the loop does not touch it, and the client
 * may go. The worker does what the loop would do, with these differences: a refusal is kept until
 * the write is back, and what is proposed is handed to the loop. Users share the workers: see
 * worker_pool.h. What a webhook converts stays on the loop, to which the webhook answers. The
 * documents that a write makes of what was sent exist only while it is its turn, so that memory is
 * bounded by the workers and not by the writes that wait.
 */
#include "api/write/write_internal.h"
#include "base/container_of.h"
#include "base/limits.h"

struct vd_write_order {
    struct vd_pool_item order;  /* first */
    struct vd_account *account; /* whose order it is, with a reference; NULL: nobody's */
    struct vd_write *w;
    void (*work)(struct vd_write *w);
    void (*then)(struct vd_write *w); /* NULL: it was refused */
};

/* Whether a worker can have it: it may begin again, and no webhook answers to it. */
static bool may_leave(const struct vd_write *w)
{
    return !w->away && !w->once && !w->kind->webhook;
}

struct vd_effort vd_write_effort(const struct vd_write *w)
{
    return (struct vd_effort){.on_loop = may_leave(w)};
}

bool vd_write_is_too_long_here(const struct vd_write *w, size_t len)
{
    return len > VD_TURN_OBJECT_LEN_MAX && may_leave(w);
}

/* On a worker's thread. */
static void run(struct vd_pool_item *order)
{
    struct vd_write_order *o = VD_CONTAINER_OF(order, struct vd_write_order, order);
    o->work(o->w);
}

static void end(struct vd_write_order *o)
{
    vd_account_unref(o->account);
    o->w->away = NULL;
}

/* Back on the loop. */
static void done(struct vd_pool_item *order)
{
    struct vd_write_order *o = VD_CONTAINER_OF(order, struct vd_write_order, order);
    struct vd_write *w = o->w;
    end(o);
    if (w->cancelled)
        vd_write_finish(w, VD_WRITE_CANCELLED);
    else if (w->refusal.reason)
        vd_write_finish(w, VD_WRITE_REFUSED);
    else
        o->then(w);
}

void vd_write_order(struct vd_write *w, void (*work)(struct vd_write *w),
                    void (*then)(struct vd_write *w))
{
    struct vd_api_loop *l = w->l;
    struct vd_write_order *o = vd_arena_alloc(w->arena, sizeof *o);
    *o = (struct vd_write_order){
        .order = {.run = run, .done = done},
        .account = w->account ? vd_account_ref(w->account) : NULL,
        .w = w,
        .work = work,
        .then = then,
    };
    w->away = o;
    vd_worker_pool_add(&l->worker_pool, l->loop,
                       w->account ? vd_account_worker_flow(w->account, l->loop->index)
                                  : &l->worker_flow,
                       &o->order);
}

void vd_write_leave(struct vd_write *w)
{
    if (!w->left && w->ops->leaves)
        w->ops->leaves(w);
    w->left = true;
    vd_write_order(w, vd_write_attempt, NULL);
}

void vd_write_start_over(struct vd_write *w)
{
    w->warnings.n = w->yaml_warnings = 0;
    vd_write_leave(w);
}

void vd_write_back(struct vd_write *w, void (*then)(struct vd_write *w))
{
    w->away->then = then;
}

bool vd_write_order_cancel(struct vd_write *w)
{
    struct vd_write_order *o = w->away;
    if (!vd_pool_item_cancel(&o->order))
        return false;
    end(o);
    return true;
}
