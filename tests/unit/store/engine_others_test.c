/*
 * The conformance suite of store engines, its second part: commits that are behind, what other
 * processes do to the log, and history. See engine_check.h.
 */
#include <sched.h>
#include <stdatomic.h>

#include "engine_check.h"

enum { DEADLINE_MS = 60000 }; /* for everything that is waited for */

static struct vd_engine_state state_of(struct setting *t)
{
    struct vd_engine_state found;
    struct vd_error error;
    assert_ok(t->engine->ops->state(t->engine, &found, &error), &error);
    return found;
}

static void the_state_says_where_the_log_stands(void **state)
{
    struct setting *t = *state;
    uint64_t passed = state_of(t).passed;
    assert_int_equal(state_of(t).revision, t->state.revision);
    struct vd_row rows[3] = {row_of("a", "1"), row_of("b", "2"), row_of("c", "3")};
    commit(t, rows, 3);
    uint64_t last = commit_one(t, "d", "4");
    assert_int_equal(state_of(t).revision, last);
    assert_int_equal(state_of(t).floor, 0);
    struct vd_error error;
    struct vd_compaction what = {&rows[0].revision, 1, 0, rows[2].revision, .passed = 3};
    assert_ok(t->engine->ops->compact(t->engine, &what, &error), &error);
    assert_int_equal(state_of(t).revision, last);
    assert_int_equal(state_of(t).floor, rows[2].revision);
    assert_int_equal(state_of(t).passed - passed, 3);
}

/* The head that the committer names is older than the newest row, or does not exist. */
static void a_commit_that_is_behind_writes_nothing(void **state)
{
    struct setting *t = *state;
    uint64_t first = t->newest, a = commit_one(t, "a", "1"), b = commit_one(t, "b", "2");
    const uint64_t heads[] = {0, first, a, b - 1, b + 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct vd_row row = row_of("c", "3");
        struct vd_error error;
        if (heads[i] == a && a == b - 1 && i == 3)
            continue;
        for (int patient = 0; patient < 2; patient++) {
            struct vd_engine_commit how = {.head = heads[i], .patient = patient};
            assert_code(t->engine->ops->commit(t->engine, how, &row, 1, &error), VD_ERR_BEHIND);
        }
    }
    assert_int_equal(state_of(t).revision, b);
    struct sink s = {0};
    load_into(t, &s);
    assert_int_equal(s.rows, 2);
    sink_reset(&s);
    /* A committer that has seen the newest row may write. */
    assert_true(commit_one(t, "c", "3") > b);
}

static void a_compaction_that_is_behind_changes_nothing(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    uint64_t a = commit_one(t, "a", "1"), b = commit_one(t, "a", "2"), c = commit_one(t, "a", "3");
    compact(t, &a, 1, a);
    struct vd_engine_state before = state_of(t);
    struct vd_compaction what = {&b, 1, 0, b, .passed = 1};
    assert_code(t->engine->ops->compact(t->engine, &what, &error), VD_ERR_BEHIND);
    struct vd_engine_state after = state_of(t);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(got_revision(t, b), b);
    assert_int_equal(got_revision(t, c), c);
    compact(t, &b, 1, b);
    assert_int_equal(got_revision(t, b), 0);
}

/* Writes "revision:name=body<what was before". */
struct history_text {
    struct vd_buf text;
    size_t passed, stop_at, rows;
};

static void history_passes(void *arg, const struct vd_row *head)
{
    struct history_text *h = arg;
    h->passed += head->revision > 0;
}

static bool history_take(void *arg, const struct vd_row *row, const struct vd_row *before)
{
    struct history_text *h = arg;
    vd_buf_addf(&h->text, "%.*s=%.*s<", VD_FMT(row->key.name), VD_FMT(row->body.bytes));
    if (before && !vd_slice_eq(before->key.name, row->key.name))
        vd_buf_add_text(&h->text, "another object's");
    if (before && before->revision != row->previous)
        vd_buf_add_text(&h->text, "another version's");
    vd_buf_addf(&h->text, "%.*s ", VD_FMT(before ? before->body.bytes : VD_SLICE("-")));
    return ++h->rows != h->stop_at;
}

static void assert_history(struct setting *t, const char *kind, uint64_t after, uint64_t upto,
                           size_t rows_max, size_t passed, const char *want)
{
    struct history_text h = {0};
    struct vd_history_sink sink = {history_passes, history_take, &h};
    struct vd_error error;
    assert_ok(
        t->engine->ops->history(t->engine, vd_slice_of(kind), after, upto, rows_max, &sink, &error),
        &error);
    assert_string_equal(vd_buf_text(&h.text), want);
    assert_int_equal(h.passed, passed);
    vd_buf_release(&h.text);
}

static struct vd_row next_of(const struct vd_row *row, enum vd_event_type type, const char *body)
{
    struct vd_row next = *row;
    next.previous = row->revision;
    next.type = type;
    next.body.bytes = vd_slice_of(body);
    next.body_len = (uint32_t)strlen(body);
    return next;
}

