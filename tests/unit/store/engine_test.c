/*
 * The conformance suite of store engines: what engine.h obliges one to, run on
 * every one of them. See engine_check.h.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

#include "engine_check.h"

static void an_empty_engine_has_a_revision_but_no_rows(void **state)
{
    struct setting *t = *state;
    struct vd_engine_stats stats;
    struct vd_error error;
    assert_true(t->state.revision > 0); /* "0" means "any" to clients */
    assert_int_equal(t->state.floor, 0);
    assert_loads(t, "");
    assert_reads(t, 0, UINT64_MAX, 10, "");
    assert_ok(t->engine->ops->stats(t->engine, &stats, &error), &error);
    assert_int_equal(stats.rows, 0);
    assert_ok(t->engine->ops->tidy(t->engine, &error), &error);
}

static void revisions_grow_from_row_to_row_and_commit_to_commit(void **state)
{
    struct setting *t = *state;
    uint64_t last = t->state.revision;
    for (int i = 0; i < 20; i++) {
        struct vd_row rows[3] = {row_of("a", "1"), row_of("b", "2"), row_of("c", "3")};
        size_t n = (size_t)i % 3 + 1;
        commit(t, rows, n);
        for (size_t j = 0; j < n; j++) {
            assert_true(rows[j].revision > last);
            last = rows[j].revision;
        }
        if (i % 5 == 4 && t->kind->lasts) {
            engine_reopen(t);
            assert_int_equal(t->state.revision, last);
        }
    }
}

static void assert_same_row(const struct vd_row *got, const struct vd_row *want)
{
    assert_int_equal(got->revision, want->revision);
    assert_int_equal(got->previous, want->previous);
    assert_int_equal(got->time_ms, want->time_ms);
    assert_int_equal(got->type, want->type);
    assert_int_equal(got->more, want->more);
    assert_false(got->damaged);
    assert_int_equal(got->body_len, want->body.bytes.n);
    assert_true(vd_slice_eq(got->key.resource, want->key.resource));
    assert_true(vd_slice_eq(got->key.namespace, want->key.namespace));
    assert_true(vd_slice_eq(got->key.name, want->key.name));
    assert_true(vd_uid_eq(got->uid, want->uid));
    assert_true(vd_slice_eq(got->body.bytes, want->body.bytes));
    assert_int_equal(got->body.hole, want->body.hole);
}

/* Every field at its bounds comes back, through each way of reading. */
static void rows_come_back_as_they_were_written(void **state)
{
    struct setting *t = *state;
    char *big = malloc(VD_BODY_LEN_MAX), name[VD_NAME_LEN_MAX], kind[VD_RESOURCE_LEN_MAX];
    for (size_t i = 0; i < VD_BODY_LEN_MAX; i++)
        big[i] = (char)(i * 31 >> 3);
    memset(name, 'n', sizeof name);
    memset(kind, 'k', sizeof kind);
    struct vd_row rows[] = {row_of("plain", "body"), row_of("b", "b"), row_of("c", "c"),
                            row_of("d", ""),         row_of("e", "e"), row_of("f", "f")};
    const size_t n = sizeof rows / sizeof *rows;
    rows[1].body = (struct vd_template){vd_slice(big, VD_BODY_LEN_MAX), VD_BODY_LEN_MAX - 1};
    rows[1].body_len = VD_BODY_LEN_MAX;
    rows[1].more = true;
    rows[2].key = (struct vd_key){vd_slice(kind, sizeof kind), {NULL, 0}, vd_slice(name, 253)};
    rows[2].time_ms = INT64_MAX;
    rows[3].type = VD_EVENT_DELETED;
    rows[3].time_ms = -1;
    rows[3].previous = rows[3].revision;
    rows[4].body = (struct vd_template){vd_slice("a\0\xff\"b", 5), 3};
    rows[4].body_len = 5;
    rows[4].type = VD_EVENT_UPDATED;
    rows[4].previous = INT64_MAX;
    memset(rows[5].uid.bytes, 0xff, VD_UID_LEN);
    commit(t, rows, n);
    for (int round = 0; round < 1 + t->kind->lasts; round++) {
        for (size_t i = 0; i < n; i++) {
            struct vd_row got;
            struct vd_error error;
            struct vd_row_sink sink = {NULL, keep_row, &got};
            assert_ok(t->engine->ops->get(t->engine, rows[i].revision, &sink, &error), &error);
            assert_same_row(&got, &rows[i]);
            kept_release(&got);
            assert_ok(t->engine->ops->read(t->engine, rows[i].revision - 1, rows[i].revision, 9,
                                           &sink, &error),
                      &error);
            assert_same_row(&got, &rows[i]);
            kept_release(&got);
        }
        if (t->kind->lasts)
            engine_reopen(t);
    }
    free(big);
}

