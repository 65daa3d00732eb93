/* src/base/human_time.c: ages as kubectl shows them; RFC 3339 both ways. */
#include "base/human_time.h"

#include <time.h>

#include "check.h"
#include "seed.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };
static const int64_t DAY = 24 * (int64_t)HOUR, YEAR = 365 * 24 * (int64_t)HOUR;

static void durations_have_two_or_three_figures(void **state)
{
    (void)state;
    const struct {
        int64_t ms;
        const char *want;
    } cases[] = {
        {INT64_MIN, "<invalid>"},
        {-2 * SECOND, "<invalid>"},
        {-2 * SECOND + 1, "0s"},
        {-1, "0s"},
        {0, "0s"},
        {999, "0s"},
        {SECOND, "1s"},
        {21 * SECOND, "21s"},
        {2 * MINUTE - 1, "119s"},
        {2 * MINUTE, "2m"},
        {2 * MINUTE + SECOND, "2m1s"},
        {5 * MINUTE + 10 * SECOND, "5m10s"},
        {10 * MINUTE - SECOND, "9m59s"},
        {10 * MINUTE, "10m"},
        {10 * MINUTE + 30 * SECOND, "10m"},
        {3 * HOUR - MINUTE, "179m"},
        {3 * HOUR, "3h"},
        {3 * HOUR + 12 * MINUTE, "3h12m"},
        {8 * HOUR - MINUTE, "7h59m"},
        {8 * HOUR, "8h"},
        {8 * HOUR + 59 * MINUTE, "8h"},
        {2 * DAY - HOUR, "47h"},
        {2 * DAY, "2d"},
        {2 * DAY + 4 * HOUR, "2d4h"},
        {8 * DAY - HOUR, "7d23h"},
        {8 * DAY, "8d"},
        {45 * DAY + 3 * HOUR, "45d"},
        {2 * YEAR - HOUR, "729d"},
        {2 * YEAR, "2y"},
        {2 * YEAR + DAY, "2y1d"},
        {3 * YEAR + 120 * DAY, "3y120d"},
        {8 * YEAR - HOUR, "7y364d"},
        {8 * YEAR, "8y"},
        {8 * YEAR + 100 * DAY, "8y"},
        {INT64_MAX, "292471208y"},
    };
    char room[VD_HUMAN_DURATION_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_slice(vd_human_duration(cases[i].ms, room), cases[i].want);
}

static void ages_count_from_a_timestamp(void **state)
{
    (void)state;
    char room[VD_HUMAN_DURATION_MAX];
    int64_t now;
    assert_true(vd_rfc3339_parse(VD_SLICE("2026-11-15T09:35:21Z"), &now));
    assert_slice(vd_human_age(VD_SLICE("2026-11-15T09:35:00Z"), now, room), "21s");
    assert_slice(vd_human_age(VD_SLICE("2026-11-13T09:35:21+00:00"), now, room), "2d");
    assert_slice(vd_human_age(VD_SLICE("2026-11-15T09:40:00Z"), now, room), "<invalid>");
    assert_slice(vd_human_age(VD_SLICE("yesterday"), now, room), "<invalid>");
    assert_slice(vd_human_age(VD_SLICE(""), now, room), "<unknown>");
}

static void times_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01T00:00:00.5Z", 500},
        {"1970-01-01T00:00:00,25Z", 250},
        {"1970-01-01T00:00:00.042999Z", 42},
        {"1970-01-01T00:00:00.123456789Z", 123},
        {"1969-12-31T23:59:59.999Z", -1},
        {"1970-01-01T01:30:00+01:30", 0},
        {"1969-12-31T22:30:00-01:30", 0},
        {"2000-02-29T12:00:00Z", 951825600000},
        {"2024-02-29T00:00:00Z", 1709164800000},
        {"2026-11-15T09:35:21Z", 1794735321000},
        {"0000-01-01T00:00:00Z", -62167219200000},
        {"9999-12-31T23:59:59Z", 253402300799000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ms = 1;
        if (!vd_rfc3339_parse(vd_slice_of(cases[i].text), &ms))
            fail_msg("%s is a time", cases[i].text);
        assert_int_equal(ms, cases[i].ms);
    }
}

