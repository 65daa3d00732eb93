/*
 * A randomised life of a store: several writers, many watchers, compaction and
 * restarts, all drawn from one seed. What happens is recorded, and in the end
 * every guarantee is checked over the record, by name.
 *
 * The run is deterministic: the test's one thread decides everything. Writers
 * collide because a burst of proposals is queued up behind a *gate* - a proposal
 * whose answer is held back - and then let go at once, so it is judged as one
 * group. VEDETTE_RUNS=n runs as many lives, VEDETTE_SEED=n one life again.
 *
 * A second test does the same over a log that two stores share, and whose revisions have gaps: some
 * proposals and compactions go to the other store. There the order between the two is up to their
 * threads.
 */
#include <assert.h>
#include <pthread.h>
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
    LIVES = 15,
    STEPS = 250,
    WATCHERS = 12,
    BURST_MAX = 24,
    BATCH_MAX = 4,
};

struct world;

struct spectator {
    struct vd_watcher watcher; /* first: it is what deliver() is given */
    struct world *world;
    struct stream *stream; /* NULL: not begun */
    bool watching;
    bool in_snapshot;
};

struct world {
    struct seed_rng random;
    char *folder;              /* NULL: a log in memory that two stores share: */
    struct vd_memory_log *log; /* NULL: a folder */
    struct vd_store *store;
    struct vd_store *other; /* over the same log; NULL: none */
    struct vd_registry *registry;
    struct vd_subscriber subscriber;
    struct history history; /* added to by the writer thread while this one waits */
    VD_VEC(struct fact) acknowledged;
    VD_VEC(struct stream *) streams;
    struct spectator spectators[WATCHERS];
    unsigned writes;
    size_t breaches, expired, restarts, refused;
};

/* ---- the store's life ---- */

static void record_commit(struct vd_subscriber *subscriber, struct vd_commit *commit)
{
    struct world *w = VD_CONTAINER_OF(subscriber, struct world, subscriber);
    for (size_t i = 0; i < commit->n; i++)
        history_add(&w->history, fact_of(commit->changes[i].now));
}

static void wake_nobody(void *arg)
{
    (void)arg;
}

/* The store that is watched has taken in what both have written, and has told of it. */
static void settle(struct world *w)
{
    if (!w->other)
        return;
    shared_store_await(w->store, vd_store_revision(w->other), vd_store_floor(w->other));
    shared_store_await(w->other, vd_store_revision(w->store), vd_store_floor(w->store));
}

static struct vd_store *either(struct world *w)
{
    return w->other && seed_once_in(&w->random, 3) ? w->other : w->store;
}

static void open_store(struct world *w)
{
    static const size_t tails[] = {1, 5, 50, 100000};
    struct vd_error error;
    struct vd_store_options options = {
        .tail_events_max = tails[(unsigned)seed_below(&w->random, 4)],
        .manual_compaction = true,
    };
    struct vd_folder folder = {.path = w->folder};
    if (w->log) {
        w->store = shared_store_open(w->log, &options);
        w->other = shared_store_open(w->log, &options);
    } else {
        assert_ok(vd_store_open_in(&w->store, &folder, &options, &error), &error);
    }
    w->subscriber.committed = record_commit;
    vd_store_subscribe(w->store, &w->subscriber);
    w->registry = vd_registry_new(w->store, wake_nobody, NULL);
}

static void close_store(struct world *w)
{
    vd_registry_free(w->registry);
    vd_store_unsubscribe(w->store, &w->subscriber);
    vd_store_close(w->store);
    vd_store_close(w->other);
    w->other = NULL;
}

/* ---- writers ---- */

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    bool open;
    unsigned waiting; /* tickets that are not answered yet, and the holder */
};

struct ticket {
    struct vd_proposal proposal;
    struct vd_wish wishes[BATCH_MAX];
    struct vd_buf bodies[BATCH_MAX];
    struct fact facts[BATCH_MAX];
    struct vd_outcome outcome;
    struct gate *gate;
};

static void hold_gate(struct vd_proposal *p, const struct vd_outcome *outcome)
{
    (void)outcome;
    struct gate *gate = p->arg;
    pthread_mutex_lock(&gate->lock);
    while (!gate->open)
        pthread_cond_wait(&gate->moved, &gate->lock);
    gate->waiting--; /* the tickets may all have gone to another store */
    pthread_cond_signal(&gate->moved);
    pthread_mutex_unlock(&gate->lock);
}

