/*
 * What tests of processes share: a loop that runs, and processes whose words are kept.
 */
#ifndef VD_TESTS_PROCESS_RUN_H
#define VD_TESTS_PROCESS_RUN_H

#include "check.h"

#include "net/process.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/container_of.h"

enum { DEADLINE_S = 300 };

static struct vd_loop loop;

/* A process, and what it has said. */
struct run {
    struct vd_process process;
    struct vd_process_options options;
    const struct vd_process_ops *ops;
    struct vd_buf output, errors, channel;
    _Atomic size_t output_len, channel_len; /* bytes that have come */
    _Atomic size_t drained;
    _Atomic int exits;
    struct vd_process_exit exit;
    int code; /* of the start */
    struct vd_error error;
    uint64_t start_ns;
};

static inline int setup(void **state)
{
    struct vd_error error = {0};
    (void)state;
    assert_ok(vd_loop_init(&loop, 0, &error), &error);
    assert_ok(vd_loop_start(&loop, &error), &error);
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    vd_loop_stop(&loop);
    vd_loop_release(&loop);
    return 0;
}

/* ---- on the loop ---- */

struct call {
    struct vd_task task;
    void (*run)(struct run *r);
    struct run *arg;
    sem_t done;
};

static inline void run_call(struct vd_task *task)
{
    struct call *call = VD_CONTAINER_OF(task, struct call, task);
    call->run(call->arg);
    sem_post(&call->done);
}

static inline void on_loop(void (*run)(struct run *r), struct run *arg)
{
    struct call call = {.task.run = run_call, .run = run, .arg = arg};
    sem_init(&call.done, 0, 0);
    vd_loop_post(&loop, &call.task);
    while (sem_wait(&call.done) != 0)
        ;
    sem_destroy(&call.done);
}

static inline uint64_t now_ms(void)
{
    return vd_clock_mono_ns(vd_clock_system()) / 1000000;
}

/* Waits until the condition holds. */
#define WAIT_FOR(condition)                                                                        \
    do {                                                                                           \
        uint64_t start_ms_ = now_ms();                                                             \
        while (!(condition)) {                                                                     \
            if (now_ms() - start_ms_ > DEADLINE_S * 1000)                                          \
                fail_msg("waited for %s", #condition);                                             \
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);                               \
        }                                                                                          \
    } while (0)

static inline struct run *run_of(struct vd_process *p)
{
    return VD_CONTAINER_OF(p, struct run, process);
}

static inline void got_output(struct vd_process *p, struct vd_slice bytes)
{
    assert_int_equal(run_of(p)->exits, 0);
    vd_buf_add_slice(&run_of(p)->output, bytes);
    run_of(p)->output_len += bytes.n;
}

static inline void got_errors(struct vd_process *p, struct vd_slice bytes)
{
    vd_buf_add_slice(&run_of(p)->errors, bytes);
}

static inline void got_channel(struct vd_process *p, struct vd_slice bytes)
{
    vd_buf_add_slice(&run_of(p)->channel, bytes);
    run_of(p)->channel_len += bytes.n;
}

static inline void drained(struct vd_process *p)
{
    run_of(p)->drained++;
}

static inline void exited(struct vd_process *p, const struct vd_process_exit *exit)
{
    run_of(p)->exit = *exit;
    run_of(p)->exits++;
}

static const struct vd_process_ops keep_all = {.output = got_output,
                                               .errors = got_errors,
                                               .channel = got_channel,
                                               .drained = drained,
                                               .exited = exited};

static inline void start_now(struct run *r)
{
    r->start_ns = vd_clock_mono_ns(vd_clock_system());
    r->code = vd_process_start(&r->process, &loop, &r->options, r->ops ? r->ops : &keep_all,
                               &r->error);
}

/* Nothing of its output is read. */
static inline void start_paused_now(struct run *r)
{
    start_now(r);
    vd_process_pause(&r->process);
}

static inline uint64_t ran_ms(const struct run *r)
{
    return (vd_clock_mono_ns(vd_clock_system()) - r->start_ns) / 1000000;
}

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline void start_with(struct run *r, const char *const *argv, void (*start)(struct run *r))
{
    static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    r->options.argv = argv;
    if (!r->options.env)
        r->options.env = env;
    on_loop(start, r);
    assert_ok(r->code, &r->error);
}

static inline void start_argv(struct run *r, const char *const *argv)
{
    start_with(r, argv, start_now);
}

/* Starts a script of the shell. */
static inline void start_script(struct run *r, const char *script)
{
    start_argv(r, ARGV("/bin/sh", "-c", script));
}

static inline void start_script_paused(struct run *r, const char *script)
{
    start_with(r, ARGV("/bin/sh", "-c", script), start_paused_now);
}

static inline void finish(struct run *r)
{
    WAIT_FOR(r->exits > 0);
    assert_int_equal(r->exits, 1);
}

static inline void release(struct run *r)
{
    vd_buf_release(&r->output);
    vd_buf_release(&r->errors);
    vd_buf_release(&r->channel);
}

static inline void close_input(struct run *r)
{
    vd_process_close_input(&r->process);
}

static inline void kill_now(struct run *r)
{
    vd_process_kill(&r->process);
}

static inline void terminate(struct run *r)
{
    vd_process_terminate(&r->process);
}

static inline void pause_output(struct run *r)
{
    vd_process_pause(&r->process);
}

static inline void resume_output(struct run *r)
{
    vd_process_resume(&r->process);
}

/* Whether nobody of a process group is left; zombies of others count as nobody. */
static inline bool is_group_gone(int pid)
{
    return kill(-pid, 0) != 0 && errno == ESRCH;
}

#endif
