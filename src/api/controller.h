/*
 * A controller: a part of the server that follows the log and acts on what it sees.
 *
 * Its informer (watch/informer.h) tells it of every object and of every change; the controller
 * keeps from that what it needs. What may have to be worked on is an *item* of its work queue
 * (watch/work_queue.h). When an item's turn comes, its reconciler looks at the store and sends at
 * most one conditional batch there (conditional_batch.h): changes that hold only if nothing has
 * moved since it looked. The item is reconciled again when the batch has been answered, until there
 * is nothing left to do. So a conflict needs no special care, nor does a restart, nor a burst of
 * events about one thing. A batch that the store could not commit is tried again after a pause.
 *
 * Several parts of the server can share a controller, each with handlers and reconcilers of its
 * own: then the log is read once for all of them.
 *
 * All of it happens on one loop, in small pieces, behind the answers of a turn: nobody waits for a
 * controller, and those who do, as for a new kind, say so. No function here waits, but for
 * vd_controller_stop().
 *
 *     vd_controller_init(&c, &env, &options);
 *     vd_informer_add_handler(&c.informer, &handler);
 *     vd_controller_start(&c);
 */
#ifndef VD_API_CONTROLLER_H
#define VD_API_CONTROLLER_H

#include "base/arena.h"
#include "kinds/kinds.h"
#include "net/loop.h"
#include "store/store.h"
#include "watch/informer.h"
#include "watch/work_queue.h"
#include "json/document.h"

struct vd_controller;
struct vd_controller_item;

/* What all controllers of a server work on. */
struct vd_controller_env {
    struct vd_store *store;
    struct vd_kinds *kinds;
    const struct vd_clock *clock;
    struct vd_loop *loop;
};

struct vd_controller_options {
    const char *name; /* of the informer, in the log and in metrics; a constant */
    struct vd_informer_resources listed; /* of the informer; changes of all kinds are told */
};

/* What is done with an item. Embedded in whoever does it. On the loop. */
struct vd_reconciler {
    /* Looks at the store and does what is to be done. May add the item again. */
    void (*reconcile)(struct vd_controller_item *item);
    /* Nothing is queued or under way for the item any more: it may be freed. NULL: it stays. */
    void (*settled)(struct vd_controller_item *item);
};

/* Embedded in whatever it is about, which must stay while the item is not idle. */
struct vd_controller_item {
    struct vd_work_item work;
    struct vd_reconciler *reconciler;
    enum vd_code code; /* of its last batch */
    bool sent;         /* a batch of it is on its way */
};

struct vd_controller {
    struct vd_controller_env env;
    struct vd_informer informer;
    struct vd_work_queue queue;
    /* Private: */
    struct vd_task turn;
    _Atomic bool turn_posted;
    struct vd_timer relist;  /* set while the informer pauses after a list that failed */
    struct vd_timer delayed; /* when the next delayed item is due */
    size_t batches;          /* on their way */
    struct vd_task stop;
    bool stopping, quiet;
    uv_sem_t stopped;
};

/* The environment is copied. */
void vd_controller_init(struct vd_controller *controller, const struct vd_controller_env *env,
                        const struct vd_controller_options *options);

/* Before the loop starts or while it runs, from any thread. Handlers and reconcilers are called on
 * the loop. */
void vd_controller_start(struct vd_controller *controller);

/* While the loop runs, from another thread: waits until the controller has come to rest and nothing
 * of it is called any more. Items are not touched afterwards. The store must still be open. */
void vd_controller_stop(struct vd_controller *controller);

/* ---- on the loop ---- */

/* The item will be reconciled, once more if it is being reconciled now. */
void vd_controller_add(struct vd_controller *controller, struct vd_controller_item *item);

static inline bool vd_controller_item_is_idle(const struct vd_controller_item *item)
{
    return vd_work_item_is_idle(&item->work);
}

/* The newest version of an object: a reference, and the document in the arena if asked for.
 * VD_ERR_NOT_FOUND; VD_ERR_CORRUPT, which has been reported (vd_informer_report()). */
int vd_controller_read(struct vd_controller *controller, const struct vd_key *key,
                       struct vd_arena *arena, struct vd_event **out,
                       struct vd_json **object) VD_MUST_USE;

/* A batch of the item is on its way, and is back: for conditional_batch.c. */
void vd_controller_sent(struct vd_controller *controller, struct vd_controller_item *item);
void vd_controller_answered(struct vd_controller *controller, struct vd_controller_item *item,
                            enum vd_code code);

#endif
