/* Loops: tasks from many threads, timers, hooks, and the end. */
#include "net/loop.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/container_of.h"
#include "check.h"
#include "seed.h"

static struct vd_loop loop;

static int setup(void **state)
{
    struct vd_error error;
    (void)state;
    return vd_loop_init(&loop, 0, &error);
}

static void start(void)
{
    struct vd_error error = {0};
    assert_ok(vd_loop_start(&loop, &error), &error);
}

static int teardown(void **state)
{
    (void)state;
    vd_loop_stop(&loop);
    vd_loop_release(&loop);
    return 0;
}

static sem_t done;

static void wait_done(void)
{
    while (sem_wait(&done) != 0)
        ;
}

/* ---- tasks ---- */

enum { THREADS = 4, TASKS = 5000 };

struct numbered {
    struct vd_task task;
    unsigned thread, number;
};

static unsigned next_of[THREADS];
static unsigned out_of_order, tasks_run;

static void run_numbered(struct vd_task *task)
{
    struct numbered *n = VD_CONTAINER_OF(task, struct numbered, task);
    out_of_order += next_of[n->thread]++ != n->number;
    if (++tasks_run == THREADS * TASKS)
        sem_post(&done);
    free(n);
}

static void *post_many(void *arg)
{
    unsigned thread = (unsigned)(uintptr_t)arg;
    for (unsigned i = 0; i < TASKS; i++) {
        struct numbered *n = VD_NEW(struct numbered);
        *n = (struct numbered){.task.run = run_numbered, .thread = thread, .number = i};
        vd_loop_post(&loop, &n->task);
    }
    return NULL;
}

static void test_tasks_run_once_and_in_each_threads_order(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    start();
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, post_many, (void *)i);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    wait_done();
    assert_int_equal(out_of_order, 0);
    assert_int_equal(tasks_run, THREADS * TASKS);
}

static unsigned chain_left;

static void run_chain(struct vd_task *task)
{
    if (chain_left-- > 0)
        vd_loop_post(&loop, task);
    else
        sem_post(&done);
}

static void test_a_task_may_post_itself_again(void **state)
{
    struct vd_task task = {.run = run_chain};
    (void)state;
    chain_left = 1000;
    start();
    vd_loop_post(&loop, &task);
    wait_done();
    assert_int_equal(chain_left, UINT32_MAX);
}

/* ---- timers ---- */

struct mark {
    struct vd_timer timer;
    unsigned name;
};

enum { MARKS = 2000 };
static struct mark marks[MARKS];
static unsigned fired[2 * MARKS];
static size_t fired_n, fired_wanted;

static void fire_mark(struct vd_timer *timer)
{
    struct mark *m = VD_CONTAINER_OF(timer, struct mark, timer);
    fired[fired_n++] = m->name;
    if (fired_n == fired_wanted)
        sem_post(&done);
}

static void marks_init(void)
{
    for (unsigned i = 0; i < MARKS; i++)
        marks[i] = (struct mark){.timer.fire = fire_mark, .name = i};
    fired_n = 0;
}

static void set_some(struct vd_task *task)
{
    (void)task;
    vd_timer_set(&loop, &marks[3].timer, 30);
    vd_timer_set(&loop, &marks[1].timer, 10);
    vd_timer_set(&loop, &marks[2].timer, 20);
    vd_timer_set(&loop, &marks[0].timer, 0);
    vd_timer_set(&loop, &marks[4].timer, 5);
    vd_timer_stop(&loop, &marks[4].timer);
    vd_timer_stop(&loop, &marks[5].timer);
}

static void test_timers_fire_in_order_of_time(void **state)
{
    struct vd_task task = {.run = set_some};
    (void)state;
    marks_init();
    fired_wanted = 4;
    start();
    vd_loop_post(&loop, &task);
    wait_done();
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(fired[i], i);
    assert_int_equal(fired_n, 4);
    assert_false(vd_timer_is_set(&marks[3].timer));
}

static void set_far(struct vd_task *task)
{
    (void)task;
    vd_timer_set(&loop, &marks[0].timer, 3600 * 1000);
}

static void move_near(struct vd_task *task)
{
    (void)task;
    vd_timer_set(&loop, &marks[0].timer, 1);
}

static void test_a_timer_moved_forward_fires_in_time(void **state)
{
    struct vd_task far = {.run = set_far}, near = {.run = move_near};
    (void)state;
    marks_init();
    fired_wanted = 1;
    start();
    vd_loop_post(&loop, &far);
    vd_loop_post(&loop, &near);
    wait_done(); /* or never */
    assert_int_equal(fired_n, 1);
}

