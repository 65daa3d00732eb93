/* Worker pools: users share the workers, whatever one of them has ordered. */
#include "net/worker_pool.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "base/container_of.h"
#include "base/limits.h"
#include "check.h"

enum { JOBS = 64, DEADLINE_S = 60 };

static struct vd_loop loop;
static struct vd_worker_pool worker_pool;
static struct vd_worker_flow ann, bob, cem;
static sem_t started; /* once for each job that a worker has begun */
static _Atomic size_t running, begun;

struct job {
    struct vd_pool_item order;
    sem_t go_on;
    _Atomic bool begun;
    bool done; /* the loop's */
};

static struct job jobs[JOBS];
static size_t jobs_n;

static void run(struct vd_pool_item *order)
{
    struct job *j = VD_CONTAINER_OF(order, struct job, order);
    atomic_fetch_add(&running, 1);
    atomic_fetch_add(&begun, 1);
    atomic_store(&j->begun, true);
    sem_post(&started);
    while (sem_wait(&j->go_on) != 0)
        ;
    atomic_fetch_sub(&running, 1);
}

static void done(struct vd_pool_item *order)
{
    VD_CONTAINER_OF(order, struct job, order)->done = true;
}

static struct job *order(struct vd_worker_flow *place)
{
    struct job *j = &jobs[jobs_n++];
    *j = (struct job){.order = {.run = run, .done = done}};
    sem_init(&j->go_on, 0, 0);
    vd_worker_pool_add(&worker_pool, &loop, place, &j->order);
    return j;
}

static void await_started(void)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += DEADLINE_S;
    if (sem_timedwait(&started, &end) != 0)
        fail_msg("no worker has begun");
}

/* The worker may end it, and the loop has heard of it. */
static void finish(struct job *j)
{
    sem_post(&j->go_on);
    while (!j->done)
        uv_run(&loop.uv, UV_RUN_ONCE);
}

static int setup(void **state)
{
    struct vd_error error;
    (void)state;
    jobs_n = 0;
    worker_pool = (struct vd_worker_pool){0};
    ann = bob = cem = (struct vd_worker_flow){0};
    atomic_store(&running, 0);
    atomic_store(&begun, 0);
    sem_init(&started, 0, 0);
    return vd_loop_init(&loop, 0, &error);
}

/* What is still ordered is done. */
static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < jobs_n; i++)
        sem_post(&jobs[i].go_on);
    vd_loop_stop(&loop);
    assert_int_equal(worker_pool.running, 0);
    assert_null(worker_pool.queue.first);
    for (size_t i = 0; i < jobs_n; i++)
        sem_destroy(&jobs[i].go_on);
    sem_destroy(&started);
    vd_loop_release(&loop);
    return 0;
}

static void a_user_with_much_to_do_leaves_workers_to_others(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        order(&ann);
    for (int i = 0; i < VD_WORK_USER_MAX; i++)
        await_started();
    struct job *other = order(&bob);
    await_started(); /* none of ann's has come to its end */
    assert_true(atomic_load(&other->begun));
    finish(other);
    assert_int_equal(atomic_load(&running), VD_WORK_USER_MAX);
    assert_int_equal(ann.running, VD_WORK_USER_MAX);
}

/* Two loops have half of the workers each, and a user half of that. */
static void loops_share_the_workers(void **state)
{
    (void)state;
    vd_worker_pool_init(&worker_pool, 2);
    for (int i = 0; i < 5; i++)
        order(&ann);
    await_started();
    struct job *other = order(&bob);
    await_started();
    assert_true(atomic_load(&other->begun));
    struct job *third = order(&cem);
    assert_int_equal(ann.running, 1);
    assert_int_equal(worker_pool.running, VD_WORK_LOOP_MAX / 2);
    finish(other);
    await_started();
    assert_true(atomic_load(&third->begun));
    assert_int_equal(ann.running, 1);
    for (size_t loops = 1; loops < 20; loops++) {
        struct vd_worker_pool w;
        vd_worker_pool_init(&w, loops);
        assert_in_range(w.share, 1, VD_WORK_LOOP_MAX);
    }
}

static void those_who_wait_take_turns(void **state)
{
    (void)state;
    struct vd_worker_flow busy[VD_WORK_LOOP_MAX] = {0};
    struct job *blocks[VD_WORK_LOOP_MAX];
    struct job *waiting[9];
    static const size_t turns[] = {0, 3, 6, 1, 4, 7, 2, 5, 8};
    for (size_t i = 0; i < VD_WORK_LOOP_MAX; i++) {
        blocks[i] = order(&busy[i]);
        await_started();
    }
    for (size_t i = 0; i < 9; i++)
        waiting[i] = order(i < 3 ? &ann : i < 6 ? &bob : &cem);
    assert_int_equal(atomic_load(&begun), VD_WORK_LOOP_MAX);
    struct job *last = blocks[0];
    for (size_t i = 0; i < 9; i++) {
        finish(last);
        await_started();
        last = waiting[turns[i]];
        if (!atomic_load(&last->begun))
            fail_msg("turn %zu is not that of %zu", i, turns[i]);
        assert_int_equal(atomic_load(&begun), VD_WORK_LOOP_MAX + i + 1);
    }
    finish(last);
    for (size_t i = 1; i < VD_WORK_LOOP_MAX; i++)
        finish(blocks[i]);
}

static void what_waits_can_be_cancelled(void **state)
{
    (void)state;
    struct job *mine[VD_WORK_USER_MAX + 3];
    for (size_t i = 0; i < VD_WORK_USER_MAX + 3; i++)
        mine[i] = order(&ann);
    for (int i = 0; i < VD_WORK_USER_MAX; i++)
        await_started();
    assert_false(vd_pool_item_cancel(&mine[0]->order));
    assert_true(vd_pool_item_cancel(&mine[VD_WORK_USER_MAX + 1]->order)); /* the middle, ... */
    assert_true(vd_pool_item_cancel(&mine[VD_WORK_USER_MAX + 2]->order)); /* the last, ... */
    assert_false(vd_pool_item_cancel(&mine[VD_WORK_USER_MAX + 2]->order));
    finish(mine[0]);
    await_started();
    assert_true(atomic_load(&mine[VD_WORK_USER_MAX]->begun));
    struct job *next = order(&ann);
    assert_true(vd_pool_item_cancel(&next->order)); /* and the only one */
    assert_null(ann.queue.first);
    for (size_t i = 1; i <= VD_WORK_USER_MAX; i++)
        finish(mine[i]);
    assert_int_equal(atomic_load(&begun), VD_WORK_USER_MAX + 1);
    assert_int_equal(ann.running, 0);
    assert_false(ann.queue.in_ring);
}

/* teardown() stops the loop while most of them wait. */
static void a_stopping_loop_does_what_was_ordered(void **state)
{
    (void)state;
    for (int i = 0; i < 30; i++)
        order(i % 2 ? &ann : &bob);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_user_with_much_to_do_leaves_workers_to_others, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(loops_share_the_workers, setup, teardown),
        cmocka_unit_test_setup_teardown(those_who_wait_take_turns, setup, teardown),
        cmocka_unit_test_setup_teardown(what_waits_can_be_cancelled, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stopping_loop_does_what_was_ordered, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
