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
    vd_work_queue_init(&t->queue, &(struct vd_work_queue_options){
                                      .wake = wake, .arg = t, .retry = {MIN_MS, MAX_MS}});
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

/* What is fresh comes first, and nothing waits for ever. */
static void priorities_take_turns(void **state)
{
    struct setting t;
    size_t counts[3] = {0};
    (void)state;
    setting_open(&t);
    vd_work_queue_add_as(&t.queue, &t.items[2], VD_WORK_RESYNC);
    vd_work_queue_add_after(&t.queue, &t.items[1], 0, 1);
    vd_work_queue_add(&t.queue, &t.items[0]);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(take(&t, 5), i);
        vd_work_queue_done(&t.queue, &t.items[i]);
    }
    for (int i = 0; i < 160 * VD_WORK_QUEUE_SHARE; i++) { /* all three are always wanted again */
        for (int at = 0; at < 3; at++)
            vd_work_queue_add_as(&t.queue, &t.items[at], (enum vd_work_priority)at);
        int at = take(&t, 5);
        vd_work_queue_done(&t.queue, &t.items[at]);
        counts[at]++;
    }
    assert_int_equal(counts[0], 160 * (VD_WORK_QUEUE_SHARE - 1));
    assert_int_equal(counts[1], 80);
    assert_int_equal(counts[2], 80);
    vd_work_queue_release(&t.queue);
}

/* An item that waits gets the higher priority, and never a lower one. */
static void a_change_raises_the_priority(void **state)
{
    struct setting t;
    (void)state;
    setting_open(&t);
    vd_work_queue_add_as(&t.queue, &t.items[0], VD_WORK_RESYNC);
    vd_work_queue_add_as(&t.queue, &t.items[1], VD_WORK_RESYNC);
    vd_work_queue_add(&t.queue, &t.items[1]);
    vd_work_queue_add_as(&t.queue, &t.items[1], VD_WORK_RESYNC);
    assert_int_equal(take(&t, 0), 1);
    vd_work_queue_add_as(&t.queue, &t.items[1], VD_WORK_RESYNC); /* while it runs */
    vd_work_queue_add(&t.queue, &t.items[1]);
    vd_work_queue_done(&t.queue, &t.items[1]);
    assert_int_equal(take(&t, 0), 1);
    assert_int_equal(take(&t, 0), 0);
    vd_work_queue_release(&t.queue);
}

/* A rate limit holds its own priority back and no other. */
static void rates_are_kept_apart(void **state)
{
    struct setting t;
    size_t later = 0;
    (void)state;
    setting_open(&t);
    t.queue.options.rates[VD_WORK_LATER] = (struct vd_work_rate){.per_s = 100, .burst = 2};
    for (uint64_t now_ms = 1000; now_ms < 2000; now_ms++) {
        vd_work_queue_add(&t.queue, &t.items[0]);
        for (size_t i = 1; i < 8; i++)
            vd_work_queue_add_as(&t.queue, &t.items[i], VD_WORK_LATER);
        bool fresh = false;
        for (int at; (at = take(&t, now_ms)) >= 0;) {
            fresh |= at == 0;
            later += at != 0;
            vd_work_queue_done(&t.queue, &t.items[at]);
        }
        assert_true(fresh);
        uint64_t next_ms = vd_work_queue_next_ms(&t.queue);
        assert_in_range(next_ms, now_ms + 1, now_ms + 10);
    }
    assert_in_range(later, 100, 102);
    vd_work_queue_release(&t.queue);
}

static void pauses_have_their_factor_and_jitter(void **state)
{
    static const uint64_t pauses[] = {10, 15, 22, 33, 49, 73, 100};
    struct setting t;
    uint64_t least = UINT64_MAX, most = 0;
    (void)state;
    setting_open(&t);
    vd_work_queue_set_retry(&t.queue, &(struct vd_work_retry){MIN_MS, MAX_MS, 150, 0});
    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        assert_int_equal(vd_work_queue_retry(&t.queue, &t.items[0], 0), pauses[i]);
        vd_work_queue_remove(&t.queue, &t.items[0]);
    }
    vd_work_queue_set_retry(&t.queue, &(struct vd_work_retry){1000, 1000, 200, 50});
    for (int i = 0; i < 1000; i++) {
        uint64_t pause = vd_work_queue_retry(&t.queue, &t.items[0], 0);
        vd_work_queue_remove(&t.queue, &t.items[0]);
        least = pause < least ? pause : least;
        most = pause > most ? pause : most;
    }
    assert_in_range(least, 500, 550);
    assert_in_range(most, 1450, 1500);
    vd_work_queue_release(&t.queue);
}

/* ---- the model: the same rules, without a list or a heap ---- */

struct model_item {
    enum { IDLE, QUEUED, DELAYED, RUNNING } is;
    enum vd_work_priority priority;
    uint64_t order, due_ms; /* of arrival in the list, or in the heap */
    bool again, later;
    enum vd_work_priority again_priority;
    uint64_t later_ms;
};

