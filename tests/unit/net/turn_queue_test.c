/* Turn queues: who goes at once, who waits, and in which order. */
#include "net/turn_queue.h"

#include <string.h>

#include "base/buf.h"
#include "check.h"

enum { US = 1000, MS = 1000000, CHORES = 100 };

static uint64_t now_ns;

static int64_t wall_ms(const struct vd_clock *clock)
{
    (void)clock;
    return 0;
}

static uint64_t mono_ns(const struct vd_clock *clock)
{
    (void)clock;
    return now_ns;
}

static const struct vd_clock test_clock = {.wall_ms = wall_ms, .mono_ns = mono_ns};

static struct vd_loop loop;
static struct vd_turn_queue turn_queue;
static struct vd_turn_flow ann, bob, cem;
static struct vd_buf ran; /* a letter for each chore */

struct work {
    struct vd_turn_item chore;
    char letter;
    uint64_t cost_ns;
};

static struct work works[CHORES];

static int setup(void **state)
{
    struct vd_error error;
    (void)state;
    ann = bob = cem = (struct vd_turn_flow){0};
    memset(works, 0, sizeof works);
    now_ns = 1000 * (uint64_t)MS;
    int code = vd_loop_init(&loop, 0, &error);
    vd_turn_queue_init(&turn_queue, &loop);
    turn_queue.clock = &test_clock;
    return code;
}

static int teardown(void **state)
{
    (void)state;
    vd_loop_stop(&loop);
    vd_loop_release(&loop);
    vd_buf_release(&ran);
    return 0;
}

static void run(struct vd_turn_item *chore)
{
    const struct work *w = (const struct work *)chore;
    vd_buf_add_char(&ran, w->letter);
    now_ns += w->cost_ns;
}

/* Work of a cost: at once if it may. Whether it went. */
static bool come(struct vd_turn_flow *lane, struct work *w, char letter, uint64_t cost_ns)
{
    *w = (struct work){.chore.run = run, .letter = letter, .cost_ns = cost_ns};
    if (!vd_turn_queue_enter(&turn_queue, lane)) {
        vd_turn_queue_wait(&turn_queue, lane, &w->chore);
        return false;
    }
    run(&w->chore);
    vd_turn_queue_leave(&turn_queue, lane);
    return true;
}

static bool turn(void)
{
    return turn_queue.hook.run(&turn_queue.hook);
}

static void test_who_is_alone_does_not_wait(void **state)
{
    (void)state;
    for (int i = 0; i < CHORES; i++)
        assert_true(come(&ann, &works[i], 'a', 40 * US));
    assert_false(vd_turn_queue_is_shared(&turn_queue));
    assert_false(turn());
    assert_true(come(&ann, &works[0], 'a', 100 * MS));
    assert_false(turn());
    assert_true(come(&ann, &works[0], 'a', MS)); /* a turn is not long for the one before */
}

/* But for a turn that has become long: a probe of health, say, is not kept for all of it. */
static void test_who_is_alone_does_not_have_the_loop_to_himself(void **state)
{
    size_t at_once = 0, turns = 1;
    (void)state;
    for (int i = 0; i < CHORES; i++)
        at_once += come(&ann, &works[i], 'a', MS);
    assert_in_range(at_once, 1, 10);
    while (turn())
        turns++;
    assert_in_range(turns, CHORES / 10, CHORES);
    assert_int_equal(ran.n, CHORES);
    assert_true(come(&ann, &works[0], 'a', MS));
}

/* The crowd of one user's requests in one turn: the share at once, the rest later; the
 * other's request is not behind them. */
static void test_a_crowd_waits_and_the_other_does_not(void **state)
{
    (void)state;
    assert_true(come(&bob, &works[0], 'b', 10 * US));
    size_t at_once = 0;
    for (int i = 1; i < 50; i++)
        at_once += come(&ann, &works[i], 'a', 10 * US);
    assert_true(vd_turn_queue_is_shared(&turn_queue));
    assert_in_range(at_once, 1, 10);
    assert_true(come(&bob, &works[50], 'b', 10 * US));
}

/* Between two turns, a user's crowd gets little done; and all of it in the end. */
static void test_each_turn_does_a_share(void **state)
{
    (void)state;
    come(&bob, &works[0], 'b', 10 * US);
    for (int i = 1; i < 61; i++)
        come(&ann, &works[i], 'a', 10 * US);
    size_t turns = 0;
    for (bool more = true; more; turns++) {
        size_t before = ran.n;
        more = turn();
        assert_in_range(ran.n - before, 0, 10);
        come(&bob, &works[0], 'b', 0); /* still there, and always at once */
        assert_int_equal(ran.p[ran.n - 1], 'b');
    }
    assert_in_range(turns, 8, 60);
    size_t done = 0;
    for (size_t i = 0; i < ran.n; i++)
        done += ran.p[i] == 'a';
    assert_int_equal(done, 60);
}

