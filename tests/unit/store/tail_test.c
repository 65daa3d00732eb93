/* src/store/tail.h: a ring of events, against a plain array. */
#include "store/tail.h"

#include "check.h"
#include "seed.h"

enum { EVENTS = 3000 };

static struct vd_event events[EVENTS]; /* revision 2 * i + 10: every other number is missing */

static int setup(void **state)
{
    (void)state;
    for (size_t i = 0; i < EVENTS; i++)
        events[i].revision = 2 * i + 10;
    return 0;
}

/* The tail holds events[from] to events[to - 1], in order. */
static void assert_holds(const struct vd_tail *tail, size_t from, size_t to)
{
    assert_int_equal(tail->n, to - from);
    assert_true(tail->n <= tail->cap);
    for (size_t i = from; i < to; i++)
        assert_ptr_equal(vd_tail_at(tail, i - from), &events[i]);
}

static void the_ring_wraps_and_grows_in_order(void **state)
{
    (void)state;
    struct vd_tail tail = {0};
    size_t from = 0, to = 0;
    while (to < 12)
        vd_tail_push(&tail, &events[to++]);
    while (from < 10)
        assert_ptr_equal(vd_tail_pop(&tail), &events[from++]);
    while (to < 26) { /* past the end of the 16 slots, until all are used */
        vd_tail_push(&tail, &events[to++]);
        assert_holds(&tail, from, to);
    }
    assert_int_equal(tail.cap, 16);
    vd_tail_push(&tail, &events[to++]); /* grows while wrapped */
    assert_int_equal(tail.cap, 32);
    assert_holds(&tail, from, to);
    vd_tail_release(&tail);
    assert_int_equal(tail.n, 0);
    vd_tail_release(&tail);
}

static void a_tail_that_empties_gives_memory_back(void **state)
{
    (void)state;
    struct vd_tail tail = {0};
    for (size_t i = 0; i < EVENTS; i++)
        vd_tail_push(&tail, &events[i]);
    size_t cap = tail.cap;
    for (size_t i = 0; i < EVENTS; i++) {
        assert_ptr_equal(vd_tail_pop(&tail), &events[i]);
        if (i % 61 == 0 || i > EVENTS - 40)
            assert_holds(&tail, i + 1, EVENTS);
    }
    assert_true(tail.cap < cap / 32);
    vd_tail_push(&tail, &events[0]);
    assert_holds(&tail, 0, 1);
    vd_tail_release(&tail);
}

static void the_first_event_behind_a_revision_is_found(void **state)
{
    (void)state;
    struct vd_tail tail = {0};
    for (size_t n = 0; n < 40; n++) { /* every length, wrapped or not */
        for (uint64_t revision = 0; revision < 100; revision++) {
            size_t want = 0;
            while (want < tail.n && vd_tail_at(&tail, want)->revision <= revision)
                want++;
            if (tail.n)
                assert_int_equal(vd_tail_first_after(&tail, revision), want);
        }
        assert_int_equal(tail.n ? vd_tail_first_after(&tail, UINT64_MAX) : tail.n, tail.n);
        vd_tail_push(&tail, &events[n]);
        if (n % 3 == 2)
            vd_tail_pop(&tail);
    }
    vd_tail_release(&tail);
    assert_int_equal(vd_tail_first_after(&tail, 5), 0);
}

static void reversing_turns_the_order_around(void **state)
{
    (void)state;
    for (size_t n = 0; n < 40; n++)
        for (size_t skip = 0; skip < 17; skip++) {
            struct vd_tail tail = {0};
            for (size_t i = 0; i < skip; i++) { /* move the front to another slot */
                vd_tail_push(&tail, &events[0]);
                vd_tail_pop(&tail);
            }
            for (size_t i = n; i-- > 0;)
                vd_tail_push(&tail, &events[i]);
            vd_tail_reverse(&tail);
            assert_holds(&tail, 0, n);
            vd_tail_release(&tail);
        }
}

static void it_is_a_queue_whatever_the_order_of_calls(void **state)
{
    (void)state;
    struct seed_rng rng = {seed_of_run()};
    uint64_t seed = rng.state;
    struct vd_tail tail = {0};
    size_t from = 0, to = 0;
    for (int phase = 0; to < EVENTS; phase++)
        for (int i = 0; i < 100 && to < EVENTS; i++) {
            bool push = seed_below(&rng, 10) < (phase % 2 ? 3u : 7u);
            if (push)
                vd_tail_push(&tail, &events[to++]);
            else if (tail.n && vd_tail_pop(&tail) != &events[from++])
                fail_msg("wrong event; VEDETTE_SEED=%llu", (unsigned long long)seed);
            if (tail.n != to - from)
                fail_msg("wrong length; VEDETTE_SEED=%llu", (unsigned long long)seed);
        }
    assert_holds(&tail, from, to);
    vd_tail_release(&tail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ring_wraps_and_grows_in_order),
        cmocka_unit_test(a_tail_that_empties_gives_memory_back),
        cmocka_unit_test(the_first_event_behind_a_revision_is_found),
        cmocka_unit_test(reversing_turns_the_order_around),
        cmocka_unit_test(it_is_a_queue_whatever_the_order_of_calls),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
