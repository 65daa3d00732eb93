/*
 * See loop.h. libuv does the waiting. Timers are a heap of our own behind one
 * uv_timer: a server has many, and nearly all are moved or stopped before they
 * fire, which here costs no system call and 40 bytes.
 */
#include "net/loop.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/container_of.h"
#include "net/process.h"

/* ---- tasks ---- */

static bool is_here(struct vd_loop *loop)
{
    return atomic_load_explicit(&loop->self, memory_order_relaxed) == (uintptr_t)pthread_self();
}

/* A loop that is awake needs no system call to turn once more. */
void vd_loop_wake(struct vd_loop *loop)
{
    if (is_here(loop))
        loop->wants_again = true;
    else
        uv_async_send(&loop->wake);
}

/* Whether the queue was empty: nobody is on the way to it. */
static bool push(struct vd_loop *loop, struct vd_task_queue *q, struct vd_task *task)
{
    task->next = NULL;
    uv_mutex_lock(&loop->inbox_lock);
    bool was_empty = q->first == NULL;
    *q->end = task;
    q->end = &task->next;
    uv_mutex_unlock(&loop->inbox_lock);
    return was_empty;
}

void vd_loop_post(struct vd_loop *loop, struct vd_task *task)
{
    bool was_empty = push(loop, &loop->inbox, task);
    if (is_here(loop))
        loop->posted_here = true;
    else if (was_empty)
        uv_async_send(&loop->wake);
}

void vd_loop_post_last(struct vd_loop *loop, struct vd_task *task)
{
    if (push(loop, &loop->last, task))
        vd_loop_wake(loop);
}

static void run_queue(struct vd_loop *loop, struct vd_task_queue *q)
{
    uv_mutex_lock(&loop->inbox_lock);
    struct vd_task *task = q->first;
    q->first = NULL;
    q->end = &q->first;
    uv_mutex_unlock(&loop->inbox_lock);
    for (struct vd_task *next; task; task = next) {
        next = task->next;
        task->run(task);
    }
}

void vd_loop_run_posted(struct vd_loop *loop)
{
    loop->posted_here = false;
    run_queue(loop, &loop->inbox);
}

