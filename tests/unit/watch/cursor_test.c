/*
 * src/watch/cursor.h: where a cursor starts, what it is given, and both ends of the
 * window. Where a test is one of Kubernetes' watcher_tests.go, its name is beside it.
 */
#include <stdio.h>

#include "cursor_setting.h"

/* ---- opening ---- */

/* WatchFromNonZero: only what came after the revision. */
static void a_cursor_gives_what_came_behind_its_revision(void **state)
{
    struct setting *t = *state;
    uint64_t a = put(t->store, "things", "ns", "x", "one");
    uint64_t b = put(t->store, "things", "ns", "x", "two");
    put(t->store, "things", "ns", "y", "one");
    assert_string_equal(read_at(t, THINGS, a - 1), "+2 ns/x=one ~3 ns/x=two +4 ns/y=one ");
    assert_string_equal(read_at(t, THINGS, a), "~3 ns/x=two +4 ns/y=one ");
    assert_string_equal(read_at(t, THINGS, b), "+4 ns/y=one ");
    assert_string_equal(read_at(t, THINGS, b + 1), "");
}

static void a_cursor_from_now_gives_only_what_comes(void **state)
{
    struct setting *t = *state;
    struct vd_cursor c;
    put(t->store, "things", "ns", "x", "one");
    open_now(t, &c, THINGS);
    assert_true(c.whole);
    assert_false(vd_cursor_is_behind(&c));
    assert_string_equal(rest_of(t, &c, 10), "");
    put(t->store, "things", "ns", "x", "two");
    assert_true(vd_cursor_is_behind(&c));
    assert_string_equal(rest_of(t, &c, 10), "~3 ns/x=two ");
    vd_cursor_close(&c);
}

/* WatchFromZero: objects that exist arrive as ADDED, then changes. */
static void a_snapshot_comes_first_in_path_order(void **state)
{
    struct setting *t = *state;
    struct vd_cursor c;
    put(t->store, "things", "b", "x", "1");
    put(t->store, "things", "a", "z", "2");
    put(t->store, "things", "a", "y", "3");
    put(t->store, "things", "", "top", "4");
    put(t->store, "things", "a", "y", "5");
    put(t->store, "others", "a", "y", "no");
    put(t->store, "things", "a", "gone", "6");
    uint64_t last = del(t->store, "things", "a", "gone");
    open_snapshot(t, &c, THINGS);
    assert_int_equal(c.revision, last);
    put(t->store, "things", "a", "a", "late");
    assert_string_equal(rest_of(t, &c, 10), "+5 /top=4 +6 a/y=5 +3 a/z=2 +2 b/x=1 | +10 a/a=late ");
    put(t->store, "things", "a", "a", "later");
    del(t->store, "things", "b", "x");
    assert_string_equal(rest_of(t, &c, 10), "~11 a/a=later -12 b/x=1 ");
    vd_cursor_close(&c);
}

/* WatchSemantics, InitialEventsExtended: the end of the snapshot comes exactly once, at the store's
 * revision, whatever matched. */
static void a_snapshot_ends_exactly_once(void **state)
{
    struct setting *t = *state;
    struct vd_cursor c;
    assert_string_equal(read_snapshot(t, THINGS, 1), "| ");
    put(t->store, "others", "ns", "x", "one");
    assert_string_equal(read_snapshot(t, THINGS, 1), "| ");
    for (int i = 0; i < 7; i++) {
        char name[8];
        snprintf(name, sizeof name, "x%d", i);
        put(t->store, "things", "ns", name, "v");
    }
    put(t->store, "others", "ns", "x", "two");
    for (size_t max = 1; max < 10; max++) {
        assert_string_equal(read_snapshot(t, WEB, max), "| ");
        assert_string_equal(
            read_snapshot(t, (struct filter_texts){.resource = "things", .name = "x6"}, max),
            "+9 ns/x6=v | ");
        assert_string_equal(read_snapshot(t, THINGS, max),
                            "+3 ns/x0=v +4 ns/x1=v +5 ns/x2=v +6 ns/x3=v +7 ns/x4=v +8 ns/x5=v "
                            "+9 ns/x6=v | ");
    }
    open_snapshot(t, &c, WEB);
    assert_int_equal(c.revision, 10);
    assert_false(c.whole);
    rest_of(t, &c, 2);
    assert_int_equal(c.revision, 10);
    assert_true(c.whole);
    vd_cursor_close(&c);
}

