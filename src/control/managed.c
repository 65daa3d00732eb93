/*
 * See managed.h. A turn is one task on the loop: it lets the informer do a piece, looks at runs
 * that have taken long, starts runs for keys that are due, and posts itself again while there is
 * more. Whatever may make a difference - a commit, the end of a run, a time that has come - posts
 * it.
 */
#include "control/managed.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "control/managed_internal.h"

enum {
    TURN_RUNS = 256,   /* started in a turn */
    TURN_RESYNC = 256, /* keys that a turn adds once more */
};

static const struct vd_managed_policy defaults = {
    .workers = VD_MANAGED_WORKERS,
    .slow_ms = VD_MANAGED_SLOW_MS,
    .slow_max = VD_MANAGED_SLOW_MAX,
    .attempts = VD_MANAGED_ATTEMPTS,
    .retry = {VD_MANAGED_RETRY_MS_MIN, VD_MANAGED_RETRY_MS_MAX, 200, VD_MANAGED_JITTER_PERCENT},
    .stall_ms = VD_MANAGED_STALL_MS,
    .catch_up_ms = VD_MANAGED_CATCH_UP_MS,
};

uint64_t vd_managed_now_ms(const struct vd_managed *c)
{
    return c->in_turn ? c->now_ms : vd_clock_mono_ns(c->options.clock) / 1000000;
}

/* Any thread. */
static void post(void *arg)
{
    struct vd_managed *c = arg;
    if (!atomic_exchange(&c->turn_posted, true))
        vd_loop_post_last(c->options.loop, &c->turn);
}

void vd_managed_post(struct vd_managed *c)
{
    if (!c->in_turn)
        post(c);
}

static void wake(void *arg)
{
    vd_managed_post(arg);
}

/* ---- following ---- */

static void enqueue_item(struct vd_managed *c, struct vd_managed_item *item,
                         enum vd_work_priority priority)
{
    vd_work_queue_add_as(&c->queue, &item->work, priority);
    if (!item->is_recorded)
        vd_managed_item_note(c, item);
}

void vd_managed_enqueue(struct vd_managed *c, struct vd_slice namespace, struct vd_slice name,
                        enum vd_work_priority priority)
{
    enqueue_item(c, vd_managed_item_get(c, namespace, name), priority);
}

static struct vd_managed *of_handler(struct vd_informer_handler *handler)
{
    return VD_CONTAINER_OF(handler, struct vd_managed, handler);
}

static void on_changed(struct vd_informer_handler *handler, const struct vd_change *change)
{
    struct vd_managed *c = of_handler(handler);
    const struct vd_entry *entry = change->now->entry;
    struct vd_slice resource = vd_entry_resource(entry);
    /* A list after a gap tells of everything; what is not newer than the gap was told before. */
    if (change->now->revision <= c->passed)
        return;
    if (vd_slice_eq(resource, c->options.resource) &&
        vd_predicate_holds(&c->options.predicate, change)) {
        struct vd_managed_item *item = vd_managed_item_get(c, vd_entry_namespace(entry),
                                                           vd_entry_name(entry));
        if (!item->entry)
            item->entry = vd_entry_ref(change->now->entry);
        enqueue_item(c, item, VD_WORK_FRESH);
    }
    for (size_t i = 0; i < c->options.watches_n; i++) {
        const struct vd_managed_watch *w = &c->options.watches[i];
        if (vd_slice_eq(resource, w->resource))
            w->map(c, change, w->arg);
    }
}

static void on_passed(struct vd_informer_handler *handler, uint64_t revision, bool whole)
{
    struct vd_managed *c = of_handler(handler);
    if (whole)
        c->passed = revision;
}

static const struct vd_informer_ops informer_ops = {.changed = on_changed, .passed = on_passed};

/* Now and then the log is read to its end, though nothing there concerns the controller: a
 * checkpoint that stayed where it is would expire. */
static bool is_catching_up(struct vd_managed *c, uint64_t now_ms)
{
    if (now_ms >= c->catch_up_due_ms) {
        c->catch_up_due_ms = now_ms + c->policy.catch_up_ms;
        c->catch_up_to = vd_store_revision(c->options.store);
    }
    if (vd_informer_revision(&c->informer) >= c->catch_up_to)
        c->catch_up_to = 0;
    return c->catch_up_to > 0;
}