static void close_handle(uv_handle_t *handle, void *arg)
{
    (void)arg;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

bool vd_loop_is_stopping(struct vd_loop *loop)
{
    uv_mutex_lock(&loop->inbox_lock);
    bool is_stopping = loop->stopping;
    uv_mutex_unlock(&loop->inbox_lock);
    return is_stopping;
}

static void run_tasks(uv_async_t *wake)
{
    struct vd_loop *loop = wake->data;
    bool stop = vd_loop_is_stopping(loop);
    vd_loop_run_posted(loop);
    if (stop) {
        run_queue(loop, &loop->last);
        vd_process_stop_all(loop);
        uv_walk(&loop->uv, close_handle, NULL);
    }
}

/* ---- turns ---- */

void vd_loop_hook(struct vd_loop *loop, struct vd_turn_hook *hook)
{
    struct vd_turn_hook **at = &loop->hooks;
    while (*at)
        if (*at == hook)
            *at = hook->next;
        else
            at = &(*at)->next;
    hook->next = NULL;
    *at = hook;
}

void vd_loop_again(struct vd_loop *loop)
{
    loop->wants_again = true;
}

static void turn_again(uv_idle_t *idle)
{
    (void)idle; /* being active is its work: libuv then does not wait */
}

static void run_hooks(uv_prepare_t *prepare)
{
    struct vd_loop *loop = prepare->data;
    bool again = false;
    if (loop->posted_here)
        vd_loop_run_posted(loop);
    loop->wants_again = false;
    for (struct vd_turn_hook *hook = loop->hooks; hook; hook = hook->next)
        again |= hook->run(hook);
    run_queue(loop, &loop->last);
    if (again || loop->wants_again || loop->posted_here)
        uv_idle_start(&loop->again, turn_again);
    else
        uv_idle_stop(&loop->again);
}

/* ---- timers ---- */

static void fire_due(uv_timer_t *alarm);

static void arm(struct vd_loop *loop)
{
    struct vd_heap_node *first = vd_heap_peek(&loop->timers);
    loop->alarm_ns = first ? first->key : UINT64_MAX;
    if (!first) {
        uv_timer_stop(&loop->alarm);
        return;
    }
    uint64_t now_ns = vd_clock_mono_ns(vd_clock_system());
    uint64_t wait_ms = first->key > now_ns ? (first->key - now_ns) / 1000000u + 1 : 0;
    if (uv_is_closing((uv_handle_t *)&loop->alarm))
        return;
    uv_update_time(&loop->uv);
    uv_timer_start(&loop->alarm, fire_due, wait_ms, 0);
}

static void fire_due(uv_timer_t *alarm)
{
    struct vd_loop *loop = alarm->data;
    uint64_t now_ns = vd_clock_mono_ns(vd_clock_system());
    struct vd_heap_node *node;
    loop->firing = true;
    while ((node = vd_heap_peek(&loop->timers)) && node->key <= now_ns) {
        vd_heap_pop(&loop->timers);
        struct vd_timer *timer = VD_CONTAINER_OF(node, struct vd_timer, node);
        timer->fire(timer);
    }
    loop->firing = false;
    arm(loop);
}

void vd_timer_set(struct vd_loop *loop, struct vd_timer *timer, uint64_t delay_ms)
{
    uint64_t at_ns = vd_clock_mono_ns(vd_clock_system()) + delay_ms * 1000000u;
    if (vd_heap_has(&timer->node))
        vd_heap_update(&loop->timers, &timer->node, at_ns);
    else
        vd_heap_push(&loop->timers, &timer->node, at_ns);
    /* An alarm that rings too early does no harm: it is armed again. While timers
     * fire it is not needed, as it is armed after the last of them. */
    if (at_ns < loop->alarm_ns && !loop->firing)
        arm(loop);
}

void vd_timer_stop(struct vd_loop *loop, struct vd_timer *timer)
{
    if (vd_heap_has(&timer->node))
        vd_heap_remove(&loop->timers, &timer->node);
}

/* ---- work ---- */

static void run_work(uv_work_t *uv)
{
    struct vd_work *work = uv->data;
    work->run(work);
}

/* Nobody cancels work, so the status says nothing. */
static void work_done(uv_work_t *uv, int status)
{
    struct vd_work *work = uv->data;
    (void)status;
    work->done(work);
}

void vd_loop_work(struct vd_loop *loop, struct vd_work *work)
{
    work->uv.data = work;
    int rc = uv_queue_work(&loop->uv, &work->uv, run_work, work_done);
    assert(rc == 0); /* fails only without a function */
    (void)rc;
}

/* ---- life cycle ---- */

int vd_loop_init(struct vd_loop *loop, size_t index, struct vd_error *error)
{
    *loop = (struct vd_loop){.index = index, .alarm_ns = UINT64_MAX};
    int rc = uv_loop_init(&loop->uv);
    if (rc)
        return vd_error_set(error, VD_ERR_IO, "could not start an event loop: %s", uv_strerror(rc));
    rc = uv_async_init(&loop->uv, &loop->wake, run_tasks); /* needs a descriptor */
    if (rc) {
        uv_loop_close(&loop->uv);
        return vd_error_set(error, VD_ERR_IO, "could not start an event loop: %s", uv_strerror(rc));
    }
    rc = uv_mutex_init(&loop->inbox_lock);
    assert(rc == 0);
    loop->scratch = vd_malloc(VD_LOOP_SCRATCH_LEN);
    loop->inbox.end = &loop->inbox.first;
    loop->last.end = &loop->last.first;
    uv_prepare_init(&loop->uv, &loop->before_wait);
    uv_idle_init(&loop->uv, &loop->again);
    uv_timer_init(&loop->uv, &loop->alarm);
    loop->wake.data = loop->before_wait.data = loop->again.data = loop->alarm.data = loop;
    uv_prepare_start(&loop->before_wait, run_hooks);
    return VD_OK;
}

static void run(void *arg)
{
    struct vd_loop *loop = arg;
    atomic_store_explicit(&loop->self, (uintptr_t)pthread_self(), memory_order_relaxed);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    atomic_store_explicit(&loop->self, 0, memory_order_relaxed);
}

/* Signals are for the main thread. SIGPIPE above all: OpenSSL writes to sockets in
 * a way that raises it when the client has left. SIGCHLD alone is the loops', for libuv, who learns
 * by it that a process has ended: its handler tells all loops, whichever runs it. */
static void run_thread(void *arg)
{
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGCHLD);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    run(arg);
}

int vd_loop_start(struct vd_loop *loop, struct vd_error *error)
{
    int rc = uv_thread_create(&loop->thread, run_thread, loop);
    if (rc)
        return vd_error_set(error, VD_ERR_IO, "could not start a thread: %s", uv_strerror(rc));
    loop->started = true;
    return VD_OK;
}

void vd_loop_stop(struct vd_loop *loop)
{
    uv_mutex_lock(&loop->inbox_lock);
    loop->stopping = true;
    uv_mutex_unlock(&loop->inbox_lock);
    vd_loop_wake(loop);
    if (loop->started)
        uv_thread_join(&loop->thread);
    else
        run(loop);
    loop->started = false;
}

void vd_loop_release(struct vd_loop *loop)
{
    int rc = uv_loop_close(&loop->uv);
    assert(rc == 0);
    (void)rc;
    vd_heap_release(&loop->timers);
    uv_mutex_destroy(&loop->inbox_lock);
    free(loop->scratch);
}
