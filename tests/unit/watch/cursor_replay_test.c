/*
 * src/watch/cursor.h: resuming, replaying and bookmarking a history that the test
 * knows. Where a test is one of Kubernetes' watcher_tests.go, its name is beside it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cursor_setting.h"

/* ---- histories ---- */

static const char *const resources[] = {"things", "others", "thirds"};
static const char *const namespaces[] = {"a", "ab", "b"};
static const char *const labels[] = {NULL, "\"app\":\"web\"", "\"app\":\"db\",\"tier\":\"1\"",
                                     "\"tier\":\"1\",\"app\":\"web\""};

/* A history of single writes and batches, the same every time; every revision that
 * is inside a batch is marked in inside[]. */
struct history {
    uint32_t random;
    uint64_t first;
    bool inside[4096];
};

static uint32_t next_random(struct history *h, uint32_t below)
{
    h->random = h->random * 1664525u + 1013904223u;
    return (h->random >> 8) % below;
}

/* A change that can be part of a batch, its texts in `room`. */
static struct test_change random_change(struct history *h, char room[2][16], unsigned number)
{
    snprintf(room[0], 16, "x%u", next_random(h, 5));
    snprintf(room[1], 16, "v%u", number);
    return (struct test_change){resources[next_random(h, 3)], namespaces[next_random(h, 3)],
                                room[0], labels[next_random(h, 4)], room[1]};
}

static void write_history(struct setting *t, struct history *h, unsigned steps)
{
    char room[8][2][16];
    struct test_change batch[8];
    h->random = 7;
    h->first = vd_store_revision(t->store);
    for (unsigned i = 0; i < steps; i++) {
        size_t n = next_random(h, 3) ? 1 : 2 + next_random(h, 7);
        for (size_t k = 0; k < n; k++)
            batch[k] = random_change(h, room[k], 100 * i + (unsigned)k);
        if (n == 1 && next_random(h, 3) == 0) {
            test_delete(t->store, batch[0].resource, batch[0].namespace, batch[0].name, NULL);
            continue;
        }
        if (n > 2) { /* created and deleted in one batch */
            batch[n - 1] = batch[0];
            batch[n - 1].value = NULL;
        }
        uint64_t last = put_batch(t->store, batch, n);
        assert_true(last < 4096);
        for (uint64_t r = last - n + 1; r < last; r++)
            h->inside[r] = true;
    }
}

/* ---- resuming and replaying ---- */

/* Adds the lines of `all` whose revision is above `after`. */
static void add_suffix(struct vd_buf *out, struct vd_slice all, uint64_t after)
{
    struct vd_slice line, word, rest;
    uint64_t revision;
    while (all.n && vd_slice_cut(&all, '\n', &line)) {
        rest = line;
        vd_slice_cut(&rest, ' ', &word);
        vd_slice_cut(&rest, ' ', &word);
        assert_int_equal(vd_slice_to_u64(word, &revision), 0);
        if (revision > after)
            vd_buf_addf(out, "%.*s\n", VD_FMT(line));
    }
}

static void replay(struct setting *t, struct filter_texts texts, uint64_t after, size_t max,
                   struct vd_buf *out)
{
    struct vd_cursor c;
    vd_buf_reset(out);
    open_at(t, &c, texts, after);
    read_on(&c, max, deliveries_add_bytes, out);
    vd_cursor_close(&c);
}

static const struct filter_texts views[] = {
    {0},
    {.resource = "things"},
    {.resource = "things", .labels = "app=web"},
    {.labels = "app!=web,tier"},
    {.resource = "others", .namespace = "a"},
    {.resource = "thirds", .name = "x1", .labels = "app in (web,db)"},
};
enum { VIEWS = sizeof views / sizeof *views };

