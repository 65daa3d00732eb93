/* src/git/process_slots.c: who gets a slot, who waits, and who is refused. */
#include "git/process_slots.h"

#include <stdio.h>

#include "base/limits.h"
#include "check.h"

static struct vd_loop loop; /* that is never run: what is posted to it is run by hand */
static struct vd_process_slots slots;
static struct vd_slot many[VD_GIT_PROCESSES_MAX + VD_GIT_WAITING_MAX + 8];
static size_t granted_n;
static struct vd_slot *granted_last;

static void on_granted(struct vd_slot *slot)
{
    granted_n++;
    granted_last = slot;
}

static int set_up(void **state)
{
    struct vd_error error;
    (void)state;
    memset(many, 0, sizeof many);
    granted_n = 0;
    vd_process_slots_init(&slots,
                          &(struct vd_slot_limits){VD_GIT_PROCESSES_MAX, VD_GIT_USER_PROCESSES_MAX,
                                                   VD_GIT_WAITING_MAX, VD_GIT_USER_WAITING_MAX},
                          NULL);
    return vd_loop_init(&loop, 0, &error);
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        if (many[i].state == VD_SLOT_WAITING)
            assert_true(vd_slot_cancel(&many[i]));
        vd_loop_run_posted(&loop);
    }
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        if (many[i].slots)
            vd_slot_give_back(&many[i]);
        vd_loop_run_posted(&loop);
    }
    vd_process_slots_release(&slots);
    assert_int_equal(vd_loop_start(&loop, NULL), VD_OK);
    vd_loop_stop(&loop);
    vd_loop_release(&loop);
    return 0;
}

static enum vd_slot_result take(size_t i, const char *user)
{
    many[i].loop = &loop;
    many[i].granted = on_granted;
    return vd_slot_take(&slots, &many[i], vd_slice_of(user));
}

/* All slots, of users who have one each. */
static void take_all(void)
{
    char user[16];
    for (size_t i = 0; i < VD_GIT_PROCESSES_MAX; i++) {
        snprintf(user, sizeof user, "u%zu", i);
        assert_int_equal(take(i, user), VD_SLOT_NOW);
    }
}

static void who_waits_longest_gets_the_next(void **state)
{
    (void)state;
    take_all();
    assert_int_equal(take(100, "a"), VD_SLOT_LATER);
    assert_int_equal(take(101, "b"), VD_SLOT_LATER);
    vd_loop_run_posted(&loop);
    assert_int_equal(granted_n, 0);
    vd_slot_give_back(&many[3]);
    vd_loop_run_posted(&loop);
    assert_int_equal(granted_n, 1);
    assert_ptr_equal(granted_last, &many[100]);
    vd_slot_give_back(&many[100]);
    vd_loop_run_posted(&loop);
    assert_int_equal(granted_n, 2);
    assert_ptr_equal(granted_last, &many[101]);
}

static void one_user_has_not_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < VD_GIT_USER_PROCESSES_MAX; i++)
        assert_int_equal(take(i, "a"), VD_SLOT_NOW);
    assert_int_equal(take(100, "a"), VD_SLOT_LATER);
    assert_int_equal(take(101, "b"), VD_SLOT_NOW);
    vd_slot_give_back(&many[101]); /* there was room for others all the time */
    vd_loop_run_posted(&loop);
    assert_int_equal(granted_n, 0);
    vd_slot_give_back(&many[0]);
    vd_loop_run_posted(&loop);
    assert_ptr_equal(granted_last, &many[100]);
}

/* "a" has many and waits longer; "b" has none. */
static void who_has_the_fewest_gets_the_next(void **state)
{
    (void)state;
    for (size_t i = 0; i < VD_GIT_PROCESSES_MAX; i++)
        assert_int_equal(take(i, i % 2 ? "a" : "c"), VD_SLOT_NOW);
    assert_false(vd_slot_is_wanted(&many[0]));
    assert_int_equal(take(100, "a"), VD_SLOT_LATER);
    assert_false(vd_slot_is_wanted(&many[0])); /* "a" has as many as it may */
    assert_true(vd_slot_is_wanted(&many[1]));
    assert_int_equal(take(101, "b"), VD_SLOT_LATER);
    assert_true(vd_slot_is_wanted(&many[0]));
    vd_slot_give_back(&many[1]);
    vd_loop_run_posted(&loop);
    assert_int_equal(granted_n, 1);
    assert_ptr_equal(granted_last, &many[101]);
}

static void who_waits_may_leave(void **state)
{
    (void)state;
    take_all();
    assert_int_equal(take(100, "a"), VD_SLOT_LATER);
    assert_int_equal(take(101, "b"), VD_SLOT_LATER);
    assert_true(vd_slot_cancel(&many[100]));
    vd_slot_give_back(&many[0]);
    assert_false(vd_slot_cancel(&many[101])); /* it is on its way */
    vd_loop_run_posted(&loop);
    assert_ptr_equal(granted_last, &many[101]);
    assert_int_equal(granted_n, 1);
}

static void too_many_who_wait_are_refused(void **state)
{
    (void)state;
    char user[16];
    size_t at = VD_GIT_PROCESSES_MAX;
    take_all();
    for (size_t i = 0; i < VD_GIT_USER_WAITING_MAX; i++)
        assert_int_equal(take(at++, "a"), VD_SLOT_LATER);
    assert_int_equal(take(at, "a"), VD_SLOT_REFUSED);
    many[at].slots = NULL;
    for (size_t i = VD_GIT_USER_WAITING_MAX; i < VD_GIT_WAITING_MAX; i++) {
        snprintf(user, sizeof user, "w%zu", i);
        assert_int_equal(take(at++, user), VD_SLOT_LATER);
    }
    assert_int_equal(take(at, "z"), VD_SLOT_REFUSED);
    many[at].slots = NULL;
    assert_false(vd_process_slots_wait(&slots, 10));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(who_waits_longest_gets_the_next),
        TEST(one_user_has_not_all),
        TEST(who_has_the_fewest_gets_the_next),
        TEST(who_waits_may_leave),
        TEST(too_many_who_wait_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
