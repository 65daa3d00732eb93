/*
 * src/watch/registry.h: groups, the states of a watcher, parking and resuming, the inbox and
 * bookmarks. There is one thread: a write has told its subscribers when it returns, and the test
 * takes the place of the loop.
 */
#include "watch/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#include "registry_setting.h"

/* ---- groups ---- */

static void watchers_with_one_filter_share_what_is_made(void **state)
{
    struct setting *t = *state;
    struct record *w[4];
    for (size_t i = 0; i < 3; i++)
        w[i] = watch(t, WEB, FROM_NOW);
    w[3] = watch(t, THINGS, FROM_NOW);
    assert_int_equal(stats().groups, 2);
    put_labelled(t->store, "things", "ns", "x", "\"app\":\"web\"", "1");
    put_labelled(t->store, "things", "ns", "y", "\"app\":\"web\"", "2");
    turn();
    assert_int_equal(record_shared_made, 2); /* one for each group, over both commits */
    assert_int_equal(record_shared_freed, 2);
    assert_int_equal(w[0]->found_shared + w[1]->found_shared + w[2]->found_shared, 2);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(w[i]->calls, 1);
        assert_int_equal(w[i]->upto, vd_store_revision(t->store));
        assert_true(w[i]->whole);
        assert_text(w[i], "+2 ns/x=1 +3 ns/y=2 ");
    }
    for (size_t i = 0; i < 4; i++)
        record_free(w[i]);
    assert_int_equal(stats().groups, 0);
}

static void watchers_of_other_formats_are_never_grouped(void **state)
{
    struct setting *t = *state;
    static const struct vd_watcher_ops *ops;
    struct record *plain = watch(t, THINGS, FROM_NOW), table = {0};
    struct vd_filter *filter = vd_filter_new(
        &(struct vd_filter_spec){.resource = VD_SLICE("things"), .format = 1});
    ops = plain->watcher.ops;
    table.watcher.ops = ops;
    vd_cursor_open_now(&table.watcher.cursor, t->store, filter);
    vd_registry_add(registry, &table.watcher);
    vd_filter_unref(filter);
    put(t->store, "things", "ns", "x", "1");
    turn();
    assert_int_equal(record_shared_made, 2);
    assert_int_equal(plain->found_shared + table.found_shared, 0);
    vd_registry_remove(&table.watcher);
    vd_cursor_close(&table.watcher.cursor);
    vd_buf_release(&table.text);
    record_free(plain);
}

/* A watcher that does not take its deliveries does not affect those of the others. */
static void each_member_of_a_group_answers_for_itself(void **state)
{
    struct setting *t = *state;
    static const enum vd_take answers[] = {VD_TAKE_NOT,  VD_TAKE_MORE, VD_TAKE_END, VD_TAKE_LAST,
                                           VD_TAKE_MORE, VD_TAKE_NOT,  VD_TAKE_END};
    enum { N = sizeof answers / sizeof *answers };
    struct record *w[N];
    for (size_t i = 0; i < N; i++) {
        w[i] = watch(t, THINGS, FROM_NOW);
        w[i]->answer = answers[i];
    }
    put(t->store, "things", "ns", "x", "1");
    turn();
    assert_int_equal(stats().synced, 2);
    assert_int_equal(stats().parked, 3);
    assert_int_equal(stats().watchers, 5);
    put(t->store, "things", "ns", "x", "2");
    turn();
    for (size_t i = 0; i < N; i++) {
        static const char *const texts[] = {[VD_TAKE_MORE] = "+2 ns/x=1 ~3 ns/x=2 ",
                                            [VD_TAKE_LAST] = "+2 ns/x=1 ",
                                            [VD_TAKE_NOT] = "",
                                            [VD_TAKE_END] = "+2 ns/x=1 "};
        assert_text(w[i], texts[answers[i]]);
        vd_watcher_resume(&w[i]->watcher);
    }
    turn();
    for (size_t i = 0; i < N; i++) {
        static const char *const texts[] = {[VD_TAKE_MORE] = "",
                                            [VD_TAKE_LAST] = "~3 ns/x=2 ",
                                            [VD_TAKE_NOT] = "+2 ns/x=1 ~3 ns/x=2 ",
                                            [VD_TAKE_END] = ""};
        assert_text(w[i], texts[answers[i]]);
        record_free(w[i]);
    }
}

