/*
 * See exec.h. A run that the program works on has a slot; its number is in the id of the message,
 * with a serial number, so that an answer that comes twice is found out:
 *
 *     id = serial * SLOTS_MAX + slot
 */
#include "control/exec.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "base/hash_map.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "net/process.h"

enum {
    SLOTS_MAX = 1024,    /* as many as a program may take at a time */
    FLUSH_LEN = 65536,   /* bytes for the program that are collected in a turn */
    LOG_LINES_PER_S = 50 /* of what the program writes to stderr */
};

struct slot {
    struct vd_run *run; /* NULL: it is free */
    uint64_t id;
    uint64_t cancelled_ms; /* when it was cancelled; 0: it was not */
};

struct vd_exec {
    struct vd_exec_options options;
    struct vd_reconcile reconcile;
    struct vd_process process;
    struct vd_task flush;  /* sends what was collected */
    struct vd_timer timer; /* the next start; or the end of the patience with hello or a cancel */
    bool is_running, is_ready, is_killed, is_stopping, flush_posted;
    uint64_t serial;
    uint64_t started_ms;
    uint64_t pause_ms; /* before the next start */
    size_t slots_n, working;
    struct slot *slots;
    struct vd_run *first, *last; /* that wait; linked by their arg */
    size_t waiting;
    uint64_t suspects[SLOTS_MAX]; /* hashes of the keys of runs that may have ended the program */
    size_t suspects_n;
    bool is_alone; /* what it works on is a suspect */
    struct vd_buf out, line, errors;
    struct vd_arena arena;
    struct vd_log_rate log_rate;
    struct vd_error why; /* it was killed */
    uint64_t starts, failures;
    void (*stopped)(struct vd_exec *exec, void *arg);
    void *stopped_arg;
};

static uint64_t now_ms(const struct vd_exec *e)
{
    return vd_clock_mono_ns(e->options.clock) / 1000000;
}

static struct vd_exec *of_run(const struct vd_run *run)
{
    return VD_CONTAINER_OF(run->reconcile, struct vd_exec, reconcile);
}

/* ---- suspects ---- */

static uint64_t key_hash(const struct vd_run *run)
{
    return vd_hash_bytes(run->namespace.p, run->namespace.n) * 31 +
           vd_hash_bytes(run->name.p, run->name.n);
}

static bool is_suspect(const struct vd_exec *e, const struct vd_run *run)
{
    uint64_t hash = e->suspects_n ? key_hash(run) : 0;
    for (size_t i = 0; i < e->suspects_n; i++)
        if (e->suspects[i] == hash)
            return true;
    return false;
}

static void clear_suspect(struct vd_exec *e, const struct vd_run *run)
{
    uint64_t hash = e->suspects_n ? key_hash(run) : 0;
    for (size_t i = 0; i < e->suspects_n; i++)
        if (e->suspects[i] == hash) {
            e->suspects[i] = e->suspects[--e->suspects_n];
            return;
        }
}

/* ---- sending ---- */

/* If that is asked for, and nothing of it is under way any more. */
static void say_stopped(struct vd_exec *e)
{
    void (*stopped)(struct vd_exec * e, void *arg) = e->stopped;
    if (!stopped || e->is_running || e->flush_posted)
        return;
    e->stopped = NULL;
    stopped(e, e->stopped_arg); /* may free it */
}

static void send_collected(struct vd_task *task)
{
    struct vd_exec *e = VD_CONTAINER_OF(task, struct vd_exec, flush);
    e->flush_posted = false;
    if (e->is_running)
        vd_process_write(&e->process, vd_buf_slice(&e->out));
    vd_buf_reset(&e->out);
    say_stopped(e);
}

static void collected(struct vd_exec *e)
{
    if (e->out.n >= FLUSH_LEN) {
        vd_process_write(&e->process, vd_buf_slice(&e->out));
        vd_buf_reset(&e->out);
    } else if (!e->flush_posted) {
        e->flush_posted = true;
        vd_loop_post(e->options.loop, &e->flush);
    }
}

static struct slot *free_slot(struct vd_exec *e)
{
    for (size_t i = 0; i < e->slots_n; i++)
        if (!e->slots[i].run)
            return &e->slots[i];
    return NULL;
}

static struct vd_run *next_waiting(struct vd_exec *e)
{
    struct vd_run *run = e->first;
    e->first = run->arg;
    if (!e->first)
        e->last = NULL;
    e->waiting--;
    run->arg = NULL;
    return run;
}