/* ListMatchSingle and NamespaceScopedWatch: "a" is not the beginning of "ab". */
static void a_snapshot_of_a_namespace_or_name_is_exact(void **state)
{
    struct setting *t = *state;
    static const struct {
        struct filter_texts texts;
        const char *given;
    } cases[] = {
        {{.resource = "things", .namespace = "a"}, "+2 a/x=1 +3 a/xy=2 | "},
        {{.resource = "things", .namespace = "ab"}, "+4 ab/x=3 | "},
        {{.resource = "things", .namespace = "b"}, "| "},
        {{.resource = "things", .name = "x"}, "+5 /x=4 +2 a/x=1 +4 ab/x=3 | "},
        {{.resource = "things", .namespace = "a", .name = "x"}, "+2 a/x=1 | "},
        {{.resource = "things", .fields = "metadata.name=x,metadata.namespace=a"}, "+2 a/x=1 | "},
        {{.resource = "things", .fields = "metadata.namespace="}, "+5 /x=4 | "},
        {{.resource = "things", .fields = "metadata.name!=x"}, "+3 a/xy=2 | "},
        {{.resource = "thing"}, "| "},
    };
    put(t->store, "things", "a", "x", "1");
    put(t->store, "things", "a", "xy", "2");
    put(t->store, "things", "ab", "x", "3");
    put(t->store, "things", "", "x", "4");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(read_snapshot(t, cases[i].texts, 1 + i % 3), cases[i].given);
}

/* However long the snapshot is read, it shows one state; what happened meanwhile
 * follows as events, once. */
static void writes_during_a_snapshot_follow_it(void **state)
{
    struct setting *t = *state;
    struct vd_cursor c;
    struct vd_deliveries d = {0};
    struct vd_error error;
    for (char name[2] = "a"; name[0] < 'f'; name[0]++)
        put(t->store, "things", "ns", name, "old");
    open_snapshot(t, &c, THINGS);
    assert_ok(vd_cursor_next(&c, &d, 2, &error), &error);
    vd_buf_reset(&t->want);
    deliveries_add_text(&t->want, &d);
    assert_string_equal(vd_buf_text(&t->want), "+2 ns/a=old +3 ns/b=old ");
    assert_false(d.whole);
    put(t->store, "things", "ns", "a", "new");   /* this object was given already */
    put(t->store, "things", "ns", "d", "new");   /* this object is still to come */
    put(t->store, "things", "ns", "bb", "born"); /* created between the two */
    put(t->store, "things", "ns", "z", "born");
    del(t->store, "things", "ns", "e");
    assert_string_equal(rest_of(t, &c, 2), "+4 ns/c=old +5 ns/d=old +6 ns/e=old | ~7 ns/a=new "
                                           "~8 ns/d=new +9 ns/bb=born +10 ns/z=born -11 ns/e=old ");
    vd_deliveries_release(&d);
    vd_cursor_close(&c);
}

/* ---- transitions ---- */

/* RunTestWatch: an object that comes to match is ADDED, one that still matches is MODIFIED, and one
 * that ceases to match is DELETED, with its last matching bytes and the revision of the change. */
static void objects_enter_and_leave_the_filter(void **state)
{
    struct setting *t = *state;
    const char *web = "\"app\":\"web\"", *db = "\"app\":\"db\"";
    put_labelled(t->store, "things", "ns", "x", db, "1");
    put_labelled(t->store, "things", "ns", "x", web, "2");
    put_labelled(t->store, "things", "ns", "x", web, "3");
    put_labelled(t->store, "things", "other", "x", web, "4");
    put_labelled(t->store, "things", "ns", "x", db, "5");
    put_labelled(t->store, "things", "ns", "x", NULL, "6");
    put_labelled(t->store, "things", "ns", "x", web, "7");
    del(t->store, "things", "ns", "x");
    put_labelled(t->store, "things", "ns", "x", db, "8");
    del(t->store, "things", "ns", "x");
    put_labelled(t->store, "things", "ns", "x", web, "9");
    static const char seen[] = "+3 ns/x=2 ~4 ns/x=3 -6 ns/x=3 +8 ns/x=7 -9 ns/x=7 +12 ns/x=9 ";
    struct filter_texts texts = {.resource = "things", .namespace = "ns", .labels = "app=web"};
    assert_string_equal(read_at(t, texts, 1), seen);
    texts.name = "x";
    assert_string_equal(read_at(t, texts, 1), seen);
    texts.resource = NULL;
    assert_string_equal(read_at(t, texts, 1), seen);
    assert_string_equal(read_at(t, texts, 5), "-6 ns/x=3 +8 ns/x=7 -9 ns/x=7 +12 ns/x=9 ");
}

