/*
 * A store for each test, on the memory engine or on SQLite in a folder of its own. Most tests of
 * this folder run on both: the store behaves the same on each.
 *
 * A test file defines setup_memory() and setup_sqlite() with setting_new() and the options of its
 * stores, and lists its tests with ON_BOTH().
 */
#ifndef VD_TESTS_SETTING_H
#define VD_TESTS_SETTING_H

#include <stdlib.h>

#include "check.h"
#include "fixture.h"
#include "store/folder.h"

struct setting {
    char *folder; /* NULL: the memory engine */
    struct test_clock clock;
    struct vd_store *store;
};

/* Closes the store if it is open, and opens it with these options on the test's folder. */
static inline void setting_open(struct setting *t, struct vd_store_options options)
{
    struct vd_error error;
    vd_store_close(t->store);
    if (t->clock.wall_ms)
        options.clock = &t->clock.clock;
    assert_ok(vd_store_open_in(&t->store, &(struct vd_folder){.path = t->folder}, &options, &error),
              &error);
}

/* The test holds the clock, which begins at `wall_ms`; 0: the store has the real one. */
static inline int setting_new(void **state, bool durable, int64_t wall_ms,
                              struct vd_store_options options)
{
    struct setting *t = calloc(1, sizeof *t);
    if (wall_ms)
        test_clock_init(&t->clock, wall_ms);
    if (durable)
        t->folder = temp_folder_new();
    setting_open(t, options);
    *state = t;
    return 0;
}

static inline int setting_free(void **state)
{
    struct setting *t = *state;
    vd_store_close(t->store);
    if (t->folder)
        temp_folder_remove(t->folder);
    free(t);
    return 0;
}

/* The value of an object at a revision (0: the newest), or the name of the code. */
static inline const char *value_at(struct setting *t, const char *name, uint64_t revision,
                                   char room[64])
{
    struct vd_event *event;
    struct vd_error error;
    struct vd_key key = test_key("things", "ns", name);
    int code = vd_store_get(t->store, &key, revision, &event, &error);
    if (code)
        return vd_code_name(code);
    body_value(event->body, room);
    vd_event_unref(event);
    return room;
}

/* A test on the memory engine and on SQLite. */
#define ON_BOTH(test)                                                                              \
    {#test " (memory)", test, setup_memory, setting_free, NULL},                                   \
    {                                                                                              \
#test " (sqlite)", test, setup_sqlite, setting_free, NULL                                  \
    }

#endif
