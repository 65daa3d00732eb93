/*
 * The compactor moves the floor.
 *
 * Everything at or below the floor is expired. Nobody can then ask for what a
 * row at or below the floor replaced, so those replaced rows go, and so do
 * deletions that the floor has passed:
 *
 *      revision  2 a   3 b   4 a   5 b(deleted)   6 c      floor 5
 *      goes      x     x           x
 *
 * The newest row of a living object stays however old it is: it is the object.
 *
 * The compactor works in steps of VD_COMPACT_STEP_ROWS rows, each a small transaction of its own,
 * between the writer's groups. The floor always stands at the end of an atomic batch and below the
 * newest revision, so a client that has just listed can always watch from there.
 *
 * Where several processes share the log, each of them compacts. A step that finds that another
 * process has moved the floor only takes over that floor.
 */
#include <assert.h>

#include "store/store_internal.h"

enum {
    RETRY_NS = 1000000000, /* nanoseconds before a step that failed is tried again */
    LOOK_AGAIN_MS = 60000, /* milliseconds until it looks again when only the newest batch is left,
                              which has to stay */
};

/* The next rows above the floor, as far as one step reads. */
struct scan {
    struct vd_store *store;
    uint64_t target;   /* the floor that was asked for; 0: only the window's bounds count */
    size_t over;       /* how many events the window has beyond its bound */
    int64_t oldest_ms; /* events before this time are too old */
    bool stopped;      /* met a row that stays in the window */

    size_t seen;      /* rows so far */
    uint64_t last;    /* revision of the last of them */
    size_t passed;    /* those of them at or below `floor` */
    uint64_t floor;   /* the last row so far that ends a batch */
    size_t dead_upto; /* how many of `dead` are removed with that floor */
    VD_VEC(uint64_t) dead;
};

static bool leaves_window(const struct scan *s, const struct vd_row *row)
{
    return row->revision <= s->target || s->seen < s->over || row->time_ms < s->oldest_ms;
}

/* Looks at a row's head and wants no body: the head says whether the row leaves the window, and
 * which rows go with it. */
static bool scan_row(void *arg, const struct vd_row *row)
{
    struct scan *s = arg;
    if (s->stopped || !leaves_window(s, row)) {
        if (!s->stopped)
            s->store->compactor.next_age_ms = row->time_ms + s->store->options.window_age_ms_max;
        s->stopped = true;
        return false;
    }
    s->seen++;
    s->last = row->revision;
    /* What a creation follows is a deletion, which is in `dead` already. */
    if (row->previous && row->type != VD_EVENT_CREATED)
        *VD_VEC_PUSH(&s->dead) = row->previous;
    if (row->type == VD_EVENT_DELETED)
        *VD_VEC_PUSH(&s->dead) = row->revision;
    if (!row->more) {
        s->floor = row->revision;
        s->passed = s->seen;
        s->dead_upto = s->dead.n;
    }
    return false;
}

static bool take_nothing(void *arg, const struct vd_row *row)
{
    (void)arg;
    (void)row;
    return true;
}

/* Compaction starts when the window is some events over its bound and ends when it is back at the
 * bound, so that a busy server compacts in runs and not after each write. */
static bool is_due(struct vd_store *store, uint64_t target, int64_t now_ms)
{
    size_t max = store->options.window_events_max;
    size_t slack = max / 16 < VD_COMPACT_STEP_ROWS ? max / 16 : VD_COMPACT_STEP_ROWS;
    if (target > store->index.floor)
        return true;
    if (store->options.manual_compaction ||
        vd_clock_mono_ns(store->options.clock) < store->compactor.retry_ns)
        return false;
    if (store->index.window_events > max + slack)
        store->compactor.active = true;
    if (store->index.window_events <= max)
        store->compactor.active = false;
    return store->compactor.active || now_ms >= store->compactor.next_age_ms;
}

static int finish(struct vd_store *store, const struct scan *s, struct vd_error *error)
{
    struct vd_compaction what = {s->dead.p, s->dead_upto, store->index.floor, s->floor, s->passed};
    vd_index_expect_floor(&store->index, s->floor);
    int code = store->engine->ops->compact(store->engine, &what, error);
    if (vd_code_passes(code))
        store->compactor.retry_ns = vd_clock_mono_ns(store->options.clock) + RETRY_NS;
    if (code) {
        vd_index_expect_floor(&store->index, store->index.floor);
        return code;
    }
    /* Counted first: whoever sees the new floor sees the count that goes with it. */
    atomic_fetch_add_explicit(&store->compacted_rows, s->dead_upto, memory_order_relaxed);
    vd_index_move_floor(&store->index, s->floor, s->passed);
    return VD_OK;
}

int vd_compactor_step(struct vd_store *store, uint64_t target, bool *again, struct vd_error *error)
{
    int64_t now_ms = vd_clock_wall_ms(store->options.clock);
    struct vd_index *index = &store->index;
    *again = false;
    if (!is_due(store, target, now_ms))
        return VD_OK;
    bool manual = store->options.manual_compaction;
    struct scan s = {
        .store = store, .target = target, .last = index->floor, .oldest_ms = INT64_MIN};
    if (!manual && index->window_events > store->options.window_events_max)
        s.over = index->window_events - store->options.window_events_max;
    if (!manual)
        s.oldest_ms = now_ms - store->options.window_age_ms_max;
    store->compactor.next_age_ms = now_ms + LOOK_AGAIN_MS;
    struct vd_row_sink sink = {scan_row, take_nothing, &s};
    int code;
    size_t seen;
    do { /* the floor passes a whole atomic batch or none of it: read on until one ends */
        seen = s.seen;
        code = store->engine->ops->read(store->engine, s.last, index->revision - 1,
                                        VD_COMPACT_STEP_ROWS, &sink, error);
    } while (!code && !s.passed && !s.stopped && s.seen > seen);
    if (!code && s.passed)
        code = finish(store, &s, error);
    bool overtaken = store->engine->shared && (code == VD_ERR_BEHIND || code == VD_ERR_EXPIRED);
    if (overtaken) /* another process has compacted: look again from where it stands now */
        code = vd_intake_all(store, error);
    *again = !code && (overtaken || (s.passed && !s.stopped));
    if (code || *again)
        store->compactor.next_age_ms = now_ms;
    VD_VEC_RELEASE(&s.dead);
    return code;
}
