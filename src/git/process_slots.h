/*
 * Slots: how many git processes run at a time, and who waits for one.
 *
 * A process needs a slot from before its start until it has exited. There is a set of slots for
 * those that serve requests, whose users share it, and one for fetches, where the users are the
 * namespaces. There are so many slots in a set, of which one user has a part at most. Who finds
 * none waits. A slot that is given back goes to the user who has the fewest and may have one more,
 * and of these to the one who has waited longest. When too many wait, one more is refused.
 *
 * One set of slots serves all loops. Its functions take a lock for a short while; a slot itself
 * belongs to its loop.
 */
#ifndef VD_GIT_PROCESS_SLOTS_H
#define VD_GIT_PROCESS_SLOTS_H

#include <pthread.h>

#include "base/attributes.h"
#include "base/hash_map.h"
#include "net/loop.h"

struct vd_slot_user;

struct vd_slot_limits {
    size_t max, user_max;                 /* slots, and those of one user */
    size_t waiting_max, user_waiting_max; /* who may wait */
};

struct vd_process_slots {
    struct vd_slot_limits limits;
    void (*measure)(size_t taken, size_t waiting); /* for metrics; NULL: nobody measures */
    pthread_cond_t free;                           /* signalled when no slot is taken any more */
    pthread_mutex_t lock; /* guards the rest; held for a look-up or a walk over those who wait */
    size_t taken, waiting;
    struct vd_slot *first, *last; /* those who wait, the longest waiting first */
    struct vd_hash_map users;     /* who have slots or wait, by name */
};

enum vd_slot_state { VD_SLOT_NONE, VD_SLOT_TAKEN, VD_SLOT_WAITING, VD_SLOT_GRANTED };

/* Embedded in whoever needs one. */
struct vd_slot {
    struct vd_loop *loop;
    /* On the loop: a slot that was waited for is there. */
    void (*granted)(struct vd_slot *slot);
    /* Private: */
    enum vd_slot_state state; /* GRANTED: `granted` is about to be called */
    struct vd_process_slots *slots;
    struct vd_slot_user *user;
    struct vd_slot *prev, *next;
    struct vd_task task;
};

void vd_process_slots_init(struct vd_process_slots *slots, const struct vd_slot_limits *limits,
                           void (*measure)(size_t taken, size_t waiting));
void vd_process_slots_release(struct vd_process_slots *slots); /* when all were given back */

/* Waits until all were given back. False: the time is up. Any thread but a loop's. */
bool vd_process_slots_wait(struct vd_process_slots *slots, uint64_t timeout_ms);

enum vd_slot_result {
    VD_SLOT_NOW,     /* it is taken */
    VD_SLOT_LATER,   /* `granted` will be called */
    VD_SLOT_REFUSED, /* too many wait */
};

/* The slot's `loop` and `granted` are set; the rest is zero. The name is copied. */
enum vd_slot_result vd_slot_take(struct vd_process_slots *slots, struct vd_slot *slot,
                                 struct vd_slice user) VD_MUST_USE;

/* Does not wait any more. False: it is too late, and `granted` will be called still. */
bool vd_slot_cancel(struct vd_slot *slot) VD_MUST_USE;

/* Whether somebody waits who would get this slot, which is taken, if it were given back. */
bool vd_slot_is_wanted(struct vd_slot *slot) VD_MUST_USE;

/* Gives it back. Does nothing to one that was not taken. */
void vd_slot_give_back(struct vd_slot *slot);

#endif
