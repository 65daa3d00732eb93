/*
 * The memory engine: the log as an array of rows.
 *
 * Rows stand in revision order. Compaction empties dead rows where they stand and squeezes them out
 * once they are half of all, so that a step stays cheap. The engine keeps the contract of engine.h
 * but for durability.
 *
 * The rows belong to a memory log, and each engine that is open on it stands in its list. Whoever
 * commits or compacts wakes the others of the list under the log's lock, so that none is called
 * once it has left the list.
 */
#include "store/memory_engine.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/container_of.h"
#include "base/vec.h"

enum { REVISION_FIRST = 1 }; /* of a log that nothing was written to; see sqlite_file.h */

struct memory_engine;

struct vd_memory_log {
    struct vd_refcount refs;
    unsigned stride;
    pthread_mutex_t lock;       /* guards everything below */
    VD_VEC(struct vd_row) rows; /* each owns one block with all its bytes, at key.resource.p */
    size_t dead;                /* rows without a block */
    struct vd_engine_state state;
    uint64_t bytes;
    struct memory_engine *engines; /* those that are open on the log */
};

struct memory_engine {
    struct vd_engine engine;
    struct vd_memory_log *log;
    bool never_wakes;
    void (*wake)(void *arg);
    void *wake_arg;
    struct memory_engine *next;
};

static struct vd_memory_log *log_of(struct vd_engine *engine)
{
    return VD_CONTAINER_OF(engine, struct memory_engine, engine)->log;
}

/* One block holds the resource, namespace, name and body of a row. */
static struct vd_row row_copy(const struct vd_row *row)
{
    struct vd_buf block = {0};
    vd_buf_add_slice(&block, row->key.resource);
    vd_buf_add_slice(&block, row->key.namespace);
    vd_buf_add_slice(&block, row->key.name);
    vd_buf_add_slice(&block, row->body.bytes);
    const char *at = vd_buf_take(&block, NULL);
    struct vd_row copy = *row;
    copy.key.resource.p = at;
    copy.key.namespace.p = copy.key.resource.p + row->key.resource.n;
    copy.key.name.p = copy.key.namespace.p + row->key.namespace.n;
    copy.body.bytes.p = copy.key.name.p + row->key.name.n;
    copy.body_len = (uint32_t)row->body.bytes.n;
    return copy;
}

static void row_release(struct vd_row *row)
{
    free((void *)(uintptr_t)row->key.resource.p);
    row->key.resource.p = NULL;
}

