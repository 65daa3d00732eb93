/* Processes: real programs, what they say, how they end, and that they cannot be kept waiting. */
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
#include "check.h"
#include "metrics_check.h"

enum { DEADLINE_S = 60 };

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

static int setup(void **state)
{
    struct vd_error error = {0};
    (void)state;
    assert_ok(vd_loop_init(&loop, 0, &error), &error);
    assert_ok(vd_loop_start(&loop, &error), &error);
    return 0;
}

static int teardown(void **state)
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

static void run_call(struct vd_task *task)
{
    struct call *call = VD_CONTAINER_OF(task, struct call, task);
    call->run(call->arg);
    sem_post(&call->done);
}

static void on_loop(void (*run)(struct run *r), struct run *arg)
{
    struct call call = {.task.run = run_call, .run = run, .arg = arg};
    sem_init(&call.done, 0, 0);
    vd_loop_post(&loop, &call.task);
    while (sem_wait(&call.done) != 0)
        ;
    sem_destroy(&call.done);
}

static uint64_t now_ms(void)
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

static struct run *run_of(struct vd_process *p)
{
    return VD_CONTAINER_OF(p, struct run, process);
}

static void got_output(struct vd_process *p, struct vd_slice bytes)
{
    assert_int_equal(run_of(p)->exits, 0);
    vd_buf_add_slice(&run_of(p)->output, bytes);
    run_of(p)->output_len += bytes.n;
}

static void got_errors(struct vd_process *p, struct vd_slice bytes)
{
    vd_buf_add_slice(&run_of(p)->errors, bytes);
}

static void got_channel(struct vd_process *p, struct vd_slice bytes)
{
    vd_buf_add_slice(&run_of(p)->channel, bytes);
    run_of(p)->channel_len += bytes.n;
}

static void drained(struct vd_process *p)
{
    run_of(p)->drained++;
}

static void exited(struct vd_process *p, const struct vd_process_exit *exit)
{
    run_of(p)->exit = *exit;
    run_of(p)->exits++;
}

static const struct vd_process_ops keep_all = {.output = got_output,
                                               .errors = got_errors,
                                               .channel = got_channel,
                                               .drained = drained,
                                               .exited = exited};

static void start_now(struct run *r)
{
    r->start_ns = vd_clock_mono_ns(vd_clock_system());
    r->code = vd_process_start(&r->process, &loop, &r->options, r->ops ? r->ops : &keep_all,
                               &r->error);
}

static uint64_t ran_ms(const struct run *r)
{
    return (vd_clock_mono_ns(vd_clock_system()) - r->start_ns) / 1000000;
}

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})

static void start_argv(struct run *r, const char *const *argv)
{
    static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    r->options.argv = argv;
    if (!r->options.env)
        r->options.env = env;
    on_loop(start_now, r);
    assert_ok(r->code, &r->error);
}

/* Starts a script of the shell. */
static void start_script(struct run *r, const char *script)
{
    start_argv(r, ARGV("/bin/sh", "-c", script));
}

static void finish(struct run *r)
{
    WAIT_FOR(r->exits > 0);
    assert_int_equal(r->exits, 1);
}

static void release(struct run *r)
{
    vd_buf_release(&r->output);
    vd_buf_release(&r->errors);
    vd_buf_release(&r->channel);
}

static void close_input(struct run *r)
{
    vd_process_close_input(&r->process);
}

static void kill_now(struct run *r)
{
    vd_process_kill(&r->process);
}

static void terminate(struct run *r)
{
    vd_process_terminate(&r->process);
}

static void pause_output(struct run *r)
{
    vd_process_pause(&r->process);
}

static void resume_output(struct run *r)
{
    vd_process_resume(&r->process);
}

/* Whether nobody of a process group is left; zombies of others count as nobody. */
static bool is_group_gone(int pid)
{
    return kill(-pid, 0) != 0 && errno == ESRCH;
}

/* ---- how programs end ---- */

