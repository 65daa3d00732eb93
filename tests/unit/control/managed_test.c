/* src/control/managed*.c: which keys run when, how often, and what becomes of those that fail. The
 * scenarios of the controller manager are named by their numbers: M1 to M21, R1 to R17. */
#include "loop_bench.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "control/managed.h"

enum { NAMES_MAX = 64 };

#define MAP                                                                                        \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\","                 \
    "\"namespace\":\"default\",\"uid\":\"00000000-0000-4000-8000-000000000001\","                  \
    "\"generation\":%d},\"data\":{\"n\":\"%d\"},\"status\":{\"s\":%d}}"

/* A reconciler whose results the test decides, and that remembers what it was asked. */
struct reconciler {
    struct vd_reconcile reconcile;
    struct bench *bench;
    struct vd_managed *controller;
    struct vd_result (*decide)(struct reconciler *r, const struct vd_run *run);
    /* Under the lock: */
    pthread_mutex_t lock;
    pthread_cond_t told;
    bool holds; /* runs do not end before the test says so */
    struct vd_run *held[NAMES_MAX];
    size_t held_n;
    size_t runs, gone, cancelled, parked, unparked, writes, dirty;
    unsigned attempt; /* of the last run */
    char name[64];    /* of its object */
    char object[512]; /* what it saw */
    int write_code;   /* that writes end with */
    bool is_stopped;
    /* A call on the loop: */
    struct vd_task task;
    void (*call)(struct reconciler *r);
    uv_sem_t called;
};

static void lock(struct reconciler *r)
{
    pthread_mutex_lock(&r->lock);
}

static void unlock(struct reconciler *r)
{
    pthread_cond_broadcast(&r->told);
    pthread_mutex_unlock(&r->lock);
}

static struct reconciler *of_run(const struct vd_run *run)
{
    return VD_CONTAINER_OF(run->reconcile, struct reconciler, reconcile);
}

static struct vd_result succeed(struct reconciler *r, const struct vd_run *run)
{
    (void)r, (void)run;
    return (struct vd_result){.outcome = VD_RESULT_SUCCESS};
}

static void start(struct vd_run *run)
{
    struct reconciler *r = of_run(run);
    lock(r);
    r->runs++;
    r->gone += !run->object;
    r->attempt = run->attempt;
    snprintf(r->name, sizeof r->name, "%.*s", (int)run->name.n, run->name.p);
    r->object[0] = '\0';
    if (run->object)
        snprintf(r->object, sizeof r->object, "%.*s", (int)run->object->body->len,
                 run->object->body->bytes);
    for (size_t i = 0; i < r->held_n; i++) /* M3: no two runs of one key */
        assert_false(vd_slice_eq(r->held[i]->name, run->name));
    bool holds = r->holds;
    if (holds)
        r->held[r->held_n++] = run;
    unlock(r);
    if (holds)
        return;
    struct vd_result result = r->decide(r, run);
    vd_run_end(run, &result);
}

static void cancel(struct vd_run *run)
{
    struct reconciler *r = of_run(run);
    lock(r);
    r->cancelled++;
    for (size_t i = 0; i < r->held_n; i++)
        if (r->held[i] == run)
            r->held[i] = r->held[--r->held_n];
    unlock(r);
    vd_run_end(run, &(struct vd_result){.outcome = VD_RESULT_SUCCESS});
}

static const struct vd_reconcile_ops ops = {.start = start, .cancel = cancel};

/* ---- the manager's side ---- */

static struct reconciler *current; /* the one of the test that runs */

static void write_result(struct vd_managed *c, struct vd_managed_item *item,
                         const struct vd_event *object, const struct vd_result *result)
{
    struct vd_error error = {.code = VD_ERR_INVALID, .text = "status.x is wrong"};
    (void)object, (void)result;
    lock(current);
    current->writes++;
    int code = current->write_code;
    if (code == VD_ERR_CONFLICT)
        current->write_code = VD_OK; /* once */
    unlock(current);
    vd_managed_written(c, item, code, &error);
}

