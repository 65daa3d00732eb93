/*
 * Two stores over one log, as two processes over one database would be: writers, watchers and
 * compaction on both at the same time, all on threads of their own. Every guarantee is checked over
 * what was recorded at either store, and over streams that move from one store to the other.
 *
 * VEDETTE_SEED=n draws the same wishes again; their order is up to the threads.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "check.h"
#include "fixture.h"
#include "guarantees.h"
#include "seed.h"
#include "shared_log.h"
#include "watch/registry.h"

enum {
    SIDES = 2,
    WRITERS = 2, /* on each side */
    WRITES = 250,
    BATCH_MAX = 3,
    WATCHERS = 6,              /* begin on each side */
    COMPACTIONS = 20,          /* of each side ... */
    COMPACTION_REVISIONS = 20, /* ... and at least so many revisions between two */
};

struct pair;

/* One of the two stores, and what was recorded there. */
struct side {
    struct pair *pair;
    struct vd_store *store;
    struct vd_subscriber subscriber;
    struct history history; /* the writer's thread adds to it */
    uint64_t last;          /* the revision of the commit last told */
    size_t misplaced;       /* commits that did not follow the one before */
    struct vd_registry *registry;
};

struct pair {
    struct vd_memory_log *log;
    struct side sides[SIDES];
    pthread_mutex_t lock; /* guards the next two */
    VD_VEC(struct fact) acknowledged;
    size_t conflicts;
    _Atomic size_t unseen; /* writes that were answered before they could be read */
    _Atomic bool stop;
    _Atomic unsigned values;
};

static void record_commit(struct vd_subscriber *subscriber, struct vd_commit *commit)
{
    struct side *side = VD_CONTAINER_OF(subscriber, struct side, subscriber);
    side->misplaced += commit->after != side->last || commit->changes[commit->n - 1].now->more;
    side->last = commit->revision;
    for (size_t i = 0; i < commit->n; i++)
        history_add(&side->history, fact_of(commit->changes[i].now));
}

static void wake_nobody(void *arg)
{
    (void)arg;
}

static void pair_open(struct pair *p, bool wakes)
{
    static const struct vd_store_options options[SIDES] = {
        {.tail_events_max = 40, .manual_compaction = true},
        {.tail_events_max = 5, .manual_compaction = true},
    };
    pthread_mutex_init(&p->lock, NULL);
    p->log = vd_memory_log_new(SHARED_STRIDE);
    for (size_t i = 0; i < SIDES; i++) {
        struct side *side = &p->sides[i];
        side->pair = p;
        struct vd_memory_options how = {
            .log = p->log, .thread_only = i == 0, .never_wakes = !wakes};
        side->store = shared_store_open_with(&how, &options[i]);
        side->subscriber.committed = record_commit;
        side->last = vd_store_subscribe(side->store, &side->subscriber);
        side->registry = vd_registry_new(side->store, wake_nobody, NULL);
    }
}

static void pair_close(struct pair *p)
{
    for (size_t i = 0; i < SIDES; i++) {
        struct side *side = &p->sides[i];
        vd_registry_free(side->registry);
        vd_store_unsubscribe(side->store, &side->subscriber);
        vd_store_close(side->store);
        history_release(&side->history);
    }
    vd_memory_log_unref(p->log);
    VD_VEC_RELEASE(&p->acknowledged);
    pthread_mutex_destroy(&p->lock);
}

static void await_both(struct pair *p)
{
    for (size_t i = 0; i < SIDES; i++) {
        struct vd_store *other = p->sides[1 - i].store;
        shared_store_await(p->sides[i].store, vd_store_revision(other), vd_store_floor(other));
    }
}

/* ---- writers ---- */

struct writer {
    struct side *side;
    struct seed_rng random;
    pthread_t thread;
};

