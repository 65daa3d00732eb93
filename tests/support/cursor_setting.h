/*
 * A store for tests of cursors, and how they read. Each test runs on the memory
 * engine, on the memory engine with almost no tail, and on SQLite with almost no
 * tail: there nearly everything is read back from the engine.
 */
#ifndef VD_TESTS_CURSOR_SETTING_H
#define VD_TESTS_CURSOR_SETTING_H

#include "check.h"
#include "store/memory_engine.h"
#include "watch_fixture.h"

enum { TINY_TAIL = 3 };

struct setting {
    char *folder;              /* NULL: the memory engine */
    struct vd_memory_log *log; /* a log that other stores may share; NULL: no other store uses it */
    struct test_clock clock;
    struct vd_store *store;
    struct vd_buf got, want;
};

void reopen(struct setting *t, size_t tail_events_max);
/* Closes the store and spoils the bytes of one row in its file. */
void damage_row(struct setting *t, uint64_t revision);

int setup_memory(void **state);
int setup_short(void **state);
int setup_sqlite(void **state);
int setup_shared(void **state); /* revisions have gaps */
int teardown(void **state);

/* clang-format off */
#define ON_ALL(test)                                                                               \
    {#test " (memory)", test, setup_memory, teardown, NULL},                                       \
    {#test " (short)", test, setup_short, teardown, NULL},                                         \
    {#test " (sqlite)", test, setup_sqlite, teardown, NULL}
/* clang-format on */

void open_at(struct setting *t, struct vd_cursor *c, struct filter_texts texts, uint64_t revision);
void open_now(struct setting *t, struct vd_cursor *c, struct filter_texts texts);
void open_snapshot(struct setting *t, struct vd_cursor *c, struct filter_texts texts);

typedef void add_fn(struct vd_buf *out, const struct vd_deliveries *deliveries);

/* Reads until there is no more, at most `max` at a time, and checks what holds of
 * every piece. "| " is the snapshot's end. */
void read_on(struct vd_cursor *c, size_t max, add_fn *add, struct vd_buf *out);

/* What the cursor gives from here on; borrowed until the next call. */
const char *rest_of(struct setting *t, struct vd_cursor *c, size_t max);

/* What a new cursor gives. */
const char *read_at(struct setting *t, struct filter_texts texts, uint64_t revision);
const char *read_snapshot(struct setting *t, struct filter_texts texts, size_t max);

#define THINGS ((struct filter_texts){.resource = "things"})
#define WEB    ((struct filter_texts){.resource = "things", .labels = "app=web"})

#endif