/* DeleteTriggerWatch, WatchDeleteEventObjectHaveLatestRV. */
static void a_deletion_carries_the_last_bytes_and_its_own_revision(void **state)
{
    struct setting *t = *state;
    struct vd_cursor c;
    struct vd_deliveries d = {0};
    struct vd_error error;
    put(t->store, "things", "ns", "x", "one");
    uint64_t b = put(t->store, "things", "ns", "x", "two");
    uint64_t gone = del(t->store, "things", "ns", "x");
    for (int i = 0; i < 5; i++) /* push it out of the tail */
        put(t->store, "others", "ns", "x", i % 2 ? "a" : "b");
    open_at(t, &c, THINGS, b);
    assert_ok(vd_cursor_next(&c, &d, 10, &error), &error);
    assert_int_equal(d.list.n, 1);
    assert_int_equal(d.list.p[0].type, VD_DELETED);
    assert_int_equal(d.list.p[0].event->revision, gone);
    assert_slice(vd_body_slice(d.list.p[0].body),
                 "{\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"4\"},\"value\":\"two\"}");
    vd_deliveries_release(&d);
    vd_cursor_close(&c);
}

/* ClusterScopedWatch and NamespaceScopedWatch: every combination of what a watch can name. */
static void a_cursor_sees_its_scope_and_nothing_else(void **state)
{
    struct setting *t = *state;
    static const struct {
        struct filter_texts texts;
        const char *given;
    } cases[] = {
        {{.resource = "things"}, "+2 a/x=1 +3 ab/x=2 +4 a/y=3 ~6 a/x=5 -7 ab/x=2 +8 /x=6 "},
        {{.resource = "things", .namespace = "a"}, "+2 a/x=1 +4 a/y=3 ~6 a/x=5 "},
        {{.resource = "things", .namespace = "ab"}, "+3 ab/x=2 -7 ab/x=2 "},
        {{.resource = "things", .name = "x"}, "+2 a/x=1 +3 ab/x=2 ~6 a/x=5 -7 ab/x=2 +8 /x=6 "},
        {{.resource = "things", .namespace = "a", .name = "x"}, "+2 a/x=1 ~6 a/x=5 "},
        {{.resource = "others"}, "+5 a/x=4 "},
        {{.resource = "none"}, ""},
        {{.namespace = "a"}, "+2 a/x=1 +4 a/y=3 +5 a/x=4 ~6 a/x=5 "},
        {{.name = "y"}, "+4 a/y=3 "},
        {{.namespace = "a", .name = "x"}, "+2 a/x=1 +5 a/x=4 ~6 a/x=5 "},
        {{.resource = "things", .fields = "metadata.name=y"}, "+4 a/y=3 "},
        {{.resource = "things", .namespace = "a", .fields = "metadata.name!=x"}, "+4 a/y=3 "},
        {{.resource = "things", .fields = "value=3"}, "+4 a/y=3 "},
        {{.resource = "things", .namespace = "a", .fields = "value!=1"}, "+4 a/y=3 +6 a/x=5 "},
        {{.fields = "metadata.namespace=ab,value=2"}, "+3 ab/x=2 -7 ab/x=2 "},
        {{.resource = "things", .fields = "metadata.name=x,value=1"}, "+2 a/x=1 -6 a/x=1 "},
    };
    put(t->store, "things", "a", "x", "1");
    put(t->store, "things", "ab", "x", "2");
    put(t->store, "things", "a", "y", "3");
    put(t->store, "others", "a", "x", "4");
    put(t->store, "things", "a", "x", "5");
    del(t->store, "things", "ab", "x");
    put(t->store, "things", "", "x", "6");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(read_at(t, cases[i].texts, 1), cases[i].given);
}

/* ---- both ends of the window ---- */

