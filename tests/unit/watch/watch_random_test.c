/*
 * Watchers at random, with threads: three write, two are loops with twenty watchers each, which are
 * slow, leave and come back, while the window moves. At the end what every watcher was told is
 * compared with the model (watch_model.h).
 *
 * The seed is printed; VEDETTE_SEED sets it. It fixes what each thread does, but not how the
 * threads are scheduled.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/container_of.h"
#include "check.h"
#include "watch/registry.h"
#include "watch_model.h"

/* How long it may take until a floor that was announced is set. */
static const uint64_t FLOOR_PATIENCE_NS = 10000000000u;

enum {
    WRITERS = 3,
    LOOPS = 2,
    WATCHERS = 20,
    BATCH_MAX = 6,
};

static uint64_t seed;

/* xorshift64*: each thread has its own. */
static uint32_t below(uint64_t *random, uint32_t n)
{
    *random ^= *random >> 12;
    *random ^= *random << 25;
    *random ^= *random >> 27;
    return (uint32_t)((*random * 2685821657736338717u) >> 33) % n;
}

static uint64_t random_for(uint64_t who)
{
    uint64_t random = (seed + who) * 0x9e3779b97f4a7c15u | 1;
    below(&random, 2);
    return random;
}

/* ---- the log, as a subscriber is told of it ---- */

struct recorder {
    struct vd_subscriber subscriber; /* first */
    VD_VEC(struct vd_commit *) commits;
};

static void record_commit(struct vd_subscriber *subscriber, struct vd_commit *commit)
{
    *VD_VEC_PUSH(
        &VD_CONTAINER_OF(subscriber, struct recorder, subscriber)->commits) = vd_commit_ref(commit);
}

static void recorder_take(struct recorder *recorder, struct watch_model *model)
{
    for (size_t i = 0; i < recorder->commits.n; i++) {
        struct vd_commit *commit = recorder->commits.p[i];
        for (size_t k = 0; k < commit->n; k++)
            watch_model_add(model, commit->changes[k].now);
        vd_commit_unref(commit);
    }
    VD_VEC_RELEASE(&recorder->commits);
}

/* ---- writers ---- */

struct writer {
    pthread_t thread;
    struct vd_store *store;
    uint64_t random;
    unsigned ops, number;
    bool failed;
};

/* Writes a single change or a batch; a batch that deletes a missing object is refused as a
 * whole. */
static int write_something(struct writer *w)
{
    struct vd_wish wishes[BATCH_MAX];
    struct vd_buf rooms[BATCH_MAX] = {{0}};
    struct vd_outcome outcome;
    size_t n = below(&w->random, 4) ? 1 : 2 + below(&w->random, BATCH_MAX - 1);
    for (size_t i = 0; i < n; i++) {
        unsigned object = below(&w->random, MODEL_OBJECTS);
        bool is_put = below(&w->random, n > 1 ? 8 : 4) > 0;
        wishes[i] = (struct vd_wish){.action = is_put ? VD_PUT : VD_DELETE,
                                     .key = watch_model_key(object)};
        if (is_put)
            wishes[i].body = watch_model_body(&rooms[i], object, below(&w->random, MODEL_APPS),
                                              below(&w->random, MODEL_TIERS), w->number++);
    }
    vd_store_commit(w->store, wishes, n, &outcome);
    for (size_t i = 0; i < n; i++)
        vd_buf_release(&rooms[i]);
    return outcome.code == VD_ERR_NOT_FOUND ? VD_OK : (int)outcome.code;
}

static void *writer_run(void *arg)
{
    struct writer *w = arg;
    struct vd_error error;
    for (unsigned i = 0; i < w->ops && !w->failed; i++) {
        w->failed = write_something(w) != VD_OK;
        uint64_t newest = vd_store_revision(w->store);
        if (below(&w->random, 500) == 0 && newest > 200)
            w->failed |= vd_store_compact(w->store, newest - 200, &error) != VD_OK;
    }
    return NULL;
}

/* ---- loops and their watchers ---- */

struct loop {
    pthread_t thread;
    struct vd_store *store;
    struct vd_registry *registry;
    uint64_t random;
    bool calm; /* every watcher takes everything, as the test is about to end */
    struct member *members;
    size_t parked, expired, snapshots, left;

    pthread_mutex_t lock; /* guards the next two */
    pthread_cond_t changed;
    bool woken, finish;
};

