/*
 * src/store/intake.c and the retries of group.c: what a store does about the rows that other
 * processes have committed to its log. A *rival* is another engine on the same log, with which the
 * test writes. The test can let the rival commit right before the store does.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "base/limits.h"
#include "base/vec.h"
#include "check.h"
#include "fixture.h"
#include "shared_log.h"
#include "store/log_read.h"

enum { DEADLINE_MS = 60000 }; /* for everything that is waited for */

struct setting {
    struct vd_memory_log *log;
    struct vd_engine *rival;
    struct vd_store *store;
    struct vd_engine_ops ops; /* of the store's engine: commit() lets the rival commit first */
    const struct vd_engine_ops *memory_ops;
    int faster; /* how many commits of the store the rival is still to precede */
    unsigned rivals_n;
    struct vd_subscriber subscriber;
    struct vd_buf told; /* "first..last " for each commit that the subscriber was told of */
};

static struct setting *current; /* the one test that runs */

static uint64_t rival_head(struct setting *t)
{
    struct vd_engine_state found;
    struct vd_error error;
    assert_ok(t->rival->ops->state(t->rival, &found, &error), &error);
    return found.revision;
}

static struct vd_row row_of(const char *name, struct vd_template body, enum vd_event_type type,
                            uint64_t previous)
{
    return (struct vd_row){.time_ms = 5,
                           .type = type,
                           .previous = previous,
                           .key = test_key("things", "ns", name),
                           .body = body,
                           .body_len = (uint32_t)body.bytes.n};
}

static void rival_commit_rows(struct setting *t, struct vd_row *rows, size_t n)
{
    struct vd_engine_commit how = {.head = rival_head(t), .patient = true};
    struct vd_error error;
    assert_ok(t->rival->ops->commit(t->rival, how, rows, n, &error), &error);
}

/* The rival creates an object of its own. */
static uint64_t rival_put(struct setting *t, const char *name, const char *value)
{
    struct vd_buf body = {0};
    struct vd_row row = row_of(name, test_body(&body, name, NULL, value), VD_EVENT_CREATED, 0);
    rival_commit_rows(t, &row, 1);
    vd_buf_release(&body);
    return row.revision;
}

static int commit_after_rival(struct vd_engine *engine, struct vd_engine_commit how,
                              struct vd_row *rows, size_t n, struct vd_error *error)
{
    struct setting *t = current;
    char name[24];
    snprintf(name, sizeof name, "rival-%u", t->rivals_n++);
    if (t->faster > 0) {
        t->faster--;
        rival_put(t, name, "first");
    }
    return t->memory_ops->commit(engine, how, rows, n, error);
}

static void tell(struct vd_subscriber *subscriber, struct vd_commit *commit)
{
    struct setting *t = VD_CONTAINER_OF(subscriber, struct setting, subscriber);
    for (size_t i = 0; i < commit->n; i++)
        vd_buf_addf(&t->told, "%s%.*s", i ? "+" : "",
                    VD_FMT(vd_entry_name(commit->changes[i].now->entry)));
    vd_buf_add_text(&t->told, " ");
}

static int setup_with(void **state, struct vd_memory_options how, struct vd_store_options options)
{
    struct setting *t = calloc(1, sizeof *t);
    struct vd_engine *engine;
    struct vd_engine_state found;
    struct vd_error error;
    current = t;
    t->log = how.log = vd_memory_log_new(SHARED_STRIDE);
    assert_ok(vd_memory_engine_open(&t->rival, &how, &found, &error), &error);
    assert_ok(vd_memory_engine_open(&engine, &how, &found, &error), &error);
    t->memory_ops = engine->ops;
    t->ops = *engine->ops;
    t->ops.commit = commit_after_rival;
    engine->ops = &t->ops;
    options.manual_compaction = true;
    assert_ok(vd_store_open(&t->store, engine, &options, &error), &error);
    t->subscriber.committed = tell;
    vd_store_subscribe(t->store, &t->subscriber);
    *state = t;
    return 0;
}

static int setup(void **state)
{
    return setup_with(state, (struct vd_memory_options){0}, (struct vd_store_options){0});
}

static int setup_short(void **state)
{
    return setup_with(state, (struct vd_memory_options){0},
                      (struct vd_store_options){.tail_events_max = 2});
}

static int setup_thread_only(void **state)
{
    return setup_with(state, (struct vd_memory_options){.thread_only = true},
                      (struct vd_store_options){0});
}

static int teardown(void **state)
{
    struct setting *t = *state;
    vd_store_unsubscribe(t->store, &t->subscriber);
    vd_store_close(t->store);
    t->rival->ops->close(t->rival);
    vd_memory_log_unref(t->log);
    vd_buf_release(&t->told);
    free(t);
    return 0;
}

