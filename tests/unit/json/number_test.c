/* src/json/number.c: what texts of numbers are worth. */
#include "json/number.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static void only_the_grammar_of_rfc_8259_is_valid(void **state)
{
    (void)state;
    static const char *const good[] = {
        "0",   "-0",   "1",     "10",  "-123",    "0.5",   "1.50",
        "1e5", "1E+5", "1e-05", "0e0", "-0.0e-0", "1e999", "123456789012345678901234567890.000"};
    static const char *const bad[] = {"",    "-",   "+1",  "01", "-01", ".5",   "1.",  "1.e5",
                                      "1e",  "1e+", "e5",  " 1", "1 ",  "0x10", "NaN", "Infinity",
                                      "1..", "--1", "1_0", "00", "-.5", "1e5.5"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!vd_number_is_valid(vd_slice_of(good[i])))
            fail_msg("%s is refused", good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (vd_number_is_valid(vd_slice_of(bad[i])))
            fail_msg("%s is accepted", bad[i]);
    }
}

static void integers_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool fits_i64, fits_u64;
        uint64_t value; /* as uint64, two's complement */
        enum vd_number_class class;
    } cases[] = {
        {"0", true, true, 0, VD_NUMBER_I64},
        {"-0", true, true, 0, VD_NUMBER_I64},
        {"-1", true, false, UINT64_MAX, VD_NUMBER_I64},
        {"9223372036854775807", true, true, INT64_MAX, VD_NUMBER_I64},
        {"-9223372036854775808", true, false, (uint64_t)INT64_MIN, VD_NUMBER_I64},
        {"-9223372036854775809", false, false, 0, VD_NUMBER_DOUBLE},
        {"9223372036854775808", false, true, (uint64_t)INT64_MAX + 1, VD_NUMBER_U64},
        {"18446744073709551615", false, true, UINT64_MAX, VD_NUMBER_U64},
        {"18446744073709551616", false, false, 0, VD_NUMBER_DOUBLE},
        {"99999999999999999999", false, false, 0, VD_NUMBER_DOUBLE},
        {"9007199254740993", true, true, 9007199254740993u, VD_NUMBER_I64},
        {"1.0", true, true, 1, VD_NUMBER_DOUBLE},
        {"10e-1", true, true, 1, VD_NUMBER_DOUBLE},
        {"1e3", true, true, 1000, VD_NUMBER_DOUBLE},
        {"0.00012e5", true, true, 12, VD_NUMBER_DOUBLE},
        {"1.5", false, false, 0, VD_NUMBER_DOUBLE},
        {"15e-1", false, false, 0, VD_NUMBER_DOUBLE},
        {"1e19", false, true, 10000000000000000000u, VD_NUMBER_DOUBLE},
        {"1e20", false, false, 0, VD_NUMBER_DOUBLE},
        {"0e99999999999999999999", true, true, 0, VD_NUMBER_DOUBLE},
        {"1e99999999999999999999", false, false, 0, VD_NUMBER_DOUBLE},
        {"0.0000", true, true, 0, VD_NUMBER_DOUBLE},
        {"100000000000000000000e-20", true, true, 1, VD_NUMBER_DOUBLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_slice text = vd_slice_of(cases[i].text);
        int64_t i64 = 0;
        uint64_t u64 = 0;
        if (vd_number_to_i64(text, &i64) != cases[i].fits_i64 ||
            vd_number_to_u64(text, &u64) != cases[i].fits_u64)
            fail_msg("%s: wrong fit", cases[i].text);
        if (cases[i].fits_i64)
            assert_true((uint64_t)i64 == cases[i].value);
        if (cases[i].fits_u64)
            assert_true(u64 == cases[i].value);
        if (vd_number_classify(text) != cases[i].class)
            fail_msg("%s: wrong class", cases[i].text);
    }
}

static void doubles_are_the_nearest_or_out_of_range(void **state)
{
    (void)state;
    double value = 7;
    assert_true(vd_number_to_double(VD_SLICE("0.1"), &value) && value == 0.1);
    assert_true(vd_number_to_double(VD_SLICE("-1.7976931348623157e308"), &value));
    assert_true(value == -DBL_MAX);
    assert_true(vd_number_to_double(VD_SLICE("1e-400"), &value) && value == 0);
    char digits[400];
    memset(digits, '9', sizeof digits);
    assert_true(vd_number_to_double(vd_slice(digits, 200), &value) && value == 1e200);
    value = 7;
    assert_false(vd_number_to_double(VD_SLICE("1e400"), &value));
    assert_false(vd_number_to_double(vd_slice(digits, 400), &value));
    assert_true(value == 7);
}

static void doubles_are_written_short_and_read_back(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-1.5, "-1.5"},
        {100, "100"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1e20, "100000000000000000000"},
        {1e21, "1e+21"},
        {1.25e22, "1.25e+22"},
        {1e-6, "0.000001"},
        {1.5e-7, "1.5e-7"},
        {5e-324, "5e-324"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {123456.789, "123456.789"},
        {-1.2345678901234567e-6, "-0.0000012345678901234567"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[VD_NUMBER_TEXT_MAX];
        struct vd_slice text = vd_slice(out, vd_number_format(cases[i].value, out));
        double back = 0;
        assert_slice(text, cases[i].text);
        assert_true(vd_number_is_valid(text));
        assert_true(vd_number_to_double(text, &back) && back == cases[i].value);
    }
}

static void equality_is_by_value_and_hashes_agree(void **state)
{
    (void)state;
    /* Numbers of one line are equal, those of different lines are not. */
    static const char *const groups[][5] = {
        {"1", "1.0", "1e0", "10e-1", "0.1E+1"},
        {"0", "-0", "0.000", "0e99", "-0e99999999999999999999999"},
        {"-1", "-1.0", "-100e-2"},
        {"10", "1e1", "0.1e2"},
        {"100", "1e2"},
        {"1.05", "105e-2"},
        {"1.5", "15e-1"},
        {"15"},
        {"105", "1.05e2"},
        {"18446744073709551616", "18446744073709551616.0"},
        {"18446744073709551617"},
        {"9007199254740993", "9007199254740993e0"},
        {"9007199254740992"},
        {"1e400", "10e399"},
        {"1e401"},
        {"1e-400"},
        {"1e10000000000000000000000"},
        {"1e10000000000000000000001"},
    };
    size_t count = sizeof groups / sizeof *groups;
    for (size_t i = 0; i < count * 5; i++) {
        for (size_t j = 0; j < count * 5; j++) {
            const char *a = groups[i / 5][i % 5], *b = groups[j / 5][j % 5];
            if (!a || !b)
                continue;
            bool equal = vd_number_eq(vd_slice_of(a), vd_slice_of(b));
            if (equal != (i / 5 == j / 5))
                fail_msg("%s and %s are %s", a, b, equal ? "equal" : "not equal");
            bool same = vd_number_hash(vd_slice_of(a)) == vd_number_hash(vd_slice_of(b));
            if (same != equal)
                fail_msg("%s and %s: the hashes disagree with that", a, b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_grammar_of_rfc_8259_is_valid),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(doubles_are_the_nearest_or_out_of_range),
        cmocka_unit_test(doubles_are_written_short_and_read_back),
        cmocka_unit_test(equality_is_by_value_and_hashes_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