static void the_last_member_may_leave_while_its_group_is_served(void **state)
{
    struct setting *t = *state;
    struct record *w[3];
    for (size_t i = 0; i < 3; i++) {
        w[i] = watch(t, THINGS, FROM_NOW);
        w[i]->answer = VD_TAKE_END;
    }
    put(t->store, "things", "ns", "x", "1");
    turn();
    assert_int_equal(stats().watchers, 0);
    assert_int_equal(stats().groups, 0);
    uint64_t last = put(t->store, "things", "ns", "x", "2");
    turn();
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(w[i]->watcher.state, VD_WATCHER_OUT);
        assert_text(w[i], "+2 ns/x=1 ");
    }
    /* The cursor is at the revision at which the watcher left, so it can be added again. */
    vd_registry_add(registry, &w[0]->watcher);
    turn();
    assert_text(w[0], "~3 ns/x=2 ");
    assert_int_equal(vd_watcher_bookmark(&w[0]->watcher), last);
    for (size_t i = 0; i < 3; i++)
        record_free(w[i]);
}

static void one_may_leave_while_it_catches_up(void **state)
{
    struct setting *t = *state;
    put(t->store, "things", "ns", "x", "1");
    struct record *log = watch(t, THINGS, 1), *snapshot = watch(t, THINGS, FROM_SNAPSHOT);
    log->answer = snapshot->answer = VD_TAKE_END;
    put(t->store, "things", "ns", "x", "2");
    turn();
    assert_int_equal(stats().watchers, 0);
    assert_text(log, "+2 ns/x=1 ~3 ns/x=2 ");
    assert_text(snapshot, "+2 ns/x=1 | ");
    vd_registry_add(registry, &snapshot->watcher);
    turn();
    assert_text(snapshot, "~3 ns/x=2 ");
    record_free(log);
    record_free(snapshot);
}

/* ---- states ---- */

static void a_watcher_catches_up_and_is_then_fed(void **state)
{
    struct setting *t = *state;
    put(t->store, "things", "ns", "x", "1");
    put(t->store, "things", "ns", "x", "2");
    turn();
    struct record *w = watch(t, THINGS, 2), *now = watch(t, THINGS, FROM_NOW);
    assert_int_equal(w->watcher.state, VD_WATCHER_UNSYNCED);
    assert_int_equal(now->watcher.state, VD_WATCHER_SYNCED);
    assert_int_equal(stats().unsynced, 1);
    turn();
    assert_int_equal(w->watcher.state, VD_WATCHER_SYNCED);
    assert_text(w, "~3 ns/x=2 ");
    put(t->store, "things", "ns", "x", "3");
    turn();
    assert_text(w, "~4 ns/x=3 ");
    assert_text(now, "~4 ns/x=3 ");
    assert_int_equal(stats().synced, 2);
    assert_int_equal(stats().revision, nth(4));
    record_free(w);
    record_free(now);
}

/* The loop has not turned yet: the watcher's revision is above the registry's, and at or below the
 * newest of the log. */
static void a_watcher_that_is_newer_than_the_loop_misses_nothing(void **state)
{
    struct setting *t = *state;
    struct record *old = watch(t, THINGS, FROM_NOW);
    for (char value[2] = "1"; value[0] < '6'; value[0]++)
        put(t->store, "things", "ns", "x", value);
    struct record *now = watch(t, THINGS, FROM_NOW), *mid = watch(t, THINGS, 4);
    struct record *snapshot = watch(t, THINGS, FROM_SNAPSHOT);
    assert_int_equal(now->watcher.state, VD_WATCHER_AHEAD);
    assert_int_equal(mid->watcher.state, VD_WATCHER_AHEAD);
    assert_int_equal(stats().ahead, 2);
    put(t->store, "things", "ns", "x", "6");
    turn();
    assert_text(old, "+2 ns/x=1 ~3 ns/x=2 ~4 ns/x=3 ~5 ns/x=4 ~6 ns/x=5 ~7 ns/x=6 ");
    assert_text(mid, "~5 ns/x=4 ~6 ns/x=5 ~7 ns/x=6 ");
    assert_text(now, "~7 ns/x=6 ");
    assert_text(snapshot, "+6 ns/x=5 | ~7 ns/x=6 ");
    assert_int_equal(stats().synced, 4);
    put(t->store, "things", "ns", "x", "7");
    turn();
    assert_text(now, "~8 ns/x=7 ");
    assert_text(mid, "~8 ns/x=7 ");
    record_free(old);
    record_free(now);
    record_free(mid);
    record_free(snapshot);
}

