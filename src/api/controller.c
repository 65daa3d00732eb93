/*
 * See controller.h. A turn is one task on the loop: it lets the informer do a piece, reconciles a
 * few items, and posts itself again while there is more. The store's writer posts it after each
 * commit, unless it is posted already.
 *
 * A commit is told before its proposer is answered, so when an item is reconciled again after a
 * batch, its controller has mostly seen what the batch did. Nothing depends on it.
 */
#include "api/controller.h"

#include <assert.h>
#include <stdlib.h>

#include "base/container_of.h"
#include "base/log.h"
#include "json/parse.h"

enum {
    TURN_ITEMS = 32,    /* reconciled in a turn */
    BATCHES_MAX = 32,   /* on their way; the other items wait */
    RETRY_MS_MIN = 100, /* before what the store could not do is tried again; it doubles, ... */
    RETRY_MS_MAX = 1000 /* ... up to this */
};

static uint64_t now_ms(const struct vd_controller *c)
{
    return vd_clock_mono_ns(c->env.clock) / 1000000;
}

/* ---- turns ---- */

/* Any thread. */
static void post_turn(void *arg)
{
    struct vd_controller *c = arg;
    if (!atomic_exchange(&c->turn_posted, true))
        vd_loop_post_last(c->env.loop, &c->turn);
}

/* On the loop. */
static void post_turn_unless_stopping(void *arg)
{
    struct vd_controller *c = arg;
    if (!c->stopping)
        post_turn(c);
}

static bool may_reconcile(const struct vd_controller *c)
{
    return vd_informer_is_synced(&c->informer) && c->batches < BATCHES_MAX;
}

static void settle(struct vd_controller_item *item)
{
    if (item->reconciler->settled && vd_controller_item_is_idle(item))
        item->reconciler->settled(item);
}

static void reconcile_some(struct vd_controller *c)
{
    struct vd_work_item *work;
    bool some = vd_work_queue_count(&c->queue) || vd_work_queue_next_ms(&c->queue) != UINT64_MAX;
    uint64_t now = some ? now_ms(c) : 0;
    for (size_t i = 0; some && i < TURN_ITEMS && may_reconcile(c); i++) {
        if (!(work = vd_work_queue_take(&c->queue, now)))
            return;
        struct vd_controller_item *item = VD_CONTAINER_OF(work, struct vd_controller_item, work);
        item->reconciler->reconcile(item);
        if (item->sent) /* it goes on running */
            continue;
        vd_work_queue_forget(work);
        vd_work_queue_done(&c->queue, work);
        settle(item);
    }
}

/* True: there is more to tell at once. */
static bool turn_informer(struct vd_controller *c)
{
    if (vd_timer_is_set(&c->relist))
        return false;
    uint64_t after_ms = vd_informer_turn(&c->informer);
    if (after_ms && after_ms != VD_INFORMER_IDLE)
        vd_timer_set(c->env.loop, &c->relist, after_ms);
    return after_ms == 0;
}

static void set_delayed(struct vd_controller *c)
{
    uint64_t due_ms = vd_work_queue_next_ms(&c->queue);
    if (due_ms == UINT64_MAX || !may_reconcile(c)) /* what that waits for posts a turn */
        return;
    uint64_t now = now_ms(c);
    vd_timer_set(c->env.loop, &c->delayed, due_ms > now ? due_ms - now : 0);
}

static void take_turn(struct vd_task *task)
{
    struct vd_controller *c = VD_CONTAINER_OF(task, struct vd_controller, turn);
    atomic_store(&c->turn_posted, false);
    if (c->stopping)
        return;
    bool more = turn_informer(c);
    reconcile_some(c);
    set_delayed(c);
    if (more || (vd_work_queue_count(&c->queue) && may_reconcile(c)))
        post_turn(c);
}

static void on_relist(struct vd_timer *timer)
{
    post_turn(VD_CONTAINER_OF(timer, struct vd_controller, relist));
}

static void on_delayed(struct vd_timer *timer)
{
    post_turn(VD_CONTAINER_OF(timer, struct vd_controller, delayed));
}

/* ---- items ---- */

void vd_controller_add(struct vd_controller *c, struct vd_controller_item *item)
{
    vd_work_queue_add(&c->queue, &item->work);
}

void vd_controller_sent(struct vd_controller *c, struct vd_controller_item *item)
{
    assert(item->work.running && !item->sent);
    item->sent = true;
    c->batches++;
}