static void move_back(struct vd_task *task)
{
    (void)task;
    vd_timer_set(&loop, &marks[0].timer, 1);
    vd_timer_set(&loop, &marks[1].timer, 20);
    vd_timer_set(&loop, &marks[0].timer, 40);
}

static void test_a_timer_moved_back_waits(void **state)
{
    struct vd_task task = {.run = move_back};
    (void)state;
    marks_init();
    fired_wanted = 2;
    start();
    vd_loop_post(&loop, &task);
    wait_done();
    assert_int_equal(fired[0], 1);
    assert_int_equal(fired[1], 0);
}

/* Stops the one behind it, and sets itself again once. */
static void fire_and_stop_next(struct vd_timer *timer)
{
    struct mark *m = VD_CONTAINER_OF(timer, struct mark, timer);
    fired[fired_n++] = m->name;
    vd_timer_stop(&loop, &marks[m->name + 1].timer);
    if (fired_n == 1)
        vd_timer_set(&loop, timer, 0);
    else
        sem_post(&done);
}

static void set_pair(struct vd_task *task)
{
    (void)task;
    marks[0].timer.fire = fire_and_stop_next;
    vd_timer_set(&loop, &marks[0].timer, 1);
    vd_timer_set(&loop, &marks[1].timer, 1);
}

static void test_a_timer_may_stop_others_and_set_itself(void **state)
{
    struct vd_task task = {.run = set_pair};
    (void)state;
    marks_init();
    start();
    vd_loop_post(&loop, &task);
    wait_done();
    assert_int_equal(fired_n, 2);
    assert_int_equal(fired[0], 0);
    assert_int_equal(fired[1], 0);
}

static uint64_t due_ns[MARKS];

static void set_many(struct vd_task *task)
{
    struct seed_rng r = {1};
    (void)task;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < MARKS; i++) {
            vd_timer_set(&loop, &marks[i].timer, (unsigned)seed_below(&r, 50));
            due_ns[i] = marks[i].timer.node.key;
        }
    }
    for (unsigned i = 0; i < MARKS; i += 2)
        vd_timer_stop(&loop, &marks[i].timer);
}

static void test_many_timers_moved_and_stopped(void **state)
{
    struct vd_task task = {.run = set_many};
    (void)state;
    marks_init();
    fired_wanted = MARKS / 2;
    start();
    vd_loop_post(&loop, &task);
    wait_done();
    for (size_t i = 0; i < fired_n; i++) {
        assert_int_equal(fired[i] % 2, 1);
        assert_true(i == 0 || due_ns[fired[i - 1]] <= due_ns[fired[i]]);
    }
}

/* ---- hooks ---- */

struct counted_hook {
    struct vd_turn_hook hook;
    char name;
    unsigned again; /* turns that it asks for */
};

static char hook_text[64];
static size_t hook_text_n;

static bool run_hook(struct vd_turn_hook *hook)
{
    struct counted_hook *h = VD_CONTAINER_OF(hook, struct counted_hook, hook);
    if (hook_text_n < sizeof hook_text - 1)
        hook_text[hook_text_n++] = h->name;
    if (h->again == 1)
        sem_post(&done);
    return h->again > 0 && h->again-- > 1;
}

static void test_hooks_run_in_order_and_again(void **state)
{
    struct counted_hook a = {.hook.run = run_hook, .name = 'a'};
    struct counted_hook b = {.hook.run = run_hook, .name = 'b', .again = 5};
    (void)state;
    hook_text_n = 0;
    vd_loop_hook(&loop, &a.hook);
    vd_loop_hook(&loop, &b.hook);
    start();
    wait_done(); /* the loop must turn five times though nothing happens */
    vd_loop_stop(&loop);
    hook_text[hook_text_n] = 0;
    assert_memory_equal(hook_text, "ababababab", 10);
    assert_true(hook_text_n <= 14); /* and then it waits; stopping turns it once more */
}

static _Atomic unsigned turns;

static bool count_turn(struct vd_turn_hook *hook)
{
    (void)hook;
    turns++;
    sem_post(&done);
    return false;
}

static void test_a_wake_makes_a_turn(void **state)
{
    struct vd_turn_hook hook = {.run = count_turn};
    (void)state;
    vd_loop_hook(&loop, &hook);
    start();
    wait_done();
    unsigned before = turns;
    vd_loop_wake(&loop);
    wait_done();
    assert_true(turns > before);
    vd_loop_stop(&loop);
}

static bool ask_once(struct vd_turn_hook *hook)
{
    static unsigned asked;
    (void)hook;
    if (asked++ == 0)
        vd_loop_again(&loop);
    return false;
}