/* Resumable: wherever a cursor was, it goes on with exactly the rest. */
static void resuming_at_every_revision_gives_exactly_the_rest(void **state)
{
    struct setting *t = *state;
    struct history h = {0};
    struct vd_buf all = {0};
    write_history(t, &h, 60);
    uint64_t last = vd_store_revision(t->store);
    for (size_t v = 0; v < VIEWS; v++) {
        replay(t, views[v], h.first, 1000, &all);
        for (uint64_t r = h.first; r <= last; r++) {
            vd_buf_reset(&t->want);
            add_suffix(&t->want, vd_buf_slice(&all), r);
            replay(t, views[v], r, 1 + r % 9, &t->got);
            assert_string_equal(vd_buf_text(&t->got), vd_buf_text(&t->want));
        }
    }
    assert_true(all.n > 0);
    vd_buf_release(&all);
}

/* A replay gives the same bytes from memory, from the engine and after a restart. */
static void replay_is_deterministic(void **state)
{
    struct setting *t = *state;
    static const size_t tails[] = {0, 1, TINY_TAIL, 40};
    struct history h = {0};
    struct vd_buf first[VIEWS] = {{0}};
    write_history(t, &h, 120);
    for (size_t v = 0; v < VIEWS; v++)
        replay(t, views[v], h.first, 1000, &first[v]);
    for (size_t i = 0; i < 4; i++) {
        if (t->folder)
            reopen(t, tails[i]);
        for (size_t v = 0; v < VIEWS; v++)
            for (size_t max = 1; max < 2000; max = max * 5 + 2) {
                replay(t, views[v], h.first, max, &t->got);
                assert_string_equal(vd_buf_text(&t->got), vd_buf_text(&first[v]));
            }
    }
    for (size_t v = 0; v < VIEWS; v++)
        vd_buf_release(&first[v]);
}

/* Filtered, Reliable: what a filter gives is what an observer of everything, who
 * keeps the objects that match, would see. */
static void the_snapshot_is_what_the_log_adds_up_to(void **state)
{
    struct setting *t = *state;
    struct history h = {0};
    write_history(t, &h, 80);
    for (size_t v = 1; v < VIEWS; v++) {
        if (!views[v].resource)
            continue;
        struct vd_cursor c;
        struct vd_deliveries d = {0};
        struct vd_error error;
        long balance = 0, shown = 0;
        open_at(t, &c, views[v], h.first);
        while (vd_cursor_is_behind(&c)) {
            assert_ok(vd_cursor_next(&c, &d, 7, &error), &error);
            for (size_t i = 0; i < d.list.n; i++)
                balance += d.list.p[i].type == VD_ADDED     ? 1
                           : d.list.p[i].type == VD_DELETED ? -1
                                                            : 0;
        }
        vd_cursor_close(&c);
        open_snapshot(t, &c, views[v]);
        while (vd_cursor_is_behind(&c)) {
            assert_ok(vd_cursor_next(&c, &d, 7, &error), &error);
            shown += (long)d.list.n;
        }
        vd_cursor_close(&c);
        vd_deliveries_release(&d);
        assert_int_equal(balance, shown);
    }
}

/* ---- batches and bookmarks ---- */

/* Atomic, Bookmarkable: no bookmark falls inside a batch, whatever kinds are in it
 * and wherever the reading pauses; and the end of the log can be bookmarked. */
static void no_bookmark_falls_inside_a_batch(void **state)
{
    struct setting *t = *state;
    struct history h = {0};
    struct vd_deliveries d = {0};
    struct vd_error error;
    write_history(t, &h, 80);
    for (size_t v = 0; v < VIEWS; v++)
        for (size_t max = 1; max < 9; max++) {
            struct vd_cursor c;
            open_at(t, &c, views[v], h.first);
            /* It is not known yet whether the client's revision is inside a batch. */
            assert_false(c.whole);
            while (vd_cursor_is_behind(&c)) {
                assert_ok(vd_cursor_next(&c, &d, max, &error), &error);
                assert_int_equal(d.whole, c.whole);
                assert_false(d.whole && h.inside[d.upto]);
            }
            assert_true(c.whole);
            assert_int_equal(c.revision, vd_store_revision(t->store));
            vd_cursor_close(&c);
        }
    vd_deliveries_release(&d);
}

