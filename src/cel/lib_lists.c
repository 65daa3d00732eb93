/* Kubernetes' functions of lists and cel-go's sets. */
#include <string.h>

#include "cel/program_internal.h"

static struct vd_cel_value is_sorted(struct vd_cel_run *run, const struct vd_cel_node *node,
                                     const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    struct vd_cel_iterator it;
    struct vd_cel_value item, before;
    int order;
    bool first = true;
    if (a->kind != VD_CEL_LIST || !vd_cel_iterate(run, &it, a))
        return vd_cel_no_overload();
    for (; vd_cel_next(run, &it, &item, NULL); first = false, before = item) {
        if (first)
            continue;
        if (!vd_cel_compare(&before, &item, &order))
            return vd_cel_no_overload();
        if (order > 0)
            return vd_cel_bool(false);
    }
    return vd_cel_bool(true);
}

static struct vd_cel_value add(struct vd_cel_run *run, const struct vd_cel_value *a,
                               const struct vd_cel_value *b)
{
    struct vd_cel_value out = *a;
    if (a->kind != b->kind)
        return vd_cel_no_overload();
    switch ((enum vd_cel_kind)a->kind) {
    case VD_CEL_INT:
    case VD_CEL_DURATION:
        if (__builtin_add_overflow(a->i, b->i, &out.i))
            return vd_cel_error(run,
                                a->kind == VD_CEL_INT ? "integer overflow" : "duration overflow");
        return out;
    case VD_CEL_UINT:
        if (__builtin_add_overflow(a->u, b->u, &out.u))
            return vd_cel_error(run, "unsigned integer overflow");
        return out;
    case VD_CEL_DOUBLE:
        out.d = a->d + b->d;
        return out;
    default:
        return vd_cel_no_overload();
    }
}

static struct vd_cel_value sum(struct vd_cel_run *run, const struct vd_cel_node *node,
                               const struct vd_cel_value *a, size_t n)
{
    (void)n;
    struct vd_cel_iterator it;
    struct vd_cel_value item, total = {.kind = VD_CEL_INT};
    bool first = true;
    if (a->kind != VD_CEL_LIST || !vd_cel_iterate(run, &it, a))
        return vd_cel_no_overload();
    uint8_t kind = node->type->kind; /* of an empty list, what the checker knows */
    if ((kind >= VD_CEL_INT && kind <= VD_CEL_DOUBLE) || kind == VD_CEL_DURATION)
        total.kind = kind;
    while (vd_cel_next(run, &it, &item, NULL)) {
        total = first ? item : add(run, &total, &item);
        first = false;
        if (total.kind == VD_CEL_ERROR)
            return total;
    }
    return total;
}

/* min, max */
static struct vd_cel_value extreme(struct vd_cel_run *run, const struct vd_cel_node *node,
                                   const struct vd_cel_value *a, size_t n)
{
    (void)n;
    struct vd_cel_iterator it;
    struct vd_cel_value item, best = {.kind = VD_CEL_NULL};
    bool least = vd_slice_is(node->name, "min"), first = true;
    int order;
    if (a->kind != VD_CEL_LIST || !vd_cel_iterate(run, &it, a))
        return vd_cel_no_overload();
    for (; vd_cel_next(run, &it, &item, NULL); first = false) {
        if (first) {
            best = item;
            continue;
        }
        if (!vd_cel_compare(&item, &best, &order))
            return vd_cel_no_overload();
        if (least ? order < 0 : order > 0)
            best = item;
    }
    return first ? vd_cel_error(run, "%s called on empty list", least ? "min" : "max") : best;
}

struct vd_cel_value vd_cel_list_index_of(struct vd_cel_run *run, const struct vd_cel_node *node,
                                         const struct vd_cel_value *a, size_t n)
{
    struct vd_cel_iterator it;
    struct vd_cel_value item;
    int64_t at = 0, found = -1;
    bool last = node->name.p[0] == 'l';
    if (n != 2 || a->kind != VD_CEL_LIST || !vd_cel_iterate(run, &it, a))
        return vd_cel_no_overload();
    for (; vd_cel_next(run, &it, &item, NULL) && (last || found < 0); at++)
        if (vd_cel_equal(run, &item, a + 1))
            found = at;
    return vd_cel_int(found);
}

