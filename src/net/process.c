/*
 * See process.h. libuv starts the program, waits for it and has the pipes.
 *
 * What libuv needs stands in a struct vd_process_child of its own, which outlives the process by
 * the time that libuv takes to close its handles: so the owner's memory is free as soon as `exited`
 * has been called, or as soon as the start has failed.
 *
 * A process ends in this order: the program exits and its group is killed; stdout, stderr and the
 * channel come to their ends, or a deadline passes; `exited` is called. After vd_process_kill()
 * nobody waits for the pipes.
 */
#include "net/process.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/container_of.h"
#include "net/pipe.h"
#include "net/process_report.h"
#include "net/process_start.h"

enum { STDIN, STDOUT, STDERR, CHANNEL, PIPES_N };

struct vd_process_child {
    struct vd_process *process; /* NULL: `exited` has been called */
    struct vd_loop *loop;
    uv_process_t uv;
    struct vd_pipe pipes[PIPES_N];
    size_t handles_n; /* that libuv has not closed yet */
    bool has_ended[PIPES_N];
    bool is_paused;
    bool has_exited;
    struct vd_process_exit exit;
    uint64_t idle_timeout_ms, active_ns; /* when a byte last went in or out */
    struct vd_timer timeout, idle, linger;
    struct vd_process_report report;
};

/* ---- the end ---- */

static void handle_closed(struct vd_process_child *child)
{
    if (--child->handles_n == 0)
        free(child);
}

static void process_closed(uv_handle_t *handle)
{
    handle_closed(handle->data);
}

/* Lets go of everything; libuv frees the child on a later turn. */
static void close_child(struct vd_process_child *child)
{
    vd_timer_stop(child->loop, &child->timeout);
    vd_timer_stop(child->loop, &child->idle);
    vd_timer_stop(child->loop, &child->linger);
    for (int i = 0; i < PIPES_N; i++)
        vd_pipe_close(&child->pipes[i]);
    uv_close((uv_handle_t *)&child->uv, process_closed);
}

static void unlink_process(struct vd_process *p)
{
    *(p->prev ? &p->prev->next : &p->loop->processes) = p->next;
    if (p->next)
        p->next->prev = p->prev;
    p->prev = p->next = NULL;
}

/* The last call of the owner. */
static void tell_exited(struct vd_process_child *child)
{
    struct vd_process *p = child->process;
    struct vd_process_exit exit = child->exit;
    vd_process_report_end(&child->report, &exit);
    unlink_process(p);
    child->process = NULL;
    close_child(child);
    p->child = NULL;
    p->ops->exited(p, &exit);
}

static bool is_silent(const struct vd_process_child *child)
{
    return child->has_ended[STDOUT] && child->has_ended[STDERR] && child->has_ended[CHANNEL];
}

/* It is over when the program is, and all that it said has been given. */
static void end_if_over(struct vd_process_child *child)
{
    if (!child->has_exited)
        return;
    if (is_silent(child) || child->exit.is_killed)
        tell_exited(child);
    else if (!child->is_paused || child->exit.timed_out)
        vd_timer_set(child->loop, &child->linger, VD_PROCESS_LINGER_MS);
}

/* The group's number stays taken for as long as anybody is in it, or the program is not reaped. */
static void signal_group(const struct vd_process_child *child, int signal)
{
    if (!child->has_exited)
        kill(-child->uv.pid, signal);
}

/* Somebody whom it has left behind keeps the pipes, or it does not end when it is told to. */
static void on_linger(struct vd_timer *timer)
{
    struct vd_process_child *child = VD_CONTAINER_OF(timer, struct vd_process_child, linger);
    if (!child->has_exited) {
        signal_group(child, SIGKILL);
        return;
    }
    if (child->is_paused && !child->exit.timed_out && !child->exit.is_killed)
        return; /* the owner has not taken the rest yet */
    child->exit.is_cut = true;
    tell_exited(child);
}

static void on_exit_status(uv_process_t *uv, int64_t status, int signal)
{
    struct vd_process_child *child = uv->data;
    kill(-uv->pid, SIGKILL); /* now: libuv has just reaped it, and nobody else has its number yet */
    child->has_exited = true;
    child->exit.status = signal ? -1 : (int)status;
    child->exit.signal = signal;
    vd_timer_stop(child->loop, &child->idle);
    end_if_over(child);
}

/* ---- what it says ---- */

static void note_activity(struct vd_process_child *child)
{
    if (child->idle_timeout_ms)
        child->active_ns = vd_clock_mono_ns(vd_clock_system());
}

/* After vd_process_kill() nobody listens. */
static bool is_heard(const struct vd_process_child *child)
{
    return child->process && !child->exit.is_killed;
}

#define CHILD_OF(pipe, i) VD_CONTAINER_OF(pipe, struct vd_process_child, pipes[i])

static void got_output(struct vd_pipe *pipe, struct vd_slice bytes)
{
    struct vd_process_child *child = CHILD_OF(pipe, STDOUT);
    note_activity(child);
    if (is_heard(child) && child->process->ops->output)
        child->process->ops->output(child->process, bytes);
}

