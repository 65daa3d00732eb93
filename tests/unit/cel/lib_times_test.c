/* src/cel/lib_times.c: timestamps and durations. */
#include "cel_check.h"

static const char *const rows[] = {
    "timestamp('2009-02-13T23:31:30Z') == timestamp(1234567890)",
    "timestamp('2009-02-13T23:31:30Z').getFullYear() == 2009",
    "timestamp('2009-02-13T23:31:30Z').getMonth() == 1",
    "timestamp('2009-02-13T23:31:30Z').getDate() == 13",
    "timestamp('2009-02-13T23:31:30Z').getDayOfMonth() == 12",
    "timestamp('2009-02-13T23:31:30Z').getDayOfWeek() == 5",
    "timestamp('2009-02-13T23:31:30Z').getDayOfYear() == 43",
    "timestamp('2009-02-13T23:31:30Z').getHours() == 23",
    "timestamp('2009-02-13T23:31:30Z').getMinutes() == 31",
    "timestamp('2009-02-13T23:31:30Z').getSeconds() == 30",
    "timestamp('2009-02-13T23:31:30.123456789Z').getMilliseconds() == 123",
    "timestamp('2009-02-13T23:31:30Z').getHours('+02:00') == 1",
    "timestamp('2009-02-13T23:31:30Z').getDate('02:00') == 14",
    "timestamp('2009-02-13T02:00:00Z').getDate('-8:00') == 12",
    "timestamp('2009-02-13T23:31:30Z').getHours('UTC') == 23",
    "timestamp('2009-02-13T23:31:30+01:00') == timestamp('2009-02-13T22:31:30Z')",
    "timestamp('2020-02-29T00:00:00Z').getDate() == 29",
    "timestamp('1969-12-31T23:59:59Z') < timestamp(0)",
    "timestamp('0001-01-01T00:00:00Z').getFullYear() == 1",
    "timestamp('9999-12-31T23:59:59Z').getDayOfYear() == 364",
    "timestamp('2009-02-13T23:31:30Z') + duration('1h') == timestamp('2009-02-14T00:31:30Z')",
    "duration('1h') + timestamp('2009-02-13T23:31:30Z') == timestamp('2009-02-14T00:31:30Z')",
    "timestamp('2009-02-13T23:31:30Z') - duration('1s') == timestamp('2009-02-13T23:31:29Z')",
    "timestamp('2009-02-14T00:00:00Z') - timestamp('2009-02-13T00:00:00Z') == duration('24h')",
    "string(timestamp('2009-02-13T23:31:30.120Z')) == '2009-02-13T23:31:30.12Z'",
    "duration('1h') == duration('60m')",
    "duration('1.5s') == duration('1500ms')",
    "duration('-1.5s') < duration('0')",
    "duration('1h2m3s4ms').getHours() == 1",
    "duration('1h2m3s4ms').getMinutes() == 62",
    "duration('1h2m3s4ms').getSeconds() == 3723",
    "duration('1h2m3s4ms').getMilliseconds() == 3723004",
    "duration('1us') == duration('1000ns')",
    "duration('\xc2\xb5s'.replace('\xc2\xb5s', '1us')) == duration('1000ns')",
    "duration('1h') - duration('30m') == duration('30m')",
    "string(duration('1.5ms')) == '0.0015s'",
    "string(duration('-90s')) == '-90s'",
    "int(duration('1us')) == 1000",
    "duration('1m') > duration('59s')",
};

static void times_have_parts_and_move(void **state)
{
    assert_true_rows(*state, rows, NULL);
}

static void what_is_no_time_is_an_error(void **state)
{
    static const struct cel_case errors[] = {
        {"duration(dyn('1x')) == duration('1s')", "time: invalid duration"},
        {"duration(dyn('')) == duration('1s')", "time: invalid duration"},
        {"duration(dyn('99999999h')) == duration('1s')", "time: invalid duration"},
        {"timestamp(dyn('2009-02-30T00:00:00Z')) == timestamp(0)", "parsing time"},
        {"timestamp(dyn('2009-02-13')) == timestamp(0)", "parsing time"},
        {"timestamp(dyn('2009-02-13T24:00:00Z')) == timestamp(0)", "parsing time"},
        {"timestamp(dyn(300000000000)) == timestamp(0)", "timestamp overflow"},
        {"timestamp('9999-12-31T23:59:59Z') + duration('1h') > timestamp(0)", "timestamp overflow"},
        {"timestamp(0).getHours('Mars/Olympus') == 0", "unknown time zone"},
        {"timestamp('9999-12-31T23:59:59Z') - timestamp('0001-01-01T00:00:00Z') > duration('1s')",
         "duration overflow"},
        {"duration('2562047h') + duration('2562047h') > duration('1s')", "duration overflow"},
    };
    assert_error_rows(*state, errors, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(times_have_parts_and_move),
        arena_test(what_is_no_time_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
