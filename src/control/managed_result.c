/* See managed_internal.h: what becomes of a key when its run has ended. */
#include <assert.h>
#include <stdio.h>

#include "base/log.h"
#include "control/managed_internal.h"

enum { INTERRUPTED_MS = 10 }; /* before a run that was interrupted is made again */

/* ---- parking ---- */

static void park(struct vd_managed *c, struct vd_managed_item *item, const struct vd_result *result)
{
    vd_log_warn(result->outcome == VD_RESULT_TERMINAL
                    ? "terminal reconcile failure; the item is parked"
                    : "reconcile failed too often; the item is parked",
                VD_F_STR("controller", c->options.name),
                VD_F_SLICE("namespace", vd_managed_item_namespace(item)),
                VD_F_SLICE("name", vd_managed_item_name(item)),
                VD_F_U64("attempts", item->work.failures), VD_F_SLICE("error", result->message));
    item->is_writing = true;
    c->writing++;
    if (c->options.ops && c->options.ops->park)
        c->options.ops->park(c, item, item->object, result);
    else
        vd_managed_parked(c, vd_managed_item_namespace(item), vd_managed_item_name(item),
                          item->generation, item->object ? &item->object->uid : NULL);
}

void vd_managed_parked(struct vd_managed *c, struct vd_slice namespace, struct vd_slice name,
                       int64_t generation, const struct vd_uid *uid)
{
    struct vd_managed_item *item = vd_managed_item_get(c, namespace, name);
    c->parked += !item->is_parked;
    item->is_parked = true;
    item->generation = generation;
    if (item->object)
        item->revision = item->object->revision;
    if (uid)
        item->uid = *uid;
    if (!item->is_writing)
        return;
    item->is_writing = false;
    c->writing--;
    vd_managed_item_finish(c, item);
}

bool vd_managed_release(struct vd_managed *c, struct vd_slice namespace, struct vd_slice name)
{
    struct vd_managed_item *item = vd_managed_item_find(c, namespace, name);
    if (!item || !item->is_parked)
        return false;
    vd_managed_item_unpark(c, item);
    vd_managed_enqueue(c, namespace, name, VD_WORK_FRESH);
    return true;
}

/* ---- outcomes ---- */

static void retry(struct vd_managed *c, struct vd_managed_item *item,
                  const struct vd_result *result)
{
    uint64_t now_ms = vd_managed_now_ms(c), pause_ms = result->after_ms;
    item->generation = vd_managed_generation(item->object);
    if (item->work.failures + 1 >= c->policy.attempts) {
        item->work.failures++;
        park(c, item, result);
        return;
    }
    if (pause_ms) {
        item->work.failures++;
        vd_work_queue_add_after(&c->queue, &item->work, now_ms, pause_ms);
    } else {
        pause_ms = vd_work_queue_retry(&c->queue, &item->work, now_ms);
    }
    vd_log_info("reconcile retry", VD_F_STR("controller", c->options.name),
                VD_F_SLICE("namespace", vd_managed_item_namespace(item)),
                VD_F_SLICE("name", vd_managed_item_name(item)),
                VD_F_U64("attempt", item->work.failures), VD_F_U64("backoff_ms", pause_ms),
                VD_F_SLICE("error", result->message));
    vd_managed_item_finish(c, item);
}

static void conclude(struct vd_managed *c, struct vd_managed_item *item,
                     const struct vd_result *result)
{
    c->counts[result->outcome]++;
    switch (result->outcome) {
    case VD_RESULT_SUCCESS:
        vd_work_queue_forget(&item->work);
        vd_managed_item_finish(c, item);
        break;
    case VD_RESULT_REQUEUE:
        vd_work_queue_forget(&item->work);
        vd_work_queue_add_after(&c->queue, &item->work, vd_managed_now_ms(c), result->after_ms);
        vd_managed_item_finish(c, item);
        break;
    case VD_RESULT_INTERRUPTED:
        vd_work_queue_add_after(&c->queue, &item->work, vd_managed_now_ms(c), INTERRUPTED_MS);
        vd_managed_item_finish(c, item);
        break;
    case VD_RESULT_RETRY:
        retry(c, item, result);
        break;
    case VD_RESULT_TERMINAL:
        item->work.failures++;
        item->generation = vd_managed_generation(item->object);
        park(c, item, result);
        break;
    case VD_RESULT_OUTCOMES:
        break;
    }
}

