/*
 * Operators and what the language itself has: arithmetic, comparison, membership,
 * size, type. Integers that overflow are errors; doubles follow IEEE 754.
 */
#include <math.h>
#include <string.h>

#include "cel/program_internal.h"

/* seconds of 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z */
static const int64_t time_min = -62135596800, time_max = 253402300799;

static struct vd_cel_value overflow(struct vd_cel_run *run, const char *what)
{
    return vd_cel_error(run, "%s overflow", what);
}

static struct vd_cel_value join_text(struct vd_cel_run *run, const struct vd_cel_value *a,
                                     const struct vd_cel_value *b)
{
    char *p = vd_cel_alloc(run, a->s.n + b->s.n + 1);
    if (!p)
        return vd_cel_no_overload();
    if (a->s.n)
        memcpy(p, a->s.p, a->s.n);
    if (b->s.n)
        memcpy(p + a->s.n, b->s.p, b->s.n);
    struct vd_cel_value out = *a;
    out.s = vd_slice(p, a->s.n + b->s.n);
    return out;
}

/* Sets and lists of type map: items of the right one take the place of their equals. */
static struct vd_cel_value join_unordered(struct vd_cel_run *run, const struct vd_cel_value *a,
                                          const struct vd_cel_value *b)
{
    const struct vd_cel_type *type = a->decl;
    struct vd_cel_list x, y;
    struct vd_cel_value *p = vd_cel_alloc(run, (vd_cel_size(a) + vd_cel_size(b) + 1) * sizeof *p);
    if (!p || !vd_cel_flatten(run, a, &x) || !vd_cel_flatten(run, b, &y))
        return vd_cel_no_overload();
    size_t n = x.n;
    if (n)
        memcpy(p, x.p, n * sizeof *p);
    for (size_t i = 0; i < y.n && !run->cancelled; i++) {
        size_t k = 0;
        while (k < x.n && !vd_cel_same_item(run, type, &p[k], &y.p[i]))
            k++;
        if (k < x.n)
            p[k] = y.p[i];
        else
            p[n++] = y.p[i];
    }
    struct vd_cel_value out = vd_cel_list(run, p, n);
    out.decl = type;
    return out;
}

static struct vd_cel_value join_lists(struct vd_cel_run *run, const struct vd_cel_value *a,
                                      const struct vd_cel_value *b)
{
    if (a->decl && a->decl->list_type != VD_CEL_LIST_ATOMIC)
        return join_unordered(run, a, b);
    struct vd_cel_concat *concat = vd_cel_alloc(run, sizeof *concat);
    if (!concat)
        return vd_cel_no_overload();
    *concat = (struct vd_cel_concat){*a, *b, vd_cel_size(a) + vd_cel_size(b)};
    return (struct vd_cel_value){.kind = VD_CEL_LIST, .form = VD_CEL_CONCAT, .concat = concat};
}

/* A timestamp moved by nanoseconds, if it stays in range. */
static struct vd_cel_value move_time(struct vd_cel_run *run, struct vd_cel_time t, int64_t by)
{
    int64_t seconds = by / 1000000000, nanos = by % 1000000000 + t.nanos;
    if (nanos < 0) {
        nanos += 1000000000;
        seconds--;
    } else if (nanos >= 1000000000) {
        nanos -= 1000000000;
        seconds++;
    }
    t.seconds += seconds;
    t.nanos = (int32_t)nanos;
    if (t.seconds < time_min || t.seconds > time_max)
        return overflow(run, "timestamp");
    return vd_cel_timestamp(t);
}

enum arithmetic { PLUS, MINUS, TIMES };

static bool whole_overflows(enum arithmetic how, int64_t a, int64_t b, int64_t *out)
{
    return how == PLUS    ? __builtin_add_overflow(a, b, out)
           : how == MINUS ? __builtin_sub_overflow(a, b, out)
                          : __builtin_mul_overflow(a, b, out);
}

static bool unsigned_overflows(enum arithmetic how, uint64_t a, uint64_t b, uint64_t *out)
{
    return how == PLUS    ? __builtin_add_overflow(a, b, out)
           : how == MINUS ? __builtin_sub_overflow(a, b, out)
                          : __builtin_mul_overflow(a, b, out);
}

