/*
 * See upkeep.h. There is a record for each repository that was ever looked at, in a queue while it
 * waits for a look. One record at a time is the current one:
 *
 *     measured -> not due: at rest
 *              -> due: git gc -> good: marked and measured again -> at rest
 *                             -> failed, or ended: what it has left is removed -> at rest
 */
#include "git/upkeep.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "base/hash_map.h"
#include "base/limits.h"
#include "base/log.h"
#include "git/bare_repository.h"
#include "git/gc_run.h"
#include "git/leftovers.h"
#include "git/meter.h"
#include "git/upkeep_measure.h"
#include "kinds/uid.h"

enum {
    TICK_MS = 600000,   /* between two walks over the records ... */
    LOOK_MS = 3600000,  /* ... that are looked at if the last look is so long ago */
    GIVE_WAY_MS = 60000 /* that a repository is left alone in which git had to end */
};

struct kept {
    struct kept *next; /* of the queue */
    bool is_queued;
    uint64_t looked_ns;     /* when that was last */
    uint64_t not_before_ns; /* of the next run of git */
    char uid[VD_UID_TEXT_MAX];
};

struct vd_upkeep {
    struct vd_upkeep_options options;
    struct vd_hash_map all; /* records by uid */
    struct kept *first, *last;
    struct kept *current; /* NULL: at rest */
    struct vd_timer tick;
    bool is_stopped;
    /* ---- of the current one ---- */
    struct vd_work work;
    struct vd_upkeep_measure before, after;
    struct vd_folder_use use;
    struct vd_gc_run gc;
    int64_t ended_ms; /* wall clock */
};

static struct vd_slice kept_uid(const void *item)
{
    return vd_slice_of(((const struct kept *)item)->uid);
}

static uint64_t now_ns(void)
{
    return vd_clock_mono_ns(vd_clock_system());
}

static void next(struct vd_upkeep *u);

static void queue(struct vd_upkeep *u, struct kept *k)
{
    if (k->is_queued)
        return;
    k->is_queued = true;
    k->next = NULL;
    *(u->last ? &u->last->next : &u->first) = k;
    u->last = k;
}

/* Nothing is under way any more. */
static void rest(struct vd_upkeep *u)
{
    struct kept *k = u->current;
    u->current = NULL;
    if (!u->before.exists && !k->is_queued) {
        vd_hash_map_remove(&u->all, kept_uid(k));
        free(k);
    }
    next(u);
}

static void pause_for(struct kept *k, uint64_t ms)
{
    k->not_before_ns = now_ns() + ms * 1000000;
}

static void work(struct vd_upkeep *u, void (*run)(struct vd_work *), void (*done)(struct vd_work *))
{
    u->work.run = run;
    u->work.done = done;
    vd_loop_work(u->options.loop, &u->work);
}

static struct vd_upkeep *of_work(struct vd_work *w)
{
    return VD_CONTAINER_OF(w, struct vd_upkeep, work);
}

/* ---- after git ---- */

static void mark(struct vd_work *w)
{
    struct vd_upkeep *u = of_work(w);
    vd_upkeep_measure_mark(u->options.root, u->current->uid);
    vd_upkeep_measure_take(&u->after, u->options.root, u->current->uid,
                           vd_clock_wall_ms(vd_clock_system()));
}

static void on_marked(struct vd_work *w)
{
    struct vd_upkeep *u = of_work(w);
    vd_log_info("a repository was packed", VD_F_STR("uid", u->current->uid),
                VD_F_U64("packs_before", u->before.packs), VD_F_U64("packs", u->after.packs),
                VD_F_U64("loose_before", u->before.loose), VD_F_U64("loose", u->after.loose),
                VD_F_U64("ms", u->gc.duration_ns / 1000000));
    if (u->after.is_large) /* it would not help to try again at once */
        pause_for(u->current, VD_GIT_UPKEEP_RETRY_MS);
    rest(u);
}

static void clean(struct vd_work *w)
{
    struct vd_upkeep *u = of_work(w);
    struct vd_error error;
    if (vd_leftovers_remove_packs(u->options.root, u->current->uid, u->ended_ms, &error))
        vd_log_warn("what git gc has left could not be removed", VD_F_ERROR(&error));
}

static void on_clean(struct vd_work *w)
{
    rest(of_work(w));
}

static const char *result_name(enum vd_gc_result result)
{
    return result == VD_GC_GOOD ? "good" : result == VD_GC_FAILED ? "failed" : "stopped";
}