static void park(struct vd_managed *c, struct vd_managed_item *item, const struct vd_event *object,
                 const struct vd_result *result)
{
    (void)result;
    lock(current);
    current->parked++;
    unlock(current);
    vd_managed_parked(c, vd_managed_item_namespace(item), vd_managed_item_name(item), 1,
                      object ? &object->uid : NULL);
}

static void unpark(struct vd_managed *c, struct vd_managed_item *item)
{
    (void)c, (void)item;
    lock(current);
    current->unparked++;
    unlock(current);
}

static void dirty(struct vd_managed *c)
{
    (void)c;
    lock(current);
    current->dirty++;
    unlock(current);
}

static const struct vd_managed_ops managed_ops = {
    .write = write_result, .park = park, .unpark = unpark, .dirty = dirty};

/* ---- the setting ---- */

static void on_loop(struct vd_task *task)
{
    struct reconciler *r = VD_CONTAINER_OF(task, struct reconciler, task);
    r->call(r);
    uv_sem_post(&r->called);
}

/* Has the loop call a function, and waits for it. */
static void call(struct reconciler *r, void (*function)(struct reconciler *r))
{
    r->call = function;
    r->task.run = on_loop;
    vd_loop_post(&r->bench->loop, &r->task);
    uv_sem_wait(&r->called);
}

static void open_reconciler(struct reconciler *r, struct bench *b,
                            const struct vd_managed_policy *policy)
{
    *r = (struct reconciler){.reconcile = {&ops}, .bench = b, .decide = succeed};
    current = r;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->told, NULL);
    uv_sem_init(&r->called, 0);
    r->controller = vd_managed_new(&(struct vd_managed_options){.name = "test",
                                                                .resource = VD_SLICE("configmaps"),
                                                                .reconcile = &r->reconcile,
                                                                .policy = *policy,
                                                                .ops = &managed_ops,
                                                                .store = b->store,
                                                                .clock = vd_clock_system(),
                                                                .loop = &b->loop});
}

static void open_test(struct reconciler *r, struct bench *b, const struct vd_managed_policy *policy)
{
    bench_open(b, 0);
    open_reconciler(r, b, policy);
}

static void on_stopped(struct vd_managed *c, void *arg)
{
    struct reconciler *r = arg;
    vd_managed_free(c);
    lock(r);
    r->is_stopped = true;
    unlock(r);
}

static void stop_now(struct reconciler *r)
{
    vd_managed_stop(r->controller, 0, on_stopped, r);
}

/* Waits until a condition holds; the lock is held while it is looked at. */
#define AWAIT(r, condition)                                                                        \
    do {                                                                                           \
        struct timespec await_deadline;                                                            \
        clock_gettime(CLOCK_REALTIME, &await_deadline);                                            \
        await_deadline.tv_sec += DEADLINE_S;                                                       \
        lock(r);                                                                                   \
        while (!(condition))                                                                       \
            assert_int_equal(pthread_cond_timedwait(&(r)->told, &(r)->lock, &await_deadline), 0);  \
        unlock(r);                                                                                 \
    } while (0)

static void close_reconciler(struct reconciler *r)
{
    call(r, stop_now);
    AWAIT(r, r->is_stopped);
    uv_sem_destroy(&r->called);
    pthread_cond_destroy(&r->told);
    pthread_mutex_destroy(&r->lock);
}

static void close_test(struct reconciler *r, struct bench *b)
{
    close_reconciler(r);
    bench_close(b);
}

static void start_listing(struct reconciler *r)
{
    vd_managed_start(r->controller, 0);
}

static void put(struct bench *b, const char *name, int generation, int n, int status)
{
    char text[512];
    snprintf(text, sizeof text, MAP, name, generation, n, status);
    put_text(b, "configmaps", text);
}

/* Everything that was written before has been told, and nothing waits or runs. */
static bool is_quiet;
static uint64_t wanted_revision;
static void look_quiet(struct reconciler *r)
{
    struct vd_managed_stats stats;
    vd_managed_stats(r->controller, &stats);
    is_quiet = stats.is_synced && !stats.queued && !stats.running &&
               vd_managed_revision(r->controller) >= wanted_revision;
}