static void a_future_watcher_gets_only_what_is_beyond(void **state)
{
    struct setting *t = *state;
    static const struct test_change batch[] = {{"things", "ns", "a", NULL, "1"},
                                               {"things", "ns", "b", NULL, "2"},
                                               {"things", "ns", "c", NULL, "3"}};
    struct record *at[6];
    for (size_t i = 0; i < 6; i++)
        at[i] = watch(t, THINGS, 2 + i);
    assert_int_equal(stats().ahead, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(vd_watcher_bookmark(&at[i]->watcher), 0);
    put(t->store, "things", "ns", "x", "1"); /* 2 */
    turn();
    assert_int_equal(stats().ahead, 5);
    assert_int_equal(vd_watcher_bookmark(&at[0]->watcher), nth(2));
    put_batch(t->store, batch, 3); /* 3, 4, 5 */
    turn();
    assert_int_equal(stats().ahead, 2);
    put(t->store, "things", "ns", "x", "2"); /* 6 */
    put(t->store, "things", "ns", "x", "3"); /* 7 */
    turn();
    assert_int_equal(stats().ahead, 0);
    assert_text(at[0], "+3 ns/a=1 +4 ns/b=2 +5 ns/c=3 ~6 ns/x=2 ~7 ns/x=3 ");
    assert_text(at[1], "+4 ns/b=2 +5 ns/c=3 ~6 ns/x=2 ~7 ns/x=3 ");
    assert_text(at[2], "+5 ns/c=3 ~6 ns/x=2 ~7 ns/x=3 ");
    assert_text(at[3], "~6 ns/x=2 ~7 ns/x=3 ");
    assert_text(at[4], "~7 ns/x=3 ");
    assert_text(at[5], "");
    put(t->store, "things", "ns", "x", "4");
    turn();
    for (size_t i = 0; i < 6; i++) {
        assert_text(at[i], "~8 ns/x=4 ");
        record_free(at[i]);
    }
}

static void a_watcher_can_be_removed_in_every_state(void **state)
{
    struct setting *t = *state;
    put(t->store, "things", "ns", "x", "1");
    put(t->store, "things", "ns", "x", "2");
    turn();
    struct record *synced = watch(t, THINGS, FROM_NOW), *unsynced = watch(t, THINGS, 2);
    struct record *ahead = watch(t, THINGS, 10), *snapshot = watch(t, THINGS, FROM_SNAPSHOT);
    struct record *parked = watch(t, THINGS, FROM_NOW), *stays = watch(t, THINGS, 2);
    parked->answer = VD_TAKE_LAST;
    put(t->store, "things", "ns", "x", "3");
    vd_registry_turn(registry, 0); /* serves the commit only */
    assert_int_equal(synced->watcher.state, VD_WATCHER_SYNCED);
    assert_int_equal(unsynced->watcher.state, VD_WATCHER_UNSYNCED);
    assert_int_equal(snapshot->watcher.state, VD_WATCHER_UNSYNCED);
    assert_int_equal(ahead->watcher.state, VD_WATCHER_AHEAD);
    assert_int_equal(parked->watcher.state, VD_WATCHER_PARKED);
    struct record *all[] = {unsynced, synced, ahead, snapshot, parked};
    uint64_t stood[] = {2, 4, 10, 3, 4};
    for (size_t i = 0; i < 5; i++) {
        vd_registry_remove(&all[i]->watcher);
        vd_registry_remove(&all[i]->watcher); /* twice is harmless */
        assert_int_equal(all[i]->watcher.state, VD_WATCHER_OUT);
        assert_int_equal(all[i]->watcher.cursor.revision, nth(stood[i]));
        vd_watcher_resume(&all[i]->watcher);
        assert_int_equal(all[i]->watcher.state, VD_WATCHER_OUT);
    }
    assert_int_equal(stats().watchers, 1);
    turn();
    assert_text(stays, "~3 ns/x=2 ~4 ns/x=3 ");
    for (size_t i = 0; i < 5; i++) { /* each goes on from its revision */
        record_take(all[i]);
        vd_registry_add(registry, &all[i]->watcher);
    }
    turn();
    assert_text(unsynced, "~3 ns/x=2 ~4 ns/x=3 ");
    assert_text(snapshot, "+3 ns/x=2 | ~4 ns/x=3 ");
    assert_text(synced, "");
    assert_text(parked, "");
    for (size_t i = 0; i < 5; i++)
        record_free(all[i]);
    record_free(stays);
}

static void a_turn_keeps_to_its_budget_and_is_fair(void **state)
{
    struct setting *t = *state;
    enum { N = 3000, WATCHERS = 4 };
    struct test_change *batch = calloc(N, sizeof *batch);
    char(*names)[16] = calloc(N, sizeof *names);
    struct record *w[WATCHERS];
    for (size_t i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "x%04zu", i);
        batch[i] = (struct test_change){"things", "ns", names[i], NULL, "v"};
    }
    put_batch(t->store, batch, N);
    turn();
    for (size_t i = 0; i < WATCHERS; i++)
        w[i] = watch(t, THINGS, i % 2 ? 1 : FROM_SNAPSHOT);
    assert_true(vd_registry_turn(registry, 1)); /* one piece, for the first watcher */
    assert_int_equal(w[0]->calls, 1);
    assert_int_equal(w[1]->calls, 0);
    assert_true(w[0]->text.n > 0 && !w[0]->whole);
    while (vd_registry_turn(registry, 1)) {
        size_t least = SIZE_MAX, most = 0;
        for (size_t i = 0; i < WATCHERS; i++) {
            least = w[i]->calls < least ? w[i]->calls : least;
            most = w[i]->calls > most ? w[i]->calls : most;
        }
        assert_true(most - least <= 1 || stats().synced);
    }
    assert_int_equal(stats().synced, WATCHERS);
    for (size_t i = 0; i < WATCHERS; i++)
        record_free(w[i]);
    free(batch);
    free(names);
}

