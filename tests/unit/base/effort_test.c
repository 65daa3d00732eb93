/* src/base/effort.h: what is allowed, and what is over. */
#include "base/effort.h"

#include "check.h"

static void effort_ends_at_its_limit(void **state)
{
    struct vd_effort e = {0}, turn = {.on_loop = true};
    (void)state;
    assert_true(vd_effort_spend(&e, VD_CHECK_WORK_MAX));
    assert_true(vd_effort_spend(&e, 0));
    assert_false(vd_effort_spend(&e, 1));
    assert_true(e.over);
    assert_false(vd_effort_spend(&e, 0)); /* and stays so */
    assert_true(vd_effort_spend(&turn, VD_CHECK_TURN_WORK_MAX));
    assert_false(vd_effort_spend(&turn, UINT64_MAX));
}

static void nothing_is_compiled_in_a_turn(void **state)
{
    struct vd_effort e = {0}, turn = {.on_loop = true};
    (void)state;
    assert_true(vd_effort_may_compile(&e));
    assert_false(vd_effort_may_compile(&turn));
    assert_true(turn.over);
    assert_false(vd_effort_match(&turn, 1, 1));
}

static void a_match_costs_size_times_length(void **state)
{
    struct vd_effort e = {0};
    (void)state;
    assert_true(vd_effort_match(&e, 100, 9));
    assert_int_equal(e.spent, 1000);
    assert_false(vd_effort_match(&e, VD_CHECK_WORK_MAX, 1));
    assert_int_equal(e.spent, 1000);
}

static void defaults_end_at_their_limit(void **state)
{
    struct vd_effort e = {0}, turn = {.on_loop = true};
    (void)state;
    assert_true(vd_effort_fill(&e, VD_DEFAULTS_LEN_MAX));
    assert_false(vd_effort_fill(&e, 1));
    assert_true(e.over);
    assert_false(vd_effort_fill(&e, 0));
    assert_true(vd_effort_fill(&turn, VD_DEFAULTS_TURN_LEN_MAX));
    assert_false(vd_effort_fill(&turn, UINT64_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(effort_ends_at_its_limit),
        cmocka_unit_test(nothing_is_compiled_in_a_turn),
        cmocka_unit_test(defaults_end_at_their_limit),
        cmocka_unit_test(a_match_costs_size_times_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
