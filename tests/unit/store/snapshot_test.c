/*
 * src/store/snapshot.h: lists as of one revision, read in pieces while the store
 * moves on. Random paging against a model is in model_test.c.
 */
#include "store/snapshot.h"

#include <stdio.h>
#include <stdlib.h>

#include "model.h"
#include "setting.h"

/* Tiny tails: what is older than two events comes from the engine. */
static const struct vd_store_options tiny = {.tail_events_max = 2, .manual_compaction = true};

static int setup_memory(void **state)
{
    return setting_new(state, false, 0, tiny);
}

static int setup_sqlite(void **state)
{
    return setting_new(state, true, 0, tiny);
}

static void snapshot_open(struct setting *t, struct vd_snapshot *s, const char *prefix,
                          uint64_t revision, const char *after)
{
    struct vd_error error;
    assert_ok(vd_snapshot_open(s, t->store, VD_SLICE("things"), vd_slice_of(prefix), revision,
                               vd_slice_of(after), &error),
              &error);
}

/* One piece as "path=value@revision " for each object. */
static int piece(struct vd_snapshot *s, size_t max, struct vd_buf *out, struct vd_error *error)
{
    struct vd_event *events[64];
    size_t n = 0;
    int code = vd_snapshot_next(s, events, max, &n, error);
    for (size_t i = 0; i < n; i++) {
        model_show_object(out, events[i]);
        vd_event_unref(events[i]);
    }
    return code;
}

/* The whole list in pieces of `max`; the end is found in a bounded number of them. */
static void assert_lists(struct setting *t, const char *prefix, uint64_t revision,
                         const char *after, size_t max, const char *want)
{
    struct vd_snapshot s;
    struct vd_buf got = {0};
    struct vd_error error;
    snapshot_open(t, &s, prefix, revision, after);
    for (int i = 0; !s.done; i++) {
        assert_ok(piece(&s, max, &got, &error), &error);
        assert_true(i < 100);
    }
    assert_string_equal(vd_buf_text(&got), want);
    vd_snapshot_release(&s);
    vd_buf_release(&got);
}

static void pages_show_one_state_whatever_is_written_between(void **state)
{
    struct setting *t = *state;
    put(t->store, "things", "ns", "a", "1"); /* 2 */
    put(t->store, "things", "ns", "b", "1"); /* 3 */
    put(t->store, "things", "ns", "c", "1"); /* 4 */
    put(t->store, "things", "ns", "d", "1"); /* 5 */
    del(t->store, "things", "ns", "d");      /* 6 */
    put(t->store, "things", "ns", "e", "1"); /* 7 */
    struct vd_snapshot s;
    struct vd_buf got = {0};
    struct vd_error error;
    snapshot_open(t, &s, "ns/", 0, "");
    assert_int_equal(s.revision, 7);
    assert_ok(piece(&s, 1, &got, &error), &error);
    del(t->store, "things", "ns", "b");      /* deleted */
    put(t->store, "things", "ns", "a", "2"); /* its path is before the position */
    put(t->store, "things", "ns", "aa", "1");
    put(t->store, "things", "ns", "bb", "1"); /* created */
    assert_ok(piece(&s, 1, &got, &error), &error);
    del(t->store, "things", "ns", "c");
    put(t->store, "things", "ns", "c", "2"); /* re-created */
    put(t->store, "things", "ns", "d", "2"); /* re-created after it was deleted before */
    put(t->store, "things", "ns", "e", "2"); /* replaced, twice */
    put(t->store, "things", "ns", "e", "3");
    while (!s.done)
        assert_ok(piece(&s, 1, &got, &error), &error);
    assert_string_equal(vd_buf_text(&got), "ns/a=1@2 ns/b=1@3 ns/c=1@4 ns/e=1@7 ");
    vd_snapshot_release(&s);
    vd_buf_release(&got);
    assert_lists(t, "ns/", 5, "", 2, "ns/a=1@2 ns/b=1@3 ns/c=1@4 ns/d=1@5 ");
    assert_lists(t, "ns/", 3, "", 64, "ns/a=1@2 ns/b=1@3 ");
    assert_lists(t, "ns/", 1, "", 64, "");
}