/* Of two numbers of one kind. */
static struct vd_cel_value compute(struct vd_cel_run *run, enum arithmetic how,
                                   const struct vd_cel_value *a, const struct vd_cel_value *b)
{
    int64_t i;
    uint64_t u;
    if (a->kind != b->kind)
        return vd_cel_no_overload();
    switch ((enum vd_cel_kind)a->kind) {
    case VD_CEL_INT:
        return whole_overflows(how, a->i, b->i, &i) ? overflow(run, "integer") : vd_cel_int(i);
    case VD_CEL_UINT:
        return unsigned_overflows(how, a->u, b->u, &u) ? overflow(run, "unsigned integer")
                                                       : vd_cel_uint(u);
    case VD_CEL_DOUBLE:
        return vd_cel_double(how == PLUS ? a->d + b->d : how == MINUS ? a->d - b->d : a->d * b->d);
    case VD_CEL_DURATION:
        if (how == TIMES)
            return vd_cel_no_overload();
        return whole_overflows(how, a->i, b->i, &i) ? overflow(run, "duration")
                                                    : vd_cel_duration(i);
    default:
        return vd_cel_no_overload();
    }
}

static struct vd_cel_value add(struct vd_cel_run *run, const struct vd_cel_node *node,
                               const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    const struct vd_cel_value *b = a + 1;
    if (a->kind == VD_CEL_TIMESTAMP && b->kind == VD_CEL_DURATION)
        return move_time(run, a->time, b->i);
    if (a->kind == VD_CEL_DURATION && b->kind == VD_CEL_TIMESTAMP)
        return move_time(run, b->time, a->i);
    bool same = a->kind == b->kind;
    if (same && (a->kind == VD_CEL_STRING || a->kind == VD_CEL_BYTES))
        return join_text(run, a, b);
    return same && a->kind == VD_CEL_LIST ? join_lists(run, a, b) : compute(run, PLUS, a, b);
}

static struct vd_cel_value between(struct vd_cel_run *run, struct vd_cel_time a,
                                   struct vd_cel_time b)
{
    int64_t nanoseconds;
    if (__builtin_mul_overflow(a.seconds - b.seconds, (int64_t)1000000000, &nanoseconds) ||
        __builtin_add_overflow(nanoseconds, (int64_t)a.nanos - b.nanos, &nanoseconds))
        return overflow(run, "duration");
    return vd_cel_duration(nanoseconds);
}

static struct vd_cel_value subtract(struct vd_cel_run *run, const struct vd_cel_node *node,
                                    const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    const struct vd_cel_value *b = a + 1;
    if (a->kind == VD_CEL_TIMESTAMP && b->kind == VD_CEL_DURATION)
        return b->i == INT64_MIN ? overflow(run, "timestamp") : move_time(run, a->time, -b->i);
    if (a->kind == VD_CEL_TIMESTAMP && b->kind == VD_CEL_TIMESTAMP)
        return between(run, a->time, b->time);
    return compute(run, MINUS, a, b);
}

static struct vd_cel_value multiply(struct vd_cel_run *run, const struct vd_cel_node *node,
                                    const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    return compute(run, TIMES, a, a + 1);
}

/* Division and remainder of integers. */
static struct vd_cel_value divide_whole(struct vd_cel_run *run, const struct vd_cel_value *a,
                                        const struct vd_cel_value *b, bool remainder)
{
    if (a->kind == VD_CEL_UINT) {
        if (b->u == 0)
            return vd_cel_error(run, remainder ? "modulus by zero" : "division by zero");
        return vd_cel_uint(remainder ? a->u % b->u : a->u / b->u);
    }
    if (b->i == 0)
        return vd_cel_error(run, remainder ? "modulus by zero" : "division by zero");
    if (a->i == INT64_MIN && b->i == -1)
        return overflow(run, "integer");
    return vd_cel_int(remainder ? a->i % b->i : a->i / b->i);
}

static struct vd_cel_value divide(struct vd_cel_run *run, const struct vd_cel_node *node,
                                  const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    const struct vd_cel_value *b = a + 1;
    if (a->kind != b->kind)
        return vd_cel_no_overload();
    if (a->kind == VD_CEL_DOUBLE)
        return vd_cel_double(a->d / b->d);
    return a->kind == VD_CEL_INT || a->kind == VD_CEL_UINT ? divide_whole(run, a, b, false)
                                                           : vd_cel_no_overload();
}

static struct vd_cel_value modulo(struct vd_cel_run *run, const struct vd_cel_node *node,
                                  const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    if (a->kind != a[1].kind || (a->kind != VD_CEL_INT && a->kind != VD_CEL_UINT))
        return vd_cel_no_overload();
    return divide_whole(run, a, a + 1, true);
}

