/*
 * See number.h. A text is looked at as a decimal in scientific form:
 *
 *     -120.50e3  is  -1.205 * 10^5: digits 1 2 0 5, weight 5
 *
 * that is, the digits from the first to the last one that is not zero, and the
 * power of ten of the first. Two numbers are equal exactly if sign, weight and
 * digits are, however many zeros and whatever exponent they are written with.
 */
#include "json/number.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "json/stable_hash.h"

/* Larger exponents are not evaluated. No document has so many digits that they could make up for
 * one, and sums of exponents below it do not overflow. */
#define EXPONENT_MAX INT64_C(1000000000000000)

struct decimal {
    const char *first; /* the first digit that is not 0; NULL: the value is 0 */
    const char *end;   /* past the last such digit; '.' may lie between */
    int64_t weight;    /* power of ten of the first digit */
    bool negative;
    bool huge; /* the exponent was not evaluated; weight means nothing */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Past the digits from `at`; NULL if there is none. */
static const char *skip_digits(const char *at, const char *end)
{
    const char *from = at;
    while (at < end && is_digit(*at))
        at++;
    return at > from ? at : NULL;
}

bool vd_number_is_valid(struct vd_slice text)
{
    const char *at = text.p, *end = text.p + text.n;
    if (at < end && *at == '-')
        at++;
    const char *digits = at;
    if (!(at = skip_digits(at, end)))
        return false;
    if (*digits == '0' && at - digits > 1)
        return false;
    if (at < end && *at == '.' && !(at = skip_digits(at + 1, end)))
        return false;
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        if (!(at = skip_digits(at, end)))
            return false;
    }
    return at == end;
}

/* The exponent behind 'e'; false if it is not worth evaluating. */
static bool read_exponent(const char *at, const char *end, int64_t *out)
{
    bool negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    int64_t value = 0;
    for (; at < end; at++) {
        value = value * 10 + (*at - '0');
        if (value > EXPONENT_MAX)
            return false;
    }
    *out = negative ? -value : value;
    return true;
}

static struct decimal decimal_of(struct vd_slice text)
{
    struct decimal d = {.negative = text.n && text.p[0] == '-'};
    const char *end = text.p + text.n, *point = NULL, *at = text.p + d.negative;
    for (; at < end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.') {
            point = at;
        } else if (*at != '0') {
            if (!d.first)
                d.first = at;
            d.end = at + 1;
        }
    }
    if (!d.first)
        return d;
    const char *unit = point ? point : at; /* the digit before it weighs 1 */
    d.weight = d.first < unit ? unit - d.first - 1 : unit - d.first;
    int64_t exponent = 0;
    d.huge = at < end && !read_exponent(at + 1, end, &exponent);
    d.weight += exponent;
    return d;
}

enum vd_number_class vd_number_classify(struct vd_slice text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '.' || text.p[i] == 'e' || text.p[i] == 'E')
            return VD_NUMBER_DOUBLE;
    }
    int64_t i64;
    uint64_t u64;
    if (vd_number_to_i64(text, &i64))
        return VD_NUMBER_I64;
    return vd_number_to_u64(text, &u64) ? VD_NUMBER_U64 : VD_NUMBER_DOUBLE;
}

/* |value|, if it is an integer that fits. */
static bool decimal_magnitude(const struct decimal *d, uint64_t *out)
{
    uint64_t value = 0;
    if (!d->first) {
        *out = 0;
        return true;
    }
    if (d->huge || d->weight < 0 || d->weight > 19)
        return false;
    int64_t left = d->weight + 1; /* digits up to the unit */
    for (const char *at = d->first; at < d->end; at++) {
        if (*at == '.')
            continue;
        if (left-- == 0 || __builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
            return false;
    }
    for (; left > 0; left--) {
        if (__builtin_mul_overflow(value, (uint64_t)10, &value))
            return false;
    }
    *out = value;
    return true;
}

bool vd_number_to_u64(struct vd_slice text, uint64_t *out)
{
    struct decimal d = decimal_of(text);
    uint64_t magnitude;
    if (!decimal_magnitude(&d, &magnitude) || (d.negative && magnitude))
        return false;
    *out = magnitude;
    return true;
}

bool vd_number_to_i64(struct vd_slice text, int64_t *out)
{
    struct decimal d = decimal_of(text);
    uint64_t magnitude;
    if (!decimal_magnitude(&d, &magnitude) || magnitude > (uint64_t)INT64_MAX + d.negative)
        return false;
    *out = d.negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

bool vd_number_to_double(struct vd_slice text, double *out)
{
    char small[64], *copy = small;
    if (text.n >= sizeof small)
        copy = vd_malloc(text.n + 1);
    memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    /* The program never leaves the C locale, so the point is '.'. */
    double value = strtod(copy, NULL);
    if (copy != small)
        free(copy);
    if (!isfinite(value))
        return false;
    *out = value;
    return true;
}

/* Writes digits[0].digits[1..] * 10^exponent as ECMAScript and Go do: plain
 * from 1e-6 up to 1e21, scientific beyond. */
static size_t lay_out(char *out, const char *digits, int count, int exponent)
{
    int n = 0;
    if (exponent < -6 || exponent >= 21)
        return (size_t)snprintf(out, 28, "%c%s%.*se%+d", digits[0], count > 1 ? "." : "", count - 1,
                                digits + 1, exponent);
    for (int place = exponent < 0 ? 0 : exponent; place >= 0 || place > exponent - count; place--) {
        if (place == -1)
            out[n++] = '.';
        int i = exponent - place;
        out[n++] = i >= 0 && i < count ? digits[i] : '0';
    }
    return (size_t)n;
}

size_t vd_number_format(double value, char out[VD_NUMBER_TEXT_MAX])
{
    assert(isfinite(value));
    size_t sign = signbit(value) != 0;
    out[0] = '-';
    value = fabs(value);
    char text[32] = "";
    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, value);
        if (strtod(text, NULL) == value)
            break;
    }
    char digits[20] = "";
    int count = 0;
    const char *at = text;
    for (; *at != 'e'; at++) {
        if (*at != '.')
            digits[count++] = *at;
    }
    return sign + lay_out(out + sign, digits, count, (int)strtol(at + 1, NULL, 10));
}

bool vd_number_eq(struct vd_slice a, struct vd_slice b)
{
    if (vd_slice_eq(a, b))
        return true;
    struct decimal x = decimal_of(a), y = decimal_of(b);
    if (!x.first || !y.first)
        return !x.first && !y.first;
    if (x.huge || y.huge || x.negative != y.negative || x.weight != y.weight)
        return false;
    const char *p = x.first, *q = y.first;
    while (p < x.end && q < y.end) {
        if (*p == '.')
            p++;
        if (*q == '.')
            q++;
        if (*p++ != *q++)
            return false;
    }
    return p == x.end && q == y.end;
}

uint64_t vd_number_hash(struct vd_slice text)
{
    struct decimal d = decimal_of(text);
    if (!d.first)
        return vd_stable_hash_mix(0, 0);
    if (d.huge)
        return vd_stable_hash_bytes(1, text);
    uint64_t state = vd_stable_hash_mix(2 + (uint64_t)d.negative, (uint64_t)d.weight);
    for (const char *at = d.first; at < d.end; at++) {
        if (*at != '.')
            state = vd_stable_hash_mix(state, (uint64_t)(*at - '0'));
    }
    return state;
}
