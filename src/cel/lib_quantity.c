/*
 * Kubernetes' quantities: "1.5Gi", "200m", "1e3".
 *
 * A quantity is a decimal number of at most 2^63-1 with nine digits behind the
 * point; larger ones are held at that bound and smaller parts round away from zero,
 * as apimachinery does. It is worked out in decimal digits, so no suffix loses
 * precision.
 */
#include <math.h>
#include <string.h>

#include "cel/program_internal.h"

struct vd_cel_quantity {
    bool negative;
    bool capped; /* was larger than can be held: no integer */
    uint64_t whole;
    uint32_t nanos;
};

enum {
    DIGITS_MAX = 120,  /* digits of a quantity that are kept; later ones cannot change its value */
    EXPONENT_MAX = 60, /* a decimal exponent beyond it makes any quantity 0 or too large */
};

/* A decimal number being made: digits, most significant first, `point` of them
 * before the decimal point. */
struct decimal {
    uint8_t digit[DIGITS_MAX + 8];
    size_t n;
    long point;
    bool overflow; /* more digits than fit: certainly capped, or certainly rounded */
};

struct suffix {
    const char *name;
    int ten, two; /* powers */
};

static const struct suffix suffixes[] = {
    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"", 0, 0},    {"k", 3, 0},   {"M", 6, 0},
    {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
    {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

/* e3, E-6: false if the suffix is no exponent. */
static bool exponent_of(struct vd_slice s, int *ten)
{
    bool negative;
    int value = 0;
    if (s.n < 2 || (s.p[0] != 'e' && s.p[0] != 'E'))
        return false;
    s = vd_slice_from(s, 1);
    negative = s.p[0] == '-';
    if (s.p[0] == '-' || s.p[0] == '+')
        s = vd_slice_from(s, 1);
    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        value = value > EXPONENT_MAX ? value : value * 10 + (s.p[i] - '0');
    }
    *ten = negative ? -value : value;
    return true;
}

static void add_digit(struct decimal *d, uint8_t digit)
{
    if (d->n == 0 && digit == 0)
        return; /* leading zeros */
    if (d->n < DIGITS_MAX)
        d->digit[d->n++] = digit;
    else
        d->overflow = d->overflow || digit;
}

/* Times 1024, by hand. */
static void times_1024(struct decimal *d)
{
    uint32_t carry = 0;
    for (size_t i = d->n; i > 0; i--) {
        uint32_t value = d->digit[i - 1] * 1024u + carry;
        d->digit[i - 1] = (uint8_t)(value % 10);
        carry = value / 10;
    }
    while (carry) {
        memmove(d->digit + 1, d->digit, d->n);
        d->digit[0] = (uint8_t)(carry % 10);
        carry /= 10;
        d->point++;
        if (d->n < DIGITS_MAX)
            d->n++;
        else
            d->overflow = d->overflow || d->digit[d->n];
    }
}

static uint8_t digit_at(const struct decimal *d, long at)
{
    return at >= 0 && (size_t)at < d->n ? d->digit[at] : 0;
}

static void to_quantity(const struct decimal *d, struct vd_cel_quantity *q)
{
    uint64_t whole = 0, nanos = 0;
    for (long i = 0; i < d->point; i++) {
        if (whole > (uint64_t)INT64_MAX / 10)
            q->capped = true;
        if (q->capped)
            break;
        whole = whole * 10 + digit_at(d, i);
        if (whole > INT64_MAX)
            q->capped = true;
    }
    for (long i = d->point; i < d->point + 9; i++)
        nanos = nanos * 10 + digit_at(d, i);
    bool rest = d->overflow;
    for (long i = d->point + 9; i < (long)d->n; i++)
        rest = rest || digit_at(d, i);
    nanos += rest;
    if (nanos == 1000000000) {
        nanos = 0;
        whole++;
    }
    q->whole = q->capped ? INT64_MAX : whole;
    q->nanos = q->capped ? 0 : (uint32_t)nanos;
}

/* Digits with a point; the suffix remains in *s. False: no digit. */
static bool take_number(struct vd_slice *s, struct decimal *d)
{
    size_t i = 0, count = 0;
    bool point = false;
    for (; i < s->n; i++) {
        char c = s->p[i];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        count++;
        bool kept = d->n || c != '0';
        add_digit(d, (uint8_t)(c - '0'));
        if (!point)
            d->point += kept;
        else if (!kept)
            d->point--; /* a zero behind the point, before all digits */
    }
    *s = vd_slice_from(*s, i);
    return count > 0;
}

static bool parse(struct vd_slice s, struct vd_cel_quantity *q)
{
    struct decimal d = {.n = 0};
    int ten = 0;
    *q = (struct vd_cel_quantity){.negative = s.n && s.p[0] == '-'};
    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        s = vd_slice_from(s, 1);
    if (s.n == 0 || !take_number(&s, &d))
        return false;
    size_t i = 0;
    while (i < sizeof suffixes / sizeof *suffixes && !vd_slice_is(s, suffixes[i].name))
        i++;
    if (i < sizeof suffixes / sizeof *suffixes) {
        ten = suffixes[i].ten;
        for (int k = 0; k < suffixes[i].two; k += 10)
            times_1024(&d);
    } else if (!exponent_of(s, &ten)) {
        return false;
    }
    if (d.n)
        d.point += ten;
    to_quantity(&d, q);
    if (q->whole == 0 && q->nanos == 0)
        q->negative = false;
    return true;
}

static struct vd_cel_value made(struct vd_cel_run *run, const struct vd_cel_quantity *q)
{
    struct vd_cel_quantity *kept = vd_cel_alloc(run, sizeof *kept);
    if (!kept)
        return vd_cel_no_overload();
    *kept = *q;
    return (struct vd_cel_value){.kind = VD_CEL_QUANTITY, .quantity = kept};
}

static struct vd_cel_value quantity(struct vd_cel_run *run, const struct vd_cel_node *node,
                                    const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    struct vd_cel_quantity q;
    if (a->kind != VD_CEL_STRING)
        return vd_cel_no_overload();
    if (!parse(a->s, &q))
        return vd_cel_error(run, "quantities must match the regular expression "
                                 "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    return made(run, &q);
}

static struct vd_cel_value is_quantity(struct vd_cel_run *run, const struct vd_cel_node *node,
                                       const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)node, (void)n;
    struct vd_cel_quantity q;
    return a->kind == VD_CEL_STRING ? vd_cel_bool(parse(a->s, &q)) : vd_cel_no_overload();
}

static int order_sizes(const struct vd_cel_quantity *a, const struct vd_cel_quantity *b)
{
    if (a->whole != b->whole)
        return a->whole < b->whole ? -1 : 1;
    return (a->nanos > b->nanos) - (a->nanos < b->nanos);
}

static int order(const struct vd_cel_quantity *a, const struct vd_cel_quantity *b)
{
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    return a->negative ? order_sizes(b, a) : order_sizes(a, b);
}

bool vd_cel_quantity_equal(const struct vd_cel_value *a, const struct vd_cel_value *b)
{
    return order(a->quantity, b->quantity) == 0;
}

static bool quantities(const struct vd_cel_value *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i].kind != VD_CEL_QUANTITY)
            return false;
    return true;
}