/* Some wishes go by a version that was read at this store, which may be old by now. */
static void choose_condition(struct writer *w, struct vd_wish *wish)
{
    struct vd_event *event = NULL;
    uint64_t dice = seed_below(&w->random, 4);
    if (dice == 0)
        wish->when = VD_WHEN_ABSENT;
    if (dice > 1 || vd_store_get(w->side->store, &wish->key, 0, &event, NULL))
        return;
    wish->when = VD_WHEN_REVISION;
    wish->revision = event->revision;
    vd_event_unref(event);
}

static void choose_wish(struct writer *w, struct vd_wish *wish, struct vd_buf *body,
                        struct fact *fact)
{
    static const char *const kinds[] = {"alphas", "betas"}, *const namespaces[] = {"n1", "n2"};
    static const char *const labels[] = {NULL, "\"color\":\"red\"", "\"color\":\"blue\""};
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    const char *kind = kinds[seed_below(&w->random, 2)], *name = names[seed_below(&w->random, 5)];
    const char *namespace = namespaces[seed_below(&w->random, 2)];
    *fact = (struct fact){0};
    snprintf(fact->resource, WORD_MAX, "%s", kind);
    snprintf(fact->path, WORD_MAX, "%s/%s", namespace, name);
    snprintf(fact->value, WORD_MAX, "v%u", atomic_fetch_add(&w->side->pair->values, 1));
    *wish = (struct vd_wish){.key = test_key(kind, namespace, name)};
    if (seed_once_in(&w->random, 4)) {
        wish->action = VD_DELETE;
        fact->type = VD_EVENT_DELETED;
        return;
    }
    wish->body = test_body(body, name, labels[seed_below(&w->random, 3)], fact->value);
    choose_condition(w, wish);
}

/* Who was answered can read what he wrote, at that store and at once. */
static void check_visible(struct writer *w, const struct vd_outcome *outcome)
{
    if (vd_store_revision(w->side->store) < outcome->revision)
        atomic_fetch_add(&w->side->pair->unseen, 1);
}

static void note_answer(struct writer *w, const struct vd_outcome *outcome, struct fact *facts,
                        size_t n)
{
    struct pair *p = w->side->pair;
    uint64_t revision = outcome->revision_first;
    pthread_mutex_lock(&p->lock);
    p->conflicts += outcome->code == VD_ERR_CONFLICT || outcome->code == VD_ERR_EXISTS;
    for (size_t i = 0; !outcome->code && i < n; i++) {
        facts[i].revision = revision;
        revision = vd_memory_log_next(SHARED_STRIDE, revision);
        *VD_VEC_PUSH(&p->acknowledged) = facts[i];
    }
    pthread_mutex_unlock(&p->lock);
}

static void *write_much(void *arg)
{
    struct writer *w = arg;
    for (int i = 0; i < WRITES; i++) {
        struct vd_wish wishes[BATCH_MAX];
        struct vd_buf bodies[BATCH_MAX] = {{0}};
        struct fact facts[BATCH_MAX];
        struct vd_outcome outcome;
        size_t n = seed_once_in(&w->random, 3) ? 1 + seed_below(&w->random, BATCH_MAX) : 1;
        for (size_t k = 0; k < n; k++)
            choose_wish(w, &wishes[k], &bodies[k], &facts[k]);
        if (!vd_store_commit(w->side->store, wishes, n, &outcome))
            check_visible(w, &outcome);
        note_answer(w, &outcome, facts, n);
        for (size_t k = 0; k < BATCH_MAX; k++)
            vd_buf_release(&bodies[k]);
        if (seed_once_in(&w->random, 4))
            sched_yield(); /* so that the other side gets ahead at times */
    }
    return NULL;
}

static uint64_t seen_by_both(struct pair *p)
{
    uint64_t a = vd_store_revision(p->sides[0].store), b = vd_store_revision(p->sides[1].store);
    return a < b ? a : b;
}

/* Never beyond what the other store has seen: with the window so short, it could not follow. One
 * compaction for each so many revisions, so that they are spread over the writes. */