/* What a late hook leaves for an earlier one is not left lying until something happens. */
static void test_a_hook_may_ask_for_those_before_it(void **state)
{
    struct vd_turn_hook first = {.run = count_turn};
    struct vd_turn_hook late = {.run = ask_once};
    (void)state;
    vd_loop_hook(&loop, &first);
    vd_loop_hook(&loop, &late);
    start();
    wait_done();
    wait_done(); /* the second turn, though nothing has happened */
    vd_loop_stop(&loop);
}

/* What is posted for the end of a turn comes behind the hooks; what a hook posts for its own loop
 * comes in the next turn, which needs nobody to wake it. */
static void note_last(struct vd_task *task)
{
    (void)task;
    if (hook_text_n < sizeof hook_text - 1)
        hook_text[hook_text_n++] = 'l';
}

static void note_posted(struct vd_task *task)
{
    (void)task;
    if (hook_text_n < sizeof hook_text - 1)
        hook_text[hook_text_n++] = 'p';
    sem_post(&done);
}

static struct vd_task last_task = {.run = note_last}, posted_task = {.run = note_posted};

static bool post_both(struct vd_turn_hook *hook)
{
    static bool posted;
    (void)hook;
    if (hook_text_n < sizeof hook_text - 1)
        hook_text[hook_text_n++] = 'h';
    if (!posted) {
        posted = true;
        vd_loop_post_last(&loop, &last_task);
        vd_loop_post(&loop, &posted_task);
    }
    return false;
}

static void test_tasks_of_a_hook_wait_for_their_place(void **state)
{
    struct vd_turn_hook first = {.run = post_both};
    struct counted_hook second = {.hook.run = run_hook, .name = 'i'};
    (void)state;
    hook_text_n = 0;
    vd_loop_hook(&loop, &first);
    vd_loop_hook(&loop, &second.hook);
    start();
    wait_done();
    vd_loop_stop(&loop);
    assert_memory_equal(hook_text, "hilphi", 6);
}

static bool post_and_run(struct vd_turn_hook *hook)
{
    static bool posted;
    (void)hook;
    if (!posted) {
        posted = true;
        vd_loop_post(&loop, &posted_task);
        hook_text[hook_text_n++] = '<';
        vd_loop_run_posted(&loop);
        hook_text[hook_text_n++] = '>';
    }
    return false;
}

static void test_a_hook_may_run_what_it_has_posted(void **state)
{
    struct vd_turn_hook hook = {.run = post_and_run};
    (void)state;
    hook_text_n = 0;
    vd_loop_hook(&loop, &hook);
    start();
    wait_done();
    vd_loop_stop(&loop);
    assert_int_equal(hook_text_n, 3);
    assert_memory_equal(hook_text, "<p>", 3);
}

/* ---- the end ---- */

static unsigned ended_tasks;

static void count_task(struct vd_task *task)
{
    (void)task;
    ended_tasks++;
}

static void test_stop_runs_what_was_posted_and_no_timer(void **state)
{
    struct vd_task tasks[100], timer_task = {.run = set_far}, last = {.run = count_task};
    (void)state;
    marks_init();
    start();
    vd_loop_post(&loop, &timer_task);
    for (size_t i = 0; i < 100; i++) {
        tasks[i] = (struct vd_task){.run = count_task};
        vd_loop_post(&loop, &tasks[i]);
    }
    vd_loop_post_last(&loop, &last);
    vd_loop_stop(&loop);
    assert_int_equal(ended_tasks, 101);
    assert_int_equal(fired_n, 0);
}

static void test_a_loop_that_never_started_stops(void **state)
{
    struct vd_task task = {.run = count_task};
    (void)state;
    ended_tasks = 0;
    vd_loop_post(&loop, &task);
    vd_loop_stop(&loop);
    assert_int_equal(ended_tasks, 1);
}

static void check_signals(struct vd_task *task)
{
    sigset_t blocked;
    (void)task;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    ended_tasks = sigismember(&blocked, SIGPIPE) && sigismember(&blocked, SIGTERM);
    sem_post(&done);
}

static void test_signals_are_not_for_loops(void **state)
{
    struct vd_task task = {.run = check_signals};
    (void)state;
    start();
    vd_loop_post(&loop, &task);
    wait_done();
    assert_int_equal(ended_tasks, 1);
}

/* In a child of its own each time, as libuv loses a descriptor when it fails. */
static int init_with_free_descriptors(int n)
{
    struct vd_error error = {0};
    struct vd_loop other;
    struct rlimit limit = {0};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t)dup(0) + (rlim_t)n;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (vd_loop_init(&other, 0, &error) != VD_OK)
        return strstr(error.text, "too many open files") ? 1 : 2;
    vd_loop_stop(&other);
    vd_loop_release(&other);
    return 0;
}