static void answer_ticket(struct vd_proposal *p, const struct vd_outcome *outcome)
{
    struct ticket *t = p->arg;
    t->outcome = *outcome;
    pthread_mutex_lock(&t->gate->lock);
    t->gate->waiting--;
    pthread_cond_signal(&t->gate->moved);
    pthread_mutex_unlock(&t->gate->lock);
}

static void choose_precondition(struct world *w, struct vd_wish *wish)
{
    struct vd_event *event;
    struct vd_error error;
    switch ((unsigned)seed_below(&w->random, 6)) {
    case 0:
        wish->when = VD_WHEN_ABSENT;
        break;
    case 1:
        wish->when = VD_WHEN_PRESENT;
        break;
    case 2:
        if (vd_store_get(w->store, &wish->key, 0, &event, &error))
            break;
        wish->when = VD_WHEN_REVISION;
        wish->revision = event->revision;
        vd_event_unref(event);
        break;
    default:
        break;
    }
}

static void choose_wish(struct world *w, struct ticket *t, size_t i)
{
    static const char *const resources[] = {"alphas", "betas"}, *const namespaces[] = {"n1", "n2"};
    static const char *const labels[] = {NULL, "\"color\":\"red\"", "\"color\":\"blue\""};
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    const char *resource = resources[(unsigned)seed_below(&w->random, 2)];
    const char *namespace = namespaces[(unsigned)seed_below(&w->random, 2)];
    const char *name = names[(unsigned)seed_below(&w->random, 10)];
    struct fact *fact = &t->facts[i];
    struct vd_wish *wish = &t->wishes[i];
    snprintf(fact->resource, WORD_MAX, "%s", resource);
    snprintf(fact->path, WORD_MAX, "%s/%s", namespace, name);
    snprintf(fact->value, WORD_MAX, "v%u", ++w->writes);
    *wish = (struct vd_wish){.key = test_key(resource, namespace, name)};
    if (seed_once_in(&w->random, 4)) {
        wish->action = VD_DELETE;
        fact->type = VD_EVENT_DELETED;
    } else {
        const char *label = labels[(unsigned)seed_below(&w->random, 3)];
        wish->body = test_body(&t->bodies[i], name, label, fact->value);
    }
    if (wish->action == VD_PUT)
        choose_precondition(w, wish);
}

/* What was acknowledged: the wishes, at revisions that follow each other. */
static void note_acknowledged(struct world *w, struct ticket *t)
{
    uint64_t revision = t->outcome.revision_first;
    w->refused += t->outcome.code != VD_OK;
    for (size_t i = 0; !t->outcome.code && i < t->proposal.n; i++) {
        struct fact fact = t->facts[i];
        fact.revision = revision;
        revision = vd_memory_log_next(w->log ? SHARED_STRIDE : 0, revision);
        *VD_VEC_PUSH(&w->acknowledged) = fact;
    }
}

static void write_burst(struct world *w)
{
    struct gate gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};
    struct vd_buf body = {0};
    struct vd_wish hold = {.key = test_key("gates", "", "gate"),
                           .body = test_body(&body, "gate", NULL, "gate")};
    struct vd_proposal holder = {.wishes = &hold, .n = 1, .done = hold_gate, .arg = &gate};
    size_t n = 1 + (unsigned)seed_below(&w->random, BURST_MAX);
    struct ticket *tickets = vd_calloc(n, sizeof *tickets);
    gate.waiting = (unsigned)n + 1;
    vd_store_propose(w->store, vd_admitted_of(&holder));
    for (size_t i = 0; i < n; i++) {
        struct ticket *t = &tickets[i];
        t->gate = &gate;
        size_t wishes = seed_once_in(&w->random, 4)
                            ? 1 + (unsigned)seed_below(&w->random, BATCH_MAX)
                            : 1;
        for (size_t k = 0; k < wishes; k++)
            choose_wish(w, t, k);
        t->proposal = (struct vd_proposal){t->wishes, wishes, answer_ticket, t, NULL};
        vd_store_propose(either(w), vd_admitted_of(&t->proposal));
    }
    pthread_mutex_lock(&gate.lock);
    gate.open = true;
    pthread_cond_broadcast(&gate.moved);
    while (gate.waiting)
        pthread_cond_wait(&gate.moved, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
    for (size_t i = 0; i < n; i++) {
        note_acknowledged(w, &tickets[i]);
        for (size_t k = 0; k < BATCH_MAX; k++)
            vd_buf_release(&tickets[i].bodies[k]);
    }
    free(tickets);
    vd_buf_release(&body);
    settle(w);
}