static void a_prefix_is_a_namespace_and_no_more(void **state)
{
    struct setting *t = *state;
    static const char *const namespaces[] = {"ab", "a", "a-b", "", "b", "a.b", "aa"};
    for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++)
        put(t->store, "things", namespaces[i], "x", "1"); /* 2.. */
    put(t->store, "things", "a", "y", "1");               /* 9 */
    put(t->store, "others", "a", "z", "1");               /* another resource */
    for (size_t max = 1; max < 12; max += 5) {
        assert_lists(t, "a/", 0, "", max, "a/x=1@3 a/y=1@9 ");
        assert_lists(t, "a-b/", 0, "", max, "a-b/x=1@4 ");
        assert_lists(t, "ab/", 0, "", max, "ab/x=1@2 ");
        assert_lists(t, "/", 0, "", max, "/x=1@5 "); /* cluster-scoped */
        assert_lists(t, "zz/", 0, "", max, "");
        assert_lists(t, "a/x", 0, "", max, "a/x=1@3 "); /* one object */
        assert_lists(t, "", 0, "", max,
                     "/x=1@5 a-b/x=1@4 a.b/x=1@7 a/x=1@3 a/y=1@9 aa/x=1@8 ab/x=1@2 b/x=1@6 ");
    }
}

/* A prefix that is itself an object's path. */
static void an_object_s_path_is_a_prefix_too(void **state)
{
    struct setting *t = *state;
    put(t->store, "things", "a", "x", "1");  /* 2 */
    put(t->store, "things", "a", "xy", "1"); /* 3 */
    put(t->store, "things", "a", "xz", "1"); /* 4 */
    assert_lists(t, "a/x", 0, "", 1, "a/x=1@2 a/xy=1@3 a/xz=1@4 ");
    assert_lists(t, "a/x", 0, "a/x", 1, "a/xy=1@3 a/xz=1@4 ");
}

static void a_list_continues_behind_a_position(void **state)
{
    struct setting *t = *state;
    static const char *const names[] = {"b", "d", "f"};
    for (size_t i = 0; i < 3; i++)
        put(t->store, "things", "ns", names[i], "1"); /* 2 3 4 */
    del(t->store, "things", "ns", "d");               /* 5 */
    static const struct {
        const char *prefix, *after, *want;
        uint64_t revision;
    } cases[] = {
        {"ns/", "ns/b", "ns/d=1@3 ns/f=1@4 ", 4},
        {"ns/", "ns/d", "ns/f=1@4 ", 4},
        {"ns/", "ns/d", "ns/f=1@4 ", 5},          /* the position is gone */
        {"ns/", "ns/c", "ns/d=1@3 ns/f=1@4 ", 4}, /* never was there */
        {"ns/", "ns/f", "", 4},
        {"ns/", "ns/z", "", 4},
        {"ns/", "a/z", "ns/b=1@2 ns/d=1@3 ns/f=1@4 ", 4}, /* before the prefix */
        {"ns/", "zz/a", "", 4},                           /* after the prefix */
        {"ns/", "ns/", "ns/b=1@2 ns/d=1@3 ns/f=1@4 ", 4},
        {"", "ns/b", "ns/f=1@4 ", 5},
        {"", "", "ns/b=1@2 ns/f=1@4 ", 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t max = 1; max < 4; max++)
            assert_lists(t, cases[i].prefix, cases[i].revision, cases[i].after, max, cases[i].want);
}

/* The position of a page is enough to go on in a new snapshot. */
static void a_position_is_a_revision_and_a_path(void **state)
{
    struct setting *t = *state;
    char name[16];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "n%02d", i);
        put(t->store, "things", "ns", name, "1");
    }
    struct vd_buf got = {0}, want = {0}, after = {0};
    struct vd_error error;
    uint64_t revision = vd_store_revision(t->store);
    for (int i = 0; i < 20; i++) {
        struct vd_snapshot s;
        size_t left;
        snapshot_open(t, &s, "ns/", revision, vd_buf_text(&after));
        assert_ok(vd_snapshot_remaining(&s, &left, &error), &error);
        assert_int_equal(left, 20 - i);
        assert_ok(piece(&s, 1, &got, &error), &error);
        assert_int_equal(s.done, i == 19);
        vd_buf_reset(&after);
        vd_buf_add_slice(&after, vd_buf_slice(&s.after));
        vd_snapshot_release(&s);
        vd_buf_addf(&want, "ns/n%02d=1@%d ", i, i + 2);
        snprintf(name, sizeof name, "n%02d", (i * 7 + 3) % 20);
        put(t->store, "things", "ns", name, i % 2 ? "odd" : "even");
        snprintf(name, sizeof name, "n%02d", (i * 3 + 1) % 20);
        test_delete(t->store, "things", "ns", name, NULL);
    }
    assert_string_equal(vd_buf_text(&got), vd_buf_text(&want));
    vd_buf_release(&got);
    vd_buf_release(&want);
    vd_buf_release(&after);
}

/* ---- batches ---- */

