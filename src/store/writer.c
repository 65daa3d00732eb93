/*
 * The writer: nobody else changes the log or the index.
 *
 * The writer is a thread of its own. While that thread waits for work, the proposer of a lone
 * proposal may be the writer in its place (vd_store_propose_here). `writing` says that somebody is
 * the writer; it is set and cleared under queue_lock.
 *
 * The thread takes whatever has queued up, up to a group's limits, commits it as one
 * group, and goes on at once: a lone proposal is not kept waiting for company,
 * and under load the groups grow by themselves while the disk syncs. Between
 * groups it gives the engine and the compactor a bounded piece of work, and takes in a bounded
 * piece of what other processes have written to the same log.
 */
#include <assert.h>
#include <errno.h>
#include <time.h>

#include "base/failpoint.h"
#include "base/limits.h"
#include "store/admitted.h"
#include "store/store_internal.h"

enum {
    IDLE_CHECK_MS_MIN = 1000,  /* milliseconds that an idle writer sleeps, at least ... */
    IDLE_CHECK_MS_MAX = 60000, /* ... and at most, before it looks whether compaction is due */
    PROBE_MS = 1000,  /* milliseconds after which an idle writer looks whether an error that kept it
                         from writing has passed */
    OTHERS_MS = 1000, /* milliseconds after which an idle writer looks unasked for what others have
                         written */
    HERE_MAX = 64,    /* groups that proposers commit themselves before the thread has a turn */
};

static size_t proposal_bytes(const struct vd_proposal *p)
{
    size_t bytes = 0;
    for (size_t i = 0; i < p->n; i++)
        bytes += p->wishes[i].body.bytes.n;
    return bytes;
}

static int check_key(const struct vd_wish *w, struct vd_error *error)
{
    if (w->when != VD_WHEN_RESOURCE_UNCHANGED)
        return vd_key_check(&w->key, error);
    if (w->action == VD_CHECK && w->key.resource.n && !w->key.namespace.n && !w->key.name.n)
        return VD_OK;
    return vd_error_set(error, VD_ERR_INVALID,
                        "a condition on a whole kind has the kind and nothing else");
}

int vd_proposal_check(const struct vd_proposal *p, size_t *at, struct vd_error *error)
{
    *at = 0;
    if (p->n == 0)
        return vd_error_set(error, VD_ERR_INVALID, "the proposal is empty");
    if (p->n > VD_BATCH_CHANGES_MAX)
        return vd_error_set(error, VD_ERR_LIMIT,
                            "the batch has %zu changes; at most %d are allowed", p->n,
                            VD_BATCH_CHANGES_MAX);
    if (proposal_bytes(p) > VD_BATCH_BYTES_MAX)
        return vd_error_set(error, VD_ERR_LIMIT, "the batch has %zu bytes; at most %d are allowed",
                            proposal_bytes(p), VD_BATCH_BYTES_MAX);
    for (size_t i = 0; i < p->n; i++) {
        const struct vd_wish *w = &p->wishes[i];
        *at = i;
        int code = check_key(w, error);
        if (code)
            return code;
        if (w->body.bytes.n > VD_BODY_LEN_MAX)
            return vd_error_set(error, VD_ERR_LIMIT,
                                "the body of \"%.*s\" has %zu bytes; at most %d are allowed",
                                VD_FMT(w->key.name), w->body.bytes.n, VD_BODY_LEN_MAX);
        if (w->action == VD_PUT && (w->body.bytes.n == 0 || w->body.hole >= w->body.bytes.n))
            return vd_error_set(error, VD_ERR_INVALID,
                                "the body of \"%.*s\" is empty or its hole "
                                "is outside of it",
                                VD_FMT(w->key.name));
    }
    return VD_OK;
}

static void refuse(struct vd_store *store, struct vd_proposal *p, struct vd_outcome *outcome)
{
    outcome->code = outcome->error.code;
    atomic_fetch_add_explicit(&store->refused, 1, memory_order_relaxed);
    p->done(p, outcome);
}

