/* src/base/slice.c: cutting, trimming and strict decimal numbers. */
#include "base/slice.h"

#include "check.h"

static void cut_splits_at_the_separator_and_keeps_empty_parts(void **state)
{
    (void)state;
    struct vd_slice rest = VD_SLICE("a,,b,"), part;
    const char *want[] = {"a", "", "b", ""};
    for (size_t i = 0; i < 4; i++) {
        assert_true(vd_slice_cut(&rest, ',', &part));
        assert_slice(part, want[i]);
    }
    assert_false(vd_slice_cut(&rest, ',', &part));
}

static void empty_text_has_one_empty_part(void **state)
{
    (void)state;
    struct vd_slice rest = VD_SLICE(""), part;
    assert_true(vd_slice_cut(&rest, ',', &part));
    assert_int_equal(part.n, 0);
    assert_false(vd_slice_cut(&rest, ',', &part));
}

static void trim_takes_blanks_from_both_ends_only(void **state)
{
    (void)state;
    assert_slice(vd_slice_trim(VD_SLICE(" \t a b\r\n")), "a b");
    assert_slice(vd_slice_trim(VD_SLICE("  ")), "");
}

static void numbers_are_plain_decimals_that_fit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        uint64_t value;
    } cases[] = {
        {"0", true, 0},
        {"7", true, 7},
        {"18446744073709551615", true, UINT64_MAX},
        {"18446744073709551616", false, 0},
        {"99999999999999999999", false, 0},
        {"", false, 0},
        {"00", false, 0},
        {"01", false, 0},
        {"-1", false, 0},
        {"+1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"0x1", false, 0},
        {"1e3", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t got = 0;
        assert_int_equal(vd_slice_to_u64(vd_slice_of(cases[i].text), &got) == 0, cases[i].ok);
        assert_true(got == cases[i].value);
    }
}

static void digits_round_trip(void **state)
{
    (void)state;
    const uint64_t values[] = {0, 9, 10, 1234567890, UINT64_MAX};
    for (size_t i = 0; i < 5; i++) {
        char digits[20];
        uint64_t back;
        assert_int_equal(vd_slice_to_u64(vd_slice(digits, vd_u64_digits(values[i], digits)), &back),
                         0);
        assert_true(back == values[i]);
    }
}

static void order_is_bytewise_with_the_shorter_first(void **state)
{
    (void)state;
    assert_true(vd_slice_cmp(VD_SLICE("a"), VD_SLICE("ab")) < 0);
    assert_true(vd_slice_cmp(VD_SLICE("b"), VD_SLICE("ab")) > 0);
    assert_true(vd_slice_cmp(VD_SLICE("\xff"), VD_SLICE("a")) > 0);
    assert_true(vd_slice_cmp(VD_SLICE(""), VD_SLICE("")) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_splits_at_the_separator_and_keeps_empty_parts),
        cmocka_unit_test(empty_text_has_one_empty_part),
        cmocka_unit_test(trim_takes_blanks_from_both_ends_only),
        cmocka_unit_test(numbers_are_plain_decimals_that_fit),
        cmocka_unit_test(digits_round_trip),
        cmocka_unit_test(order_is_bytewise_with_the_shorter_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