/* True: there is more to tell at once. */
static bool turn_informer(struct vd_managed *c)
{
    if (vd_timer_is_set(&c->relist))
        return false;
    uint64_t after_ms = vd_informer_turn(&c->informer);
    if (after_ms && after_ms != VD_INFORMER_IDLE)
        vd_timer_set(c->options.loop, &c->relist, after_ms);
    return after_ms == 0;
}

/* ---- all keys once more ---- */

static void end_resync(struct vd_managed *c)
{
    if (c->is_resyncing)
        vd_snapshot_release(&c->resync);
    c->is_resyncing = false;
}

static bool begin_resync(struct vd_managed *c, uint64_t now_ms)
{
    struct vd_error error;
    if (!c->policy.resync_ms || now_ms < c->resync_due_ms || !vd_informer_is_synced(&c->informer))
        return false;
    c->resync_due_ms = now_ms + c->policy.resync_ms;
    c->is_resyncing = vd_snapshot_open(&c->resync, c->options.store, c->options.resource,
                                       VD_SLICE(""), 0, VD_SLICE(""), &error) == VD_OK;
    return c->is_resyncing;
}

/* True: there is more to add at once. */
static bool turn_resync(struct vd_managed *c, uint64_t now_ms)
{
    struct vd_event *events[TURN_RESYNC];
    struct vd_error error;
    size_t n = 0;
    if (!c->is_resyncing && !begin_resync(c, now_ms))
        return false;
    int code = vd_snapshot_next(&c->resync, events, TURN_RESYNC, &n, &error);
    for (size_t i = 0; i < n; i++) {
        vd_managed_enqueue(c, vd_entry_namespace(events[i]->entry), vd_entry_name(events[i]->entry),
                           VD_WORK_RESYNC);
        vd_event_unref(events[i]);
    }
    if (c->resync.done || (code && code != VD_ERR_CORRUPT))
        end_resync(c);
    return c->is_resyncing;
}

/* ---- runs ---- */

static struct vd_run *run_new(struct vd_managed *c)
{
    struct vd_run *run = c->free_runs;
    if (run)
        c->free_runs = run->next;
    else
        run = VD_NEW(struct vd_run);
    *run = (struct vd_run){
        .reconcile = c->options.reconcile, .controller = c, .prev = c->runs_last};
    if (c->runs_last)
        c->runs_last->next = run;
    else
        c->runs = run;
    c->runs_last = run;
    c->busy++;
    return run;
}

/* The newest version of an item's object; NULL: there is none, or its bytes are damaged, which the
 * informer has reported. */
static struct vd_event *read_object(struct vd_managed *c, struct vd_managed_item *item)
{
    struct vd_event *object = item->entry ? vd_store_newest(c->options.store, item->entry) : NULL;
    struct vd_key key = {c->options.resource, vd_managed_item_namespace(item),
                         vd_managed_item_name(item)};
    if (object || vd_store_get(c->options.store, &key, 0, &object, NULL) != VD_OK)
        return object;
    vd_entry_unref(item->entry);
    item->entry = vd_entry_ref(object->entry);
    return object;
}

/* Whether the item is to run with this object. One that is parked is not, unless its object is
 * another one than when it was parked. What is desired may be new: then what failed may succeed. */
static bool may_run(struct vd_managed *c, struct vd_managed_item *item,
                    const struct vd_event *object)
{
    if (!item->is_parked && !item->work.failures) /* nothing is to be compared */
        return true;
    int64_t generation = vd_managed_generation(object);
    if (item->is_parked && !vd_managed_item_is_stale(item, object, generation))
        return false;
    if (item->is_parked)
        vd_managed_item_unpark(c, item);
    if (generation != item->generation)
        vd_work_queue_forget(&item->work);
    return true;
}

static void start_run(struct vd_managed *c, struct vd_managed_item *item, uint64_t now_ms)
{
    struct vd_event *object = read_object(c, item);
    if (!may_run(c, item, object)) {
        vd_event_unref(object);
        vd_managed_item_finish(c, item);
        return;
    }
    struct vd_run *run = run_new(c);
    run->namespace = vd_managed_item_namespace(item);
    run->name = vd_managed_item_name(item);
    run->object = object;
    run->attempt = item->work.failures + 1;
    run->started_ms = now_ms;
    run->deadline_ms = c->policy.timeout_ms ? now_ms + c->policy.timeout_ms : UINT64_MAX;
    run->item = item;
    c->options.reconcile->ops->start(run);
}