static void give(struct vd_exec *e, struct vd_run *run)
{
    struct slot *slot = free_slot(e);
    bool is_timed = run->deadline_ms != UINT64_MAX;
    int64_t wall_ms = is_timed ? vd_clock_wall_ms(e->options.clock) : 0;
    slot->run = run;
    slot->id = ++e->serial * SLOTS_MAX + (uint64_t)(slot - e->slots);
    slot->cancelled_ms = 0;
    e->working++;
    struct vd_exec_reconcile message = {
        .id = slot->id,
        .namespace = run->namespace,
        .name = run->name,
        .object = run->object ? vd_body_slice(run->object->body) : VD_SLICE(""),
        .attempt = run->attempt,
        .deadline_ms = is_timed ? wall_ms + (int64_t)(run->deadline_ms - now_ms(e)) : 0};
    vd_exec_write_reconcile(&e->out, &message);
    collected(e);
}

/* Gives the program what it can take. A suspect is given alone. */
static void give_some(struct vd_exec *e)
{
    while (e->first && e->is_ready && e->working < e->slots_n && !e->is_alone &&
           !vd_process_is_full(&e->process)) {
        bool suspect = is_suspect(e, e->first);
        if (suspect && e->working)
            return;
        e->is_alone = suspect;
        give(e, next_waiting(e));
    }
}

/* ---- the end of runs ---- */

static void end_slot(struct vd_exec *e, struct slot *slot, const struct vd_result *result)
{
    struct vd_run *run = slot->run;
    slot->run = NULL;
    e->working--;
    e->is_alone = false;
    clear_suspect(e, run);
    vd_run_end(run, result);
}

/* The program has gone, and with it what it worked on. */
static void end_all_slots(struct vd_exec *e, const char *why)
{
    bool is_one = e->working == 1;
    struct vd_result failed = {.outcome = is_one ? VD_RESULT_RETRY : VD_RESULT_INTERRUPTED,
                               .message = vd_slice_of(why)};
    for (size_t i = 0; i < e->slots_n; i++) {
        struct vd_run *run = e->slots[i].run;
        if (!run)
            continue;
        if (!is_one && !is_suspect(e, run) && e->suspects_n < SLOTS_MAX)
            e->suspects[e->suspects_n++] = key_hash(run);
        else if (is_one)
            clear_suspect(e, run);
        e->slots[i].run = NULL;
        vd_run_end(run, &failed);
    }
    e->working = 0;
    e->is_alone = false;
}

/* ---- what the program says ---- */

static void kill_program(struct vd_exec *e, const char *what, const struct vd_error *error)
{
    if (e->is_killed)
        return;
    e->is_killed = true;
    e->is_ready = false;
    vd_error_set(&e->why, VD_ERR_INVALID, "%s%s%s", what, error ? ": " : "",
                 error ? error->text : "");
    vd_process_kill(&e->process);
}

static void take_hello(struct vd_exec *e, const struct vd_exec_message *m)
{
    struct vd_error error;
    if (e->is_ready || m->protocol != VD_EXEC_PROTOCOL) {
        vd_error_set(&error, VD_ERR_INVALID, "it speaks version %llu of the protocol, and not %d",
                     (unsigned long long)m->protocol, VD_EXEC_PROTOCOL);
        kill_program(e, e->is_ready ? "the program has said hello twice" : "hello",
                     e->is_ready ? NULL : &error);
        return;
    }
    e->is_ready = true;
    e->slots_n = m->parallel;
    vd_timer_stop(e->options.loop, &e->timer);
    vd_log_info("a program reconciles", VD_F_SLICE("controller", e->options.hello.controller),
                VD_F_STR("program", e->options.argv[0]), VD_F_U64("pid", (uint64_t)e->process.pid),
                VD_F_U64("parallel", m->parallel));
}

static void take_result(struct vd_exec *e, const struct vd_exec_message *m)
{
    struct slot *slot = &e->slots[m->id % SLOTS_MAX];
    if (!e->is_ready || !slot->run || slot->id != m->id) {
        kill_program(e, "the program has answered what it was not asked, or has answered twice",
                     NULL);
        return;
    }
    e->pause_ms = 0; /* it works */
    end_slot(e, slot, &m->result);
}

static void take_line(struct vd_exec *e, struct vd_slice line)
{
    struct vd_exec_message message;
    struct vd_error error;
    vd_arena_reset(&e->arena);
    if (vd_exec_read(&e->arena, line, &message, &error)) {
        kill_program(e, "the program has said what is no message", &error);
        return;
    }
    if (message.type == VD_EXEC_HELLO)
        take_hello(e, &message);
    else if (message.type == VD_EXEC_RESULT)
        take_result(e, &message);
    else if (vd_log_rate_take(&e->log_rate, vd_clock_mono_ns(e->options.clock), LOG_LINES_PER_S))
        vd_log_info("program", VD_F_SLICE("controller", e->options.hello.controller),
                    VD_F_SLICE("level", message.level), VD_F_SLICE("message", message.text));
}

/* Calls `take` for each whole line; the beginning of the next one is kept. False: it is too long.
 */
