/*
 * Timestamps and durations: how they are read and written, and their parts.
 *
 * A timestamp is in the years 1 to 9999, a duration is 64 bits of nanoseconds, as in
 * Go. Zones are UTC or a fixed offset ("+02:00", "-8:00"); names from a database of
 * zones are not known.
 */
#include <stdlib.h>
#include <string.h>

#include "cel/program_internal.h"

static const int64_t day_seconds = 86400;

/* Days since 1970-01-01 of a date of the Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t shifted = month <= 2 ? year - 1 : year;
    int64_t era = (shifted >= 0 ? shifted : shifted - 399) / 400;
    int64_t year_of_era = shifted - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

struct date {
    int64_t year, month, day;
};

static struct date date_of(int64_t days)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t of_era = days - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t m = (5 * of_year + 2) / 153;
    struct date d = {year + era * 400, m < 10 ? m + 3 : m - 9, of_year - (153 * m + 2) / 5 + 1};
    d.year += d.month <= 2;
    return d;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* ---- reading ---- */

static bool digits(struct vd_slice s, size_t at, size_t n, int64_t *out)
{
    int64_t value = 0;
    if (at + n > s.n)
        return false;
    for (size_t i = at; i < at + n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        value = value * 10 + (s.p[i] - '0');
    }
    *out = value;
    return true;
}

static bool parse_date(struct vd_slice s, int64_t *days)
{
    static const uint8_t lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t year, month, day;
    if (s.n < 10 || s.p[4] != '-' || s.p[7] != '-' || !digits(s, 0, 4, &year) ||
        !digits(s, 5, 2, &month) || !digits(s, 8, 2, &day) || month < 1 || month > 12 || day < 1)
        return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (day > lengths[month - 1] + (month == 2 && leap ? 1 : 0))
        return false;
    *days = days_of(year, month, day);
    return true;
}

