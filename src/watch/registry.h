/*
 * The registry: one loop's watchers, and how a commit finds those it concerns.
 *
 * Each event loop has one registry and is the only thread that touches it, except for its inbox:
 * the store's writer puts every commit there once, however many watchers there are, and wakes the
 * loop. In its turn the loop looks each change up by resource, namespace, name and label, so the
 * cost of a change depends on the watchers that it concerns, not on all that are registered.
 *
 * Watchers with filters of the same identity form a *group*. A change is judged
 * once for a group, and all its watchers are handed the same deliveries, so the
 * wire bytes can be made once and shared.
 *
 *   synced    it is handed each commit; its revision is the registry's
 *   unsynced  it is behind and reads the log, a bounded piece a turn, until it is synced
 *   parked    its owner took no more; it costs nothing until vd_watcher_resume()
 *   ahead     it was opened at a revision that the registry has not reached yet
 *
 * A loop that stops turning cannot make the inbox grow without bound: past VD_INBOX_COMMITS_MAX or
 * VD_INBOX_BYTES_MAX the inbox is dropped, and the registry's watchers catch up from the log like
 * any unsynced watcher. A commit with bodies of more than VD_GROUP_BYTES_MAX, which only a large
 * atomic batch has, is never put there: watchers read it from the log, in pieces.
 */
#ifndef VD_WATCH_REGISTRY_H
#define VD_WATCH_REGISTRY_H

#include <pthread.h>

#include "base/hash_map.h"
#include "base/heap.h"
#include "watch/cursor.h"

struct vd_registry;
struct vd_watcher;
struct vd_watch_group;

/* Something made from deliveries that a whole group shares. The registry drops
 * its reference when the group has been served. */
struct vd_shared {
    struct vd_refcount refs;
    void (*free)(struct vd_shared *shared);
};

void vd_shared_unref(struct vd_shared *shared);

/* What a watcher's owner answers when it is handed deliveries. */
enum vd_take {
    VD_TAKE_MORE, /* taken; go on */
    VD_TAKE_LAST, /* taken, but no more until vd_watcher_resume() */
    VD_TAKE_NOT,  /* not taken: give them again after vd_watcher_resume(). Allowed only if `shared`
                     was given */
    VD_TAKE_END,  /* the watcher leaves the registry; its owner may free it after the turn */
};

struct vd_watcher_ops {
    /*
     * Hands deliveries to the watcher, borrowed for the call, with the revision that they reach.
     * Those of a commit, and those of a stretch of the log that an unsynced watcher reads, may go
     * to others of the watcher's group as well: `shared` then points to a pointer, NULL at first,
     * where the first watcher may leave what it made of them for the others. Those of a watcher's
     * own snapshot come with `shared` NULL and must be taken: the watcher has just said that it was
     * ready. The function must not add or remove watchers; to leave, it returns VD_TAKE_END. It may
     * resume others. Whether a bookmark may be sent is in the deliveries: vd_watcher_bookmark() is
     * brought up to date only after the call.
     */
    enum vd_take (*deliver)(struct vd_watcher *watcher, const struct vd_deliveries *deliveries,
                            struct vd_shared **shared);

    /* The watcher cannot go on: VD_ERR_EXPIRED, VD_ERR_CORRUPT... It has left the
     * registry already and its owner may free it. */
    void (*ended)(struct vd_watcher *watcher, const struct vd_error *error);

    /*
     * Whether the owner can take another piece; NULL: always. An unsynced watcher is asked before
     * the piece is read, so that nothing is read that would have to wait. False: the watcher is
     * parked until vd_watcher_resume(). Must not add, remove or resume watchers.
     */
    bool (*ready)(struct vd_watcher *watcher);
};

enum vd_watcher_state {
    VD_WATCHER_OUT,
    VD_WATCHER_SYNCED,
    VD_WATCHER_UNSYNCED,
    VD_WATCHER_PARKED,
    VD_WATCHER_AHEAD,
};

/* Embedded in its owner. The cursor must be open when the watcher is added. */
struct vd_watcher {
    const struct vd_watcher_ops *ops;
    struct vd_cursor cursor;
    /* Used by the registry: */
    enum vd_watcher_state state;
    struct vd_registry *registry;
    struct vd_watch_group *group;
    union {                       /* depends on the state: */
        size_t at;                /* synced: its position in the group */
        struct vd_heap_node wait; /* ahead: by revision */
        struct {                  /* unsynced: its neighbours in the queue */
            struct vd_watcher *prev, *next;
        };
    };
};

struct vd_registry_stats {
    size_t watchers, groups;
    size_t synced, unsynced, parked, ahead;
    uint64_t revision;  /* the revision that synced watchers have passed */
    uint64_t overruns;  /* how often the inbox was dropped */
    uint64_t commit_ns; /* when the oldest commit of the last turn became visible; 0: it had none */
};

/* `wake` is called by the writer, maybe on the loop itself, when the inbox was empty and no longer
 * is: it must make the loop call vd_registry_turn() soon. */
struct vd_registry *vd_registry_new(struct vd_store *store, void (*wake)(void *arg),
                                    void *arg) VD_MUST_USE;

/* All watchers must have been removed before. When this returns, `wake` is not running and is not
 * called any more. */
void vd_registry_free(struct vd_registry *registry);

/* Takes a watcher in. It first reads the log (or its snapshot) from its cursor, in
 * the turns to come: a loop that sleeps must be made to turn. */
void vd_registry_add(struct vd_registry *registry, struct vd_watcher *watcher);

/* Takes a watcher out; the cursor stays open, at the watcher's revision. It must not be called from
 * inside deliver(). */
void vd_registry_remove(struct vd_watcher *watcher);

/* The owner can take again: the watcher goes on from its revision in the next turn. Does nothing to
 * one that is not parked. */
void vd_watcher_resume(struct vd_watcher *watcher);

/* When the oldest commit that no turn has served yet became visible; 0: there is none. */
uint64_t vd_registry_waiting_ns(struct vd_registry *registry);

/* While the registry is held, turns leave new commits in the inbox, but serve unsynced watchers. */
void vd_registry_hold(struct vd_registry *registry, bool held);

/* When the oldest commit became visible, by the monotonic clock, that a turn has begun to serve and
 * not finished; 0: there is none. */
uint64_t vd_registry_serving_ns(const struct vd_registry *registry);

/* Limits how many synced watchers a turn hands new commits to before it returns, so that the loop
 * can do other work; the next turn goes on. Long deliveries count for several watchers. 0, which is
 * the default: no limit. */
void vd_registry_limit_turn(struct vd_registry *registry, size_t watchers);

/*
 * One turn: serves what has been committed, then gives about `budget` deliveries to unsynced
 * watchers. Returns whether there is more to do at once.
 */
bool vd_registry_turn(struct vd_registry *registry, size_t budget);

/* The revision up to which the watcher has been given everything, if a bookmark may name it now; 0
 * if not. */
uint64_t vd_watcher_bookmark(const struct vd_watcher *watcher);

void vd_registry_stats(const struct vd_registry *registry, struct vd_registry_stats *out);

#endif
