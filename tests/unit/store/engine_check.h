/*
 * The engines that the conformance suite runs on, and how its tests write and read rows. A new
 * engine adds itself to `engines`.
 */
#ifndef VD_TESTS_ENGINE_CHECK_H
#define VD_TESTS_ENGINE_CHECK_H

#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/vec.h"
#include "check.h"
#include "fixture.h"
#include "store/memory_engine.h"
#include "store/sqlite_engine.h"

struct engine_kind {
    const char *suite;
    const char *name;
    bool lasts;      /* rows survive closing and opening again */
    unsigned stride; /* gaps between revisions; 0: none */
    int (*open)(struct vd_engine **out, const char *folder, struct vd_engine_state *state,
                struct vd_error *error);
};

static inline int open_memory(struct vd_engine **out, const char *folder,
                              struct vd_engine_state *state, struct vd_error *error)
{
    (void)folder;
    return vd_memory_engine_open(out, NULL, state, error);
}

enum { STRIDE = 5 };

/* The log of the engine that is opened first in a test, which the others of the test share. */
static struct vd_memory_log *shared_log;

static inline int open_shared(struct vd_engine **out, const char *folder,
                              struct vd_engine_state *state, struct vd_error *error)
{
    (void)folder;
    if (!shared_log)
        shared_log = vd_memory_log_new(STRIDE);
    return vd_memory_engine_open(out, &(struct vd_memory_options){.log = shared_log}, state, error);
}

static inline int open_sqlite(struct vd_engine **out, const char *folder,
                              struct vd_engine_state *state, struct vd_error *error)
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
    struct vd_engine_state state; /* when it was opened */
    uint64_t newest, floor;       /* as the test has left them */
};

static inline void engine_open(struct setting *t)
{
    struct vd_error error;
    assert_ok(t->kind->open(&t->engine, t->folder, &t->state, &error), &error);
    assert_string_equal(t->engine->ops->name, t->kind->name);
    t->newest = t->state.revision;
    t->floor = t->state.floor;
}

static inline void engine_reopen(struct setting *t)
{
    t->engine->ops->close(t->engine);
    t->engine = NULL;
    engine_open(t);
}

static inline int setup(void **state)
{
    struct setting *t = calloc(1, sizeof *t);
    t->kind = *state;
    t->folder = temp_folder_new();
    engine_open(t);
    *state = t;
    return 0;
}

static inline int teardown(void **state)
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

static inline struct vd_row row_of(const char *name, const char *body)
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
static inline uint64_t commit(struct setting *t, struct vd_row *rows, size_t n)
{
    struct vd_error error;
    struct vd_engine_commit how = {.head = t->newest, .patient = true};
    assert_ok(t->engine->ops->commit(t->engine, how, rows, n, &error), &error);
    t->newest = rows[n - 1].revision;
    return rows[0].revision;
}

static inline void compact(struct setting *t, const uint64_t *dead, size_t n, uint64_t floor)
{
    struct vd_error error;
    struct vd_compaction what = {dead, n, t->floor, floor, .passed = n};
    assert_ok(t->engine->ops->compact(t->engine, &what, &error), &error);
    t->floor = floor;
}

static inline uint64_t commit_one(struct setting *t, const char *name, const char *body)
{
    struct vd_row row = row_of(name, body);
    return commit(t, &row, 1);
}

/* Writes the rows that it is given as text; what it wants and when it stops is set by the test. */
struct sink {
    struct vd_buf text;
    size_t heads, rows;
    size_t stop_at;         /* take returns false at this row; 0: never */
    const char *only;       /* the name that is wanted; NULL: all */
    bool has_body_in_wants; /* a head came with bytes */
};

static inline bool sink_wants(void *arg, const struct vd_row *head)
{
    struct sink *s = arg;
    s->heads++;
    s->has_body_in_wants |= head->body.bytes.n != 0;
    return !s->only || vd_slice_is(head->key.name, s->only);
}

static inline bool sink_take(void *arg, const struct vd_row *row)
{
    struct sink *s = arg;
    s->rows++;
    vd_buf_addf(&s->text, "%llu:%.*s=%.*s ", (unsigned long long)row->revision,
                VD_FMT(row->key.name), VD_FMT(row->body.bytes));
    return s->rows != s->stop_at;
}

static inline void sink_reset(struct sink *s)
{
    vd_buf_release(&s->text);
    *s = (struct sink){0};
}

static inline void read_into(struct setting *t, struct sink *s, uint64_t after, uint64_t upto,
                             size_t rows_max)
{
    struct vd_error error;
    struct vd_row_sink sink = {sink_wants, sink_take, s};
    assert_ok(t->engine->ops->read(t->engine, after, upto, rows_max, &sink, &error), &error);
}

static inline void load_into(struct setting *t, struct sink *s)
{
    struct vd_error error;
    struct vd_row_sink sink = {sink_wants, sink_take, s};
    struct vd_engine_state found;
    assert_ok(t->engine->ops->load(t->engine, &sink, &found, &error), &error);
    assert_int_equal(found.revision, t->newest);
    assert_int_equal(found.floor, t->floor);
}

/* Checks the text of what a read gives. */
static inline void assert_reads(struct setting *t, uint64_t after, uint64_t upto, size_t rows_max,
                                const char *want)
{
    struct sink s = {0};
    read_into(t, &s, after, upto, rows_max);
    assert_string_equal(vd_buf_text(&s.text), want);
    sink_reset(&s);
}

static inline void assert_loads(struct setting *t, const char *want)
{
    struct sink s = {0};
    load_into(t, &s);
    assert_string_equal(vd_buf_text(&s.text), want);
    sink_reset(&s);
}

static inline bool keep_row(void *arg, const struct vd_row *row)
{
    struct vd_row *out = arg;
    *out = *row;
    struct vd_slice *slices[] = {&out->key.resource, &out->key.namespace, &out->key.name,
                                 &out->body.bytes};
    for (size_t i = 0; i < 4; i++) /* the slices are borrowed for this call only */
        *slices[i] = slices[i]->n ? vd_slice(vd_memdup(slices[i]->p, slices[i]->n), slices[i]->n)
                                  : VD_SLICE("");
    return true;
}

static inline void kept_release(struct vd_row *row)
{
    struct vd_slice slices[] = {row->key.resource, row->key.namespace, row->key.name,
                                row->body.bytes};
    for (size_t i = 0; i < 4; i++)
        if (slices[i].n)
            free((void *)(uintptr_t)slices[i].p);
}

static inline uint64_t got_revision(struct setting *t, uint64_t revision)
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

#define FOR_ENGINE(test, i)                                                                        \
    {                                                                                              \
#test, test, setup, teardown, (void *)(uintptr_t)&engines[i]                               \
    }

#endif