/* ---- watchers ---- */

static enum vd_take deliver(struct vd_watcher *watcher, const struct vd_deliveries *d,
                            struct vd_shared **shared)
{
    struct spectator *s = VD_CONTAINER_OF(watcher, struct spectator, watcher);
    struct seed_rng *random = &s->world->random;
    if (shared && seed_once_in(random, 5))
        return VD_TAKE_NOT;
    for (size_t i = 0; i < d->list.n; i++)
        stream_see(s->stream, sight_of(&d->list.p[i]), !s->in_snapshot);
    if (d->snapshot_end)
        s->in_snapshot = false;
    if (!s->in_snapshot) {
        stream_pass(s->stream, d->upto);
        if (d->whole && seed_once_in(random, 2))
            stream_bookmark(s->stream, d->upto);
    }
    return seed_once_in(random, 5) ? VD_TAKE_LAST : VD_TAKE_MORE;
}

static void expire(struct spectator *s)
{
    s->stream->segments.p[s->stream->segments.n - 1].expired = true;
    s->world->expired++;
}

static void ended(struct vd_watcher *watcher, const struct vd_error *error)
{
    struct spectator *s = VD_CONTAINER_OF(watcher, struct spectator, watcher);
    if (error->code != VD_ERR_EXPIRED) {
        fprintf(stderr, "a watcher ended: %s\n", error->text);
        s->world->breaches++;
    }
    expire(s);
    s->watching = false;
    vd_cursor_close(&watcher->cursor);
}

static const struct vd_watcher_ops spectator_ops = {.deliver = deliver, .ended = ended};

static struct stream *new_stream(struct world *w)
{
    static const char *const resources[] = {"alphas", "betas"}, *const namespaces[] = {"", "n1",
                                                                                       "n2"};
    static const char *const colors[] = {"", "", "red", "blue"};
    struct stream *stream = VD_NEW(struct stream);
    stream->id = (int)w->streams.n;
    snprintf(stream->want.resource, WORD_MAX, "%s", resources[(unsigned)seed_below(&w->random, 2)]);
    snprintf(stream->want.namespace, WORD_MAX, "%s",
             namespaces[(unsigned)seed_below(&w->random, 3)]);
    snprintf(stream->want.color, WORD_MAX, "%s", colors[(unsigned)seed_below(&w->random, 4)]);
    if (seed_once_in(&w->random, 4))
        snprintf(stream->want.name, WORD_MAX, "%c",
                 'a' + (int)(unsigned)seed_below(&w->random, 10));
    *VD_VEC_PUSH(&w->streams) = stream;
    return stream;
}

/* Starts watching: with a snapshot, from now, or where the stream stood. */
static void start_watching(struct spectator *s)
{
    struct world *w = s->world;
    struct vd_error error;
    if (!s->stream || seed_once_in(&w->random, 8))
        s->stream = new_stream(w);
    struct stream *stream = s->stream;
    struct vd_filter *filter = want_filter(&stream->want);
    const struct segment *last = stream->segments.n ? &stream->segments.p[stream->segments.n - 1]
                                                    : NULL;
    bool resume = last && !last->expired && last->upto >= last->from;
    int code = VD_OK;
    if (resume) {
        code = vd_cursor_open_at(&s->watcher.cursor, w->store, filter, last->upto, &error);
        if (!code)
            stream_begin(stream, false, last->upto);
        else
            expire(s);
    } else if (!last && seed_once_in(&w->random, 3)) {
        vd_cursor_open_now(&s->watcher.cursor, w->store, filter);
        stream_begin(stream, false, s->watcher.cursor.revision);
    } else {
        code = vd_cursor_open_snapshot(&s->watcher.cursor, w->store, filter, &error);
        stream_begin(stream, true, s->watcher.cursor.revision);
    }
    s->in_snapshot = !code && s->watcher.cursor.snapshot;
    s->watching = !code;
    if (s->watching) {
        s->watcher.ops = &spectator_ops;
        vd_registry_add(w->registry, &s->watcher);
    }
    vd_filter_unref(filter);
}

static void stop_watching(struct spectator *s)
{
    if (!s->watching)
        return;
    vd_registry_remove(&s->watcher);
    if (!s->in_snapshot)
        stream_pass(s->stream, s->watcher.cursor.revision);
    vd_cursor_close(&s->watcher.cursor);
    s->watching = false;
}

static void act_as_spectator(struct spectator *s)
{
    if (!s->watching)
        start_watching(s);
    else if (seed_once_in(&s->world->random, 3))
        stop_watching(s);
    else
        vd_watcher_resume(&s->watcher);
}

