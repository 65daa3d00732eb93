/*
 * See index.h. How a version leaves memory:
 *
 *   newest -> older -> older ...        one object's chain; `t` = in the tail
 *      t        t        -              the last one is kept as what `t` replaced
 *
 * When the oldest event of the tail is taken off, the version it replaced is cut
 * from its chain; the event itself stays as long as a newer one is in the tail,
 * or as the object. A deletion that leaves the tail gives up its body (the log
 * has it) but keeps its entry until the floor passes it, so that reads at an
 * older revision still find the object. `deleted` lists such deletions, so that whoever moves the
 * floor, be it another process, need not say which objects leave.
 */
#include "store/index.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/limits.h"

static struct vd_slice collection_key(const void *item)
{
    return vd_collection_resource(item);
}

void vd_index_init(struct vd_index *index, struct vd_index_limits limits)
{
    *index = (struct vd_index){.limits = limits};
    /* The lock prefers writers: a stream of readers must not hold up a commit. */
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&index->lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    vd_hash_map_init(&index->collections, collection_key);
}

void vd_index_release(struct vd_index *index)
{
    for (size_t i = 0; i < index->tail.n; i++)
        vd_event_unref(vd_tail_at(&index->tail, i));
    vd_tail_release(&index->tail);
    for (size_t i = 0; i < index->deleted.n; i++)
        vd_event_unref(vd_tail_at(&index->deleted, i));
    vd_tail_release(&index->deleted);
    VD_VEC_RELEASE(&index->doomed);
    size_t at = 0;
    for (struct vd_collection *c; (c = vd_hash_map_next(&index->collections, &at));)
        vd_collection_free(c);
    vd_hash_map_release(&index->collections);
    pthread_rwlock_destroy(&index->lock);
}

struct vd_collection *vd_index_collection(const struct vd_index *index, struct vd_slice resource)
{
    return vd_hash_map_get(&index->collections, resource);
}

static struct vd_collection *collection_ensure(struct vd_index *index, struct vd_slice resource)
{
    struct vd_collection *collection = vd_index_collection(index, resource);
    if (collection)
        return collection;
    collection = vd_collection_new(resource);
    vd_hash_map_put(&index->collections, collection);
    return collection;
}

struct vd_entry *vd_index_stage(struct vd_index *index, const struct vd_key *key)
{
    struct vd_path room;
    struct vd_slice path = vd_key_path(&room, key);
    struct vd_collection *collection = vd_index_collection(index, key->resource);
    struct vd_entry *entry = collection ? vd_collection_find(collection, path) : NULL;
    if (entry)
        return entry;
    pthread_rwlock_wrlock(&index->lock);
    collection = collection_ensure(index, key->resource);
    entry = vd_entry_new(collection, key->namespace, key->name);
    vd_collection_add(collection, entry);
    vd_index_unlock(index);
    return entry;
}

void vd_index_unstage(struct vd_index *index, struct vd_entry *entry)
{
    if (entry->newest || entry->staged)
        return;
    pthread_rwlock_wrlock(&index->lock);
    vd_collection_drop(vd_index_collection(index, vd_entry_resource(entry)), entry);
    vd_index_unlock(index);
}

static size_t body_len(const struct vd_event *event)
{
    return event && event->body ? event->body->len : 0;
}

/* What an event adds to tail_bytes: the body that it replaced, and, if it is a deletion, its own
 * body too, since no existing object has that one. */
static size_t tail_cost(const struct vd_event *event)
{
    return body_len(event->older) + (vd_event_is_live(event) ? 0 : body_len(event));
}

/* Notes a reference that is dropped after the lock was released, as freeing takes long. */
static void doom(struct vd_index *index, struct vd_event *event)
{
    if (event)
        *VD_VEC_PUSH(&index->doomed) = event;
}

static void bury_doomed(struct vd_index *index)
{
    for (size_t i = 0; i < index->doomed.n; i++)
        vd_event_unref(index->doomed.p[i]);
    index->doomed.n = 0;
}

/* A copy of a deletion without its body: what stays in memory of a deleted object once the deletion
 * has left the tail. */
static struct vd_event *slim_deletion(const struct vd_event *event)
{
    struct vd_event *slim = vd_event_new(event->entry, NULL);
    slim->type = event->type;
    slim->more = event->more;
    slim->revision = event->revision;
    slim->previous = event->previous;
    slim->time_ms = event->time_ms;
    slim->uid = event->uid;
    return slim;
}

