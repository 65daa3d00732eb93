/* Rations: so many in a second, and the rest counted. */
#include "base/log_rate.h"

#include "check.h"

static void test_a_second_has_its_share(void **state)
{
    struct vd_log_rate r = {0};
    const uint64_t second = UINT64_C(1000000000);
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(vd_log_rate_take(&r, 5 * second, 3));
    assert_false(vd_log_rate_take(&r, 5 * second, 3));
    assert_false(vd_log_rate_take(&r, 6 * second - 1, 3));
    assert_true(vd_log_rate_take(&r, 6 * second, 3));
    assert_int_equal(vd_log_rate_take_dropped(&r), 2);
    assert_int_equal(vd_log_rate_take_dropped(&r), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_second_has_its_share)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