static bool is_refusal(enum vd_code code)
{
    return code == VD_ERR_CONFLICT || code == VD_ERR_NOT_FOUND || code == VD_ERR_EXISTS;
}

void vd_controller_answered(struct vd_controller *c, struct vd_controller_item *item,
                            enum vd_code code)
{
    assert(c->batches > 0 && item->sent);
    c->batches--;
    item->sent = false;
    item->code = code;
    if (code == VD_OK || is_refusal(code)) {
        vd_work_queue_forget(&item->work);
        vd_work_queue_add(&c->queue, &item->work);
    } else {
        vd_log_warn("the server's own change could not be made; it is tried again",
                    VD_F_STR("code", vd_code_name((int)code)));
        (void)vd_work_queue_retry(&c->queue, &item->work, now_ms(c));
    }
    vd_work_queue_done(&c->queue, &item->work);
    post_turn_unless_stopping(c); /* also others may have waited for this batch */
    if (c->stopping && c->quiet && c->batches == 0)
        uv_sem_post(&c->stopped);
}

/* The version's document. What was stored can be parsed, unless it was stored by nobody of ours. */
static int parse(const struct vd_event *event, struct vd_arena *arena, struct vd_json **object,
                 struct vd_error *error)
{
    const struct vd_entry *entry = event->entry;
    if (!vd_json_parse_copy(arena, vd_body_slice(event->body), NULL, object, error))
        return VD_OK;
    error->code = VD_ERR_CORRUPT;
    vd_error_prefix(error, "revision %llu, %.*s \"%.*s\"", (unsigned long long)event->revision,
                    VD_FMT(vd_entry_resource(entry)), VD_FMT(vd_entry_path(entry)));
    return VD_ERR_CORRUPT;
}

int vd_controller_read(struct vd_controller *c, const struct vd_key *key, struct vd_arena *arena,
                       struct vd_event **out, struct vd_json **object)
{
    struct vd_event *event = NULL;
    struct vd_error error;
    int code = vd_store_get(c->env.store, key, 0, &event, &error);
    if (!code && object)
        code = parse(event, arena, object, &error);
    if (code == VD_ERR_CORRUPT)
        vd_informer_report(&c->informer, &error);
    if (code) {
        vd_event_unref(event);
        return code;
    }
    *out = event;
    return VD_OK;
}

/* ---- life cycle ---- */

void vd_controller_init(struct vd_controller *c, const struct vd_controller_env *env,
                        const struct vd_controller_options *options)
{
    *c = (struct vd_controller){.env = *env};
    vd_informer_init(&c->informer, &(struct vd_informer_options){.store = env->store,
                                                                 .name = options->name,
                                                                 .listed = options->listed,
                                                                 .wake = post_turn,
                                                                 .arg = c});
    vd_work_queue_init(&c->queue,
                       &(struct vd_work_queue_options){.wake = post_turn_unless_stopping,
                                                       .arg = c,
                                                       .retry = {RETRY_MS_MIN, RETRY_MS_MAX}});
    c->turn.run = take_turn;
    c->relist.fire = on_relist;
    c->delayed.fire = on_delayed;
    int rc = uv_sem_init(&c->stopped, 0);
    assert(rc == 0);
    (void)rc;
}

void vd_controller_start(struct vd_controller *c)
{
    vd_informer_start(&c->informer);
    post_turn(c);
}

/* Behind this, no turn is waiting and none can come. */
static void fall_quiet(struct vd_task *task)
{
    struct vd_controller *c = VD_CONTAINER_OF(task, struct vd_controller, stop);
    c->quiet = true;
    if (c->batches == 0)
        uv_sem_post(&c->stopped);
}

static void begin_stop(struct vd_task *task)
{
    struct vd_controller *c = VD_CONTAINER_OF(task, struct vd_controller, stop);
    c->stopping = true;
    vd_timer_stop(c->env.loop, &c->relist);
    vd_timer_stop(c->env.loop, &c->delayed);
    vd_informer_stop(&c->informer);
    c->stop.run = fall_quiet;
    vd_loop_post_last(c->env.loop, &c->stop);
}

void vd_controller_stop(struct vd_controller *c)
{
    c->stop.run = begin_stop;
    vd_loop_post_last(c->env.loop, &c->stop);
    uv_sem_wait(&c->stopped);
    uv_sem_destroy(&c->stopped);
    vd_work_queue_release(&c->queue);
}