static void test_exit_statuses(void **state)
{
    (void)state;
    struct run good = {0}, bad = {0}, killed = {0};
    start_script(&good, "echo hello; echo oh >&2");
    start_script(&bad, "exit 7");
    start_script(&killed, "kill -USR1 $$");
    finish(&good);
    finish(&bad);
    finish(&killed);
    assert_true(vd_process_succeeded(&good.exit));
    assert_string_equal(vd_buf_text(&good.output), "hello\n");
    assert_string_equal(vd_buf_text(&good.errors), "oh\n");
    assert_int_equal(bad.exit.status, 7);
    assert_int_equal(bad.exit.signal, 0);
    assert_false(vd_process_succeeded(&bad.exit));
    assert_int_equal(killed.exit.status, -1);
    assert_int_equal(killed.exit.signal, SIGUSR1);
    assert_false(vd_process_is_running(&good.process));
    release(&good);
    release(&bad);
    release(&killed);
}

static void test_the_environment_and_the_arguments_are_whole(void **state)
{
    (void)state;
    struct run r = {.options = {.env = ARGV("A=b c", "PATH=/bin"), .cwd = "/usr"}};
    start_argv(
        &r, ARGV("/bin/sh", "-c", "env | grep -v '^_=' | sort; pwd; echo \"$0|$1\"", "x y", "*"));
    finish(&r);
    assert_string_equal(vd_buf_text(&r.output), "A=b c\nPATH=/bin\nPWD=/usr\n/usr\nx y|*\n");
    release(&r);
    struct run none = {.options = {.env = ARGV(NULL)}};
    start_argv(&none, ARGV("/usr/bin/env"));
    finish(&none);
    assert_string_equal(vd_buf_text(&none.output), "");
    release(&none);
}

/* Neither the server's descriptors nor its blocked and ignored signals. */
static void test_nothing_of_the_server_is_inherited(void **state)
{
    (void)state;
    struct run r = {0};
    struct run with_channel = {.options.has_channel = true};
    static const char script[] = "ls /proc/self/fd | tr '\\n' ' '; "
                                 "grep -E '^Sig(Blk|Ign)' /proc/self/status | tr -d '\\t'";
    start_script(&r, script);
    start_script(&with_channel, script);
    finish(&r);
    finish(&with_channel);
    /* The last one is that of ls itself, for the folder. */
    assert_string_equal(vd_buf_text(&r.output),
                        "0 1 2 3 SigBlk:0000000000000000\nSigIgn:0000000000000000\n");
    assert_string_equal(vd_buf_text(&with_channel.output),
                        "0 1 2 3 4 SigBlk:0000000000000000\nSigIgn:0000000000000000\n");
    release(&r);
    release(&with_channel);
}

/* ---- starting fails ---- */

static void start_failing(struct run *r, const char *program, int code, const char *says)
{
    r->options.argv = ARGV(program, "x");
    on_loop(start_now, r);
    assert_int_equal(r->code, code);
    assert_says(&r->error, says);
    assert_false(vd_process_is_running(&r->process));
}

static void test_a_program_that_cannot_be_started(void **state)
{
    (void)state;
    char script[] = "/tmp/process_test_XXXXXX";
    int fd = mkstemp(script);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "#!/no/such/shell\n", 17), 17);
    struct run *r = VD_NEW(struct run);
    start_failing(r, "/no/such/program", VD_ERR_NOT_FOUND, "there is no program /no/such/program");
    start_failing(r, script, VD_ERR_FORBIDDEN, "may not run it");
    assert_int_equal(fchmod(fd, 0700), 0);
    close(fd);
    start_failing(r, script, VD_ERR_NOT_FOUND, "the interpreter that it names does not exist");
    r->options.cwd = "/no/such/folder";
    start_failing(r, "/bin/true", VD_ERR_NOT_FOUND, "there is no folder /no/such/folder");
    free(r); /* at once: nothing is left of it */
    unlink(script);
    assert_true(
        metrics_have("vedette_processes_total{program=\"program\",result=\"not-started\"} 1"));
    assert_true(metrics_have("vedette_processes_running 0"));
}

