/* A registry on a store in memory, for tests that are its loop: one thread, and a write has told
 * its subscribers when it returns. */
#ifndef REGISTRY_SETTING_H
#define REGISTRY_SETTING_H

#include "cursor_setting.h"
#include "watch/registry.h"
#include "watcher_record.h"

enum { BUDGET = 100000 };

static struct vd_registry *registry;
static size_t wakes;

static void wake(void *arg)
{
    assert_ptr_equal(arg, &wakes);
    wakes++;
}

static int setup(void **state)
{
    setup_memory(state);
    struct setting *t = *state;
    wakes = record_shared_made = record_shared_freed = 0;
    registry = vd_registry_new(t->store, wake, &wakes);
    return 0;
}

static int teardown_all(void **state)
{
    records_free();
    vd_registry_free(registry);
    assert_int_equal(record_shared_made, record_shared_freed);
    return teardown(state);
}

static struct record *watch(struct setting *t, struct filter_texts texts, uint64_t from)
{
    return record_new(registry, t->store, texts, from);
}

/* Turns until there is nothing to do. */
static void turn(void)
{
    for (int i = 0; vd_registry_turn(registry, BUDGET); i++)
        assert_true(i < 100000);
}

static struct vd_registry_stats stats(void)
{
    struct vd_registry_stats s;
    vd_registry_stats(registry, &s);
    assert_int_equal(s.watchers, s.synced + s.unsynced + s.parked + s.ahead);
    return s;
}

#define assert_text(record, want) assert_string_equal(record_take(record), (want))

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown_all)

#endif
