/* Processes: real programs, what they say, how they end, and that they cannot be kept waiting. */
#include "net/process.h"

#include "metrics_check.h"
#include "process_run.h"

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
    start_with(&f->run, ARGV("/bin/cat"), start_paused_now);
    size_t before = resident_len();
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
    start_script_paused(&r, "echo last words");
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL); /* no condition shows it */
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
    start_script_paused(&r, "echo begun; sleep 1000");
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
    start_script_paused(&r, "echo words");
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

/* ---- many ---- */

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { IN_ROW = 200 }; /* whose processes take long to copy */
#else
enum { IN_ROW = 800 };
#endif
enum { AT_ONCE = 200 };

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

static void test_hundreds_one_after_the_other(void **state)
{
    (void)state;
    static const struct vd_process_ops ops = {.exited = start_next};
    struct run r = {.ops = &ops, .options.name = "in-a-row"};
    size_t before = descriptors();
    start_argv(&r, ARGV("/bin/true"));
    finish(&r);
    assert_int_equal(r.drained, IN_ROW);
    WAIT_FOR(descriptors() == before);
    char line[128];
    snprintf(line, sizeof line,
             "vedette_processes_total{program=\"true in-a-row\",result=\"ok\"} %d", IN_ROW);
    assert_true(metrics_have(line));
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
    /* As in the server, where the main thread has other signals to wait for. */
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &children, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_statuses),
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
        cmocka_unit_test(test_hundreds_one_after_the_other),
        cmocka_unit_test(test_many_at_once),
        cmocka_unit_test(test_several_loops),
        cmocka_unit_test(test_a_loop_stops),
    };
    return cmocka_run_group_tests_name("process", tests, setup, teardown);
}