static bool has_to_write(const struct vd_managed *c, const struct vd_result *result)
{
    return c->options.ops && c->options.ops->write &&
           (result->status || result->conditions || result->events);
}

void vd_managed_written(struct vd_managed *c, struct vd_managed_item *item, int code,
                        const struct vd_error *error)
{
    assert(item->is_writing);
    item->is_writing = false;
    c->writing--;
    if (code == VD_ERR_CONFLICT) { /* it runs again, and that is not an attempt */
        c->conflicts++;
        vd_work_queue_add(&c->queue, &item->work);
        vd_managed_item_finish(c, item);
    } else if (code && code != VD_ERR_NOT_FOUND) {
        conclude(
            c, item,
            &(struct vd_result){.outcome = VD_RESULT_RETRY, .message = vd_slice_of(error->text)});
    } else {
        conclude(c, item,
                 &(struct vd_result){.outcome = item->outcome,
                                     .after_ms = item->after_ms,
                                     .message = VD_SLICE("the reconciler says so")});
    }
}

/* ---- the end of a run ---- */

/* Takes the run off the list, and keeps its memory for another one. */
static void release_run(struct vd_managed *c, struct vd_run *run)
{
    if (run->prev)
        run->prev->next = run->next;
    else
        c->runs = run->next;
    if (run->next)
        run->next->prev = run->prev;
    else
        c->runs_last = run->prev;
    if (run->is_slow)
        c->slow--;
    else
        c->busy--;
    run->next = c->free_runs;
    c->free_runs = run;
}

void vd_run_end(struct vd_run *run, const struct vd_result *given)
{
    struct vd_managed *c = run->controller;
    struct vd_managed_item *item = run->item;
    struct vd_result result = *given;
    bool is_cut = run->is_cancelled && c->is_stopping;
    bool is_late = run->is_cancelled && !is_cut && given->outcome != VD_RESULT_INTERRUPTED;
    char text[64];
    if (is_late) {
        int n = snprintf(text, sizeof text, "it took longer than %llu ms",
                         (unsigned long long)c->policy.timeout_ms);
        result = (struct vd_result){.outcome = VD_RESULT_RETRY,
                                    .message = vd_slice(text, (size_t)n)};
    }
    item->object = run->object;
    release_run(c, run);
    if (is_cut) { /* it stays pending, and runs again after the next start */
        vd_work_queue_add(&c->queue, &item->work);
        vd_managed_item_finish(c, item);
    } else if (has_to_write(c, &result)) {
        item->is_writing = true;
        item->outcome = result.outcome;
        item->after_ms = result.after_ms;
        c->writing++;
        c->options.ops->write(c, item, item->object, &result);
    } else {
        conclude(c, item, &result);
    }
}

/* ---- how it is ---- */

uint64_t vd_managed_revision(const struct vd_managed *c)
{
    return c->passed;
}

void vd_managed_stats(struct vd_managed *c, struct vd_managed_stats *out)
{
    uint64_t now_ms = vd_managed_now_ms(c);
    *out = (struct vd_managed_stats){
        .conflicts = c->conflicts,
        .timeouts = c->timeouts,
        .queued = vd_work_queue_count(&c->queue),
        .delayed = vd_work_queue_delayed(&c->queue),
        .running = c->busy + c->slow,
        .slow = c->slow,
        .parked = c->parked,
        .ended_ms = c->ended_ms,
        .is_synced = vd_informer_is_synced(&c->informer),
        .is_paused = c->is_paused,
    };
    for (size_t i = 0; i < sizeof c->counts / sizeof *c->counts; i++)
        out->runs[i] = c->counts[i];
    /* Something runs, and for a long time no run has ended. A controller that has nothing to do is
     * not stalled, and neither is one whose oldest run has just begun. */
    uint64_t since_ms = c->runs ? c->runs->started_ms : now_ms;
    if (since_ms < c->ended_ms)
        since_ms = c->ended_ms;
    out->is_stalled = now_ms - since_ms >= c->policy.stall_ms;
}