static void read_only_error(struct vd_store *store, struct vd_error *error)
{
    pthread_mutex_lock(&store->health_lock);
    vd_error_set(error, VD_ERR_READ_ONLY, "the store is read-only since a write failed (%s)",
                 store->health.error.text);
    pthread_mutex_unlock(&store->health_lock);
}

/* False: the proposal was refused and has been answered. */
static bool is_fit(struct vd_store *store, struct vd_proposal *p)
{
    struct vd_outcome outcome = {0};
    if (!vd_proposal_check(p, &outcome.at, &outcome.error)) {
        if (!atomic_load_explicit(&store->read_only, memory_order_relaxed))
            return true;
        read_only_error(store, &outcome.error);
    }
    refuse(store, p, &outcome);
    return false;
}

static void refuse_for_room(struct vd_store *store, struct vd_proposal *p, bool stopping)
{
    struct vd_outcome outcome = {0};
    if (stopping)
        vd_error_set(&outcome.error, VD_ERR_CLOSED, "the store is closing");
    else
        vd_error_set(&outcome.error, VD_ERR_LIMIT,
                     "%d proposals are waiting already: slow down and retry",
                     VD_QUEUE_PROPOSALS_MAX);
    refuse(store, p, &outcome);
}

/* Puts the proposals, which are linked, into the queue. */
static void enqueue(struct vd_store *store, struct vd_proposal *first)
{
    struct vd_proposal *fit = NULL, **fit_end = &fit;
    for (struct vd_proposal *p = first, *next; p; p = next) {
        next = p->next; /* read first: a proposal that is refused may be freed */
        if (is_fit(store, p)) {
            p->next = NULL;
            *fit_end = p;
            fit_end = &p->next;
        }
    }
    pthread_mutex_lock(&store->queue_lock);
    bool stopping = store->stopping, was_empty = store->queue_len == 0;
    while (fit && store->queue_len < VD_QUEUE_PROPOSALS_MAX && !stopping) {
        struct vd_proposal *p = fit;
        fit = p->next;
        p->next = NULL;
        *store->queue_end = p;
        store->queue_end = &p->next;
        store->queue_len++;
    }
    bool wake = was_empty && store->queue_len;
    pthread_mutex_unlock(&store->queue_lock);
    if (wake) /* after unlocking: otherwise the writer would wake up only to wait for the lock */
        pthread_cond_signal(&store->queue_filled);
    for (struct vd_proposal *next; fit; fit = next) {
        next = fit->next;
        refuse_for_room(store, fit, stopping);
    }
}

void vd_store_propose_all(struct vd_store *store, const struct vd_admitted_list *list)
{
    enqueue(store, (struct vd_proposal *)list->first);
}

void vd_store_propose(struct vd_store *store, struct vd_admitted *admitted)
{
    enqueue(store, (struct vd_proposal *)admitted);
}

/* Makes the caller the writer if nobody else is and no proposal waits. After HERE_MAX such groups
 * it is the turn of the thread, which does its housekeeping then. */
static bool become_writer(struct vd_store *store)
{
    if (store->engine->thread_only)
        return false;
    pthread_mutex_lock(&store->queue_lock);
    bool may = !store->writing && !store->queue_head && !store->stopping &&
               !store->compact_target && !store->others_due && store->here_n < HERE_MAX &&
               !atomic_load_explicit(&store->read_only, memory_order_relaxed);
    if (may) {
        store->writing = true;
        store->here_n++;
    }
    pthread_mutex_unlock(&store->queue_lock);
    return may;
}

static void stop_writing(struct vd_store *store)
{
    pthread_mutex_lock(&store->queue_lock);
    store->writing = false;
    bool wake = store->queue_head || store->stopping || store->compact_target ||
                store->others_due || store->thread_due;
    pthread_mutex_unlock(&store->queue_lock);
    if (wake)
        pthread_cond_signal(&store->queue_filled);
}