static void a_future_cursor_gets_only_what_is_beyond(void **state)
{
    struct setting *t = *state;
    struct vd_cursor c;
    struct vd_deliveries d = {0};
    struct vd_error error;
    put(t->store, "things", "ns", "x", "one");
    open_at(t, &c, THINGS, 4);
    for (int i = 0; i < 2; i++) {
        assert_false(vd_cursor_is_behind(&c));
        assert_ok(vd_cursor_next(&c, &d, 10, &error), &error);
        assert_int_equal(d.list.n, 0);
        assert_int_equal(d.upto, 4);
        /* The cursor has passed nothing that a bookmark could name, and 4 may turn out to be inside
         * a batch. */
        assert_false(d.whole);
        assert_false(c.whole);
    }
    static const struct test_change batch[] = {{"things", "ns", "a", NULL, "1"},
                                               {"things", "ns", "b", NULL, "2"},
                                               {"things", "ns", "c", NULL, "3"}};
    put_batch(t->store, batch, 3); /* 3, 4, 5 */
    assert_string_equal(rest_of(t, &c, 10), "+5 ns/c=3 ");
    assert_true(c.whole);
    put(t->store, "things", "ns", "x", "two");
    assert_string_equal(rest_of(t, &c, 10), "~6 ns/x=two ");
    vd_deliveries_release(&d);
    vd_cursor_close(&c);
}

/* WatchFromZero after compaction: an old revision is expired, the state is there. */
static void behind_the_floor_a_cursor_is_expired(void **state)
{
    struct setting *t = *state;
    struct vd_filter *filter = test_filter(THINGS);
    struct vd_cursor c, at_floor, above;
    struct vd_deliveries d = {0};
    struct vd_error error;
    for (int i = 0; i < 10; i++)
        put(t->store, "things", "ns", i % 2 ? "x" : "y", (char[]){(char)('a' + i), 0});
    put(t->store, "things", "ns", "x", "last");
    uint64_t newest = vd_store_revision(t->store);
    open_at(t, &c, THINGS, 2);
    open_at(t, &at_floor, THINGS, newest - 3);
    open_at(t, &above, THINGS, newest - 2);
    assert_ok(vd_cursor_next(&c, &d, 1, &error), &error);
    uint64_t stood = c.revision;
    assert_ok(vd_store_compact(t->store, newest - 3, &error), &error);
    for (int i = 0; i < 2; i++) {
        assert_code(vd_cursor_next(&c, &d, 1, &error), VD_ERR_EXPIRED);
        assert_int_equal(d.list.n, 0);
        assert_int_equal(c.revision, stood);
    }
    assert_code(vd_cursor_next(&at_floor, &d, 1, &error), VD_ERR_EXPIRED);
    assert_string_equal(rest_of(t, &above, 1), "~11 ns/x=j ~12 ns/x=last ");
    vd_cursor_close(&c);
    vd_cursor_close(&at_floor);
    vd_cursor_close(&above);
    assert_code(vd_cursor_open_at(&c, t->store, filter, 1, &error), VD_ERR_EXPIRED);
    assert_code(vd_cursor_open_at(&c, t->store, filter, newest - 3, &error), VD_ERR_EXPIRED);
    assert_string_equal(read_snapshot(t, THINGS, 5), "+12 ns/x=last +10 ns/y=i | ");
    vd_deliveries_release(&d);
    vd_filter_unref(filter);
}

/* A snapshot whose revision the floor passes while it is read is expired, and not cut short. */
static void a_snapshot_that_takes_too_long_is_expired(void **state)
{
    struct setting *t = *state;
    struct vd_cursor c;
    struct vd_deliveries d = {0};
    struct vd_error error;
    for (char name[2] = "a"; name[0] < 'k'; name[0]++)
        put(t->store, "things", "ns", name, "old");
    open_snapshot(t, &c, THINGS);
    assert_ok(vd_cursor_next(&c, &d, 3, &error), &error);
    uint64_t passed = del(t->store, "things", "ns", "h");
    put(t->store, "things", "ns", "i", "new");
    assert_ok(vd_store_compact(t->store, passed, &error), &error);
    assert_code(vd_cursor_next(&c, &d, 3, &error), VD_ERR_EXPIRED);
    assert_int_equal(d.list.n, 0);
    assert_false(d.snapshot_end);
    assert_false(d.whole);
    assert_code(vd_cursor_next(&c, &d, 3, &error), VD_ERR_EXPIRED);
    vd_deliveries_release(&d);
    vd_cursor_close(&c);
}

/* Only deletions are left of the resource; they are read back after a restart. */
static void a_kind_that_is_gone_is_still_replayed(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    put(t->store, "things", "ns", "x", "one");
    uint64_t gone = del(t->store, "things", "ns", "x");
    for (int i = 0; i < 5; i++)
        put(t->store, "others", "ns", "x", i % 2 ? "a" : "b");
    if (t->folder)
        reopen(t, TINY_TAIL);
    assert_string_equal(read_at(t, THINGS, 1), "+2 ns/x=one -3 ns/x=one ");
    assert_ok(vd_store_compact(t->store, gone, &error), &error);
    if (t->folder)
        reopen(t, TINY_TAIL);
    assert_string_equal(read_at(t, THINGS, gone + 1), "");
    assert_string_equal(read_snapshot(t, THINGS, 5), "| ");
}

