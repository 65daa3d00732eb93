/*
 * The controller manager without a network: how long a cold start takes, and how many reconciles a
 * second pass through the queue, the look-up of the object and the result.
 */
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/container_of.h"
#include "control/managed.h"
#include "measure.h"
#include "net/loop.h"

enum { OBJECTS = 100000, RUNS = 6000000 };

struct bench {
    struct vd_reconcile reconcile;
    struct vd_managed *controller;
    struct vd_loop loop;
    struct vd_task task;
    size_t runs, wanted;
    uint64_t after_ms; /* that each run asks for, until the wanted number is reached */
    sem_t done;
    double started_s, ended_s;
};

static void reconcile(struct vd_run *run)
{
    struct bench *b = VD_CONTAINER_OF(run->reconcile, struct bench, reconcile);
    struct vd_result result = {.outcome = VD_RESULT_SUCCESS};
    if (!run->object)
        abort();
    if (++b->runs == b->wanted) {
        b->ended_s = measure_now_s();
        sem_post(&b->done);
    } else if (b->runs < b->wanted && b->after_ms) {
        result = (struct vd_result){.outcome = VD_RESULT_REQUEUE, .after_ms = b->after_ms};
    } else if (b->runs + OBJECTS <= b->wanted) {
        vd_managed_enqueue(b->controller, run->namespace, run->name, VD_WORK_FRESH);
    }
    vd_run_end(run, &result);
}

static void cancel(struct vd_run *run)
{
    (void)run;
}

static const struct vd_reconcile_ops ops = {.start = reconcile, .cancel = cancel};

static void start(struct vd_task *task)
{
    struct bench *b = VD_CONTAINER_OF(task, struct bench, task);
    b->started_s = measure_now_s();
    vd_managed_start(b->controller, 0);
}

static void stopped(struct vd_managed *controller, void *arg)
{
    vd_managed_free(controller);
    sem_post(&((struct bench *)arg)->done);
}

static void stop(struct vd_task *task)
{
    struct bench *b = VD_CONTAINER_OF(task, struct bench, task);
    vd_managed_stop(b->controller, 0, stopped, b);
}

/* Seconds until `wanted` runs of OBJECTS objects are done. */
static double take(struct vd_store *store, size_t wanted, uint64_t after_ms, unsigned workers)
{
    struct bench b = {.reconcile = {&ops}, .wanted = wanted, .after_ms = after_ms};
    struct vd_error error;
    sem_init(&b.done, 0, 0);
    if (vd_loop_init(&b.loop, 0, &error) || vd_loop_start(&b.loop, &error))
        exit(2);
    b.controller = vd_managed_new(&(struct vd_managed_options){.name = "bench",
                                                               .resource = VD_SLICE("things"),
                                                               .reconcile = &b.reconcile,
                                                               .policy = {.workers = workers},
                                                               .store = store,
                                                               .clock = vd_clock_system(),
                                                               .loop = &b.loop});
    b.task.run = start;
    vd_loop_post(&b.loop, &b.task);
    sem_wait(&b.done);
    b.task.run = stop;
    vd_loop_post(&b.loop, &b.task);
    sem_wait(&b.done);
    vd_loop_stop(&b.loop);
    vd_loop_release(&b.loop);
    sem_destroy(&b.done);
    return b.ended_s - b.started_s;
}

int main(void)
{
    struct vd_store *store = measure_open(NULL, NULL);
    measure_fill(store, OBJECTS, 1000);
    double cold_s = take(store, OBJECTS, 0, 1);
    measure_target("cold start of 100,000 objects", cold_s * 1000, "ms", cold_s <= 0.15, "<= 150");
    double rate = RUNS / take(store, RUNS, 0, 1);
    measure_target("no-op reconciles", rate, "a second", rate >= 3e6, ">= 3,000,000");
    rate = RUNS / take(store, RUNS, 1, 1);
    measure_target("no-op reconciles, each delayed by 1 ms", rate, "a second", rate >= 1e6,
                   ">= 1,000,000");
    vd_store_close(store);
    return 0;
}
