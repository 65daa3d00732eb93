/* See cursor_setting.h. */
#include "cursor_setting.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "shared_log.h"

void reopen(struct setting *t, size_t tail_events_max)
{
    struct vd_error error;
    struct vd_store_options options = {
        .clock = &t->clock.clock,
        .tail_events_max = tail_events_max,
        .manual_compaction = true,
    };
    vd_store_close(t->store);
    if (t->log)
        t->store = shared_store_open(t->log, &options);
    else
        assert_ok(
            vd_store_open_in(&t->store, &(struct vd_folder){.path = t->folder}, &options, &error),
            &error);
}

static int setup_with(void **state, bool sqlite, struct vd_memory_log *log, size_t tail_events_max)
{
    struct setting *t = calloc(1, sizeof *t);
    t->log = log;
    test_clock_init(&t->clock, 1000000);
    t->folder = sqlite ? temp_folder_new() : NULL;
    reopen(t, tail_events_max);
    *state = t;
    return 0;
}

int setup_memory(void **state)
{
    return setup_with(state, false, NULL, 0);
}

int setup_short(void **state)
{
    return setup_with(state, false, NULL, TINY_TAIL);
}

int setup_sqlite(void **state)
{
    return setup_with(state, true, NULL, TINY_TAIL);
}

int setup_shared(void **state)
{
    return setup_with(state, false, vd_memory_log_new(SHARED_STRIDE), 0);
}

int teardown(void **state)
{
    struct setting *t = *state;
    vd_store_close(t->store);
    vd_buf_release(&t->got);
    vd_buf_release(&t->want);
    if (t->folder)
        temp_folder_remove(t->folder);
    vd_memory_log_unref(t->log);
    free(t);
    return 0;
}

/* ---- reading ---- */

void open_at(struct setting *t, struct vd_cursor *c, struct filter_texts texts, uint64_t revision)
{
    struct vd_error error;
    struct vd_filter *filter = test_filter(texts);
    assert_ok(vd_cursor_open_at(c, t->store, filter, revision, &error), &error);
    vd_filter_unref(filter);
}

void open_now(struct setting *t, struct vd_cursor *c, struct filter_texts texts)
{
    struct vd_filter *filter = test_filter(texts);
    vd_cursor_open_now(c, t->store, filter);
    vd_filter_unref(filter);
}

void open_snapshot(struct setting *t, struct vd_cursor *c, struct filter_texts texts)
{
    struct vd_error error;
    struct vd_filter *filter = test_filter(texts);
    assert_ok(vd_cursor_open_snapshot(c, t->store, filter, &error), &error);
    vd_filter_unref(filter);
}

/* Checks what must hold of every piece of the log: its events are in order, come after those of the
 * piece before, and are not above `upto`. */
static void check_piece(const struct vd_deliveries *d, uint64_t before, size_t max)
{
    uint64_t last = before;
    assert_true(d->list.n <= max);
    for (size_t i = 0; i < d->list.n; i++) {
        assert_true(d->list.p[i].event->revision > last);
        last = d->list.p[i].event->revision;
    }
    assert_true(d->upto >= last);
}

void read_on(struct vd_cursor *c, size_t max, add_fn *add, struct vd_buf *out)
{
    struct vd_deliveries d = {0};
    struct vd_error error;
    while (vd_cursor_is_behind(c)) {
        bool in_snapshot = c->snapshot;
        uint64_t before = c->revision;
        assert_ok(vd_cursor_next(c, &d, max, &error), &error);
        if (!in_snapshot)
            check_piece(&d, before, max);
        assert_true(in_snapshot || d.upto > before);
        assert_int_equal(d.upto, c->revision);
        assert_true(in_snapshot || !d.snapshot_end);
        add(out, &d);
        if (d.snapshot_end)
            vd_buf_add_text(out, "| ");
    }
    vd_deliveries_release(&d);
}

const char *rest_of(struct setting *t, struct vd_cursor *c, size_t max)
{
    vd_buf_reset(&t->got);
    read_on(c, max, deliveries_add_text, &t->got);
    return vd_buf_text(&t->got);
}

const char *read_at(struct setting *t, struct filter_texts texts, uint64_t revision)
{
    struct vd_cursor c;
    open_at(t, &c, texts, revision);
    rest_of(t, &c, 100);
    vd_cursor_close(&c);
    return vd_buf_text(&t->got);
}

const char *read_snapshot(struct setting *t, struct filter_texts texts, size_t max)
{
    struct vd_cursor c;
    open_snapshot(t, &c, texts);
    rest_of(t, &c, max);
    vd_cursor_close(&c);
    return vd_buf_text(&t->got);
}

void damage_row(struct setting *t, uint64_t revision)
{
    struct vd_buf path = {0}, sql = {0};
    sqlite3 *db;
    vd_store_close(t->store);
    t->store = NULL;
    vd_buf_addf(&path, "%s/log.db", t->folder);
    vd_buf_addf(&sql, "UPDATE log SET body = zeroblob(length(body)) WHERE revision = %llu",
                (unsigned long long)revision);
    assert_int_equal(sqlite3_open(vd_buf_text(&path), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, vd_buf_text(&sql), NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_changes(db), 1);
    sqlite3_close(db);
    vd_buf_release(&path);
    vd_buf_release(&sql);
}