static void a_row_can_replace_one_of_its_own_commit(void **state)
{
    struct setting *t = *state;
    uint64_t first = commit_one(t, "a", "0");
    struct vd_row rows[4] = {row_of("a", "1"), row_of("b", "1"), row_of("a", "2"),
                             row_of("a", "3")};
    rows[0].previous = first;
    rows[2].previous_row = 1;
    rows[3].previous_row = 3;
    commit(t, rows, 4);
    assert_int_equal(rows[0].previous, first);
    assert_int_equal(rows[1].previous, 0);
    assert_int_equal(rows[2].previous, rows[0].revision);
    assert_int_equal(rows[3].previous, rows[2].revision);
    struct vd_row got;
    struct vd_error error;
    struct vd_row_sink sink = {NULL, keep_row, &got};
    assert_ok(t->engine->ops->get(t->engine, rows[3].revision, &sink, &error), &error);
    assert_int_equal(got.previous, rows[2].revision);
    kept_release(&got);
}

static void reads_give_a_range_oldest_first(void **state)
{
    struct setting *t = *state;
    uint64_t r[5];
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    struct vd_buf all = {0}, middle = {0};
    for (size_t i = 0; i < 5; i++) {
        r[i] = commit_one(t, names[i], "x");
        vd_buf_addf(&all, "%llu:%s=x ", (unsigned long long)r[i], names[i]);
        if (i == 1 || i == 2)
            vd_buf_addf(&middle, "%llu:%s=x ", (unsigned long long)r[i], names[i]);
    }
    const char *first = vd_buf_text(&all);
    assert_reads(t, 0, UINT64_MAX, SIZE_MAX, first);
    assert_reads(t, 0, r[4], 5, first);
    assert_reads(t, r[0] - 1, r[4], 100, first);
    assert_reads(t, r[0], r[2], 100, vd_buf_text(&middle));     /* after is out, upto is in */
    assert_reads(t, r[0], UINT64_MAX, 2, vd_buf_text(&middle)); /* the limit keeps the oldest */
    assert_reads(t, r[2], r[2], 100, "");
    assert_reads(t, r[3], r[1], 100, "");
    assert_reads(t, r[4], UINT64_MAX, 100, "");
    assert_reads(t, UINT64_MAX, UINT64_MAX, 100, "");
    assert_reads(t, 0, r[0] - 1, 100, "");
    assert_reads(t, 0, UINT64_MAX, 0, "");
    vd_buf_release(&all);
    vd_buf_release(&middle);
}

static void loading_gives_all_rows_newest_first(void **state)
{
    struct setting *t = *state;
    struct vd_row rows[2] = {row_of("a", "1"), row_of("b", "2")};
    commit(t, rows, 2);
    uint64_t last = commit_one(t, "a", "3");
    char want[128];
    snprintf(want, sizeof want, "%llu:a=3 %llu:b=2 %llu:a=1 ", (unsigned long long)last,
             (unsigned long long)rows[1].revision, (unsigned long long)rows[0].revision);
    assert_loads(t, want);
    if (t->kind->lasts) {
        engine_reopen(t);
        assert_loads(t, want);
    }
    struct sink s = {.stop_at = 2};
    load_into(t, &s);
    assert_int_equal(s.rows, 2);
    sink_reset(&s);
}