struct model {
    struct model_item items[8];
    uint64_t order;
    unsigned takes, share_next;
};

static void model_queue(struct model *m, size_t i, enum vd_work_priority priority)
{
    m->items[i].is = QUEUED;
    m->items[i].priority = priority;
    m->items[i].order = m->order++;
}

static void model_delay(struct model *m, size_t i, uint64_t due_ms)
{
    if (m->items[i].is == DELAYED && m->items[i].due_ms <= due_ms)
        return;
    m->items[i].is = DELAYED;
    m->items[i].due_ms = due_ms;
    m->items[i].order = m->order++;
}

static void model_add(struct model *m, size_t i, enum vd_work_priority priority)
{
    struct model_item *item = &m->items[i];
    if (item->is == RUNNING) {
        if (!item->again || priority < item->again_priority)
            item->again_priority = priority;
        item->again = true;
    } else if (item->is != QUEUED || priority < item->priority) {
        model_queue(m, i, priority);
    }
}

static void model_add_after(struct model *m, size_t i, uint64_t now_ms, uint64_t delay_ms)
{
    struct model_item *item = &m->items[i];
    if (!delay_ms) {
        model_add(m, i, VD_WORK_FRESH);
    } else if (item->is == RUNNING) {
        if (!item->later || now_ms + delay_ms < item->later_ms)
            item->later_ms = now_ms + delay_ms;
        item->later = true;
    } else if (item->is != QUEUED) {
        model_delay(m, i, now_ms + delay_ms);
    }
}

static void model_done(struct model *m, size_t i)
{
    struct model_item *item = &m->items[i];
    bool again = item->again, later = item->later;
    item->is = IDLE;
    item->again = item->later = false;
    if (again)
        model_queue(m, i, item->again_priority);
    else if (later)
        model_delay(m, i, item->later_ms);
}

/* The first of a priority; -1: none. */
static int model_first(const struct model *m, enum vd_work_priority priority)
{
    int first = -1;
    for (int i = 0; i < 8; i++)
        if (m->items[i].is == QUEUED && m->items[i].priority == priority &&
            (first < 0 || m->items[i].order < m->items[first].order))
            first = i;
    return first;
}

static int model_take(struct model *m, uint64_t now_ms)
{
    for (;;) { /* those that are due, in the order of their times */
        int due = -1;
        for (int i = 0; i < 8; i++)
            if (m->items[i].is == DELAYED && m->items[i].due_ms <= now_ms &&
                (due < 0 || m->items[i].due_ms < m->items[due].due_ms ||
                 (m->items[i].due_ms == m->items[due].due_ms &&
                  m->items[i].order < m->items[due].order)))
                due = i;
        if (due < 0)
            break;
        model_queue(m, (size_t)due, VD_WORK_LATER);
    }
    int at[] = {model_first(m, VD_WORK_FRESH), model_first(m, VD_WORK_LATER),
                model_first(m, VD_WORK_RESYNC)};
    if (at[0] < 0 && at[1] < 0 && at[2] < 0)
        return -1;
    int chosen = -1;
    if (++m->takes == VD_WORK_QUEUE_SHARE) {
        m->takes = 0;
        for (int i = 0; i < 2 && chosen < 0; i++) {
            chosen = at[1 + m->share_next];
            m->share_next = !m->share_next;
        }
    }
    for (int i = 0; i < 3 && chosen < 0; i++)
        chosen = at[i];
    m->items[chosen].is = RUNNING;
    return chosen;
}

/* Random calls under a clock that the test moves: each take gives what the model gives. */
static void it_does_what_the_model_does(void **state)
{
    struct setting t;
    struct model m = {0};
    struct seed_rng rng = {seed_of_run()};
    uint64_t now_ms = 0;
    (void)state;
    setting_open(&t);
    for (int step = 0; step < 100000; step++) {
        size_t i = seed_below(&rng, 8);
        enum vd_work_priority priority = (enum vd_work_priority)seed_below(&rng, 3);
        uint64_t delay_ms = seed_below(&rng, 20);
        switch (seed_below(&rng, 6)) {
        case 0:
            vd_work_queue_add_as(&t.queue, &t.items[i], priority);
            model_add(&m, i, priority);
            break;
        case 1:
            vd_work_queue_add_after(&t.queue, &t.items[i], now_ms, delay_ms);
            model_add_after(&m, i, now_ms, delay_ms);
            break;
        case 2:
            now_ms += seed_below(&rng, 10);
            break;
        case 3:
        case 4: {
            int at = take(&t, now_ms);
            assert_int_equal(at, model_take(&m, now_ms));
            break;
        }
        default:
            if (m.items[i].is != RUNNING)
                break;
            vd_work_queue_done(&t.queue, &t.items[i]);
            model_done(&m, i);
        }
    }
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
        cmocka_unit_test(priorities_take_turns),
        cmocka_unit_test(a_change_raises_the_priority),
        cmocka_unit_test(rates_are_kept_apart),
        cmocka_unit_test(pauses_have_their_factor_and_jitter),
        cmocka_unit_test(it_does_what_the_model_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