static void start_without_descriptors(struct run *r)
{
    struct rlimit before, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    int next = dup(0);
    close(next);
    few.rlim_cur = (rlim_t)next + 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    start_now(r);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void test_no_descriptors_are_left(void **state)
{
    (void)state;
    struct run r = {.options.argv = ARGV("/bin/true")};
    on_loop(start_without_descriptors, &r);
    assert_int_equal(r.code, VD_ERR_LIMIT);
    assert_says(&r.error, "ulimit -n");
    start_argv(&r, ARGV("/bin/true")); /* and then it can */
    finish(&r);
    release(&r);
}

/* ---- input and output ---- */

static void write_lines(struct run *r)
{
    vd_process_write(&r->process, VD_SLICE("b\na\n"));
    vd_process_write(&r->process, VD_SLICE("c\n"));
    vd_process_close_input(&r->process);
    vd_process_write(&r->process, VD_SLICE("too late\n"));
}

static void test_input_reaches_the_program(void **state)
{
    (void)state;
    struct run r = {0};
    start_argv(&r, ARGV("/usr/bin/sort"));
    on_loop(write_lines, &r);
    finish(&r);
    assert_string_equal(vd_buf_text(&r.output), "a\nb\nc\n");
    release(&r);
}

enum { BIG_LEN = 100 * 1024 * 1024, PART_LEN = 65536 };

/* Feeds a program as an exchange would: as much as it takes. */
struct feeder {
    struct run run;
    size_t left;
    size_t backlog_max;
    size_t got;
    bool has_wrong;
    char part[PART_LEN];
};

static void feed(struct feeder *f)
{
    while (f->left && !vd_process_is_full(&f->run.process)) {
        size_t n = f->left < PART_LEN ? f->left : PART_LEN;
        vd_process_write(&f->run.process, vd_slice(f->part, n));
        f->left -= n;
        if (vd_process_backlog(&f->run.process) > f->backlog_max)
            f->backlog_max = vd_process_backlog(&f->run.process);
    }
    if (!f->left)
        vd_process_close_input(&f->run.process);
}

static void feed_on(struct vd_process *p)
{
    struct feeder *f = VD_CONTAINER_OF(run_of(p), struct feeder, run);
    f->run.drained++;
    feed(f);
}

static void feed_first(struct run *r)
{
    feed(VD_CONTAINER_OF(r, struct feeder, run));
}

static void count_output(struct vd_process *p, struct vd_slice bytes)
{
    struct feeder *f = VD_CONTAINER_OF(run_of(p), struct feeder, run);
    for (size_t i = 0; i < bytes.n; i += 997)
        f->has_wrong |= bytes.p[i] != f->part[(f->got + i) % PART_LEN];
    f->got += bytes.n;
    f->run.output_len += bytes.n;
}

/* 0 where a sanitizer keeps what was freed. */
static size_t resident_len(void)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    return 0;
#endif
    unsigned long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &all, &resident), 2);
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static void test_a_paused_reader_holds_the_program_back(void **state)
{
    (void)state;
    static const struct vd_process_ops ops = {
        .output = count_output, .drained = feed_on, .exited = exited};
    struct feeder *f = VD_NEW(struct feeder);
    f->run.ops = &ops;
    f->left = BIG_LEN;
    for (size_t i = 0; i < PART_LEN; i++)
        f->part[i] = (char)(i * 31 + i / 256);
    start_argv(&f->run, ARGV("/bin/cat"));
    size_t before = resident_len();
    on_loop(pause_output, &f->run);
    on_loop(feed_first, &f->run);
    /* It waits in its write, so its input backs up: nothing moves any more. */
    size_t drains = SIZE_MAX;
    for (int same = 0; same < 100; nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL)) {
        same = drains == f->run.drained ? same + 1 : 0;
        drains = f->run.drained;
    }
    assert_int_equal(f->got, 0);
    assert_true(f->left > BIG_LEN / 2);
    for (int i = 0; i < 20; i++) { /* a reader that stops and goes on */
        on_loop(resume_output, &f->run);
        on_loop(pause_output, &f->run);
    }
    on_loop(resume_output, &f->run);
    finish(&f->run);
    assert_int_equal(f->got, BIG_LEN);
    assert_false(f->has_wrong);
    assert_true(f->backlog_max <= VD_PROCESS_BACKLOG_MAX + PART_LEN);
    assert_true(resident_len() < before + 16 * 1024 * 1024);
    assert_true(vd_process_succeeded(&f->run.exit));
    release(&f->run);
    free(f);
}