static bool may_start(const struct vd_managed *c)
{
    return c->busy < c->policy.workers && !c->is_paused && !c->is_stopping &&
           vd_informer_is_synced(&c->informer);
}

static void start_some(struct vd_managed *c, uint64_t now_ms)
{
    struct vd_work_item *work;
    for (size_t i = 0; i < TURN_RUNS && may_start(c); i++) {
        if (!(work = vd_work_queue_take(&c->queue, now_ms)))
            return;
        start_run(c, VD_CONTAINER_OF(work, struct vd_managed_item, work), now_ms);
    }
}

/* Runs that take long give their worker back; those that take too long are cancelled. A call of
 * `cancel` may end the run, and no other one. */
static void look_at_runs(struct vd_managed *c, uint64_t now_ms)
{
    struct vd_run *next;
    for (struct vd_run *run = c->runs; run; run = next) {
        next = run->next;
        if (!run->is_slow && c->slow < c->policy.slow_max &&
            now_ms >= run->started_ms + c->policy.slow_ms) {
            run->is_slow = true;
            c->busy--;
            c->slow++;
        }
        if (!run->is_cancelled && now_ms >= run->deadline_ms) {
            run->is_cancelled = true;
            c->timeouts++;
            c->options.reconcile->ops->cancel(run);
        }
    }
}

/* ---- turns ---- */

/* When a run gives its worker back, or is cancelled. */
static uint64_t run_due_ms(const struct vd_managed *c, const struct vd_run *run)
{
    bool turns_slow = !run->is_slow && c->slow < c->policy.slow_max;
    uint64_t due_ms = turns_slow ? run->started_ms + c->policy.slow_ms : UINT64_MAX;
    return !run->is_cancelled && run->deadline_ms < due_ms ? run->deadline_ms : due_ms;
}

/* When something is due that nobody else tells of. */
static uint64_t next_due_ms(const struct vd_managed *c)
{
    uint64_t due_ms = may_start(c) ? vd_work_queue_next_ms(&c->queue) : UINT64_MAX;
    if (c->resync_due_ms < due_ms)
        due_ms = c->resync_due_ms;
    if (c->catch_up_due_ms < due_ms)
        due_ms = c->catch_up_due_ms;
    for (const struct vd_run *run = c->runs; run; run = run->next) {
        uint64_t of_run_ms = run_due_ms(c, run);
        if (of_run_ms < due_ms)
            due_ms = of_run_ms;
    }
    return due_ms;
}

static void set_alarm(struct vd_managed *c, uint64_t now_ms)
{
    uint64_t due_ms = next_due_ms(c);
    if (due_ms == UINT64_MAX)
        vd_timer_stop(c->options.loop, &c->alarm);
    else
        vd_timer_set(c->options.loop, &c->alarm, due_ms > now_ms ? due_ms - now_ms : 0);
}

static void say_stopped(struct vd_managed *c)
{
    void (*stopped)(struct vd_managed * c, void *arg) = c->stopped;
    if (!stopped || c->busy || c->slow || c->writing)
        return;
    c->stopped = NULL;
    stopped(c, c->stopped_arg); /* may free it */
}

static void take_turn(struct vd_task *task)
{
    struct vd_managed *c = VD_CONTAINER_OF(task, struct vd_managed, turn);
    uint64_t now_ms = vd_managed_now_ms(c);
    atomic_store(&c->turn_posted, false);
    if (c->is_stopping) {
        say_stopped(c);
        return;
    }
    c->in_turn = true;
    c->now_ms = now_ms;
    bool more = turn_informer(c);
    more |= is_catching_up(c, now_ms);
    more |= turn_resync(c, now_ms);
    look_at_runs(c, now_ms);
    start_some(c, now_ms);
    set_alarm(c, now_ms);
    c->in_turn = false;
    if (more || (vd_work_queue_can_take(&c->queue, now_ms) && may_start(c)))
        post(c);
}

static void on_relist(struct vd_timer *timer)
{
    post(VD_CONTAINER_OF(timer, struct vd_managed, relist));
}

static void on_alarm(struct vd_timer *timer)
{
    post(VD_CONTAINER_OF(timer, struct vd_managed, alarm));
}

/* ---- life cycle ---- */

static struct vd_slice item_key(const void *item)
{
    const struct vd_managed_item *i = item;
    return vd_slice(i->path, i->len);
}