static void bodies_are_given_only_where_wanted(void **state)
{
    struct setting *t = *state;
    for (int i = 0; i < 6; i++)
        commit_one(t, i % 2 ? "odd" : "even", "body");
    struct sink s = {.only = "odd"};
    read_into(t, &s, 0, UINT64_MAX, 100);
    assert_int_equal(s.heads, 6);
    assert_int_equal(s.rows, 3);
    assert_false(s.has_body_in_wants);
    sink_reset(&s);
    s.only = "none";
    load_into(t, &s);
    assert_int_equal(s.heads, 6);
    assert_int_equal(s.rows, 0);
    sink_reset(&s);
    s.only = "odd"; /* the limit counts rows, wanted or not */
    read_into(t, &s, 0, UINT64_MAX, 3);
    assert_int_equal(s.heads, 3);
    assert_int_equal(s.rows, 1);
    sink_reset(&s);
}

static void taking_stops_when_it_is_told(void **state)
{
    struct setting *t = *state;
    for (int i = 0; i < 6; i++)
        commit_one(t, "a", "body");
    struct sink s = {.stop_at = 2};
    read_into(t, &s, 0, UINT64_MAX, 100);
    assert_int_equal(s.rows, 2);
    assert_int_equal(s.heads, 2); /* no row after it is looked at */
    sink_reset(&s);
    s.stop_at = 1;
    load_into(t, &s);
    assert_int_equal(s.rows, 1);
    sink_reset(&s);
    /* A read that was stopped does not disturb the next one. */
    read_into(t, &s, 0, UINT64_MAX, 100);
    assert_int_equal(s.rows, 6);
    sink_reset(&s);
}

static void the_newest_row_at_or_below_a_revision_is_got(void **state)
{
    struct setting *t = *state;
    assert_int_equal(got_revision(t, UINT64_MAX), 0);
    uint64_t a = commit_one(t, "a", "one");
    uint64_t b = commit_one(t, "b", "two");
    struct vd_error error;
    struct sink s = {.only = "other"}; /* found, but not wanted */
    struct vd_row_sink sink = {sink_wants, sink_take, &s};
    assert_int_equal(got_revision(t, 0), 0);
    assert_int_equal(got_revision(t, a - 1), 0);
    assert_int_equal(got_revision(t, a), a);
    assert_int_equal(got_revision(t, b - 1), a);
    assert_int_equal(got_revision(t, b), b);
    assert_int_equal(got_revision(t, b + 1), b);
    assert_int_equal(got_revision(t, INT64_MAX), b);
    assert_int_equal(got_revision(t, UINT64_MAX), b);
    assert_ok(t->engine->ops->get(t->engine, a, &sink, &error), &error);
    assert_int_equal(s.rows, 0);
    sink_reset(&s);
}

static void compacting_removes_exactly_the_named_rows(void **state)
{
    struct setting *t = *state;
    uint64_t r[8];
    for (size_t i = 0; i < 8; i++) {
        char name[2] = {(char)('a' + i), 0};
        r[i] = commit_one(t, name, "x");
    }
    struct vd_error error;
    struct vd_engine_stats stats;
    const uint64_t dead[] = {r[4], r[0], r[1], r[6]};
    compact(t, dead, 4, r[6]);
    char want[128];
    snprintf(want, sizeof want, "%llu:h=x %llu:f=x %llu:d=x %llu:c=x ", (unsigned long long)r[7],
             (unsigned long long)r[5], (unsigned long long)r[3], (unsigned long long)r[2]);
    for (int round = 0; round < 1 + t->kind->lasts; round++) {
        assert_loads(t, want);
        assert_int_equal(got_revision(t, r[4]), r[3]);
        assert_int_equal(got_revision(t, r[5]), r[5]);
        assert_ok(t->engine->ops->stats(t->engine, &stats, &error), &error);
        assert_int_equal(stats.rows, 4);
        if (t->kind->lasts) {
            engine_reopen(t);
            assert_int_equal(t->state.floor, r[6]);
            assert_int_equal(t->state.revision, r[7]);
        }
    }
    compact(t, dead, 2, r[6]); /* gone already */
    assert_true(commit_one(t, "i", "x") > r[7]);
    assert_true(commit_one(t, "j", "x") > r[7]);
    compact(t, &r[7], 1, r[7]);
    /* The limit of a read counts rows that are there. */
    struct sink s = {0};
    read_into(t, &s, r[7], UINT64_MAX, 1);
    assert_int_equal(s.rows, 1);
    sink_reset(&s);
    if (t->kind->lasts) {
        engine_reopen(t);
        assert_int_equal(t->state.floor, r[7]);
    }
}

