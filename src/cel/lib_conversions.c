/* int(), uint(), double(), string(), bytes(), bool(); those of times are in lib_times.c. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cel/program_internal.h"
#include "json/number.h"

static struct vd_cel_value range_error(struct vd_cel_run *run, const char *type)
{
    return vd_cel_error(run, "%s out of range", type);
}

/* A decimal number with an optional sign; false: it is none or does not fit. */
static bool parse_i64(struct vd_slice s, int64_t *out)
{
    bool negative = s.n && s.p[0] == '-';
    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        s = vd_slice_from(s, 1);
    uint64_t value = 0;
    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || value > (UINT64_MAX - 9) / 10)
            return false;
        value = value * 10 + (uint64_t)(s.p[i] - '0');
    }
    if (value > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return false;
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

static bool parse_u64(struct vd_slice s, uint64_t *out)
{
    uint64_t value = 0;
    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        uint64_t digit = (uint64_t)(s.p[i] - '0');
        if (s.p[i] < '0' || s.p[i] > '9' || value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

/* What strconv.ParseFloat takes, without hexadecimal and underscores. */
static bool parse_double(struct vd_slice s, double *out)
{
    char text[400], *end;
    if (s.n == 0 || s.n >= sizeof text || (s.p[0] > 0 && s.p[0] <= ' '))
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    if (strlen(text) != s.n || strpbrk(text, "xXpP_("))
        return false;
    *out = strtod(text, &end);
    bool named = strpbrk(text, "iInN") != NULL;
    return *end == 0 && end != text && (named || !isinf(*out));
}

static struct vd_cel_value to_int(struct vd_cel_run *run, const struct vd_cel_node *node,
                                  const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    int64_t i;
    switch ((enum vd_cel_kind)a->kind) {
    case VD_CEL_INT:
        return *a;
    case VD_CEL_UINT:
        return a->u > INT64_MAX ? range_error(run, "integer") : vd_cel_int((int64_t)a->u);
    case VD_CEL_DOUBLE:
        if (!(a->d > -9223372036854775808.0 && a->d < 9223372036854775808.0))
            return range_error(run, "integer");
        return vd_cel_int((int64_t)a->d);
    case VD_CEL_STRING:
        if (parse_i64(a->s, &i))
            return vd_cel_int(i);
        return vd_cel_error(run, "strconv.ParseInt: parsing \"%.*s\": invalid syntax",
                            VD_FMT(a->s));
    case VD_CEL_TIMESTAMP:
        return vd_cel_int(a->time.seconds);
    case VD_CEL_DURATION:
        return vd_cel_int(a->i);
    default:
        return vd_cel_no_overload();
    }
}

static struct vd_cel_value to_uint(struct vd_cel_run *run, const struct vd_cel_node *node,
                                   const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    uint64_t u;
    switch ((enum vd_cel_kind)a->kind) {
    case VD_CEL_UINT:
        return *a;
    case VD_CEL_INT:
        return a->i < 0 ? range_error(run, "unsigned integer") : vd_cel_uint((uint64_t)a->i);
    case VD_CEL_DOUBLE:
        if (!(a->d > -1 && a->d < 18446744073709551616.0))
            return range_error(run, "unsigned integer");
        return vd_cel_uint((uint64_t)a->d);
    case VD_CEL_STRING:
        if (parse_u64(a->s, &u))
            return vd_cel_uint(u);
        return vd_cel_error(run, "strconv.ParseUint: parsing \"%.*s\": invalid syntax",
                            VD_FMT(a->s));
    default:
        return vd_cel_no_overload();
    }
}

static struct vd_cel_value to_double(struct vd_cel_run *run, const struct vd_cel_node *node,
                                     const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    double d;
    switch ((enum vd_cel_kind)a->kind) {
    case VD_CEL_DOUBLE:
        return *a;
    case VD_CEL_INT:
        return vd_cel_double((double)a->i);
    case VD_CEL_UINT:
        return vd_cel_double((double)a->u);
    case VD_CEL_STRING:
        if (parse_double(a->s, &d))
            return vd_cel_double(d);
        return vd_cel_error(run, "strconv.ParseFloat: parsing \"%.*s\": invalid syntax",
                            VD_FMT(a->s));
    default:
        return vd_cel_no_overload();
    }
}

/* The fewest digits that read back as the value, as "d.ddde+xx". */
static void shortest(double value, char out[40])
{
    for (int precision = 0; precision <= 17; precision++) {
        snprintf(out, 40, "%.*e", precision, value);
        if (strtod(out, NULL) == value)
            return;
    }
}

void vd_cel_double_write(struct vd_buf *out, double value)
{
    char text[40];
    if (isnan(value) || isinf(value)) {
        vd_buf_add_text(out, isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
        return;
    }
    shortest(value, text);
    char *e = strchr(text, 'e');
    int exponent = (int)strtol(e + 1, NULL, 10);
    if (exponent < -4 || exponent >= 6) { /* as Go's %g */
        vd_buf_add(out, text, (size_t)(e - text));
        vd_buf_addf(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
        return;
    }
    int digits = (int)(e - text) - (value < 0) - 1 - (strchr(text, '.') != NULL);
    vd_buf_addf(out, "%.*f", digits > exponent ? digits - exponent : 0, value);
}

bool vd_cel_to_text(struct vd_buf *out, const struct vd_cel_value *v)
{
    switch ((enum vd_cel_kind)v->kind) {
    case VD_CEL_STRING:
        vd_buf_add_slice(out, v->s);
        return true;
    case VD_CEL_BOOL:
        vd_buf_add_text(out, v->truth ? "true" : "false");
        return true;
    case VD_CEL_INT:
        vd_buf_addf(out, "%lld", (long long)v->i);
        return true;
    case VD_CEL_UINT:
        vd_buf_addf(out, "%llu", (unsigned long long)v->u);
        return true;
    case VD_CEL_DOUBLE:
        vd_cel_double_write(out, v->d);
        return true;
    case VD_CEL_TIMESTAMP:
        vd_cel_time_write(out, v->time);
        return true;
    case VD_CEL_DURATION:
        vd_cel_duration_write(out, v->i);
        return true;
    case VD_CEL_IP:
    case VD_CEL_CIDR:
        vd_cel_address_write(out, v);
        return true;
    default:
        return false;
    }
}

struct vd_cel_value vd_cel_take_text(struct vd_cel_run *run, struct vd_buf *text)
{
    char *p = vd_cel_alloc(run, text->n + 1);
    struct vd_cel_value v = vd_cel_no_overload();
    if (p) {
        memcpy(p, vd_buf_text(text), text->n);
        v = vd_cel_string(vd_slice(p, text->n));
    }
    vd_buf_release(text);
    return v;
}

static struct vd_cel_value to_string(struct vd_cel_run *run, const struct vd_cel_node *node,
                                     const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    struct vd_buf text = {0};
    if (a->kind == VD_CEL_STRING)
        return *a;
    if (a->kind == VD_CEL_BYTES)
        return vd_utf8_is_valid(a->s) ? vd_cel_string(a->s)
                                      : vd_cel_error(run, "invalid UTF-8 in bytes, cannot "
                                                          "convert to string");
    if (!vd_cel_to_text(&text, a))
        return vd_cel_no_overload();
    return vd_cel_take_text(run, &text);
}

static struct vd_cel_value to_bytes(struct vd_cel_run *run, const struct vd_cel_node *node,
                                    const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)node, (void)n;
    if (a->kind != VD_CEL_STRING && a->kind != VD_CEL_BYTES)
        return vd_cel_no_overload();
    return vd_cel_bytes(a->s);
}

static struct vd_cel_value to_bool(struct vd_cel_run *run, const struct vd_cel_node *node,
                                   const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    static const char *const truths[] = {"1", "t", "T", "true", "TRUE", "True"};
    static const char *const lies[] = {"0", "f", "F", "false", "FALSE", "False"};
    if (a->kind == VD_CEL_BOOL)
        return *a;
    if (a->kind != VD_CEL_STRING)
        return vd_cel_no_overload();
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        if (vd_slice_is(a->s, truths[i]))
            return vd_cel_bool(true);
        if (vd_slice_is(a->s, lies[i]))
            return vd_cel_bool(false);
    }
    return vd_cel_error(run, "strconv.ParseBool: parsing \"%.*s\": invalid syntax", VD_FMT(a->s));
}

static const struct vd_cel_function table[] = {
    {"int", "i>i", to_int, VD_CEL_PRICE_ONE},
    {"int", "u>i", to_int, VD_CEL_PRICE_ONE},
    {"int", "d>i", to_int, VD_CEL_PRICE_ONE},
    {"int", "s>i", to_int, VD_CEL_PRICE_ONE},
    {"int", "t>i", to_int, VD_CEL_PRICE_ONE},
    {"int", "D>i", to_int, VD_CEL_PRICE_ONE},
    {"uint", "u>u", to_uint, VD_CEL_PRICE_ONE},
    {"uint", "i>u", to_uint, VD_CEL_PRICE_ONE},
    {"uint", "d>u", to_uint, VD_CEL_PRICE_ONE},
    {"uint", "s>u", to_uint, VD_CEL_PRICE_ONE},
    {"double", "d>d", to_double, VD_CEL_PRICE_ONE},
    {"double", "i>d", to_double, VD_CEL_PRICE_ONE},
    {"double", "u>d", to_double, VD_CEL_PRICE_ONE},
    {"double", "s>d", to_double, VD_CEL_PRICE_ONE},
    {"string", "s>s", to_string, VD_CEL_PRICE_CONVERT},
    {"string", "y>s", to_string, VD_CEL_PRICE_CONVERT},
    {"string", "b>s", to_string, VD_CEL_PRICE_CONVERT},
    {"string", "i>s", to_string, VD_CEL_PRICE_CONVERT},
    {"string", "u>s", to_string, VD_CEL_PRICE_CONVERT},
    {"string", "d>s", to_string, VD_CEL_PRICE_CONVERT},
    {"string", "t>s", to_string, VD_CEL_PRICE_CONVERT},
    {"string", "D>s", to_string, VD_CEL_PRICE_CONVERT},
    {"string", "I>s", to_string, VD_CEL_PRICE_CONVERT},
    {"string", "C>s", to_string, VD_CEL_PRICE_CONVERT},
    {"bytes", "y>y", to_bytes, VD_CEL_PRICE_CONVERT},
    {"bytes", "s>y", to_bytes, VD_CEL_PRICE_CONVERT},
    {"bool", "b>b", to_bool, VD_CEL_PRICE_ONE},
    {"bool", "s>b", to_bool, VD_CEL_PRICE_ONE},
};

VD_CEL_LIBRARY(vd_cel_lib_conversions, table);