static void on_gc_done(struct vd_gc_run *gc)
{
    struct vd_upkeep *u = VD_CONTAINER_OF(gc, struct vd_upkeep, gc);
    vd_folder_use_end(&u->use);
    vd_git_meter_upkeep(result_name(gc->result), gc->duration_ns);
    u->ended_ms = vd_clock_wall_ms(vd_clock_system());
    if (u->is_stopped || gc->result == VD_GC_STOPPED) {
        u->current = NULL;
        return;
    }
    if (gc->result != VD_GC_GOOD)
        pause_for(u->current, gc->result == VD_GC_ENDED ? GIVE_WAY_MS : VD_GIT_UPKEEP_RETRY_MS);
    if (gc->result == VD_GC_GOOD)
        work(u, mark, on_marked);
    else if (vd_folder_is_used(u->options.uses, kept_uid(u->current)))
        rest(u); /* a fetch writes packs, too: it stays for the next upkeep */
    else
        work(u, clean, on_clean);
}

/* ---- git ---- */

static void begin(struct vd_upkeep *u)
{
    const struct vd_upkeep_options *o = &u->options;
    struct vd_buf folder = {0};
    struct vd_error error;
    vd_bare_repository_path(&folder, o->root, u->current->uid);
    u->gc = (struct vd_gc_run){.loop = o->loop,
                               .program = o->program,
                               .folder = vd_buf_text(&folder),
                               .uid = u->current->uid,
                               .keeps_refs = o->is_pushed(o->arg, kept_uid(u->current)),
                               .done = on_gc_done};
    int code = vd_gc_run_start(&u->gc, &error);
    vd_buf_release(&folder);
    if (!code) {
        vd_folder_use_begin(&u->use, o->uses, kept_uid(u->current));
        return;
    }
    vd_log_warn("git gc could not be started", VD_F_ERROR(&error));
    vd_git_meter_upkeep("failed", 0);
    pause_for(u->current, VD_GIT_UPKEEP_RETRY_MS);
    rest(u);
}

/* ---- the look ---- */

static void measure(struct vd_work *w)
{
    struct vd_upkeep *u = of_work(w);
    vd_upkeep_measure_take(&u->before, u->options.root, u->current->uid,
                           vd_clock_wall_ms(vd_clock_system()));
}

static void on_measured(struct vd_work *w)
{
    struct vd_upkeep *u = of_work(w);
    struct kept *k = u->current;
    k->looked_ns = now_ns();
    if (u->is_stopped)
        u->current = NULL;
    else if (u->before.exists && u->before.is_due && k->looked_ns >= k->not_before_ns)
        begin(u);
    else
        rest(u);
}

static void next(struct vd_upkeep *u)
{
    struct kept *k = u->first;
    if (u->current || u->is_stopped || !k)
        return;
    u->first = k->next;
    if (!u->first)
        u->last = NULL;
    k->is_queued = false;
    u->current = k;
    work(u, measure, on_measured);
}

/* ---- from outside ---- */

static void on_tick(struct vd_timer *timer)
{
    struct vd_upkeep *u = VD_CONTAINER_OF(timer, struct vd_upkeep, tick);
    uint64_t now = now_ns();
    size_t at = 0;
    for (struct kept *k; (k = vd_hash_map_next(&u->all, &at));)
        if (now - k->looked_ns >= LOOK_MS * UINT64_C(1000000))
            queue(u, k);
    vd_timer_set(u->options.loop, &u->tick, TICK_MS);
    next(u);
}

void vd_upkeep_look(struct vd_upkeep *u, struct vd_slice uid)
{
    if (!u || u->is_stopped || uid.n >= VD_UID_TEXT_MAX)
        return;
    struct kept *k = vd_hash_map_get(&u->all, uid);
    if (!k) {
        k = VD_NEW(struct kept);
        memcpy(k->uid, uid.p, uid.n);
        vd_hash_map_put(&u->all, k);
    }
    if (!vd_timer_is_set(&u->tick))
        vd_timer_set(u->options.loop, &u->tick, TICK_MS);
    queue(u, k);
    next(u);
}

void vd_upkeep_give_way(struct vd_upkeep *u, struct vd_slice uid)
{
    if (u && u->current && vd_slice_eq(kept_uid(u->current), uid))
        vd_gc_run_end(&u->gc);
}

struct vd_upkeep *vd_upkeep_new(const struct vd_upkeep_options *options)
{
    struct vd_upkeep *u = VD_NEW(struct vd_upkeep);
    u->options = *options;
    u->tick.fire = on_tick;
    vd_hash_map_init(&u->all, kept_uid);
    return u;
}

void vd_upkeep_stop(struct vd_upkeep *u)
{
    if (!u)
        return;
    u->is_stopped = true;
    vd_timer_stop(u->options.loop, &u->tick);
    if (u->current)
        vd_gc_run_end(&u->gc);
}

void vd_upkeep_free(struct vd_upkeep *u)
{
    size_t at = 0;
    if (!u)
        return;
    for (struct kept *k; (k = vd_hash_map_next(&u->all, &at));)
        free(k);
    vd_hash_map_release(&u->all);
    free(u);
}
