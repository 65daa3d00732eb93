/*
 * Deliveries of a watch that cannot be sent at once: a webhook has to convert them, or to show them
 * takes so long that a worker's thread makes the frame.
 *
 * Whoever is given the deliveries first makes the pending frame; the other watches of his group
 * find it in the place that the registry has for what they share, and wait for it, too. They have
 * taken the deliveries and take no more until then, so that each stream keeps its order. When the
 * webhook has answered, or the worker is done, `ready` is called for all who still wait; behind a
 * webhook the first one makes the wire bytes, and all send these.
 *
 * The frame holds references to the deliveries, which come from a piece of bounded length, and goes
 * with the last who waits. All on one loop; the worker has the deliveries and what it makes of
 * them, and nothing else.
 */
#ifndef VD_KUBE_PENDING_FRAME_H
#define VD_KUBE_PENDING_FRAME_H

#include "api/conversion.h"
#include "kube/event_frame.h"
#include "kube/watch_frame.h"
#include "net/exchange.h"
#include "watch/registry.h"

struct vd_account;
struct vd_frame_making;
struct vd_pending_frame;

/* Embedded in a watch. Zeroed, it does not wait. */
struct vd_frame_waiter {
    struct vd_pending_frame *frame; /* a reference; NULL: it does not wait */
    struct vd_frame_waiter *prev, *next;
    /* The frame is done; borrowed for the call. It does not wait any more, and may be freed. */
    void (*ready)(struct vd_frame_waiter *waiter, struct vd_pending_frame *frame);
};

struct vd_pending_frame {
    struct vd_shared shared;         /* first */
    struct vd_deliveries deliveries; /* when it is done, with the bodies that are shown */
    bool done;
    int code;                       /* when it is done: VD_OK, or ... */
    struct vd_error error;          /* ... why it could not be converted */
    struct vd_event_frame frame;    /* without parts: nobody has made it yet */
    bool broken;                    /* when it is made: its last event is an error */
    struct vd_frame_making *making; /* of one that a worker makes; else NULL */
    struct vd_frame_waiter *first;  /* who waits */
};

/* Whether a webhook has to convert some of them. */
bool vd_pending_frame_is_needed(const struct vd_kind *kind, const struct vd_deliveries *deliveries);

/* Has them converted: one reference. */
struct vd_pending_frame *vd_pending_frame_new(struct vd_kube_loop *l, const struct vd_kind *kind,
                                              const struct vd_deliveries *deliveries) VD_MUST_USE;

/* Has a worker make it: one reference. `account` pays for the work; NULL: nobody. What is left of
 * the form is for later frames: the columns of a Table come in this one. */
struct vd_pending_frame *vd_pending_frame_order(const struct vd_watch_form *form,
                                                const struct vd_deliveries *deliveries,
                                                struct vd_account *account) VD_MUST_USE;

/* The pending frame that is shared; NULL: nothing is, or something else. */
struct vd_pending_frame *vd_pending_frame_of(struct vd_shared *shared);

/* Of one that is not done. The waiter takes a reference. */
void vd_pending_frame_wait(struct vd_pending_frame *frame, struct vd_frame_waiter *waiter);

/* The waiter waits no longer, if it does. */
void vd_pending_frame_leave(struct vd_frame_waiter *waiter);

#endif
