/*
 * The index: what is in memory beside the engine.
 *
 * For each resource an ordered map from path to versions, newest first, and the
 * *tail*: the newest events of the log, by resource and over all. Versions that were
 * replaced are kept while the event that replaced them is in the tail, so that
 * readers find an object as of any revision >= tail_floor here; older history is
 * read from the engine.
 *
 *   floor <= tail_floor <= revision
 *   revision    newest that readers may see; always the end of an atomic batch
 *   tail_floor  every event above it is in memory
 *   floor       cursors at or below it are expired
 *
 * Compaction takes rows out of the engine before the floor moves, so what a reader has read from
 * the engine is complete only if its cursor is above floor_next, which the reader looks at after
 * reading. Where other processes compact, too, the engine itself refuses to read from below the
 * floor.
 *
 * Revisions grow, but need not be dense: numbers between two rows are revisions at which nothing
 * happened.
 *
 * `lock` guards all of it. The writer is the only one who changes
 * anything, so it may read without the lock. Readers hold it for a bounded
 * number of steps (VD_SCAN_STEP_ROWS): a commit never waits for a whole list.
 */
#ifndef VD_STORE_INDEX_H
#define VD_STORE_INDEX_H

#include <pthread.h>

#include "base/hash_map.h"
#include "base/vec.h"
#include "store/collection.h"
#include "store/engine.h"

struct vd_index_limits {
    size_t tail_events_max;
    size_t tail_bytes_max;
};

struct vd_index {
    pthread_rwlock_t lock;
    struct vd_hash_map collections; /* by resource */
    struct vd_tail tail;            /* one reference to each event */
    size_t tail_bytes;              /* of bodies that are kept for the tail only */
    struct vd_tail deleted; /* deletions that have left the tail and are above the floor, in order;
                               one reference to each */
    uint64_t revision;
    uint64_t tail_floor;
    uint64_t floor;
    uint64_t floor_next; /* the floor that a compaction under way is about to set, else the floor */
    size_t damaged;      /* rows whose body was lost, found when the log was loaded */
    uint64_t damaged_revision;        /* the oldest of them */
    size_t window_events;             /* rows of the log above the floor */
    uint64_t passed;                  /* rows that the floor has passed: vd_engine_state.passed */
    VD_VEC(struct vd_event *) doomed; /* used by the writer: references to drop after unlocking */
    struct vd_index_limits limits;
};

void vd_index_init(struct vd_index *index, struct vd_index_limits limits);
void vd_index_release(struct vd_index *index);

static inline void vd_index_read_lock(struct vd_index *index)
{
    pthread_rwlock_rdlock(&index->lock);
}

static inline void vd_index_unlock(struct vd_index *index)
{
    pthread_rwlock_unlock(&index->lock);
}

/* The collection of a resource, or NULL. Under the lock, or by the writer. */
struct vd_collection *vd_index_collection(const struct vd_index *index, struct vd_slice resource);

/* Fills an empty index from the engine's rows. */
int vd_index_load(struct vd_index *index, struct vd_engine *engine,
                  struct vd_error *error) VD_MUST_USE;

/* For the writer: the entry of a key. A missing one is made; readers do not see it until an event
 * of it is applied. */
struct vd_entry *vd_index_stage(struct vd_index *index, const struct vd_key *key) VD_MUST_USE;

/* For the writer: takes back an entry that was made for a write that failed. */
void vd_index_unstage(struct vd_index *index, struct vd_entry *entry);

/* Under the lock: a reference to the object that an event of the tail replaced or
 * deleted, NULL when it created one. */
struct vd_event *vd_event_replaced(const struct vd_event *event);

/* For the writer: makes the events `now` visible, all at once. They are in revision order and end
 * an atomic batch. The index keeps a reference to each, which the caller gives it beside that of
 * the change. `before` is set to a new reference to what the event replaced, or NULL. */
void vd_index_apply(struct vd_index *index, struct vd_change *changes, size_t n);

/* For the writer: takes from the tail what is over its limits. */
void vd_index_trim(struct vd_index *index);

/* For the writer: announces that the rows up to this floor are about to leave the engine. With the
 * present floor it takes the announcement back. */
void vd_index_expect_floor(struct vd_index *index, uint64_t floor);

/* For the writer: the rows up to the new floor have been compacted, by this process or by another;
 * `passed` of them were events of the window. Objects that were deleted up to there leave. */
void vd_index_move_floor(struct vd_index *index, uint64_t floor, size_t passed);

/* For the writer: the newest event of an object that exists, or NULL; for preconditions. */
static inline const struct vd_event *vd_entry_live(const struct vd_entry *entry)
{
    return entry->newest && vd_event_is_live(entry->newest) ? entry->newest : NULL;
}

#endif