static struct vd_cel_value negate(struct vd_cel_run *run, const struct vd_cel_node *node,
                                  const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    if (a->kind == VD_CEL_DOUBLE)
        return vd_cel_double(-a->d);
    if (a->kind != VD_CEL_INT)
        return vd_cel_no_overload();
    return a->i == INT64_MIN ? overflow(run, "integer") : vd_cel_int(-a->i);
}

static struct vd_cel_value not(struct vd_cel_run * run, const struct vd_cel_node *node,
                               const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)node, (void)n;
    return a->kind == VD_CEL_BOOL ? vd_cel_bool(!a->truth) : vd_cel_no_overload();
}

static struct vd_cel_value equals(struct vd_cel_run *run, const struct vd_cel_node *node,
                                  const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    return vd_cel_bool(vd_cel_equal(run, a, a + 1));
}

static struct vd_cel_value differs(struct vd_cel_run *run, const struct vd_cel_node *node,
                                   const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    return vd_cel_bool(!vd_cel_equal(run, a, a + 1));
}

/* One of < <= > >=, by its name "_<_". */
static struct vd_cel_value ordered(struct vd_cel_run *run, const struct vd_cel_node *node,
                                   const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)n;
    int order;
    bool numbers = a->kind >= VD_CEL_INT && a->kind <= VD_CEL_DOUBLE && a[1].kind >= VD_CEL_INT &&
                   a[1].kind <= VD_CEL_DOUBLE;
    if (!vd_cel_compare(a, a + 1, &order))
        return numbers ? vd_cel_bool(false) : vd_cel_no_overload();
    bool less = node->name.p[1] == '<', or_equal = node->name.p[2] == '=';
    return vd_cel_bool(order == 0 ? or_equal : less ? order < 0 : order > 0);
}

static struct vd_cel_value in(struct vd_cel_run *run, const struct vd_cel_node *node,
                              const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    const struct vd_cel_value *range = a + 1;
    struct vd_cel_value item;
    struct vd_cel_iterator it;
    if (range->kind == VD_CEL_MAP || range->kind == VD_CEL_OBJECT)
        return vd_cel_bool(vd_cel_lookup(run, range, a, &item));
    if (range->kind != VD_CEL_LIST || !vd_cel_iterate(run, &it, range))
        return vd_cel_no_overload();
    while (vd_cel_next(run, &it, &item, NULL)) {
        if (vd_cel_equal(run, a, &item))
            return vd_cel_bool(true);
        if (run->cancelled)
            break;
    }
    return vd_cel_bool(false);
}

static struct vd_cel_value size(struct vd_cel_run *run, const struct vd_cel_node *node,
                                const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)node, (void)n;
    if (!vd_cel_is_sized(a) || a->kind == VD_CEL_OBJECT)
        return vd_cel_no_overload();
    return vd_cel_int((int64_t)vd_cel_size(a));
}

static struct vd_cel_value type_of(struct vd_cel_run *run, const struct vd_cel_node *node,
                                   const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)node, (void)n;
    return (struct vd_cel_value){.kind = VD_CEL_TYPE,
                                 .type = vd_cel_type_of((enum vd_cel_kind)a->kind)};
}

static struct vd_cel_value dyn(struct vd_cel_run *run, const struct vd_cel_node *node,
                               const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)node, (void)n;
    return *a;
}

#define ORDER_ROW(name, types)                                                                     \
    {                                                                                              \
        name, types ">b", ordered, VD_CEL_PRICE_ORDER                                              \
    }

#define ORDERED(name)                                                                              \
    ORDER_ROW(name, "bb"), ORDER_ROW(name, "ii"), ORDER_ROW(name, "uu"), ORDER_ROW(name, "dd"),    \
        ORDER_ROW(name, "iu"), ORDER_ROW(name, "id"), ORDER_ROW(name, "ui"),                       \
        ORDER_ROW(name, "ud"), ORDER_ROW(name, "di"), ORDER_ROW(name, "du"),                       \
        ORDER_ROW(name, "tt"), ORDER_ROW(name, "DD"), ORDER_ROW(name, "ss"), ORDER_ROW(name, "yy")