static void test_no_descriptors_is_an_error(void **state)
{
    int errors = 0, status = -1;
    (void)state;
    for (int n = 0; n < 12; n++) {
        pid_t child = fork();
        if (child == 0)
            _exit(init_with_free_descriptors(n));
        waitpid(child, &status, 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
        errors += WEXITSTATUS(status);
    }
    assert_int_equal(status, 0);
    assert_true(errors > 2);
}

/* ---- work ---- */

struct slow {
    struct vd_work work;
    struct vd_task begin, meanwhile;
    sem_t started, go_on;
    pthread_t loops_thread, worker;
    bool finished_here;
};

static void slow_run(struct vd_work *work)
{
    struct slow *s = VD_CONTAINER_OF(work, struct slow, work);
    s->worker = pthread_self();
    sem_post(&s->started);
    while (sem_wait(&s->go_on) != 0)
        ;
}

static void slow_done(struct vd_work *work)
{
    struct slow *s = VD_CONTAINER_OF(work, struct slow, work);
    s->finished_here = pthread_equal(pthread_self(), s->loops_thread);
    sem_post(&done);
}

static void slow_begin(struct vd_task *task)
{
    struct slow *s = VD_CONTAINER_OF(task, struct slow, begin);
    s->loops_thread = pthread_self();
    vd_loop_work(&loop, &s->work);
}

static void slow_meanwhile(struct vd_task *task)
{
    struct slow *s = VD_CONTAINER_OF(task, struct slow, meanwhile);
    sem_post(&s->go_on); /* only a loop that turns lets the work end */
}

static void test_work_does_not_hold_the_loop(void **state)
{
    struct slow s = {.work = {.run = slow_run, .done = slow_done},
                     .begin.run = slow_begin,
                     .meanwhile.run = slow_meanwhile};
    (void)state;
    sem_init(&s.started, 0, 0);
    sem_init(&s.go_on, 0, 0);
    start();
    vd_loop_post(&loop, &s.begin);
    while (sem_wait(&s.started) != 0)
        ;
    vd_loop_post(&loop, &s.meanwhile);
    wait_done();
    assert_true(s.finished_here);
    assert_false(pthread_equal(s.worker, s.loops_thread));
    sem_destroy(&s.started);
    sem_destroy(&s.go_on);
}

static void test_a_stopping_loop_waits_for_its_work(void **state)
{
    struct slow s = {.work = {.run = slow_run, .done = slow_done}, .begin.run = slow_begin};
    (void)state;
    sem_init(&s.started, 0, 0);
    sem_init(&s.go_on, 0, 1);
    start();
    vd_loop_post(&loop, &s.begin);
    vd_loop_stop(&loop);
    assert_int_equal(sem_trywait(&done), 0);
    assert_true(s.finished_here);
    sem_destroy(&s.started);
    sem_destroy(&s.go_on);
}

static int release_only(void **state)
{
    (void)state;
    vd_loop_release(&loop);
    return 0;
}

int main(void)
{
    sem_init(&done, 0, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_tasks_run_once_and_in_each_threads_order, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_task_may_post_itself_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_timers_fire_in_order_of_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_timer_moved_forward_fires_in_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_timer_moved_back_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_timer_may_stop_others_and_set_itself, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_many_timers_moved_and_stopped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hooks_run_in_order_and_again, setup, release_only),
        cmocka_unit_test_setup_teardown(test_a_hook_may_ask_for_those_before_it, setup,
                                        release_only),
        cmocka_unit_test_setup_teardown(test_tasks_of_a_hook_wait_for_their_place, setup,
                                        release_only),
        cmocka_unit_test_setup_teardown(test_a_hook_may_run_what_it_has_posted, setup,
                                        release_only),
        cmocka_unit_test_setup_teardown(test_a_wake_makes_a_turn, setup, release_only),
        cmocka_unit_test_setup_teardown(test_stop_runs_what_was_posted_and_no_timer, setup,
                                        release_only),
        cmocka_unit_test_setup_teardown(test_a_loop_that_never_started_stops, setup, release_only),
        cmocka_unit_test_setup_teardown(test_work_does_not_hold_the_loop, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_stopping_loop_waits_for_its_work, setup,
                                        release_only),
        cmocka_unit_test_setup_teardown(test_signals_are_not_for_loops, setup, teardown),
        cmocka_unit_test(test_no_descriptors_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