static void *compact_much(void *arg)
{
    struct side *side = arg;
    struct pair *p = side->pair;
    struct seed_rng random = {(uint64_t)(side - p->sides)};
    uint64_t next = 0;
    for (int i = 0; i < COMPACTIONS; i++) {
        while (seen_by_both(p) < next && !atomic_load(&p->stop))
            sched_yield();
        if (atomic_load(&p->stop))
            break;
        uint64_t floor = vd_store_floor(side->store), seen = seen_by_both(p);
        next = seen + COMPACTION_REVISIONS;
        if (seen > floor &&
            vd_store_compact(side->store, floor + seed_below(&random, seen - floor), NULL))
            abort();
    }
    return NULL;
}

/* ---- watchers ---- */

struct spectator {
    struct vd_watcher watcher; /* first: it is what deliver() is given */
    struct stream stream;
    struct pair *pair;
    struct seed_rng *random;
    bool watching, in_snapshot;
    size_t moves, expired, failed;
};

static enum vd_take deliver(struct vd_watcher *watcher, const struct vd_deliveries *d,
                            struct vd_shared **shared)
{
    struct spectator *s = VD_CONTAINER_OF(watcher, struct spectator, watcher);
    if (shared && seed_once_in(s->random, 6))
        return VD_TAKE_NOT;
    for (size_t i = 0; i < d->list.n; i++)
        stream_see(&s->stream, sight_of(&d->list.p[i]), !s->in_snapshot);
    if (d->snapshot_end)
        s->in_snapshot = false;
    if (!s->in_snapshot) {
        stream_pass(&s->stream, d->upto);
        if (d->whole && seed_once_in(s->random, 2))
            stream_bookmark(&s->stream, d->upto);
    }
    return seed_once_in(s->random, 6) ? VD_TAKE_LAST : VD_TAKE_MORE;
}

static void expire(struct spectator *s)
{
    s->stream.segments.p[s->stream.segments.n - 1].expired = true;
    s->expired++;
}

static void ended(struct vd_watcher *watcher, const struct vd_error *error)
{
    struct spectator *s = VD_CONTAINER_OF(watcher, struct spectator, watcher);
    s->failed += error->code != VD_ERR_EXPIRED;
    expire(s);
    s->watching = false;
    vd_cursor_close(&watcher->cursor);
}

static const struct vd_watcher_ops spectator_ops = {.deliver = deliver, .ended = ended};

/* Begins with a snapshot, or goes on where the stream stood: at either store, though that one may
 * not have come so far yet. */
static void start_watching(struct spectator *s, struct side *side)
{
    struct stream *stream = &s->stream;
    struct vd_filter *filter = want_filter(&stream->want);
    const struct segment *last = stream->segments.n ? &stream->segments.p[stream->segments.n - 1]
                                                    : NULL;
    struct vd_error error;
    uint64_t from = last && !last->expired && last->upto >= last->from ? last->upto : 0;
    int code = from ? vd_cursor_open_at(&s->watcher.cursor, side->store, filter, from, &error)
                    : vd_cursor_open_snapshot(&s->watcher.cursor, side->store, filter, &error);
    if (!code)
        stream_begin(stream, !from, s->watcher.cursor.revision);
    else if (from)
        expire(s);
    s->failed += code && code != VD_ERR_EXPIRED;
    s->watching = !code;
    s->in_snapshot = !code && !from;
    s->watcher.ops = &spectator_ops;
    if (!code)
        vd_registry_add(side->registry, &s->watcher);
    vd_filter_unref(filter);
}

static void stop_watching(struct spectator *s)
{
    if (!s->watching)
        return;
    vd_registry_remove(&s->watcher);
    if (!s->in_snapshot)
        stream_pass(&s->stream, s->watcher.cursor.revision);
    vd_cursor_close(&s->watcher.cursor);
    s->watching = false;
    s->moves++;
}