static bool split_lines(struct vd_exec *e, struct vd_buf *kept, struct vd_slice bytes,
                        void (*take)(struct vd_exec *e, struct vd_slice line))
{
    const char *newline;
    while (bytes.n && !e->is_killed && (newline = memchr(bytes.p, '\n', bytes.n))) {
        struct vd_slice line = vd_slice(bytes.p, (size_t)(newline - bytes.p));
        if (kept->n) {
            vd_buf_add_slice(kept, line);
            line = vd_buf_slice(kept);
        }
        take(e, line);
        vd_buf_reset(kept);
        bytes = vd_slice(newline + 1, (size_t)(bytes.p + bytes.n - newline - 1));
    }
    if (kept->n + bytes.n > VD_EXEC_LINE_LEN_MAX)
        return false;
    vd_buf_add_slice(kept, bytes);
    return true;
}

static void on_output(struct vd_process *p, struct vd_slice bytes)
{
    struct vd_exec *e = p->arg;
    if (!e->is_killed && !split_lines(e, &e->line, bytes, take_line))
        kill_program(e, "the program has said a line that is too long", NULL);
    give_some(e);
}

static void log_line(struct vd_exec *e, struct vd_slice line)
{
    if (vd_log_rate_take(&e->log_rate, vd_clock_mono_ns(e->options.clock), LOG_LINES_PER_S))
        vd_log_info("program", VD_F_SLICE("controller", e->options.hello.controller),
                    VD_F_SLICE("stderr", vd_slice(line.p, line.n < VD_LOG_LINE_MAX / 2
                                                              ? line.n
                                                              : VD_LOG_LINE_MAX / 2)));
}

static void on_errors(struct vd_process *p, struct vd_slice bytes)
{
    struct vd_exec *e = p->arg;
    if (!split_lines(e, &e->errors, bytes, log_line)) {
        log_line(e, vd_buf_slice(&e->errors));
        vd_buf_reset(&e->errors);
    }
}

static void on_drained(struct vd_process *p)
{
    give_some(p->arg);
}

/* ---- start and end ---- */

static void start_later(struct vd_exec *e)
{
    e->pause_ms = e->pause_ms ? 2 * e->pause_ms : VD_EXEC_RESTART_MS_MIN;
    if (e->pause_ms > VD_EXEC_RESTART_MS_MAX)
        e->pause_ms = VD_EXEC_RESTART_MS_MAX;
    vd_timer_set(e->options.loop, &e->timer, e->pause_ms);
}

static void on_exited(struct vd_process *p, const struct vd_process_exit *exit)
{
    struct vd_exec *e = p->arg;
    char why[sizeof e->why.text + 64];
    if (e->is_killed)
        snprintf(why, sizeof why, "%s", e->why.text);
    else if (exit->signal)
        snprintf(why, sizeof why, "the program was ended by signal %d", exit->signal);
    else
        snprintf(why, sizeof why, "the program has ended with status %d", exit->status);
    e->is_running = e->is_ready = e->is_killed = false;
    vd_buf_reset(&e->line);
    vd_buf_reset(&e->out);
    vd_timer_stop(e->options.loop, &e->timer);
    if (!e->is_stopping) {
        e->failures++;
        vd_log_warn("a program that reconciles has ended",
                    VD_F_SLICE("controller", e->options.hello.controller),
                    VD_F_STR("program", e->options.argv[0]), VD_F_STR("reason", why));
    }
    end_all_slots(e, why);
    e->slots_n = 0;
    if (e->is_stopping || exit->is_stopped)
        say_stopped(e);
    else
        start_later(e);
}

static const struct vd_process_ops process_ops = {
    .output = on_output, .errors = on_errors, .drained = on_drained, .exited = on_exited};

/* Runs that wait have failed when the program cannot even be started: they are tried again. */
static void end_waiting(struct vd_exec *e, const char *why)
{
    while (e->first)
        vd_run_end(next_waiting(e),
                   &(struct vd_result){.outcome = VD_RESULT_RETRY, .message = vd_slice_of(why)});
}

static void start_program(struct vd_exec *e)
{
    const struct vd_exec_options *o = &e->options;
    struct vd_error error;
    e->process.arg = e;
    int code = vd_process_start(&e->process, o->loop,
                                &(struct vd_process_options){.argv = o->argv,
                                                             .env = o->env,
                                                             .cwd = o->cwd,
                                                             .name = "reconcile",
                                                             .memory_max = o->memory_max},
                                &process_ops, &error);
    e->starts++;
    if (code) {
        e->failures++;
        vd_log_warn("a program that reconciles cannot be started",
                    VD_F_SLICE("controller", o->hello.controller), VD_F_ERROR(&error));
        end_waiting(e, error.text);
        start_later(e);
        return;
    }
    e->is_running = true;
    e->started_ms = now_ms(e);
    vd_exec_write_hello(&e->out, &o->hello);
    collected(e);
    vd_timer_set(o->loop, &e->timer, VD_EXEC_HELLO_MS);
}

