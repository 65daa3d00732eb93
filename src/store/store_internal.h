/* The store's own insides, for the files of src/store only. */
#ifndef VD_STORE_STORE_INTERNAL_H
#define VD_STORE_STORE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/commit.h"
#include "store/engine.h"
#include "store/health.h"
#include "store/index.h"
#include "store/store.h"

/* Only the writer uses `engine` for writing, `compactor`, `group`, `time_ms` and `cut_off`; the
 * other fields stand below the lock that guards them, or are atomic. Locks are taken in the order
 * subscriber_lock, index.lock; health_lock is never held with another, and queue_lock is not held
 * with another lock of the store. An engine may hold a lock of its own when it wakes the writer,
 * which takes queue_lock. */
struct vd_store {
    struct vd_engine *engine;
    struct vd_index index;
    struct vd_store_options options; /* zeros replaced by the defaults */
    pthread_t writer;
    bool writer_runs;
    int64_t time_ms; /* of the newest row: rows' times never go back */
    struct vd_group *group;
    bool cut_off; /* changes of other processes can no longer be taken in */

    pthread_mutex_t queue_lock; /* guards the fields up to compact_error */
    pthread_cond_t queue_filled;
    pthread_cond_t compacted;
    struct vd_proposal *queue_head;
    struct vd_proposal **queue_end;
    size_t queue_len;
    bool stopping;
    bool thread_due; /* the thread waits for its turn to write, and has work */
    bool others_due; /* other processes may have written or compacted */
    bool writing;    /* somebody is the writer at the moment: the writer's thread, or a proposer */
    size_t here_n;   /* groups that proposers have committed since the thread last did its
                        housekeeping */
    uint64_t compact_target;       /* what vd_store_compact() asks for; 0: nothing */
    struct vd_error compact_error; /* how the last asked-for compaction ended */

    struct {
        int64_t next_age_ms; /* wall clock: no event becomes too old before this time */
        bool active;         /* the window was over its bound and is not yet back at it */
        uint64_t retry_ns;   /* monotonic: no step before this time, after one that failed with an
                                error that passes */
    } compactor;

    pthread_mutex_t subscriber_lock; /* guards the list; held while a commit is told */
    struct vd_subscriber *subscribers;

    pthread_mutex_t health_lock; /* guards health */
    struct vd_health health;
    struct vd_error damage; /* found while the log was loaded, or VD_OK; constant afterwards */

    _Atomic bool read_only;
    _Atomic uint64_t commits, groups, groups_here, refused, behind, taken_in, compacted_rows;
};

/* The writer thread's main function. */
void *vd_writer_run(void *store);

/* Refuses every write from now on, for this reason. */
void vd_store_fail(struct vd_store *store, const struct vd_error *error);

/* For the writer: notes the error that keeps the store from writing until it passes; NULL: nothing
 * does any more. */
void vd_store_hinder(struct vd_store *store, const struct vd_error *error);
bool vd_store_is_hindered(const struct vd_store *store);

/* For the writer: finds out whether the error that kept the store from writing has passed. */
void vd_store_probe(struct vd_store *store);

/*
 * Does one step of compaction if one is due, or if `target` (0: none) asks for
 * it. *again says whether the next step is due at once.
 */
int vd_compactor_step(struct vd_store *store, uint64_t target, bool *again, struct vd_error *error);

struct vd_group *vd_group_new(struct vd_store *store) VD_MUST_USE;
void vd_group_free(struct vd_group *group);

/* Commits what these proposals ask for and answers them; see group.c. False: nothing was written
 * and nobody was answered, as another process has the log or was faster; that cannot happen if
 * `patient` is set. */
bool vd_group_run(struct vd_store *store, struct vd_proposal *first, bool patient);

/* What was read from the engine is complete for cursors above this; see index.h. */
uint64_t vd_store_floor_next(struct vd_store *store);

/* For the writer: makes committed events visible and tells the subscribers, as one step. The index
 * takes over the references. */
void vd_store_publish(struct vd_store *store, struct vd_event **events, size_t n);

/*
 * For the writer: takes in a bounded piece of what other processes have committed, and the floor
 * that they have moved; see intake.c. *more says whether there is more. An error that does not pass
 * has made the store read-only.
 */
int vd_intake_step(struct vd_store *store, bool *more, struct vd_error *error) VD_MUST_USE;

/* For the writer: calls vd_intake_step() until there is no more. */
int vd_intake_all(struct vd_store *store, struct vd_error *error) VD_MUST_USE;

/* Makes the writer look for what others have committed; any thread may call it. */
void vd_intake_wake(void *store);

/*
 * One version from the engine, by its revision. A deletion comes with the body of the version that
 * it replaced, unless that is gone. VD_ERR_NOT_FOUND when the row is gone. A version whose bytes
 * are damaged is marked so and has no body.
 */
int vd_store_fetch(struct vd_store *store, struct vd_entry *entry, uint64_t revision,
                   struct vd_event **out, struct vd_error *error) VD_MUST_USE;

/* The sentences for a revision that cannot be read at. */
int vd_expired(uint64_t revision, uint64_t floor, struct vd_error *error);
int vd_future(uint64_t revision, uint64_t newest, struct vd_error *error);
int vd_damaged(const struct vd_event *event, struct vd_error *error);

#endif