static const struct vd_cel_function table[] = {
    {"_&&_", "bb>b", NULL, VD_CEL_PRICE_ONE},
    {"_||_", "bb>b", NULL, VD_CEL_PRICE_ONE},
    {"_?_:_", "bAA>A", NULL, VD_CEL_PRICE_ONE},
    {"_[_]", "LAi>A", NULL, VD_CEL_PRICE_ONE},
    {"_[_]", "MABA>B", NULL, VD_CEL_PRICE_ONE},
    {"_[_]", "OLAi>OA", NULL, VD_CEL_PRICE_ONE},
    {"_[_]", "OMABA>OB", NULL, VD_CEL_PRICE_ONE},
    {"_[?_]", "LAi>OA", NULL, VD_CEL_PRICE_ONE},
    {"_[?_]", "MABA>OB", NULL, VD_CEL_PRICE_ONE},
    {"_[?_]", "OLAi>OA", NULL, VD_CEL_PRICE_ONE},
    {"_[?_]", "OMABA>OB", NULL, VD_CEL_PRICE_ONE},
    {"_==_", "AA>b", equals, VD_CEL_PRICE_EQUAL},
    {"_!=_", "AA>b", differs, VD_CEL_PRICE_EQUAL},
    {"_+_", "ss>s", add, VD_CEL_PRICE_ADD},
    {"_+_", "yy>y", add, VD_CEL_PRICE_ADD},
    {"_+_", "LALA>LA", add, VD_CEL_PRICE_ADD},
    {"_+_", "ii>i", add, VD_CEL_PRICE_ADD},
    {"_+_", "uu>u", add, VD_CEL_PRICE_ADD},
    {"_+_", "dd>d", add, VD_CEL_PRICE_ADD},
    {"_+_", "DD>D", add, VD_CEL_PRICE_ADD},
    {"_+_", "tD>t", add, VD_CEL_PRICE_ADD},
    {"_+_", "Dt>t", add, VD_CEL_PRICE_ADD},
    {"_-_", "ii>i", subtract, VD_CEL_PRICE_ONE},
    {"_-_", "uu>u", subtract, VD_CEL_PRICE_ONE},
    {"_-_", "dd>d", subtract, VD_CEL_PRICE_ONE},
    {"_-_", "DD>D", subtract, VD_CEL_PRICE_ONE},
    {"_-_", "tt>D", subtract, VD_CEL_PRICE_ONE},
    {"_-_", "tD>t", subtract, VD_CEL_PRICE_ONE},
    {"_*_", "ii>i", multiply, VD_CEL_PRICE_ONE},
    {"_*_", "uu>u", multiply, VD_CEL_PRICE_ONE},
    {"_*_", "dd>d", multiply, VD_CEL_PRICE_ONE},
    {"_/_", "ii>i", divide, VD_CEL_PRICE_ONE},
    {"_/_", "uu>u", divide, VD_CEL_PRICE_ONE},
    {"_/_", "dd>d", divide, VD_CEL_PRICE_ONE},
    {"_%_", "ii>i", modulo, VD_CEL_PRICE_ONE},
    {"_%_", "uu>u", modulo, VD_CEL_PRICE_ONE},
    {"-_", "i>i", negate, VD_CEL_PRICE_ONE},
    {"-_", "d>d", negate, VD_CEL_PRICE_ONE},
    {"!_", "b>b", not, VD_CEL_PRICE_ONE},
    ORDERED("_<_"),
    ORDERED("_<=_"),
    ORDERED("_>_"),
    ORDERED("_>=_"),
    {"@in", "ALA>b", in, VD_CEL_PRICE_IN},
    {"@in", "AMAB>b", in, VD_CEL_PRICE_IN},
    {"size", "s>i", size, VD_CEL_PRICE_ONE},
    {"size", "y>i", size, VD_CEL_PRICE_ONE},
    {"size", "LA>i", size, VD_CEL_PRICE_ONE},
    {"size", "MAB>i", size, VD_CEL_PRICE_ONE},
    {"size", ".s>i", size, VD_CEL_PRICE_ONE},
    {"size", ".y>i", size, VD_CEL_PRICE_ONE},
    {"size", ".LA>i", size, VD_CEL_PRICE_ONE},
    {"size", ".MAB>i", size, VD_CEL_PRICE_ONE},
    {"type", "A>T", type_of, VD_CEL_PRICE_ONE},
    {"dyn", "A>*", dyn, VD_CEL_PRICE_DYN},
};

VD_CEL_LIBRARY(vd_cel_lib_operators, table);