struct member {
    struct vd_watcher watcher; /* first */
    struct loop *loop;
    struct view view;
    struct trace trace;
    bool is_slow, is_open, must_list;
    uint64_t seen; /* a client that knows only what it was sent would resume here... */
    uint64_t upto; /* ...and one that was sent a bookmark here */
};

static struct mark *mark(struct member *m, enum mark_type type, uint64_t revision)
{
    struct mark *added = VD_VEC_PUSH(&m->trace.marks);
    *added = (struct mark){.type = (uint8_t)type, .revision = revision};
    return added;
}

static enum vd_take choose_answer(struct member *m, bool may_refuse)
{
    struct loop *l = m->loop;
    uint32_t chance = below(&l->random, m->is_slow ? 10 : 100);
    if (l->calm || chance > 3)
        return VD_TAKE_MORE;
    if (chance == 0)
        return VD_TAKE_END;
    return chance == 1 && may_refuse ? VD_TAKE_NOT : VD_TAKE_LAST;
}

static enum vd_take deliver(struct vd_watcher *watcher, const struct vd_deliveries *d,
                            struct vd_shared **shared)
{
    struct member *m = VD_CONTAINER_OF(watcher, struct member, watcher);
    bool of_snapshot = watcher->cursor.snapshot || d->snapshot_end;
    enum vd_take answer = choose_answer(m, shared != NULL);
    if (below(&m->loop->random, 10) == 0) /* as if what one takes made room for another */
        vd_watcher_resume(&m->loop->members[below(&m->loop->random, WATCHERS)].watcher);
    m->loop->parked += answer == VD_TAKE_LAST || answer == VD_TAKE_NOT;
    m->loop->left += answer == VD_TAKE_END;
    if (answer == VD_TAKE_NOT)
        return answer;
    for (size_t i = 0; i < d->list.n; i++) {
        const struct vd_delivery *one = &d->list.p[i];
        struct mark *added = mark(m, of_snapshot ? MARK_ITEM : MARK_EVENT, one->event->revision);
        added->word = (uint8_t)one->type;
        added->hash = mark_hash(one->event->entry,
                                one->body ? vd_body_slice(one->body) : VD_SLICE(""));
        if (!of_snapshot)
            m->seen = one->event->revision;
    }
    if (d->snapshot_end) {
        mark(m, MARK_SNAPSHOT_END, d->upto);
        m->seen = d->upto;
    }
    if (!of_snapshot || d->snapshot_end) {
        mark(m, MARK_UPTO, d->upto)->word = d->whole;
        m->upto = d->upto;
    }
    return answer;
}

/* The floor that expired a cursor. A floor is announced (floor_next) before it is set: readers
 * expire first, then the rows are removed, so it may take a moment until vd_store_floor() gives
 * it. */
static uint64_t floor_at(struct vd_store *store, uint64_t expired)
{
    uint64_t end_ns = vd_clock_mono_ns(vd_clock_system()) + FLOOR_PATIENCE_NS;
    uint64_t floor;
    while ((floor = vd_store_floor(store)) < expired &&
           vd_clock_mono_ns(vd_clock_system()) < end_ns)
        sched_yield();
    return floor;
}

static void ended(struct vd_watcher *watcher, const struct vd_error *error)
{
    struct member *m = VD_CONTAINER_OF(watcher, struct member, watcher);
    bool expired = error->code == VD_ERR_EXPIRED;
    struct mark *added = mark(m, expired ? MARK_EXPIRED : MARK_FAILED, watcher->cursor.revision);
    added->word = (uint8_t)error->code;
    added->hash = floor_at(m->loop->store, watcher->cursor.revision);
    m->must_list = true;
    m->loop->expired++;
}

/* Begins with a snapshot. A watcher of all resources, which cannot have one, goes on from now. */
static bool list_anew(struct member *m, struct vd_filter *filter)
{
    struct vd_cursor *cursor = &m->watcher.cursor;
    struct vd_error error;
    if (m->view.resource < 0) {
        vd_cursor_open_now(cursor, m->loop->store, filter);
        m->seen = m->upto = cursor->revision;
        mark(m, MARK_START, cursor->revision);
        return true;
    }
    if (vd_cursor_open_snapshot(cursor, m->loop->store, filter, &error))
        return false; /* the floor has passed it already: try again later */
    mark(m, MARK_SNAPSHOT, cursor->revision);
    m->loop->snapshots++;
    return true;
}