bool vd_store_propose_here(struct vd_store *store, struct vd_admitted *admitted)
{
    struct vd_proposal *proposal = (struct vd_proposal *)admitted;
    if (!is_fit(store, proposal))
        return true;
    if (!become_writer(store)) {
        enqueue(store, proposal);
        return false;
    }
    uint64_t groups = atomic_load_explicit(&store->groups, memory_order_relaxed);
    bool answered = vd_group_run(store, proposal, false);
    groups = atomic_load_explicit(&store->groups, memory_order_relaxed) - groups;
    atomic_fetch_add_explicit(&store->groups_here, groups, memory_order_relaxed);
    stop_writing(store);
    if (!answered)
        enqueue(store, proposal); /* the thread can wait for the other process */
    return answered;
}

/* ---- proposing and waiting ---- */

struct waiter {
    struct vd_proposal proposal;
    struct vd_outcome *outcome;
    pthread_mutex_t lock;
    pthread_cond_t answered;
    bool done;
};

static void wake_waiter(struct vd_proposal *p, const struct vd_outcome *outcome)
{
    struct waiter *w = p->arg;
    *w->outcome = *outcome;
    pthread_mutex_lock(&w->lock);
    w->done = true;
    pthread_cond_signal(&w->answered);
    pthread_mutex_unlock(&w->lock);
}

int vd_store_commit(struct vd_store *store, const struct vd_wish *wishes, size_t n,
                    struct vd_outcome *outcome)
{
    struct waiter w = {.proposal = {.wishes = wishes, .n = n, .done = wake_waiter},
                       .outcome = outcome,
                       .lock = PTHREAD_MUTEX_INITIALIZER,
                       .answered = PTHREAD_COND_INITIALIZER};
    w.proposal.arg = &w;
    enqueue(store, &w.proposal);
    pthread_mutex_lock(&w.lock);
    while (!w.done)
        pthread_cond_wait(&w.answered, &w.lock);
    pthread_mutex_unlock(&w.lock);
    pthread_mutex_destroy(&w.lock);
    pthread_cond_destroy(&w.answered);
    return (int)outcome->code;
}

/* Proposals are answered in order: when this one, which changes nothing, has been answered, all
 * before it have been. */
void vd_store_settle(struct vd_store *store)
{
    struct vd_outcome outcome;
    struct vd_wish nothing = {.action = VD_CHECK,
                              .key = {VD_SLICE("nothing"), VD_SLICE(""), VD_SLICE("nothing")}};
    if (vd_store_commit(store, &nothing, 1, &outcome))
        return;
}

/* ---- the thread ---- */

/* Cuts a group off the queue, which is not empty. Under the queue's lock. */
static struct vd_proposal *take_group(struct vd_store *store)
{
    struct vd_proposal *first = store->queue_head, *last = first;
    size_t changes = first->n, bytes = proposal_bytes(first);
    store->queue_len--;
    while (last->next) {
        changes += last->next->n;
        bytes += proposal_bytes(last->next);
        if (changes > VD_GROUP_CHANGES_MAX || bytes > VD_GROUP_BYTES_MAX)
            break;
        last = last->next;
        store->queue_len--;
    }
    store->queue_head = last->next;
    if (!last->next)
        store->queue_end = &store->queue_head;
    last->next = NULL;
    return first;
}

/* The time until which an idle writer sleeps before it looks again at the window's age, at an error
 * that may have passed, or for what others have written. */
