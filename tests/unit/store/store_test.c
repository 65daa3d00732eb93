/*
 * src/store/store.h: preconditions, revisions, reads at a revision, the log and
 * the floor. Every test runs on every engine: the store behaves the same on each.
 */
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>

#include "setting.h"
#include "store/snapshot.h"

static const struct vd_store_options defaults = {0};

static int setup_memory(void **state)
{
    return setting_new(state, false, 1000000, defaults);
}

static int setup_sqlite(void **state)
{
    return setting_new(state, true, 1000000, defaults);
}

#define assert_value(t, name, revision, want)                                                      \
    do {                                                                                           \
        char room_[64];                                                                            \
        assert_string_equal(value_at((t), (name), (revision), room_), (want));                     \
    } while (0)

static void an_empty_store_stands_at_revision_1(void **state)
{
    struct setting *t = *state;
    assert_int_equal(vd_store_revision(t->store), 1);
    assert_int_equal(vd_store_floor(t->store), 0);
}

static void objects_are_read_back_at_every_revision(void **state)
{
    struct setting *t = *state;
    uint64_t a = put(t->store, "things", "ns", "x", "one");
    uint64_t b = put(t->store, "things", "ns", "x", "two");
    uint64_t c = del(t->store, "things", "ns", "x");
    uint64_t d = put(t->store, "things", "ns", "x", "three");
    assert_true(a < b && b < c && c < d);
    assert_value(t, "x", 0, "three");
    assert_value(t, "x", a, "one");
    assert_value(t, "x", b, "two");
    assert_value(t, "x", c, "not-found");
    assert_value(t, "x", d, "three");
    assert_value(t, "x", a - 1, "not-found");
    assert_value(t, "x", d + 1, "future");
    assert_value(t, "y", 0, "not-found");
}

static void bodies_carry_their_revision(void **state)
{
    struct setting *t = *state;
    uint64_t a = put(t->store, "things", "ns", "x", "one");
    struct vd_key key = test_key("things", "ns", "x");
    struct vd_event *event;
    struct vd_error error;
    char want[64];
    snprintf(want, sizeof want, "\"resourceVersion\":\"%llu\"", (unsigned long long)a);
    assert_ok(vd_store_get(t->store, &key, 0, &event, &error), &error);
    assert_non_null(memmem(event->body->bytes, event->body->len, want, strlen(want)));
    vd_event_unref(event);
}

static void a_write_that_changes_nothing_makes_no_event(void **state)
{
    struct setting *t = *state;
    uint64_t a = put(t->store, "things", "ns", "x", "one");
    struct vd_outcome outcome;
    assert_code(test_put(t->store, "things", "ns", "x", NULL, "one", &outcome), VD_OK);
    assert_false(outcome.changed);
    assert_int_equal(outcome.revision, a);
    assert_int_equal(vd_store_revision(t->store), a);
}

static void a_refused_precondition_says_the_current_revision(void **state)
{
    struct setting *t = *state;
    uint64_t a = put(t->store, "things", "ns", "x", "one");
    struct vd_buf room = {0};
    struct vd_outcome outcome;
    struct vd_wish wish = {.action = VD_PUT,
                           .when = VD_WHEN_REVISION,
                           .revision = a - 1,
                           .key = test_key("things", "ns", "x"),
                           .body = test_body(&room, "x", NULL, "two")};
    assert_code(vd_store_commit(t->store, &wish, 1, &outcome), VD_ERR_CONFLICT);
    assert_int_equal(outcome.revision, a);
    wish.when = VD_WHEN_ABSENT;
    assert_code(vd_store_commit(t->store, &wish, 1, &outcome), VD_ERR_EXISTS);
    assert_int_equal(outcome.revision, a);
    wish.when = VD_WHEN_REVISION;
    wish.revision = a;
    assert_code(vd_store_commit(t->store, &wish, 1, &outcome), VD_OK);
    wish.key = test_key("things", "ns", "missing");
    assert_code(vd_store_commit(t->store, &wish, 1, &outcome), VD_ERR_NOT_FOUND);
    assert_int_equal(outcome.revision, 0);
    vd_buf_release(&room);
}