/* ---- damage ---- */

/* RunTestWatchError, ErrorIsBlockingFurtherEvents: a damaged event is named and not passed; the
 * version that replaced it can be read. */
static void a_damaged_event_ends_the_reading(void **state)
{
    struct setting *t = *state;
    struct vd_cursor c;
    struct vd_deliveries d = {0};
    struct vd_error error;
    static const size_t tails[] = {1, 0};
    put(t->store, "things", "ns", "x", "one");
    uint64_t bad = put_labelled(t->store, "things", "ns", "x", "\"app\":\"web\"", "two");
    put_labelled(t->store, "things", "ns", "x", "\"app\":\"db\"", "three");
    put(t->store, "others", "ns", "x", "noise");
    for (size_t i = 0; i < 2; i++) {
        damage_row(t, bad);
        reopen(t, tails[i]);
        open_at(t, &c, THINGS, 1);
        assert_ok(vd_cursor_next(&c, &d, 10, &error), &error);
        assert_int_equal(d.list.n, 1);
        assert_int_equal(d.upto, bad - 1);
        for (int again = 0; again < 2; again++) {
            assert_code(vd_cursor_next(&c, &d, 10, &error), VD_ERR_CORRUPT);
            assert_int_equal(c.revision, bad - 1);
            assert_int_equal(d.list.n, 0);
        }
        vd_cursor_close(&c);
        assert_string_equal(read_at(t, THINGS, bad), "~4 ns/x=three ");
        /* Whether the damaged version matched is unknown: the object is gone. */
        assert_string_equal(read_at(t, WEB, bad), "-4 ns/x=? ");
        assert_string_equal(read_snapshot(t, THINGS, 5), "+4 ns/x=three | ");
    }
    vd_deliveries_release(&d);
}

/* An object whose bytes are lost is named, so that nobody takes the list for complete. */
static void a_damaged_object_ends_the_snapshot(void **state)
{
    struct setting *t = *state;
    struct vd_cursor c;
    struct vd_deliveries d = {0};
    struct vd_error error;
    put(t->store, "things", "ns", "x", "one");
    uint64_t bad = put(t->store, "things", "ns", "y", "two");
    put(t->store, "things", "ns", "z", "three");
    damage_row(t, bad);
    reopen(t, TINY_TAIL);
    open_snapshot(t, &c, THINGS);
    assert_ok(vd_cursor_next(&c, &d, 10, &error), &error);
    assert_int_equal(d.list.n, 1);
    assert_false(d.snapshot_end);
    assert_code(vd_cursor_next(&c, &d, 10, &error), VD_ERR_CORRUPT);
    assert_false(d.snapshot_end);
    assert_false(d.whole);
    vd_cursor_close(&c);
    del(t->store, "things", "ns", "y");
    assert_string_equal(read_snapshot(t, THINGS, 5), "+2 ns/x=one +4 ns/z=three | ");
    assert_string_equal(read_at(t, THINGS, bad), "+4 ns/z=three -5 ns/y=? ");
    vd_deliveries_release(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_ALL(a_cursor_gives_what_came_behind_its_revision),
        ON_ALL(a_cursor_from_now_gives_only_what_comes),
        ON_ALL(a_snapshot_comes_first_in_path_order),
        ON_ALL(a_snapshot_ends_exactly_once),
        ON_ALL(a_snapshot_of_a_namespace_or_name_is_exact),
        ON_ALL(writes_during_a_snapshot_follow_it),
        ON_ALL(objects_enter_and_leave_the_filter),
        ON_ALL(a_deletion_carries_the_last_bytes_and_its_own_revision),
        ON_ALL(a_cursor_sees_its_scope_and_nothing_else),
        ON_ALL(a_future_cursor_gets_only_what_is_beyond),
        ON_ALL(behind_the_floor_a_cursor_is_expired),
        ON_ALL(a_snapshot_that_takes_too_long_is_expired),
        ON_ALL(a_kind_that_is_gone_is_still_replayed),
        cmocka_unit_test_setup_teardown(a_damaged_event_ends_the_reading, setup_sqlite, teardown),
        cmocka_unit_test_setup_teardown(a_damaged_object_ends_the_snapshot, setup_sqlite, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