/* The batch is larger than the stretch that one call reads. */
static void a_batch_larger_than_a_stretch_is_whole_at_its_end_only(void **state)
{
    struct setting *t = *state;
    enum { N = 3 * VD_SCAN_STEP_ROWS + 7 };
    struct test_change *batch = calloc(N, sizeof *batch);
    char(*names)[16] = calloc(N, sizeof *names);
    struct vd_deliveries d = {0};
    struct vd_error error;
    for (size_t i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "x%04zu", i);
        batch[i] = (struct test_change){i % 2 ? "things" : "others", "ns", names[i], NULL, "v"};
    }
    uint64_t last = put_batch(t->store, batch, N);
    put(t->store, "thirds", "ns", "x", "after");
    for (size_t v = 0; v < 2; v++) {
        struct vd_cursor c;
        size_t n = 0;
        open_at(t, &c, views[v], 1);
        while (vd_cursor_is_behind(&c)) {
            assert_ok(vd_cursor_next(&c, &d, 100000, &error), &error);
            assert_int_equal(d.whole, d.upto >= last);
            n += d.list.n;
        }
        assert_int_equal(n, v ? N / 2 : N + 1);
        vd_cursor_close(&c);
    }
    vd_deliveries_release(&d);
    free(batch);
    free(names);
}

/* WatchDispatchBookmarkEvents: though nothing matched, the bookmark moves on. */
static void a_bookmark_moves_when_only_others_change(void **state)
{
    struct setting *t = *state;
    struct vd_cursor c;
    open_now(t, &c, (struct filter_texts){.resource = "things", .namespace = "a"});
    put(t->store, "things", "b", "x", "1");
    put(t->store, "things", "b", "x", "2");
    uint64_t last = put(t->store, "others", "a", "x", "3");
    assert_string_equal(rest_of(t, &c, 1), "");
    assert_int_equal(c.revision, last);
    assert_true(c.whole);
    put(t->store, "things", "a", "x", "4");
    assert_string_equal(rest_of(t, &c, 1), "+5 a/x=4 ");
    vd_cursor_close(&c);
}

/* DelayedWatchDelivery: no event is lost or out of order because nobody read for a while, and a
 * long stretch of events that do not match is passed in bounded pieces. */
static void long_stretches_are_passed_piece_by_piece(void **state)
{
    struct setting *t = *state;
    enum { N = 2500 };
    struct test_change *batch = calloc(N, sizeof *batch);
    char(*names)[16] = calloc(N, sizeof *names);
    struct vd_cursor c;
    struct vd_deliveries d = {0};
    struct vd_error error;
    for (size_t i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "x%04zu", i);
        batch[i] = (struct test_change){"others", "ns", names[i], NULL, "v"};
    }
    open_now(t, &c, THINGS);
    put(t->store, "things", "ns", "first", "1");
    put_batch(t->store, batch, N);
    put(t->store, "things", "ns", "last", "2");
    size_t seen = 0, calls = 0;
    while (vd_cursor_is_behind(&c)) {
        assert_ok(vd_cursor_next(&c, &d, 5, &error), &error);
        seen += d.list.n;
        calls++;
    }
    assert_int_equal(seen, 2);
    assert_true(calls < N); /* there was not one call for each event */
    vd_deliveries_release(&d);
    vd_cursor_close(&c);
    free(batch);
    free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_ALL(resuming_at_every_revision_gives_exactly_the_rest),
        ON_ALL(replay_is_deterministic),
        ON_ALL(the_snapshot_is_what_the_log_adds_up_to),
        ON_ALL(no_bookmark_falls_inside_a_batch),
        ON_ALL(a_batch_larger_than_a_stretch_is_whole_at_its_end_only),
        ON_ALL(a_bookmark_moves_when_only_others_change),
        ON_ALL(long_stretches_are_passed_piece_by_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
