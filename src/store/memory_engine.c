/*
 * The memory engine: the log as an array of rows, for tests and scratch servers.
 *
 * Rows stand in revision order. Compaction empties dead rows where they stand and
 * squeezes them out once they are half of all, so that a step stays cheap. It
 * keeps the contract of engine.h but for durability.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/vec.h"
#include "store/engine.h"

enum { REVISION_FIRST = 1 };

struct memory_engine {
    struct vd_engine engine;
    pthread_mutex_t lock;       /* guards everything below */
    VD_VEC(struct vd_row) rows; /* each owns one block with all its bytes, at key.kind.p */
    size_t dead;                /* rows without a block */
    uint64_t revision;
    uint64_t bytes;
};

/* One block holds the kind, namespace, name and body of a row. */
static struct vd_row row_copy(const struct vd_row *row)
{
    struct vd_buf block = {0};
    vd_buf_add_slice(&block, row->key.kind);
    vd_buf_add_slice(&block, row->key.space);
    vd_buf_add_slice(&block, row->key.name);
    vd_buf_add_slice(&block, row->body.bytes);
    const char *at = vd_buf_take(&block, NULL);
    struct vd_row copy = *row;
    copy.key.kind.p = at;
    copy.key.space.p = copy.key.kind.p + row->key.kind.n;
    copy.key.name.p = copy.key.space.p + row->key.space.n;
    copy.body.bytes.p = copy.key.name.p + row->key.name.n;
    copy.body_len = (uint32_t)row->body.bytes.n;
    return copy;
}

static void row_release(struct vd_row *row)
{
    free((void *)(uintptr_t)row->key.kind.p);
    row->key.kind.p = NULL;
}

static bool row_is_dead(const struct vd_row *row)
{
    return !row->key.kind.p;
}

static bool row_give(const struct vd_row *row, const struct vd_row_sink *sink)
{
    if (row_is_dead(row))
        return true;
    struct vd_row head = *row;
    head.body.bytes = (struct vd_slice){0};
    if (sink->wants && !sink->wants(sink->arg, &head))
        return true;
    return sink->take(sink->arg, row);
}

/* The place of the first row behind this revision. */
static size_t first_after(const struct memory_engine *e, uint64_t revision)
{
    size_t from = 0, to = e->rows.n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (e->rows.p[middle].revision > revision)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

static int memory_load(struct vd_engine *engine, const struct vd_row_sink *sink,
                       struct vd_error *error)
{
    (void)error;
    struct memory_engine *e = (struct memory_engine *)engine;
    pthread_mutex_lock(&e->lock);
    for (size_t i = e->rows.n; i > 0 && row_give(&e->rows.p[i - 1], sink); i--)
        continue;
    pthread_mutex_unlock(&e->lock);
    return VD_OK;
}

static int memory_read(struct vd_engine *engine, uint64_t after, uint64_t upto, size_t rows_max,
                       const struct vd_row_sink *sink, struct vd_error *error)
{
    (void)error;
    struct memory_engine *e = (struct memory_engine *)engine;
    pthread_mutex_lock(&e->lock);
    for (size_t i = first_after(e, after); i < e->rows.n && rows_max > 0; i++) {
        if (e->rows.p[i].revision > upto || !row_give(&e->rows.p[i], sink))
            break;
        rows_max -= !row_is_dead(&e->rows.p[i]);
    }
    pthread_mutex_unlock(&e->lock);
    return VD_OK;
}

static int memory_get(struct vd_engine *engine, uint64_t revision, const struct vd_row_sink *sink,
                      struct vd_error *error)
{
    struct memory_engine *e = (struct memory_engine *)engine;
    pthread_mutex_lock(&e->lock);
    size_t at = first_after(e, revision - 1);
    bool found = at < e->rows.n && e->rows.p[at].revision == revision &&
                 !row_is_dead(&e->rows.p[at]);
    if (found)
        row_give(&e->rows.p[at], sink);
    pthread_mutex_unlock(&e->lock);
    return found ? VD_OK
                 : vd_error_set(error, VD_ERR_NOT_FOUND, "revision %llu is no longer in the log",
                                (unsigned long long)revision);
}

static int memory_commit(struct vd_engine *engine, struct vd_row *rows, size_t n,
                         struct vd_error *error)
{
    (void)error;
    struct memory_engine *e = (struct memory_engine *)engine;
    pthread_mutex_lock(&e->lock);
    for (size_t i = 0; i < n; i++) {
        rows[i].revision = ++e->revision;
        if (rows[i].previous_row)
            rows[i].previous = rows[rows[i].previous_row - 1].revision;
        *VD_VEC_PUSH(&e->rows) = row_copy(&rows[i]);
        e->bytes += rows[i].body.bytes.n;
    }
    pthread_mutex_unlock(&e->lock);
    return VD_OK;
}

static void squeeze(struct memory_engine *e)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->rows.n; i++)
        if (!row_is_dead(&e->rows.p[i]))
            e->rows.p[kept++] = e->rows.p[i];
    e->rows.n = kept;
    e->dead = 0;
}