/* compareTo, isGreaterThan, isLessThan */
static struct vd_cel_value compare(struct vd_cel_run *run, const struct vd_cel_node *node,
                                   const struct vd_cel_value *a, size_t n)
{
    (void)run;
    if (!quantities(a, n))
        return vd_cel_no_overload();
    int result = order(a[0].quantity, a[1].quantity);
    if (node->name.p[0] == 'c')
        return vd_cel_int(result);
    return vd_cel_bool(node->name.p[2] == 'G' ? result > 0 : result < 0);
}

static struct vd_cel_value sign(struct vd_cel_run *run, const struct vd_cel_node *node,
                                const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)node;
    if (!quantities(a, n))
        return vd_cel_no_overload();
    const struct vd_cel_quantity *q = a->quantity;
    return vd_cel_int(q->negative ? -1 : q->whole || q->nanos ? 1 : 0);
}

static bool to_integer(const struct vd_cel_quantity *q, int64_t *out)
{
    if (q->capped || q->nanos || q->whole > INT64_MAX)
        return false;
    *out = q->negative ? -(int64_t)q->whole : (int64_t)q->whole;
    return true;
}

static struct vd_cel_value as_integer(struct vd_cel_run *run, const struct vd_cel_node *node,
                                      const struct vd_cel_value *a, size_t n)
{
    int64_t i = 0;
    if (!quantities(a, n))
        return vd_cel_no_overload();
    bool whole = to_integer(a->quantity, &i);
    if (node->name.p[0] == 'i')
        return vd_cel_bool(whole);
    return whole ? vd_cel_int(i) : vd_cel_error(run, "cannot convert value to integer");
}