/* A client reconnects: with its cursor, at its last revision, or with a new list. */
static void join(struct member *m)
{
    struct loop *l = m->loop;
    struct vd_cursor *cursor = &m->watcher.cursor;
    struct vd_error error;
    bool in_snapshot = m->is_open && cursor->snapshot;
    if (m->is_open && !m->must_list && below(&l->random, 2)) {
        vd_registry_add(l->registry, &m->watcher);
        return;
    }
    if (m->is_open)
        vd_cursor_close(cursor);
    m->is_open = false;
    m->must_list |= in_snapshot || !m->upto;
    struct vd_filter *filter = test_filter(view_texts(&m->view));
    if (!m->must_list) {
        uint64_t from = below(&l->random, 2) ? m->seen : m->upto;
        m->is_open = !vd_cursor_open_at(cursor, l->store, filter, from, &error);
        if (m->is_open)
            mark(m, MARK_START, from);
        else
            mark(m, MARK_EXPIRED, from)->hash = floor_at(l->store, from);
        m->must_list = !m->is_open;
    }
    if (!m->is_open)
        m->is_open = list_anew(m, filter);
    vd_filter_unref(filter);
    if (!m->is_open)
        return;
    m->must_list = false;
    vd_registry_add(l->registry, &m->watcher);
}

/* Between turns anything may happen to a watcher. */
static void act(struct member *m)
{
    struct loop *l = m->loop;
    switch (m->watcher.state) {
    case VD_WATCHER_OUT:
        if (l->calm || below(&l->random, 8) == 0)
            join(m);
        return;
    case VD_WATCHER_PARKED:
        if (l->calm || below(&l->random, m->is_slow ? 200 : 4) == 0)
            vd_watcher_resume(&m->watcher);
        break;
    default:
        if (!l->calm && below(&l->random, 300) == 0)
            vd_registry_remove(&m->watcher);
    }
    uint64_t bookmark = vd_watcher_bookmark(&m->watcher);
    if (bookmark && below(&l->random, 4) == 0) {
        mark(m, MARK_BOOKMARK, bookmark);
        m->upto = bookmark;
    }
}

static bool all_synced(const struct loop *l)
{
    struct vd_registry_stats stats;
    vd_registry_stats(l->registry, &stats);
    return stats.synced == WATCHERS && stats.revision == vd_store_revision(l->store);
}