/* ---- parking ---- */

static void a_parked_watcher_costs_nothing_and_misses_nothing(void **state)
{
    struct setting *t = *state;
    struct record *last = watch(t, THINGS, FROM_NOW), *untaken = watch(t, THINGS, FROM_NOW);
    last->answer = VD_TAKE_LAST;
    untaken->answer = VD_TAKE_NOT;
    put(t->store, "things", "ns", "x", "1");
    turn();
    assert_int_equal(stats().parked, 2);
    for (char value[2] = "2"; value[0] < '7'; value[0]++) {
        put(t->store, "things", "ns", "x", value);
        assert_false(vd_registry_turn(registry, BUDGET));
    }
    assert_int_equal(last->calls, 1);
    assert_int_equal(untaken->calls, 1);
    assert_int_equal(vd_watcher_bookmark(&last->watcher), nth(2));
    assert_int_equal(vd_watcher_bookmark(&untaken->watcher), 1);
    vd_watcher_resume(&last->watcher);
    vd_watcher_resume(&last->watcher); /* twice is harmless */
    vd_watcher_resume(&untaken->watcher);
    turn();
    assert_text(last, "+2 ns/x=1 ~3 ns/x=2 ~4 ns/x=3 ~5 ns/x=4 ~6 ns/x=5 ~7 ns/x=6 ");
    assert_text(untaken, "+2 ns/x=1 ~3 ns/x=2 ~4 ns/x=3 ~5 ns/x=4 ~6 ns/x=5 ~7 ns/x=6 ");
    assert_int_equal(stats().synced, 2);
    record_free(last);
    record_free(untaken);
}

static void resumed_before_anything_happened_it_is_synced_at_once(void **state)
{
    struct setting *t = *state;
    struct record *w = watch(t, THINGS, FROM_NOW);
    w->answer = VD_TAKE_LAST;
    put(t->store, "things", "ns", "x", "1");
    turn();
    vd_watcher_resume(&w->watcher);
    assert_int_equal(w->watcher.state, VD_WATCHER_SYNCED);
    put(t->store, "things", "ns", "x", "2");
    turn();
    assert_text(w, "+2 ns/x=1 ~3 ns/x=2 ");
    record_free(w);
}