static void await_quiet(struct reconciler *r)
{
    struct timespec pause = {.tv_nsec = 1000000};
    wanted_revision = vd_store_revision(r->bench->store);
    for (int i = 0; i < DEADLINE_S * 1000; i++) {
        call(r, look_quiet);
        if (is_quiet)
            return;
        nanosleep(&pause, NULL);
    }
    fail_msg("it does not come to rest");
}

/* ---- what runs ---- */

static void all_that_exists_runs_once(void **state) /* R1, M13 */
{
    struct bench b;
    struct reconciler r;
    char name[16];
    (void)state;
    open_test(&r, &b, &(struct vd_managed_policy){0});
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "m%d", i);
        put(&b, name, 1, i, 0);
    }
    call(&r, start_listing);
    await_quiet(&r);
    assert_int_equal(r.runs, 50);
    close_test(&r, &b);
}

static void changes_run_and_status_does_not(void **state) /* M2, M14, M20 */
{
    struct bench b;
    struct reconciler r;
    (void)state;
    open_test(&r, &b, &(struct vd_managed_policy){.catch_up_ms = 5});
    call(&r, start_listing);
    put(&b, "a", 1, 1, 0);
    await_quiet(&r);
    size_t runs = r.runs;
    assert_in_range(runs, 1, 1);
    put(&b, "a", 1, 1, 7);
    await_quiet(&r);
    assert_int_equal(r.runs, runs);
    put(&b, "a", 2, 2, 7);
    await_quiet(&r);
    assert_int_equal(r.runs, runs + 1);
    assert_non_null(strstr(r.object, "\"n\":\"2\""));
    assert_int_equal(remove_object(&b, "configmaps", "default", "a"), VD_OK);
    await_quiet(&r);
    assert_int_equal(r.gone, 1); /* a deleted object is normal: defect 4.7.1 */
    assert_int_equal(r.parked, 0);
    put_text(&b, "secrets", "{\"metadata\":{\"name\":\"s\",\"namespace\":\"default\"}}"); /* M1 */
    await_quiet(&r); /* the revision moves on, though nothing was told: else it would expire */
    assert_int_equal(r.runs, runs + 2);
    close_test(&r, &b);
}

static void end_all(struct reconciler *r)
{
    struct vd_run *runs[NAMES_MAX];
    lock(r);
    size_t n = r->held_n;
    memcpy(runs, r->held, n * sizeof *runs);
    r->held_n = 0;
    unlock(r);
    for (size_t i = 0; i < n; i++)
        vd_run_end(runs[i], &(struct vd_result){.outcome = VD_RESULT_SUCCESS});
}

static void a_burst_while_it_runs_is_one_more_run(void **state) /* M4, M21 */
{
    struct bench b;
    struct reconciler r;
    (void)state;
    open_test(&r, &b, &(struct vd_managed_policy){0});
    r.holds = true;
    call(&r, start_listing);
    put(&b, "a", 1, 0, 0);
    AWAIT(&r, r.held_n == 1);
    for (int i = 1; i <= 20; i++)
        put(&b, "a", 1 + i, i, 0);
    lock(&r);
    r.holds = false;
    unlock(&r);
    call(&r, end_all);
    await_quiet(&r);
    assert_in_range(r.runs, 2, 2 + 19); /* the log may be told in pieces */
    assert_non_null(strstr(r.object, "\"n\":\"20\""));
    close_test(&r, &b);
}

static void runs_are_bounded_and_slow_ones_give_way(void **state)
{
    struct bench b;
    struct reconciler r;
    char name[16];
    (void)state;
    open_test(&r, &b, &(struct vd_managed_policy){.workers = 2, .slow_ms = 1, .slow_max = 5});
    r.holds = true;
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "m%d", i);
        put(&b, name, 1, i, 0);
    }
    call(&r, start_listing);
    AWAIT(&r, r.held_n == 7); /* five that are slow, and two that are about to be */
    lock(&r);
    r.holds = false;
    unlock(&r);
    call(&r, end_all);
    await_quiet(&r);
    assert_int_equal(r.runs, 20);
    close_test(&r, &b);
}