static bool row_is_dead(const struct vd_row *row)
{
    return !row->key.resource.p;
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

/* The position of the first row above this revision. */
static size_t first_after(const struct vd_memory_log *l, uint64_t revision)
{
    size_t from = 0, to = l->rows.n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (l->rows.p[middle].revision > revision)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

/* Under the lock: wakes everyone else who has the log open. */
static void wake_others(struct vd_memory_log *l, const struct vd_engine *self)
{
    for (struct memory_engine *e = l->engines; e; e = e->next)
        if (&e->engine != self && e->wake && !e->never_wakes)
            e->wake(e->wake_arg);
}

/* Under the lock: VD_ERR_EXPIRED if rows above `after` may be missing because another engine has
 * compacted. */
static int check_floor(const struct vd_engine *engine, const struct vd_memory_log *l,
                       uint64_t after, struct vd_error *error)
{
    return engine->shared && after < l->state.floor
               ? vd_error_set(error, VD_ERR_EXPIRED, "revision %llu is no longer in the log",
                              (unsigned long long)after + 1)
               : VD_OK;
}

static int memory_load(struct vd_engine *engine, const struct vd_row_sink *sink,
                       struct vd_engine_state *state, struct vd_error *error)
{
    (void)error;
    struct vd_memory_log *l = log_of(engine);
    pthread_mutex_lock(&l->lock);
    *state = l->state;
    for (size_t i = l->rows.n; i > 0 && row_give(&l->rows.p[i - 1], sink); i--)
        continue;
    pthread_mutex_unlock(&l->lock);
    return VD_OK;
}

static int memory_state(struct vd_engine *engine, struct vd_engine_state *state,
                        struct vd_error *error)
{
    (void)error;
    struct vd_memory_log *l = log_of(engine);
    pthread_mutex_lock(&l->lock);
    *state = l->state;
    pthread_mutex_unlock(&l->lock);
    return VD_OK;
}

static void memory_on_others(struct vd_engine *engine, void (*wake)(void *arg), void *arg)
{
    struct memory_engine *e = VD_CONTAINER_OF(engine, struct memory_engine, engine);
    pthread_mutex_lock(&e->log->lock);
    e->wake = wake;
    e->wake_arg = arg;
    pthread_mutex_unlock(&e->log->lock);
}

static int memory_read(struct vd_engine *engine, uint64_t after, uint64_t upto, size_t rows_max,
                       const struct vd_row_sink *sink, struct vd_error *error)
{
    struct vd_memory_log *l = log_of(engine);
    pthread_mutex_lock(&l->lock);
    int code = check_floor(engine, l, after, error);
    for (size_t i = first_after(l, after); !code && i < l->rows.n && rows_max > 0; i++) {
        if (l->rows.p[i].revision > upto || !row_give(&l->rows.p[i], sink))
            break;
        rows_max -= !row_is_dead(&l->rows.p[i]);
    }
    pthread_mutex_unlock(&l->lock);
    return code;
}

/* Under the lock: the row of a revision, or NULL. */
static const struct vd_row *row_of(const struct vd_memory_log *l, uint64_t revision)
{
    size_t at = revision ? first_after(l, revision - 1) : l->rows.n;
    bool found = at < l->rows.n && l->rows.p[at].revision == revision &&
                 !row_is_dead(&l->rows.p[at]);
    return found ? &l->rows.p[at] : NULL;
}

static int memory_history(struct vd_engine *engine, struct vd_slice resource, uint64_t after,
                          uint64_t upto, size_t rows_max, const struct vd_history_sink *sink,
                          struct vd_error *error)
{
    struct vd_memory_log *l = log_of(engine);
    bool go_on = true;
    pthread_mutex_lock(&l->lock);
    int code = check_floor(engine, l, after, error);
    for (size_t i = first_after(l, after); !code && go_on && i < l->rows.n && rows_max > 0; i++) {
        const struct vd_row *row = &l->rows.p[i];
        if (row->revision > upto)
            break;
        if (row_is_dead(row))
            continue;
        rows_max--;
        sink->passes(sink->arg, row);
        if (resource.n == 0 || vd_slice_eq(resource, row->key.resource))
            go_on = sink->take(sink->arg, row,
                               row->type == VD_EVENT_CREATED ? NULL : row_of(l, row->previous));
    }
    pthread_mutex_unlock(&l->lock);
    return code;
}

static int memory_get(struct vd_engine *engine, uint64_t revision, const struct vd_row_sink *sink,
                      struct vd_error *error)
{
    struct vd_memory_log *l = log_of(engine);
    pthread_mutex_lock(&l->lock);
    size_t at = first_after(l, revision);
    while (at > 0 && row_is_dead(&l->rows.p[at - 1]))
        at--;
    if (at > 0)
        row_give(&l->rows.p[at - 1], sink);
    pthread_mutex_unlock(&l->lock);
    return at > 0 ? VD_OK
                  : vd_error_set(error, VD_ERR_NOT_FOUND, "revision %llu is no longer in the log",
                                 (unsigned long long)revision);
}

static int memory_commit(struct vd_engine *engine, struct vd_engine_commit how, struct vd_row *rows,
                         size_t n, struct vd_error *error)
{
    struct vd_memory_log *l = log_of(engine);
    pthread_mutex_lock(&l->lock);
    bool behind = how.head != l->state.revision;
    for (size_t i = 0; !behind && i < n; i++) {
        rows[i].revision = l->state.revision = vd_memory_log_next(l->stride, l->state.revision);
        if (rows[i].previous_row)
            rows[i].previous = rows[rows[i].previous_row - 1].revision;
        *VD_VEC_PUSH(&l->rows) = row_copy(&rows[i]);
        l->bytes += rows[i].body.bytes.n;
    }
    if (!behind)
        wake_others(l, engine);
    pthread_mutex_unlock(&l->lock);
    return behind ? vd_error_set(error, VD_ERR_BEHIND, "the log has rows behind revision %llu",
                                 (unsigned long long)how.head)
                  : VD_OK;
}

static void squeeze(struct vd_memory_log *l)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->rows.n; i++)
        if (!row_is_dead(&l->rows.p[i]))
            l->rows.p[kept++] = l->rows.p[i];
    l->rows.n = kept;
    l->dead = 0;
}