static void put_two(struct setting *t, const char *value)
{
    struct vd_buf bodies[2] = {{0}};
    struct vd_outcome outcome;
    static const char *const names[] = {"a", "b"};
    struct vd_wish wishes[2];
    for (size_t i = 0; i < 2; i++)
        wishes[i] = (struct vd_wish){.action = VD_PUT,
                                     .key = test_key(i ? "things" : "others", "ns", names[i]),
                                     .body = test_body(&bodies[i], names[i], NULL, value)};
    assert_code(vd_store_commit(t->store, wishes, 2, &outcome), VD_OK);
    vd_buf_release(&bodies[0]);
    vd_buf_release(&bodies[1]);
}

static void nobody_sees_half_a_batch(void **state)
{
    struct setting *t = *state;
    put(t->store, "things", "ns", "x", "1"); /* 2 */
    put_two(t, "1");                         /* 3 4 */
    put_two(t, "2");                         /* 5 6 */
    put(t->store, "things", "ns", "x", "2"); /* 7 */
    static const struct {
        uint64_t asked, shown;
    } cases[] = {{1, 1}, {2, 2}, {3, 4}, {4, 4}, {5, 6}, {6, 6}, {7, 7}, {0, 7}};
    struct vd_snapshot s;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snapshot_open(t, &s, "", cases[i].asked, "");
        assert_int_equal(s.revision, cases[i].shown);
        vd_snapshot_release(&s);
    }
    assert_lists(t, "", 3, "", 2, "ns/b=1@4 ns/x=1@2 ");
    assert_lists(t, "", 5, "", 2, "ns/b=2@6 ns/x=1@2 ");
    struct vd_error error;
    assert_ok(vd_store_compact(t->store, 2, &error), &error);
    snapshot_open(t, &s, "", 3, ""); /* right above the floor */
    assert_int_equal(s.revision, 4);
    vd_snapshot_release(&s);
    assert_ok(vd_store_compact(t->store, 4, &error), &error);
    snapshot_open(t, &s, "", 5, "");
    assert_int_equal(s.revision, 6);
    vd_snapshot_release(&s);
}

static void a_revision_in_a_long_batch_becomes_its_end(void **state)
{
    struct setting *t = *state;
    enum { N = 2 * VD_SCAN_STEP_ROWS + 3 };
    struct vd_wish *wishes = calloc(N, sizeof *wishes);
    char(*names)[16] = calloc(N, sizeof *names);
    for (size_t i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "n%05zu", i);
        wishes[i] = (struct vd_wish){.action = VD_PUT,
                                     .key = test_key("things", "ns", names[i]),
                                     .body = {VD_SLICE("ab"), 1}};
    }
    struct vd_outcome outcome;
    struct vd_snapshot s;
    struct vd_error error;
    size_t left;
    assert_code(vd_store_commit(t->store, wishes, N, &outcome), VD_OK);
    put(t->store, "things", "ns", "x", "1");
    const uint64_t asked[] = {outcome.revision_first, outcome.revision_first + 600,
                              outcome.revision - 1, outcome.revision};
    for (size_t i = 0; i < 4; i++) {
        snapshot_open(t, &s, "", asked[i], "");
        assert_int_equal(s.revision, outcome.revision);
        assert_ok(vd_snapshot_remaining(&s, &left, &error), &error);
        assert_int_equal(left, N);
        vd_snapshot_release(&s);
    }
    free(wishes);
    free(names);
}

/* ---- the window ---- */

static void revisions_outside_the_window_are_refused(void **state)
{
    struct setting *t = *state;
    for (int i = 0; i < 6; i++)
        put(t->store, "things", "ns", "x", i % 2 ? "odd" : "even"); /* 2..7 */
    struct vd_error error;
    struct vd_snapshot s;
    struct vd_slice all = VD_SLICE("");
    assert_ok(vd_store_compact(t->store, 4, &error), &error);
    for (uint64_t revision = 1; revision < 10; revision++) {
        int want = revision <= 4 ? VD_ERR_EXPIRED : revision > 7 ? VD_ERR_FUTURE : VD_OK;
        assert_code(vd_snapshot_open(&s, t->store, VD_SLICE("things"), all, revision, all, &error),
                    want);
        vd_snapshot_release(&s);
        assert_code(vd_store_check_revision(t->store, revision, &error), want);
    }
}

