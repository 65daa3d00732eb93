/*
 * A controller that the manager runs: it follows the objects of one kind, and has its reconciler
 * called for each that has changed, until the reconciler is content.
 *
 *     log --informer--> keys --work queue--> runs --reconciler--> results
 *                                                   |  success: the key is done
 *                                                   |  requeue: it runs again after a time
 *                                                   |  retry:   it runs again after its pause, or
 * is |           parked after its last attempt
 *                                                   `- terminal: it is parked
 *
 * Only keys are queued. What a run gets is the object as it is when the run starts, so that a burst
 * of changes needs one run. No two runs of one key overlap. A key that waits for its next attempt
 * holds no worker; nor does a run that takes longer than `slow_ms`, as long as there are fewer than
 * `slow_max` of them: so runs that hang do not stop the others.
 *
 * The objects are the store's: nothing is copied, and several controllers of one kind share them.
 *
 * All of it happens on one loop, in pieces. The environment is borrowed; time comes from its clock.
 */
#ifndef VD_CONTROL_MANAGED_H
#define VD_CONTROL_MANAGED_H

#include "base/clock.h"
#include "base/hash_map.h"
#include "control/predicate.h"
#include "control/run.h"
#include "watch/informer.h"
#include "watch/work_queue.h"

enum {
    VD_MANAGED_WORKERS = 4, /* the defaults of the policy */
    VD_MANAGED_SLOW_MS = 20,
    VD_MANAGED_SLOW_MAX = 1024,
    VD_MANAGED_ATTEMPTS = 5,
    VD_MANAGED_RETRY_MS_MIN = 500,
    VD_MANAGED_RETRY_MS_MAX = 30000,
    VD_MANAGED_JITTER_PERCENT = 50,
    VD_MANAGED_STALL_MS = 300000,
    VD_MANAGED_CATCH_UP_MS = 10000,
};

/* How a controller works. It can be changed while it runs. 0 stands for the default. */
struct vd_managed_policy {
    unsigned workers;  /* runs at a time */
    uint64_t slow_ms;  /* after which a run no longer counts as one of these */
    unsigned slow_max; /* such runs at a time */
    unsigned attempts; /* runs before a key that fails is parked */
    struct vd_work_retry retry;
    uint64_t timeout_ms;  /* of a run; 0: none */
    uint64_t resync_ms;   /* after which all keys run once more; 0: never */
    uint64_t stall_ms;    /* without the end of any run, while there is work: it is stalled */
    uint64_t catch_up_ms; /* after which it reads on in the log, though nothing concerns it there */
};

/* Another kind whose objects concern this controller's. `map` calls vd_managed_enqueue() for each
 * key that an object, as it was and as it is, has to do with. */
struct vd_managed_watch {
    struct vd_slice resource;
    void (*map)(struct vd_managed *controller, const struct vd_change *change, void *arg);
    void *arg;
};

/* What becomes of the results, and where parked keys are. Calls come on the loop. */
struct vd_managed_ops {
    /* Writes what a run wants written, then calls vd_managed_written(). NULL, or a result without
     * anything to write: nothing is. */
    void (*write)(struct vd_managed *controller, struct vd_managed_item *item,
                  const struct vd_event *object, const struct vd_result *result);
    /* The key has failed for good: whoever owns the controller keeps it where it survives. */
    void (*park)(struct vd_managed *controller, struct vd_managed_item *item,
                 const struct vd_event *object, const struct vd_result *result);
    /* A parked key runs again: a new version of its object has come, or vd_managed_release(). */
    void (*unpark)(struct vd_managed *controller, struct vd_managed_item *item);
    /* Keys have become pending or are done: vd_managed_take_delta() tells which. NULL: there are no
     * checkpoints. */
    void (*dirty)(struct vd_managed *controller);
};

struct vd_managed_options {
    const char *name;
    struct vd_slice resource; /* as it is stored */
    struct vd_reconcile *reconcile;
    struct vd_predicate predicate;
    const struct vd_managed_watch *watches; /* borrowed */
    size_t watches_n;
    struct vd_managed_policy policy;
    const struct vd_managed_ops *ops;
    struct vd_store *store;
    const struct vd_clock *clock;
    struct vd_loop *loop;
};

/* Counts since the start, and how it is now. */
struct vd_managed_stats {
    uint64_t runs[VD_RESULT_OUTCOMES];
    uint64_t conflicts, timeouts;
    size_t queued, delayed, running, slow, parked;
    uint64_t ended_ms; /* when the last run ended; 0: none has */
    bool is_synced, is_stalled, is_paused;
};

struct vd_managed_item;

struct vd_managed *vd_managed_new(const struct vd_managed_options *options) VD_MUST_USE;

/* Starts behind a revision, of a checkpoint; 0: with a list. What a checkpoint has said of keys is
 * told before. */
void vd_managed_start(struct vd_managed *controller, uint64_t revision);

/* No run is started any more, and all that are under way are cancelled when the time is over.
 * `stopped` is called once none is left; then it may be freed. */
void vd_managed_stop(struct vd_managed *controller, uint64_t drain_ms,
                     void (*stopped)(struct vd_managed *controller, void *arg), void *arg);
void vd_managed_free(struct vd_managed *controller);

void vd_managed_set_policy(struct vd_managed *controller, const struct vd_managed_policy *policy);

/* A paused controller follows the log and queues keys, and starts no run. */
void vd_managed_pause(struct vd_managed *controller, bool paused);

/* The key runs, as soon as it can. */
void vd_managed_enqueue(struct vd_managed *controller, struct vd_slice namespace,
                        struct vd_slice name, enum vd_work_priority priority);

/* A parked key, as of a version of its object: it does not run before it is released or that
 * changes. To be called when it has been kept, and at the start for those that were kept before. */
void vd_managed_parked(struct vd_managed *controller, struct vd_slice namespace,
                       struct vd_slice name, int64_t generation, const struct vd_uid *uid);

/* False: no such key is parked. */
bool vd_managed_release(struct vd_managed *controller, struct vd_slice namespace,
                        struct vd_slice name);

/* ops->write is done. VD_OK; VD_ERR_CONFLICT: the object has changed, and the key runs again
 * without that being an attempt; VD_ERR_NOT_FOUND: it is gone, which is no failure; any other code:
 * the run has failed. */
void vd_managed_written(struct vd_managed *controller, struct vd_managed_item *item, int code,
                        const struct vd_error *error);

void vd_managed_stats(struct vd_managed *controller, struct vd_managed_stats *out);

/* Everything up to here was told to the queue. */
uint64_t vd_managed_revision(const struct vd_managed *controller);

/* The key of an item. */
struct vd_slice vd_managed_item_namespace(const struct vd_managed_item *item);
struct vd_slice vd_managed_item_name(const struct vd_managed_item *item);

/* ---- checkpoints ---- */

/* Tells of each key that has become pending since the last call, or is done, and returns the
 * revision up to which everything was told to the queue. A key is pending from when it is queued
 * until it is done or parked. A controller that starts behind that revision with the pending keys
 * of all calls misses nothing, and does nothing twice that was told as done. */
uint64_t vd_managed_take_delta(struct vd_managed *controller,
                               void (*each)(void *arg, struct vd_slice namespace,
                                            struct vd_slice name, bool is_pending),
                               void *arg);

#endif