static void history_brings_along_what_was_replaced(void **state)
{
    struct setting *t = *state;
    char *large = vd_malloc(10001);
    memset(large, 'x', 10000);
    large[10000] = 0;
    struct vd_row a1 = row_of("a", "1"), other = row_of("o", "1");
    other.key.resource = VD_SLICE("others");
    commit(t, &a1, 1);
    commit(t, &other, 1);
    struct vd_row a2 = next_of(&a1, VD_EVENT_UPDATED, large);
    commit(t, &a2, 1);
    struct vd_row o2 = next_of(&other, VD_EVENT_UPDATED, "2");
    commit(t, &o2, 1);
    struct vd_row a3 = next_of(&a2, VD_EVENT_DELETED, "");
    commit(t, &a3, 1);
    struct vd_row a4 = next_of(&a3, VD_EVENT_CREATED, "4"); /* it replaced nothing */
    commit(t, &a4, 1);
    struct vd_buf want = {0};
    vd_buf_addf(&want, "a=1<- o=1<- a=%s<1 o=2<1 a=<%s a=4<- ", large, large);
    assert_history(t, "", 0, UINT64_MAX, 100, 6, vd_buf_text(&want));
    assert_history(t, "others", 0, UINT64_MAX, 100, 6, "o=1<- o=2<1 ");
    assert_history(t, "nothing", 0, UINT64_MAX, 100, 6, "");
    /* Rows of other resources are counted. */
    assert_history(t, "others", 0, UINT64_MAX, 3, 3, "o=1<- ");
    assert_history(t, "others", other.revision, o2.revision, 3, 2, "o=2<1 ");
    assert_history(t, "", a3.revision, UINT64_MAX, 3, 1, "a=4<- ");
    assert_history(t, "", a4.revision, UINT64_MAX, 3, 0, "");
    compact(t, &a1.revision, 1, a2.revision); /* what a2 replaced is gone; nothing below reads it */
    struct history_text h = {.stop_at = 1};
    struct vd_history_sink sink = {history_passes, history_take, &h};
    struct vd_error error;
    assert_ok(
        t->engine->ops->history(t->engine, VD_SLICE(""), a2.revision, UINT64_MAX, 9, &sink, &error),
        &error);
    assert_string_equal(vd_buf_text(&h.text), "o=2<1 "); /* it stops when it is told */
    vd_buf_release(&h.text);
    vd_buf_release(&want);
    free(large);
}

static void count_wake(void *arg)
{
    atomic_fetch_add((_Atomic int *)arg, 1);
}

/* Waits until there were more wake-ups than these. */
static void await_wake(_Atomic int *wakes, int before)
{
    const struct vd_clock *clock = vd_clock_system();
    int64_t until_ms = vd_clock_wall_ms(clock) + DEADLINE_MS;
    while (atomic_load(wakes) == before && vd_clock_wall_ms(clock) < until_ms)
        sched_yield();
    assert_true(atomic_load(wakes) > before);
}

/* Another process has the log open, too. */
static void others_are_heard_of_and_their_rows_are_read(void **state)
{
    struct setting *t = *state;
    if (!t->engine->shared)
        return;
    struct setting other = {.kind = t->kind, .folder = t->folder};
    struct vd_error error;
    _Atomic int wakes = 0, own = 0;
    engine_open(&other);
    t->engine->ops->on_others(t->engine, count_wake, &wakes);
    other.engine->ops->on_others(other.engine, count_wake, &own);
    uint64_t a = commit_one(t, "a", "1");
    assert_int_equal(atomic_load(&wakes), 0); /* an engine is not woken by its own commits */
    other.newest = a;
    uint64_t b = commit_one(&other, "b", "2");
    await_wake(&wakes, 0);
    assert_int_equal(state_of(t).revision, b);
    assert_int_equal(got_revision(t, b), b);
    struct vd_row row = row_of("c", "3");
    struct vd_engine_commit how = {.head = a, .patient = true};
    assert_code(t->engine->ops->commit(t->engine, how, &row, 1, &error), VD_ERR_BEHIND);
    t->newest = b;
    uint64_t c = commit_one(t, "c", "3");
    int before = atomic_load(&wakes);
    other.newest = c;
    compact(&other, &a, 1, b);
    await_wake(&wakes, before);
    assert_int_equal(state_of(t).floor, b);
    assert_int_equal(state_of(t).passed, 1);
    other.engine->ops->close(other.engine);
}

/* A read from below a floor that another process has moved fails as expired, and gives no rows. */
static void reads_from_below_the_floor_of_a_shared_log_expire(void **state)
{
    struct setting *t = *state;
    if (!t->engine->shared)
        return;
    struct vd_error error;
    struct sink s = {0};
    struct history_text h = {0};
    struct vd_row_sink sink = {NULL, sink_take, &s};
    struct vd_history_sink history = {history_passes, history_take, &h};
    uint64_t a = commit_one(t, "a", "1"), b = commit_one(t, "a", "2");
    commit_one(t, "a", "3");
    compact(t, &a, 1, b);
    assert_code(t->engine->ops->read(t->engine, a, UINT64_MAX, 9, &sink, &error), VD_ERR_EXPIRED);
    assert_code(
        t->engine->ops->history(t->engine, VD_SLICE(""), a, UINT64_MAX, 9, &history, &error),
        VD_ERR_EXPIRED);
    assert_int_equal(s.rows + h.rows, 0);
    assert_ok(t->engine->ops->read(t->engine, b, UINT64_MAX, 9, &sink, &error), &error);
    assert_int_equal(s.rows, 1);
    sink_reset(&s);
}

static int run_suite(size_t i)
{
    const struct CMUnitTest tests[] = {
        FOR_ENGINE(the_state_says_where_the_log_stands, i),
        FOR_ENGINE(a_commit_that_is_behind_writes_nothing, i),
        FOR_ENGINE(a_compaction_that_is_behind_changes_nothing, i),
        FOR_ENGINE(history_brings_along_what_was_replaced, i),
        FOR_ENGINE(others_are_heard_of_and_their_rows_are_read, i),
        FOR_ENGINE(reads_from_below_the_floor_of_a_shared_log_expire, i),
    };
    return cmocka_run_group_tests_name(engines[i].suite, tests, NULL, NULL);
}

int main(void)
{
    int failed = 0;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        failed += run_suite(i);
    return failed;
}
