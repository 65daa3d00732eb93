/*
 * src/store/compactor.c: where the floor may stand, what leaves the log with it, and the window's
 * bounds. The tests run on the memory engine and on SQLite; what is left in the file is read with
 * SQLite itself.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "setting.h"
#include "store/store.h"

enum { AGE_MS = 1000000, DEADLINE_S = 60 };

static const struct vd_store_options by_hand = {.manual_compaction = true};

static int setup_memory(void **state)
{
    return setting_new(state, false, 5000000, by_hand);
}

static int setup_sqlite(void **state)
{
    return setting_new(state, true, 5000000, by_hand);
}

static void compact(struct setting *t, uint64_t target)
{
    struct vd_error error;
    assert_ok(vd_store_compact(t->store, target, &error), &error);
}

/* A batch of n puts of n objects; gives its last revision. */
static uint64_t put_batch(struct setting *t, size_t n, const char *value)
{
    struct vd_wish *wishes = vd_calloc(n, sizeof *wishes);
    struct vd_buf *bodies = vd_calloc(n, sizeof *bodies);
    char(*names)[16] = vd_calloc(n, sizeof *names);
    struct vd_outcome outcome;
    for (size_t i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], "b%zu", i);
        wishes[i] = (struct vd_wish){.action = VD_PUT,
                                     .key = test_key("things", "ns", names[i]),
                                     .body = test_body(&bodies[i], names[i], NULL, value)};
    }
    assert_code(vd_store_commit(t->store, wishes, n, &outcome), VD_OK);
    for (size_t i = 0; i < n; i++)
        vd_buf_release(&bodies[i]);
    free(wishes);
    free(bodies);
    free(names);
    return outcome.revision;
}

/* Waits until the writer has moved the floor here. */
static void await_floor(struct setting *t, uint64_t floor)
{
    struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < DEADLINE_S * 1000 && vd_store_floor(t->store) != floor; i++)
        nanosleep(&pause, NULL);
    assert_int_equal(vd_store_floor(t->store), floor);
}

/* Waits until the writer has done its housekeeping after everything that was proposed so far: it
 * does so before it takes the next group. */
static void settle(struct setting *t)
{
    for (int i = 0; i < 2; i++)
        assert_code(test_delete(t->store, "things", "ns", "nothing", NULL), VD_ERR_NOT_FOUND);
}