/* How many items of `a` are in `b`; stops at the first that is not if `all`. */
static bool contained(struct vd_cel_run *run, const struct vd_cel_value *a,
                      const struct vd_cel_value *b, bool all)
{
    struct vd_cel_list x, y;
    if (!vd_cel_flatten(run, a, &x) || !vd_cel_flatten(run, b, &y))
        return false;
    for (size_t i = 0; i < x.n && !run->cancelled; i++) {
        size_t k = 0;
        while (k < y.n && !vd_cel_equal(run, &x.p[i], &y.p[k]))
            k++;
        if ((k < y.n) != all)
            return !all;
    }
    return all;
}

static struct vd_cel_value sets_contains(struct vd_cel_run *run, const struct vd_cel_node *node,
                                         const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    if (a[0].kind != VD_CEL_LIST || a[1].kind != VD_CEL_LIST)
        return vd_cel_no_overload();
    return vd_cel_bool(contained(run, &a[1], &a[0], true));
}

static struct vd_cel_value sets_equivalent(struct vd_cel_run *run, const struct vd_cel_node *node,
                                           const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    if (a[0].kind != VD_CEL_LIST || a[1].kind != VD_CEL_LIST)
        return vd_cel_no_overload();
    return vd_cel_bool(contained(run, &a[1], &a[0], true) && contained(run, &a[0], &a[1], true));
}

static struct vd_cel_value sets_intersects(struct vd_cel_run *run, const struct vd_cel_node *node,
                                           const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    if (a[0].kind != VD_CEL_LIST || a[1].kind != VD_CEL_LIST)
        return vd_cel_no_overload();
    return vd_cel_bool(contained(run, &a[0], &a[1], false));
}

/* A row for each type of item that has an order. */
#define ROW(name, item, result, body)                                                              \
    {                                                                                              \
        name, ".L" item ">" result, body, VD_CEL_PRICE_TRAVERSE                                    \
    }
#define ORDERED(name, body)                                                                        \
    ROW(name, "i", "i", body), ROW(name, "u", "u", body), ROW(name, "d", "d", body),               \
        ROW(name, "b", "b", body), ROW(name, "D", "D", body), ROW(name, "t", "t", body),           \
        ROW(name, "s", "s", body), ROW(name, "y", "y", body)

static const struct vd_cel_function table[] = {
    ROW("isSorted", "i", "b", is_sorted),
    ROW("isSorted", "u", "b", is_sorted),
    ROW("isSorted", "d", "b", is_sorted),
    ROW("isSorted", "b", "b", is_sorted),
    ROW("isSorted", "D", "b", is_sorted),
    ROW("isSorted", "t", "b", is_sorted),
    ROW("isSorted", "s", "b", is_sorted),
    ROW("isSorted", "y", "b", is_sorted),
    ROW("sum", "i", "i", sum),
    ROW("sum", "u", "u", sum),
    ROW("sum", "d", "d", sum),
    ROW("sum", "D", "D", sum),
    ORDERED("min", extreme),
    ORDERED("max", extreme),
    {"indexOf", ".LAA>i", vd_cel_list_index_of, VD_CEL_PRICE_TRAVERSE},
    {"lastIndexOf", ".LAA>i", vd_cel_list_index_of, VD_CEL_PRICE_TRAVERSE},
    {"sets.contains", "LALA>b", sets_contains, VD_CEL_PRICE_SETS},
    {"sets.equivalent", "LALA>b", sets_equivalent, VD_CEL_PRICE_SETS},
    {"sets.intersects", "LALA>b", sets_intersects, VD_CEL_PRICE_SETS},
};

VD_CEL_LIBRARY(vd_cel_lib_lists, table);
