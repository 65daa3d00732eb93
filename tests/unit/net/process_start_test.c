/* How programs are started: with what, with what limits, and what is said when they cannot be. */
#include "net/process_start.h"

#include "metrics_check.h"
#include "process_run.h"

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

/* Neither the server's descriptors nor its blocked and ignored signals. Signals above 31 are left
 * out: the C library keeps some of them for itself, and whoever runs the test may ignore them. */
static void test_nothing_of_the_server_is_inherited(void **state)
{
    (void)state;
    struct run r = {0};
    struct run with_channel = {.options.has_channel = true};
    static const char script[] = "ls /proc/self/fd | tr '\\n' ' '; "
                                 "for s in Blk Ign; do echo "
                                 "$((0x$(sed -n s/^Sig$s:.//p /proc/self/status) & 0x7fffffff)); "
                                 "done";
    start_script(&r, script);
    start_script(&with_channel, script);
    finish(&r);
    finish(&with_channel);
    /* The last one is that of ls itself, for the folder. */
    assert_string_equal(vd_buf_text(&r.output), "0 1 2 3 0\n0\n");
    assert_string_equal(vd_buf_text(&with_channel.output), "0 1 2 3 4 0\n0\n");
    release(&r);
    release(&with_channel);
}

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
        cmocka_unit_test(test_the_environment_and_the_arguments_are_whole),
        cmocka_unit_test(test_nothing_of_the_server_is_inherited),
        cmocka_unit_test(test_a_program_that_cannot_be_started),
        cmocka_unit_test(test_no_descriptors_are_left),
        cmocka_unit_test(test_limits_of_resources),
    };
    return cmocka_run_group_tests_name("process_start", tests, setup, teardown);
}