static void wake(void *arg)
{
    struct loop *l = arg;
    pthread_mutex_lock(&l->lock);
    l->woken = true;
    pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

/* Waits for something to do; says whether the end has come. */
static bool loop_wait(struct loop *l, bool more)
{
    pthread_mutex_lock(&l->lock);
    while (!more && !l->woken && !l->finish)
        pthread_cond_wait(&l->changed, &l->lock);
    l->woken = false;
    bool finish = l->finish;
    pthread_mutex_unlock(&l->lock);
    return finish;
}

static void *loop_run(void *arg)
{
    struct loop *l = arg;
    bool more = true;
    while (!l->calm || !all_synced(l)) {
        l->calm = loop_wait(l, more || l->calm);
        vd_registry_limit_turn(l->registry, below(&l->random, 2) ? 0 : 1 + below(&l->random, 6));
        more = vd_registry_turn(l->registry, below(&l->random, 300));
        for (size_t i = 0; i < WATCHERS; i++)
            act(&l->members[i]);
    }
    for (size_t i = 0; i < WATCHERS; i++) {
        vd_registry_remove(&l->members[i].watcher);
        vd_cursor_close(&l->members[i].watcher.cursor);
    }
    return NULL;
}

static int any_or(uint64_t *random, uint32_t n)
{
    return below(random, 2) ? -1 : (int)below(random, n);
}

static void loop_init(struct loop *l, struct vd_store *store, uint64_t who)
{
    static const struct vd_watcher_ops ops = {.deliver = deliver, .ended = ended};
    *l = (struct loop){.store = store, .random = random_for(who)};
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    l->members = calloc(WATCHERS, sizeof *l->members);
    for (size_t i = 0; i < WATCHERS; i++) {
        struct member *m = &l->members[i];
        m->watcher.ops = &ops;
        m->loop = l;
        m->is_slow = i % 4 == 0;
        m->view = (struct view){
            .resource = below(&l->random, 5) ? (int)below(&l->random, MODEL_KINDS) : -1,
            .namespace = any_or(&l->random, MODEL_SPACES),
            .name = below(&l->random, 3) ? -1 : (int)below(&l->random, MODEL_NAMES),
            .labels = below(&l->random, MODEL_LABEL_CASES),
            .fields = below(&l->random, 2) ? 0 : below(&l->random, MODEL_FIELD_CASES),
        };
        if (i == 1) /* one watcher sees everything */
            m->view = (struct view){-1, -1, -1, 0, 0};
    }
    l->registry = vd_registry_new(store, wake, l);
}

static void loop_finish(struct loop *l)
{
    pthread_mutex_lock(&l->lock);
    l->finish = true;
    pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

/* Checks each watcher's trace against the model. Returns how many fail. */
static size_t loop_check(struct loop *l, const struct watch_model *model, size_t number,
                         uint64_t last)
{
    size_t bad = 0;
    for (size_t i = 0; i < WATCHERS; i++) {
        char who[64];
        struct member *m = &l->members[i];
        snprintf(who, sizeof who, "seed %llu, loop %zu, watcher %zu", (unsigned long long)seed,
                 number, i);
        bad += !watch_model_check(model, &m->view, &m->trace, last, who);
        VD_VEC_RELEASE(&m->trace.marks);
    }
    print_message("loop %zu: parked %zu, left %zu, expired %zu, snapshots %zu\n", number, l->parked,
                  l->left, l->expired, l->snapshots);
    return bad;
}

static void loop_release(struct loop *l)
{
    vd_registry_free(l->registry);
    free(l->members);
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
}

/* ---- one run ---- */

static void run_threads(struct vd_store *store, struct loop *loops, unsigned ops)
{
    struct writer writers[WRITERS];
    for (size_t i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.store = store, .ops = ops, .random = random_for(100 + i)};
        writers[i].number = (unsigned)i * 1000000;
        assert_int_equal(pthread_create(&writers[i].thread, NULL, writer_run, &writers[i]), 0);
    }
    for (size_t i = 0; i < LOOPS; i++)
        assert_int_equal(pthread_create(&loops[i].thread, NULL, loop_run, &loops[i]), 0);
    for (size_t i = 0; i < WRITERS; i++)
        pthread_join(writers[i].thread, NULL);
    for (size_t i = 0; i < LOOPS; i++) {
        loop_finish(&loops[i]);
        pthread_join(loops[i].thread, NULL);
    }
    for (size_t i = 0; i < WRITERS; i++)
        assert_false(writers[i].failed);
}

static void run(const char *folder, unsigned ops)
{
    struct vd_store_options options = {.window_events_max = 600, .tail_events_max = 100};
    struct vd_store *store;
    struct vd_error error;
    struct recorder recorder = {.subscriber = {.committed = record_commit}};
    struct loop loops[LOOPS];
    struct watch_model model;
    watch_model_init(&model);
    assert_ok(vd_store_open_in(&store, &(struct vd_folder){.path = folder}, &options, &error),
              &error);
    vd_store_subscribe(store, &recorder.subscriber);
    for (size_t i = 0; i < LOOPS; i++)
        loop_init(&loops[i], store, i);
    run_threads(store, loops, ops);
    vd_store_unsubscribe(store, &recorder.subscriber);
    recorder_take(&recorder, &model);
    uint64_t last = vd_store_revision(store);
    size_t bad = 0;
    for (size_t i = 0; i < LOOPS; i++) {
        bad += loop_check(&loops[i], &model, i, last);
        loop_release(&loops[i]);
    }
    print_message("%zu events, floor %llu of %llu\n", model.events.n,
                  (unsigned long long)vd_store_floor(store), (unsigned long long)last);
    assert_int_equal(model.events.p[model.events.n - 1].revision, last);
    assert_int_equal(bad, 0);
    watch_model_release(&model);
    vd_store_close(store);
}

static void guarantees_hold_in_memory(void **state)
{
    (void)state;
    run(NULL, 3000);
}

static void guarantees_hold_on_disk(void **state)
{
    (void)state;
    char *folder = temp_folder_new();
    run(folder, 800);
    temp_folder_remove(folder);
}

int main(void)
{
    const char *given = getenv("VEDETTE_SEED");
    const struct vd_clock *clock = vd_clock_system();
    if (!given || vd_slice_to_u64(vd_slice_of(given), &seed))
        seed = vd_clock_mono_ns(clock) % 1000000007u;
    print_message("VEDETTE_SEED=%llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guarantees_hold_in_memory),
        cmocka_unit_test(guarantees_hold_on_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