static void one_can_park_again_and_again_while_it_catches_up(void **state)
{
    struct setting *t = *state;
    enum { N = 1000 };
    struct test_change *batch = calloc(N, sizeof *batch);
    char(*names)[16] = calloc(N, sizeof *names);
    struct record *w[2];
    for (size_t i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "x%04zu", i);
        batch[i] = (struct test_change){"things", "ns", names[i], NULL, "v"};
        vd_buf_addf(&t->want, "+%zu ns/%s=v ", i + 2, names[i]);
    }
    put_batch(t->store, batch, N);
    w[0] = watch(t, THINGS, 1);
    w[1] = watch(t, THINGS, FROM_SNAPSHOT);
    for (size_t i = 0; i < 2; i++)
        w[i]->answer = w[i]->then = VD_TAKE_LAST;
    turn();
    size_t rounds = 0;
    while (stats().parked && rounds++ < 100)
        for (size_t i = 0; i < 2; i++) {
            uint64_t bookmark = vd_watcher_bookmark(&w[i]->watcher);
            assert_true(bookmark == 0 || bookmark == nth(N + 1)); /* not inside the batch */
            vd_watcher_resume(&w[i]->watcher);
            turn();
        }
    assert_in_range(rounds, 2, 20);
    assert_text(w[0], vd_buf_text(&t->want));
    vd_buf_add_text(&t->want, "| ");
    assert_text(w[1], vd_buf_text(&t->want));
    record_free(w[0]);
    record_free(w[1]);
    free(batch);
    free(names);
}

/* Several watches may share a connection: when one takes its deliveries, another may be able to
 * take more. */
static void one_may_resume_another_from_inside_deliver(void **state)
{
    struct setting *t = *state;
    struct filter_texts others = {.resource = "others"};
    struct record *parked = watch(t, THINGS, FROM_NOW), *waker = watch(t, others, FROM_NOW);
    struct record *later = watch(t, (struct filter_texts){.namespace = "ns"}, FROM_NOW);
    parked->answer = later->answer = VD_TAKE_LAST;
    put(t->store, "things", "ns", "x", "1");
    turn();
    vd_watcher_resume(&later->watcher);
    waker->resumes = parked;
    later->answer = VD_TAKE_LAST;
    later->resumes = later; /* it is not parked yet, so nothing happens */
    put(t->store, "others", "ns", "o", "1");
    put(t->store, "things", "ns", "x", "2");
    turn();
    assert_int_equal(parked->watcher.state, VD_WATCHER_SYNCED);
    assert_text(parked, "+2 ns/x=1 ~4 ns/x=2 ");
    assert_int_equal(later->watcher.state, VD_WATCHER_PARKED);
    put(t->store, "things", "ns", "x", "3");
    turn();
    assert_text(parked, "~5 ns/x=3 ");
    record_free(parked);
    record_free(waker);
    record_free(later);
}

static void a_parked_watcher_expires_when_the_window_passes_it(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    struct record *w = watch(t, THINGS, FROM_NOW), *in_time = watch(t, WEB, FROM_NOW);
    w->answer = VD_TAKE_LAST;
    uint64_t stood = put(t->store, "things", "ns", "x", "1");
    turn();
    uint64_t next = put(t->store, "others", "ns", "x", "1");
    for (char value[2] = "2"; value[0] < '7'; value[0]++)
        put(t->store, "others", "ns", "x", value);
    turn();
    assert_ok(vd_store_compact(t->store, stood - 1, &error), &error);
    vd_watcher_resume(&w->watcher); /* the floor has not passed it yet */
    turn();
    assert_int_equal(w->ended, 0);
    assert_int_equal(w->watcher.state, VD_WATCHER_SYNCED);
    w->answer = VD_TAKE_NOT;
    put(t->store, "things", "ns", "x", "2");
    put(t->store, "others", "ns", "x", "last");
    turn();
    uint64_t parked_at = w->watcher.cursor.revision;
    assert_true(parked_at > next);
    assert_ok(vd_store_compact(t->store, parked_at, &error), &error);
    turn();
    /* A parked watcher costs nothing: it is not even told that it is expired. */
    assert_int_equal(w->ended, 0);
    assert_int_equal(stats().parked, 1);
    vd_watcher_resume(&w->watcher);
    turn();
    turn();
    assert_int_equal(w->ended, 1);
    assert_text(w, "+2 ns/x=1 !expired ");
    assert_int_equal(w->watcher.state, VD_WATCHER_OUT);
    assert_int_equal(stats().watchers, 1);
    assert_int_equal(in_time->ended, 0);
    record_free(w);
    record_free(in_time);
}

/* ---- the inbox ---- */

static void the_loop_is_woken_once_for_what_waits(void **state)
{
    struct setting *t = *state;
    put(t->store, "things", "ns", "x", "1");
    put(t->store, "things", "ns", "x", "2");
    assert_int_equal(wakes, 1);
    turn();
    assert_int_equal(stats().revision, nth(3));
    put(t->store, "things", "ns", "x", "3");
    assert_int_equal(wakes, 2);
    turn();
    turn();
    assert_int_equal(wakes, 2);
}

