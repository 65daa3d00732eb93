/* src/watch/work_queue.c: which item is taken when, and how often. */
#include "check.h"

#include "seed.h"
#include "watch/work_queue.h"

enum { MIN_MS = 10, MAX_MS = 100 };

struct setting {
    struct vd_work_queue queue;
    struct vd_work_item items[8];
    size_t wakes;
};

static void wake(void *arg)
{
    ((struct setting *)arg)->wakes++;
}

static void setting_open(struct setting *t)
{
    *t = (struct setting){0};
    vd_work_queue_init(&t->queue,
                       &(struct vd_work_queue_options){
                           .wake = wake, .arg = t, .retry_min_ms = MIN_MS, .retry_max_ms = MAX_MS});
}

/* Takes an item and returns its number; -1: none is due. */
static int take(struct setting *t, uint64_t now_ms)
{
    struct vd_work_item *item = vd_work_queue_take(&t->queue, now_ms);
    return item ? (int)(item - t->items) : -1;
}

static void items_leave_in_order_and_once(void **state)
{
    struct setting t;
    (void)state;
    setting_open(&t);
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < 3; i++)
            vd_work_queue_add(&t.queue, &t.items[i]);
    assert_int_equal(vd_work_queue_count(&t.queue), 3);
    assert_int_equal(t.wakes, 1); /* only the first add woke: the queue was empty before it */
    assert_int_equal(take(&t, 0), 0);
    assert_int_equal(take(&t, 0), 1);
    assert_int_equal(take(&t, 0), 2);
    assert_int_equal(take(&t, 0), -1);
    for (size_t i = 0; i < 3; i++) {
        assert_false(vd_work_item_is_idle(&t.items[i]));
        vd_work_queue_done(&t.queue, &t.items[i]);
        assert_true(vd_work_item_is_idle(&t.items[i]));
    }
    assert_int_equal(take(&t, 0), -1);
    vd_work_queue_release(&t.queue);
}

static void an_item_that_is_added_while_it_runs_runs_once_more(void **state)
{
    struct setting t;
    (void)state;
    setting_open(&t);
    vd_work_queue_add(&t.queue, &t.items[0]);
    assert_int_equal(take(&t, 0), 0);
    assert_false(vd_work_item_is_pending(&t.items[0]));
    vd_work_queue_add(&t.queue, &t.items[0]);
    vd_work_queue_add(&t.queue, &t.items[0]);
    vd_work_queue_add(&t.queue, &t.items[1]);
    assert_true(vd_work_item_is_pending(&t.items[0]));
    assert_int_equal(take(&t, 0), 1); /* never twice at once */
    assert_int_equal(take(&t, 0), -1);
    t.wakes = 0;
    vd_work_queue_done(&t.queue, &t.items[0]);
    assert_int_equal(t.wakes, 1);
    assert_int_equal(take(&t, 0), 0);
    vd_work_queue_done(&t.queue, &t.items[0]);
    vd_work_queue_done(&t.queue, &t.items[1]);
    assert_int_equal(take(&t, 0), -1);
    assert_true(vd_work_item_is_idle(&t.items[0]));
    vd_work_queue_release(&t.queue);
}

static void an_item_that_always_comes_again_lets_others_run(void **state)
{
    struct setting t;
    (void)state;
    setting_open(&t);
    vd_work_queue_add(&t.queue, &t.items[0]);
    vd_work_queue_add(&t.queue, &t.items[1]);
    assert_int_equal(take(&t, 0), 0);
    vd_work_queue_add(&t.queue, &t.items[0]);
    vd_work_queue_done(&t.queue, &t.items[0]);
    assert_int_equal(take(&t, 0), 1);
    assert_int_equal(take(&t, 0), 0);
    vd_work_queue_release(&t.queue);
}

static void delayed_items_wait_for_their_time(void **state)
{
    struct setting t;
    (void)state;
    setting_open(&t);
    assert_true(vd_work_queue_next_ms(&t.queue) == UINT64_MAX);
    vd_work_queue_add_after(&t.queue, &t.items[0], 100, 30);
    vd_work_queue_add_after(&t.queue, &t.items[1], 100, 10);
    vd_work_queue_add_after(&t.queue, &t.items[2], 100, 20);
    vd_work_queue_add_after(&t.queue, &t.items[2], 100, 50); /* the earlier time counts */
    vd_work_queue_add_after(&t.queue, &t.items[3], 100, 60);
    vd_work_queue_add_after(&t.queue, &t.items[3], 100, 25);
    vd_work_queue_add_after(&t.queue, &t.items[4], 100, 5);
    vd_work_queue_add(&t.queue, &t.items[4]); /* adding it without a delay wins over a delay */
    vd_work_queue_add_after(&t.queue, &t.items[4], 100, 5);
    assert_int_equal(vd_work_queue_next_ms(&t.queue), 110);
    assert_int_equal(take(&t, 100), 4);
    assert_int_equal(take(&t, 109), -1);
    assert_int_equal(take(&t, 110), 1);
    assert_int_equal(take(&t, 110), -1);
    assert_int_equal(take(&t, 1000), 2);
    assert_int_equal(take(&t, 1000), 3);
    assert_int_equal(take(&t, 1000), 0);
    assert_int_equal(take(&t, UINT64_MAX), -1);
    vd_work_queue_release(&t.queue);
}