static void bookmark(struct spectator *s)
{
    uint64_t revision = s->watching ? vd_watcher_bookmark(&s->watcher) : 0;
    if (!revision || s->in_snapshot)
        return;
    stream_bookmark(&s->stream, revision);
    stream_pass(&s->stream, revision);
}

static void spectator_init(struct spectator *s, struct pair *p, struct seed_rng *random, int id)
{
    static const char *const namespaces[] = {"", "n1", "n2"}, *const colors[] = {"", "", "red",
                                                                                 "blue"};
    *s = (struct spectator){.pair = p, .random = random};
    s->stream.id = id;
    snprintf(s->stream.want.resource, WORD_MAX, "%s", id % 2 ? "alphas" : "betas");
    snprintf(s->stream.want.namespace, WORD_MAX, "%s", namespaces[seed_below(random, 3)]);
    snprintf(s->stream.want.color, WORD_MAX, "%s", colors[seed_below(random, 4)]);
}

/* This thread is the loop of both registries, so that a watcher can move between them. */
static void watch_step(struct pair *p, struct spectator *spectators, struct seed_rng *random)
{
    struct spectator *s = &spectators[seed_below(random, WATCHERS * SIDES)];
    uint64_t dice = seed_below(random, 10);
    if (dice < 6)
        vd_registry_turn(p->sides[dice % SIDES].registry, 1 + seed_below(random, 100));
    else if (dice == 6)
        bookmark(s);
    else if (!s->watching)
        start_watching(s, &p->sides[seed_below(random, SIDES)]);
    else if (dice == 7)
        stop_watching(s);
    else
        vd_watcher_resume(&s->watcher);
}

/* Everyone who still watches comes to the end of the log. */
static void watch_to_the_end(struct pair *p, struct spectator *spectators)
{
    for (int i = 0; i < 200; i++) {
        for (size_t k = 0; k < WATCHERS * SIDES; k++)
            if (spectators[k].watching)
                vd_watcher_resume(&spectators[k].watcher);
        for (size_t k = 0; k < SIDES; k++)
            vd_registry_turn(p->sides[k].registry, 1000);
    }
    for (size_t k = 0; k < WATCHERS * SIDES; k++)
        stop_watching(&spectators[k]);
}

/* ---- the test ---- */

static size_t differing_facts(const struct history *a, const struct history *b)
{
    size_t differing = a->facts.n != b->facts.n;
    for (size_t i = 0; !differing && i < a->facts.n; i++)
        differing += memcmp(&a->facts.p[i], &b->facts.p[i], sizeof(struct fact)) != 0;
    return differing;
}

static void run_threads(struct pair *p, struct spectator *spectators, uint64_t seed)
{
    struct writer writers[SIDES * WRITERS];
    pthread_t compactors[SIDES];
    struct seed_rng random = {seed};
    for (size_t i = 0; i < SIDES * WRITERS; i++) {
        writers[i] = (struct writer){.side = &p->sides[i % SIDES], .random = {seed + 1 + i}};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_much, &writers[i]), 0);
    }
    for (size_t i = 0; i < SIDES; i++)
        assert_int_equal(pthread_create(&compactors[i], NULL, compact_much, &p->sides[i]), 0);
    for (int i = 0; i < 4000; i++) {
        watch_step(p, spectators, &random);
        if (i % 16 == 0)
            sched_yield();
    }
    for (size_t i = 0; i < SIDES * WRITERS; i++)
        pthread_join(writers[i].thread, NULL);
    atomic_store(&p->stop, true);
    for (size_t i = 0; i < SIDES; i++)
        pthread_join(compactors[i], NULL);
}