static struct vd_store_stats stats_of(struct setting *t)
{
    struct vd_store_stats stats;
    vd_store_stats(t->store, &stats);
    return stats;
}

static const char *value_of(struct setting *t, const char *name, char room[64])
{
    struct vd_key key = test_key("things", "ns", name);
    struct vd_event *event;
    int code = vd_store_get(t->store, &key, 0, &event, NULL);
    if (code)
        return vd_code_name(code);
    body_value(event->body, room);
    vd_event_unref(event);
    return room;
}

#define assert_value(t, name, want)                                                                \
    do {                                                                                           \
        char room_[64];                                                                            \
        assert_string_equal(value_of((t), (name), room_), (want));                                 \
    } while (0)

static int try_put(struct setting *t, const char *name, const char *value, enum vd_when when,
                   uint64_t revision, struct vd_outcome *outcome)
{
    struct vd_buf body = {0};
    struct vd_wish wish = {.key = test_key("things", "ns", name),
                           .when = when,
                           .revision = revision,
                           .body = test_body(&body, name, NULL, value)};
    int code = vd_store_commit(t->store, &wish, 1, outcome);
    vd_buf_release(&body);
    return code;
}

/* ---- what arrives ---- */

static void rows_of_others_arrive_without_a_write(void **state)
{
    struct setting *t = *state;
    uint64_t revision = rival_put(t, "a", "1");
    shared_store_await(t->store, revision, 0);
    assert_value(t, "a", "1");
    assert_int_equal(vd_store_revision(t->store), revision);
    assert_int_equal(stats_of(t).taken_in, 1);
    assert_int_equal(stats_of(t).window_events, 1);
    assert_int_equal(stats_of(t).commits, 0);
}

/* A commit of another process may have several batches: each is told as one commit of its own. */
static void each_batch_of_others_is_told_as_one_commit(void **state)
{
    struct setting *t = *state;
    enum { LARGE = 3 * VD_SCAN_STEP_ROWS };
    struct vd_buf body = {0}, want = {0};
    struct vd_template value = test_body(&body, "x", NULL, "1");
    struct vd_row rows[5];
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < 5; i++) {
        rows[i] = row_of(names[i], value, VD_EVENT_CREATED, 0);
        rows[i].more = i == 1 || i == 2;
    }
    rival_commit_rows(t, rows, 5);
    shared_store_await(t->store, rows[4].revision, 0);
    assert_string_equal(vd_buf_text(&t->told), "a b+c+d e ");
    vd_buf_reset(&t->told);
    struct vd_row *large = vd_calloc(LARGE, sizeof *large);
    char(*room)[16] = vd_calloc(LARGE, sizeof *room);
    for (size_t i = 0; i < LARGE; i++) {
        snprintf(room[i], sizeof room[i], "n%zu", i);
        large[i] = row_of(room[i], value, VD_EVENT_CREATED, 0);
        large[i].more = i + 1 < LARGE;
        vd_buf_addf(&want, "%s%s", i ? "+" : "", room[i]);
    }
    rival_commit_rows(t, large, LARGE);
    shared_store_await(t->store, large[LARGE - 1].revision, 0);
    vd_buf_add_text(&want, " ");
    assert_string_equal(vd_buf_text(&t->told), vd_buf_text(&want));
    free(large);
    free(room);
    vd_buf_release(&body);
    vd_buf_release(&want);
}

/* All versions of one object within one piece: each knows the one before. */
static void versions_of_others_follow_each_other(void **state)
{
    struct setting *t = *state;
    struct vd_buf one = {0}, two = {0};
    struct vd_row rows[4];
    rows[0] = row_of("a", test_body(&one, "a", NULL, "1"), VD_EVENT_CREATED, 0);
    rows[1] = row_of("a", test_body(&two, "a", NULL, "2"), VD_EVENT_UPDATED, 0);
    rows[1].previous_row = 1;
    rows[2] = row_of("a", (struct vd_template){.hole = 0}, VD_EVENT_DELETED, 0);
    rows[2].previous_row = 2;
    rows[3] = row_of("a", rows[0].body, VD_EVENT_CREATED, 0);
    rows[3].previous_row = 3;
    uint64_t from = vd_store_revision(t->store);
    rival_commit_rows(t, rows, 4);
    shared_store_await(t->store, rows[3].revision, 0);
    struct vd_stretch stretch = {0};
    struct vd_error error;
    assert_ok(vd_store_read(t->store, VD_SLICE("things"), from, 10, &stretch, &error), &error);
    assert_int_equal(stretch.changes.n, 4);
    char now[64], before[64];
    assert_string_equal(body_value(stretch.changes.p[1].before->body, before), "1");
    assert_string_equal(body_value(stretch.changes.p[2].now->body, now), "2"); /* the deletion */
    assert_null(stretch.changes.p[3].before);
    assert_value(t, "a", "1");
    vd_stretch_release(&stretch);
    vd_buf_release(&one);
    vd_buf_release(&two);
}