static void a_batch_happens_whole_or_not_at_all(void **state)
{
    struct setting *t = *state;
    uint64_t start = put(t->store, "things", "ns", "x", "one");
    struct vd_buf room[3] = {{0}};
    struct vd_outcome outcome;
    struct vd_wish wishes[3];
    const char *names[] = {"a", "x", "b"};
    for (size_t i = 0; i < 3; i++)
        wishes[i] = (struct vd_wish){.action = VD_PUT,
                                     .when = VD_WHEN_ABSENT,
                                     .key = test_key("things", "ns", names[i]),
                                     .body = test_body(&room[i], names[i], NULL, "batch")};
    assert_code(vd_store_commit(t->store, wishes, 3, &outcome), VD_ERR_EXISTS);
    assert_int_equal(outcome.at, 1);
    assert_int_equal(vd_store_revision(t->store), start);
    assert_value(t, "a", 0, "not-found");
    assert_int_equal(vd_store_count(t->store, VD_SLICE("things")), 1);
    wishes[1].when = VD_WHEN_ANY;
    assert_code(vd_store_commit(t->store, wishes, 3, &outcome), VD_OK);
    assert_int_equal(outcome.revision_first, start + 1);
    assert_int_equal(outcome.revision, start + 3);
    assert_value(t, "b", 0, "batch");
    for (size_t i = 0; i < 3; i++)
        vd_buf_release(&room[i]);
}

static void the_log_gives_every_change_with_what_it_replaced(void **state)
{
    struct setting *t = *state;
    uint64_t a = put(t->store, "things", "ns", "x", "one");
    put(t->store, "others", "ns", "o", "noise");
    put(t->store, "things", "ns", "x", "two");
    uint64_t d = del(t->store, "things", "ns", "x");
    struct vd_stretch stretch = {0};
    struct vd_error error;
    char room[64];
    assert_ok(vd_store_read(t->store, VD_SLICE("things"), a - 1, 100, &stretch, &error), &error);
    assert_int_equal(stretch.changes.n, 3);
    assert_null(stretch.changes.p[0].before);
    assert_string_equal(body_value(stretch.changes.p[1].before->body, room), "one");
    assert_string_equal(body_value(stretch.changes.p[1].now->body, room), "two");
    assert_string_equal(body_value(stretch.changes.p[2].now->body, room), "two");
    assert_int_equal(stretch.changes.p[2].now->type, VD_EVENT_DELETED);
    assert_int_equal(stretch.changes.p[2].now->revision, d);
    assert_int_equal(stretch.upto, d);
    assert_true(stretch.whole);
    vd_stretch_release(&stretch);
}

/* Reads the whole log of a resource and adds the revisions as text. */
static void log_text(struct setting *t, uint64_t after, size_t max, struct vd_buf *out)
{
    struct vd_stretch stretch = {0};
    struct vd_error error;
    char room[64];
    vd_buf_reset(out);
    while (after < vd_store_revision(t->store)) {
        assert_ok(vd_store_read(t->store, VD_SLICE("things"), after, max, &stretch, &error),
                  &error);
        for (size_t i = 0; i < stretch.changes.n; i++) {
            struct vd_change *c = &stretch.changes.p[i];
            vd_buf_addf(out, "%llu:%d:%s", (unsigned long long)c->now->revision, c->now->type,
                        body_value(c->now->body, room));
            vd_buf_addf(out, "<%s ", c->before ? body_value(c->before->body, room) : "-");
        }
        assert_true(stretch.upto > after);
        after = stretch.upto;
    }
    vd_stretch_release(&stretch);
}

static void memory_and_engine_give_the_same_history(void **state)
{
    struct setting *t = *state;
    for (int i = 0; i < 300; i++) {
        char name[16], value[16];
        snprintf(name, sizeof name, "x%d", i % 7);
        snprintf(value, sizeof value, "v%d", i);
        put(t->store, i % 3 ? "things" : "others", "ns", name, value);
        if (i % 11 == 0)
            test_delete(t->store, "things", "ns", name, NULL);
    }
    struct vd_buf all = {0}, cut = {0};
    log_text(t, 1, 1000, &all);
    assert_true(all.n > 100);
    log_text(t, 1, 1, &cut);
    assert_string_equal(vd_buf_text(&all), vd_buf_text(&cut));
    if (t->folder) { /* the same with almost no tail */
        setting_open(t, (struct vd_store_options){.tail_events_max = 3});
        log_text(t, 1, 7, &cut);
        assert_string_equal(vd_buf_text(&all), vd_buf_text(&cut));
        setting_open(t, (struct vd_store_options){.tail_events_max = 50});
        log_text(t, 1, 7, &cut);
        assert_string_equal(vd_buf_text(&all), vd_buf_text(&cut));
    }
    vd_buf_release(&all);
    vd_buf_release(&cut);
}

static void snapshot_text(struct setting *t, uint64_t revision, size_t page, struct vd_buf *out)
{
    struct vd_snapshot s;
    struct vd_error error;
    struct vd_event *events[64];
    size_t n;
    char room[64];
    vd_buf_reset(out);
    assert_ok(vd_snapshot_open(&s, t->store, VD_SLICE("things"), VD_SLICE("ns/"), revision,
                               VD_SLICE(""), &error),
              &error);
    while (!s.done) {
        assert_ok(vd_snapshot_next(&s, events, page, &n, &error), &error);
        for (size_t i = 0; i < n; i++) {
            vd_buf_addf(out, "%.*s=%s ", VD_FMT(vd_entry_path(events[i]->entry)),
                        body_value(events[i]->body, room));
            vd_event_unref(events[i]);
        }
    }
    vd_snapshot_release(&s);
}