/* The program has ended, and what it said is still there. */
static void test_the_end_waits_for_a_paused_reader(void **state)
{
    (void)state;
    struct run r = {0};
    start_script(&r, "sleep 0.2; echo last words");
    on_loop(pause_output, &r);
    nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 500000000},
              NULL); /* no condition shows it */
    assert_int_equal(r.exits, 0);
    assert_int_equal(r.output_len, 0);
    on_loop(resume_output, &r);
    finish(&r);
    assert_string_equal(vd_buf_text(&r.output), "last words\n");
    assert_false(r.exit.is_cut);
    release(&r);
}

static void write_much(struct run *r)
{
    char part[65536] = {0};
    for (int i = 0; i < 16; i++)
        vd_process_write(&r->process, vd_slice(part, sizeof part));
}

static void test_a_program_that_does_not_read(void **state)
{
    (void)state;
    struct run r = {0};
    start_script(&r, "exec 0<&-; echo closed; sleep 0.3; echo done");
    WAIT_FOR(r.output_len >= 7);
    on_loop(write_much, &r); /* EPIPE, and no signal */
    on_loop(write_much, &r);
    finish(&r);
    assert_true(vd_process_succeeded(&r.exit));
    assert_string_equal(vd_buf_text(&r.output), "closed\ndone\n");
    release(&r);
    struct run full = {0};
    start_script(&full, "head -c 1 >/dev/null; sleep 0.1");
    on_loop(write_much, &full);
    finish(&full);
    assert_true(vd_process_succeeded(&full.exit));
    assert_true(full.drained <= 1);
    release(&full);
}

/* ---- the channel ---- */

static void ask_channel(struct run *r)
{
    vd_process_send_channel(&r->process, VD_SLICE("question\n"));
}

static void test_the_channel_goes_both_ways(void **state)
{
    (void)state;
    struct run r = {.options.has_channel = true};
    /* A child of the program has it, too. */
    start_script(&r, "echo ready >&3; sh -c 'read x <&3; echo \"answer to $x\" >&3'; echo end");
    WAIT_FOR(r.channel_len >= 6);
    on_loop(ask_channel, &r);
    finish(&r);
    assert_string_equal(vd_buf_text(&r.channel), "ready\nanswer to question\n");
    assert_string_equal(vd_buf_text(&r.output), "end\n");
    release(&r);
}

/* ---- time ---- */

static void test_a_program_that_takes_too_long(void **state)
{
    (void)state;
    struct run r = {.options.timeout_ms = 300};
    start_script(&r, "trap '' TERM INT HUP; echo begun; (trap '' TERM; sleep 1000) & sleep 1000");
    finish(&r);
    assert_true(ran_ms(&r) >= 300);
    assert_true(r.exit.timed_out);
    assert_int_equal(r.exit.signal, SIGKILL);
    assert_string_equal(vd_buf_text(&r.output), "begun\n");
    WAIT_FOR(is_group_gone(r.process.pid));
    release(&r);
}

static void test_a_program_that_stands_still(void **state)
{
    (void)state;
    struct run r = {.options.idle_timeout_ms = 400};
    start_script(&r, "for i in 1 2 3 4 5 6; do sleep 0.1; echo $i; done; sleep 1000");
    finish(&r);
    assert_true(ran_ms(&r) >= 1000); /* it was not idle before */
    assert_true(r.exit.timed_out);
    assert_string_equal(vd_buf_text(&r.output), "1\n2\n3\n4\n5\n6\n");
    release(&r);
}

static void test_a_paused_reader_and_a_timeout(void **state)
{
    (void)state;
    struct run r = {.options.timeout_ms = 300};
    start_script(&r, "echo begun; sleep 1000");
    on_loop(pause_output, &r);
    finish(&r);
    assert_true(r.exit.timed_out);
    release(&r);
}