static struct timespec idle_until(const struct vd_store *store)
{
    int64_t wait_ms = store->compactor.next_age_ms - vd_clock_wall_ms(store->options.clock);
    if (wait_ms < IDLE_CHECK_MS_MIN)
        wait_ms = IDLE_CHECK_MS_MIN;
    if (wait_ms > IDLE_CHECK_MS_MAX)
        wait_ms = IDLE_CHECK_MS_MAX;
    if (vd_store_is_hindered(store))
        wait_ms = PROBE_MS;
    else if (store->engine->shared)
        wait_ms = OTHERS_MS;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += wait_ms / 1000;
    t.tv_nsec += wait_ms % 1000 * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

/* What the thread does next. */
struct work {
    struct vd_proposal *group; /* NULL: none has queued up */
    bool others;               /* other processes may have written */
    bool idle;                 /* its sleep ended without any work */
    bool stop;                 /* the store is closing, and no group is left */
    uint64_t compact_target;
};

/* Under the queue's lock. */
static bool has_work(const struct vd_store *store)
{
    return store->queue_head || store->stopping || store->compact_target || store->others_due ||
           store->thread_due;
}

/* Waits for work. The thread is the writer when it calls this and when this returns, but not while
 * it waits. */
static struct work wait_for_work(struct vd_store *store, bool more_work)
{
    struct timespec until = idle_until(store);
    struct work work = {0};
    pthread_mutex_lock(&store->queue_lock);
    store->writing = false;
    store->thread_due = more_work;
    while (store->writing || !has_work(store)) {
        if (store->thread_due)
            pthread_cond_wait(&store->queue_filled, &store->queue_lock);
        else if (pthread_cond_timedwait(&store->queue_filled, &store->queue_lock, &until) ==
                 ETIMEDOUT)
            work.idle = store->thread_due = true; /* to do what idle_until() names */
    }
    store->thread_due = false;
    store->writing = true;
    store->here_n = 0;
    work.group = store->queue_head ? take_group(store) : NULL;
    work.stop = store->stopping && !work.group;
    work.compact_target = store->compact_target;
    work.others = store->others_due || (work.idle && store->engine->shared);
    store->others_due = false;
    pthread_mutex_unlock(&store->queue_lock);
    return work;
}

static void compact_ended(struct vd_store *store, const struct vd_error *error)
{
    pthread_mutex_lock(&store->queue_lock);
    store->compact_target = 0;
    store->compact_error = *error;
    pthread_cond_broadcast(&store->compacted);
    pthread_mutex_unlock(&store->queue_lock);
}

/* Does a bounded piece of housekeeping. Returns whether there is more to do at once. */
static bool housekeeping(struct vd_store *store, uint64_t compact_target)
{
    struct vd_error error = {.code = VD_OK};
    bool again = false;
    if (atomic_load_explicit(&store->read_only, memory_order_relaxed)) {
        read_only_error(store, &error);
        if (compact_target)
            compact_ended(store, &error);
        return false;
    }
    int code = store->engine->ops->tidy(store->engine, &error);
    if (!code)
        code = vd_compactor_step(store, compact_target, &again, &error);
    /* If the store is read-only, the reason was logged before. */
    if (code && code != VD_ERR_READ_ONLY && !vd_code_passes(code))
        vd_store_fail(store, &error);
    if (compact_target && (code || !again))
        compact_ended(store, &error);
    return !code && again;
}

static void run_group(struct vd_store *store, struct vd_proposal *group)
{
    if (group && !atomic_load_explicit(&store->read_only, memory_order_relaxed)) {
        vd_group_run(store, group, true);
        return;
    }
    for (struct vd_proposal *next; group; group = next) {
        struct vd_outcome outcome = {0};
        next = group->next;
        read_only_error(store, &outcome.error);
        refuse(store, group, &outcome);
    }
}

/* Takes in a piece of what others have written; the rest is taken in after the next group. If the
 * engine cannot be read at the moment, the idle writer tries again. */
static void take_in(struct vd_store *store)
{
    struct vd_error error;
    bool more = false;
    int code = store->cut_off ? VD_OK : vd_intake_step(store, &more, &error);
    if (vd_code_passes(code))
        vd_store_hinder(store, &error);
    if (more)
        vd_intake_wake(store);
}

void *vd_writer_run(void *arg)
{
    struct vd_store *store = arg;
    bool stop = false, more_work = false;
    while (!stop) {
        struct work work = wait_for_work(store, more_work);
        stop = work.stop;
        if (work.others && !stop)
            take_in(store);
        run_group(store, work.group);
        if (work.idle && !work.group && vd_store_is_hindered(store) &&
            !atomic_load_explicit(&store->read_only, memory_order_relaxed))
            vd_store_probe(store);
        more_work = !stop && housekeeping(store, work.compact_target);
    }
    return NULL;
}