static size_t pieces;

static enum vd_take count_piece(struct vd_watcher *w, const struct vd_deliveries *d,
                                struct vd_shared **shared)
{
    size_t bytes = 0;
    (void)w;
    (void)shared;
    for (size_t i = 0; i < d->list.n; i++)
        bytes += d->list.p[i].body->len;
    assert_true(bytes < VD_READ_STEP_BYTES + 1100000);
    pieces += d->list.n;
    return VD_TAKE_MORE;
}

static void never_ended(struct vd_watcher *w, const struct vd_error *error)
{
    (void)w;
    fail_msg("%s", error->text);
}

/* A batch that is too large for one frame is not put into the inbox: watchers read it from the
 * log. */
static void a_large_batch_is_given_in_pieces(void **state)
{
    enum { N = VD_GROUP_BYTES_MAX / 1000000 + 2 };
    static const struct vd_watcher_ops ops = {.deliver = count_piece, .ended = never_ended};
    struct setting *t = *state;
    struct vd_wish wishes[N];
    struct vd_watcher w = {.ops = &ops};
    struct vd_filter *filter = vd_filter_new(
        &(struct vd_filter_spec){.resource = VD_SLICE("things")});
    struct vd_outcome outcome;
    char names[N][8], *body = vd_malloc(1000000);
    memset(body, 'x', 1000000);
    for (size_t i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "x%zu", i);
        wishes[i] = (struct vd_wish){.key = test_key("things", "ns", names[i]),
                                     .body = {.bytes = vd_slice(body, 1000000)}};
    }
    vd_cursor_open_now(&w.cursor, t->store, filter);
    vd_registry_add(registry, &w);
    vd_filter_unref(filter);
    turn();
    pieces = 0;
    assert_code(vd_store_commit(t->store, wishes, N, &outcome), VD_OK);
    turn();
    assert_int_equal(pieces, N);
    assert_int_equal(stats().synced, 1);
    assert_int_equal(vd_watcher_bookmark(&w), outcome.revision);
    vd_registry_remove(&w);
    vd_cursor_close(&w.cursor);
    free(body);
}

static bool is_ready;
static size_t asked;

static bool say_ready(struct vd_watcher *w)
{
    (void)w;
    asked++;
    return is_ready;
}

/* Nothing is read for a watcher that cannot take it. */
static void who_is_behind_is_asked_before_a_piece_is_read(void **state)
{
    static const struct vd_watcher_ops ops = {
        .deliver = count_piece, .ended = never_ended, .ready = say_ready};
    struct setting *t = *state;
    struct vd_watcher w = {.ops = &ops};
    struct vd_filter *filter = vd_filter_new(
        &(struct vd_filter_spec){.resource = VD_SLICE("things")});
    struct vd_error error;
    put(t->store, "things", "ns", "x", "1");
    assert_ok(vd_cursor_open_snapshot(&w.cursor, t->store, filter, &error), &error);
    vd_filter_unref(filter);
    pieces = asked = 0;
    is_ready = false;
    vd_registry_add(registry, &w);
    turn();
    assert_int_equal(asked, 1);
    assert_int_equal(pieces, 0);
    assert_int_equal(stats().parked, 1);
    is_ready = true;
    vd_watcher_resume(&w);
    turn();
    assert_int_equal(pieces, 1);
    assert_int_equal(stats().synced, 1);
    vd_registry_remove(&w);
    vd_cursor_close(&w.cursor);
}

