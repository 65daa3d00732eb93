/*
 * See human_time.h. The calendar is counted in days since 1970-03-01 of a
 * 400-year cycle, with the leap day at the end of its year; that makes dates
 * arithmetic without tables and without the time zone of the process.
 */
#include "base/human_time.h"

#include <stdio.h>

enum {
    SECOND = 1000,       /* milliseconds of a second */
    DAY_S = 86400,       /* seconds of a day */
    CYCLE_DAYS = 146097, /* days of 400 years, after which the calendar repeats */
};

static struct vd_slice one_unit(char *out, int64_t value, char unit)
{
    int n = snprintf(out, VD_HUMAN_DURATION_MAX, "%lld%c", (long long)value, unit);
    return vd_slice(out, (size_t)n);
}

/* Writes two units, such as "5m10s", or only the first when there are none of the second. */
static struct vd_slice two_units(char *out, int64_t value, char unit, int64_t rest, char rest_unit)
{
    if (rest == 0)
        return one_unit(out, value, unit);
    int n = snprintf(out, VD_HUMAN_DURATION_MAX, "%lld%c%lld%c", (long long)value, unit,
                     (long long)rest, rest_unit);
    return vd_slice(out, (size_t)n);
}

struct vd_slice vd_human_duration(int64_t ms, char out[VD_HUMAN_DURATION_MAX])
{
    int64_t seconds = ms / SECOND, minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
    if (seconds < -1)
        return VD_SLICE("<invalid>");
    if (seconds < 0)
        return VD_SLICE("0s");
    if (seconds < 120)
        return one_unit(out, seconds, 's');
    if (minutes < 10)
        return two_units(out, minutes, 'm', seconds % 60, 's');
    if (minutes < 180)
        return one_unit(out, minutes, 'm');
    if (hours < 8)
        return two_units(out, hours, 'h', minutes % 60, 'm');
    if (hours < 48)
        return one_unit(out, hours, 'h');
    if (days < 8)
        return two_units(out, days, 'd', hours % 24, 'h');
    if (days < INT64_C(2) * 365)
        return one_unit(out, days, 'd');
    if (days < INT64_C(8) * 365)
        return two_units(out, days / 365, 'y', days % 365, 'd');
    return one_unit(out, days / 365, 'y');
}

struct vd_slice vd_human_age(struct vd_slice timestamp, int64_t now_ms,
                             char out[VD_HUMAN_DURATION_MAX])
{
    int64_t ms;
    if (timestamp.n == 0)
        return VD_SLICE("<unknown>");
    if (!vd_rfc3339_parse(timestamp, &ms))
        return VD_SLICE("<invalid>");
    return vd_human_duration(now_ms - ms, out);
}

/* --- RFC 3339 --- */

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t days_of_month(int64_t year, int64_t month)
{
    static const int64_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days from 1970-01-01; the year is not negative. */
static int64_t days_of_date(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t cycle = (year < 0 ? year - 399 : year) / 400, in_cycle = year - cycle * 400;
    int64_t in_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t days = in_cycle * 365 + in_cycle / 4 - in_cycle / 100 + in_year;
    return cycle * CYCLE_DAYS + days - 719468; /* of 0000-03-01 before 1970-01-01 */
}

/* `n` digits at the front of *rest and, behind them, `end` unless it is 0. */
static bool take_digits(struct vd_slice *rest, size_t n, char end, int64_t *out)
{
    *out = 0;
    if (rest->n < n + (end != 0))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (rest->p[i] < '0' || rest->p[i] > '9')
            return false;
        *out = *out * 10 + (rest->p[i] - '0');
    }
    if (end && rest->p[n] != end)
        return false;
    *rest = vd_slice_from(*rest, n + (end != 0));
    return true;
}

/* ".042" or ",042"; none is fine. */
static bool take_fraction(struct vd_slice *rest, int64_t *ms)
{
    *ms = 0;
    if (!rest->n || (rest->p[0] != '.' && rest->p[0] != ','))
        return true;
    size_t n = 1;
    for (int64_t unit = 100; n < rest->n && rest->p[n] >= '0' && rest->p[n] <= '9'; n++, unit /= 10)
        *ms += (rest->p[n] - '0') * unit;
    *rest = vd_slice_from(*rest, n);
    return n > 1;
}