static void remove_row(struct vd_memory_log *l, uint64_t revision)
{
    size_t at = first_after(l, revision - 1);
    if (at == l->rows.n || l->rows.p[at].revision != revision || row_is_dead(&l->rows.p[at]))
        return;
    l->bytes -= l->rows.p[at].body.bytes.n;
    l->dead++;
    row_release(&l->rows.p[at]);
}

static int memory_compact(struct vd_engine *engine, const struct vd_compaction *what,
                          struct vd_error *error)
{
    struct vd_memory_log *l = log_of(engine);
    pthread_mutex_lock(&l->lock);
    bool behind = what->floor_seen != l->state.floor;
    for (size_t i = 0; !behind && i < what->n; i++)
        remove_row(l, what->dead[i]);
    if (l->dead > l->rows.n / 2)
        squeeze(l);
    if (!behind) {
        l->state.floor = what->floor;
        l->state.passed += what->passed;
        wake_others(l, engine);
    }
    pthread_mutex_unlock(&l->lock);
    return behind ? vd_error_set(error, VD_ERR_BEHIND, "the floor is no longer at revision %llu",
                                 (unsigned long long)what->floor_seen)
                  : VD_OK;
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
    struct vd_memory_log *l = log_of(engine);
    pthread_mutex_lock(&l->lock);
    *out = (struct vd_engine_stats){.rows = l->rows.n - l->dead, .file_bytes = l->bytes};
    pthread_mutex_unlock(&l->lock);
    return VD_OK;
}

struct vd_memory_log *vd_memory_log_new(unsigned stride)
{
    struct vd_memory_log *l = VD_NEW(struct vd_memory_log);
    vd_refcount_init(&l->refs);
    l->stride = stride;
    l->state.revision = REVISION_FIRST;
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

void vd_memory_log_unref(struct vd_memory_log *l)
{
    if (!l || !vd_unref(&l->refs))
        return;
    for (size_t i = 0; i < l->rows.n; i++)
        row_release(&l->rows.p[i]);
    VD_VEC_RELEASE(&l->rows);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

static void memory_close(struct vd_engine *engine)
{
    struct memory_engine *e = VD_CONTAINER_OF(engine, struct memory_engine, engine);
    pthread_mutex_lock(&e->log->lock);
    struct memory_engine **at = &e->log->engines;
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    pthread_mutex_unlock(&e->log->lock);
    vd_memory_log_unref(e->log);
    free(e);
}

static const struct vd_engine_ops memory_ops = {
    .name = "memory",
    .close = memory_close,
    .load = memory_load,
    .commit = memory_commit,
    .state = memory_state,
    .on_others = memory_on_others,
    .read = memory_read,
    .history = memory_history,
    .get = memory_get,
    .compact = memory_compact,
    .tidy = memory_tidy,
    .probe = memory_probe,
    .stats = memory_stats,
};

int vd_memory_engine_open(struct vd_engine **out, const struct vd_memory_options *options,
                          struct vd_engine_state *state, struct vd_error *error)
{
    struct memory_engine *e = VD_NEW(struct memory_engine);
    bool shared = options && options->log;
    if (shared)
        vd_ref(&options->log->refs);
    e->log = shared ? options->log : vd_memory_log_new(0);
    e->engine = (struct vd_engine){
        .ops = &memory_ops,
        .where = "",
        .shared = shared,
        .thread_only = options && options->thread_only,
    };
    e->never_wakes = options && options->never_wakes;
    pthread_mutex_lock(&e->log->lock);
    e->next = e->log->engines;
    e->log->engines = e;
    pthread_mutex_unlock(&e->log->lock);
    *out = &e->engine;
    return memory_state(&e->engine, state, error);
}