/* One watcher in every state while the inbox is dropped. */
static void after_an_overrun_everyone_catches_up_exactly(void **state)
{
    struct setting *t = *state;
    struct record *synced[2] = {watch(t, THINGS, FROM_NOW), watch(t, THINGS, FROM_NOW)};
    struct record *parked = watch(t, THINGS, FROM_NOW), *ahead = watch(t, THINGS, 4000);
    parked->answer = VD_TAKE_LAST;
    put(t->store, "things", "ns", "x", "first");
    turn();
    struct record *unsynced = watch(t, THINGS, 1), *snapshot = watch(t, THINGS, FROM_SNAPSHOT);
    vd_buf_add_text(&t->want, "+2 ns/x=first ");
    for (unsigned i = 0; i < 2 * VD_INBOX_COMMITS_MAX + 100; i++) {
        char value[16];
        snprintf(value, sizeof value, "v%u", i);
        put(t->store, "things", "ns", "x", value);
        vd_buf_addf(&t->want, "~%u ns/x=%s ", i + 3, value);
    }
    assert_int_equal(wakes, 2);
    turn();
    assert_int_equal(stats().overruns, 1);
    assert_int_equal(stats().revision, vd_store_revision(t->store));
    vd_watcher_resume(&parked->watcher);
    turn();
    assert_int_equal(stats().synced, 6);
    struct record *whole[] = {synced[0], synced[1], parked, unsynced};
    for (size_t i = 0; i < 4; i++)
        assert_text(whole[i], vd_buf_text(&t->want));
    assert_string_equal(strstr(vd_buf_text(&t->want), "~4001 "), numbered(record_take(ahead)));
    const char *got = numbered(record_take(snapshot));
    assert_memory_equal(got, "+2 ns/x=first | ", 16);
    assert_string_equal(got + 16, strchr(vd_buf_text(&t->want), '~'));
    put(t->store, "things", "ns", "y", "after");
    turn();
    assert_int_equal(stats().overruns, 1);
    for (size_t i = 0; i < 4; i++)
        record_free(whole[i]);
    assert_text(ahead, "+8295 ns/y=after ");
    record_free(ahead);
    record_free(snapshot);
}

/* A watcher that begins at a revision which the registry has not reached yet, and a commit that is
 * too large for the inbox: the watcher gets it in the same turn, without another commit. */
static void a_large_commit_reaches_a_watcher_that_is_ahead(void **state)
{
    enum { BODY_LEN = 1000000, N = VD_GROUP_BYTES_MAX / BODY_LEN + 2 };
    struct setting *t = *state;
    struct vd_wish wishes[N];
    struct vd_outcome outcome;
    char names[N][8], *body = vd_malloc(BODY_LEN);
    memset(body, 'x', BODY_LEN);
    for (size_t i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "x%zu", i);
        wishes[i] = (struct vd_wish){.key = test_key("things", "ns", names[i]),
                                     .body = {.bytes = vd_slice(body, BODY_LEN)}};
    }
    turn();
    put(t->store, "things", "ns", "small", "1"); /* no turn yet: a watcher from there is ahead */
    struct record *ahead = watch(t, THINGS, 2);
    assert_int_equal(stats().ahead, 1);
    assert_code(vd_store_commit(t->store, wishes, N, &outcome), VD_OK);
    turn();
    assert_int_equal(stats().overruns, 1);
    assert_int_equal(stats().ahead, 0);
    assert_int_equal(stats().synced, 1);
    const char *got = record_take(ahead);
    size_t events = 0;
    for (const char *p = got; (p = strstr(p, "ns/x")); p++)
        events++;
    assert_int_equal(events, N);
    record_free(ahead);
    free(body);
}

/* More than is served at once: a turn serves several times, each up to a commit. */
static void a_turn_may_serve_several_times(void **state)
{
    struct setting *t = *state;
    enum { N = 5000, ROUNDS = 3 };
    struct test_change *batch = calloc(N, sizeof *batch);
    char(*names)[16] = calloc(N, sizeof *names);
    static const enum vd_take answers[][2] = {{VD_TAKE_MORE, VD_TAKE_MORE},
                                              {VD_TAKE_LAST, VD_TAKE_MORE},
                                              {VD_TAKE_NOT, VD_TAKE_MORE},
                                              {VD_TAKE_MORE, VD_TAKE_NOT},
                                              {VD_TAKE_MORE, VD_TAKE_LAST}};
    struct record *w[5];
    for (size_t i = 0; i < 5; i++) {
        w[i] = watch(t, THINGS, FROM_NOW);
        w[i]->answer = answers[i][0];
        w[i]->then = answers[i][1];
    }
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < N; i++) {
            snprintf(names[i], sizeof names[i], "x%zu-%zu", round, i);
            batch[i] = (struct test_change){"things", "ns", names[i], NULL, "v"};
            vd_buf_addf(&t->want, "+%zu ns/%s=v ", round * N + i + 2, names[i]);
        }
        put_batch(t->store, batch, N);
    }
    vd_registry_turn(registry, BUDGET);
    assert_int_equal(w[0]->calls, ROUNDS);
    static const uint64_t stood[] = {0, N + 1, 1, N + 1, 2 * N + 1};
    for (size_t i = 1; i < 5; i++) {
        assert_int_equal(w[i]->watcher.state, VD_WATCHER_PARKED);
        assert_int_equal(vd_watcher_bookmark(&w[i]->watcher), nth(stood[i]));
        w[i]->then = w[i]->answer = VD_TAKE_MORE;
        vd_watcher_resume(&w[i]->watcher);
    }
    turn();
    for (size_t i = 0; i < 5; i++) {
        assert_text(w[i], vd_buf_text(&t->want));
        record_free(w[i]);
    }
    free(batch);
    free(names);
}

