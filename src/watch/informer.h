/*
 * An informer: follows the log, and tells its handlers of every object once, then of every change.
 *
 * It begins with a *list*: all objects as of one revision, resource by resource. From that revision
 * on it reads the log. When it cannot read on in the log - the floor has passed the informer's
 * revision, or a row is damaged - it lists again, and tells its handlers that a list begins: an
 * object that is not in that list does not exist any more. A list that fails (the floor has passed
 * its revision) is begun again after a pause that doubles, from VD_INFORMER_RETRY_MS_MIN to
 * VD_INFORMER_RETRY_MS_MAX.
 *
 * All work is done in bounded pieces: vd_informer_turn() does one and says when to call it again.
 * The informer knows no loop. When there is something to read, the store's writer calls `wake`, on
 * whatever thread the writer runs; the owner then has to call vd_informer_turn(), on the one thread
 * that the informer belongs to.
 *
 *     handler                 told
 *     listing                 a list begins
 *     changed                 an object of the list (`before` is NULL), or a change of the log
 *     damaged                 an object that cannot be read: it is skipped
 *     deletion_missed         an object that was known and is not in the list any more
 *     synced                  the list is complete
 *     passed                  everything up to this revision was told
 *     failed                  a list has failed, and is begun again after the pause
 *     committed               on the writer's thread, before whoever wrote is answered: a commit
 *
 * Revisions only grow, but they are not dense, and other processes may commit. So whoever wants to
 * know whether an event was told compares its revision with the one that the informer has *passed*;
 * neither a count of events nor the newest revision of the store says so.
 *
 * All informers treat an object whose bytes are damaged alike: they skip it, name it once in the
 * server's log, count it in vedette_informer_damaged_objects_total, and go on. A handler that finds
 * that an object makes no sense reports it with vd_informer_report(), to the same effect.
 */
#ifndef VD_WATCH_INFORMER_H
#define VD_WATCH_INFORMER_H

#include <stdatomic.h>

#include "base/hash_map.h"
#include "base/vec.h"
#include "store/commit.h"
#include "store/log_read.h"
#include "store/snapshot.h"
#include "store/store.h"

struct vd_informer;
struct vd_informer_handler;
struct vd_known_object;

/* Functions that are NULL are not called. All but `committed` are called by vd_informer_turn();
 * none may stop the informer. What they are given is borrowed for the call. */
struct vd_informer_ops {
    void (*listing)(struct vd_informer_handler *handler);
    void (*changed)(struct vd_informer_handler *handler, const struct vd_change *change);
    void (*damaged)(struct vd_informer_handler *handler, const struct vd_key *key);
    void (*deletion_missed)(struct vd_informer_handler *handler, const struct vd_key *key);
    void (*synced)(struct vd_informer_handler *handler);
    /* `whole`: the revision is inside no atomic batch. */
    void (*passed)(struct vd_informer_handler *handler, uint64_t revision, bool whole);
    void (*failed)(struct vd_informer_handler *handler, const struct vd_error *error,
                   uint64_t retry_ms);
    void (*committed)(struct vd_informer_handler *handler, const struct vd_commit *commit);
};

/* Embedded in the structure that is to be told. */
struct vd_informer_handler {
    const struct vd_informer_ops *ops;
    struct vd_informer_handler *next; /* used by the informer */
};

/* Names of resources as they are stored, which must be constants. None: all resources of the
 * store. */
struct vd_informer_resources {
    const struct vd_slice *names;
    size_t n;
};

struct vd_informer_options {
    struct vd_store *store;
    const char *name;                      /* used in log lines and metrics; a constant */
    struct vd_informer_resources listed;   /* those whose objects a list tells of */
    struct vd_informer_resources followed; /* those whose changes are told */
    /* Whether the informer remembers the keys of all objects that it has told of, so that it can
     * tell of deletions that it has missed. It costs some hundred bytes for each of them. */
    bool keeps_keys;
    const char *damage_text; /* what the log says of a damaged object; NULL: a general sentence */
    /* Called by the writer, on its thread, for each commit that concerns the informer:
     * vd_informer_turn() is due. */
    void (*wake)(void *arg);
    void *arg;
};

struct vd_informer {
    struct vd_informer_options options;
    /* Private: */
    struct vd_informer_handler *handlers, **handlers_end;
    struct vd_subscriber subscriber;
    _Atomic uint64_t heard;       /* revision of the newest commit that concerns the informer */
    _Atomic uint64_t heard_after; /* the revision before the first such commit since the last turn
                                     began; 0: there was none */
    enum {
        VD_INFORMER_LIST_DUE,
        VD_INFORMER_LISTING,
        VD_INFORMER_SWEEPING,
        VD_INFORMER_FOLLOWING
    } state;
    uint64_t revision; /* everything up to here was told; while listing: the list's revision */
    bool at_end;       /* the last piece reached all that it had heard of before that piece */
    uint64_t retry_ms; /* the last pause; 0: the last list has worked */
    struct vd_store_resources resources; /* of the list */
    size_t kind_at;
    bool snapshot_open;
    struct vd_snapshot snapshot;
    struct vd_stretch stretch;
    struct vd_hash_map known; /* of struct vd_known_object, if it keeps keys */
    uint64_t lists;           /* the number of lists begun so far */
    size_t sweep_at;
    bool swept; /* all known objects were looked at, and those missing from the list are: */
    VD_VEC(struct vd_known_object *) missed;
    VD_VEC(uint64_t) reported; /* hashes of the errors that were logged already */
};

/* What vd_informer_turn() returns when there is nothing to do before it is woken. */
#define VD_INFORMER_IDLE UINT64_MAX

/* Options are copied. Nothing happens before vd_informer_start(). */
void vd_informer_init(struct vd_informer *informer, const struct vd_informer_options *options);

/* To be called before the start. Handlers are told in the order in which they were added. */
void vd_informer_add_handler(struct vd_informer *informer, struct vd_informer_handler *handler);

/* From here on `wake` and `committed` are called. The first turn is due, without being woken. */
void vd_informer_start(struct vd_informer *informer);

/* The same, but without a list: what comes after the revision is told, as if a list as of that
 * revision had been told before. If the log cannot be read from there, it begins with a list. */
void vd_informer_start_at(struct vd_informer *informer, uint64_t revision);

/* Stops and frees everything. When this returns, no handler is running and none is called any more.
 * It may be called before the start, and more than once. */
void vd_informer_stop(struct vd_informer *informer);

/* Does a bounded piece of work. Returns after how many milliseconds the next turn is due: 0: at
 * once; VD_INFORMER_IDLE: when the informer is woken; any other number: after that time, even if
 * the informer is woken before. */
uint64_t vd_informer_turn(struct vd_informer *informer) VD_MUST_USE;

/* For a handler that cannot read an object: names it in the log, if that was not done before, and
 * counts it. To be called on the thread of the turn. */
void vd_informer_report(struct vd_informer *informer, const struct vd_error *error);

/* Whether the list is complete and the log is being followed. */
static inline bool vd_informer_is_synced(const struct vd_informer *informer)
{
    return informer->state == VD_INFORMER_FOLLOWING;
}

/* Everything up to this revision was told, if the informer is synced. */
static inline uint64_t vd_informer_revision(const struct vd_informer *informer)
{
    return informer->revision;
}

/* The revision of the newest commit to a followed resource that the store has told of: the proposer
 * of a newer one has not been answered yet. Any thread may call it. */
static inline uint64_t vd_informer_heard(struct vd_informer *informer)
{
    return atomic_load(&informer->heard);
}

#endif