static void test_killing(void **state)
{
    (void)state;
    struct run r = {0}, paused = {0}, polite = {0};
    start_script(&r, "trap '' TERM; echo begun; sleep 1000 & wait; sleep 1000");
    start_script(&paused, "sleep 1000");
    start_script(&polite, "trap 'echo bye; exit 3' TERM; echo begun; while :; do sleep 0.05; done");
    WAIT_FOR(r.output_len == 6 && polite.output_len == 6);
    on_loop(terminate, &r); /* it does not care */
    on_loop(terminate, &polite);
    finish(&polite);
    assert_int_equal(polite.exit.status, 3);
    assert_string_equal(vd_buf_text(&polite.output), "begun\nbye\n");
    assert_int_equal(r.exits, 0);
    on_loop(pause_output, &paused);
    on_loop(kill_now, &paused);
    on_loop(kill_now, &r);
    on_loop(kill_now, &r);
    finish(&r);
    finish(&paused);
    assert_true(r.exit.is_killed);
    assert_int_equal(r.exit.signal, SIGKILL);
    WAIT_FOR(is_group_gone(r.process.pid));
    on_loop(kill_now, &r); /* too late, and harmless */
    on_loop(close_input, &r);
    release(&r);
    release(&paused);
    release(&polite);
}

/* One that ended while its reader was paused, and is not wanted any more. */
static void test_killing_what_has_ended(void **state)
{
    (void)state;
    struct run r = {0};
    start_script(&r, "echo words");
    on_loop(pause_output, &r);
    WAIT_FOR(is_group_gone(r.process.pid)); /* reaped */
    on_loop(kill_now, &r);
    finish(&r);
    assert_true(r.exit.is_killed);
    release(&r);
}

/* ---- children of programs ---- */

static void test_a_child_ends_with_the_program(void **state)
{
    (void)state;
    struct run r = {0};
    start_script(&r, "sleep 1000 & echo left $!");
    finish(&r);
    assert_true(vd_process_succeeded(&r.exit));
    assert_false(r.exit.is_cut);
    WAIT_FOR(is_group_gone(r.process.pid));
    release(&r);
}

/* It has a session of its own, so nobody can kill it; and it has the pipes. */
static void test_a_child_that_stays_keeps_nobody_waiting(void **state)
{
    (void)state;
    struct run r = {0};
    start_script(&r, "setsid sh -c 'echo $$; exec sleep 1000' & sleep 0.3; exit 5");
    finish(&r);
    assert_int_equal(r.exit.status, 5);
    assert_true(r.exit.is_cut);
    int pid = (int)strtol(vd_buf_text(&r.output), NULL, 10);
    assert_true(pid > 1);
    assert_int_equal(kill(pid, SIGKILL), 0);
    release(&r);
}

/* ---- resources ---- */

static void test_limits_of_resources(void **state)
{
    (void)state;
    struct run r = {
        .options = {
            .memory_max = 1u << 30, .cpu_s_max = 100, .file_len_max = 4096, .files_max = 50}};
    /* Not before they hold: the program may run before it is limited. */
    start_script(&r, "while [ \"$(ulimit -n)\" != 50 ]; do :; done; "
                     "ulimit -v; ulimit -t; ulimit -f; ulimit -c");
    finish(&r);
    assert_string_equal(vd_buf_text(&r.output), "1048576\n100\n8\n0\n");
    release(&r);
}

/* ---- many ---- */

enum { IN_ROW = 2000, AT_ONCE = 200 };

static void start_next(struct vd_process *p, const struct vd_process_exit *exit)
{
    struct run *r = run_of(p);
    struct vd_error error;
    if (vd_process_succeeded(exit))
        r->drained++;
    if (r->drained < IN_ROW && vd_process_start(p, &loop, &r->options, r->ops, &error) == VD_OK)
        return;
    r->exits++;
}

