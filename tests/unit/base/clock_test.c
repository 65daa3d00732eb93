/* src/base/clock.c: times as text, at the ends of what it can show. */
#include "base/clock.h"

#include "check.h"

static void times_have_one_form_from_year_0_to_9999(void **state)
{
    (void)state;
    static const struct {
        int64_t wall_ms;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {1, "1970-01-01T00:00:00.001Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {-1000, "1969-12-31T23:59:59.000Z"},
        {-1001, "1969-12-31T23:59:58.999Z"},
        {1794735321042, "2026-11-15T09:35:21.042Z"},
        {951782400000, "2000-02-29T00:00:00.000Z"},
        {4102444800000, "2100-01-01T00:00:00.000Z"},
        {253402300799999, "9999-12-31T23:59:59.999Z"},
        {253402300800000, "?"},
        {-62167219200000, "0000-01-01T00:00:00.000Z"},
        {-62167219200001, "?"},
        {INT64_MAX, "?"},
        {INT64_MIN, "?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[VD_TIME_TEXT_MAX];
        assert_slice(vd_time_format(cases[i].wall_ms, out), cases[i].text);
    }
}

static void the_system_clock_goes_forward(void **state)
{
    (void)state;
    const struct vd_clock *clock = vd_clock_system();
    uint64_t before = vd_clock_mono_ns(clock), after = vd_clock_mono_ns(clock);
    assert_true(after >= before);
    assert_true(vd_clock_wall_ms(clock) > 1700000000000); /* past 2023 */
}

static void random_bytes_fill_the_whole_range_and_no_more(void **state)
{
    (void)state;
    unsigned char bytes[1002] = {0};
    size_t zeros = 0;
    vd_random_bytes(bytes + 1, 1000);
    vd_random_bytes(bytes, 0);
    assert_int_equal(bytes[0], 0);
    assert_int_equal(bytes[1001], 0);
    for (size_t i = 1; i <= 1000; i++)
        zeros += bytes[i] == 0;
    assert_true(zeros < 50); /* about 4 by chance */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_have_one_form_from_year_0_to_9999),
        cmocka_unit_test(the_system_clock_goes_forward),
        cmocka_unit_test(random_bytes_fill_the_whole_range_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
