/*
 * What a call costs at run time, in the units of cel-go: one is about an operation
 * on a scalar, a tenth is a character that is passed. The figures are part of the
 * contract: they decide which rules run to their end.
 */
#include <math.h>

#include "cel/program_internal.h"

uint64_t vd_cel_scale(uint64_t x, double factor)
{
    double scaled = ceil((double)x * factor);
    return scaled >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)scaled;
}

static uint64_t scan(const struct vd_cel_value *v)
{
    return vd_cel_scale(vd_cel_size(v), VD_CEL_STRING_FACTOR);
}

static uint64_t product(uint64_t a, uint64_t b)
{
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static bool is_text(const struct vd_cel_value *v)
{
    return v->kind == VD_CEL_STRING || v->kind == VD_CEL_BYTES;
}

static uint64_t regex_price(const struct vd_cel_value *text, const struct vd_cel_value *regex)
{
    return product(vd_cel_scale(vd_cel_size(text) + 1, VD_CEL_STRING_FACTOR),
                   vd_cel_scale(vd_cel_size(regex), VD_CEL_REGEX_FACTOR));
}

static uint64_t shorter(const struct vd_cel_value *a, const struct vd_cel_value *b)
{
    uint64_t x = vd_cel_size(a), y = vd_cel_size(b);
    return vd_cel_scale(x < y ? x : y, VD_CEL_STRING_FACTOR);
}

/* All that the value holds, passed once. */
static uint64_t traversal(const struct vd_cel_value *v)
{
    if (is_text(v))
        return (uint64_t)((double)v->s.n * VD_CEL_STRING_FACTOR);
    if (v->kind != VD_CEL_LIST)
        return 1;
    if (v->form == VD_CEL_CONCAT)
        return traversal(&v->concat->left) + traversal(&v->concat->right);
    uint64_t sum = 0;
    if (v->form == VD_CEL_JSON) {
        VD_JSON_EACH (item, v->json)
            sum += vd_json_is(item, VD_JSON_STRING) ? vd_json_text(item).n / 10 : 1;
        return sum;
    }
    for (size_t i = 0; i < v->list->n; i++)
        sum += traversal(&v->list->p[i]);
    return sum;
}

static uint64_t contains_price(const struct vd_cel_value *args, bool cidr)
{
    uint64_t size = vd_cel_size(&args[0]);
    uint64_t price = vd_cel_scale(size + size, VD_CEL_STRING_FACTOR);
    if (cidr)
        price += scan(&args[0]) + 1;
    return is_text(&args[1]) ? price + scan(&args[1]) : price;
}

/* The length that Kubernetes takes for the regular expression of a named format. */
static uint64_t format_regex_size(const struct vd_cel_value *format)
{
    static const struct {
        const char *name;
        uint64_t size;
    } sizes[] = {
        {"dns1123Label", 30}, {"dns1123LabelPrefix", 30},
        {"dns1035Label", 30}, {"dns1035LabelPrefix", 30},
        {"labelValue", 40},   {"uuid", 75},
        {"byte", 95},         {"date", 130},
        {"datetime", 130},    {"uri", 1100},
    };
    for (size_t i = 0; format->kind == VD_CEL_FORMAT && i < sizeof sizes / sizeof *sizes; i++)
        if (vd_slice_is(vd_slice_of(format->format), sizes[i].name))
            return sizes[i].size;
    return 60;
}

uint64_t vd_cel_call_price(const struct vd_cel_node *node, const struct vd_cel_value *args,
                           size_t n, const struct vd_cel_value *result)
{
    (void)n;
    switch ((enum vd_cel_price)node->function->price) {
    case VD_CEL_PRICE_EQUAL:
        return args[0].kind >= VD_CEL_URL && args[0].kind <= VD_CEL_FORMAT
                   ? 1
                   : shorter(args, args + 1);
    case VD_CEL_PRICE_ORDER:
        return is_text(&args[0]) ? shorter(args, args + 1) : 1;
    case VD_CEL_PRICE_ADD:
        return is_text(&args[0]) ? vd_cel_scale(vd_cel_size(&args[0]) + vd_cel_size(&args[1]),
                                                VD_CEL_STRING_FACTOR)
                                 : 1;
    case VD_CEL_PRICE_IN:
        return args[1].kind == VD_CEL_LIST ? vd_cel_size(&args[1]) : 1;
    case VD_CEL_PRICE_PREFIX:
    case VD_CEL_PRICE_SCAN:
    case VD_CEL_PRICE_SCAN_KEPT:
        return scan(&args[0]);
    case VD_CEL_PRICE_CONVERT:
        return is_text(&args[0]) && is_text(result) && args[0].kind != result->kind ? scan(&args[0])
                                                                                    : 1;
    case VD_CEL_PRICE_MATCHES:
    case VD_CEL_PRICE_FIND:
        return regex_price(&args[0], &args[1]);
    case VD_CEL_PRICE_CONTAINS:
        return product(scan(&args[0]), scan(&args[1]));
    case VD_CEL_PRICE_TRAVERSE:
        return traversal(&args[0]);
    case VD_CEL_PRICE_REPLACE:
    case VD_CEL_PRICE_SPLIT:
    case VD_CEL_PRICE_CANONICAL:
        return vd_cel_scale(vd_cel_size(&args[0]), 2 * VD_CEL_STRING_FACTOR);
    case VD_CEL_PRICE_JOIN:
        return vd_cel_scale(vd_cel_size(result), 2 * VD_CEL_STRING_FACTOR);
    case VD_CEL_PRICE_CONTAINS_IP:
        return contains_price(args, false);
    case VD_CEL_PRICE_CONTAINS_CIDR:
        return contains_price(args, true);
    case VD_CEL_PRICE_VALIDATE:
        return product(vd_cel_scale(vd_cel_size(&args[1]) + 1, VD_CEL_STRING_FACTOR),
                       vd_cel_scale(format_regex_size(&args[0]), VD_CEL_REGEX_FACTOR));
    case VD_CEL_PRICE_FORMAT:
        return 1 + scan(&args[0]);
    case VD_CEL_PRICE_SETS:
        return 1 + product(vd_cel_size(&args[0]), vd_cel_size(&args[1]));
    case VD_CEL_PRICE_ONE:
    case VD_CEL_PRICE_DYN:
        break;
    }
    return 1;
}
