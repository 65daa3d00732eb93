/* See quarantines.h. */
#include "git/quarantines.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "base/log.h"
#include "git/leftovers.h"
#include "git/push_internal.h"
#include "kinds/uid.h"

enum {
    LOOK_MS = 500, /* from one look at the list to the next one */
    /* How much later than a push's end another one must have begun to be no concern: the time of a
     * file may be a tick of the kernel behind the clock. */
    MARGIN_MS = 100
};

/* A repository, and when a push to it was killed. */
struct vd_abandoned_push {
    struct vd_abandoned_push *next;
    struct vd_quarantines *quarantines;
    struct vd_task task; /* that brings it to loop 0 */
    char uid[VD_UID_TEXT_MAX];
    uint64_t mono_ms;      /* when it was killed ... */
    int64_t wall_ms;       /* ... and the same for files */
    uint64_t mono_ms_2;    /* the last one of those that came later; 0: there is none */
    int64_t wall_ms_2;     /* likewise */
    struct vd_error error; /* of the worker */
};

static uint64_t now_ms(void)
{
    return vd_clock_mono_ns(vd_clock_system()) / 1000000;
}

static void look(struct vd_quarantines *q);

/* ---- the worker ---- */

static void run(struct vd_work *work)
{
    struct vd_quarantines *q = VD_CONTAINER_OF(work, struct vd_quarantines, work);
    struct vd_abandoned_push *a = q->cleaned;
    a->error.code = VD_OK;
    a->error.code = (enum vd_code)vd_leftovers_remove_quarantines(q->pushes->all->root, a->uid,
                                                                  a->wall_ms, &a->error);
}

static void forget(struct vd_quarantines *q, struct vd_abandoned_push *a)
{
    struct vd_abandoned_push **at = &q->first;
    while (*at != a)
        at = &(*at)->next;
    *at = a->next;
    free(a);
}

static void on_cleaned(struct vd_work *work)
{
    struct vd_quarantines *q = VD_CONTAINER_OF(work, struct vd_quarantines, work);
    struct vd_abandoned_push *a = q->cleaned;
    q->cleaned = NULL;
    if (a->error.code)
        vd_log_warn("what a killed push has sent could not be removed; the next start removes it",
                    VD_F_STR("uid", a->uid), VD_F_ERROR(&a->error));
    else
        vd_log_info("what a killed push has sent was removed", VD_F_STR("uid", a->uid));
    if (a->mono_ms_2) {
        a->mono_ms = a->mono_ms_2;
        a->wall_ms = a->wall_ms_2;
        a->mono_ms_2 = 0;
    } else {
        forget(q, a);
    }
    look(q);
}

/* ---- the list ---- */

static bool is_due(const struct vd_quarantines *q, const struct vd_abandoned_push *a)
{
    uint64_t until_ms = a->mono_ms + MARGIN_MS;
    return now_ms() > until_ms &&
           !vd_pushes_use_before(q->pushes, vd_slice_of(a->uid), until_ms * 1000000);
}

static void look(struct vd_quarantines *q)
{
    struct vd_loop *loop = q->pushes->all->l->loop;
    if (q->cleaned || !q->first || q->pushes->is_stopped)
        return;
    for (struct vd_abandoned_push *a = q->first; a && !q->cleaned; a = a->next)
        if (is_due(q, a))
            q->cleaned = a;
    if (q->cleaned) {
        q->work.run = run;
        q->work.done = on_cleaned;
        vd_loop_work(loop, &q->work);
    } else {
        vd_timer_set(loop, &q->timer, LOOK_MS);
    }
}

static void on_timer(struct vd_timer *timer)
{
    look(VD_CONTAINER_OF(timer, struct vd_quarantines, timer));
}

static struct vd_abandoned_push *find(struct vd_quarantines *q, const char *uid)
{
    for (struct vd_abandoned_push *a = q->first; a; a = a->next)
        if (strcmp(a->uid, uid) == 0)
            return a;
    return NULL;
}

/* There is one record of a repository at most. */
static void on_abandoned(struct vd_task *task)
{
    struct vd_abandoned_push *a = VD_CONTAINER_OF(task, struct vd_abandoned_push, task);
    struct vd_quarantines *q = a->quarantines;
    struct vd_abandoned_push *known = find(q, a->uid);
    if (known) {
        known->mono_ms_2 = a->mono_ms;
        known->wall_ms_2 = a->wall_ms;
        free(a);
        return;
    }
    a->next = q->first;
    q->first = a;
    q->timer.fire = on_timer;
    if (!q->cleaned && !q->pushes->is_stopped)
        vd_timer_set(q->pushes->all->l->loop, &q->timer, LOOK_MS);
}

void vd_quarantines_abandon(struct vd_quarantines *q, struct vd_slice uid)
{
    struct vd_abandoned_push *a = VD_NEW(struct vd_abandoned_push);
    a->quarantines = q;
    a->task.run = on_abandoned;
    a->mono_ms = now_ms();
    a->wall_ms = vd_clock_wall_ms(vd_clock_system());
    memcpy(a->uid, uid.p, uid.n < sizeof a->uid ? uid.n : sizeof a->uid - 1);
    vd_loop_post(q->pushes->all->l->loop, &a->task);
}

void vd_quarantines_stop(struct vd_quarantines *q)
{
    vd_timer_stop(q->pushes->all->l->loop, &q->timer);
}

void vd_quarantines_release(struct vd_quarantines *q)
{
    while (q->first) {
        struct vd_abandoned_push *a = q->first;
        q->first = a->next;
        free(a);
    }
}
