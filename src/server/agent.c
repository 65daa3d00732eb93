/*
 * See agent.h. A turn is one task on the loop: it takes a piece of the state or of
 * the log in, runs a few jobs, and posts itself again while there is more. The
 * store's writer posts it after each commit, unless it is waiting already. It is run behind the
 * answers: nobody waits for an agent, and those who do, as for a new kind, say so.
 *
 * A commit is told before its proposer is answered, so when a job runs again after
 * an errand, its agent has mostly seen what the errand did. Nothing depends on it.
 */
#include "server/agent_internal.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "json/parse.h"

enum {
    PIECE_EVENTS = 256, /* taken in a turn */
    TURN_JOBS = 32,     /* run in a turn */
    BUSY_MAX = 32,      /* errands on their way; the other jobs wait */
    PAUSE_MS = 1000,    /* before what the store could not do is tried again */
};

/* ---- jobs ---- */

static void push(struct vd_job_queue *q, struct vd_job *job)
{
    job->state = VD_JOB_QUEUED;
    job->next = NULL;
    *q->end = job;
    q->end = &job->next;
}

static struct vd_job *pop(struct vd_job_queue *q)
{
    struct vd_job *job = q->first;
    q->first = job->next;
    if (!q->first)
        q->end = &q->first;
    return job;
}

static void post_turn(struct vd_agent *agent)
{
    if (!atomic_exchange(&agent->turn_posted, true))
        vd_loop_post_last(agent->options.loop, &agent->turn);
}

void vd_agent_queue(struct vd_agent *agent, struct vd_job *job)
{
    if (job->state != VD_JOB_IDLE)
        return;
    push(&agent->queue, job);
    post_turn(agent);
}

static bool may_run(const struct vd_agent *agent)
{
    return agent->loaded && agent->queue.first && agent->busy < BUSY_MAX;
}

static void run_jobs(struct vd_agent *agent)
{
    for (size_t i = 0; i < TURN_JOBS && may_run(agent); i++) {
        struct vd_job *job = pop(&agent->queue);
        job->state = VD_JOB_IDLE;
        job->run(agent, job);
    }
}

static void pause_over(struct vd_timer *timer)
{
    struct vd_agent *agent = (struct vd_agent *)((char *)timer - offsetof(struct vd_agent, pause));
    while (agent->later.first)
        push(&agent->queue, pop(&agent->later));
    post_turn(agent);
}

/* The store could not: not at once again. */
static void rest(struct vd_agent *agent)
{
    if (!vd_timer_is_set(&agent->pause))
        vd_timer_set(agent->options.loop, &agent->pause, PAUSE_MS);
}

void vd_agent_job_answered(struct vd_agent *agent, struct vd_job *job, enum vd_code code)
{
    bool refused = code == VD_ERR_CONFLICT || code == VD_ERR_NOT_FOUND || code == VD_ERR_EXISTS;
    assert(agent->busy > 0);
    agent->busy--;
    job->code = code;
    if (agent->stopping) {
        job->state = VD_JOB_IDLE;
        if (agent->quiet && agent->busy == 0)
            uv_sem_post(&agent->stopped);
        return;
    }
    if (code == VD_OK || refused) {
        push(&agent->queue, job);
        post_turn(agent);
        return;
    }
    vd_log_warn("the server's own change could not be made; it is tried again",
                VD_F_STR("code", vd_code_name((int)code)));
    push(&agent->later, job);
    rest(agent);
}

/* ---- taking in ---- */

const struct vd_kind *vd_agent_next_kind(const struct vd_kind_set *set, size_t *at)
{
    size_t n;
    struct vd_kind *const *all = vd_kind_set_all(set, &n);
    while (*at < n) {
        const struct vd_kind *kind = all[(*at)++];
        if (kind->stored && !kind->subresource.n &&
            vd_kind_set_stored(set, kind->storage_key) == kind)
            return kind;
    }
    return NULL;
}

static void end_load(struct vd_agent *agent)
{
    vd_snapshot_release(&agent->snapshot);
    agent->snapshot = (struct vd_snapshot){.done = true};
    vd_kind_set_unref(agent->kinds);
    agent->kinds = NULL;
}

static void begin_load(struct vd_agent *agent)
{
    end_load(agent);
    agent->loaded = false;
    agent->kinds = vd_kinds_snapshot(agent->options.kinds);
    agent->kind_at = 0;
    agent->revision = vd_store_revision(agent->options.store);
    agent->ops->loading(agent);
}

/* The next kind's objects, as of the same revision. False: there is none. */
static int open_next(struct vd_agent *agent, bool *any, struct vd_error *error)
{
    struct vd_slice only = agent->options.load_only;
    const struct vd_kind *kind;
    do
        kind = vd_agent_next_kind(agent->kinds, &agent->kind_at);
    while (kind && only.n && !vd_slice_eq(kind->storage_key, only));
    *any = kind != NULL;
    if (!kind)
        return VD_OK;
    vd_snapshot_release(&agent->snapshot);
    return vd_snapshot_open(&agent->snapshot, agent->options.store, kind->storage_key, VD_SLICE(""),
                            agent->revision, VD_SLICE(""), error);
}