/* However much is removed, revisions are not used twice. */
static void revisions_survive_compaction_and_reopening(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    uint64_t last = 0;
    for (int i = 0; i < 50; i++) {
        uint64_t a = commit_one(t, "a", "x"), b = commit_one(t, "b", "x");
        assert_true(a > last && b > a);
        last = b;
        compact(t, &a, 1, a);
        if (t->kind->lasts && i % 10 == 0)
            engine_reopen(t);
    }
    struct vd_engine_stats stats;
    assert_ok(t->engine->ops->stats(t->engine, &stats, &error), &error);
    assert_int_equal(stats.rows, 50);
    assert_true(stats.file_bytes >= 50);
}

/* ---- readers beside the writer ---- */

enum { COMMIT_ROWS = 7, READERS = 3, COMMITS = 300 };

struct watcher {
    struct setting *t;
    _Atomic uint64_t *visible; /* the last committed revision */
    _Atomic bool *stop;
    uint64_t first;
    uint64_t last_seen;
    size_t rows, reads;
    bool gap, half;
};

static bool watch_row(void *arg, const struct vd_row *row)
{
    struct watcher *w = arg;
    uint64_t next = vd_memory_log_next(w->t->kind->stride, w->last_seen);
    w->gap |= w->last_seen && row->revision != next;
    w->last_seen = row->revision;
    w->rows++;
    return true;
}

/* Reads all that there is, over and over: never half a commit, never less than
 * what was committed before the read began. */
static void *watch(void *arg)
{
    struct watcher *w = arg;
    while (!atomic_load(w->stop) && !w->gap && !w->half) {
        struct vd_error error;
        struct vd_row_sink sink = {NULL, watch_row, w};
        uint64_t visible = atomic_load(w->visible);
        w->rows = 0;
        w->last_seen = 0;
        if (w->t->engine->ops->read(w->t->engine, w->first - 1, UINT64_MAX, SIZE_MAX, &sink,
                                    &error))
            w->gap = true;
        w->half = w->rows % COMMIT_ROWS != 0 || w->last_seen < visible;
        struct vd_row got;
        if (visible && w->t->engine->ops->get(w->t->engine, visible,
                                              &(struct vd_row_sink){NULL, keep_row, &got}, &error))
            w->gap = true;
        else if (visible)
            kept_release(&got);
        w->reads++;
    }
    return NULL;
}

static void readers_see_whole_commits_only(void **state)
{
    struct setting *t = *state;
    _Atomic uint64_t visible = 0;
    _Atomic bool stop = false;
    pthread_t threads[READERS];
    struct watcher watchers[READERS];
    for (size_t i = 0; i < READERS; i++) {
        watchers[i] = (struct watcher){t, &visible, &stop, .first = t->state.revision + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, watch, &watchers[i]), 0);
    }
    for (int i = 0; i < COMMITS; i++) {
        struct vd_row rows[COMMIT_ROWS];
        for (size_t j = 0; j < COMMIT_ROWS; j++)
            rows[j] = row_of("a", "body");
        commit(t, rows, COMMIT_ROWS);
        atomic_store(&visible, rows[COMMIT_ROWS - 1].revision);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(watchers[i].gap);
        assert_false(watchers[i].half);
    }
}