static void what_is_added_for_later_while_it_runs_waits_from_then(void **state)
{
    struct setting t;
    (void)state;
    setting_open(&t);
    vd_work_queue_add(&t.queue, &t.items[0]);
    assert_int_equal(take(&t, 0), 0);
    vd_work_queue_add_after(&t.queue, &t.items[0], 0, 50);
    vd_work_queue_add_after(&t.queue, &t.items[0], 0, 40);
    vd_work_queue_add_after(&t.queue, &t.items[0], 0, 70);
    vd_work_queue_done(&t.queue, &t.items[0]);
    assert_int_equal(vd_work_queue_next_ms(&t.queue), 40);
    assert_int_equal(take(&t, 40), 0);
    vd_work_queue_add_after(&t.queue, &t.items[0], 40, 10);
    /* Both were asked for: it runs at once, and only once. */
    vd_work_queue_add(&t.queue, &t.items[0]);
    vd_work_queue_done(&t.queue, &t.items[0]);
    assert_int_equal(take(&t, 40), 0);
    vd_work_queue_done(&t.queue, &t.items[0]);
    assert_int_equal(take(&t, UINT64_MAX), -1);
    vd_work_queue_release(&t.queue);
}

static void failures_wait_longer_each_time(void **state)
{
    static const uint64_t pauses[] = {10, 20, 40, 80, 100, 100};
    struct setting t;
    uint64_t now_ms = 0;
    (void)state;
    setting_open(&t);
    vd_work_queue_add(&t.queue, &t.items[0]);
    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        assert_int_equal(take(&t, now_ms), 0);
        vd_work_queue_retry(&t.queue, &t.items[0], now_ms);
        vd_work_queue_done(&t.queue, &t.items[0]);
        assert_int_equal(vd_work_queue_next_ms(&t.queue), now_ms + pauses[i]);
        now_ms += pauses[i];
    }
    assert_int_equal(take(&t, now_ms), 0);
    vd_work_queue_forget(&t.items[0]);
    vd_work_queue_retry(&t.queue, &t.items[0], now_ms);
    vd_work_queue_done(&t.queue, &t.items[0]);
    assert_int_equal(vd_work_queue_next_ms(&t.queue), now_ms + MIN_MS);
    vd_work_queue_release(&t.queue);
}

static void an_item_that_is_removed_does_not_run(void **state)
{
    struct setting t;
    (void)state;
    setting_open(&t);
    for (size_t i = 0; i < 4; i++)
        vd_work_queue_add(&t.queue, &t.items[i]);
    vd_work_queue_add_after(&t.queue, &t.items[4], 0, 10);
    vd_work_queue_remove(&t.queue, &t.items[0]);
    vd_work_queue_remove(&t.queue, &t.items[2]);
    vd_work_queue_remove(&t.queue, &t.items[3]);
    vd_work_queue_remove(&t.queue, &t.items[4]);
    vd_work_queue_remove(&t.queue, &t.items[5]); /* it was never added */
    assert_true(vd_work_item_is_idle(&t.items[2]));
    assert_int_equal(take(&t, UINT64_MAX), 1);
    assert_int_equal(take(&t, UINT64_MAX), -1);
    vd_work_queue_release(&t.queue);
}

/* Random calls in random order: an item that was added runs afterwards, never twice at the same
 * time, and not before its delay is over unless it was added without one. */
static void random_use_loses_nothing(void **state)
{
    struct setting t;
    struct seed_rng rng = {1};
    uint64_t now_ms = 0;
    bool wanted[8] = {0}, running[8] = {0};
    (void)state;
    setting_open(&t);
    for (int step = 0; step < 20000; step++) {
        size_t i = seed_below(&rng, 8);
        switch (seed_below(&rng, 5)) {
        case 0:
            vd_work_queue_add(&t.queue, &t.items[i]);
            wanted[i] = true;
            break;
        case 1:
            vd_work_queue_add_after(&t.queue, &t.items[i], now_ms, seed_below(&rng, 20));
            wanted[i] = true;
            break;
        case 2:
            now_ms += seed_below(&rng, 10);
            break;
        case 3: {
            int at = take(&t, now_ms);
            if (at < 0)
                break;
            assert_false(running[at]);
            assert_true(wanted[at]);
            running[at] = true;
            wanted[at] = false;
            break;
        }
        default:
            if (running[i])
                vd_work_queue_done(&t.queue, &t.items[i]);
            running[i] = false;
        }
        assert_int_equal(vd_work_item_is_pending(&t.items[i]), wanted[i]);
    }
    for (size_t i = 0; i < 8; i++)
        if (running[i])
            vd_work_queue_done(&t.queue, &t.items[i]);
    for (int at; (at = take(&t, UINT64_MAX)) >= 0;)
        wanted[at] = false;
    for (size_t i = 0; i < 8; i++)
        assert_false(wanted[i]);
    vd_work_queue_release(&t.queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_leave_in_order_and_once),
        cmocka_unit_test(an_item_that_is_added_while_it_runs_runs_once_more),
        cmocka_unit_test(an_item_that_always_comes_again_lets_others_run),
        cmocka_unit_test(delayed_items_wait_for_their_time),
        cmocka_unit_test(what_is_added_for_later_while_it_runs_waits_from_then),
        cmocka_unit_test(failures_wait_longer_each_time),
        cmocka_unit_test(an_item_that_is_removed_does_not_run),
        cmocka_unit_test(random_use_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
