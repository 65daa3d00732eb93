/*
 * The conformance suite of store engines: what engine.h obliges one to, run on
 * every one of them. A new engine adds itself to `engines`.
 */
#include "store/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/vec.h"
#include "check.h"
#include "fixture.h"
#include "store/memory_engine.h"
#include "store/sqlite_engine.h"

struct engine_kind {
    const char *suite;
    const char *name;
    bool lasts;      /* what was written is there after closing and opening */
    unsigned stride; /* gaps between revisions; 0: none */
    int (*open)(struct vd_engine **out, const char *folder, struct vd_engine_state *state,
                struct vd_error *error);
};

static int open_memory(struct vd_engine **out, const char *folder, struct vd_engine_state *state,
                       struct vd_error *error)
{
    (void)folder;
    return vd_memory_engine_open(out, NULL, state, error);
}

enum { STRIDE = 5 };

/* The log of the engine that is opened first in a test, which the others of the test share. */
static struct vd_memory_log *shared_log;

static int open_shared(struct vd_engine **out, const char *folder, struct vd_engine_state *state,
                       struct vd_error *error)
{
    (void)folder;
    if (!shared_log)
        shared_log = vd_memory_log_new(STRIDE);
    return vd_memory_engine_open(out, &(struct vd_memory_options){.log = shared_log}, state, error);
}

static int open_sqlite(struct vd_engine **out, const char *folder, struct vd_engine_state *state,
                       struct vd_error *error)
{
    struct vd_sqlite_options options = {.folder = folder};
    return vd_sqlite_engine_open(out, &options, state, error);
}

static const struct engine_kind engines[] = {
    {"memory", "memory", false, 0, open_memory},
    {"memory, shared, with gaps", "memory", true, STRIDE, open_shared},
    {"sqlite", "sqlite", true, 0, open_sqlite},
};

struct setting {
    const struct engine_kind *kind;
    char *folder;
    struct vd_engine *engine;
    struct vd_engine_state state; /* as it was opened */
    uint64_t newest, floor;       /* as the test has left them */
};

static void engine_open(struct setting *t)
{
    struct vd_error error;
    assert_ok(t->kind->open(&t->engine, t->folder, &t->state, &error), &error);
    assert_string_equal(t->engine->ops->name, t->kind->name);
    t->newest = t->state.revision;
    t->floor = t->state.floor;
}

static void engine_reopen(struct setting *t)
{
    t->engine->ops->close(t->engine);
    t->engine = NULL;
    engine_open(t);
}

static int setup(void **state)
{
    struct setting *t = calloc(1, sizeof *t);
    t->kind = *state;
    t->folder = temp_folder_new();
    engine_open(t);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct setting *t = *state;
    if (t->engine)
        t->engine->ops->close(t->engine);
    temp_folder_remove(t->folder);
    vd_memory_log_unref(shared_log);
    shared_log = NULL;
    free(t);
    return 0;
}

/* ---- rows as text ---- */

static struct vd_row row_of(const char *name, const char *body)
{
    return (struct vd_row){
        .time_ms = 5,
        .type = VD_EVENT_CREATED,
        .key = test_key("things", "ns", name),
        .uid = {{1, 2, 3}},
        .body = {vd_slice_of(body), 0},
        .body_len = (uint32_t)strlen(body),
    };
}

/* Commits and gives the first row's revision. */
static uint64_t commit(struct setting *t, struct vd_row *rows, size_t n)
{
    struct vd_error error;
    struct vd_engine_commit how = {.head = t->newest, .patient = true};
    assert_ok(t->engine->ops->commit(t->engine, how, rows, n, &error), &error);
    t->newest = rows[n - 1].revision;
    return rows[0].revision;
}

static void compact(struct setting *t, const uint64_t *dead, size_t n, uint64_t floor)
{
    struct vd_error error;
    struct vd_compaction what = {dead, n, t->floor, floor, .passed = n};
    assert_ok(t->engine->ops->compact(t->engine, &what, &error), &error);
    t->floor = floor;
}

static uint64_t commit_one(struct setting *t, const char *name, const char *body)
{
    struct vd_row row = row_of(name, body);
    return commit(t, &row, 1);
}

/* Writes what it is given; wants and takes as it is told. */
struct sink {
    struct vd_buf text;
    size_t heads, rows;
    size_t stop_at;         /* take returns false at this row; 0: never */
    const char *only;       /* the name that is wanted; NULL: all */
    bool has_body_in_wants; /* a head came with bytes */
};

static bool sink_wants(void *arg, const struct vd_row *head)
{
    struct sink *s = arg;
    s->heads++;
    s->has_body_in_wants |= head->body.bytes.n != 0;
    return !s->only || vd_slice_is(head->key.name, s->only);
}

static bool sink_take(void *arg, const struct vd_row *row)
{
    struct sink *s = arg;
    s->rows++;
    vd_buf_addf(&s->text, "%llu:%.*s=%.*s ", (unsigned long long)row->revision,
                VD_FMT(row->key.name), VD_FMT(row->body.bytes));
    return s->rows != s->stop_at;
}

static void sink_reset(struct sink *s)
{
    vd_buf_release(&s->text);
    *s = (struct sink){0};
}

static void read_into(struct setting *t, struct sink *s, uint64_t after, uint64_t upto,
                      size_t rows_max)
{
    struct vd_error error;
    struct vd_row_sink sink = {sink_wants, sink_take, s};
    assert_ok(t->engine->ops->read(t->engine, after, upto, rows_max, &sink, &error), &error);
}

