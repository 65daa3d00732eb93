/*
 * The static estimate: the most that an evaluation may cost, from the sizes that
 * the schema allows. The rules are cel-go's and Kubernetes', because a CRD is refused
 * by them: an estimate that differs would take a CRD that Kubernetes does not, or
 * the other way round.
 *
 * Sizes come from literals, from the declared types, and from what calls do to the
 * sizes of their arguments; what is not known is as large as can be.
 */
#include <string.h>

#include "base/alloc.h"
#include "cel/program_internal.h"

struct range {
    uint64_t min, max;
};

/* What is known of a node. */
struct estimate {
    struct range cost;
    struct range size;
    struct range item; /* the size of a list's items or a map's values */
    bool item_known;
};

struct estimator {
    struct estimate *slots;
};

static const struct range unknown = {0, UINT64_MAX};

static struct estimate visit(struct estimator *e, const struct vd_cel_node *node);

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static struct range add(struct range a, struct range b)
{
    return (struct range){plus(a.min, b.min), plus(a.max, b.max)};
}

static struct range multiply(struct range a, struct range b)
{
    return (struct range){times(a.min, b.min), times(a.max, b.max)};
}

static struct range scale(struct range a, double factor)
{
    return (struct range){vd_cel_scale(a.min, factor), vd_cel_scale(a.max, factor)};
}

static struct range fixed(uint64_t n)
{
    return (struct range){n, n};
}

