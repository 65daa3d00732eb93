/* See time_format.h. */
#include "kinds/time_format.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The number of exactly `n` digits at `at`, or -1. */
static int digits_at(struct vd_slice s, size_t at, size_t n)
{
    int value = 0;
    if (at + n > s.n)
        return -1;
    for (size_t i = at; i < at + n; i++) {
        if (!is_digit(s.p[i]))
            return -1;
        value = value * 10 + (s.p[i] - '0');
    }
    return value;
}

bool vd_time_is_date(struct vd_slice s)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (s.n != 10 || s.p[4] != '-' || s.p[7] != '-')
        return false;
    int year = digits_at(s, 0, 4), month = digits_at(s, 5, 2), day = digits_at(s, 8, 2);
    if (year < 0 || month < 1 || month > 12 || day < 1)
        return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= days[month - 1] + (month == 2 && leap ? 1 : 0);
}

/* 'Z' or +hh:mm. */
static bool is_zone(struct vd_slice s)
{
    if (s.n == 1)
        return s.p[0] == 'Z' || s.p[0] == 'z';
    return s.n == 6 && (s.p[0] == '+' || s.p[0] == '-') && s.p[3] == ':' &&
           digits_at(s, 1, 2) >= 0 && digits_at(s, 1, 2) < 24 && digits_at(s, 4, 2) >= 0 &&
           digits_at(s, 4, 2) < 60;
}

bool vd_time_is_date_time(struct vd_slice s)
{
    if (s.n < 20 || (s.p[10] != 'T' && s.p[10] != 't') || s.p[13] != ':' || s.p[16] != ':')
        return false;
    int hour = digits_at(s, 11, 2), minute = digits_at(s, 14, 2), second = digits_at(s, 17, 2);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
        return false;
    size_t at = 19;
    if (s.p[at] == '.') {
        size_t digits = 0;
        for (at++; at < s.n && is_digit(s.p[at]); at++)
            digits++;
        if (digits == 0)
            return false;
    }
    return is_zone(vd_slice_from(s, at)) && vd_time_is_date(vd_slice(s.p, 10));
}

static bool is_unit(struct vd_slice unit, bool words)
{
    static const char *const short_units[] = {"ns", "us", "\xc2\xb5s", "\xce\xbcs",
                                              "ms", "s",  "m",         "h"};
    static const char *const long_units[] = {
        "nano", "nanosecond", "micro", "microsecond", "milli", "millisecond",
        "sec",  "second",     "min",   "minute",      "hr",    "hour",
        "d",    "day",        "w",     "wk",          "week",
    };
    for (size_t i = 0; i < sizeof short_units / sizeof *short_units; i++)
        if (vd_slice_is(unit, short_units[i]))
            return true;
    if (!words)
        return false;
    if (unit.n > 2 && unit.p[unit.n - 1] == 's')
        unit.n--;
    for (size_t i = 0; i < sizeof long_units / sizeof *long_units; i++)
        if (vd_slice_is(unit, long_units[i]))
            return true;
    return false;
}

static bool is_unit_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
}

/* Pairs of a number and a unit; with `words`, blanks may stand between and the
 * longer units count. */
static bool is_sequence(struct vd_slice s, bool words)
{
    size_t at = 0, pairs = 0;
    while (at < s.n) {
        size_t digits = 0, start;
        for (; at < s.n && (is_digit(s.p[at]) || (s.p[at] == '.' && !words)); at++)
            digits += is_digit(s.p[at]) ? 1 : 0;
        while (words && at < s.n && s.p[at] == ' ')
            at++;
        for (start = at; at < s.n && is_unit_byte(s.p[at]);)
            at++;
        if (digits == 0 || !is_unit(vd_slice(s.p + start, at - start), words))
            return false;
        while (words && at < s.n && s.p[at] == ' ')
            at++;
        pairs++;
    }
    return pairs > 0;
}

bool vd_time_is_duration(struct vd_slice s)
{
    struct vd_slice plain = s;
    if (plain.n && (plain.p[0] == '-' || plain.p[0] == '+'))
        plain = vd_slice_from(plain, 1);
    return vd_slice_is(plain, "0") || is_sequence(plain, false) || is_sequence(s, true);
}