void vd_managed_set_policy(struct vd_managed *c, const struct vd_managed_policy *policy)
{
    struct vd_managed_policy p = *policy;
    p.workers = p.workers ? p.workers : defaults.workers;
    p.slow_ms = p.slow_ms ? p.slow_ms : defaults.slow_ms;
    p.slow_max = p.slow_max ? p.slow_max : defaults.slow_max;
    p.attempts = p.attempts ? p.attempts : defaults.attempts;
    p.stall_ms = p.stall_ms ? p.stall_ms : defaults.stall_ms;
    p.catch_up_ms = p.catch_up_ms ? p.catch_up_ms : defaults.catch_up_ms;
    if (!p.retry.min_ms && !p.retry.max_ms)
        p.retry = defaults.retry;
    c->policy = p;
    c->resync_due_ms = p.resync_ms ? vd_managed_now_ms(c) + p.resync_ms : UINT64_MAX;
    c->catch_up_due_ms = vd_managed_now_ms(c) + p.catch_up_ms;
    vd_work_queue_set_retry(&c->queue, &p.retry);
    if (c->is_started)
        vd_managed_post(c);
}

struct vd_managed *vd_managed_new(const struct vd_managed_options *options)
{
    struct vd_managed *c = VD_NEW(struct vd_managed);
    uint64_t seed;
    *c = (struct vd_managed){.options = *options};
    c->resources = vd_calloc(1 + options->watches_n, sizeof *c->resources);
    c->resources[0] = options->resource;
    for (size_t i = 0; i < options->watches_n; i++)
        c->resources[1 + i] = options->watches[i].resource;
    struct vd_informer_resources followed = {c->resources, 1 + options->watches_n};
    vd_informer_init(&c->informer, &(struct vd_informer_options){.store = options->store,
                                                                 .name = options->name,
                                                                 .listed = followed,
                                                                 .followed = followed,
                                                                 .wake = post,
                                                                 .arg = c});
    c->handler.ops = &informer_ops;
    vd_informer_add_handler(&c->informer, &c->handler);
    vd_random_bytes(&seed, sizeof seed);
    vd_work_queue_init(&c->queue,
                       &(struct vd_work_queue_options){.wake = wake, .arg = c, .seed = seed});
    vd_hash_map_init(&c->items, item_key);
    c->turn.run = take_turn;
    c->relist.fire = on_relist;
    c->alarm.fire = on_alarm;
    vd_managed_set_policy(c, &options->policy);
    return c;
}

void vd_managed_start(struct vd_managed *c, uint64_t revision)
{
    c->is_started = true;
    c->passed = revision;
    if (revision)
        vd_informer_start_at(&c->informer, revision);
    else
        vd_informer_start(&c->informer);
    post(c);
}

void vd_managed_pause(struct vd_managed *c, bool paused)
{
    c->is_paused = paused;
    vd_managed_post(c);
}

static void on_drained(struct vd_timer *timer)
{
    struct vd_managed *c = VD_CONTAINER_OF(timer, struct vd_managed, drained);
    struct vd_run *next;
    for (struct vd_run *run = c->runs; run; run = next) {
        next = run->next;
        if (!run->is_cancelled) {
            run->is_cancelled = true;
            c->options.reconcile->ops->cancel(run);
        }
    }
}

void vd_managed_stop(struct vd_managed *c, uint64_t drain_ms,
                     void (*stopped)(struct vd_managed *c, void *arg), void *arg)
{
    c->is_stopping = true;
    c->stopped = stopped;
    c->stopped_arg = arg;
    vd_timer_stop(c->options.loop, &c->alarm);
    vd_timer_stop(c->options.loop, &c->relist);
    c->drained.fire = on_drained;
    vd_timer_set(c->options.loop, &c->drained, drain_ms);
    post(c);
}

void vd_managed_free(struct vd_managed *c)
{
    size_t at = 0;
    if (!c)
        return;
    assert(!c->busy && !c->slow && !c->writing);
    vd_timer_stop(c->options.loop, &c->drained);
    vd_informer_stop(&c->informer);
    end_resync(c);
    vd_work_queue_release(&c->queue);
    for (struct vd_managed_item *item; (item = vd_hash_map_next(&c->items, &at));)
        vd_managed_item_free(item);
    vd_hash_map_release(&c->items);
    while (c->free_runs) {
        struct vd_run *run = c->free_runs;
        c->free_runs = run->next;
        free(run);
    }
    VD_VEC_RELEASE(&c->dirty);
    free(c->resources);
    free(c);
}