static void load_into(struct setting *t, struct sink *s)
{
    struct vd_error error;
    struct vd_row_sink sink = {sink_wants, sink_take, s};
    struct vd_engine_state found;
    assert_ok(t->engine->ops->load(t->engine, &sink, &found, &error), &error);
    assert_int_equal(found.revision, t->newest);
    assert_int_equal(found.floor, t->floor);
}

/* The text of what a read gives is this. */
static void assert_reads(struct setting *t, uint64_t after, uint64_t upto, size_t rows_max,
                         const char *want)
{
    struct sink s = {0};
    read_into(t, &s, after, upto, rows_max);
    assert_string_equal(vd_buf_text(&s.text), want);
    sink_reset(&s);
}

static void assert_loads(struct setting *t, const char *want)
{
    struct sink s = {0};
    load_into(t, &s);
    assert_string_equal(vd_buf_text(&s.text), want);
    sink_reset(&s);
}

/* ---- the tests ---- */

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

static bool keep_row(void *arg, const struct vd_row *row)
{
    struct vd_row *out = arg;
    *out = *row;
    struct vd_slice *slices[] = {&out->key.kind, &out->key.space, &out->key.name, &out->body.bytes};
    for (size_t i = 0; i < 4; i++) /* the slices are borrowed for this call only */
        *slices[i] = slices[i]->n ? vd_slice(vd_memdup(slices[i]->p, slices[i]->n), slices[i]->n)
                                  : VD_SLICE("");
    return true;
}

static void kept_release(struct vd_row *row)
{
    struct vd_slice slices[] = {row->key.kind, row->key.space, row->key.name, row->body.bytes};
    for (size_t i = 0; i < 4; i++)
        if (slices[i].n)
            free((void *)(uintptr_t)slices[i].p);
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
    assert_true(vd_slice_eq(got->key.kind, want->key.kind));
    assert_true(vd_slice_eq(got->key.space, want->key.space));
    assert_true(vd_slice_eq(got->key.name, want->key.name));
    assert_true(vd_uid_eq(got->uid, want->uid));
    assert_true(vd_slice_eq(got->body.bytes, want->body.bytes));
    assert_int_equal(got->body.hole, want->body.hole);
}

/* Every field at its bounds comes back, through each way of reading. */
static void rows_come_back_as_they_were_written(void **state)
{
    struct setting *t = *state;
    char *big = malloc(VD_BODY_LEN_MAX), name[VD_NAME_LEN_MAX], kind[VD_KIND_LEN_MAX];
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
    assert_int_equal(s.heads, 2); /* nothing is looked at behind it */
    sink_reset(&s);
    s.stop_at = 1;
    load_into(t, &s);
    assert_int_equal(s.rows, 1);
    sink_reset(&s);
    read_into(t, &s, 0, UINT64_MAX, 100); /* a stopped read leaves nothing behind */
    assert_int_equal(s.rows, 6);
    sink_reset(&s);
}

static uint64_t got_revision(struct setting *t, uint64_t revision)
{
    struct vd_row got;
    struct vd_error error;
    struct vd_row_sink sink = {NULL, keep_row, &got};
    int code = t->engine->ops->get(t->engine, revision, &sink, &error);
    if (code) {
        assert_code(code, VD_ERR_NOT_FOUND);
        return 0;
    }
    kept_release(&got);
    return got.revision;
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

/* Readers that are never idle keep the WAL from being folded; not for long. */
static void the_wal_stays_small_beside_readers(void **state)
{
    struct setting *t = *state;
    if (!vd_slice_is(vd_slice_of(t->kind->name), "sqlite"))
        return;
    enum { PAGES = 50, ROUNDS = 2000 }; /* left alone, it would grow to as many pages or more */
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

/* So that a sync need not wait for its length, too. What is behind the last commit is no part of
 * the log: a copy of the files as they lie, as a power loss would leave them, has all rows. */
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
    assert_in_range(quiet.st_size, 1, 100000); /* nobody writes in earnest */
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
    engine_reopen(t); /* closing folds the WAL into the main file */
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

/* ---- what the committer has seen, and what others have done ---- */

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

/* The committer has not seen the newest row, or one that never was. */
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
    assert_true(commit_one(t, "c", "3") > b); /* who has seen it may write */
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
    other.key.kind = VD_SLICE("others");
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
    assert_history(t, "others", 0, UINT64_MAX, 3, 3, "o=1<- "); /* others are counted */
    assert_history(t, "others", other.revision, o2.revision, 3, 2, "o=2<1 ");
    assert_history(t, "", a3.revision, UINT64_MAX, 3, 1, "a=4<- ");
    assert_history(t, "", a4.revision, UINT64_MAX, 3, 0, "");
    compact(t, &a1.revision, 1, a2.revision); /* what a2 replaced is gone, and may be missed */
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
    assert_int_equal(atomic_load(&wakes), 0); /* nobody is told of what he did himself */
    other.newest = a;
    uint64_t b = commit_one(&other, "b", "2");
    for (int i = 0; i < 5000 && !atomic_load(&wakes); i++)
        usleep(1000);
    assert_true(atomic_load(&wakes) > 0);
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
    for (int i = 0; i < 5000 && atomic_load(&wakes) == before; i++)
        usleep(1000);
    assert_int_equal(state_of(t).floor, b);
    assert_int_equal(state_of(t).passed, 1);
    other.engine->ops->close(other.engine);
}

/* Whoever reads from below a floor that another has moved is told so, and not given what is left.
 */
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

#define FOR_ENGINE(test, i)                                                                        \
    {                                                                                              \
#test, test, setup, teardown, (void *)(uintptr_t)&engines[i]                               \
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