static size_t descriptors(void)
{
    size_t n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void test_thousands_one_after_the_other(void **state)
{
    (void)state;
    static const struct vd_process_ops ops = {.exited = start_next};
    struct run r = {.ops = &ops, .options.name = "in-a-row"};
    size_t before = descriptors();
    start_argv(&r, ARGV("/bin/true"));
    finish(&r);
    assert_int_equal(r.drained, IN_ROW);
    WAIT_FOR(descriptors() == before);
    assert_true(
        metrics_have("vedette_processes_total{program=\"true in-a-row\",result=\"ok\"} 2000"));
    assert_true(metrics_have("vedette_processes_running 0"));
    release(&r);
}

static void test_many_at_once(void **state)
{
    (void)state;
    static struct run runs[AT_ONCE];
    for (size_t i = 0; i < AT_ONCE; i++)
        start_argv(&runs[i], ARGV("/bin/cat"));
    assert_true(metrics_have("vedette_processes_running 200"));
    for (size_t i = 0; i < AT_ONCE; i++)
        on_loop(write_lines, &runs[i]);
    for (size_t i = 0; i < AT_ONCE; i++) {
        finish(&runs[i]);
        assert_string_equal(vd_buf_text(&runs[i].output), "b\na\nc\n");
        release(&runs[i]);
    }
}

struct other {
    struct vd_loop loop;
    struct vd_task task;
    struct run run;
};

static void start_other(struct vd_task *task)
{
    struct other *o = VD_CONTAINER_OF(task, struct other, task);
    o->run.code = vd_process_start(&o->run.process, &o->loop, &o->run.options, &keep_all,
                                   &o->run.error);
}

/* Each hears of its own. */
static void test_several_loops(void **state)
{
    (void)state;
    enum { LOOPS = 3 };
    static struct other others[LOOPS];
    static const char *const argv[] = {"/bin/echo", "hello", NULL};
    for (size_t i = 0; i < LOOPS; i++) {
        struct vd_error error = {0};
        assert_ok(vd_loop_init(&others[i].loop, i + 1, &error), &error);
        assert_ok(vd_loop_start(&others[i].loop, &error), &error);
        others[i].run.options.argv = argv;
        others[i].task.run = start_other;
        vd_loop_post(&others[i].loop, &others[i].task);
    }
    for (size_t i = 0; i < LOOPS; i++) {
        finish(&others[i].run);
        assert_string_equal(vd_buf_text(&others[i].run.output), "hello\n");
        release(&others[i].run);
        vd_loop_stop(&others[i].loop);
        vd_loop_release(&others[i].loop);
    }
}

/* ---- a loop that stops ---- */

static void test_a_loop_stops(void **state)
{
    (void)state;
    struct run runs[3] = {0};
    start_script(&runs[0], "trap '' TERM; echo 1; sleep 1000");
    start_argv(&runs[1], ARGV("/bin/cat"));
    start_script(&runs[2], "sleep 1000 & echo 1; wait");
    on_loop(pause_output, &runs[1]);
    on_loop(write_much, &runs[1]);
    WAIT_FOR(runs[0].output_len && runs[2].output_len);
    vd_loop_stop(&loop);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(runs[i].exits, 1);
        assert_true(runs[i].exit.is_stopped);
        assert_int_equal(runs[i].exit.signal, SIGKILL);
        WAIT_FOR(is_group_gone(runs[i].process.pid));
        release(&runs[i]);
    }
    struct run late = {.options.argv = ARGV("/bin/true")};
    start_now(&late);
    assert_int_equal(late.code, VD_ERR_CLOSED);
    assert_true(metrics_have("vedette_processes_running 0"));
    vd_loop_release(&loop);
    setup(NULL);
}

int main(void)
{
    /* What the test itself has inherited is not the server's fault. */
    for (int fd = 3; fd < 1024; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_statuses),
        cmocka_unit_test(test_the_environment_and_the_arguments_are_whole),
        cmocka_unit_test(test_nothing_of_the_server_is_inherited),
        cmocka_unit_test(test_a_program_that_cannot_be_started),
        cmocka_unit_test(test_no_descriptors_are_left),
        cmocka_unit_test(test_input_reaches_the_program),
        cmocka_unit_test(test_a_paused_reader_holds_the_program_back),
        cmocka_unit_test(test_the_end_waits_for_a_paused_reader),
        cmocka_unit_test(test_a_program_that_does_not_read),
        cmocka_unit_test(test_the_channel_goes_both_ways),
        cmocka_unit_test(test_a_program_that_takes_too_long),
        cmocka_unit_test(test_a_program_that_stands_still),
        cmocka_unit_test(test_a_paused_reader_and_a_timeout),
        cmocka_unit_test(test_killing),
        cmocka_unit_test(test_killing_what_has_ended),
        cmocka_unit_test(test_a_child_ends_with_the_program),
        cmocka_unit_test(test_a_child_that_stays_keeps_nobody_waiting),
        cmocka_unit_test(test_limits_of_resources),
        cmocka_unit_test(test_thousands_one_after_the_other),
        cmocka_unit_test(test_many_at_once),
        cmocka_unit_test(test_several_loops),
        cmocka_unit_test(test_a_loop_stops),
    };
    return cmocka_run_group_tests_name("process", tests, setup, teardown);
}
