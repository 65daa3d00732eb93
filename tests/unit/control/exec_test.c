/* src/control/exec.c: programs that reconcile, good ones and bad ones. */
#include "loop_bench.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "control/exec.h"
#include "control/managed.h"

#define MAP                                                                                        \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\","                 \
    "\"namespace\":\"default\",\"generation\":1}}"

/* The beginning of every program: hello, then a loop over the messages with $id and $name set. */
#define LOOP(parallel)                                                                             \
    "echo '{\"type\":\"hello\",\"protocol\":1,\"parallel\":" parallel "}'\n"                       \
    "while read -r line; do\n"                                                                     \
    "case $line in *'\"type\":\"shutdown\"'*) exit 0;; *'\"type\":\"reconcile\"'*) ;; *) "         \
    "continue;; esac\n"                                                                            \
    "id=${line#*'\"id\":'}; id=${id%%,*}; name=${line#*'\"name\":\"'}; name=${name%%'\"'*}\n"
#define OK "echo '{\"type\":\"result\",\"id\":'$id'}'\n"

struct setting {
    struct bench bench;
    struct vd_exec *exec;
    struct vd_managed *controller;
    const char *argv[4];
    uv_sem_t called;
    struct vd_task task;
    void (*call)(struct setting *t);
    struct vd_managed_stats stats;
    struct vd_exec_stats exec_stats;
    _Atomic bool is_stopped;
};

static void on_loop(struct vd_task *task)
{
    struct setting *t = VD_CONTAINER_OF(task, struct setting, task);
    t->call(t);
    uv_sem_post(&t->called);
}

static void call(struct setting *t, void (*function)(struct setting *t))
{
    t->call = function;
    t->task.run = on_loop;
    vd_loop_post(&t->bench.loop, &t->task);
    uv_sem_wait(&t->called);
}

static void look(struct setting *t)
{
    vd_managed_stats(t->controller, &t->stats);
    vd_exec_stats(t->exec, &t->exec_stats);
}

/* Waits until what `look` sees is as it should be. */
#define AWAIT(t, condition)                                                                        \
    do {                                                                                           \
        struct timespec await_pause = {.tv_nsec = 2000000};                                        \
        int await_i = 0;                                                                           \
        for (; await_i < DEADLINE_S * 500; await_i++) {                                            \
            call(t, look);                                                                         \
            if (condition)                                                                         \
                break;                                                                             \
            nanosleep(&await_pause, NULL);                                                         \
        }                                                                                          \
        assert_true(await_i < DEADLINE_S * 500);                                                   \
    } while (0)

static void begin(struct setting *t)
{
    vd_managed_start(t->controller, 0);
}

static void open_test(struct setting *t, const char *program, struct vd_managed_policy policy)
{
    static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    *t = (struct setting){.argv = {"/bin/sh", "-c", program, NULL}};
    bench_open(&t->bench, 0);
    uv_sem_init(&t->called, 0);
    t->exec = vd_exec_new(&(struct vd_exec_options){
        .loop = &t->bench.loop,
        .clock = vd_clock_system(),
        .argv = t->argv,
        .env = env,
        .hello = {.controller = VD_SLICE("test"), .kind = VD_SLICE("ConfigMap")},
        .cancel_ms = 20});
    t->controller = vd_managed_new(
        &(struct vd_managed_options){.name = "test",
                                     .resource = VD_SLICE("configmaps"),
                                     .reconcile = vd_exec_reconcile(t->exec),
                                     .policy = policy,
                                     .store = t->bench.store,
                                     .clock = vd_clock_system(),
                                     .loop = &t->bench.loop});
    call(t, begin);
}

static void on_exec_stopped(struct vd_exec *exec, void *arg)
{
    vd_exec_free(exec);
    ((struct setting *)arg)->is_stopped = true;
}

static void on_stopped(struct vd_managed *controller, void *arg)
{
    struct setting *t = arg;
    vd_managed_free(controller);
    vd_exec_stop(t->exec, on_exec_stopped, t);
}

static void stop(struct setting *t)
{
    vd_managed_stop(t->controller, 0, on_stopped, t);
}

static void nothing(struct setting *t)
{
    (void)t;
}

static void close_test(struct setting *t)
{
    struct timespec pause = {.tv_nsec = 1000000};
    call(t, stop);
    for (int i = 0; i < DEADLINE_S * 1000 && !t->is_stopped; i++) {
        nanosleep(&pause, NULL);
        call(t, nothing);
    }
    assert_true(t->is_stopped);
    uv_sem_destroy(&t->called);
    bench_close(&t->bench);
}

static void put(struct setting *t, const char *name)
{
    char text[256];
    snprintf(text, sizeof text, MAP, name);
    put_text(&t->bench, "configmaps", text);
}

static void put_many(struct setting *t, int n)
{
    char name[16];
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "m%d", i);
        put(t, name);
    }
}

static void a_program_reconciles(void **state)
{
    struct setting t;
    (void)state;
    open_test(&t, LOOP("4") OK "done", (struct vd_managed_policy){.workers = 16});
    put_many(&t, 100);
    AWAIT(&t, t.stats.runs[VD_RESULT_SUCCESS] == 100);
    assert_int_equal(t.exec_stats.starts, 1);
    close_test(&t);
}