/* The oldest cancel that has no answer yet is too old, or there is patience left. */
static void look_at_cancelled(struct vd_exec *e)
{
    uint64_t now = now_ms(e), patience = e->options.cancel_ms, next = UINT64_MAX;
    for (size_t i = 0; i < e->slots_n; i++) {
        const struct slot *slot = &e->slots[i];
        if (!slot->run || !slot->cancelled_ms)
            continue;
        if (now >= slot->cancelled_ms + patience) {
            kill_program(e, "the program has not answered a cancelled run", NULL);
            return;
        }
        if (slot->cancelled_ms + patience < next)
            next = slot->cancelled_ms + patience;
    }
    if (next != UINT64_MAX)
        vd_timer_set(e->options.loop, &e->timer, next - now);
}

static void on_timer(struct vd_timer *timer)
{
    struct vd_exec *e = VD_CONTAINER_OF(timer, struct vd_exec, timer);
    if (!e->is_running)
        start_program(e);
    else if (!e->is_ready)
        kill_program(e, "the program has not said hello in time", NULL);
    else
        look_at_cancelled(e);
}

/* ---- runs ---- */

static void start(struct vd_run *run)
{
    struct vd_exec *e = of_run(run);
    run->arg = NULL;
    if (e->last)
        e->last->arg = run;
    else
        e->first = run;
    e->last = run;
    e->waiting++;
    if (!e->is_running && !vd_timer_is_set(&e->timer))
        start_program(e);
    else
        give_some(e);
}

static bool take_waiting(struct vd_exec *e, struct vd_run *run)
{
    struct vd_run *before = NULL;
    for (struct vd_run *at = e->first; at; before = at, at = at->arg) {
        if (at != run)
            continue;
        if (before)
            before->arg = run->arg;
        else
            e->first = run->arg;
        if (e->last == run)
            e->last = before;
        e->waiting--;
        return true;
    }
    return false;
}

static void cancel(struct vd_run *run)
{
    struct vd_exec *e = of_run(run);
    if (take_waiting(e, run)) {
        vd_run_end(run, &(struct vd_result){.outcome = VD_RESULT_INTERRUPTED});
        return;
    }
    for (size_t i = 0; i < e->slots_n; i++)
        if (e->slots[i].run == run) {
            e->slots[i].cancelled_ms = now_ms(e);
            vd_exec_write_cancel(&e->out, e->slots[i].id);
            collected(e);
            if (!vd_timer_is_set(&e->timer))
                vd_timer_set(e->options.loop, &e->timer, e->options.cancel_ms);
        }
}

static const struct vd_reconcile_ops reconcile_ops = {.start = start, .cancel = cancel};

/* ---- life cycle ---- */

struct vd_exec *vd_exec_new(const struct vd_exec_options *options)
{
    struct vd_exec *e = VD_NEW(struct vd_exec);
    *e = (struct vd_exec){.options = *options, .reconcile = {&reconcile_ops}};
    e->slots = vd_calloc(SLOTS_MAX, sizeof *e->slots);
    if (!e->options.cancel_ms)
        e->options.cancel_ms = VD_EXEC_CANCEL_MS;
    e->flush.run = send_collected;
    e->timer.fire = on_timer;
    return e;
}

struct vd_reconcile *vd_exec_reconcile(struct vd_exec *e)
{
    return &e->reconcile;
}

void vd_exec_stop(struct vd_exec *e, void (*stopped)(struct vd_exec *e, void *arg), void *arg)
{
    assert(!e->first && !e->working);
    e->is_stopping = true;
    e->stopped = stopped;
    e->stopped_arg = arg;
    vd_timer_stop(e->options.loop, &e->timer);
    if (!e->is_running) {
        say_stopped(e);
        return;
    }
    vd_exec_write_shutdown(&e->out);
    vd_process_write(&e->process, vd_buf_slice(&e->out));
    vd_buf_reset(&e->out);
    vd_process_end(&e->process);
}

void vd_exec_free(struct vd_exec *e)
{
    if (!e)
        return;
    vd_buf_release(&e->out);
    vd_buf_release(&e->line);
    vd_buf_release(&e->errors);
    vd_arena_release(&e->arena);
    free(e->slots);
    free(e);
}

void vd_exec_stats(const struct vd_exec *e, struct vd_exec_stats *out)
{
    *out = (struct vd_exec_stats){.starts = e->starts,
                                  .failures = e->failures,
                                  .is_ready = e->is_ready,
                                  .waiting = e->waiting,
                                  .working = e->working};
}