static void a_list_that_the_floor_overtakes_expires(void **state)
{
    struct setting *t = *state;
    char name[16];
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "n%d", i);
        put(t->store, "things", "ns", name, "1"); /* 2..7 */
    }
    struct vd_snapshot s;
    struct vd_buf got = {0};
    struct vd_error error;
    size_t left = 99;
    snapshot_open(t, &s, "", 0, "");
    assert_ok(piece(&s, 2, &got, &error), &error);
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "n%d", i);
        put(t->store, "things", "ns", name, "2"); /* 8..13 */
    }
    assert_ok(vd_store_compact(t->store, 6, &error), &error);
    /* The floor is still below the snapshot's revision. */
    assert_ok(piece(&s, 2, &got, &error), &error);
    assert_ok(vd_store_compact(t->store, 7, &error), &error);
    assert_code(piece(&s, 2, &got, &error), VD_ERR_EXPIRED);
    assert_code(piece(&s, 2, &got, &error), VD_ERR_EXPIRED); /* it stays expired */
    assert_code(vd_snapshot_remaining(&s, &left, &error), VD_ERR_EXPIRED);
    assert_int_equal(left, 99);
    assert_string_equal(vd_buf_text(&got), "ns/n0=1@2 ns/n1=1@3 ns/n2=1@4 ns/n3=1@5 ");
    vd_snapshot_release(&s);
    vd_buf_release(&got);
}

/* An object was deleted and created again, and compaction has removed the row of the deletion. */
static void a_new_life_does_not_hide_that_there_was_none(void **state)
{
    struct setting *t = *state;
    put(t->store, "things", "ns", "x", "1"); /* 2 */
    del(t->store, "things", "ns", "x");      /* 3 */
    put(t->store, "things", "ns", "y", "1"); /* 4 */
    put(t->store, "things", "ns", "x", "2"); /* 5 */
    for (int i = 0; i < 5; i++)
        put(t->store, "others", "ns", "z", i % 2 ? "odd" : "even");
    struct vd_error error;
    struct vd_event *event;
    struct vd_key key = test_key("things", "ns", "x");
    assert_lists(t, "", 4, "", 2, "ns/y=1@4 ");
    assert_lists(t, "", 2, "", 2, "ns/x=1@2 ");
    assert_ok(vd_store_compact(t->store, 3, &error), &error);
    assert_lists(t, "", 4, "", 2, "ns/y=1@4 ");
    assert_lists(t, "", 5, "", 2, "ns/x=2@5 ns/y=1@4 ");
    assert_code(vd_store_get(t->store, &key, 4, &event, &error), VD_ERR_NOT_FOUND);
    assert_says(&error, "\"ns/x\" not found");
}

/* Objects that were deleted inside the window are passed in bounded pieces, not in one long one. */
static void a_stretch_of_deleted_objects_is_passed_in_pieces(void **state)
{
    struct setting *t = *state;
    enum { N = VD_SCAN_STEP_ROWS + 100 };
    char name[16];
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "n%04d", i);
        put(t->store, "things", "ns", name, "1");
        del(t->store, "things", "ns", name);
    }
    put(t->store, "things", "ns", "z", "1");
    struct vd_snapshot s;
    struct vd_event *events[4];
    struct vd_error error;
    size_t n, pieces = 0, seen = 0, left;
    snapshot_open(t, &s, "", 0, "");
    assert_ok(vd_snapshot_remaining(&s, &left, &error), &error);
    assert_int_equal(left, 1);
    for (; !s.done; pieces++) {
        assert_ok(vd_snapshot_next(&s, events, 4, &n, &error), &error);
        seen += n;
        for (size_t i = 0; i < n; i++)
            vd_event_unref(events[i]);
    }
    assert_int_equal(pieces, 2);
    assert_int_equal(seen, 1);
    vd_snapshot_release(&s);
}

static void a_kind_without_objects_is_an_empty_list(void **state)
{
    struct setting *t = *state;
    assert_lists(t, "", 0, "", 1, "");
    put(t->store, "others", "ns", "x", "1");
    assert_lists(t, "", 0, "", 1, "");
    assert_lists(t, "", 1, "", 1, "");
    put(t->store, "things", "ns", "x", "1");
    del(t->store, "things", "ns", "x");
    assert_lists(t, "", 0, "", 1, "");
    assert_lists(t, "", 3, "", 1, "ns/x=1@3 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(pages_show_one_state_whatever_is_written_between),
        ON_BOTH(a_prefix_is_a_namespace_and_no_more),
        ON_BOTH(an_object_s_path_is_a_prefix_too),
        ON_BOTH(a_list_continues_behind_a_position),
        ON_BOTH(a_position_is_a_revision_and_a_path),
        ON_BOTH(nobody_sees_half_a_batch),
        ON_BOTH(a_revision_in_a_long_batch_becomes_its_end),
        ON_BOTH(revisions_outside_the_window_are_refused),
        ON_BOTH(a_list_that_the_floor_overtakes_expires),
        ON_BOTH(a_new_life_does_not_hide_that_there_was_none),
        {"a_stretch_of_deleted_objects_is_passed_in_pieces",
         a_stretch_of_deleted_objects_is_passed_in_pieces, setup_memory, setting_free, NULL},
        ON_BOTH(a_kind_without_objects_is_an_empty_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