static void evict_oldest(struct vd_index *index)
{
    struct vd_event *event = vd_tail_pop(&index->tail);
    struct vd_entry *entry = event->entry;
    struct vd_collection *collection = vd_index_collection(index, vd_entry_resource(entry));
    struct vd_event *same = vd_tail_pop(&collection->tail);
    assert(same == event);
    (void)same;
    index->tail_bytes -= tail_cost(event);
    if (index->tail_floor < event->revision)
        index->tail_floor = event->revision;
    event->in_tail = false;
    doom(index, event->older);
    event->older = NULL;
    if (!vd_event_is_live(event) && entry->newest == event) {
        entry->newest = slim_deletion(event);
        vd_tail_push(&index->deleted, vd_event_ref(entry->newest));
        doom(index, event);
    }
    doom(index, event);
}

static bool has_surplus(const struct vd_index *index)
{
    return index->tail.n && (index->tail.n > index->limits.tail_events_max ||
                             index->tail_bytes > index->limits.tail_bytes_max ||
                             vd_tail_at(&index->tail, 0)->revision <= index->floor);
}

static void evict_surplus(struct vd_index *index)
{
    while (has_surplus(index))
        evict_oldest(index);
}

/* Puts an event in front of its object's versions and at the end of the tails. */
static void publish(struct vd_index *index, struct vd_event *event)
{
    struct vd_entry *entry = event->entry;
    struct vd_collection *collection = vd_index_collection(index, vd_entry_resource(entry));
    assert(event->revision > collection->revision);
    collection->live += vd_event_is_live(event);
    collection->live -= vd_event_is_live(entry->newest);
    collection->revision = event->revision;
    event->older = entry->newest;
    event->in_tail = true;
    entry->newest = event;
    vd_tail_push(&collection->tail, event);
    vd_tail_push(&index->tail, vd_event_ref(event));
    index->tail_bytes += tail_cost(event);
}

struct vd_event *vd_event_replaced(const struct vd_event *event)
{
    return vd_event_is_live(event->older) ? vd_event_ref(event->older) : NULL;
}

void vd_index_apply(struct vd_index *index, struct vd_change *changes, size_t n)
{
    assert(n > 0 && changes[0].now->revision > index->revision && !changes[n - 1].now->more);
    pthread_rwlock_wrlock(&index->lock);
    for (size_t i = 0; i < n; i++) {
        publish(index, changes[i].now);
        changes[i].before = vd_event_replaced(changes[i].now);
    }
    index->revision = changes[n - 1].now->revision;
    index->window_events += n;
    evict_surplus(index);
    vd_index_unlock(index);
    bury_doomed(index);
}

void vd_index_trim(struct vd_index *index)
{
    pthread_rwlock_wrlock(&index->lock);
    evict_surplus(index);
    vd_index_unlock(index);
    bury_doomed(index);
}

void vd_index_expect_floor(struct vd_index *index, uint64_t floor)
{
    pthread_rwlock_wrlock(&index->lock);
    index->floor_next = floor;
    vd_index_unlock(index);
}

/* Under the lock: takes out the oldest deletion that the floor has passed, and its entry unless the
 * object was created again. */
static void drop_deleted(struct vd_index *index)
{
    struct vd_event *event = vd_tail_pop(&index->deleted);
    struct vd_entry *entry = event->entry;
    if (entry->newest == event) {
        vd_collection_drop(vd_index_collection(index, vd_entry_resource(entry)), entry);
        entry->newest = NULL; /* somebody may still hold the entry */
    }
    doom(index, event);
}

static bool has_deleted(const struct vd_index *index)
{
    return index->deleted.n && vd_tail_at(&index->deleted, 0)->revision <= index->floor;
}

void vd_index_move_floor(struct vd_index *index, uint64_t floor, size_t passed)
{
    assert(floor >= index->floor && floor < index->revision && passed <= index->window_events);
    pthread_rwlock_wrlock(&index->lock);
    index->floor = index->floor_next = floor;
    index->window_events -= passed;
    index->passed += passed;
    if (index->tail_floor < floor)
        index->tail_floor = floor;
    for (size_t steps = 0; has_surplus(index) || has_deleted(index);) {
        if (has_surplus(index))
            evict_oldest(index);
        else
            drop_deleted(index);
        /* Lets readers in between: another process may have moved the floor by many rows. */
        if (++steps % VD_SCAN_STEP_ROWS == 0) {
            vd_index_unlock(index);
            bury_doomed(index);
            pthread_rwlock_wrlock(&index->lock);
        }
    }
    vd_index_unlock(index);
    bury_doomed(index);
}