static int load_piece(struct vd_agent *agent, struct vd_error *error)
{
    struct vd_event *events[PIECE_EVENTS];
    size_t n = 0;
    bool any = true;
    int code = VD_OK;
    if (agent->snapshot.done)
        code = open_next(agent, &any, error);
    if (!code && !any) {
        end_load(agent);
        agent->loaded = true;
        agent->ops->loaded(agent);
        return VD_OK;
    }
    if (!code)
        code = vd_snapshot_next(&agent->snapshot, events, PIECE_EVENTS, &n, error);
    for (size_t i = 0; !code && i < n; i++) {
        agent->ops->take(agent, &(struct vd_change){events[i], NULL});
        vd_event_unref(events[i]);
    }
    return code == VD_ERR_CORRUPT ? VD_OK : code; /* a damaged object is passed over */
}

static int follow_piece(struct vd_agent *agent, struct vd_error *error)
{
    int code = vd_store_read(agent->options.store, VD_SLICE(""), agent->revision, PIECE_EVENTS,
                             &agent->stretch, error);
    if (code)
        return code;
    for (size_t i = 0; i < agent->stretch.changes.n; i++)
        agent->ops->take(agent, &agent->stretch.changes.p[i]);
    agent->revision = agent->stretch.upto;
    vd_stretch_reset(&agent->stretch);
    return VD_OK;
}

static void take_turn(struct vd_task *task)
{
    struct vd_agent *agent = (struct vd_agent *)((char *)task - offsetof(struct vd_agent, turn));
    struct vd_error error;
    atomic_store(&agent->turn_posted, false);
    if (agent->stopping)
        return;
    if (!agent->loaded && !agent->kinds)
        begin_load(agent);
    int code = agent->loaded ? follow_piece(agent, &error) : load_piece(agent, &error);
    if (code) { /* too far behind, or damage: from the objects again */
        bool was_loaded = agent->loaded;
        vd_log_warn("the log could not be followed; the objects are read again",
                    VD_F_STR("error", error.text));
        end_load(agent);
        agent->loaded = false;
        if (was_loaded)
            post_turn(agent);
        else
            rest(agent);
        return;
    }
    run_jobs(agent);
    if (!agent->loaded || agent->revision < vd_store_revision(agent->options.store) ||
        may_run(agent))
        post_turn(agent);
}

int vd_agent_read(struct vd_agent *agent, const struct vd_key *key, struct vd_arena *arena,
                  struct vd_event **out, struct vd_json **object)
{
    struct vd_event *event = NULL;
    int code = vd_store_get(agent->options.store, key, 0, &event, NULL);
    if (!code && object)
        code = vd_json_parse_copy(arena, vd_body_slice(event->body), NULL, object, NULL);
    if (code) {
        vd_event_unref(event);
        return code;
    }
    *out = event;
    return VD_OK;
}

/* ---- life cycle ---- */

/* The writer. */
static void heard(struct vd_subscriber *listener, struct vd_commit *commit)
{
    (void)commit;
    post_turn((struct vd_agent *)((char *)listener - offsetof(struct vd_agent, listener)));
}

void vd_agent_start(struct vd_agent *agent, const struct vd_agent_options *options,
                    const struct vd_agent_ops *ops)
{
    *agent = (struct vd_agent){.options = *options, .ops = ops};
    agent->queue.end = &agent->queue.first;
    agent->later.end = &agent->later.first;
    agent->listener.committed = heard;
    agent->turn.run = take_turn;
    agent->pause.fire = pause_over;
    agent->snapshot.done = true;
    int rc = uv_sem_init(&agent->stopped, 0);
    assert(rc == 0);
    (void)rc;
    vd_store_subscribe(options->store, &agent->listener);
    post_turn(agent);
}

/* Behind this, no turn is waiting and none can come. */
static void fall_quiet(struct vd_task *task)
{
    struct vd_agent *agent = (struct vd_agent *)((char *)task - offsetof(struct vd_agent, stop));
    agent->quiet = true;
    if (agent->busy == 0)
        uv_sem_post(&agent->stopped);
}

static void begin_stop(struct vd_task *task)
{
    struct vd_agent *agent = (struct vd_agent *)((char *)task - offsetof(struct vd_agent, stop));
    agent->stopping = true;
    vd_timer_stop(agent->options.loop, &agent->pause);
    vd_store_unsubscribe(agent->options.store, &agent->listener);
    agent->stop.run = fall_quiet;
    vd_loop_post_last(agent->options.loop, &agent->stop);
}

void vd_agent_stop(struct vd_agent *agent)
{
    agent->stop.run = begin_stop;
    vd_loop_post_last(agent->options.loop, &agent->stop);
    uv_sem_wait(&agent->stopped);
    uv_sem_destroy(&agent->stopped);
    end_load(agent);
    vd_stretch_release(&agent->stretch);
}
