/*
 * The store's life cycle, and what is read from its state. Writing is in writer.c and group.c,
 * taking in what other processes have written in intake.c, reading the log in log_read.c, lists and
 * single objects in snapshot.c.
 */
#include "store/store.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "store/store_internal.h"

static struct vd_store_options with_defaults(const struct vd_store_options *given)
{
    struct vd_store_options o = given ? *given : (struct vd_store_options){0};
    if (!o.clock)
        o.clock = vd_clock_system();
    if (!o.window_events_max)
        o.window_events_max = VD_WINDOW_EVENTS_DEFAULT;
    if (!o.window_age_ms_max)
        o.window_age_ms_max = (int64_t)VD_WINDOW_AGE_S_DEFAULT * 1000;
    if (!o.tail_events_max)
        o.tail_events_max = VD_TAIL_EVENTS_DEFAULT;
    if (!o.tail_bytes_max)
        o.tail_bytes_max = VD_TAIL_BYTES_DEFAULT;
    return o;
}

static struct vd_store *store_new(struct vd_engine *engine, const struct vd_store_options *options)
{
    struct vd_store *store = VD_NEW(struct vd_store);
    store->engine = engine;
    store->options = with_defaults(options);
    store->queue_end = &store->queue_head;
    store->group = vd_group_new(store);
    vd_index_init(&store->index, (struct vd_index_limits){store->options.tail_events_max,
                                                          store->options.tail_bytes_max});
    pthread_mutex_init(&store->queue_lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&store->queue_filled, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_cond_init(&store->compacted, NULL);
    pthread_mutex_init(&store->subscriber_lock, NULL);
    pthread_mutex_init(&store->health_lock, NULL);
    return store;
}

static void note_damage(struct vd_store *store)
{
    struct vd_health *h = &store->health;
    h->damaged = store->index.damaged;
    h->damaged_revision = store->index.damaged_revision;
    if (h->damaged)
        vd_error_set(&store->damage, VD_ERR_CORRUPT,
                     "%zu versions fail their checksum, the oldest at revision %llu: run 'vedette "
                     "store verify', then replace or delete those objects or restore a backup",
                     h->damaged, (unsigned long long)h->damaged_revision);
    h->error = store->damage;
}

static int64_t newest_time_ms(const struct vd_index *index)
{
    return index->tail.n ? vd_tail_at(&index->tail, index->tail.n - 1)->time_ms : 0;
}

static int start_writer(struct vd_store *store, struct vd_error *error)
{
    if (store->engine->shared)
        store->engine->ops->on_others(store->engine, vd_intake_wake, store);
    /* They may have written since the log was loaded. */
    store->others_due = store->engine->shared;
    store->writing = true; /* the thread begins as the writer, until it first waits for work */
    store->writer_runs = pthread_create(&store->writer, NULL, vd_writer_run, store) == 0;
    return store->writer_runs ? VD_OK
                              : vd_error_set(error, VD_ERR_IO, "could not start the writer thread");
}

int vd_store_open(struct vd_store **out, struct vd_engine *engine,
                  const struct vd_store_options *options, struct vd_error *error)
{
    struct vd_store *store = store_new(engine, options);
    int code = vd_index_load(&store->index, engine, error);
    if (!code) {
        note_damage(store);
        store->time_ms = newest_time_ms(&store->index);
        code = start_writer(store, error);
    }
    if (code) {
        vd_store_close(store);
        return code;
    }
    *out = store;
    return VD_OK;
}

void vd_store_close(struct vd_store *store)
{
    if (!store)
        return;
    pthread_mutex_lock(&store->queue_lock);
    store->stopping = true;
    pthread_cond_signal(&store->queue_filled);
    pthread_mutex_unlock(&store->queue_lock);
    if (store->writer_runs)
        pthread_join(store->writer, NULL);
    store->engine->ops->close(store->engine);
    vd_index_release(&store->index);
    pthread_mutex_destroy(&store->queue_lock);
    pthread_cond_destroy(&store->queue_filled);
    pthread_cond_destroy(&store->compacted);
    pthread_mutex_destroy(&store->subscriber_lock);
    pthread_mutex_destroy(&store->health_lock);
    vd_group_free(store->group);
    free(store);
}

/* ---- sentences ---- */

int vd_expired(uint64_t revision, uint64_t floor, struct vd_error *error)
{
    return vd_error_set(error, VD_ERR_EXPIRED,
                        "too old resource version: %llu (%llu): list again and watch from there",
                        (unsigned long long)revision, (unsigned long long)floor + 1);
}

int vd_future(uint64_t revision, uint64_t newest, struct vd_error *error)
{
    return vd_error_set(error, VD_ERR_FUTURE, "Too large resource version: %llu, current: %llu",
                        (unsigned long long)revision, (unsigned long long)newest);
}

int vd_damaged(const struct vd_event *event, struct vd_error *error)
{
    struct vd_slice resource = vd_entry_resource(event->entry), path = vd_entry_path(event->entry);
    return vd_error_set(error, VD_ERR_CORRUPT,
                        "revision %llu, %.*s \"%.*s\", fails its checksum: replace or delete the "
                        "object, or restore a backup",
                        (unsigned long long)event->revision, VD_FMT(resource), VD_FMT(path));
}

/* ---- reading ---- */

uint64_t vd_store_revision(struct vd_store *store)
{
    vd_index_read_lock(&store->index);
    uint64_t revision = store->index.revision;
    vd_index_unlock(&store->index);
    return revision;
}

uint64_t vd_store_floor(struct vd_store *store)
{
    vd_index_read_lock(&store->index);
    uint64_t floor = store->index.floor;
    vd_index_unlock(&store->index);
    return floor;
}

uint64_t vd_store_floor_next(struct vd_store *store)
{
    vd_index_read_lock(&store->index);
    uint64_t floor = store->index.floor_next;
    vd_index_unlock(&store->index);
    return floor;
}

int vd_store_check_revision(struct vd_store *store, uint64_t revision, struct vd_error *error)
{
    vd_index_read_lock(&store->index);
    uint64_t floor = store->index.floor, newest = store->index.revision;
    vd_index_unlock(&store->index);
    if (revision <= floor)
        return vd_expired(revision, floor, error);
    if (revision > newest)
        return vd_future(revision, newest, error);
    return VD_OK;
}

size_t vd_store_count(struct vd_store *store, struct vd_slice resource)
{
    vd_index_read_lock(&store->index);
    const struct vd_collection *c = vd_index_collection(&store->index, resource);
    size_t live = c ? c->live : 0;
    vd_index_unlock(&store->index);
    return live;
}

void vd_store_resources(struct vd_store *store, struct vd_store_resources *out)
{
    size_t at = 0;
    vd_index_read_lock(&store->index);
    for (const struct vd_collection *c; (c = vd_hash_map_next(&store->index.collections, &at));)
        *VD_VEC_PUSH(out) = vd_collection_resource(c);
    vd_index_unlock(&store->index);
}

/* ---- care ---- */

int vd_store_compact(struct vd_store *store, uint64_t floor, struct vd_error *error)
{
    uint64_t newest = vd_store_revision(store);
    if (floor >= newest)
        floor = newest - 1;
    if (floor <= vd_store_floor(store))
        return VD_OK;
    pthread_mutex_lock(&store->queue_lock);
    while (store->compact_target) /* the compaction of another caller comes first */
        pthread_cond_wait(&store->compacted, &store->queue_lock);
    store->compact_target = floor;
    pthread_cond_signal(&store->queue_filled);
    while (store->compact_target == floor)
        pthread_cond_wait(&store->compacted, &store->queue_lock);
    struct vd_error result = store->compact_error;
    pthread_mutex_unlock(&store->queue_lock);
    return result.code
               ? vd_error_set(error, result.code, "could not compact the log: %s", result.text)
               : VD_OK;
}

void vd_store_stats(struct vd_store *store, struct vd_store_stats *out)
{
    struct vd_index *index = &store->index;
    *out = (struct vd_store_stats){
        .commits = atomic_load_explicit(&store->commits, memory_order_relaxed),
        .groups = atomic_load_explicit(&store->groups, memory_order_relaxed),
        .groups_here = atomic_load_explicit(&store->groups_here, memory_order_relaxed),
        .refused = atomic_load_explicit(&store->refused, memory_order_relaxed),
        .behind = atomic_load_explicit(&store->behind, memory_order_relaxed),
        .taken_in = atomic_load_explicit(&store->taken_in, memory_order_relaxed),
        .compacted_rows = atomic_load_explicit(&store->compacted_rows, memory_order_relaxed),
    };
    vd_index_read_lock(index);
    out->revision = index->revision;
    out->floor = index->floor;
    out->tail_floor = index->tail_floor;
    out->window_events = index->window_events;
    out->tail_events = index->tail.n;
    out->tail_bytes = index->tail_bytes;
    size_t at = 0;
    for (struct vd_collection *c; (c = vd_hash_map_next(&index->collections, &at));) {
        out->objects += c->live;
        out->resources += c->live > 0;
    }
    vd_index_unlock(index);
}