static void bookmark(struct spectator *s)
{
    uint64_t revision = s->watching ? vd_watcher_bookmark(&s->watcher) : 0;
    if (!revision || s->in_snapshot)
        return;
    stream_bookmark(s->stream, revision);
    stream_pass(s->stream, revision);
}

/* ---- one life ---- */

static void compact(struct world *w)
{
    uint64_t floor = vd_store_floor(w->store), newest = vd_store_revision(w->store);
    struct vd_error error;
    uint64_t target = floor + seed_next(&w->random) % (newest - floor + 1);
    assert_ok(vd_store_compact(either(w), target, &error), &error);
    settle(w);
    if (!history_is_whole(&w->history, vd_store_floor(w->store)))
        w->breaches++;
}

static void restart(struct world *w)
{
    for (size_t i = 0; i < WATCHERS; i++)
        stop_watching(&w->spectators[i]);
    uint64_t revision = vd_store_revision(w->store), floor = vd_store_floor(w->store);
    close_store(w);
    open_store(w);
    assert_int_equal(vd_store_revision(w->store), revision);
    assert_int_equal(vd_store_floor(w->store), floor);
    w->breaches += check_state(&w->history, w->store);
    w->restarts++;
}

static void step(struct world *w)
{
    struct spectator *s = &w->spectators[(unsigned)seed_below(&w->random, WATCHERS)];
    unsigned dice = (unsigned)seed_below(&w->random, 100);
    if (dice < 30)
        write_burst(w);
    else if (dice < 60)
        act_as_spectator(s);
    else if (dice < 85)
        vd_registry_turn(w->registry, 1 + (unsigned)seed_below(&w->random, 300));
    else if (dice < 92)
        bookmark(s);
    else if (dice < 98)
        compact(w);
    else
        restart(w);
}

static void live(uint64_t seed, bool shared, struct world *totals)
{
    struct world w = {.random = {seed}, .folder = shared ? NULL : temp_folder_new()};
    w.log = shared ? vd_memory_log_new(SHARED_STRIDE) : NULL;
    open_store(&w);
    for (size_t i = 0; i < WATCHERS; i++)
        w.spectators[i].world = &w;
    for (int i = 0; i < STEPS; i++)
        step(&w);
    restart(&w);
    w.breaches += check_durable(&w.history, w.acknowledged.p, w.acknowledged.n);
    for (size_t i = 0; i < w.streams.n; i++) {
        w.breaches += check_stream(&w.history, w.streams.p[i]);
        totals->writes += (unsigned)w.streams.p[i]->sights.n;
        stream_release(w.streams.p[i]);
        free(w.streams.p[i]);
    }
    close_store(&w);
    totals->expired += w.expired;
    totals->restarts += w.restarts;
    totals->refused += w.refused;
    if (w.breaches)
        fprintf(stderr, "# VEDETTE_SEED=%llu breaks %zu guarantees\n", (unsigned long long)seed,
                w.breaches);
    totals->breaches += w.breaches;
    VD_VEC_RELEASE(&w.streams);
    VD_VEC_RELEASE(&w.acknowledged);
    history_release(&w.history);
    if (w.folder)
        temp_folder_remove(w.folder);
    vd_memory_log_unref(w.log);
}

static void run_lives(bool shared)
{
    struct world totals = {0};
    uint64_t seed = seed_of_run();
    uint64_t lives = getenv("VEDETTE_SEED") ? 1 : seed_runs("VEDETTE_RUNS", LIVES);
    for (uint64_t i = 0; i < lives; i++)
        live(seed + i, shared, &totals);
    printf(
        "# first seed %llu: %llu lives, %zu restarts, %u deliveries, %zu refusals, %zu expiries\n",
        (unsigned long long)seed, (unsigned long long)lives, totals.restarts, totals.writes,
        totals.refused, totals.expired);
    assert_int_equal(totals.breaches, 0);
    /* The lives must have been eventful, or the test shows nothing. */
    if (lives >= LIVES)
        assert_true(totals.expired > 10 && totals.writes > 1000 && totals.refused > 100);
}

static void every_guarantee_holds_over_random_lives(void **state)
{
    (void)state;
    run_lives(false);
}

static void every_guarantee_holds_over_a_log_that_another_store_shares(void **state)
{
    (void)state;
    run_lives(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_guarantee_holds_over_random_lives),
        cmocka_unit_test(every_guarantee_holds_over_a_log_that_another_store_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