static void a_run_that_takes_too_long_is_tried_again(void **state)
{
    struct bench b;
    struct reconciler r;
    (void)state;
    open_test(&r, &b,
              &(struct vd_managed_policy){.timeout_ms = 5, .attempts = 3, .retry = {1, 2, 0, 0}});
    r.holds = true;
    call(&r, start_listing);
    put(&b, "a", 1, 0, 0);
    AWAIT(&r, r.parked == 1);
    assert_int_equal(r.cancelled, 3);
    assert_int_equal(r.runs, 3);
    close_test(&r, &b);
}

/* ---- what fails ---- */

static struct vd_result fail_twice(struct reconciler *r, const struct vd_run *run)
{
    (void)r;
    return run->attempt < 3
               ? (struct vd_result){.outcome = VD_RESULT_RETRY, .message = VD_SLICE("not yet")}
               : (struct vd_result){.outcome = VD_RESULT_SUCCESS};
}

static struct vd_result fail_always(struct reconciler *r, const struct vd_run *run)
{
    (void)r;
    if (vd_slice_is(run->name, "good"))
        return (struct vd_result){.outcome = VD_RESULT_SUCCESS};
    return (struct vd_result){.outcome = VD_RESULT_RETRY, .message = VD_SLICE("it is broken")};
}

static struct vd_result give_up(struct reconciler *r, const struct vd_run *run)
{
    (void)r, (void)run;
    return (struct vd_result){.outcome = VD_RESULT_TERMINAL, .message = VD_SLICE("never")};
}

static void what_fails_is_tried_again(void **state) /* M5, M9 */
{
    struct bench b;
    struct reconciler r;
    (void)state;
    open_test(&r, &b, &(struct vd_managed_policy){.retry = {1, 10, 0, 0}});
    r.decide = fail_twice;
    call(&r, start_listing);
    put(&b, "a", 1, 0, 0);
    AWAIT(&r, r.runs == 3);
    assert_int_equal(r.attempt, 3);
    assert_int_equal(r.parked, 0);
    await_quiet(&r);
    put(&b, "a", 2, 0, 0);
    AWAIT(&r, r.runs == 6); /* success has reset the count */
    close_test(&r, &b);
}

static void release_bad(struct reconciler *r)
{
    assert_true(vd_managed_release(r->controller, VD_SLICE("default"), VD_SLICE("bad")));
    assert_false(vd_managed_release(r->controller, VD_SLICE("default"), VD_SLICE("good")));
}

static void what_fails_too_often_is_parked(void **state) /* M6, M15, M16 */
{
    struct bench b;
    struct reconciler r;
    (void)state;
    open_test(&r, &b, &(struct vd_managed_policy){.attempts = 3, .retry = {1, 2, 0, 0}});
    r.decide = fail_always;
    put(&b, "bad", 1, 0, 0);
    put(&b, "good", 1, 0, 0);
    call(&r, start_listing);
    AWAIT(&r, r.parked == 1 && r.runs == 4);
    put(&b, "bad", 1, 0, 1); /* neither a status nor a label of the same generation releases it */
    put_text(
        &b, "configmaps",
        "{\"metadata\":{\"name\":\"bad\",\"namespace\":\"default\",\"uid\":\"00000000-0000-4000-"
        "8000-000000000001\",\"generation\":1,\"labels\":{\"a\":\"b\"}}}");
    await_quiet(&r);
    assert_int_equal(r.runs, 4);
    call(&r, release_bad); /* M15: by hand, with all its attempts */
    AWAIT(&r, r.parked == 2);
    assert_int_equal(r.runs, 7);
    assert_int_equal(r.unparked, 1);
    put(&b, "bad", 2, 0, 1); /* a new generation releases it */
    AWAIT(&r, r.parked == 3);
    assert_int_equal(r.runs, 10);
    assert_int_equal(remove_object(&b, "configmaps", "default", "bad"), VD_OK);
    r.decide = succeed;
    AWAIT(&r, r.gone == 1);
    close_test(&r, &b);
}