static void test_lanes_take_turns(void **state)
{
    (void)state;
    come(&bob, &works[0], 'b', 0);
    for (int i = 1; i < 31; i++)
        come(&ann, &works[i], 'a', 50 * US);
    for (int i = 31; i < 61; i++)
        come(&bob, &works[i], 'b', 50 * US);
    vd_buf_reset(&ran);
    while (ran.n < 20)
        turn();
    /* In any stretch, neither is more than two ahead of the other. */
    int ahead = 0;
    for (size_t i = 0; i < 20; i++) {
        ahead += ran.p[i] == 'a' ? 1 : -1;
        assert_in_range(ahead + 2, 0, 4);
    }
    while (turn())
        ;
}

/* What costs more than a share is paid for: dear chores get as much time, not as many. */
static void test_dear_work_pays(void **state)
{
    uint64_t dear_ns = 0, cheap_ns = 0;
    (void)state;
    come(&bob, &works[0], 'b', 0);
    for (int i = 1; i < 20; i++)
        come(&ann, &works[i], 'a', 200 * US);
    for (int i = 20; i < 100; i++)
        come(&bob, &works[i], 'b', 20 * US);
    vd_buf_reset(&ran);
    for (int i = 0; i < 40; i++)
        turn();
    for (size_t i = 0; i < ran.n; i++)
        *(ran.p[i] == 'a' ? &dear_ns : &cheap_ns) += ran.p[i] == 'a' ? 200 * US : 20 * US;
    assert_in_range(dear_ns, cheap_ns / 2, cheap_ns * 2);
    while (turn())
        ;
}

static void test_who_has_left_is_forgotten(void **state)
{
    (void)state;
    come(&bob, &works[0], 'b', 0);
    come(&ann, &works[1], 'a', MS);
    now_ns += 200 * (uint64_t)MS;
    assert_false(turn());
    for (int i = 2; i < 20; i++)
        assert_true(come(&ann, &works[i], 'a', 200 * US));
}

static void test_a_stranger_may_be_the_only_user(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) { /* cem is whom nobody knows */
        assert_true(come(&cem, &works[0], 'c', 90 * US));
        vd_turn_queue_meet(&turn_queue, &cem, &ann);
        assert_true(come(&ann, &works[1], 'a', US));
        assert_false(vd_turn_queue_is_shared(&turn_queue));
    }
    assert_true(come(&cem, &works[0], 'c', US)); /* and stays a stranger */
    assert_false(come(&cem, &works[2], 'c', US));
    vd_turn_queue_meet(&turn_queue, &cem, &ann);
    assert_true(vd_turn_queue_is_shared(&turn_queue));
    while (turn())
        ;
    now_ns += 200 * (uint64_t)MS;
    assert_false(vd_turn_queue_is_shared(&turn_queue));
    assert_true(come(&cem, &works[0], 'c', US));
    assert_true(come(&bob, &works[1], 'b', US));
    vd_turn_queue_meet(&turn_queue, &cem, &ann); /* too late */
    assert_true(vd_turn_queue_is_shared(&turn_queue));
}

static void test_cancelled_work_does_not_run(void **state)
{
    (void)state;
    come(&bob, &works[0], 'b', 0);
    come(&ann, &works[1], 'a', MS);
    assert_false(come(&ann, &works[2], 'x', 0));
    assert_false(come(&ann, &works[3], 'y', 0));
    vd_turn_item_cancel(&works[2].chore);
    vd_turn_item_cancel(&works[2].chore);
    while (turn())
        ;
    assert_null(memchr(ran.p, 'x', ran.n));
    assert_non_null(memchr(ran.p, 'y', ran.n));
    assert_true(come(&cem, &works[4], 'c', 0));
    come(&ann, &works[5], 'a', MS);
    assert_false(come(&ann, &works[6], 'z', 0));
    vd_turn_item_cancel(&works[6].chore);
    assert_false(turn()); /* the lane left the ring with its last chore */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_who_is_alone_does_not_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(test_who_is_alone_does_not_have_the_loop_to_himself, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_crowd_waits_and_the_other_does_not, setup, teardown),
        cmocka_unit_test_setup_teardown(test_each_turn_does_a_share, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lanes_take_turns, setup, teardown),
        cmocka_unit_test_setup_teardown(test_dear_work_pays, setup, teardown),
        cmocka_unit_test_setup_teardown(test_who_has_left_is_forgotten, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_stranger_may_be_the_only_user, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancelled_work_does_not_run, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
