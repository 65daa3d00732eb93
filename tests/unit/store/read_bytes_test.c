/*
 * Readers bound what they give by its bytes, too: one call never holds many large bodies, whether
 * they are in memory or have to be read from the engine, and nothing is left out by it.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "setting.h"
#include "store/snapshot.h"

enum { OBJECTS = 12, LEN = 100000, AT_ONCE = VD_READ_STEP_BYTES / LEN + 1 };

/* What is older than two events comes from the engine. */
static const struct vd_store_options tiny = {.tail_events_max = 2, .manual_compaction = true};
static const struct vd_store_options roomy = {.manual_compaction = true};

static int setup_memory(void **state)
{
    return setting_new(state, false, 0, roomy);
}

static int setup_sqlite(void **state)
{
    return setting_new(state, true, 0, tiny);
}

static void put_large(struct setting *t, int i, char fill)
{
    char name[16], *value = vd_malloc(LEN + 1);
    memset(value, fill, LEN);
    value[LEN] = 0;
    snprintf(name, sizeof name, "x%02d", i);
    put(t->store, "things", "ns", name, value);
    free(value);
}

static void a_snapshot_goes_by_bytes(void **state)
{
    struct setting *t = *state;
    struct vd_snapshot s;
    struct vd_event *events[64];
    struct vd_error error;
    for (int i = 0; i < OBJECTS; i++)
        put_large(t, i, 'a');
    assert_ok(
        vd_snapshot_open(&s, t->store, VD_SLICE("things"), VD_SLICE(""), 0, VD_SLICE(""), &error),
        &error);
    for (int i = 0; i < OBJECTS; i++) /* the snapshot's versions leave memory */
        put_large(t, i, 'b');
    size_t seen = 0, n = 0;
    for (int calls = 0; !s.done; calls++) {
        assert_ok(vd_snapshot_next(&s, events, 64, &n, &error), &error);
        assert_true(n <= AT_ONCE && calls < OBJECTS);
        for (size_t i = 0; i < n; i++) {
            char want[8];
            snprintf(want, sizeof want, "x%02zu", seen++);
            assert_true(vd_slice_is(vd_entry_name(events[i]->entry), want));
            assert_non_null(memchr(events[i]->body->bytes, 'a', events[i]->body->len));
            vd_event_unref(events[i]);
        }
    }
    assert_int_equal(seen, OBJECTS);
    vd_snapshot_release(&s);
}

static void the_log_goes_by_bytes(void **state)
{
    struct setting *t = *state;
    struct vd_stretch stretch = {0};
    struct vd_error error;
    uint64_t after = vd_store_revision(t->store), first = after + 1;
    for (int i = 0; i < OBJECTS; i++)
        put_large(t, i % 3, (char)('a' + i));
    size_t seen = 0;
    while (after < vd_store_revision(t->store)) {
        assert_ok(vd_store_read(t->store, VD_SLICE("things"), after, 64, &stretch, &error), &error);
        assert_true(stretch.changes.n > 0 && stretch.changes.n <= AT_ONCE);
        for (size_t i = 0; i < stretch.changes.n; i++) {
            assert_int_equal(stretch.changes.p[i].now->revision, first + seen);
            assert_true(!stretch.changes.p[i].before == (seen < 3));
            seen++;
        }
        assert_int_equal(stretch.upto, first + seen - 1);
        after = stretch.upto;
    }
    assert_int_equal(seen, OBJECTS);
    vd_stretch_release(&stretch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(a_snapshot_goes_by_bytes),
        ON_BOTH(the_log_goes_by_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