/* A large commit spills to the disk before it ends; readers still see all of it or nothing. */
static void large_commits_are_whole_too(void **state)
{
    struct setting *t = *state;
    enum { ROWS = 2000, BYTES = 4000 };
    struct vd_row *rows = calloc(ROWS, sizeof *rows);
    char *body = malloc(BYTES + 1);
    memset(body, 'x', BYTES);
    body[BYTES] = 0;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < ROWS; i++)
            rows[i] = row_of("a", body);
        commit(t, rows, ROWS);
        struct sink s = {.only = "nothing"};
        read_into(t, &s, rows[0].revision - 1, UINT64_MAX, SIZE_MAX);
        assert_int_equal(s.heads, ROWS);
        sink_reset(&s);
        if (t->kind->lasts)
            engine_reopen(t);
    }
    struct vd_engine_stats stats;
    struct vd_error error;
    assert_ok(t->engine->ops->stats(t->engine, &stats, &error), &error);
    assert_int_equal(stats.rows, 2 * ROWS);
    assert_true(stats.file_bytes >= (uint64_t)2 * ROWS * BYTES);
    free(rows);
    free(body);
}

struct spinner {
    struct vd_engine *engine;
    _Atomic uint64_t *newest;
    _Atomic bool *stop;
};

static bool take_any(void *arg, const struct vd_row *row)
{
    (void)arg;
    (void)row;
    return true;
}

static void *spin_reading(void *arg)
{
    struct spinner *s = arg;
    struct vd_row_sink sink = {NULL, take_any, NULL};
    while (!atomic_load(s->stop)) {
        uint64_t newest = atomic_load(s->newest);
        if (s->engine->ops->read(s->engine, newest > 300 ? newest - 300 : 0, newest, 300, &sink,
                                 NULL))
            break;
    }
    return NULL;
}

/* Busy readers keep SQLite from restarting the WAL, but not for long. */
static void the_wal_stays_small_beside_readers(void **state)
{
    struct setting *t = *state;
    if (!vd_slice_is(vd_slice_of(t->kind->name), "sqlite"))
        return;
    enum { PAGES = 50, ROUNDS = 2000 }; /* without tidy() the WAL would have ROUNDS pages or more */
    struct vd_error error;
    struct vd_buf path = {0};
    _Atomic uint64_t newest = 0;
    _Atomic bool stop = false;
    off_t largest = 0;
    t->engine->ops->close(t->engine);
    struct vd_sqlite_options options = {.folder = t->folder, .checkpoint_pages = PAGES};
    assert_ok(vd_sqlite_engine_open(&t->engine, &options, &t->state, &error), &error);
    vd_buf_addf(&path, "%s/log.db-wal", t->folder);
    struct spinner spinner = {t->engine, &newest, &stop};
    pthread_t threads[READERS];
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, spin_reading, &spinner), 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct stat s;
        atomic_store(&newest, commit_one(t, "a", "body"));
        assert_ok(t->engine->ops->tidy(t->engine, &error), &error);
        if (stat(vd_buf_text(&path), &s) == 0 && s.st_size > largest)
            largest = s.st_size;
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    vd_buf_release(&path);
    assert_in_range(largest, 1, (uint64_t)20 * PAGES * 4120);
}

static void copy_file(const char *from_folder, const char *to_folder, const char *name)
{
    struct vd_buf from = {0}, to = {0};
    char piece[4096];
    size_t n;
    vd_buf_addf(&from, "%s/%s", from_folder, name);
    vd_buf_addf(&to, "%s/%s", to_folder, name);
    FILE *in = fopen(vd_buf_text(&from), "rb"), *out = fopen(vd_buf_text(&to), "wb");
    assert_non_null(in);
    assert_non_null(out);
    while ((n = fread(piece, 1, sizeof piece, in)) > 0)
        assert_int_equal(fwrite(piece, 1, n, out), n);
    fclose(in);
    fclose(out);
    vd_buf_release(&from);
    vd_buf_release(&to);
}

/* The WAL's file is made longer than its content, so that a sync need not write the file's length.
 * What comes after the last commit is no part of the log: a copy of the files as a power loss would
 * leave them has all rows. */
