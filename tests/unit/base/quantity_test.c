/* Amounts in the units that people write. */
#include "check.h"

#include "base/quantity.h"

static void sizes_are_read(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {
        {"0", 0},
        {"17", 17},
        {"17B", 17},
        {"1KiB", 1024},
        {"64MiB", UINT64_C(64) << 20},
        {"64Mi", UINT64_C(64) << 20},
        {"2GiB", UINT64_C(2) << 30},
        {"16777215TiB", UINT64_C(16777215) << 40},
        {"18446744073709551615", UINT64_MAX},
    };
    static const char *const bad[] = {
        "",     "MiB",   "1MB",  "1M",          "1 MiB",
        "-1",   "1.5Gi", "1miB", "16777216TiB", "18446744073709551616",
        "1MiBx"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t bytes = 1;
        assert_int_equal(vd_size_parse(vd_slice_of(good[i].text), &bytes), 0);
        assert_int_equal(bytes, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t bytes = 42;
        if (vd_size_parse(vd_slice_of(bad[i]), &bytes) == 0)
            fail_msg("'%s' is no size", bad[i]);
        assert_int_equal(bytes, 42);
    }
}

static void durations_are_read(void **state)
{
    static const struct {
        const char *text;
        uint64_t ms;
    } good[] = {
        {"0s", 0}, {"24h", 86400000}, {"1m30s", 90000}, {"500ms", 500}, {"1d1ms", 86400001}};
    static const char *const bad[] = {"", "1", "s", "30s1m", "1m1m", "1.5h", "36526d", "1w"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t ms = 1;
        assert_int_equal(vd_duration_parse(vd_slice_of(good[i].text), &ms), 0);
        assert_int_equal(ms, good[i].ms);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t ms = 42;
        if (vd_duration_parse(vd_slice_of(bad[i]), &ms) == 0)
            fail_msg("'%s' is no duration", bad[i]);
        assert_int_equal(ms, 42);
    }
}

static void amounts_are_written(void **state)
{
    char out[VD_QUANTITY_MAX];
    (void)state;
    assert_string_equal(vd_bytes_text(0, out), "0 B");
    assert_string_equal(vd_bytes_text(1229, out), "1.2 KiB");
    assert_string_equal(vd_bytes_text(UINT64_C(15) << 20, out), "15 MiB");
    assert_string_equal(vd_duration_text(850, out), "850ms");
    assert_string_equal(vd_duration_text(5400000, out), "1h30m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_read),
        cmocka_unit_test(durations_are_read),
        cmocka_unit_test(amounts_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
