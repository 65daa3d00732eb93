/*
 * The store: one durable, ordered log of changes, and the state that it adds up
 * to.
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
#include "base/limits.h"
#include "base/vec.h"
#include "store/event.h"
#include "store/proposal.h"

struct vd_store;

struct vd_store_options {
    const char *folder;           /* where the log is; NULL: the memory engine */
    const char *vfs;              /* SQLite VFS; NULL: the system's (tests use another) */
    const char *trace;            /* a file of the folder that is made only after a log: where it is
                                     there, no new log is made. NULL: none */
    const struct vd_clock *clock; /* NULL: the system's */
    /* Zero means the default of limits.h. */
    size_t window_events_max;
    int64_t window_age_ms_max;
    size_t tail_events_max;
    size_t tail_bytes_max;
    size_t checkpoint_pages;
    int busy_ms;            /* how long a write waits for another process that has the log */
    bool manual_compaction; /* only vd_store_compact() moves the floor */
};

/*
 * Opens the store in a folder, which is made when it is missing, and locks the
 * folder against other processes. VD_ERR_LOCKED names the process that has it.
 * A damaged body does not keep the store from opening: see vd_store_health. A log that is missing
 * or empty is made, unless there was one: VD_ERR_NOT_FOUND.
 */
int vd_store_open(struct vd_store **out, const struct vd_store_options *options,
                  struct vd_error *error) VD_MUST_USE;

/* Finishes what was proposed, stops the writer and frees the store. Nobody may
 * be using it any more. NULL allowed. */
void vd_store_close(struct vd_store *store);

/* ---- writing ---- */

/* VD_OK, or why no store takes the proposal, whatever it holds: *at is then the wish that is too
 * large or malformed. Each proposal is checked so; who does not mean to propose may ask. */
int vd_proposal_check(const struct vd_proposal *p, size_t *at, struct vd_error *error) VD_MUST_USE;

/* Hands an admitted proposal to the writer; see proposal.h. Never blocks on the disk. */
void vd_store_propose(struct vd_store *store, struct vd_admitted *admitted);

/* Hands over all of the list: they come into one group if there is room, where
 * one at a time the first would be committed alone while the others are on their way. */
void vd_store_propose_all(struct vd_store *store, const struct vd_admitted_list *list);

/*
 * Proposes one, and commits it on the caller's thread if nobody is writing at the moment: `done`
 * has been called when it returns true. That saves a lone writer two handovers between threads,
 * and makes the caller wait for the disk. False: it was handed over, as by vd_store_propose(); so
 * it is when another process has the log, for which the caller does not wait.
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
int vd_store_place(struct vd_store *store, uint64_t revision, struct vd_error *error);

/*
 * One object as of a revision, 0 for the newest: a reference to its event in
 * *out. VD_ERR_NOT_FOUND, VD_ERR_EXPIRED, VD_ERR_FUTURE, VD_ERR_CORRUPT (its
 * bytes are damaged; it can still be replaced or deleted).
 */
int vd_store_get(struct vd_store *store, const struct vd_key *key, uint64_t revision,
                 struct vd_event **out, struct vd_error *error) VD_MUST_USE;

/* How many objects of a kind exist now. */
size_t vd_store_count(struct vd_store *store, struct vd_slice kind);

/* Kinds by name; the names live as long as the store. `= {0}` is empty. */
struct vd_store_kinds {
    VD_VEC(struct vd_slice);
};

/* Adds the kinds that there are objects of, or were, in no particular order. */
void vd_store_kinds(struct vd_store *store, struct vd_store_kinds *out);

/* ---- the log ---- */

/* A stretch of the log, as a cursor reads it. `= {0}` is empty. */
struct vd_stretch {
    VD_VEC(struct vd_change) changes;
    uint64_t upto; /* everything up to here was passed */
    bool whole;    /* `upto` is not inside an atomic batch */
};

void vd_stretch_reset(struct vd_stretch *stretch); /* drops the references, keeps the memory */
void vd_stretch_release(struct vd_stretch *stretch);

/*
 * Reads on from `after`: up to `max` events of a kind (empty: of all kinds), each
 * with the version that it replaced, into *stretch, which is reset first. Passes
 * a bounded piece of the log, which ends with the event whose body fills
 * VD_READ_STEP_BYTES; there may be more when stretch->upto is less than
 * the newest revision. VD_ERR_EXPIRED at or below the floor. A future `after`
 * reads nothing and stays where it is.
 *
 * VD_ERR_CORRUPT when the next event's bytes are damaged: no cursor can pass it.
 * What an event replaced or deleted may be damaged; `before` says so and has no
 * body then, nor has a deletion.
 */
int vd_store_read(struct vd_store *store, struct vd_slice kind, uint64_t after, size_t max,
                  struct vd_stretch *stretch, struct vd_error *error) VD_MUST_USE;

/* vd_store_read(), but not beyond `upto`, which must be where an atomic batch ends:
 * a revision that was the newest once. */
int vd_store_read_upto(struct vd_store *store, struct vd_slice kind, uint64_t after, uint64_t upto,
                       size_t max, struct vd_stretch *stretch, struct vd_error *error) VD_MUST_USE;

/*
 * What a listener is told: the changes of one commit, all visible by now, in
 * order. Shared and immutable; a listener that keeps it takes a reference.
 */
struct vd_commit {
    struct vd_refcount refs;
    uint64_t after;    /* the newest revision before this commit */
    uint64_t revision; /* of its last change */
    uint64_t mono_ns;  /* when it became visible */
    size_t n;
    struct vd_change changes[];
};

struct vd_commit *vd_commit_ref(struct vd_commit *commit);
void vd_commit_unref(struct vd_commit *commit);

/* Is called by the writer, on whatever thread that is, once per commit, before the proposers
 * are answered: hand over and return. */
struct vd_listener {
    void (*committed)(struct vd_listener *listener, struct vd_commit *commit);
    struct vd_listener *next; /* the store's */
};

/* A listener hears of every commit behind the revision that is returned. */
uint64_t vd_store_listen(struct vd_store *store, struct vd_listener *listener);

/* When it returns, the listener is not running and will not be called again. */
void vd_store_unlisten(struct vd_store *store, struct vd_listener *listener);

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
    uint64_t objects, kinds;
    uint64_t commits, groups, refused;
    uint64_t groups_here; /* of the groups, those that a proposer committed itself */
    uint64_t compacted_rows;
};
void vd_store_stats(struct vd_store *store, struct vd_store_stats *out);

/* Whether the store is well; the sentence says what is wrong and what to do. What passes is looked
 * at about once a second while nobody writes, so that it is told as soon as it has passed. */
struct vd_health {
    bool read_only;            /* a write or sync failed: no write is accepted until restart */
    bool full;                 /* the last write found no room; the next one tries again */
    bool locked;               /* another process had the log for too long; likewise */
    bool short_of_memory;      /* SQLite had none; likewise */
    size_t damaged;            /* versions that fail their checksum, found at open */
    uint64_t damaged_revision; /* the oldest of them */
    struct vd_error error;
};
void vd_store_health(struct vd_store *store, struct vd_health *out);

#endif