/* ---- being behind ---- */

static void a_group_that_is_behind_is_judged_again(void **state)
{
    struct setting *t = *state;
    struct vd_outcome outcome;
    t->faster = 3;
    assert_int_equal(try_put(t, "mine", "1", VD_WHEN_ABSENT, 0, &outcome), VD_OK);
    assert_int_equal(stats_of(t).behind, 3);
    assert_string_equal(vd_buf_text(&t->told), "rival-0 rival-1 rival-2 mine ");
    assert_int_equal(outcome.revision, vd_store_revision(t->store));
    /* What the rival wrote in between is judged, too. */
    t->rivals_n = 100;
    t->faster = 1;
    assert_int_equal(try_put(t, "rival-100", "2", VD_WHEN_ABSENT, 0, &outcome), VD_ERR_EXISTS);
    assert_value(t, "rival-100", "first");
}

static void after_too_many_tries_nothing_is_written(void **state)
{
    struct setting *t = *state;
    struct vd_outcome outcome;
    struct vd_health health;
    t->faster = 1000;
    assert_int_equal(try_put(t, "mine", "1", VD_WHEN_ANY, 0, &outcome), VD_ERR_LOCKED);
    assert_int_equal(1000 - t->faster, VD_COMMIT_ATTEMPTS_MAX);
    assert_string_equal(outcome.error.text,
                        "other processes wrote to the log each time that this was tried: retry");
    assert_value(t, "mine", "not-found");
    vd_store_health(t->store, &health);
    assert_false(health.read_only || health.locked); /* the next write may succeed */
    t->faster = 0;
    assert_int_equal(try_put(t, "mine", "1", VD_WHEN_ANY, 0, &outcome), VD_OK);
}

/* A precondition on a version that this store has not seen yet holds all the same. */
static void nobody_is_refused_for_a_state_that_is_over(void **state)
{
    struct setting *t = *state;
    struct vd_outcome outcome;
    for (int i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof name, "o-%d", i);
        uint64_t revision = rival_put(t, name, "1");
        assert_int_equal(try_put(t, name, "2", VD_WHEN_REVISION, revision, &outcome), VD_OK);
        assert_true(outcome.changed && outcome.revision > revision);
        snprintf(name, sizeof name, "p-%d", i);
        revision = rival_put(t, name, "1");
        assert_int_equal(try_put(t, name, "1", VD_WHEN_PRESENT, 0, &outcome), VD_OK);
        assert_false(outcome.changed);
        assert_int_equal(outcome.revision, revision);
    }
}

/* ---- who commits ---- */

struct probe {
    struct vd_proposal proposal;
    pthread_t by;
    sem_t answered;
    struct vd_outcome outcome;
};

static void probe_done(struct vd_proposal *proposal, const struct vd_outcome *outcome)
{
    struct probe *p = proposal->arg;
    p->by = pthread_self();
    p->outcome = *outcome;
    sem_post(&p->answered);
}

/* Returns whether this thread has committed the proposal itself. */
static bool propose_here(struct setting *t, const char *name, struct probe *p)
{
    struct vd_buf body = {0};
    struct vd_wish wish = {.key = test_key("things", "ns", name),
                           .body = test_body(&body, name, NULL, "1")};
    sem_init(&p->answered, 0, 0);
    p->proposal = (struct vd_proposal){&wish, 1, probe_done, p, NULL};
    bool here = vd_store_propose_here(t->store, vd_admitted_of(&p->proposal));
    sem_wait(&p->answered);
    sem_destroy(&p->answered);
    vd_buf_release(&body);
    assert_int_equal(here, pthread_equal(p->by, pthread_self()) != 0);
    return here;
}

static void an_engine_may_keep_proposers_from_committing(void **state)
{
    struct setting *t = *state;
    struct probe probe;
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "o-%d", i);
        assert_false(propose_here(t, name, &probe));
        assert_int_equal(probe.outcome.code, VD_OK);
    }
    assert_int_equal(stats_of(t).groups_here, 0);
}

/* A proposer does not take in what others have written, as that may be much: the writer's thread
 * does. */
