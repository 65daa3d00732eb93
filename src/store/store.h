/*
 * The store: one durable, ordered log of changes, and the state that it adds up
 * to. Reading on in the log is in log_read.h, lists are in snapshot.h, subscribers in commit.h,
 * and what keeps a store from writing is in health.h.
 *
 * Other processes may write to the same log (see engine.h). The store takes their changes in as
 * they arrive, so its newest revision may be less than the log's. A proposal is judged against the
 * log as it is, and is answered when the changes that it made are visible here.
 *
 * All functions are thread-safe unless they say otherwise. There is one writer at a
 * time, mostly a thread of its own, with group commit: whatever has queued up while the
 * last group was synced makes the next one. Reading never touches the disk unless it
 * asks for history that has left memory.
 */
#ifndef VD_STORE_STORE_H
#define VD_STORE_STORE_H

#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "store/event.h"
#include "store/proposal.h"

struct vd_store;

struct vd_engine;

/* Zero means the default of limits.h. */
struct vd_store_options {
    const struct vd_clock *clock; /* NULL: the system's */
    size_t window_events_max;
    int64_t window_age_ms_max;
    size_t tail_events_max;
    size_t tail_bytes_max;
    bool manual_compaction; /* only vd_store_compact() moves the floor */
};

/*
 * Opens a store on the log of an engine. The store takes the engine over and closes it with itself,
 * or at once if opening fails. `options` NULL: all defaults. A damaged body does not keep the store
 * from opening: see vd_store_health(). store/folder.h opens an engine and a store at once.
 */
int vd_store_open(struct vd_store **out, struct vd_engine *engine,
                  const struct vd_store_options *options, struct vd_error *error) VD_MUST_USE;

/* Finishes what was proposed, stops the writer and frees the store. Nobody may
 * be using it any more. NULL allowed. */
void vd_store_close(struct vd_store *store);

/* ---- writing ---- */

/* VD_OK, or why no store takes the proposal, whatever it holds: *at is then the wish that is too
 * large or malformed. The store checks each proposal like this; a caller that does not mean to
 * propose (a dry run) may ask, too. */
int vd_proposal_check(const struct vd_proposal *p, size_t *at, struct vd_error *error) VD_MUST_USE;

/* Hands an admitted proposal to the writer; see proposal.h. Never blocks on the disk. */
void vd_store_propose(struct vd_store *store, struct vd_admitted *admitted);

/* Hands all proposals of the list to the writer at once, so that they come into one group if there
 * is room. One at a time, the first would be committed alone while the others are handed over. */
void vd_store_propose_all(struct vd_store *store, const struct vd_admitted_list *list);

/*
 * Proposes one proposal, and commits it on the caller's thread if nobody is writing at the moment:
 * `done` has been called when this returns true. That saves a lone writer two handovers between
 * threads, and makes the caller wait for the disk. False: the proposal was handed to the writer's
 * thread, as by vd_store_propose(). That also happens when another process has the log, as the
 * caller does not wait for it, when other processes have written to the log meanwhile, and always
 * when the engine is `thread_only`.
 */
bool vd_store_propose_here(struct vd_store *store, struct vd_admitted *admitted);

/* Waits until all that was proposed before this call has been answered. */
void vd_store_settle(struct vd_store *store);

/* ---- reading ---- */

/* The newest revision that readers see; everything up to it is durable. */
uint64_t vd_store_revision(struct vd_store *store);

/* Cursors at or below this revision are expired. */
uint64_t vd_store_floor(struct vd_store *store);

/* VD_OK: a cursor can stand here. VD_ERR_EXPIRED, VD_ERR_FUTURE: it cannot. */
int vd_store_check_revision(struct vd_store *store, uint64_t revision, struct vd_error *error);

/*
 * One object as of a revision, 0 for the newest: a reference to its event in
 * *out. VD_ERR_NOT_FOUND, VD_ERR_EXPIRED, VD_ERR_FUTURE, VD_ERR_CORRUPT (its
 * bytes are damaged; it can still be replaced or deleted).
 */
int vd_store_get(struct vd_store *store, const struct vd_key *key, uint64_t revision,
                 struct vd_event **out, struct vd_error *error) VD_MUST_USE;

/* The newest version of the object that an entry belongs to, without looking it up: a reference.
 * NULL: it does not exist, or is damaged, or has come into being again after all that was known of
 * it had left the window: vd_store_get() tells which. */
struct vd_event *vd_store_newest(struct vd_store *store, const struct vd_entry *entry) VD_MUST_USE;

/* How many objects of a resource exist now. */
size_t vd_store_count(struct vd_store *store, struct vd_slice resource);

/* Names of resources, which live as long as the store. `= {0}` is empty. */
struct vd_store_resources {
    VD_VEC(struct vd_slice);
};

/* Adds the resources that have objects, or had some, in no particular order. */
void vd_store_resources(struct vd_store *store, struct vd_store_resources *out);

/* ---- care ---- */

/*
 * Moves the floor up to `floor` at most (never into the newest batch) and takes
 * out of the log what only older cursors needed. Works in small steps between
 * commits and returns when done.
 */
int vd_store_compact(struct vd_store *store, uint64_t floor, struct vd_error *error) VD_MUST_USE;

struct vd_store_stats {
    uint64_t revision, floor, tail_floor;
    uint64_t window_events, tail_events, tail_bytes;
    uint64_t objects, resources;
    uint64_t commits, groups, refused;
    uint64_t groups_here; /* groups that a proposer committed on its own thread */
    uint64_t behind;   /* how often a group was judged again because another process was faster */
    uint64_t taken_in; /* changes of other processes that were taken in */
    uint64_t compacted_rows;
};
void vd_store_stats(struct vd_store *store, struct vd_store_stats *out);

#endif