static void what_is_no_time_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "now",
        "2026-11-15",
        "2026-11-15T09:35Z",
        "2026-11-15T09:35:21",
        "2026-11-15 09:35:21Z",
        "2026-11-15t09:35:21Z",
        "2026-11-15T09:35:21z",
        "2026-11-15T09:35:21Z ",
        " 2026-11-15T09:35:21Z",
        "2026-11-15T09:35:60Z",
        "2026-11-15T24:00:00Z",
        "2026-11-15T09:60:00Z",
        "2026-00-15T09:35:21Z",
        "2026-13-15T09:35:21Z",
        "2026-11-00T09:35:21Z",
        "2026-11-31T09:35:21Z",
        "2026-02-29T09:35:21Z",
        "1900-02-29T09:35:21Z",
        "+026-11-15T09:35:21Z",
        "26-11-15T09:35:21Z",
        "2026-11-15T09:35:21.Z",
        "2026-11-15T09:35:21+0100",
        "2026-11-15T09:35:21+24:00",
        "2026-11-15T09:35:21+01:60",
        "2026-11-15T09:35:21+01:0",
        "2026-11-15T09:35:21Z+01:00",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ms = 7;
        if (vd_rfc3339_parse(vd_slice_of(cases[i]), &ms))
            fail_msg("\"%s\" was read", cases[i]);
        assert_int_equal(ms, 7);
    }
}

static void times_are_written(void **state)
{
    (void)state;
    char room[VD_RFC3339_MAX];
    assert_slice(vd_rfc3339_format(1794735321042, room), "2026-11-15T09:35:21Z");
    assert_slice(vd_rfc3339_format_micro(1794735321042, room), "2026-11-15T09:35:21.042000Z");
    assert_slice(vd_rfc3339_format(-1, room), "1969-12-31T23:59:59Z");
    assert_slice(vd_rfc3339_format_micro(-1, room), "1969-12-31T23:59:59.999000Z");
    assert_slice(vd_rfc3339_format(-62167219200000, room), "0000-01-01T00:00:00Z");
    assert_slice(vd_rfc3339_format(253402300799999, room), "9999-12-31T23:59:59Z");
    assert_slice(vd_rfc3339_format(253402300800000, room), "");
    assert_slice(vd_rfc3339_format(-62167219200001, room), "");
    assert_slice(vd_rfc3339_format(INT64_MIN, room), "");
    assert_slice(vd_rfc3339_format(INT64_MAX, room), "");
}

/* The C library agrees, and what is written is read again. */
static void random_times_agree_with_the_c_library(void **state)
{
    (void)state;
    struct seed_rng r = {seed_of_run()};
    for (int i = 0; i < 100000; i++) {
        int64_t ms = (int64_t)(seed_next(&r) % (253402300800000 + 62167219200000)) - 62167219200000;
        int64_t back;
        char room[VD_RFC3339_MAX], want[32];
        time_t seconds = (time_t)(ms / 1000 - (ms % 1000 < 0));
        struct tm t;
        gmtime_r(&seconds, &t);
        /* strftime's %Y has no leading zeros */
        size_t n = strftime(want + 8, sizeof want - 8, "-%m-%dT%H:%M:%SZ", &t);
        int year = t.tm_year + 1900;
        for (int digit = 7; digit > 3; digit--, year /= 10)
            want[digit] = (char)('0' + year % 10);
        assert_slice(vd_rfc3339_format(ms, room), want + 4);
        assert_int_equal(n, 16);
        struct vd_slice micro = vd_rfc3339_format_micro(ms, room);
        assert_true(vd_rfc3339_parse(micro, &back));
        assert_int_equal(back, ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_have_two_or_three_figures),
        cmocka_unit_test(ages_count_from_a_timestamp),
        cmocka_unit_test(times_are_read),
        cmocka_unit_test(what_is_no_time_is_refused),
        cmocka_unit_test(times_are_written),
        cmocka_unit_test(random_times_agree_with_the_c_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
