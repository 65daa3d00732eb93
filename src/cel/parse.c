/*
 * The parser: recursive descent over the grammar of the cel-spec, with the macros
 * (has, all, exists, exists_one, map, filter, the two-variable ones, optMap) turned
 * into nodes of their own, so that no later pass meets the loops that the spec
 * expands them to.
 *
 * The place of a node is where cel-go puts it: the operator of an operation, the
 * '(' of a call, the '.' of a selection. It stops at the first syntax error.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cel/lex.h"
#include "cel/program_internal.h"

struct parser {
    struct vd_arena *arena;
    struct vd_cel_issues *issues;
    struct vd_cel_lexer lexer;
    struct vd_cel_token token; /* the next one */
    uint32_t depth;
    bool failed;
};

struct node_list {
    VD_VEC(struct vd_cel_node *) nodes;
    VD_VEC(bool) optional;
};

static struct vd_cel_node *parse_expression(struct parser *p);

static const char expected_expression[] =
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, "
    "STRING, BYTES, IDENTIFIER}";

static void next(struct parser *p)
{
    p->token = vd_cel_lex(&p->lexer);
    if (p->token.kind == VD_CEL_TOKEN_BAD && !p->failed) {
        vd_cel_issue(p->issues, p->token.at, "Syntax error: token recognition error at: '%.*s'",
                     VD_FMT(p->token.text));
        p->failed = true;
    }
}

static struct vd_cel_node *unexpected(struct parser *p, const char *expected)
{
    if (!p->failed)
        vd_cel_issue(p->issues, p->token.at, "Syntax error: mismatched input '%.*s' expecting %s",
                     VD_FMT(p->token.text), expected);
    p->failed = true;
    return NULL;
}

static struct vd_cel_node *complain(struct parser *p, uint32_t at, const char *what)
{
    if (!p->failed)
        vd_cel_issue(p->issues, at, "%s", what);
    p->failed = true;
    return NULL;
}

static bool is(const struct parser *p, const char *punctuation)
{
    return p->token.kind == VD_CEL_TOKEN_PUNCTUATION && vd_slice_is(p->token.text, punctuation);
}

static bool accept(struct parser *p, const char *punctuation)
{
    if (!is(p, punctuation))
        return false;
    next(p);
    return true;
}

static bool expect(struct parser *p, const char *punctuation)
{
    if (accept(p, punctuation))
        return true;
    char quoted[8];
    snprintf(quoted, sizeof quoted, "'%s'", punctuation);
    unexpected(p, quoted);
    return false;
}

static struct vd_cel_node *node_new(struct parser *p, enum vd_cel_op op, uint32_t at,
                                    uint32_t count)
{
    struct vd_cel_node *node = vd_arena_alloc(p->arena, sizeof *node);
    memset(node, 0, sizeof *node);
    node->op = (uint8_t)op;
    node->at = at;
    node->count = count;
    node->args = vd_arena_alloc(p->arena, (count + 1) * sizeof *node->args);
    return node;
}

static struct vd_cel_node *call(struct parser *p, const char *function, uint32_t at,
                                struct vd_cel_node *a, struct vd_cel_node *b)
{
    struct vd_cel_node *node = node_new(p, VD_CEL_OP_CALL, at, b ? 2 : 1);
    node->name = vd_slice_of(function);
    node->args[0] = a;
    if (b)
        node->args[1] = b;
    return node;
}

static void list_release(struct node_list *list)
{
    VD_VEC_RELEASE(&list->nodes);
    VD_VEC_RELEASE(&list->optional);
}

/* ---- literals ---- */

static struct vd_cel_node *literal(struct parser *p, uint32_t at, struct vd_cel_value value)
{
    struct vd_cel_node *node = node_new(p, VD_CEL_OP_LITERAL, at, 0);
    node->literal = value;
    return node;
}