/* ---- bookmarks ---- */

/* WatchDispatchBookmarkEvents: also when only objects changed that do not match. */
static void a_bookmark_says_up_to_where_everything_was_given(void **state)
{
    struct setting *t = *state;
    struct record *w = watch(t, WEB, FROM_NOW), *behind, *snapshot;
    assert_int_equal(vd_watcher_bookmark(&w->watcher), 1);
    uint64_t last = put(t->store, "others", "ns", "x", "1");
    assert_int_equal(vd_watcher_bookmark(&w->watcher), 1); /* the loop has not seen it */
    turn();
    assert_int_equal(vd_watcher_bookmark(&w->watcher), last);
    behind = watch(t, WEB, 1);
    snapshot = watch(t, WEB, FROM_SNAPSHOT);
    assert_int_equal(vd_watcher_bookmark(&behind->watcher), 0);
    assert_int_equal(vd_watcher_bookmark(&snapshot->watcher), 0);
    turn();
    assert_int_equal(vd_watcher_bookmark(&behind->watcher), last);
    assert_int_equal(vd_watcher_bookmark(&snapshot->watcher), last);
    assert_text(snapshot, "| ");
    assert_text(behind, "");
    assert_int_equal(behind->calls, 0);
    record_free(w);
    record_free(behind);
    record_free(snapshot);
}

static void held_events_wait_while_others_catch_up(void **state)
{
    struct setting *t = *state;
    put(t->store, "things", "ns", "old", "1");
    turn();
    struct record *fed = watch(t, THINGS, FROM_NOW), *behind = watch(t, THINGS, 1);
    assert_int_equal(vd_registry_waiting_ns(registry), 0);
    vd_registry_hold(registry, true);
    put(t->store, "things", "ns", "new", "1");
    assert_true(vd_registry_waiting_ns(registry) > 0);
    turn(); /* a turn says that there is nothing to do, so that a held registry does not keep the
               loop busy */
    assert_text(fed, "");
    assert_text(behind, "+2 ns/old=1 ");
    assert_int_equal(stats().commit_ns, 0);
    put(t->store, "things", "ns", "newer", "1");
    vd_registry_hold(registry, false);
    turn();
    assert_text(fed, "+3 ns/new=1 +4 ns/newer=1 ");
    assert_text(behind, "+3 ns/new=1 +4 ns/newer=1 ");
    assert_int_equal(fed->calls, 1);
    assert_int_equal(vd_registry_waiting_ns(registry), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(watchers_with_one_filter_share_what_is_made),
        TEST(watchers_of_other_formats_are_never_grouped),
        TEST(each_member_of_a_group_answers_for_itself),
        TEST(the_last_member_may_leave_while_its_group_is_served),
        TEST(one_may_leave_while_it_catches_up),
        TEST(a_watcher_catches_up_and_is_then_fed),
        TEST(a_watcher_that_is_newer_than_the_loop_misses_nothing),
        TEST(a_future_watcher_gets_only_what_is_beyond),
        TEST(a_watcher_can_be_removed_in_every_state),
        TEST(a_turn_keeps_to_its_budget_and_is_fair),
        TEST(a_parked_watcher_costs_nothing_and_misses_nothing),
        TEST(resumed_before_anything_happened_it_is_synced_at_once),
        TEST(one_can_park_again_and_again_while_it_catches_up),
        TEST(one_may_resume_another_from_inside_deliver),
        TEST(a_parked_watcher_expires_when_the_window_passes_it),
        TEST(the_loop_is_woken_once_for_what_waits),
        TEST(a_large_batch_is_given_in_pieces),
        TEST(who_is_behind_is_asked_before_a_piece_is_read),
        TEST(after_an_overrun_everyone_catches_up_exactly),
        TEST(a_large_commit_reaches_a_watcher_that_is_ahead),
        TEST(a_turn_may_serve_several_times),
        TEST(held_events_wait_while_others_catch_up),
        TEST(a_bookmark_says_up_to_where_everything_was_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
