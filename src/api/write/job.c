/*
 * A job: what a worker does of a write.
 *
 * While a worker has the write (`job` is not NULL), the loop does not touch it, and the client
 * may go. The worker does what the loop would do, with these differences: a refusal is kept until
 * the write is back, and what is proposed is handed to the loop. Users share the workers: see
 * worker_pool.h. What a webhook converts stays on the loop, to which the webhook answers. The
 * documents that a write makes of what was sent exist only while it is its turn, so that memory is
 * bounded by the workers and not by the writes that wait.
 */
#include "api/write/write_internal.h"
#include "base/container_of.h"
#include "base/limits.h"

struct vd_write_job {
    struct vd_pool_item item;   /* first */
    struct vd_account *account; /* whose job it is, with a reference; NULL: nobody's */
    struct vd_write *w;
    void (*work)(struct vd_write *w);
    void (*then)(struct vd_write *w); /* NULL: it was refused */
};

/* Whether a worker can have it: it may begin again, and no webhook answers to it. */
static bool may_be_offloaded(const struct vd_write *w)
{
    return !w->job && !w->once && !w->kind->webhook;
}

struct vd_effort vd_write_effort(const struct vd_write *w)
{
    return (struct vd_effort){.on_loop = may_be_offloaded(w)};
}

bool vd_write_is_too_long_here(const struct vd_write *w, size_t len)
{
    return len > VD_TURN_OBJECT_LEN_MAX && may_be_offloaded(w);
}

/* On a worker's thread. */
static void run(struct vd_pool_item *item)
{
    struct vd_write_job *j = VD_CONTAINER_OF(item, struct vd_write_job, item);
    j->work(j->w);
}

static void end(struct vd_write_job *j)
{
    vd_account_unref(j->account);
    j->w->job = NULL;
}

/* Back on the loop. */
static void done(struct vd_pool_item *item)
{
    struct vd_write_job *j = VD_CONTAINER_OF(item, struct vd_write_job, item);
    struct vd_write *w = j->w;
    end(j);
    if (w->cancelled)
        vd_write_finish(w, VD_WRITE_CANCELLED);
    else if (w->refusal.reason)
        vd_write_finish(w, VD_WRITE_REFUSED);
    else
        j->then(w);
}

void vd_write_job_start(struct vd_write *w, void (*work)(struct vd_write *w),
                        void (*then)(struct vd_write *w))
{
    struct vd_api_loop *l = w->l;
    struct vd_write_job *j = vd_arena_alloc(w->arena, sizeof *j);
    *j = (struct vd_write_job){
        .item = {.run = run, .done = done},
        .account = w->account ? vd_account_ref(w->account) : NULL,
        .w = w,
        .work = work,
        .then = then,
    };
    w->job = j;
    vd_worker_pool_add(&l->worker_pool, l->loop,
                       w->account ? vd_account_worker_flow(w->account, l->loop->index)
                                  : &l->worker_flow,
                       &j->item);
}

void vd_write_job_attempt(struct vd_write *w)
{
    if (!w->detached && w->ops->detach)
        w->ops->detach(w);
    w->detached = true;
    vd_write_job_start(w, vd_write_attempt, NULL);
}

void vd_write_job_restart(struct vd_write *w)
{
    w->warnings.n = w->yaml_warnings = 0;
    vd_write_job_attempt(w);
}

void vd_write_job_end(struct vd_write *w, void (*then)(struct vd_write *w))
{
    w->job->then = then;
}

bool vd_write_job_cancel(struct vd_write *w)
{
    struct vd_write_job *j = w->job;
    if (!vd_pool_item_cancel(&j->item))
        return false;
    end(j);
    return true;
}