static void a_proposer_that_is_behind_hands_over(void **state)
{
    struct setting *t = *state;
    struct probe probe;
    bool here = false;
    const struct vd_clock *clock = vd_clock_system();
    int64_t until_ms = vd_clock_wall_ms(clock) + DEADLINE_MS;
    for (int i = 0; !here && vd_clock_wall_ms(clock) < until_ms; i++) {
        char name[16];
        snprintf(name, sizeof name, "quiet-%d", i);
        here = propose_here(t, name, &probe);
        sched_yield(); /* the writer's thread may be at work */
    }
    assert_true(here);
    t->faster = 1;
    assert_false(propose_here(t, "mine", &probe));
    assert_int_equal(probe.outcome.code, VD_OK);
    assert_value(t, "mine", "1");
}

/* ---- the floor ---- */

static void rival_compact(struct setting *t, const uint64_t *dead, size_t n, uint64_t floor,
                          size_t passed)
{
    struct vd_engine_state found;
    struct vd_error error;
    assert_ok(t->rival->ops->state(t->rival, &found, &error), &error);
    struct vd_compaction what = {dead, n, found.floor, floor, passed};
    assert_ok(t->rival->ops->compact(t->rival, &what, &error), &error);
}

static void the_floor_of_others_is_followed(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    struct vd_stretch stretch = {0};
    uint64_t a = put(t->store, "things", "ns", "a", "1"),
             b = put(t->store, "things", "ns", "a", "2");
    struct vd_outcome deleted;
    assert_int_equal(test_delete(t->store, "things", "ns", "a", &deleted), VD_OK);
    uint64_t gone = deleted.revision;
    uint64_t c = put(t->store, "things", "ns", "c", "1");
    uint64_t last = put(t->store, "things", "ns", "c", "2");
    assert_int_equal(stats_of(t).window_events, 5);
    const uint64_t dead[] = {a, b, gone};
    rival_compact(t, dead, 3, gone, 3);
    shared_store_await(t->store, last, gone);
    assert_int_equal(stats_of(t).floor, gone);
    assert_int_equal(stats_of(t).window_events, 2);
    assert_true(stats_of(t).tail_floor >= gone);
    assert_code(vd_store_read(t->store, VD_SLICE(""), b, 10, &stretch, &error), VD_ERR_EXPIRED);
    assert_ok(vd_store_read(t->store, VD_SLICE(""), c, 10, &stretch, &error), &error);
    assert_int_equal(stretch.changes.n, 1);
    vd_stretch_release(&stretch);
    assert_value(t, "a", "not-found");
    /* Its entry has left the index, and is made again. */
    put(t->store, "things", "ns", "a", "again");
    assert_value(t, "a", "again");
    /* This store compacts further from that floor. */
    assert_ok(vd_store_compact(t->store, c, &error), &error);
    assert_int_equal(vd_store_floor(t->store), c);
    assert_int_equal(stats_of(t).window_events, 2);
}

/* What an engine answers when others have compacted rows that this store has not seen. */
static int read_expired(struct vd_engine *engine, uint64_t after, uint64_t upto, size_t rows_max,
                        const struct vd_row_sink *sink, struct vd_error *error)
{
    (void)engine;
    (void)upto;
    (void)rows_max;
    (void)sink;
    return vd_error_set(error, VD_ERR_EXPIRED, "%llu is gone", (unsigned long long)after);
}

static void who_cannot_follow_any_more_stops_writing(void **state)
{
    struct setting *t = *state;
    struct vd_outcome outcome;
    struct vd_health health;
    uint64_t mine = put(t->store, "things", "ns", "mine", "1");
    t->ops.read = read_expired; /* set between two commits, while the writer waits */
    rival_put(t, "theirs", "1");
    assert_int_equal(try_put(t, "mine", "2", VD_WHEN_ANY, 0, &outcome), VD_ERR_READ_ONLY);
    vd_store_health(t->store, &health);
    assert_true(health.read_only);
    assert_string_equal(health.error.text,
                        "the log's window has passed what this process knows, so it cannot follow "
                        "the others: restart it");
    /* What it has taken in can still be read. */
    assert_int_equal(vd_store_revision(t->store), mine);
    assert_value(t, "mine", "1");
}

#define TEST(name, begin) cmocka_unit_test_setup_teardown(name, begin, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rows_of_others_arrive_without_a_write, setup),
        TEST(each_batch_of_others_is_told_as_one_commit, setup),
        TEST(each_batch_of_others_is_told_as_one_commit, setup_short),
        TEST(versions_of_others_follow_each_other, setup),
        TEST(a_group_that_is_behind_is_judged_again, setup),
        TEST(after_too_many_tries_nothing_is_written, setup),
        TEST(nobody_is_refused_for_a_state_that_is_over, setup),
        TEST(an_engine_may_keep_proposers_from_committing, setup_thread_only),
        TEST(a_proposer_that_is_behind_hands_over, setup),
        TEST(the_floor_of_others_is_followed, setup),
        TEST(the_floor_of_others_is_followed, setup_short),
        TEST(who_cannot_follow_any_more_stops_writing, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
