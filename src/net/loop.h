/*
 * An event loop: one thread that owns connections, timers and watchers.
 *
 * Other threads hand it work as tasks (vd_loop_post); everything else is called
 * on the loop's own thread only. A turn is: I/O and tasks, then the turn hooks in
 * the order they were added, then waiting. What a turn writes to sockets is
 * collected and sent by the last hook, so that it is coalesced.
 */
#ifndef VD_NET_LOOP_H
#define VD_NET_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/heap.h"

enum { VD_LOOP_SCRATCH_LEN = 65536 }; /* bytes of a loop's scratch memory */

/* Work for a loop, embedded in whatever it is about. */
struct vd_task {
    void (*run)(struct vd_task *task);
    struct vd_task *next; /* the loop's */
};

struct vd_task_queue {
    struct vd_task *first, **end;
};

/* Runs once, at or after its time; those of one time in the order they were set.
 * Zeroed, it is not set. It is out of the loop's hands when `fire` is called. */
struct vd_timer {
    struct vd_heap_node node; /* by nanoseconds of the monotonic clock */
    void (*fire)(struct vd_timer *timer);
};

/* Is called at the end of every turn; true asks for another turn at once. */
struct vd_turn_hook {
    bool (*run)(struct vd_turn_hook *hook);
    struct vd_turn_hook *next; /* the loop's */
};

struct vd_process;

struct vd_loop {
    uv_loop_t uv;
    size_t index;  /* 0, 1, ... among the server's loops */
    char *scratch; /* VD_LOOP_SCRATCH_LEN bytes for whoever is running just now */
    /* Private: */
    uv_thread_t thread;
    uv_async_t wake;
    uv_prepare_t before_wait;
    uv_idle_t again; /* active while a hook asked for another turn */
    uv_timer_t alarm;
    struct vd_heap timers;
    uint64_t alarm_ns; /* when alarm rings; UINT64_MAX: never */
    struct vd_turn_hook *hooks;
    struct vd_process *processes; /* that run on it; see process.h */
    bool firing;                  /* timers are being fired further up the stack */
    bool wants_again;             /* since the hooks began to run */
    bool posted_here;             /* by itself: for the next turn, which comes at once */
    _Atomic uintptr_t self;       /* the thread that runs it; 0: none does */
    uv_mutex_t inbox_lock;        /* guards the inboxes and stopping; held for a push or a swap */
    struct vd_task_queue inbox;
    struct vd_task_queue last; /* for the end of a turn */
    bool stopping;
    bool started; /* of whoever starts and stops it */
};

int vd_loop_init(struct vd_loop *loop, size_t index, struct vd_error *error) VD_MUST_USE;
int vd_loop_start(struct vd_loop *loop, struct vd_error *error) VD_MUST_USE;

/* Runs what was posted before, closes the loop's own handles, and waits for the
 * thread. Listeners and connections on it must be closed by then: a task that closes
 * them, posted before this call, is enough. Timers that are set do not fire. Processes that still
 * run are killed; see process.h. */
void vd_loop_stop(struct vd_loop *loop);

/* Whether that has begun. */
bool vd_loop_is_stopping(struct vd_loop *loop);

/* After stop; tasks that were not run are dropped. */
void vd_loop_release(struct vd_loop *loop);

/* From any thread: the task is run once, on the loop. It must stay where it is
 * until then. */
void vd_loop_post(struct vd_loop *loop, struct vd_task *task);

/* The same, but behind the hooks of a turn, when what the turn had to say has been sent: for what
 * nobody waits for. Tasks that are posted in this way are run in their order. */
void vd_loop_post_last(struct vd_loop *loop, struct vd_task *task);

/* On the loop, in a hook: runs what has been posted by now, which else is for the next turn. */
void vd_loop_run_posted(struct vd_loop *loop);

/* From any thread: makes the loop turn. */
void vd_loop_wake(struct vd_loop *loop);

/* On the loop: its hooks run before it waits, once more if they are running now. Whoever leaves
 * something for a hook that may have run already says so. */
void vd_loop_again(struct vd_loop *loop);

/* Puts a hook at the end of the list, where it may have stood further in front; before start,
 * or on the loop. */
void vd_loop_hook(struct vd_loop *loop, struct vd_turn_hook *hook);

/* Work that takes too long for a loop: `run` is called on a thread of its own, then `done` on the
 * loop that it was given to. Embedded in whatever it is about. */
struct vd_work {
    void (*run)(struct vd_work *work);
    void (*done)(struct vd_work *work);
    uv_work_t uv; /* the loop's */
};

/* On the loop. A loop that is stopped waits for its work, and `done` is called. */
void vd_loop_work(struct vd_loop *loop, struct vd_work *work);

/* Sets, moves or stops a timer. */
void vd_timer_set(struct vd_loop *loop, struct vd_timer *timer, uint64_t delay_ms);
void vd_timer_stop(struct vd_loop *loop, struct vd_timer *timer);

static inline bool vd_timer_is_set(const struct vd_timer *timer)
{
    return vd_heap_has(&timer->node);
}

#endif
