/* See loop.h. */
#include "api/loop.h"

#include <assert.h>

#include "api/revision_wait.h"
#include "base/container_of.h"

enum {
    TURN_DELIVERIES = 4096,  /* what a turn gives to watchers that are behind ... */
    SHARED_DELIVERIES = 256, /* ... when several users take turns, */
    SHARED_WATCHES = 64,     /* and to how many watches, then, an event goes in one turn, ... */
    ALONE_WATCHES = 512,     /* ... or when there is one user: others may yet come */
    LAG_MS = 25,             /* so late may watchers be while the loop makes new writes, ... */
    SHARED_LAG_MS = 1000,    /* ... also others' */
    LONE_SYNCS = 16,         /* over as many, about, the mean time of a sync is taken: ... */
    LONE_SYNC_US_MAX = 1000, /* ... above this, the loop had better not wait, ... */
    LONE_PAUSE = 1000,       /* ... and as many writes are handed over before it tries again */
    HOLD_MS = 1,             /* how long events may wait for those of writes in flight */
};

void vd_api_loop_propose(struct vd_api_loop *l, struct vd_loop_proposal *p,
                         struct vd_admitted *admitted, bool alone)
{
    assert((void *)admitted == &p->proposal);
    if (!l->proposals.first)
        vd_loop_again(l->loop); /* an answer that has left may have let the request through */
    vd_loop_proposal_begin(p, l->loop, &l->in_flight);
    vd_admitted_list_add(&l->proposals, admitted);
    l->alone = alone;
}

/*
 * Whether this is the only write, of the loop's only client, and there is nothing to tell. Then the
 * loop has nothing else to do, and may wait for the disk itself: handing the write to another
 * thread and back takes a third of the time of a sync. Only who connects meanwhile waits, too.
 */
static bool is_lone(struct vd_api_loop *l, const struct vd_admitted_list *list)
{
    if (list->first != list->last || l->in_flight != 1 || !l->alone ||
        vd_registry_serving_ns(l->registry))
        return false;
    if (!l->handovers)
        return true;
    l->handovers--;
    return false;
}

/* Answers what it has committed. Where syncs are slow it is some time before it tries again: there
 * a handover is nothing. */
static void propose_here(struct vd_api_loop *l, struct vd_admitted *proposal)
{
    uint64_t start_ns = vd_clock_mono_ns(l->env->clock);
    if (!vd_store_propose_here(l->env->store, proposal))
        return;
    uint64_t took_ns = vd_clock_mono_ns(l->env->clock) - start_ns;
    l->lone_sync_ns += took_ns / LONE_SYNCS - l->lone_sync_ns / LONE_SYNCS;
    if (l->lone_sync_ns > LONE_SYNC_US_MAX * UINT64_C(1000)) {
        l->lone_sync_ns = 0;
        l->handovers = LONE_PAUSE;
    }
    vd_loop_run_posted(l->loop);
}

/* What the requests of this turn want to write goes to the writer at once, so that it
 * shares a sync. */
static void propose(struct vd_api_loop *l)
{
    struct vd_admitted_list list = l->proposals;
    if (!list.first)
        return;
    l->proposals = (struct vd_admitted_list){0};
    if (is_lone(l, &list))
        propose_here(l, list.first);
    else
        vd_store_propose_all(l->env->store, &list);
}

/* Whether new events had better wait for those that this loop's own writes are about to
 * make: sending to a thousand watchers twice costs twice. It also lets a write's answer
 * go out ahead of a thousand copies of its event. */
static bool should_hold(struct vd_api_loop *l)
{
    uint64_t since_ns = l->in_flight ? vd_registry_waiting_ns(l->registry) : 0;
    if (!since_ns || vd_clock_mono_ns(l->env->clock) - since_ns >= HOLD_MS * UINT64_C(1000000))
        return false;
    if (!vd_timer_is_set(&l->hold))
        vd_timer_set(l->loop, &l->hold, HOLD_MS);
    return true;
}

static void on_hold(struct vd_timer *timer)
{
    (void)timer; /* a turn is all that it is for */
}

/* Whether the loop should first finish telling of the last writes. It has one thread for both:
 * writers who never wait for it would leave the watchers behind, further with each write, until
 * the window has passed them. Nobody waits for a client here. */
static bool lags(const struct vd_api_loop *l, bool shared)
{
    uint64_t since_ns = vd_registry_serving_ns(l->registry);
    uint64_t lag_ms = shared ? SHARED_LAG_MS : LAG_MS;
    return since_ns && vd_clock_mono_ns(l->env->clock) - since_ns >= lag_ms * 1000000u;
}

static bool turn(struct vd_turn_hook *hook)
{
    struct vd_api_loop *l = VD_CONTAINER_OF(hook, struct vd_api_loop, hook);
    bool shared = vd_turn_queue_is_shared(&l->turn_queue);
    vd_revision_waits_turn(l);
    if (!lags(l, shared))
        propose(l);
    vd_registry_hold(l->registry, should_hold(l));
    vd_registry_limit_turn(l->registry, shared ? SHARED_WATCHES : ALONE_WATCHES);
    bool again = vd_registry_turn(l->registry, shared ? SHARED_DELIVERIES : TURN_DELIVERIES);
    return again || l->proposals.first;
}

/* Behind the hook that flushes connections. */
static bool after_turn(struct vd_turn_hook *hook)
{
    struct vd_api_loop *l = VD_CONTAINER_OF(hook, struct vd_api_loop, after);
    struct vd_registry_stats stats;
    vd_registry_stats(l->registry, &stats);
    vd_stream_meter_turn(&l->stream_meter, &stats,
                         stats.commit_ns ? vd_clock_mono_ns(l->env->clock) : 0);
    return false;
}

static void wake(void *arg)
{
    vd_loop_wake(arg);
}

void vd_api_loop_init(struct vd_api_loop *l, const struct vd_api_env *env, struct vd_loop *loop)
{
    *l = (struct vd_api_loop){.env = env, .loop = loop, .hook = {.run = turn}};
    l->hold.fire = on_hold;
    l->after.run = after_turn;
    vd_api_streams_init(l);
    vd_stream_meter_init(&l->stream_meter, loop->index);
    l->registry = vd_registry_new(env->store, wake, loop);
    vd_turn_queue_init(&l->turn_queue, loop);
    vd_loop_hook(loop, &l->hook);
}

void vd_api_loop_follow(struct vd_api_loop *l)
{
    vd_loop_hook(l->loop, &l->after);
    vd_turn_queue_stand_last(&l->turn_queue);
}

void vd_api_loop_release(struct vd_api_loop *l)
{
    vd_timer_stop(l->loop, &l->hold);
    vd_api_streams_release(l);
    vd_registry_free(l->registry);
    vd_heap_release(&l->revision_waits);
    vd_buf_release(&l->frame);
}