static void what_is_hopeless_is_parked_at_once(void **state) /* M7 */
{
    struct bench b;
    struct reconciler r;
    (void)state;
    open_test(&r, &b, &(struct vd_managed_policy){0});
    r.decide = give_up;
    put(&b, "a", 1, 0, 0);
    call(&r, start_listing);
    AWAIT(&r, r.parked == 1);
    assert_int_equal(r.runs, 1);
    close_test(&r, &b);
}

static struct vd_result come_back_once(struct reconciler *r, const struct vd_run *run)
{
    (void)run;
    return r->runs == 1 ? (struct vd_result){.outcome = VD_RESULT_REQUEUE, .after_ms = 2}
                        : (struct vd_result){.outcome = VD_RESULT_SUCCESS};
}

static void what_is_to_come_back_comes_back_once(void **state) /* M8 */
{
    struct bench b;
    struct reconciler r;
    (void)state;
    open_test(&r, &b, &(struct vd_managed_policy){0});
    r.decide = come_back_once;
    put(&b, "a", 1, 0, 0);
    call(&r, start_listing);
    AWAIT(&r, r.runs == 2);
    await_quiet(&r);
    assert_int_equal(r.runs, 2);
    close_test(&r, &b);
}

/* ---- what is written ---- */

static struct vd_result with_status(struct reconciler *r, const struct vd_run *run)
{
    static const struct vd_json status = {.type = VD_JSON_OBJECT};
    (void)r, (void)run;
    return (struct vd_result){.outcome = VD_RESULT_SUCCESS, .status = &status};
}

static void a_conflict_is_not_an_attempt(void **state)
{
    struct bench b;
    struct reconciler r;
    (void)state;
    open_test(&r, &b, &(struct vd_managed_policy){.attempts = 1});
    r.decide = with_status;
    r.write_code = VD_ERR_CONFLICT;
    put(&b, "a", 1, 0, 0);
    call(&r, start_listing);
    AWAIT(&r, r.writes == 2);
    assert_int_equal(r.attempt, 1);
    assert_int_equal(r.parked, 0);
    close_test(&r, &b);
}

static void what_cannot_be_written_has_failed(void **state)
{
    struct bench b;
    struct reconciler r;
    (void)state;
    open_test(&r, &b, &(struct vd_managed_policy){.attempts = 2, .retry = {1, 1, 0, 0}});
    r.decide = with_status;
    r.write_code = VD_ERR_INVALID;
    put(&b, "a", 1, 0, 0);
    call(&r, start_listing);
    AWAIT(&r, r.parked == 1);
    assert_int_equal(r.writes, 2);
    close_test(&r, &b);
}

/* ---- checkpoints ---- */

static char pending[NAMES_MAX][16];
static size_t pending_n;
static uint64_t checkpoint;

static void note(void *arg, struct vd_slice namespace, struct vd_slice name, bool is_pending)
{
    (void)arg, (void)namespace;
    if (is_pending) {
        snprintf(pending[pending_n++], sizeof *pending, "%.*s", (int)name.n, name.p);
        return;
    }
    for (size_t i = 0; i < pending_n; i++)
        if (vd_slice_is(name, pending[i])) {
            memcpy(pending[i], pending[--pending_n], sizeof *pending);
            return;
        }
    fail_msg("%.*s was not pending", (int)name.n, name.p);
}

static void take_delta(struct reconciler *r)
{
    checkpoint = vd_managed_take_delta(r->controller, note, NULL);
}

static void resume(struct reconciler *r)
{
    for (size_t i = 0; i < pending_n; i++)
        vd_managed_enqueue(r->controller, VD_SLICE("default"), vd_slice_of(pending[i]),
                           VD_WORK_FRESH);
    vd_managed_start(r->controller, checkpoint);
}

static void release_first(struct reconciler *r)
{
    lock(r);
    struct vd_run *run = r->held[0];
    r->held[0] = r->held[--r->held_n];
    unlock(r);
    vd_run_end(run, &(struct vd_result){.outcome = VD_RESULT_SUCCESS});
}

