/* Fair queues: flows take turns, whatever one of them has waiting. */
#include "net/fair_queue.h"

#include "check.h"
#include "seed.h"

enum { ITEMS = 64, FLOWS = 3 };

static struct vd_fair_queue queue;
static struct vd_fair_flow flows[FLOWS];
static struct vd_fair_item items[ITEMS];

static int setup(void **state)
{
    (void)state;
    queue = (struct vd_fair_queue){0};
    for (size_t i = 0; i < FLOWS; i++)
        flows[i] = (struct vd_fair_flow){0};
    for (size_t i = 0; i < ITEMS; i++)
        items[i] = (struct vd_fair_item){0};
    return 0;
}

/* Serves the first flow with one item; which flow it was. */
static size_t serve(void)
{
    struct vd_fair_flow *flow = queue.first;
    vd_fair_queue_rotate(&queue);
    vd_fair_queue_remove(&queue, flow->first);
    return (size_t)(flow - flows);
}

static void test_flows_take_turns(void **state)
{
    static const size_t want[] = {0, 1, 2, 0, 1, 0, 0};
    (void)state;
    for (size_t i = 0; i < 4; i++)
        vd_fair_queue_add(&queue, &flows[0], &items[i]);
    for (size_t i = 4; i < 6; i++)
        vd_fair_queue_add(&queue, &flows[1], &items[i]);
    vd_fair_queue_add(&queue, &flows[2], &items[6]);
    assert_int_equal(vd_fair_queue_count(&queue), 3);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_int_equal(serve(), want[i]);
    assert_null(queue.first);
    assert_null(queue.last);
}

static void test_items_of_a_flow_keep_their_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < 5; i++)
        vd_fair_queue_add(&queue, &flows[0], &items[i]);
    vd_fair_queue_remove(&queue, &items[0]);
    vd_fair_queue_remove(&queue, &items[2]);
    vd_fair_queue_remove(&queue, &items[4]);
    assert_ptr_equal(flows[0].first, &items[1]);
    serve();
    assert_ptr_equal(flows[0].first, &items[3]);
    assert_null(items[1].flow);
    serve();
    assert_false(flows[0].in_ring);
}

static void test_a_flow_that_is_held_has_no_turn(void **state)
{
    (void)state;
    vd_fair_queue_hold(&queue, &flows[0], true);
    for (size_t i = 0; i < 3; i++)
        vd_fair_queue_add(&queue, &flows[0], &items[i]);
    assert_null(queue.first);
    vd_fair_queue_add(&queue, &flows[1], &items[3]);
    vd_fair_queue_add(&queue, &flows[1], &items[4]);
    assert_int_equal(serve(), 1);
    vd_fair_queue_hold(&queue, &flows[0], false);
    vd_fair_queue_hold(&queue, &flows[0], false); /* it is in the ring once */
    assert_int_equal(vd_fair_queue_count(&queue), 2);
    assert_int_equal(serve(), 1);
    assert_int_equal(serve(), 0);
    vd_fair_queue_hold(&queue, &flows[0], true);
    assert_null(queue.first);
    vd_fair_queue_remove(&queue, &items[1]);
    vd_fair_queue_hold(&queue, &flows[0], false);
    assert_int_equal(serve(), 0);
    assert_null(queue.first);
}

/* Random lives: the ring has exactly those flows that have items and are not held. */
static void test_the_ring_has_who_has_a_turn(void **state)
{
    struct seed_rng rng = {seed_of_run()};
    (void)state;
    for (int step = 0; step < 20000; step++) {
        struct vd_fair_item *item = &items[seed_next(&rng) % ITEMS];
        struct vd_fair_flow *flow = &flows[seed_next(&rng) % FLOWS];
        if (seed_next(&rng) % 4 == 0)
            vd_fair_queue_hold(&queue, flow, !flow->is_held);
        else if (item->flow)
            vd_fair_queue_remove(&queue, item);
        else
            vd_fair_queue_add(&queue, flow, item);
        size_t n = 0;
        for (size_t i = 0; i < FLOWS; i++) {
            assert_int_equal(flows[i].in_ring, flows[i].first && !flows[i].is_held);
            n += flows[i].in_ring;
        }
        assert_int_equal(vd_fair_queue_count(&queue), n);
    }
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_flows_take_turns),
        TEST(test_items_of_a_flow_keep_their_order),
        TEST(test_a_flow_that_is_held_has_no_turn),
        TEST(test_the_ring_has_who_has_a_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