/* Checks which revisions the file has; the store is closed for that. */
static void assert_file_has(struct setting *t, const char *revisions)
{
    if (!t->folder)
        return;
    vd_store_close(t->store);
    t->store = NULL;
    struct vd_buf path = {0};
    sqlite3 *db;
    sqlite3_stmt *select;
    vd_buf_addf(&path, "%s/log.db", t->folder);
    assert_int_equal(sqlite3_open(vd_buf_text(&path), &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT group_concat(revision,' ') FROM (SELECT revision "
                                        "FROM log ORDER BY revision)",
                                        -1, &select, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(select), SQLITE_ROW);
    const char *got = (const char *)sqlite3_column_text(select, 0);
    assert_string_equal(got ? got : "", revisions);
    sqlite3_finalize(select);
    sqlite3_close(db);
    vd_buf_release(&path);
    setting_open(t, by_hand);
}

static void assert_stats(struct setting *t, uint64_t floor, uint64_t window, uint64_t compacted)
{
    struct vd_store_stats stats;
    vd_store_stats(t->store, &stats);
    assert_int_equal(stats.floor, floor);
    assert_int_equal(stats.window_events, window);
    assert_int_equal(stats.compacted_rows, compacted);
}

/* The worked example of compactor.c's head. */
static void replaced_rows_and_passed_deletions_leave_the_log(void **state)
{
    struct setting *t = *state;
    assert_int_equal(put(t->store, "things", "ns", "a", "1"), 2);
    put(t->store, "things", "ns", "b", "1");
    put(t->store, "things", "ns", "a", "2");
    assert_int_equal(del(t->store, "things", "ns", "b"), 5);
    put(t->store, "things", "ns", "c", "1");
    compact(t, 5);
    assert_stats(t, 5, 1, 3);
    assert_file_has(t, "4 6");
    assert_int_equal(vd_store_count(t->store, VD_SLICE("things")), 2);
}

/* A creation may follow a deletion of the same object, which must be removed only once. */
static void deletions_are_counted_once(void **state)
{
    struct setting *t = *state;
    for (int i = 0; i < 3; i++) { /* 2..7: created and deleted, three lives */
        put(t->store, "things", "ns", "a", "1");
        del(t->store, "things", "ns", "a");
    }
    put(t->store, "things", "ns", "a", "last"); /* 8 */
    put(t->store, "things", "ns", "b", "1");    /* 9 */
    compact(t, 3);
    assert_stats(t, 3, 6, 2);
    compact(t, 8);
    assert_stats(t, 8, 1, 6);
    assert_file_has(t, "8 9");
}

static void the_floor_stands_at_ends_of_batches_only(void **state)
{
    struct setting *t = *state;
    put_batch(t, 3, "1");                    /* 2 3 4 */
    put(t->store, "things", "ns", "a", "1"); /* 5 */
    put_batch(t, 3, "2");                    /* 6 7 8 */
    put(t->store, "things", "ns", "a", "2"); /* 9 */
    static const struct {
        uint64_t target, floor;
    } steps[] = {{1, 0}, {2, 0}, {3, 0}, {4, 4}, {3, 4}, {5, 5}, {6, 5}, {7, 5}, {8, 8}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        compact(t, steps[i].target);
        assert_int_equal(vd_store_floor(t->store), steps[i].floor);
    }
    assert_stats(t, 8, 1, 3);
    assert_file_has(t, "5 6 7 8 9");
}

static void the_floor_never_reaches_the_newest_batch(void **state)
{
    struct setting *t = *state;
    compact(t, UINT64_MAX);
    assert_int_equal(vd_store_floor(t->store), 0);
    put(t->store, "things", "ns", "a", "1"); /* 2 */
    compact(t, UINT64_MAX);
    assert_int_equal(vd_store_floor(t->store), 0);
    put_batch(t, 3, "1"); /* 3 4 5 */
    compact(t, UINT64_MAX);
    assert_int_equal(vd_store_floor(t->store), 2);
    compact(t, 5);
    assert_int_equal(vd_store_floor(t->store), 2);
    struct vd_error error;
    assert_ok(vd_store_check_revision(t->store, 5, &error), &error);
    assert_file_has(t, "2 3 4 5");
    del(t->store, "things", "ns", "a"); /* 6: the newest row stays, though it is a deletion */
    compact(t, UINT64_MAX);
    assert_int_equal(vd_store_floor(t->store), 5);
    assert_file_has(t, "2 3 4 5 6");
    assert_int_equal(put(t->store, "things", "ns", "a", "2"), 7);
}

static void a_batch_larger_than_a_step_is_passed_whole(void **state)
{
    struct setting *t = *state;
    enum { N = 2 * VD_COMPACT_STEP_ROWS + 77 };
    uint64_t first = put_batch(t, N, "1"), second = put_batch(t, N, "2");
    put(t->store, "things", "ns", "a", "1");
    compact(t, first - 1);
    assert_stats(t, 0, 2 * N + 1, 0);
    compact(t, second - 1);
    assert_stats(t, first, N + 1, 0);
    compact(t, second);
    assert_stats(t, second, 1, N);
    assert_int_equal(vd_store_count(t->store, VD_SLICE("things")), N + 1);
}

static void many_steps_in_one_compaction(void **state)
{
    struct setting *t = *state;
    enum { ROUNDS = 40, N = 30 }; /* 1200 rows, 5 steps */
    uint64_t last = 0;
    for (int i = 0; i < ROUNDS; i++) {
        char value[16];
        snprintf(value, sizeof value, "v%d", i);
        last = put_batch(t, N, value);
    }
    put(t->store, "things", "ns", "a", "1");
    compact(t, last);
    assert_stats(t, last, 1, (uint64_t)(ROUNDS - 1) * N);
    for (int i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", i);
        del(t->store, "things", "ns", name);
    }
    put(t->store, "things", "ns", "a", "2");
    compact(t, UINT64_MAX);
    char want[64];
    snprintf(want, sizeof want, "%llu %llu", (unsigned long long)last + 1,
             (unsigned long long)vd_store_revision(t->store));
    assert_file_has(t, want);
    assert_int_equal(vd_store_count(t->store, VD_SLICE("things")), 1);
}

static void compaction_goes_on_where_it_was_after_reopening(void **state)
{
    struct setting *t = *state;
    for (int i = 0; i < 10; i++) { /* 2 3, 4 5, ... 20 21 */
        put(t->store, "things", "ns", "a", i % 2 ? "odd" : "even");
        put(t->store, "things", "ns", "b", i % 2 ? "odd" : "even");
    }
    for (uint64_t floor = 5; floor < 20; floor += 5) {
        compact(t, floor);
        if (t->folder)
            setting_open(t, by_hand);
        struct vd_store_stats stats;
        vd_store_stats(t->store, &stats);
        assert_int_equal(stats.floor, floor);
        assert_int_equal(stats.window_events, 21 - floor);
        assert_true(stats.tail_floor >= floor);
    }
    compact(t, 20);
    assert_file_has(t, "19 20 21"); /* 19 is what 21 replaced: a reader at 20 needs it */
}

/* What a cursor right above the floor needs is still there. */
static void a_reader_right_above_the_floor_is_complete(void **state)
{
    struct setting *t = *state;
    put(t->store, "things", "ns", "a", "1");    /* 2 */
    put(t->store, "things", "ns", "a", "2");    /* 3 */
    put(t->store, "things", "ns", "gone", "1"); /* 4 */
    put(t->store, "things", "ns", "a", "3");    /* 5 */
    del(t->store, "things", "ns", "gone");      /* 6 */
    put(t->store, "things", "ns", "b", "1");    /* 7 */
    compact(t, 4);
    if (t->folder) {
        struct vd_store_options options = by_hand;
        options.tail_events_max = 1;
        setting_open(t, options);
    }
    struct vd_stretch stretch = {0};
    struct vd_error error;
    char room[64];
    assert_code(vd_store_read(t->store, VD_SLICE(""), 4, 10, &stretch, &error), VD_ERR_EXPIRED);
    assert_ok(vd_store_read(t->store, VD_SLICE(""), 5, 10, &stretch, &error), &error);
    assert_int_equal(stretch.changes.p[0].now->revision, 6);
    assert_string_equal(body_value(stretch.changes.p[0].now->body, room), "1");
    struct vd_key key = test_key("things", "ns", "gone");
    struct vd_event *event;
    assert_ok(vd_store_get(t->store, &key, 5, &event, &error), &error);
    vd_event_unref(event);
    vd_stretch_release(&stretch);
}

/* ---- the window's own bounds ---- */

static void too_many_events_move_the_floor(void **state)
{
    struct setting *t = *state;
    setting_open(t, (struct vd_store_options){.window_events_max = 100,
                                              .window_age_ms_max = INT64_C(1) << 40});
    uint64_t last = 0;
    for (int i = 0; i < 60; i++) { /* in batches of ten, which compaction does not divide */
        char value[16];
        snprintf(value, sizeof value, "v%d", i);
        last = put_batch(t, 10, value);
        settle(t);
        struct vd_store_stats stats;
        vd_store_stats(t->store, &stats);
        assert_true(stats.window_events <= 116); /* a sixteenth of slack, and a batch */
        assert_int_equal(stats.floor % 10, stats.floor ? 1 : 0);
    }
    assert_true(vd_store_floor(t->store) >= last - 116);
    assert_true(vd_store_floor(t->store) <= last - 100);
}

/* A batch may be larger than the whole window: all of it stays readable. */
static void a_batch_larger_than_the_window_stays_readable(void **state)
{
    struct setting *t = *state;
    setting_open(t, (struct vd_store_options){.window_events_max = 10});
    uint64_t first = put_batch(t, 50, "1");
    settle(t);
    assert_int_equal(vd_store_floor(t->store), 0);
    uint64_t second = put_batch(t, 50, "2");
    await_floor(t, first);
    struct vd_error error;
    assert_ok(vd_store_check_revision(t->store, second, &error), &error);
    for (int i = 0; i < 10; i++)
        put(t->store, "things", "ns", "a", i % 2 ? "odd" : "even");
    await_floor(t, second);
}

/* However many events are too old, all of them leave, not only as many as one step removes. */
static void old_events_leave_all_of_them(void **state)
{
    struct setting *t = *state;
    setting_open(t, (struct vd_store_options){.window_age_ms_max = AGE_MS});
    uint64_t last = 0;
    for (int i = 0; i < 20; i++) {
        char value[16];
        snprintf(value, sizeof value, "v%d", i);
        last = put_batch(t, 100, value);
    }
    test_clock_advance_ms(&t->clock, AGE_MS / 2);
    uint64_t young = put(t->store, "things", "ns", "young", "1");
    test_clock_advance_ms(&t->clock, AGE_MS / 2 + 1);
    put(t->store, "things", "ns", "younger", "1");
    await_floor(t, last);
    struct vd_store_stats stats;
    vd_store_stats(t->store, &stats);
    assert_int_equal(stats.window_events, 2);
    assert_int_equal(stats.compacted_rows, 1900);
    test_clock_advance_ms(&t->clock, AGE_MS / 2);
    put(t->store, "things", "ns", "youngest", "1");
    await_floor(t, young);
}

/* The newest event stays however old it is; once there is a newer one it goes,
 * and not a whole age later. */
static void the_oldest_event_leaves_soon_after_it_may(void **state)
{
    struct setting *t = *state;
    setting_open(t, (struct vd_store_options){.window_age_ms_max = AGE_MS});
    uint64_t a = put(t->store, "things", "ns", "a", "1");
    test_clock_advance_ms(&t->clock, AGE_MS + 1);
    settle(t); /* compaction looks, and finds that nothing may leave */
    assert_int_equal(vd_store_floor(t->store), 0);
    put(t->store, "things", "ns", "b", "1");
    test_clock_advance_ms(&t->clock, 60000);
    settle(t);
    await_floor(t, a);
}

/* A clock that jumps back makes no event younger than the one before it. */
static void times_never_go_back(void **state)
{
    struct setting *t = *state;
    put(t->store, "things", "ns", "a", "1");
    test_clock_advance_ms(&t->clock, -100000);
    put(t->store, "things", "ns", "a", "2");
    if (t->folder)
        setting_open(t, by_hand);
    put(t->store, "things", "ns", "a", "3");
    struct vd_stretch stretch = {0};
    struct vd_error error;
    assert_ok(vd_store_read(t->store, VD_SLICE(""), 1, 10, &stretch, &error), &error);
    assert_int_equal(stretch.changes.n, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(stretch.changes.p[i].now->time_ms, 5000000);
    vd_stretch_release(&stretch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(replaced_rows_and_passed_deletions_leave_the_log),
        ON_BOTH(deletions_are_counted_once),
        ON_BOTH(the_floor_stands_at_ends_of_batches_only),
        ON_BOTH(the_floor_never_reaches_the_newest_batch),
        ON_BOTH(a_batch_larger_than_a_step_is_passed_whole),
        ON_BOTH(many_steps_in_one_compaction),
        ON_BOTH(compaction_goes_on_where_it_was_after_reopening),
        ON_BOTH(a_reader_right_above_the_floor_is_complete),
        ON_BOTH(too_many_events_move_the_floor),
        ON_BOTH(a_batch_larger_than_the_window_stays_readable),
        ON_BOTH(old_events_leave_all_of_them),
        ON_BOTH(the_oldest_event_leaves_soon_after_it_may),
        ON_BOTH(times_never_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
