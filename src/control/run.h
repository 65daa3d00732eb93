/*
 * A run: one call of a reconciler for one object.
 *
 * The manager starts a run and the reconciler ends it, once, with a result; that may be before
 * `start` returns. Between the two the reconciler may do what it likes, on the manager's loop or
 * elsewhere; it calls vd_run_end() on the manager's loop.
 *
 *     start ------------------------------> vd_run_end()
 *         `--- cancel (time-out, stop) ---> vd_run_end(), soon
 *
 * A run that is cancelled must end, too, for its memory is in use until then. What it says then
 * does not count any more.
 */
#ifndef VD_CONTROL_RUN_H
#define VD_CONTROL_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "control/result.h"
#include "net/loop.h"
#include "store/event.h"

struct vd_managed;
struct vd_managed_item;
struct vd_run;

struct vd_reconcile_ops {
    void (*start)(struct vd_run *run);
    void (*cancel)(struct vd_run *run);
};

/* Embedded in whatever reconciles. */
struct vd_reconcile {
    const struct vd_reconcile_ops *ops;
};

struct vd_run {
    struct vd_reconcile *reconcile;
    struct vd_managed *controller;
    struct vd_slice namespace, name; /* of the object; borrowed until the run ends */
    struct vd_event *object;         /* its newest version; NULL: there is no such object */
    unsigned attempt;                /* 1: the first one since the object was last reconciled */
    uint64_t started_ms;
    uint64_t deadline_ms; /* after which it is cancelled; UINT64_MAX: never */
    void *arg;            /* the reconciler's own */
    /* Private: */
    struct vd_managed_item *item;
    struct vd_run *prev, *next; /* of the controller's runs, the oldest first */
    bool is_slow;               /* it no longer holds a worker */
    bool is_cancelled;
};

/* On the manager's loop; the run is gone when this returns. */
void vd_run_end(struct vd_run *run, const struct vd_result *result);

#endif