static struct vd_cel_value as_float(struct vd_cel_run *run, const struct vd_cel_node *node,
                                    const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)node;
    if (!quantities(a, n))
        return vd_cel_no_overload();
    double d = (double)a->quantity->whole + (double)a->quantity->nanos / 1e9;
    return vd_cel_double(a->quantity->negative ? -d : d);
}

static struct vd_cel_quantity plus(const struct vd_cel_quantity *a, const struct vd_cel_quantity *b)
{
    struct vd_cel_quantity out = *a;
    out.capped = a->capped || b->capped;
    if (a->negative == b->negative) {
        uint64_t nanos = (uint64_t)a->nanos + b->nanos;
        if (__builtin_add_overflow(a->whole, b->whole + (nanos >= 1000000000), &out.whole)) {
            out.whole = UINT64_MAX;
            out.capped = true;
        }
        out.nanos = (uint32_t)(nanos % 1000000000);
        return out;
    }
    const struct vd_cel_quantity *large = order_sizes(a, b) >= 0 ? a : b;
    const struct vd_cel_quantity *small = large == a ? b : a;
    bool borrow = large->nanos < small->nanos;
    out.whole = large->whole - small->whole - borrow;
    out.nanos = large->nanos + (borrow ? 1000000000u : 0) - small->nanos;
    out.negative = large->negative && (out.whole || out.nanos);
    return out;
}

/* add, sub: of a quantity or an integer */
static struct vd_cel_value arithmetic(struct vd_cel_run *run, const struct vd_cel_node *node,
                                      const struct vd_cel_value *a, size_t n)
{
    (void)n;
    struct vd_cel_quantity other;
    if (a[0].kind != VD_CEL_QUANTITY)
        return vd_cel_no_overload();
    if (a[1].kind == VD_CEL_INT)
        other = (struct vd_cel_quantity){
            .negative = a[1].i < 0, .whole = a[1].i < 0 ? 0 - (uint64_t)a[1].i : (uint64_t)a[1].i};
    else if (a[1].kind == VD_CEL_QUANTITY)
        other = *a[1].quantity;
    else
        return vd_cel_no_overload();
    if (node->name.p[0] == 's' && (other.whole || other.nanos))
        other.negative = !other.negative;
    struct vd_cel_quantity out = plus(a[0].quantity, &other);
    return made(run, &out);
}

static const struct vd_cel_function table[] = {
    {"quantity", "s>Q", quantity, VD_CEL_PRICE_SCAN},
    {"isQuantity", "s>b", is_quantity, VD_CEL_PRICE_SCAN},
    {"sign", "Q>i", sign, VD_CEL_PRICE_ONE},
    {"sign", ".Q>i", sign, VD_CEL_PRICE_ONE},
    {"isGreaterThan", ".QQ>b", compare, VD_CEL_PRICE_ONE},
    {"isLessThan", ".QQ>b", compare, VD_CEL_PRICE_ONE},
    {"compareTo", ".QQ>i", compare, VD_CEL_PRICE_ONE},
    {"asApproximateFloat", ".Q>d", as_float, VD_CEL_PRICE_ONE},
    {"asInteger", ".Q>i", as_integer, VD_CEL_PRICE_ONE},
    {"isInteger", ".Q>b", as_integer, VD_CEL_PRICE_ONE},
    {"add", ".QQ>Q", arithmetic, VD_CEL_PRICE_ONE},
    {"add", ".Qi>Q", arithmetic, VD_CEL_PRICE_ONE},
    {"sub", ".QQ>Q", arithmetic, VD_CEL_PRICE_ONE},
    {"sub", ".Qi>Q", arithmetic, VD_CEL_PRICE_ONE},
};

VD_CEL_LIBRARY(vd_cel_lib_quantity, table);