static void a_program_is_asked_again_and_gives_up(void **state)
{
    struct setting t;
    (void)state;
    open_test(
        &t,
        LOOP("1") "case $name in good) " OK ";; later) echo "
                  "'{\"type\":\"result\",\"id\":'$id',\"requeueAfter\":0.01}';; never) echo "
                  "'{\"type\":\"result\",\"id\":'$id',\"error\":\"no\",\"terminal\":true}';; "
                  "*) echo '{\"type\":\"result\",\"id\":'$id',\"error\":\"oh\"}';; esac\ndone",
        (struct vd_managed_policy){.attempts = 3, .retry = {1, 2, 0, 0}});
    put(&t, "good");
    put(&t, "later");
    put(&t, "never");
    put(&t, "bad");
    AWAIT(&t, t.stats.parked == 2 && t.stats.runs[VD_RESULT_REQUEUE] >= 3);
    assert_int_equal(t.stats.runs[VD_RESULT_RETRY], 3);
    assert_int_equal(t.stats.runs[VD_RESULT_TERMINAL], 1);
    assert_int_equal(t.stats.runs[VD_RESULT_SUCCESS], 1);
    close_test(&t);
}

/* An object that ends the program fails alone; what the program worked on beside it does not. */
static void a_crash_harms_nobody_else(void **state)
{
    struct setting t;
    (void)state;
    open_test(&t, LOOP("8") "case $name in bad) exit 3;; esac\n" OK "done",
              (struct vd_managed_policy){.workers = 16, .attempts = 2, .retry = {1, 2, 0, 0}});
    put_many(&t, 10);
    put(&t, "bad");
    put_many(&t, 20);
    AWAIT(&t, t.stats.parked == 1 && t.stats.runs[VD_RESULT_SUCCESS] >= 20 && !t.stats.queued &&
                  !t.stats.running && !t.stats.delayed);
    assert_int_equal(t.stats.runs[VD_RESULT_RETRY], 2); /* both of the bad one */
    assert_true(t.exec_stats.failures >= 2);
    close_test(&t);
}

static void be_patient(struct setting *t)
{
    vd_managed_set_policy(t->controller, &(struct vd_managed_policy){.timeout_ms = 60000});
}

static void a_program_that_hangs_is_ended(void **state)
{
    struct setting t;
    (void)state;
    open_test(&t, LOOP("1") "case $name in bad) sleep 1000;; esac\n" OK "done",
              (struct vd_managed_policy){.attempts = 1, .timeout_ms = 50});
    put(&t, "bad");
    AWAIT(&t, t.stats.parked == 1);
    assert_int_equal(t.exec_stats.failures, 1);
    call(&t, be_patient); /* a busy machine may need longer than that for a good one, too */
    put(&t, "good");
    AWAIT(&t, t.stats.runs[VD_RESULT_SUCCESS] == 1);
    close_test(&t);
}

/* Programs that say what they should not: each is ended, and its runs are tried again. */
static void garbage_is_a_failure(void **state)
{
    static const char *const programs[] = {
        "exit 1",
        "echo hello",
        "echo '{\"type\":\"hello\",\"protocol\":7}'; cat",
        "echo '{\"type\":\"result\",\"id\":1}'; cat",
        LOOP("1") "echo nonsense\ndone",
        LOOP("1") "echo '{\"type\":\"result\",\"id\":99999}'\ndone",
        LOOP("1") "echo '{\"type\":\"hello\",\"protocol\":1}'\ndone",
        LOOP("1") "head -c 9000000 /dev/zero | tr '\\0' x\ndone",
        LOOP("1") "kill -9 $$\ndone",
    };
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct setting t;
        open_test(&t, programs[i], (struct vd_managed_policy){.attempts = 1, .timeout_ms = 2000});
        put(&t, "a");
        AWAIT(&t, t.exec_stats.failures >= 1 && (t.stats.parked == 1 || t.exec_stats.starts >= 2));
        close_test(&t);
    }
}

static void a_second_answer_is_a_failure(void **state)
{
    struct setting t;
    (void)state;
    open_test(&t, LOOP("1") OK OK "done", (struct vd_managed_policy){0});
    put(&t, "a");
    AWAIT(&t, t.exec_stats.failures >= 1);
    assert_int_equal(t.stats.runs[VD_RESULT_SUCCESS], 1); /* the first one counts */
    close_test(&t);
}

static void what_it_says_on_stderr_is_bounded(void **state)
{
    struct setting t;
    (void)state;
    open_test(&t, "head -c 20000000 /dev/zero >&2; " LOOP("1") OK "done",
              (struct vd_managed_policy){0});
    put(&t, "a");
    AWAIT(&t, t.stats.runs[VD_RESULT_SUCCESS] == 1);
    close_test(&t);
}

static void a_program_that_is_not_there(void **state)
{
    struct setting t;
    (void)state;
    open_test(&t, "", (struct vd_managed_policy){.attempts = 2, .retry = {1, 2, 0, 0}});
    t.argv[0] = "/nowhere/at/all";
    put(&t, "a");
    AWAIT(&t, t.exec_stats.failures >= 1);
    close_test(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_reconciles),
        cmocka_unit_test(a_program_is_asked_again_and_gives_up),
        cmocka_unit_test(a_crash_harms_nobody_else),
        cmocka_unit_test(a_program_that_hangs_is_ended),
        cmocka_unit_test(garbage_is_a_failure),
        cmocka_unit_test(a_second_answer_is_a_failure),
        cmocka_unit_test(what_it_says_on_stderr_is_bounded),
        cmocka_unit_test(a_program_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