static void check_guarantees(bool wakes)
{
    struct pair p = {0};
    struct spectator spectators[WATCHERS * SIDES];
    uint64_t seed = seed_of_run();
    struct seed_rng random = {seed};
    size_t breaches = 0, sights = 0, moves = 0, expired = 0;
    struct vd_store_stats stats[SIDES];
    pair_open(&p, wakes);
    for (size_t i = 0; i < WATCHERS * SIDES; i++)
        spectator_init(&spectators[i], &p, &random, (int)i);
    run_threads(&p, spectators, seed);
    await_both(&p);
    watch_to_the_end(&p, spectators);
    assert_int_equal(differing_facts(&p.sides[0].history, &p.sides[1].history), 0);
    for (size_t i = 0; i < SIDES; i++) {
        struct side *side = &p.sides[i];
        breaches += check_durable(&side->history, p.acknowledged.p, p.acknowledged.n);
        breaches += check_state(&side->history, side->store) + side->misplaced;
        breaches += !history_is_whole(&side->history, vd_store_floor(side->store));
        vd_store_stats(side->store, &stats[i]);
    }
    assert_int_equal(stats[0].revision, stats[1].revision);
    assert_int_equal(stats[0].floor, stats[1].floor);
    assert_int_equal(stats[0].window_events, stats[1].window_events);
    assert_int_equal(stats[0].objects, stats[1].objects);
    for (size_t i = 0; i < WATCHERS * SIDES; i++) {
        struct spectator *s = &spectators[i];
        breaches += check_stream(&p.sides[i % SIDES].history, &s->stream) + s->failed;
        sights += s->stream.sights.n;
        moves += s->moves;
        expired += s->expired;
        stream_release(&s->stream);
    }
    printf("# seed %llu: %zu facts, %zu conflicts, behind %llu and %llu times, %zu deliveries, %zu "
           "moves, %zu expiries\n",
           (unsigned long long)seed, p.sides[0].history.facts.n, p.conflicts,
           (unsigned long long)stats[0].behind, (unsigned long long)stats[1].behind, sights, moves,
           expired);
    assert_int_equal(breaches, 0);
    assert_int_equal(atomic_load(&p.unseen), 0);
    /* It must have been eventful, or the test shows nothing. */
    assert_true(p.conflicts > 2 && sights > 100 && moves > 20 && stats[0].taken_in > 100 &&
                stats[1].taken_in > 100);
    assert_true(wakes || (stats[0].behind > 2 && stats[1].behind > 2));
    pair_close(&p);
}

static void every_guarantee_holds_at_both_stores(void **state)
{
    (void)state;
    check_guarantees(true);
}

/* They find out that others have written when they want to write themselves. */
static void every_guarantee_holds_when_no_notification_arrives(void **state)
{
    (void)state;
    check_guarantees(false);
}

/* A cursor that one store gave goes on at the other, which has not come so far yet. */
static void a_cursor_of_one_store_goes_on_at_the_other(void **state)
{
    (void)state;
    struct pair p = {0};
    struct vd_cursor cursor;
    struct vd_deliveries deliveries = {0};
    struct vd_error error;
    pair_open(&p, true);
    struct vd_filter *filter = want_filter(&(struct want){.resource = "alphas"});
    for (int i = 0; i < 50; i++) {
        char value[16];
        snprintf(value, sizeof value, "v%d", i);
        uint64_t mine = put(p.sides[i % 2].store, "alphas", "n1", "a", value);
        struct vd_store *other = p.sides[1 - i % 2].store;
        assert_ok(vd_cursor_open_at(&cursor, other, filter, mine, &error), &error);
        uint64_t next = put(p.sides[i % 2].store, "alphas", "n1", "b", value);
        shared_store_await(other, next, 0);
        assert_ok(vd_cursor_next(&cursor, &deliveries, 10, &error), &error);
        assert_int_equal(deliveries.list.n, 1);
        assert_int_equal(deliveries.list.p[0].event->revision, next);
        assert_int_equal(deliveries.upto, next);
        vd_cursor_close(&cursor);
    }
    vd_deliveries_release(&deliveries);
    vd_filter_unref(filter);
    pair_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_guarantee_holds_at_both_stores),
        cmocka_unit_test(every_guarantee_holds_when_no_notification_arrives),
        cmocka_unit_test(a_cursor_of_one_store_goes_on_at_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