/* Z or +hh:mm behind the time. */
static bool parse_zone(struct vd_slice s, int64_t *seconds)
{
    int64_t hours, minutes;
    *seconds = 0;
    if (s.n == 1)
        return s.p[0] == 'Z' || s.p[0] == 'z';
    if (s.n != 6 || (s.p[0] != '+' && s.p[0] != '-') || s.p[3] != ':' || !digits(s, 1, 2, &hours) ||
        !digits(s, 4, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *seconds = (hours * 60 + minutes) * 60;
    if (s.p[0] == '-')
        *seconds = -*seconds;
    return true;
}

bool vd_cel_time_parse(struct vd_slice s, bool date_only, struct vd_cel_time *out)
{
    int64_t days, hour, minute, second, zone, nanos = 0, unit = 100000000;
    if (!parse_date(s, &days))
        return false;
    if (date_only) {
        *out = (struct vd_cel_time){days * day_seconds, 0};
        return s.n == 10;
    }
    if (s.n < 20 || (s.p[10] != 'T' && s.p[10] != 't') || s.p[13] != ':' || s.p[16] != ':' ||
        !digits(s, 11, 2, &hour) || !digits(s, 14, 2, &minute) || !digits(s, 17, 2, &second) ||
        hour > 23 || minute > 59 || second > 59)
        return false;
    size_t at = 19;
    if (s.p[at] == '.') {
        for (at++; at < s.n && s.p[at] >= '0' && s.p[at] <= '9'; at++, unit /= 10)
            nanos += (s.p[at] - '0') * unit;
        if (at == 20)
            return false;
    }
    if (!parse_zone(vd_slice_from(s, at), &zone))
        return false;
    *out = (struct vd_cel_time){days * day_seconds + hour * 3600 + minute * 60 + second - zone,
                                (int32_t)nanos};
    return out->seconds >= -62135596800 && out->seconds <= 253402300799;
}

static const struct unit {
    const char *name;
    int64_t nanoseconds;
} units[] = {
    {"ns", 1},       {"us", 1000},      {"\xc2\xb5s", 1000}, {"\xce\xbcs", 1000},
    {"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000},  {"h", 3600000000000},
};

static int64_t take_unit(struct vd_slice *s)
{
    size_t n = 0;
    while (n < s->n && s->p[n] != '.' && (s->p[n] < '0' || s->p[n] > '9'))
        n++;
    struct vd_slice name = vd_slice(s->p, n);
    *s = vd_slice_from(*s, n);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (vd_slice_is(name, units[i].name))
            return units[i].nanoseconds;
    return 0;
}

/* One number with its unit, off the front of *s. */
static bool take_part(struct vd_slice *s, int64_t *out)
{
    int64_t whole = 0, fraction = 0, scale = 1, sum;
    size_t i = 0, count = 0;
    for (; i < s->n && s->p[i] >= '0' && s->p[i] <= '9'; i++, count++)
        if (__builtin_mul_overflow(whole, (int64_t)10, &whole) ||
            __builtin_add_overflow(whole, (int64_t)(s->p[i] - '0'), &whole))
            return false;
    if (i < s->n && s->p[i] == '.') {
        for (i++; i < s->n && s->p[i] >= '0' && s->p[i] <= '9'; i++, count++) {
            if (scale < 100000000000000) {
                fraction = fraction * 10 + (s->p[i] - '0');
                scale *= 10;
            }
        }
    }
    *s = vd_slice_from(*s, i);
    int64_t unit = take_unit(s);
    if (count == 0 || unit == 0 || __builtin_mul_overflow(whole, unit, &sum))
        return false;
    int64_t part = (int64_t)((double)fraction * ((double)unit / (double)scale));
    return !__builtin_add_overflow(sum, part, out);
}

bool vd_cel_duration_parse(struct vd_slice s, int64_t *out)
{
    bool negative = s.n && s.p[0] == '-';
    int64_t total = 0, part;
    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        s = vd_slice_from(s, 1);
    if (vd_slice_is(s, "0")) {
        *out = 0;
        return true;
    }
    if (s.n == 0)
        return false;
    while (s.n)
        if (!take_part(&s, &part) || __builtin_add_overflow(total, part, &total))
            return false;
    *out = negative ? -total : total;
    return true;
}

/* The longer units that the format "duration" of schemas knows, without a plural s. */
static int64_t word_unit(struct vd_slice name)
{
    static const struct unit words[] = {
        {"nano", 1},
        {"nanosecond", 1},
        {"micro", 1000},
        {"microsecond", 1000},
        {"milli", 1000000},
        {"millisecond", 1000000},
        {"sec", 1000000000},
        {"second", 1000000000},
        {"min", 60000000000},
        {"minute", 60000000000},
        {"hr", 3600000000000},
        {"hour", 3600000000000},
        {"d", 86400000000000},
        {"day", 86400000000000},
        {"w", 604800000000000},
        {"wk", 604800000000000},
        {"week", 604800000000000},
    };
    struct vd_slice whole = name;
    int64_t unit = take_unit(&whole);
    if (unit)
        return unit;
    if (name.n > 2 && name.p[name.n - 1] == 's')
        name.n--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (vd_slice_is(name, words[i].name))
            return words[i].nanoseconds;
    return 0;
}

static bool is_word(char c)
{
    return c != ' ' && (c < '0' || c > '9');
}

bool vd_cel_duration_words(struct vd_slice s, int64_t *out)
{
    int64_t total = 0;
    size_t at = 0;
    if (vd_cel_duration_parse(s, out))
        return true;
    while (at < s.n) {
        int64_t number = 0, part;
        size_t start = at;
        for (; at < s.n && s.p[at] >= '0' && s.p[at] <= '9'; at++)
            if (__builtin_mul_overflow(number, (int64_t)10, &number) ||
                __builtin_add_overflow(number, (int64_t)(s.p[at] - '0'), &number))
                return false;
        if (at == start)
            return false;
        while (at < s.n && s.p[at] == ' ')
            at++;
        for (start = at; at < s.n && is_word(s.p[at]);)
            at++;
        int64_t unit = word_unit(vd_slice(s.p + start, at - start));
        if (!unit || __builtin_mul_overflow(number, unit, &part) ||
            __builtin_add_overflow(total, part, &total))
            return false;
        while (at < s.n && s.p[at] == ' ')
            at++;
    }
    *out = total;
    return s.n > 0;
}

/* ---- writing ---- */

static void write_fraction(struct vd_buf *out, int64_t nanos)
{
    char text[16];
    if (nanos == 0)
        return;
    int n = snprintf(text, sizeof text, ".%09lld", (long long)nanos);
    while (n > 0 && text[n - 1] == '0')
        n--;
    vd_buf_add(out, text, (size_t)n);
}

void vd_cel_time_write(struct vd_buf *out, struct vd_cel_time t)
{
    int64_t days = floor_div(t.seconds, day_seconds), rest = t.seconds - days * day_seconds;
    struct date d = date_of(days);
    vd_buf_addf(out, "%04lld-%02lld-%02lldT%02lld:%02lld:%02lld", (long long)d.year,
                (long long)d.month, (long long)d.day, (long long)(rest / 3600),
                (long long)(rest / 60 % 60), (long long)(rest % 60));
    write_fraction(out, t.nanos);
    vd_buf_add_char(out, 'Z');
}

/* Seconds, as cel-go writes durations: "3723.004s". */
void vd_cel_duration_write(struct vd_buf *out, int64_t nanoseconds)
{
    uint64_t magnitude = nanoseconds < 0 ? 0 - (uint64_t)nanoseconds : (uint64_t)nanoseconds;
    if (nanoseconds < 0)
        vd_buf_add_char(out, '-');
    vd_buf_add_u64(out, magnitude / 1000000000);
    write_fraction(out, (int64_t)(magnitude % 1000000000));
    vd_buf_add_char(out, 's');
}

/* ---- functions ---- */

static struct vd_cel_value to_duration(struct vd_cel_run *run, const struct vd_cel_node *node,
                                       const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    int64_t nanoseconds;
    if (a->kind == VD_CEL_DURATION)
        return *a;
    if (a->kind == VD_CEL_INT)
        return vd_cel_duration(a->i);
    if (a->kind != VD_CEL_STRING)
        return vd_cel_no_overload();
    if (!vd_cel_duration_parse(a->s, &nanoseconds))
        return vd_cel_error(run, "time: invalid duration \"%.*s\"", VD_FMT(a->s));
    return vd_cel_duration(nanoseconds);
}

static struct vd_cel_value to_timestamp(struct vd_cel_run *run, const struct vd_cel_node *node,
                                        const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    struct vd_cel_time time;
    if (a->kind == VD_CEL_TIMESTAMP)
        return *a;
    if (a->kind == VD_CEL_INT) {
        if (a->i < -62135596800 || a->i > 253402300799)
            return vd_cel_error(run, "timestamp overflow");
        return vd_cel_timestamp((struct vd_cel_time){a->i, 0});
    }
    if (a->kind != VD_CEL_STRING)
        return vd_cel_no_overload();
    if (!vd_cel_time_parse(a->s, false, &time))
        return vd_cel_error(run, "parsing time \"%.*s\" as RFC 3339: invalid", VD_FMT(a->s));
    return vd_cel_timestamp(time);
}

/* "UTC", "+02:00", "-8:00": false for anything else. */
static bool zone_offset(struct vd_slice zone, int64_t *seconds)
{
    *seconds = 0;
    if (zone.n == 0 || vd_slice_is(zone, "UTC") || vd_slice_is(zone, "Z") ||
        vd_slice_is(zone, "GMT"))
        return true;
    bool negative = zone.p[0] == '-';
    struct vd_slice rest = zone.p[0] == '-' || zone.p[0] == '+' ? vd_slice_from(zone, 1) : zone;
    const char *colon = rest.n ? memchr(rest.p, ':', rest.n) : NULL;
    int64_t hours, minutes;
    size_t n = colon ? (size_t)(colon - rest.p) : 0;
    if (!colon || n < 1 || n > 2 || rest.n != n + 3 || !digits(rest, 0, n, &hours) ||
        !digits(rest, n + 1, 2, &minutes))
        return false;
    *seconds = (hours * 60 + minutes) * 60;
    if (negative)
        *seconds = -*seconds;
    return true;
}

/* The part of a timestamp that a method asks for; -1 for an unknown method. */
static int64_t part_of(struct vd_slice method, int64_t seconds, int64_t nanos)
{
    int64_t days = floor_div(seconds, day_seconds), rest = seconds - days * day_seconds;
    struct date d = date_of(days);
    const struct {
        const char *name;
        int64_t value;
    } parts[] = {
        {"getFullYear", d.year},
        {"getMonth", d.month - 1},
        {"getDate", d.day},
        {"getDayOfMonth", d.day - 1},
        {"getDayOfWeek", ((days + 4) % 7 + 7) % 7},
        {"getDayOfYear", days - days_of(d.year, 1, 1)},
        {"getHours", rest / 3600},
        {"getMinutes", rest / 60 % 60},
        {"getSeconds", rest % 60},
        {"getMilliseconds", nanos / 1000000},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (vd_slice_is(method, parts[i].name))
            return parts[i].value;
    return -1;
}

static struct vd_cel_value get_part(struct vd_cel_run *run, const struct vd_cel_node *node,
                                    const struct vd_cel_value *a, size_t n)
{
    int64_t offset = 0;
    if (a->kind == VD_CEL_DURATION) {
        char unit = node->name.p[3]; /* getHours, getMinutes, getSeconds, getMilliseconds */
        bool milli = vd_slice_is(node->name, "getMilliseconds");
        if (n != 1 || !strchr("HMS", unit) || vd_slice_is(node->name, "getMonth"))
            return vd_cel_no_overload();
        return vd_cel_int(milli         ? a->i / 1000000
                          : unit == 'H' ? a->i / 3600000000000
                          : unit == 'M' ? a->i / 60000000000
                                        : a->i / 1000000000);
    }
    if (a->kind != VD_CEL_TIMESTAMP || (n == 2 && a[1].kind != VD_CEL_STRING))
        return vd_cel_no_overload();
    if (n == 2 && !zone_offset(a[1].s, &offset))
        return vd_cel_error(run, "unknown time zone %.*s", VD_FMT(a[1].s));
    return vd_cel_int(part_of(node->name, a->time.seconds + offset, a->time.nanos));
}

#define PART(name)                                                                                 \
    {name, ".t>i", get_part, VD_CEL_PRICE_ONE},                                                    \
    {                                                                                              \
        name, ".ts>i", get_part, VD_CEL_PRICE_ONE                                                  \
    }
#define LONG_PART(name)                                                                            \
    PART(name),                                                                                    \
    {                                                                                              \
        name, ".D>i", get_part, VD_CEL_PRICE_ONE                                                   \
    }

static const struct vd_cel_function table[] = {
    {"duration", "D>D", to_duration, VD_CEL_PRICE_ONE},
    {"duration", "s>D", to_duration, VD_CEL_PRICE_ONE},
    {"duration", "i>D", to_duration, VD_CEL_PRICE_ONE},
    {"timestamp", "t>t", to_timestamp, VD_CEL_PRICE_ONE},
    {"timestamp", "s>t", to_timestamp, VD_CEL_PRICE_ONE},
    {"timestamp", "i>t", to_timestamp, VD_CEL_PRICE_ONE},
    PART("getFullYear"),
    PART("getMonth"),
    PART("getDate"),
    PART("getDayOfMonth"),
    PART("getDayOfWeek"),
    PART("getDayOfYear"),
    LONG_PART("getHours"),
    LONG_PART("getMinutes"),
    LONG_PART("getSeconds"),
    LONG_PART("getMilliseconds"),
};

VD_CEL_LIBRARY(vd_cel_lib_times, table);