static void a_snapshot_stays_the_same_while_writes_go_on(void **state)
{
    struct setting *t = *state;
    for (int i = 0; i < 50; i++) {
        char name[16];
        snprintf(name, sizeof name, "x%02d", i);
        put(t->store, "things", "ns", name, "old");
    }
    uint64_t revision = vd_store_revision(t->store);
    struct vd_buf first = {0}, again = {0};
    snapshot_text(t, 0, 64, &first);
    for (int i = 0; i < 50; i += 2) {
        char name[16];
        snprintf(name, sizeof name, "x%02d", i);
        put(t->store, "things", "ns", name, "new");
        put(t->store, "things", "ns", name, "newer");
        if (i % 4 == 0)
            del(t->store, "things", "ns", name);
        put(t->store, "things", "ns", "zz", name);
    }
    snapshot_text(t, revision, 3, &again);
    assert_string_equal(vd_buf_text(&first), vd_buf_text(&again));
    if (t->folder) {
        setting_open(t, (struct vd_store_options){.tail_events_max = 2});
        snapshot_text(t, revision, 5, &again);
        assert_string_equal(vd_buf_text(&first), vd_buf_text(&again));
    }
    vd_buf_release(&first);
    vd_buf_release(&again);
}

static void compaction_expires_old_cursors_and_keeps_objects(void **state)
{
    struct setting *t = *state;
    uint64_t a = put(t->store, "things", "ns", "x", "one");
    put(t->store, "things", "ns", "x", "two");
    put(t->store, "things", "ns", "y", "one");
    uint64_t d = del(t->store, "things", "ns", "y");
    put(t->store, "things", "ns", "z", "one");
    struct vd_error error;
    assert_ok(vd_store_compact(t->store, d, &error), &error);
    assert_int_equal(vd_store_floor(t->store), d);
    struct vd_stretch stretch = {0};
    assert_code(vd_store_read(t->store, VD_SLICE("things"), a, 10, &stretch, &error),
                VD_ERR_EXPIRED);
    assert_value(t, "x", 0, "two");
    assert_value(t, "y", 0, "not-found");
    assert_value(t, "x", a, "expired");
    if (t->folder) {
        setting_open(t, (struct vd_store_options){0});
        assert_int_equal(vd_store_floor(t->store), d);
        assert_int_equal(vd_store_revision(t->store), d + 1);
        assert_value(t, "x", 0, "two");
        assert_value(t, "y", 0, "not-found");
    }
    assert_true(put(t->store, "things", "ns", "y", "again") > d + 1);
    vd_stretch_release(&stretch);
}

static void the_window_is_bounded_by_events_and_by_age(void **state)
{
    struct setting *t = *state;
    setting_open(t,
                 (struct vd_store_options){.window_events_max = 100, .window_age_ms_max = 60000});
    for (int i = 0; i < 1000; i++) {
        char value[16];
        snprintf(value, sizeof value, "%d", i);
        put(t->store, "things", "ns", "x", value);
    }
    struct vd_store_stats stats;
    vd_store_stats(t->store, &stats);
    assert_in_range(stats.window_events, 1, 110);
    assert_true(stats.floor >= stats.revision - 110);
    test_clock_advance_ms(&t->clock, 61000);
    put(t->store, "things", "ns", "x", "young");
    struct vd_error error;
    assert_ok(vd_store_compact(t->store, stats.floor + 1, &error), &error);
    put(t->store, "things", "ns", "x", "younger");
    vd_store_stats(t->store, &stats);
    assert_in_range(stats.window_events, 1, 3);
    assert_value(t, "x", 0, "younger");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(an_empty_store_stands_at_revision_1),
        ON_BOTH(objects_are_read_back_at_every_revision),
        ON_BOTH(bodies_carry_their_revision),
        ON_BOTH(a_write_that_changes_nothing_makes_no_event),
        ON_BOTH(a_refused_precondition_says_the_current_revision),
        ON_BOTH(a_batch_happens_whole_or_not_at_all),
        ON_BOTH(the_log_gives_every_change_with_what_it_replaced),
        ON_BOTH(memory_and_engine_give_the_same_history),
        ON_BOTH(a_snapshot_stays_the_same_while_writes_go_on),
        ON_BOTH(compaction_expires_old_cursors_and_keeps_objects),
        ON_BOTH(the_window_is_bounded_by_events_and_by_age),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