static void a_restart_runs_what_was_pending_and_no_more(void **state) /* R3, R16, R17 */
{
    struct bench b;
    struct reconciler r;
    char name[16];
    (void)state;
    pending_n = 0;
    open_test(&r, &b, &(struct vd_managed_policy){.workers = 10});
    r.holds = true;
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof name, "m%d", i);
        put(&b, name, 1, i, 0);
    }
    call(&r, start_listing);
    AWAIT(&r, r.held_n == 10);
    call(&r, take_delta);
    assert_int_equal(pending_n, 10);
    for (int i = 0; i < 4; i++)
        call(&r, release_first);
    call(&r, take_delta);
    assert_int_equal(pending_n, 6);
    call(&r, take_delta); /* nothing has changed */
    assert_int_equal(pending_n, 6);
    close_reconciler(&r); /* the runs are cut off, and stay pending */
    put(&b, "late", 1, 0, 0);

    open_reconciler(&r, &b, &(struct vd_managed_policy){0});
    call(&r, resume);
    await_quiet(&r);
    assert_int_equal(r.runs, 7);
    call(&r, take_delta);
    close_test(&r, &b);
}

static void a_checkpoint_that_has_expired_lists_again(void **state) /* R7 */
{
    struct bench b;
    struct reconciler r;
    struct vd_error error;
    (void)state;
    pending_n = 0;
    bench_open(&b, 0);
    for (int i = 0; i < 20; i++) {
        put(&b, i < 10 ? "old" : "new", i + 1, i, 0);
        if (i == 9) /* "old" was handled, "new" was not */
            checkpoint = vd_store_revision(b.store);
    }
    assert_ok(vd_store_compact(b.store, checkpoint + 5, &error), &error);
    open_reconciler(&r, &b, &(struct vd_managed_policy){0});
    call(&r, resume);
    await_quiet(&r);
    assert_int_equal(r.runs, 1);
    assert_string_equal(r.name, "new");
    close_test(&r, &b);
}

/* ---- the end ---- */

static void pause_it(struct reconciler *r)
{
    vd_managed_pause(r->controller, true);
}

static void unpause_it(struct reconciler *r)
{
    vd_managed_pause(r->controller, false);
}

static size_t queued;
static void look_queued(struct reconciler *r)
{
    struct vd_managed_stats stats;
    vd_managed_stats(r->controller, &stats);
    queued = stats.queued;
    assert_false(stats.is_stalled);
}

static void a_paused_controller_queues(void **state)
{
    struct bench b;
    struct reconciler r;
    (void)state;
    open_test(&r, &b, &(struct vd_managed_policy){.stall_ms = 1});
    call(&r, pause_it);
    call(&r, start_listing);
    put(&b, "a", 1, 0, 0);
    for (queued = 0; !queued;)
        call(&r, look_queued);
    assert_int_equal(r.runs, 0);
    call(&r, unpause_it);
    AWAIT(&r, r.runs == 1);
    close_test(&r, &b);
}

static void all_keys_run_once_more_after_a_time(void **state)
{
    struct bench b;
    struct reconciler r;
    (void)state;
    open_test(&r, &b, &(struct vd_managed_policy){.resync_ms = 20});
    put(&b, "a", 1, 0, 0);
    put(&b, "b", 1, 0, 0);
    call(&r, start_listing);
    AWAIT(&r, r.runs >= 6);
    close_test(&r, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_exists_runs_once),
        cmocka_unit_test(changes_run_and_status_does_not),
        cmocka_unit_test(a_burst_while_it_runs_is_one_more_run),
        cmocka_unit_test(runs_are_bounded_and_slow_ones_give_way),
        cmocka_unit_test(a_run_that_takes_too_long_is_tried_again),
        cmocka_unit_test(what_fails_is_tried_again),
        cmocka_unit_test(what_fails_too_often_is_parked),
        cmocka_unit_test(what_is_hopeless_is_parked_at_once),
        cmocka_unit_test(what_is_to_come_back_comes_back_once),
        cmocka_unit_test(a_conflict_is_not_an_attempt),
        cmocka_unit_test(what_cannot_be_written_has_failed),
        cmocka_unit_test(a_restart_runs_what_was_pending_and_no_more),
        cmocka_unit_test(a_checkpoint_that_has_expired_lists_again),
        cmocka_unit_test(a_paused_controller_queues),
        cmocka_unit_test(all_keys_run_once_more_after_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