static void the_wal_is_longer_than_what_is_in_it(void **state)
{
    struct setting *t = *state;
    if (!vd_slice_is(vd_slice_of(t->kind->name), "sqlite"))
        return;
    enum { ROWS = 300 };
    struct vd_error error;
    struct vd_buf path = {0};
    struct stat quiet, busy, after;
    vd_buf_addf(&path, "%s/log.db-wal", t->folder);
    commit_one(t, "a", "body");
    assert_ok(t->engine->ops->tidy(t->engine, &error), &error);
    assert_int_equal(stat(vd_buf_text(&path), &quiet), 0);
    assert_in_range(quiet.st_size, 1, 100000); /* with few writes the file is not extended */
    for (int i = 1; i < ROWS / 2; i++)
        commit_one(t, "a", "body");
    assert_ok(t->engine->ops->tidy(t->engine, &error), &error);
    assert_int_equal(stat(vd_buf_text(&path), &busy), 0);
    assert_in_range(busy.st_size, (uint64_t)ROWS / 2 * 4120 + 500000, 2 << 20);
    for (int i = ROWS / 2; i < ROWS; i++)
        commit_one(t, "a", "body");
    assert_int_equal(stat(vd_buf_text(&path), &after), 0);
    assert_int_equal(after.st_size, busy.st_size);

    char *copy = temp_folder_new();
    copy_file(t->folder, copy, "log.db");
    copy_file(t->folder, copy, "log.db-wal");
    struct vd_sqlite_options options = {.folder = copy};
    struct vd_engine *engine = NULL;
    struct vd_engine_state found;
    struct vd_engine_stats stats;
    assert_ok(vd_sqlite_engine_open(&engine, &options, &found, &error), &error);
    assert_ok(engine->ops->stats(engine, &stats, &error), &error);
    assert_int_equal(stats.rows, ROWS);
    assert_int_equal(found.revision, t->state.revision + ROWS);
    engine->ops->close(engine);
    temp_folder_remove(copy);
    vd_buf_release(&path);
}

static void deleted_rows_leave_room_for_new_ones(void **state)
{
    struct setting *t = *state;
    if (!vd_slice_is(vd_slice_of(t->kind->name), "sqlite")) /* there is no file */
        return;
    struct vd_engine_stats before, after;
    struct vd_error error;
    uint64_t revisions[200];
    char body[2001];
    memset(body, 'x', 2000);
    body[2000] = 0;
    for (size_t i = 0; i < 200; i++)
        revisions[i] = commit_one(t, "a", body);
    engine_reopen(t); /* closing checkpoints the WAL into the main file */
    assert_ok(t->engine->ops->stats(t->engine, &before, &error), &error);
    compact(t, revisions, 199, revisions[198]);
    assert_ok(t->engine->ops->stats(t->engine, &after, &error), &error);
    assert_true(after.free_bytes > before.free_bytes + 100000);
    for (size_t i = 0; i < 100; i++)
        commit_one(t, "a", body);
    engine_reopen(t);
    assert_ok(t->engine->ops->stats(t->engine, &after, &error), &error);
    assert_true(after.file_bytes <= before.file_bytes);
}

static int run_suite(size_t i)
{
    const struct CMUnitTest tests[] = {
        FOR_ENGINE(an_empty_engine_has_a_revision_but_no_rows, i),
        FOR_ENGINE(revisions_grow_from_row_to_row_and_commit_to_commit, i),
        FOR_ENGINE(rows_come_back_as_they_were_written, i),
        FOR_ENGINE(a_row_can_replace_one_of_its_own_commit, i),
        FOR_ENGINE(reads_give_a_range_oldest_first, i),
        FOR_ENGINE(loading_gives_all_rows_newest_first, i),
        FOR_ENGINE(bodies_are_given_only_where_wanted, i),
        FOR_ENGINE(taking_stops_when_it_is_told, i),
        FOR_ENGINE(the_newest_row_at_or_below_a_revision_is_got, i),
        FOR_ENGINE(compacting_removes_exactly_the_named_rows, i),
        FOR_ENGINE(revisions_survive_compaction_and_reopening, i),
        FOR_ENGINE(readers_see_whole_commits_only, i),
        FOR_ENGINE(large_commits_are_whole_too, i),
        FOR_ENGINE(the_wal_stays_small_beside_readers, i),
        FOR_ENGINE(the_wal_is_longer_than_what_is_in_it, i),
        FOR_ENGINE(deleted_rows_leave_room_for_new_ones, i),
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
