/*
 * A registry on a store in memory. The test's thread takes the place of its loop, and a write has
 * told its subscribers when it returns.
 *
 * Each test runs twice: on a log of its own, and on one that can be shared and whose revisions have
 * gaps. The tests number the revisions as if there were no gaps: nth() gives the revision for a
 * test's number, and assert_text() translates revisions back into numbers.
 */
#ifndef REGISTRY_SETTING_H
#define REGISTRY_SETTING_H

#include "cursor_setting.h"
#include "shared_log.h"
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

static unsigned stride; /* of the log's revisions: see vd_memory_log_new() */

static uint64_t nth(uint64_t number)
{
    uint64_t revision = 1;
    for (uint64_t i = 1; i < number; i++)
        revision = vd_memory_log_next(stride, revision);
    return revision;
}

/* A record's text, with revisions replaced by the test's numbers. */
static const char *numbered(const char *text)
{
    static struct vd_buf out;
    uint64_t number = 1, revision = 1;
    vd_buf_reset(&out);
    for (const char *at = text; *at;) {
        char mark = *at++;
        vd_buf_addf(&out, "%c", mark);
        bool begins = at - 1 == text || at[-2] == ' ';
        if (!begins || !strchr("+~-", mark) || *at < '1' || *at > '9')
            continue;
        uint64_t found = 0;
        for (; *at >= '0' && *at <= '9'; at++)
            found = found * 10 + (uint64_t)(*at - '0');
        if (found < revision)
            number = revision = 1;
        for (; revision < found; number++)
            revision = vd_memory_log_next(stride, revision);
        vd_buf_addf(&out, "%llu", (unsigned long long)(revision == found ? number : 0));
    }
    return vd_buf_text(&out);
}

static int setup_registry(void **state, bool shared)
{
    if (shared)
        setup_shared(state);
    else
        setup_memory(state);
    struct setting *t = *state;
    stride = shared ? SHARED_STRIDE : 0;
    wakes = record_shared_made = record_shared_freed = 0;
    registry = vd_registry_new(t->store, wake, &wakes);
    return 0;
}

static int setup(void **state)
{
    return setup_registry(state, false);
}

static int setup_gaps(void **state)
{
    return setup_registry(state, true);
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
    bool is_number = from != FROM_NOW && from != FROM_SNAPSHOT;
    return record_new(registry, t->store, texts, is_number ? nth(from) : from);
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

#define assert_text(record, want) assert_string_equal(numbered(record_take(record)), (want))

/* clang-format off */
#define TEST(name)                                                                                 \
    {#name, name, setup, teardown_all, NULL},                                                      \
    {#name " (gaps)", name, setup_gaps, teardown_all, NULL}
/* clang-format on */

#endif
