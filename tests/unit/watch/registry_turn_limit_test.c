/* src/watch/registry.h: limits of a turn, which serves a large group in several turns, and
 * stretches of the log that several unsynced watchers share. */
#include "registry_setting.h"

/* A turn serves as many watchers of a large group as its limit allows; the next turns go on, and
 * new commits wait for them. No watcher is left out or served twice, whichever leave in between. */
static void a_group_is_served_in_slices(void **state)
{
    struct setting *t = *state;
    enum { N = 10 };
    struct record *w[N];
    size_t first = 0, second = 0;
    for (size_t i = 0; i < N; i++)
        w[i] = watch(t, (struct filter_texts){"things", "", "", "", ""}, FROM_NOW);
    turn();
    vd_registry_limit_turn(registry, 3);
    put(t->store, "things", "ns", "x", "1");
    assert_true(vd_registry_turn(registry, BUDGET));
    for (size_t i = 0; i < N; i++) {
        first += w[i]->calls == 1;
        /* A bookmark may name the event only for watchers that have it. */
        assert_int_equal(vd_watcher_bookmark(&w[i]->watcher), w[i]->calls ? nth(2) : 1);
    }
    assert_int_equal(first, 3);
    put(t->store, "things", "ns", "x", "2");
    struct record *late = watch(t, (struct filter_texts){"things", "", "", "", ""}, FROM_NOW);
    /* Two that were served leave, and two that were not. */
    for (size_t i = 0, served = 0, others = 0; i < N; i++) {
        size_t *n = w[i]->calls ? &served : &others;
        if ((*n)++ < 2) {
            record_free(w[i]);
            w[i] = NULL;
        }
    }
    assert_true(vd_registry_turn(registry, BUDGET));
    for (size_t i = 0; i < N; i++)
        second += w[i] && w[i]->calls == 1;
    assert_int_equal(second, 1 + 3);
    turn();
    for (size_t i = 0; i < N; i++)
        if (w[i])
            assert_text(w[i], "+2 ns/x=1 ~3 ns/x=2 ");
    assert_text(late, "");
    assert_int_equal(stats().synced, N - 4 + 1);
    vd_registry_limit_turn(registry, 0);
    put(t->store, "things", "ns", "x", "3");
    assert_false(vd_registry_turn(registry, BUDGET));
    assert_text(late, "~4 ns/x=3 ");
}

/* Long deliveries count for several watchers, and the registry says since when they have been
 * waiting. */
static void long_deliveries_count_for_several(void **state)
{
    struct setting *t = *state;
    enum { N = 9, EVENTS = 64 };
    struct record *w[N];
    size_t served = 0;
    for (size_t i = 0; i < N; i++)
        w[i] = watch(t, (struct filter_texts){"things", "", "", "", ""}, FROM_NOW);
    turn();
    assert_int_equal(vd_registry_serving_ns(registry), 0);
    for (int i = 0; i < EVENTS; i++)
        put(t->store, "things", "ns", "x", i % 2 ? "1" : "2");
    vd_registry_limit_turn(registry, 9); /* each counts for three */
    uint64_t due_ns = vd_registry_waiting_ns(registry);
    assert_true(due_ns);
    assert_true(vd_registry_turn(registry, BUDGET));
    for (size_t i = 0; i < N; i++)
        served += w[i]->calls > 0;
    assert_int_equal(served, 3);
    assert_int_equal(vd_registry_serving_ns(registry), due_ns);
    turn();
    assert_int_equal(vd_registry_serving_ns(registry), 0);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(w[i]->calls, 1);
        record_free(w[i]);
    }
}

/* Watchers of a group that resume from the same revision share what is read for them. One that does
 * not take it stays at its revision, and another group reads for itself. */
static void a_replay_is_shared(void **state)
{
    struct setting *t = *state;
    enum { N = 4, EVENTS = 300 }; /* more events than one piece has */
    struct filter_texts things = {"things", "", "", "", ""};
    struct record *w[N];
    for (int i = 0; i < EVENTS; i++)
        put(t->store, "things", "ns", "x", i % 2 ? "1" : "2");
    turn();
    for (size_t i = 0; i < N; i++)
        w[i] = watch(t, things, 1);
    struct record *later = watch(t, things, 2);
    struct record *other = watch(t, (struct filter_texts){"things", "ns", "", "", ""}, 1);
    w[1]->answer = VD_TAKE_NOT;
    turn();
    assert_text(w[1], "");
    vd_watcher_resume(&w[1]->watcher);
    turn();
    assert_true(w[2]->found_shared > 0 && w[3]->found_shared > 0);
    assert_int_equal(other->found_shared, 0);
    for (size_t i = 1; i < N; i++)
        assert_string_equal(vd_buf_text(&w[i]->text), vd_buf_text(&w[0]->text));
    assert_string_equal(vd_buf_text(&other->text), vd_buf_text(&w[0]->text));
    assert_true(later->text.n > 0 && later->text.n < other->text.n);
    assert_string_equal(vd_buf_text(&later->text),
                        vd_buf_text(&other->text) + (other->text.n - later->text.n));
    assert_int_equal(stats().synced, N + 2);
}

/* All watchers of a group may leave, and the registry may be freed, before the group was served. */
static void a_slice_that_nobody_waits_for(void **state)
{
    struct setting *t = *state;
    struct record *w[3];
    for (size_t i = 0; i < 3; i++)
        w[i] = watch(t, (struct filter_texts){"things", "", "", "", ""}, FROM_NOW);
    struct record *other = watch(t, (struct filter_texts){"things", "ns", "", "", ""}, FROM_NOW);
    turn();
    vd_registry_limit_turn(registry, 1);
    put(t->store, "things", "ns", "x", "1");
    assert_true(vd_registry_turn(registry, BUDGET));
    for (size_t i = 0; i < 3; i++)
        record_free(w[i]);
    record_free(other);
    put(t->store, "things", "ns", "x", "2"); /* stays in the inbox */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_group_is_served_in_slices),
        TEST(long_deliveries_count_for_several),
        TEST(a_replay_is_shared),
        TEST(a_slice_that_nobody_waits_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