static void got_errors(struct vd_pipe *pipe, struct vd_slice bytes)
{
    struct vd_process_child *child = CHILD_OF(pipe, STDERR);
    note_activity(child);
    if (is_heard(child) && child->process->ops->errors)
        child->process->ops->errors(child->process, bytes);
}

static void got_channel(struct vd_pipe *pipe, struct vd_slice bytes)
{
    struct vd_process_child *child = CHILD_OF(pipe, CHANNEL);
    note_activity(child);
    if (is_heard(child) && child->process->ops->channel)
        child->process->ops->channel(child->process, bytes);
}

static void end_pipe(struct vd_process_child *child, int i)
{
    child->has_ended[i] = true;
    end_if_over(child);
}

static void output_ended(struct vd_pipe *pipe)
{
    end_pipe(CHILD_OF(pipe, STDOUT), STDOUT);
}

static void errors_ended(struct vd_pipe *pipe)
{
    end_pipe(CHILD_OF(pipe, STDERR), STDERR);
}

static void channel_ended(struct vd_pipe *pipe)
{
    end_pipe(CHILD_OF(pipe, CHANNEL), CHANNEL);
}

static void input_drained(struct vd_pipe *pipe)
{
    struct vd_process_child *child = CHILD_OF(pipe, STDIN);
    note_activity(child);
    if (is_heard(child) && child->process->ops->drained)
        child->process->ops->drained(child->process);
}

static void channel_drained(struct vd_pipe *pipe)
{
    note_activity(CHILD_OF(pipe, CHANNEL));
}

static void input_closed(struct vd_pipe *pipe)
{
    handle_closed(CHILD_OF(pipe, STDIN));
}

static void output_closed(struct vd_pipe *pipe)
{
    handle_closed(CHILD_OF(pipe, STDOUT));
}

static void errors_closed(struct vd_pipe *pipe)
{
    handle_closed(CHILD_OF(pipe, STDERR));
}

static void channel_closed(struct vd_pipe *pipe)
{
    handle_closed(CHILD_OF(pipe, CHANNEL));
}

static const struct vd_pipe_ops pipe_ops[PIPES_N] = {
    [STDIN] = {.drained = input_drained, .closed = input_closed},
    [STDOUT] = {.received = got_output, .ended = output_ended, .closed = output_closed},
    [STDERR] = {.received = got_errors, .ended = errors_ended, .closed = errors_closed},
    [CHANNEL] = {.received = got_channel,
                 .ended = channel_ended,
                 .drained = channel_drained,
                 .closed = channel_closed},
};

/* ---- timeouts ---- */

static void time_out(struct vd_process_child *child)
{
    child->exit.timed_out = true;
    signal_group(child, SIGKILL);
    if (child->has_exited) /* and the owner did not take the rest in time */
        tell_exited(child);
}

static void on_timeout(struct vd_timer *timer)
{
    time_out(VD_CONTAINER_OF(timer, struct vd_process_child, timeout));
}

static void on_idle(struct vd_timer *timer)
{
    struct vd_process_child *child = VD_CONTAINER_OF(timer, struct vd_process_child, idle);
    uint64_t idle_ms = (vd_clock_mono_ns(vd_clock_system()) - child->active_ns) / 1000000;
    if (idle_ms >= child->idle_timeout_ms)
        time_out(child);
    else
        vd_timer_set(child->loop, &child->idle, child->idle_timeout_ms - idle_ms);
}

/* ---- the beginning ---- */

static struct vd_process_child *child_new(struct vd_loop *loop, const struct vd_process_options *o)
{
    struct vd_process_child *child = VD_NEW(struct vd_process_child);
    child->loop = loop;
    child->handles_n = PIPES_N + 1;
    child->exit = (struct vd_process_exit){.status = -1};
    child->idle_timeout_ms = o->idle_timeout_ms;
    child->timeout.fire = on_timeout;
    child->idle.fire = on_idle;
    child->linger.fire = on_linger;
    child->uv.data = child;
    for (int i = 0; i < PIPES_N; i++)
        vd_pipe_init(&child->pipes[i], loop, &pipe_ops[i]);
    child->has_ended[CHANNEL] = !o->has_channel;
    vd_process_report_start(&child->report, o);
    return child;
}

/* The program runs. */
static void begin(struct vd_process *p, struct vd_process_child *child,
                  const struct vd_process_options *o)
{
    child->process = p;
    p->child = child;
    p->pid = child->uv.pid;
    p->next = p->loop->processes;
    if (p->next)
        p->next->prev = p;
    p->loop->processes = p;
    vd_pipe_read_start(&child->pipes[STDOUT]);
    vd_pipe_read_start(&child->pipes[STDERR]);
    if (o->has_channel)
        vd_pipe_read_start(&child->pipes[CHANNEL]);
    if (o->timeout_ms)
        vd_timer_set(p->loop, &child->timeout, o->timeout_ms);
    note_activity(child);
    if (o->idle_timeout_ms)
        vd_timer_set(p->loop, &child->idle, o->idle_timeout_ms);
}