/* The magnitude of an integer literal; false if it does not fit. */
static bool magnitude(struct vd_slice text, uint64_t *out)
{
    uint64_t value = 0;
    bool hex = text.n > 2 && text.p[1] == 'x';
    uint64_t base = hex ? 16 : 10;
    for (size_t i = hex ? 2 : 0; i < text.n; i++) {
        char c = text.p[i];
        uint64_t digit = (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
        if (value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    *out = value;
    return true;
}

static struct vd_cel_node *parse_number(struct parser *p, bool negative, uint32_t at)
{
    struct vd_cel_token t = p->token;
    uint64_t value = 0;
    if (t.kind == VD_CEL_TOKEN_DOUBLE) {
        struct vd_slice text = vd_arena_copy(p->arena, t.text);
        double d = strtod(text.p, NULL);
        if (isinf(d))
            return complain(p, at, "invalid double literal");
        next(p);
        return literal(p, at, vd_cel_double(negative ? -d : d));
    }
    bool fits = magnitude(t.text, &value);
    if (t.kind == VD_CEL_TOKEN_UINT) {
        if (!fits || negative)
            return complain(p, at, "invalid uint literal");
        next(p);
        return literal(p, at, vd_cel_uint(value));
    }
    if (!fits || value > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return complain(p, at, "invalid int literal");
    next(p);
    return literal(p, at, vd_cel_int(negative ? (int64_t)(0 - value) : (int64_t)value));
}

static struct vd_cel_node *parse_string(struct parser *p)
{
    struct vd_cel_token t = p->token;
    if (t.why)
        return complain(p, t.at, t.why);
    next(p);
    return literal(p, t.at,
                   t.kind == VD_CEL_TOKEN_BYTES ? vd_cel_bytes(t.value) : vd_cel_string(t.value));
}

/* ---- lists, maps and arguments ---- */

/* Expressions up to `close`, which is passed; '?' may stand before one if `optional`. */
static bool parse_list(struct parser *p, const char *close, bool optional, struct node_list *out)
{
    while (!is(p, close)) {
        *VD_VEC_PUSH(&out->optional) = optional && accept(p, "?");
        struct vd_cel_node *item = parse_expression(p);
        if (!item)
            return false;
        *VD_VEC_PUSH(&out->nodes) = item;
        if (!accept(p, ","))
            break;
    }
    return expect(p, close);
}

static struct vd_cel_node *of_list(struct parser *p, enum vd_cel_op op, uint32_t at,
                                   const struct node_list *list)
{
    struct vd_cel_node *node = node_new(p, op, at, (uint32_t)list->nodes.n);
    for (size_t i = 0; i < list->nodes.n; i++) {
        node->args[i] = list->nodes.p[i];
        if (i < list->optional.n && list->optional.p[i])
            node->args[i]->flags |= VD_CEL_OPT_ENTRY;
    }
    return node;
}

static struct vd_cel_node *parse_list_literal(struct parser *p)
{
    struct node_list items = {0};
    struct vd_cel_node *node = NULL;
    uint32_t at = p->token.at;
    next(p);
    if (parse_list(p, "]", true, &items))
        node = of_list(p, VD_CEL_OP_LIST, at, &items);
    list_release(&items);
    return node;
}

static bool parse_entries(struct parser *p, struct node_list *out)
{
    while (!is(p, "}")) {
        *VD_VEC_PUSH(&out->optional) = accept(p, "?");
        *VD_VEC_PUSH(&out->optional) = false;
        struct vd_cel_node *key = parse_expression(p);
        if (!key || !expect(p, ":"))
            return false;
        struct vd_cel_node *value = parse_expression(p);
        if (!value)
            return false;
        *VD_VEC_PUSH(&out->nodes) = key;
        *VD_VEC_PUSH(&out->nodes) = value;
        if (!accept(p, ","))
            break;
    }
    return expect(p, "}");
}

static struct vd_cel_node *parse_map_literal(struct parser *p)
{
    struct node_list entries = {0};
    struct vd_cel_node *node = NULL;
    uint32_t at = p->token.at;
    next(p);
    if (parse_entries(p, &entries))
        node = of_list(p, VD_CEL_OP_MAP, at, &entries);
    list_release(&entries);
    return node;
}

/* ---- macros ---- */

static const struct macro {
    const char *name;
    uint8_t fold;
    uint8_t args[2];      /* how many it may have, variables included */
    uint8_t variables[2]; /* of them, how many are variables */
} macros[] = {
    {"all", VD_CEL_FOLD_ALL, {2, 3}, {1, 2}},
    {"exists", VD_CEL_FOLD_EXISTS, {2, 3}, {1, 2}},
    {"exists_one", VD_CEL_FOLD_ONE, {2, 0}, {1, 0}},
    {"existsOne", VD_CEL_FOLD_ONE, {2, 3}, {1, 2}},
    {"filter", VD_CEL_FOLD_FILTER, {2, 0}, {1, 0}},
    {"map", VD_CEL_FOLD_MAP, {2, 3}, {1, 1}},
    {"transformList", VD_CEL_FOLD_MAP, {3, 4}, {2, 2}},
    {"transformMap", VD_CEL_FOLD_TRANSFORM_MAP, {3, 4}, {2, 2}},
};

static bool take_variable(struct parser *p, const struct vd_cel_node *arg, struct vd_slice *out)
{
    if (arg->op != VD_CEL_OP_IDENT) {
        complain(p, arg->at, "argument must be a simple name");
        return false;
    }
    *out = arg->name;
    return true;
}

static struct vd_cel_node *fold(struct parser *p, const struct macro *macro, size_t variables,
                                uint32_t at, struct vd_cel_node *range,
                                const struct node_list *args)
{
    uint32_t rest = (uint32_t)(args->nodes.n - variables);
    struct vd_cel_node *node = node_new(p, VD_CEL_OP_FOLD, at, rest + 1);
    node->fold = macro->fold;
    node->args[0] = range;
    if (!take_variable(p, args->nodes.p[0], &node->name) ||
        (variables == 2 && !take_variable(p, args->nodes.p[1], &node->name2)))
        return NULL;
    for (uint32_t i = 0; i < rest; i++)
        node->args[i + 1] = args->nodes.p[variables + i];
    return node;
}

static struct vd_cel_node *opt_map(struct parser *p, bool flat, uint32_t at,
                                   struct vd_cel_node *target, const struct node_list *args)
{
    struct vd_cel_node *node = node_new(p, VD_CEL_OP_OPT, at, 2);
    node->flags = flat ? VD_CEL_FLAT : 0;
    node->args[0] = target;
    node->args[1] = args->nodes.p[1];
    return take_variable(p, args->nodes.p[0], &node->name) ? node : NULL;
}

/* x.name(args): the macro it is, or a call. */
static struct vd_cel_node *member_call(struct parser *p, struct vd_slice name, uint32_t at,
                                       struct vd_cel_node *target, const struct node_list *args)
{
    for (size_t i = 0; i < sizeof macros / sizeof *macros; i++) {
        if (!vd_slice_is(name, macros[i].name))
            continue;
        for (size_t k = 0; k < 2; k++)
            if (macros[i].args[k] && args->nodes.n == macros[i].args[k])
                return fold(p, &macros[i], macros[i].variables[k], at, target, args);
    }
    bool flat = vd_slice_is(name, "optFlatMap");
    if ((flat || vd_slice_is(name, "optMap")) && args->nodes.n == 2)
        return opt_map(p, flat, at, target, args);
    struct vd_cel_node *node = node_new(p, VD_CEL_OP_CALL, at, (uint32_t)args->nodes.n + 1);
    node->name = name;
    node->flags = VD_CEL_MEMBER;
    node->args[0] = target;
    for (size_t i = 0; i < args->nodes.n; i++)
        node->args[i + 1] = args->nodes.p[i];
    return node;
}

static struct vd_cel_node *global_call(struct parser *p, struct vd_slice name, uint32_t at,
                                       const struct node_list *args)
{
    if (vd_slice_is(name, "has") && args->nodes.n == 1) {
        struct vd_cel_node *field = args->nodes.p[0];
        if (field->op != VD_CEL_OP_SELECT || (field->flags & VD_CEL_OPT_ENTRY))
            return complain(p, field->at, "invalid argument to has() macro");
        field->op = VD_CEL_OP_HAS;
        field->at = at;
        return field;
    }
    struct vd_cel_node *node = of_list(p, VD_CEL_OP_CALL, at, args);
    node->name = name;
    return node;
}

/* ---- the grammar ---- */

static struct vd_cel_node *ident(struct parser *p, struct vd_slice name, uint32_t at)
{
    struct vd_cel_node *node = node_new(p, VD_CEL_OP_IDENT, at, 0);
    node->name = vd_arena_copy(p->arena, name);
    return node;
}

static bool is_reserved(struct vd_slice name)
{
    static const char *const words[] = {
        "as",  "break", "const",   "continue",  "else",   "for", "function", "if",    "import",
        "let", "loop",  "package", "namespace", "return", "var", "void",     "while",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (vd_slice_is(name, words[i]))
            return true;
    return false;
}

static struct vd_cel_node *parse_ident(struct parser *p)
{
    struct vd_cel_token t = p->token;
    next(p);
    if (vd_slice_is(t.text, "true") || vd_slice_is(t.text, "false"))
        return literal(p, t.at, vd_cel_bool(t.text.p[0] == 't'));
    if (vd_slice_is(t.text, "null"))
        return literal(p, t.at, vd_cel_null());
    if (is_reserved(t.text)) {
        vd_cel_issue(p->issues, t.at, "reserved identifier: %.*s", VD_FMT(t.text));
        p->failed = true;
        return NULL;
    }
    uint32_t at = p->token.at;
    if (!accept(p, "("))
        return ident(p, t.text, t.at);
    struct node_list args = {0};
    struct vd_cel_node *node = NULL;
    if (parse_list(p, ")", false, &args))
        node = global_call(p, vd_arena_copy(p->arena, t.text), at, &args);
    list_release(&args);
    return node;
}

static struct vd_cel_node *parse_primary(struct parser *p)
{
    struct vd_cel_token t = p->token;
    struct vd_cel_node *node;
    switch (t.kind) {
    case VD_CEL_TOKEN_INT:
    case VD_CEL_TOKEN_UINT:
    case VD_CEL_TOKEN_DOUBLE:
        return parse_number(p, false, t.at);
    case VD_CEL_TOKEN_STRING:
    case VD_CEL_TOKEN_BYTES:
        return parse_string(p);
    case VD_CEL_TOKEN_IDENT:
        return parse_ident(p);
    default:
        break;
    }
    if (is(p, "["))
        return parse_list_literal(p);
    if (is(p, "{"))
        return parse_map_literal(p);
    if (accept(p, "(")) {
        node = parse_expression(p);
        return node && expect(p, ")") ? node : NULL;
    }
    if (accept(p, ".") && p->token.kind == VD_CEL_TOKEN_IDENT)
        return parse_ident(p);
    return unexpected(p, expected_expression);
}

/* .field, .?field or .method(...), behind the dot. */
static struct vd_cel_node *parse_dot(struct parser *p, struct vd_cel_node *target, uint32_t dot)
{
    bool optional = accept(p, "?");
    struct vd_cel_token t = p->token;
    if (t.kind != VD_CEL_TOKEN_IDENT && !vd_slice_is(t.text, "in"))
        return unexpected(p, "IDENTIFIER");
    next(p);
    struct vd_slice name = vd_arena_copy(p->arena, t.text);
    uint32_t at = p->token.at;
    if (!optional && accept(p, "(")) {
        struct node_list args = {0};
        struct vd_cel_node *node = NULL;
        if (parse_list(p, ")", false, &args))
            node = member_call(p, name, at, target, &args);
        list_release(&args);
        return node;
    }
    struct vd_cel_node *node = node_new(p, VD_CEL_OP_SELECT, dot, 1);
    node->args[0] = target;
    node->name = name;
    node->flags = optional ? VD_CEL_OPT_ENTRY : 0;
    return node;
}

static struct vd_cel_node *parse_member(struct parser *p)
{
    struct vd_cel_node *node = parse_primary(p);
    uint32_t links = 0;
    while (node && !p->failed) {
        uint32_t at = p->token.at;
        if (++links > VD_CEL_DEPTH_MAX)
            return complain(p, at, "expression recursion limit exceeded: 250");
        if (accept(p, ".")) {
            node = parse_dot(p, node, at);
        } else if (accept(p, "[")) {
            bool optional = accept(p, "?");
            struct vd_cel_node *index = parse_expression(p);
            if (!index || !expect(p, "]"))
                return NULL;
            struct vd_cel_node *made = node_new(p, VD_CEL_OP_INDEX, at, 2);
            made->args[0] = node;
            made->args[1] = index;
            made->flags = optional ? VD_CEL_OPT_ENTRY : 0;
            node = made;
        } else {
            return node;
        }
    }
    return p->failed ? NULL : node;
}

static struct vd_cel_node *parse_unary(struct parser *p)
{
    uint32_t at = p->token.at;
    if (!is(p, "!") && !is(p, "-"))
        return parse_member(p);
    char sign = p->token.text.p[0];
    next(p);
    if (sign == '-' && (p->token.kind == VD_CEL_TOKEN_INT || p->token.kind == VD_CEL_TOKEN_DOUBLE))
        return parse_number(p, true, at);
    if (++p->depth > VD_CEL_DEPTH_MAX)
        return complain(p, at, "expression recursion limit exceeded: 250");
    struct vd_cel_node *operand = parse_unary(p);
    p->depth--;
    return operand ? call(p, sign == '!' ? "!_" : "-_", at, operand, NULL) : NULL;
}

static const struct {
    const char *token, *function;
    int level;
} operators[] = {
    {"||", "_||_", 1}, {"&&", "_&&_", 2}, {"==", "_==_", 3}, {"!=", "_!=_", 3}, {"<=", "_<=_", 3},
    {">=", "_>=_", 3}, {"<", "_<_", 3},   {">", "_>_", 3},   {"in", "@in", 3},  {"+", "_+_", 4},
    {"-", "_-_", 4},   {"*", "_*_", 5},   {"/", "_/_", 5},   {"%", "_%_", 5},
};

enum { OPERATORS = sizeof operators / sizeof *operators };

static size_t operator_here(const struct parser *p)
{
    size_t i = 0;
    while (i < OPERATORS && !is(p, operators[i].token))
        i++;
    return i;
}

static struct vd_cel_node *binary(struct parser *p, size_t op, uint32_t at, struct vd_cel_node *a,
                                  struct vd_cel_node *b)
{
    struct vd_cel_node *node = call(p, operators[op].function, at, a, b);
    if (operators[op].level <= 2)
        node->op = operators[op].level == 1 ? VD_CEL_OP_OR : VD_CEL_OP_AND;
    return node;
}

/* Operators of at least this level, left to right. */
static struct vd_cel_node *parse_binary(struct parser *p, int level)
{
    struct vd_cel_node *left = parse_unary(p);
    uint32_t links = 0;
    while (left) {
        size_t op = operator_here(p);
        uint32_t at = p->token.at;
        if (op == OPERATORS || operators[op].level < level)
            return left;
        if (++links > VD_CEL_DEPTH_MAX)
            return complain(p, at, "expression recursion limit exceeded: 250");
        next(p);
        struct vd_cel_node *right = parse_binary(p, operators[op].level + 1);
        left = right ? binary(p, op, at, left, right) : NULL;
    }
    return NULL;
}

static struct vd_cel_node *parse_ternary(struct parser *p, struct vd_cel_node *condition)
{
    uint32_t at = p->token.at;
    if (!condition || !accept(p, "?"))
        return condition;
    struct vd_cel_node *node = node_new(p, VD_CEL_OP_TERNARY, at, 3);
    node->name = VD_SLICE("_?_:_");
    node->args[0] = condition;
    node->args[1] = parse_binary(p, 1);
    if (!node->args[1] || !expect(p, ":"))
        return NULL;
    node->args[2] = parse_expression(p);
    return node->args[2] ? node : NULL;
}

static struct vd_cel_node *parse_expression(struct parser *p)
{
    if (++p->depth > VD_CEL_DEPTH_MAX)
        return complain(p, p->token.at, "expression recursion limit exceeded: 250");
    struct vd_cel_node *node = parse_ternary(p, parse_binary(p, 1));
    p->depth--;
    return p->failed ? NULL : node;
}

/* Rows of operators nest too: later passes recurse, so the whole depth counts. */
static bool is_too_deep(const struct vd_cel_node *node, uint32_t left)
{
    if (left == 0)
        return true;
    for (uint32_t i = 0; i < node->count; i++)
        if (is_too_deep(node->args[i], left - 1))
            return true;
    return false;
}

struct vd_cel_node *vd_cel_parse(struct vd_arena *arena, struct vd_cel_issues *issues)
{
    struct parser p = {.arena = arena, .issues = issues};
    vd_cel_lexer_init(&p.lexer, arena, issues->text);
    next(&p);
    struct vd_cel_node *root = p.failed ? NULL : parse_expression(&p);
    if (root && p.token.kind != VD_CEL_TOKEN_END)
        return unexpected(&p, "<EOF>");
    if (root && is_too_deep(root, 4 * VD_CEL_DEPTH_MAX))
        return complain(&p, 0, "expression recursion limit exceeded: 250");
    return p.failed ? NULL : root;
}
