/*
 * An informer: follows the log, and tells its handlers of every object once, then of every change.
 *
 * It begins with a *list*: all objects as of one revision, kind by kind. From that revision on it
 * reads the log. When the log cannot be read on - the window has passed its place, or a row is
 * damaged - it lists again, and its handlers learn of that: what is not listed then is not there
 * any more. A list that fails (the window has passed its revision) is begun again after a pause
 * that doubles, from VD_INFORMER_RETRY_MS_MIN to VD_INFORMER_RETRY_MS_MAX.
 *
 * All of it happens in bounded pieces: vd_informer_turn() does one and says when to call it again.
 * The informer knows no loop. It is woken by the store's writer, through `wake`, on whatever
 * thread that is; the owner then has to turn it, on the one thread that it belongs to.
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
 * Revisions only grow, but they are not dense, and other processes may commit: so that something
 * was seen is told by the revision that the informer has *passed*, never by counting and never by
 * the newest revision of the store.
 *
 * An object whose bytes are damaged is treated alike by all: it is skipped, the log names it once,
 * vedette_informer_damaged_objects_total counts it, and the informer goes on. A handler that finds
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

/* Embedded in whoever is told. */
struct vd_informer_handler {
    const struct vd_informer_ops *ops;
    struct vd_informer_handler *next; /* the informer's */
};

/* Resources, as they are stored; constants; none: all that the store has. */
struct vd_informer_resources {
    const struct vd_slice *names;
    size_t n;
};

struct vd_informer_options {
    struct vd_store *store;
    const char *name;                      /* in the log and in metrics; a constant */
    struct vd_informer_resources listed;   /* whose objects are told of by a list */
    struct vd_informer_resources followed; /* whose changes are told of */
    /* Whether the informer remembers the keys of all objects that it has told of, so that it can
     * tell of deletions that it has missed. It costs some hundred bytes for each of them. */
    bool keeps_keys;
    const char *damage_text; /* what the log says of a damaged object; NULL: a general sentence */
    /* Called on the writer's thread, as often as commits come: vd_informer_turn() is due. */
    void (*wake)(void *arg);
    void *arg;
};

struct vd_informer {
    struct vd_informer_options options;
    /* Private: */
    struct vd_informer_handler *handlers, **handlers_end;
    struct vd_subscriber subscriber;
    _Atomic uint64_t heard;       /* of the newest commit that concerns it */
    _Atomic uint64_t heard_after; /* the revision before the first such commit since the last turn
                                     began; 0: there was none */
    enum {
        VD_INFORMER_LIST_DUE,
        VD_INFORMER_LISTING,
        VD_INFORMER_SWEEPING,
        VD_INFORMER_FOLLOWING
    } state;
    uint64_t revision; /* everything up to here was told; while listing: of the list */
    bool at_end;       /* it has told all that it had heard of before the last piece */
    uint64_t retry_ms; /* the last pause; 0: the last list has worked */
    struct vd_store_resources resources; /* of the list */
    size_t kind_at;
    bool snapshot_open;
    struct vd_snapshot snapshot;
    struct vd_stretch stretch;
    struct vd_hash_map known; /* of struct vd_known_object, if it keeps keys */
    uint64_t lists;           /* begun so far; what is known carries the last one it was in */
    size_t sweep_at;
    bool swept; /* all that is known was looked at, and what is missing is: */
    VD_VEC(struct vd_known_object *) missed;
    VD_VEC(uint64_t) reported; /* hashes of what the log has named already */
};

/* What vd_informer_turn() returns when there is nothing to do before it is woken. */
#define VD_INFORMER_IDLE UINT64_MAX

/* Options are copied. Nothing happens before vd_informer_start(). */
void vd_informer_init(struct vd_informer *informer, const struct vd_informer_options *options);

/* Before the start. Handlers are told in the order in which they were added. */
void vd_informer_add_handler(struct vd_informer *informer, struct vd_informer_handler *handler);

/* From here on `wake` and `committed` are called. The first turn is due, without being woken. */
void vd_informer_start(struct vd_informer *informer);

/* Frees all. When it returns no handler is running, nor is one called any more. Allowed also
 * before the start, and again. */
void vd_informer_stop(struct vd_informer *informer);

/* Does a bounded piece of work. Returns after how many milliseconds the next turn is due, however
 * often it is woken before that if it is not 0; 0: at once; VD_INFORMER_IDLE: when it is woken. */
uint64_t vd_informer_turn(struct vd_informer *informer) VD_MUST_USE;

/* A handler could not read an object: names it in the log, if that was not done before, and counts
 * it. On the thread of the turn. */
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

/* The newest revision, of kinds that are followed, that the store has told of: whoever wrote
 * something newer has not been answered yet. Any thread. */
static inline uint64_t vd_informer_heard(struct vd_informer *informer)
{
    return atomic_load(&informer->heard);
}

#endif
