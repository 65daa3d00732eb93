/*
 * Readers beside a writer and a compactor, all at full speed, with almost nothing in memory: lists
 * show whole batches, the log has no gap, and a reader that is overtaken by the floor gets
 * VD_ERR_EXPIRED and no other error.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "seed.h"
#include "setting.h"
#include "store/snapshot.h"

enum { PAIRS = 6, READERS = 3, BATCHES = 800 };

struct reader {
    struct setting *t;
    _Atomic bool *stop;
    struct seed_rng rng;
    char wrong[256];
    size_t lists, logs, objects, expired;
    uint64_t upto; /* the revision that its own cursor has passed; 0: it has none yet */
};

static const struct vd_store_options little = {.tail_events_max = 4, .window_events_max = 40};

static int setup_memory(void **state)
{
    return setting_new(state, false, 0, little);
}

static int setup_sqlite(void **state)
{
    return setting_new(state, true, 0, little);
}

/* A batch sets both objects of a pair to one value, or deletes both. */
static void write_pair(struct setting *t, size_t pair, const char *value, bool deletes)
{
    struct vd_wish wishes[2];
    struct vd_buf bodies[2] = {{0}};
    char names[2][16];
    struct vd_outcome outcome;
    for (size_t i = 0; i < 2; i++) {
        snprintf(names[i], sizeof names[i], "%c%zu", i ? 'z' : 'a', pair);
        wishes[i] = (struct vd_wish){.action = deletes ? VD_DELETE : VD_PUT,
                                     .key = test_key("things", "ns", names[i]),
                                     .body = test_body(&bodies[i], names[i], NULL, value)};
    }
    vd_store_commit(t->store, wishes, 2, &outcome);
    vd_buf_release(&bodies[0]);
    vd_buf_release(&bodies[1]);
}

static void wrong(struct reader *r, const char *what, const struct vd_error *error)
{
    if (!*r->wrong)
        snprintf(r->wrong, sizeof r->wrong, "%s: %s", what, error ? error->text : "");
}

/* A revision near the floor, where compaction removes rows, or any other. */
static uint64_t pick_revision(struct reader *r)
{
    uint64_t floor = vd_store_floor(r->t->store), newest = vd_store_revision(r->t->store);
    return floor + 1 + seed_below(&r->rng, seed_once_in(&r->rng, 3) ? newest - floor : 4);
}

static void read_list(struct reader *r)
{
    struct vd_snapshot s;
    struct vd_error error;
    char values[2][PAIRS][64] = {{{0}}};
    struct vd_slice all = VD_SLICE("");
    int code = vd_snapshot_open(&s, r->t->store, VD_SLICE("things"), all, pick_revision(r), all,
                                &error);
    while (!code && !s.done) {
        struct vd_event *events[5];
        size_t n;
        code = vd_snapshot_next(&s, events, 5, &n, &error);
        for (size_t i = 0; !code && i < n; i++) {
            struct vd_slice name = vd_entry_name(events[i]->entry);
            body_value(events[i]->body, values[name.p[0] == 'z'][name.p[1] - '0']);
            if (events[i]->revision > s.revision)
                wrong(r, "an object of the future", NULL);
            vd_event_unref(events[i]);
        }
    }
    vd_snapshot_release(&s);
    r->lists++;
    r->expired += code == VD_ERR_EXPIRED;
    if (code && code != VD_ERR_EXPIRED && code != VD_ERR_FUTURE)
        wrong(r, "list", &error);
    for (size_t i = 0; !code && i < PAIRS; i++)
        if (strcmp(values[0][i], values[1][i]) != 0)
            wrong(r, "a list shows half a batch", NULL);
}

/* Reads on in the log from r->upto. Revisions are dense on these engines, so that a missing event
 * is noticed. */
static void read_log(struct reader *r)
{
    struct vd_stretch stretch = {0};
    struct vd_error error;
    uint64_t after = r->upto ? r->upto : pick_revision(r);
    if (seed_once_in(&r->rng, 4))
        after = pick_revision(r);
    int code = vd_store_read(r->t->store, VD_SLICE(""), after, 1 + seed_below(&r->rng, 30),
                             &stretch, &error);
    uint64_t last = after;
    for (size_t i = 0; !code && i < stretch.changes.n; i++) {
        const struct vd_change *c = &stretch.changes.p[i];
        if (c->now->revision != last + 1)
            wrong(r, "the log has a gap", NULL);
        if (!c->now->body || (c->now->type != VD_EVENT_CREATED) != (c->before != NULL))
            wrong(r, "a change is not complete", NULL);
        last = c->now->revision;
    }
    if (!code && last != stretch.upto && after <= stretch.upto && last != after)
        wrong(r, "the log ends early", NULL);
    if (!code && last < stretch.upto && after < stretch.upto)
        wrong(r, "events are left out", NULL);
    r->upto = code ? 0 : stretch.upto;
    r->logs++;
    r->expired += code == VD_ERR_EXPIRED;
    if (code && code != VD_ERR_EXPIRED)
        wrong(r, "log", &error);
    vd_stretch_release(&stretch);
}

static void read_object(struct reader *r)
{
    char name[16];
    snprintf(name, sizeof name, "a%d", (int)seed_below(&r->rng, PAIRS));
    struct vd_key key = test_key("things", "ns", name);
    struct vd_event *event;
    struct vd_error error;
    int code = vd_store_get(r->t->store, &key, pick_revision(r), &event, &error);
    r->objects++;
    r->expired += code == VD_ERR_EXPIRED;
    if (code && code != VD_ERR_NOT_FOUND && code != VD_ERR_EXPIRED && code != VD_ERR_FUTURE)
        wrong(r, "get", &error);
    if (code == VD_ERR_NOT_FOUND && strstr(error.text, "no longer in the log"))
        wrong(r, "get", &error);
    if (!code)
        vd_event_unref(event);
}

static void *read_on(void *arg)
{
    struct reader *r = arg;
    while (!atomic_load(r->stop) && !*r->wrong) {
        read_list(r);
        read_log(r);
        read_log(r);
        read_object(r);
    }
    return NULL;
}

static void readers_are_right_or_expired(void **state)
{
    struct setting *t = *state;
    pthread_t threads[READERS];
    struct reader readers[READERS];
    uint64_t seed = seed_of_run(), batches = seed_runs("VEDETTE_RUNS", BATCHES);
    struct seed_rng rng = {seed};
    write_pair(t, 0, "first", false);
    _Atomic bool stop = false;
    for (size_t i = 0; i < READERS; i++) {
        readers[i] = (struct reader){.t = t, .stop = &stop, .rng = {seed_next(&rng)}};
        assert_int_equal(pthread_create(&threads[i], NULL, read_on, &readers[i]), 0);
    }
    for (uint64_t i = 0; i < batches; i++) {
        char value[32];
        snprintf(value, sizeof value, "v%llu", (unsigned long long)i);
        write_pair(t, seed_below(&rng, PAIRS), value, seed_once_in(&rng, 4));
    }
    atomic_store(&stop, true);
    size_t work = 0;
    for (size_t i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
        work += readers[i].lists + readers[i].logs + readers[i].objects;
        if (*readers[i].wrong)
            fail_msg("%s; VEDETTE_SEED=%llu", readers[i].wrong, (unsigned long long)seed);
    }
    assert_true(work > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(readers_are_right_or_expired),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