static struct range both(struct range a, struct range b)
{
    return (struct range){a.min < b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
}

static struct range scan(struct range size)
{
    return scale(size, VD_CEL_STRING_FACTOR);
}

static struct range size_of_type(const struct vd_cel_type *t);

/* The size that a kind alone tells. */
static struct range size_of_kind(const struct vd_cel_type *t)
{
    switch ((enum vd_cel_kind)t->kind) {
    case VD_CEL_BOOL:
    case VD_CEL_INT:
    case VD_CEL_UINT:
    case VD_CEL_DOUBLE:
    case VD_CEL_NULL:
    case VD_CEL_TIMESTAMP:
    case VD_CEL_DURATION:
    case VD_CEL_TYPE:
        return fixed(1);
    case VD_CEL_OPTIONAL:
        return size_of_type(t->item);
    default:
        return unknown;
    }
}

/* The size that a type tells. */
static struct range size_of_type(const struct vd_cel_type *t)
{
    return t->declared ? (struct range){0, t->max_elements} : size_of_kind(t);
}

static struct range item_size(const struct estimate *list, const struct vd_cel_type *type)
{
    if (type->item && type->item->declared)
        return size_of_type(type->item);
    return list->item_known ? list->item : type->item ? size_of_type(type->item) : unknown;
}

/* ---- calls ---- */

static struct range equality(const struct vd_cel_node *node, const struct estimate *a)
{
    uint8_t kind = node->args[0]->type->kind;
    if (kind >= VD_CEL_URL && kind <= VD_CEL_FORMAT)
        return fixed(1);
    uint64_t max = a[0].size.max < a[1].size.max ? a[0].size.max : a[1].size.max;
    return scan((struct range){max > 0, max});
}

static bool is_text(const struct vd_cel_type *t)
{
    return t->kind == VD_CEL_STRING || t->kind == VD_CEL_BYTES || t->kind == VD_CEL_DYN;
}

static struct range regex(const struct estimate *a)
{
    return multiply(scan(add(a[0].size, fixed(1))), scale(a[1].size, VD_CEL_REGEX_FACTOR));
}

/* How large replace() can make a text. */
static struct range replaced(const struct estimate *a)
{
    struct range size = a[0].size, what = a[1].size, with = a[2].size;
    struct range count = {0, 0}, kept = {0, 0};
    if (what.min == 0) {
        count.max = plus(size.max, 1);
        kept.max = size.max;
    } else if (with.max <= what.min) {
        kept.max = size.max;
    } else {
        count.max = size.max / what.min + (size.max % what.min > 0);
    }
    if (what.max == 0) {
        count.min = plus(size.min, 1);
        kept.min = size.min;
    } else if (what.max <= with.min) {
        kept.min = size.min;
    } else {
        count.min = size.min / what.max + (size.min % what.max > 0);
    }
    return add(multiply(count, with), kept);
}

static struct range joined(const struct vd_cel_node *node, const struct estimate *a)
{
    struct range list = a[0].size;
    struct range size = multiply(list, item_size(&a[0], node->args[0]->type));
    struct range gaps = {list.min ? list.min - 1 : 0, list.max ? list.max - 1 : 0};
    return node->count > 1 ? add(size, multiply(a[1].size, gaps)) : size;
}

static struct range traversal(const struct vd_cel_node *node, const struct estimate *a)
{
    const struct vd_cel_type *type = node->args[0]->type;
    struct range each = fixed(1);
    if (type->kind != VD_CEL_LIST)
        return scan(a[0].size);
    if (type->item->kind == VD_CEL_STRING || type->item->kind == VD_CEL_BYTES)
        each = add(each, scan(item_size(&a[0], type)));
    return multiply(a[0].size, each);
}

static struct range containment(const struct vd_cel_node *node, const struct estimate *a, bool cidr)
{
    struct range address = {4, 16}, cost = scan(add(address, address));
    if (cidr)
        cost = add(add(cost, scan(address)), fixed(1));
    return node->args[1]->type->kind == VD_CEL_STRING ? add(cost, scan(a[1].size)) : cost;
}

/* split(): a literal limit bounds the parts. */
static uint64_t parts_max(const struct vd_cel_node *node, const struct estimate *a)
{
    if (node->count < 3 || node->args[2]->op != VD_CEL_OP_LITERAL ||
        node->args[2]->literal.kind != VD_CEL_INT || node->args[2]->literal.i < 0)
        return a[0].size.max;
    return (uint64_t)node->args[2]->literal.i;
}

static void price_add(const struct vd_cel_node *node, const struct estimate *a,
                      struct estimate *out)
{
    if (!is_text(node->type) && node->type->kind != VD_CEL_LIST)
        return;
    out->size = add(a[0].size, a[1].size);
    out->cost = node->type->kind == VD_CEL_LIST ? fixed(1) : scan(out->size);
    out->item_known = a[0].item_known && a[1].item_known;
    out->item = both(a[0].item, a[1].item);
}

static void price_convert(const struct vd_cel_node *node, const struct estimate *a,
                          struct estimate *out)
{
    uint8_t from = node->args[0]->type->kind, to = node->type->kind;
    if (from == VD_CEL_STRING && to == VD_CEL_BYTES) {
        out->cost = scan(a[0].size);
        out->size = (struct range){a[0].size.min, times(a[0].size.max, 4)};
    } else if (from == VD_CEL_BYTES && to == VD_CEL_STRING) {
        out->cost = scan(a[0].size);
        out->size = (struct range){a[0].size.min / 4, a[0].size.max};
    } else if (from == to) {
        out->size = a[0].size;
    }
}

/* Functions of libraries that build or take apart texts. */
static void price_library(const struct vd_cel_node *node, const struct estimate *a,
                          struct estimate *out)
{
    switch ((enum vd_cel_price)node->function->price) {
    case VD_CEL_PRICE_SCAN: /* of all these, Kubernetes prices only url() so */
        if (vd_slice_is(node->name, "url"))
            out->cost = scan(a[0].size);
        break;
    case VD_CEL_PRICE_SCAN_KEPT:
        out->cost = scan(a[0].size);
        out->size = a[0].size;
        break;
    case VD_CEL_PRICE_REPLACE:
        out->cost = scale(a[0].size, 2 * VD_CEL_STRING_FACTOR);
        out->size = replaced(a);
        break;
    case VD_CEL_PRICE_SPLIT:
        out->cost = scale(a[0].size, 2 * VD_CEL_STRING_FACTOR);
        out->size = (struct range){0, parts_max(node, a)};
        break;
    case VD_CEL_PRICE_JOIN:
        out->size = joined(node, a);
        out->cost = scan(out->size);
        break;
    case VD_CEL_PRICE_CONTAINS_IP:
    case VD_CEL_PRICE_CONTAINS_CIDR:
        out->cost = containment(node, a, node->function->price == VD_CEL_PRICE_CONTAINS_CIDR);
        break;
    case VD_CEL_PRICE_VALIDATE:
        out->cost = scale(scan(a[1].size), 128 * VD_CEL_REGEX_FACTOR);
        break;
    case VD_CEL_PRICE_FORMAT:
        out->cost = add(fixed(1), scan(a[0].size));
        break;
    case VD_CEL_PRICE_SETS:
        out->cost = add(fixed(1), multiply(a[0].size, a[1].size));
        break;
    default:
        break;
    }
}

/* The cost of the call itself, and the size of its result where it is known. */
static void price(const struct vd_cel_node *node, const struct estimate *a, struct estimate *out)
{
    out->cost = fixed(1);
    switch ((enum vd_cel_price)node->function->price) {
    case VD_CEL_PRICE_EQUAL:
        out->cost = equality(node, a);
        break;
    case VD_CEL_PRICE_ORDER:
        if (is_text(node->args[0]->type) && is_text(node->args[1]->type))
            out->cost = equality(node, a);
        break;
    case VD_CEL_PRICE_ADD:
        price_add(node, a, out);
        break;
    case VD_CEL_PRICE_IN:
        if (node->args[1]->type->kind != VD_CEL_MAP)
            out->cost = a[1].size;
        break;
    case VD_CEL_PRICE_PREFIX:
        out->cost = scan(a[1].size);
        break;
    case VD_CEL_PRICE_CONVERT:
        price_convert(node, a, out);
        break;
    case VD_CEL_PRICE_MATCHES:
        out->cost = regex(a);
        break;
    case VD_CEL_PRICE_FIND:
        out->cost = regex(a);
        out->size = (struct range){0, a[0].size.max};
        break;
    case VD_CEL_PRICE_CONTAINS:
        out->cost = multiply(scan(a[0].size), scan(a[1].size));
        break;
    case VD_CEL_PRICE_TRAVERSE:
        out->cost = traversal(node, a);
        break;
    case VD_CEL_PRICE_DYN:
        out->size = a[0].size;
        out->item = a[0].item;
        out->item_known = a[0].item_known;
        break;
    default:
        price_library(node, a, out);
    }
}

enum { ARGS_MAX = 8 }; /* arguments of a call; no function of the libraries has more */

static struct estimate visit_call(struct estimator *e, const struct vd_cel_node *node)
{
    struct estimate a[ARGS_MAX] = {0}, out = {.size = size_of_type(node->type)};
    struct range sum = fixed(0);
    for (uint32_t i = 0; i < node->count && i < ARGS_MAX; i++) {
        a[i] = visit(e, node->args[i]);
        sum = add(sum, a[i].cost);
    }
    price(node, a, &out);
    out.cost = add(out.cost, sum);
    return out;
}

/* ---- the other nodes ---- */

static struct estimate visit_literal(const struct vd_cel_node *node)
{
    struct estimate out = {.size = fixed(1)};
    const struct vd_cel_value *v = &node->literal;
    if (vd_cel_is_sized(v))
        out.size = fixed(vd_cel_size(v));
    if (node->function) /* a conversion that was folded */
        out.cost = fixed(1);
    return out;
}

/* Literals of lists and maps, constant or not. */
static struct estimate visit_entries(struct estimator *e, const struct vd_cel_node *node)
{
    bool map = node->type->kind == VD_CEL_MAP;
    uint32_t stride = map ? 2 : 1;
    struct estimate out = {.cost = fixed(map ? 30 : 10),
                           .size = fixed(node->count / stride),
                           .item_known = true,
                           .item = {node->count ? UINT64_MAX : 0, 0}};
    for (uint32_t i = 0; i < node->count; i++) {
        struct estimate entry = visit(e, node->args[i]);
        out.cost = add(out.cost, entry.cost);
        if (i % stride == stride - 1)
            out.item = both(out.item, entry.size);
    }
    return out;
}

static struct estimate visit_ident(struct estimator *e, const struct vd_cel_node *node)
{
    struct estimate out = {.size = size_of_type(node->type)};
    if (node->slot < VD_CEL_SLOT_OLD_SELF && !node->type->declared)
        out = e->slots[node->slot];
    out.cost = fixed(1);
    return out;
}

static struct estimate visit_select(struct estimator *e, const struct vd_cel_node *node)
{
    struct estimate target = visit(e, node->args[0]), out = {.size = size_of_type(node->type)};
    uint8_t kind = node->args[0]->type->kind;
    bool counts = kind == VD_CEL_MAP || kind == VD_CEL_OBJECT || kind == VD_CEL_OPTIONAL;
    if (kind == VD_CEL_MAP) /* m.key, unlike m['key'], is not followed into the schema */
        out.size = target.item_known && !node->type->declared ? target.item
                                                              : size_of_kind(node->type);
    out.cost = node->op == VD_CEL_OP_HAS ? target.cost : add(target.cost, fixed(counts));
    return out;
}

static struct estimate visit_index(struct estimator *e, const struct vd_cel_node *node)
{
    struct estimate target = visit(e, node->args[0]), by = visit(e, node->args[1]);
    struct estimate out = {.size = size_of_type(node->type)};
    if (target.item_known && !node->type->declared)
        out.size = target.item;
    out.cost = add(add(target.cost, by.cost), fixed(1));
    return out;
}

static struct estimate visit_logic(struct estimator *e, const struct vd_cel_node *node)
{
    struct estimate a = visit(e, node->args[0]), b = visit(e, node->args[1]);
    return (struct estimate){.size = fixed(1), .cost = {a.cost.min, plus(a.cost.max, b.cost.max)}};
}

static struct estimate visit_ternary(struct estimator *e, const struct vd_cel_node *node)
{
    struct estimate condition = visit(e, node->args[0]);
    struct estimate a = visit(e, node->args[1]), b = visit(e, node->args[2]);
    return (struct estimate){.cost = add(condition.cost, both(a.cost, b.cost)),
                             .size = both(a.size, b.size),
                             .item = both(a.item, b.item),
                             .item_known = a.item_known && b.item_known};
}

/* What one iteration costs in the spec's expansion of the macro. */
static struct range turn_cost(const struct vd_cel_node *node, const struct estimate *body,
                              const struct estimate *last)
{
    struct range made = add(fixed(12), last->cost);
    switch ((enum vd_cel_fold)node->fold) {
    case VD_CEL_FOLD_ALL:
        return add(fixed(3), body->cost);
    case VD_CEL_FOLD_EXISTS:
        return add(fixed(4), body->cost);
    case VD_CEL_FOLD_ONE:
        return add((struct range){1, 2}, body->cost);
    case VD_CEL_FOLD_FILTER:
        return add((struct range){1, 13}, body->cost);
    case VD_CEL_FOLD_MAP:
    case VD_CEL_FOLD_TRANSFORM_MAP:
        break;
    }
    return node->count > 2 ? add(body->cost, both(fixed(1), made)) : made;
}

static struct estimate visit_fold(struct estimator *e, const struct vd_cel_node *node)
{
    struct estimate range = visit(e, node->args[0]);
    const struct vd_cel_type *type = node->args[0]->type;
    struct range item = item_size(&range, type);
    bool keys = type->kind == VD_CEL_MAP && !node->name2.p;
    e->slots[node->slot] = (struct estimate){
        .size = node->name2.p && type->kind == VD_CEL_LIST ? fixed(1)
                : keys || node->name2.p                    ? size_of_type(node->var_type)
                                                           : item};
    if (node->name2.p)
        e->slots[node->slot2] = (struct estimate){.size = item};
    struct estimate body = visit(e, node->args[1]);
    struct estimate last = node->count > 2 ? visit(e, node->args[2]) : body;
    struct estimate out = {.size = size_of_type(node->type)};
    out.cost = add(range.cost, multiply(range.size, turn_cost(node, &body, &last)));
    out.cost = add(out.cost, fixed(node->fold == VD_CEL_FOLD_ONE ? 2 : 1));
    if (node->fold >= VD_CEL_FOLD_FILTER) {
        out.cost = add(out.cost, fixed(10));
        out.size = range.size;
        out.item = node->fold == VD_CEL_FOLD_FILTER ? e->slots[node->slot].size : last.size;
        out.item_known = true;
    }
    return out;
}

static struct estimate visit_opt(struct estimator *e, const struct vd_cel_node *node)
{
    struct estimate target = visit(e, node->args[0]), out = {.size = unknown};
    e->slots[node->slot] = (struct estimate){.size = target.size};
    struct estimate body = visit(e, node->args[1]);
    out.size = body.size;
    out.cost = add(add(target.cost, target.cost), add(body.cost, fixed(15)));
    return out;
}

static struct estimate visit(struct estimator *e, const struct vd_cel_node *node)
{
    switch ((enum vd_cel_op)node->op) {
    case VD_CEL_OP_LITERAL:
        return node->flags & VD_CEL_CONSTANT ? visit_entries(e, node) : visit_literal(node);
    case VD_CEL_OP_IDENT:
        return visit_ident(e, node);
    case VD_CEL_OP_SELECT:
    case VD_CEL_OP_HAS:
        return visit_select(e, node);
    case VD_CEL_OP_CALL:
        return visit_call(e, node);
    case VD_CEL_OP_INDEX:
        return visit_index(e, node);
    case VD_CEL_OP_AND:
    case VD_CEL_OP_OR:
        return visit_logic(e, node);
    case VD_CEL_OP_TERNARY:
        return visit_ternary(e, node);
    case VD_CEL_OP_LIST:
    case VD_CEL_OP_MAP:
        return visit_entries(e, node);
    case VD_CEL_OP_FOLD:
        return visit_fold(e, node);
    case VD_CEL_OP_OPT:
        break;
    }
    return visit_opt(e, node);
}

uint64_t vd_cel_estimate(const struct vd_cel_program *program)
{
    struct estimator e = {vd_calloc(program->slot_count + 1, sizeof *e.slots)};
    struct estimate whole = visit(&e, program->root);
    free(e.slots);
    return whole.cost.max;
}