static int memory_compact(struct vd_engine *engine, const uint64_t *dead, size_t n, uint64_t floor,
                          struct vd_error *error)
{
    (void)floor;
    (void)error;
    struct memory_engine *e = (struct memory_engine *)engine;
    pthread_mutex_lock(&e->lock);
    for (size_t i = 0; i < n; i++) {
        size_t at = first_after(e, dead[i] - 1);
        if (at == e->rows.n || e->rows.p[at].revision != dead[i] || row_is_dead(&e->rows.p[at]))
            continue;
        e->bytes -= e->rows.p[at].body.bytes.n;
        e->dead++;
        row_release(&e->rows.p[at]);
    }
    if (e->dead > e->rows.n / 2)
        squeeze(e);
    pthread_mutex_unlock(&e->lock);
    return VD_OK;
}

static int memory_tidy(struct vd_engine *engine, struct vd_error *error)
{
    (void)engine;
    (void)error;
    return VD_OK;
}

static int memory_probe(struct vd_engine *engine, struct vd_error *error)
{
    (void)engine;
    (void)error;
    return VD_OK;
}

static int memory_stats(struct vd_engine *engine, struct vd_engine_stats *out,
                        struct vd_error *error)
{
    (void)error;
    struct memory_engine *e = (struct memory_engine *)engine;
    pthread_mutex_lock(&e->lock);
    *out = (struct vd_engine_stats){.rows = e->rows.n - e->dead, .file_bytes = e->bytes};
    pthread_mutex_unlock(&e->lock);
    return VD_OK;
}

static void memory_close(struct vd_engine *engine)
{
    struct memory_engine *e = (struct memory_engine *)engine;
    for (size_t i = 0; i < e->rows.n; i++)
        row_release(&e->rows.p[i]);
    VD_VEC_RELEASE(&e->rows);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

static void memory_be_patient(struct vd_engine *engine, bool patient)
{
    (void)engine; /* there is nobody to wait for */
    (void)patient;
}

static const struct vd_engine_ops memory_ops = {
    .name = "memory",
    .close = memory_close,
    .load = memory_load,
    .commit = memory_commit,
    .read = memory_read,
    .get = memory_get,
    .compact = memory_compact,
    .be_patient = memory_be_patient,
    .tidy = memory_tidy,
    .probe = memory_probe,
    .stats = memory_stats,
};

int vd_memory_engine_open(struct vd_engine **out, struct vd_engine_state *state,
                          struct vd_error *error)
{
    (void)error;
    struct memory_engine *e = VD_NEW(struct memory_engine);
    e->engine.ops = &memory_ops;
    e->revision = REVISION_FIRST;
    pthread_mutex_init(&e->lock, NULL);
    *state = (struct vd_engine_state){.revision = REVISION_FIRST};
    *out = &e->engine;
    return VD_OK;
}