int vd_process_start(struct vd_process *p, struct vd_loop *loop, const struct vd_process_options *o,
                     const struct vd_process_ops *ops, struct vd_error *error)
{
    p->loop = loop;
    p->ops = ops;
    p->pid = 0;
    p->child = NULL;
    p->prev = p->next = NULL;
    assert(o->argv[0] && o->argv[0][0] == '/' && ops->exited);
    if (vd_loop_is_stopping(loop))
        return vd_error_set(error, VD_ERR_CLOSED, "could not start %s: the server stops",
                            o->argv[0]);
    struct vd_process_child *child = child_new(loop, o);
    uv_stdio_container_t stdio[PIPES_N];
    for (int i = 0; i < PIPES_N; i++) {
        int flags = i == STDIN ? UV_READABLE_PIPE : i == CHANNEL ? UV_READABLE_PIPE : 0;
        flags |= i == STDIN ? 0 : UV_WRITABLE_PIPE;
        stdio[i].flags = (uv_stdio_flags)(UV_CREATE_PIPE | flags);
        stdio[i].data.stream = (uv_stream_t *)&child->pipes[i].uv;
    }
    int code = vd_process_spawn(&child->uv, loop, o, stdio, o->has_channel ? PIPES_N : CHANNEL,
                                on_exit_status, error);
    if (code) {
        vd_process_report_failure(&child->report);
        close_child(child);
        return code;
    }
    begin(p, child, o);
    return VD_OK;
}

/* ---- what the owner does ---- */

void vd_process_write(struct vd_process *p, struct vd_slice bytes)
{
    if (!p->child || !bytes.n)
        return;
    note_activity(p->child);
    vd_pipe_write(&p->child->pipes[STDIN], bytes);
}

size_t vd_process_backlog(const struct vd_process *p)
{
    return p->child ? vd_pipe_backlog(&p->child->pipes[STDIN]) : 0;
}

void vd_process_close_input(struct vd_process *p)
{
    if (p->child)
        vd_pipe_close_behind(&p->child->pipes[STDIN]);
}

void vd_process_send_channel(struct vd_process *p, struct vd_slice bytes)
{
    if (!p->child || !bytes.n)
        return;
    note_activity(p->child);
    vd_pipe_write(&p->child->pipes[CHANNEL], bytes);
}

size_t vd_process_channel_backlog(const struct vd_process *p)
{
    return p->child ? vd_pipe_backlog(&p->child->pipes[CHANNEL]) : 0;
}

void vd_process_pause(struct vd_process *p)
{
    if (!p->child || p->child->is_paused)
        return;
    p->child->is_paused = true;
    vd_pipe_read_stop(&p->child->pipes[STDOUT]);
}

void vd_process_resume(struct vd_process *p)
{
    struct vd_process_child *child = p->child;
    if (!child || !child->is_paused)
        return;
    child->is_paused = false;
    if (!child->has_ended[STDOUT])
        vd_pipe_read_start(&child->pipes[STDOUT]);
    if (child->has_exited)
        vd_timer_set(child->loop, &child->linger, VD_PROCESS_LINGER_MS);
}

void vd_process_kill(struct vd_process *p)
{
    struct vd_process_child *child = p->child;
    if (!child)
        return;
    child->exit.is_killed = true;
    signal_group(child, SIGKILL);
    if (child->has_exited) /* `exited` comes on the next turn, as none comes from in here */
        vd_timer_set(child->loop, &child->linger, 0);
}

void vd_process_end(struct vd_process *p)
{
    struct vd_process_child *child = p->child;
    if (!child || child->exit.is_killed)
        return;
    vd_process_resume(p); /* what it still says is read and dropped, so that it does not wait */
    child->exit.is_killed = true;
    vd_pipe_close_behind(&child->pipes[STDIN]);
    if (!child->has_ended[CHANNEL])
        vd_pipe_close_behind(&child->pipes[CHANNEL]);
    vd_timer_set(child->loop, &child->linger, child->has_exited ? 0 : VD_PROCESS_LINGER_MS);
}

void vd_process_terminate(struct vd_process *p)
{
    if (p->child)
        signal_group(p->child, SIGTERM);
}

/* ---- a loop that stops ---- */

/* Reaps a program that was killed, until a time; libuv does not any more. */
static void reap(struct vd_process_child *child, uint64_t until_ns)
{
    int status = 0;
    while (!child->has_exited) {
        pid_t pid = waitpid(child->uv.pid, &status, WNOHANG);
        if (pid == child->uv.pid) {
            child->exit.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
            child->exit.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
            child->has_exited = true;
        } else if ((pid < 0 && errno != EINTR) || vd_clock_mono_ns(vd_clock_system()) >= until_ns) {
            return;
        } else {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
    }
}

void vd_process_stop_all(struct vd_loop *loop)
{
    uint64_t until_ns = vd_clock_mono_ns(vd_clock_system()) + VD_PROCESS_LINGER_MS * 1000000ull;
    for (struct vd_process *p = loop->processes; p; p = p->next)
        signal_group(p->child, SIGKILL);
    while (loop->processes) {
        struct vd_process_child *child = loop->processes->child;
        reap(child, until_ns);
        child->exit.is_stopped = true;
        tell_exited(child);
    }
}