/* "Z" or "+hh:mm", and nothing behind it. */
static bool take_offset(struct vd_slice rest, int64_t *seconds)
{
    int64_t hours, minutes;
    *seconds = 0;
    if (vd_slice_is(rest, "Z"))
        return true;
    if (rest.n != 6 || (rest.p[0] != '+' && rest.p[0] != '-'))
        return false;
    bool west = rest.p[0] == '-';
    rest = vd_slice_from(rest, 1);
    if (!take_digits(&rest, 2, ':', &hours) || !take_digits(&rest, 2, 0, &minutes) || hours > 23 ||
        minutes > 59)
        return false;
    *seconds = (hours * 60 + minutes) * 60 * (west ? -1 : 1);
    return true;
}

bool vd_rfc3339_parse(struct vd_slice text, int64_t *ms)
{
    int64_t year, month, day, hour, minute, second, fraction, offset;
    if (!take_digits(&text, 4, '-', &year) || !take_digits(&text, 2, '-', &month) ||
        !take_digits(&text, 2, 'T', &day) || !take_digits(&text, 2, ':', &hour) ||
        !take_digits(&text, 2, ':', &minute) || !take_digits(&text, 2, 0, &second) ||
        !take_fraction(&text, &fraction) || !take_offset(text, &offset))
        return false;
    if (month < 1 || month > 12 || day < 1 || day > days_of_month(year, month) || hour > 23 ||
        minute > 59 || second > 59)
        return false;
    int64_t seconds = days_of_date(year, month, day) * DAY_S + (hour * 60 + minute) * 60 + second;
    *ms = (seconds - offset) * SECOND + fraction;
    return true;
}

/* Writes so many digits and a separator, and gives the place behind them. It does not use printf,
 * which is slow, because every write of an object formats a time. */
static char *add_digits(char *at, int64_t value, size_t n, char separator)
{
    for (size_t i = n; i > 0; i--, value /= 10)
        at[i - 1] = (char)('0' + value % 10);
    at[n] = separator;
    return at + n + 1;
}

static struct vd_slice format(int64_t ms, bool micro, char *out)
{
    int64_t seconds = ms / SECOND - (ms % SECOND < 0), fraction = ms - seconds * SECOND;
    int64_t days = seconds / DAY_S - (seconds % DAY_S < 0), in_day = seconds - days * DAY_S;
    int64_t shifted = days + 719468, cycle = shifted / CYCLE_DAYS - (shifted % CYCLE_DAYS < 0);
    int64_t of_cycle = shifted - cycle * CYCLE_DAYS;
    int64_t year = (of_cycle - of_cycle / 1460 + of_cycle / 36524 - of_cycle / 146096) / 365;
    int64_t of_year = of_cycle - (365 * year + year / 4 - year / 100);
    int64_t shifted_month = (5 * of_year + 2) / 153;
    int64_t day = of_year - (153 * shifted_month + 2) / 5 + 1;
    int64_t month = shifted_month + (shifted_month < 10 ? 3 : -9);
    year += cycle * 400 + (month <= 2);
    if (year < 0 || year > 9999)
        return VD_SLICE("");
    char *at = add_digits(out, year, 4, '-');
    at = add_digits(at, month, 2, '-');
    at = add_digits(at, day, 2, 'T');
    at = add_digits(at, in_day / 3600, 2, ':');
    at = add_digits(at, in_day / 60 % 60, 2, ':');
    at = add_digits(at, in_day % 60, 2, micro ? '.' : 'Z');
    if (micro)
        at = add_digits(at, fraction * 1000, 6, 'Z');
    *at = 0;
    return vd_slice(out, (size_t)(at - out));
}

struct vd_slice vd_rfc3339_format(int64_t ms, char out[VD_RFC3339_MAX])
{
    return format(ms, false, out);
}

struct vd_slice vd_rfc3339_format_micro(int64_t ms, char out[VD_RFC3339_MAX])
{
    return format(ms, true, out);
}
