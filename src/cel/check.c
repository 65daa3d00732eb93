/*
 * The checker: gives every node its type, every name its slot and every call its
 * function, and says what does not fit.
 *
 * A call is checked against the overloads of its name (program_internal.h has the
 * notation of signatures). A and B are bound while the arguments are compared; dyn fits
 * everything. What is constant is folded: literals of lists and maps, conversions
 * of literals, regular expressions.
 */
#include <string.h>

#include "base/alloc.h"
#include "cel/program_internal.h"

enum { PARAMS = 2 }; /* type parameters of one function: its A and B */

struct binding {
    const struct vd_cel_type *p[PARAMS];
};

struct scope {
    const struct scope *up;
    struct vd_slice name;
    const struct vd_cel_type *type;
    uint32_t slot;
};

struct checker {
    struct vd_cel_program *program;
    const struct vd_cel_env *env;
    struct vd_cel_issues *issues;
    struct vd_arena *arena;
    const struct scope *scope;
    unsigned mixed; /* inside format(): literals may mix types */
};

static void check(struct checker *c, struct vd_cel_node *node);

static const struct vd_cel_type *kind_type(enum vd_cel_kind kind)
{
    return vd_cel_type_of(kind);
}

/* ---- types ---- */

static bool is_any(const struct vd_cel_type *t)
{
    return t->kind == VD_CEL_DYN || t->kind == VD_CEL_ERROR;
}

static bool takes_null(const struct vd_cel_type *t)
{
    return t->kind == VD_CEL_OBJECT || t->kind == VD_CEL_TIMESTAMP || t->kind == VD_CEL_DURATION ||
           t->kind >= VD_CEL_OPTIONAL;
}

/* Whether a value of the one type may stand where the other is wanted, as far as the types tell. */
static bool fits(const struct vd_cel_type *a, const struct vd_cel_type *b)
{
    if (a == b || is_any(a) || is_any(b))
        return true;
    if (a->kind == VD_CEL_NULL && takes_null(b))
        return true;
    if (b->kind == VD_CEL_NULL && takes_null(a))
        return true;
    if (a->kind != b->kind)
        return false;
    switch ((enum vd_cel_kind)a->kind) {
    case VD_CEL_LIST:
    case VD_CEL_OPTIONAL:
        return fits(a->item, b->item);
    case VD_CEL_MAP:
        return fits(a->key, b->key) && fits(a->item, b->item);
    case VD_CEL_OBJECT:
        return false; /* two schemas; the same one would be the same type */
    default:
        return true;
    }
}

/* A type for values of both types: one of the two, if it holds the other's values; else dyn. */
static const struct vd_cel_type *join(const struct vd_cel_type *a, const struct vd_cel_type *b)
{
    if (!fits(a, b))
        return kind_type(VD_CEL_DYN);
    if (is_any(a) || a->kind != VD_CEL_NULL)
        return is_any(b) && !is_any(a) ? b : a;
    return b;
}

/* The type that a signature spells at *p, with parameters as they are bound. */
static const struct vd_cel_type *spell(struct checker *c, const char **p,
                                       const struct binding *binding)
{
    static const char letters[] = "biudsytDn*UICQF";
    static const uint8_t kinds[] = {
        VD_CEL_BOOL,  VD_CEL_INT,       VD_CEL_UINT,     VD_CEL_DOUBLE,   VD_CEL_STRING,
        VD_CEL_BYTES, VD_CEL_TIMESTAMP, VD_CEL_DURATION, VD_CEL_NULL,     VD_CEL_DYN,
        VD_CEL_URL,   VD_CEL_IP,        VD_CEL_CIDR,     VD_CEL_QUANTITY, VD_CEL_FORMAT,
    };
    char letter = *(*p)++;
    const struct vd_cel_type *key;
    switch (letter) {
    case 'A':
    case 'B':
        return binding->p[letter - 'A'] ? binding->p[letter - 'A'] : kind_type(VD_CEL_DYN);
    case 'T':
        return vd_cel_type_type(c->arena, binding->p[0] ? binding->p[0] : kind_type(VD_CEL_DYN));
    case 'L':
        return vd_cel_list_of(c->arena, spell(c, p, binding));
    case 'O':
        return vd_cel_optional_of(c->arena, spell(c, p, binding));
    case 'M':
        key = spell(c, p, binding);
        return vd_cel_map_of(c->arena, key, spell(c, p, binding));
    default:
        return kind_type((enum vd_cel_kind)kinds[strchr(letters, letter) - letters]);
    }
}

static bool bind(struct binding *binding, char letter, const struct vd_cel_type *t)
{
    const struct vd_cel_type **bound = &binding->p[letter - 'A'];
    if (!*bound) {
        *bound = t;
        return true;
    }
    if (!fits(*bound, t))
        return false;
    *bound = join(*bound, t);
    return true;
}

static void skip_type(const char **p)
{
    char letter = *(*p)++;
    if (letter == 'L' || letter == 'O')
        skip_type(p);
    if (letter == 'M') {
        skip_type(p);
        skip_type(p);
    }
}

/* Does an argument of this type fit what the signature spells at *p? */
static bool match(struct checker *c, const char **p, const struct vd_cel_type *t,
                  struct binding *binding)
{
    char letter = **p;
    const char *rest = *p + 1;
    skip_type(p);
    if (letter == 'A' || letter == 'B')
        return bind(binding, letter, t);
    if (is_any(t))
        return true;
    if (letter == 'L' || letter == 'O')
        return t->kind == (letter == 'L' ? VD_CEL_LIST : VD_CEL_OPTIONAL) &&
               match(c, &rest, t->item, binding);
    if (letter == 'M')
        return t->kind == VD_CEL_MAP && match(c, &rest, t->key, binding) &&
               match(c, &rest, t->item, binding);
    rest = *p - 1;
    return letter == '*' ||
           (letter == 'T' ? t->kind == VD_CEL_TYPE : fits(spell(c, &rest, binding), t));
}

/* ---- calls ---- */

/* The result if the arguments fit the overload; else NULL. */
static const struct vd_cel_type *try_overload(struct checker *c, const struct vd_cel_function *f,
                                              const struct vd_cel_node *node)
{
    struct binding binding = {{NULL, NULL}};
    const char *p = f->signature;
    if ((*p == '.') != ((node->flags & VD_CEL_MEMBER) != 0))
        return NULL;
    p += *p == '.';
    for (uint32_t i = 0; i < node->count; i++)
        if (*p == '>' || !match(c, &p, node->args[i]->type, &binding))
            return NULL;
    if (*p++ != '>')
        return NULL;
    return spell(c, &p, &binding);
}

static bool same_type(const struct vd_cel_type *a, const struct vd_cel_type *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->kind == VD_CEL_OBJECT)
        return false;
    return (!a->item || same_type(a->item, b->item)) && (!a->key || same_type(a->key, b->key));
}

/* Finds the function; false: there is none of that name. */
static bool resolve(struct checker *c, struct vd_cel_node *node)
{
    bool known = false;
    for (size_t l = 0; l < VD_CEL_LIBRARIES; l++) {
        const struct vd_cel_library *library = vd_cel_libraries[l];
        for (size_t i = 0; i < library->n; i++) {
            const struct vd_cel_function *f = &library->p[i];
            if (!vd_slice_is(node->name, f->name))
                continue;
            known = true;
            const struct vd_cel_type *result = try_overload(c, f, node);
            if (!result)
                continue;
            if (node->function && !same_type(node->type, result))
                result = kind_type(VD_CEL_DYN);
            if (!node->function)
                node->function = f;
            node->type = result;
        }
    }
    return known;
}

static void complain_overload(struct checker *c, const struct vd_cel_node *node)
{
    struct vd_buf types = {0};
    bool member = node->flags & VD_CEL_MEMBER;
    if (member) {
        vd_cel_type_write(&types, node->args[0]->type);
        vd_buf_add_char(&types, '.');
    }
    vd_buf_add_char(&types, '(');
    for (uint32_t i = member; i < node->count; i++) {
        vd_buf_add_text(&types, i > member ? ", " : "");
        vd_cel_type_write(&types, node->args[i]->type);
    }
    vd_cel_issue(c->issues, node->at, "found no matching overload for '%.*s' applied to '%s)'",
                 VD_FMT(node->name), vd_buf_text(&types));
    vd_buf_release(&types);
}

static bool has_error(const struct vd_cel_node *node)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (node->args[i]->type->kind == VD_CEL_ERROR)
            return true;
    return false;
}

/* Functions, and operators that have nodes of their own. */
static void check_overloads(struct checker *c, struct vd_cel_node *node)
{
    node->type = kind_type(VD_CEL_ERROR);
    if (has_error(node))
        return;
    if (!resolve(c, node))
        vd_cel_issue(c->issues, node->at, "undeclared reference to '%.*s' (in container '')",
                     VD_FMT(node->name));
    else if (!node->function)
        complain_overload(c, node);
}

/* "a.b.c" if the node is names joined by dots, the first of them no variable. */
static bool qualified(struct checker *c, const struct vd_cel_node *node, struct vd_buf *out)
{
    if (node->op == VD_CEL_OP_IDENT) {
        for (const struct scope *s = c->scope; s; s = s->up)
            if (vd_slice_eq(s->name, node->name))
                return false;
        if (vd_slice_is(node->name, "self") || vd_slice_is(node->name, "oldSelf"))
            return false;
        vd_buf_add_slice(out, node->name);
        return true;
    }
    if (node->op != VD_CEL_OP_SELECT || (node->flags & VD_CEL_OPT_ENTRY) ||
        !qualified(c, node->args[0], out))
        return false;
    vd_buf_addf(out, ".%.*s", VD_FMT(node->name));
    return true;
}

static bool is_function(struct vd_slice name)
{
    for (size_t l = 0; l < VD_CEL_LIBRARIES; l++)
        for (size_t i = 0; i < vd_cel_libraries[l]->n; i++)
            if (vd_slice_is(name, vd_cel_libraries[l]->p[i].name))
                return true;
    return false;
}

/* sets.contains(a, b) looks like a method of `sets`. */
static void unqualify(struct checker *c, struct vd_cel_node *node)
{
    struct vd_buf name = {0};
    if ((node->flags & VD_CEL_MEMBER) && qualified(c, node->args[0], &name)) {
        vd_buf_addf(&name, ".%.*s", VD_FMT(node->name));
        if (is_function(vd_buf_slice(&name))) {
            node->name = vd_arena_copy(c->arena, vd_buf_slice(&name));
            node->flags &= (uint8_t)~VD_CEL_MEMBER;
            node->args++;
            node->count--;
        }
    }
    vd_buf_release(&name);
}

static bool is_literal(const struct vd_cel_node *node)
{
    return node->op == VD_CEL_OP_LITERAL;
}

/* A regular expression that is written down is compiled here, once. */
static void fold_pattern(struct checker *c, struct vd_cel_node *node)
{
    bool matches = vd_slice_is(node->name, "matches");
    if ((!matches && !vd_slice_is(node->name, "find") && !vd_slice_is(node->name, "findAll")) ||
        node->count < 2 || !is_literal(node->args[1]) ||
        node->args[1]->literal.kind != VD_CEL_STRING)
        return;
    struct vd_slice text = node->args[1]->literal.s;
    char why[128];
    if (c->program->pattern_size > VD_DEFINITION_PATTERNS_SIZE_MAX) {
        vd_cel_issue(c->issues, node->args[1]->at, "the regular expressions are too large");
        return;
    }
    struct vd_pattern *pattern = vd_pattern_new(text.p, text.n, why, sizeof why);
    if (!pattern) {
        vd_cel_issue(c->issues, node->args[1]->at, "invalid %.*s argument", VD_FMT(node->name));
        return;
    }
    *VD_VEC_PUSH(&c->program->patterns) = pattern;
    node->pattern = pattern;
    c->program->pattern_size += vd_pattern_size(pattern);
}

/* int('5'), duration('1h') and so on become what they give. */
static void fold_conversion(struct checker *c, struct vd_cel_node *node)
{
    static const char *const names[] = {"int",   "uint",     "double",    "string",
                                        "bytes", "duration", "timestamp", "bool"};
    size_t i = 0;
    while (i < sizeof names / sizeof *names && !vd_slice_is(node->name, names[i]))
        i++;
    if (i == sizeof names / sizeof *names || node->count != 1 || !is_literal(node->args[0]))
        return;
    struct vd_cel_run run = {.arena = c->arena, .cost_max = UINT64_MAX};
    struct vd_cel_value value = node->function->body(&run, node, &node->args[0]->literal, 1);
    if (value.kind != VD_CEL_ERROR) {
        node->op = VD_CEL_OP_LITERAL;
        node->literal = value;
        node->count = 0;
    } else if (vd_slice_is(node->name, "duration") || vd_slice_is(node->name, "timestamp")) {
        vd_cel_issue(c->issues, node->args[0]->at, "invalid %.*s argument", VD_FMT(node->name));
    }
}

static void check_call(struct checker *c, struct vd_cel_node *node)
{
    bool formats = vd_slice_is(node->name, "format");
    unqualify(c, node);
    c->mixed += formats;
    for (uint32_t i = 0; i < node->count; i++)
        check(c, node->args[i]);
    c->mixed -= formats;
    check_overloads(c, node);
    if (node->function) {
        fold_pattern(c, node);
        fold_conversion(c, node);
    }
}

/* ---- names and fields ---- */

/* A type's name is a value: type(x) == int. */
static bool check_type_name(struct checker *c, struct vd_cel_node *node, struct vd_slice name)
{
    for (int kind = VD_CEL_NULL; kind <= VD_CEL_FORMAT; kind++) {
        if (kind == VD_CEL_OBJECT || !vd_slice_is(name, vd_cel_kind_name((enum vd_cel_kind)kind)))
            continue;
        node->op = VD_CEL_OP_LITERAL;
        node->count = 0;
        node->literal = (struct vd_cel_value){.kind = VD_CEL_TYPE,
                                              .type = kind_type((enum vd_cel_kind)kind)};
        node->type = vd_cel_type_type(c->arena, node->literal.type);
        return true;
    }
    return false;
}

static void check_ident(struct checker *c, struct vd_cel_node *node)
{
    for (const struct scope *s = c->scope; s; s = s->up) {
        if (vd_slice_eq(s->name, node->name)) {
            node->slot = s->slot;
            node->type = s->type;
            return;
        }
    }
    if (vd_slice_is(node->name, "self") && c->env->self) {
        node->slot = VD_CEL_SLOT_SELF;
        node->type = c->env->self;
    } else if (vd_slice_is(node->name, "oldSelf") && c->env->self && c->env->old_self) {
        node->slot = VD_CEL_SLOT_OLD_SELF;
        node->type = c->env->optional_old_self ? vd_cel_optional_of(c->arena, c->env->self)
                                               : c->env->self;
        c->program->uses_old_self = true;
    } else if (!check_type_name(c, node, node->name)) {
        vd_cel_issue(c->issues, node->at, "undeclared reference to '%.*s' (in container '')",
                     VD_FMT(node->name));
        node->type = kind_type(VD_CEL_ERROR);
    }
}

/* The type of a field of `t`, or NULL; the node's name becomes the member's. */
static const struct vd_cel_type *field_type(struct checker *c, struct vd_cel_node *node,
                                            const struct vd_cel_type *t)
{
    const struct vd_cel_field *field;
    switch ((enum vd_cel_kind)t->kind) {
    case VD_CEL_OBJECT:
        field = vd_cel_type_field(t, node->name);
        if (!field) {
            vd_cel_issue(c->issues, node->at, "undefined field '%.*s'", VD_FMT(node->name));
            return NULL;
        }
        node->name = field->raw;
        node->var_type = field->type;
        node->literal.decl = t;
        return field->type;
    case VD_CEL_MAP:
        return t->item;
    case VD_CEL_DYN:
    case VD_CEL_ERROR:
        return t;
    default: {
        struct vd_buf name = {0};
        vd_cel_type_write(&name, t);
        vd_cel_issue(c->issues, node->at, "type '%s' does not support field selection",
                     vd_buf_text(&name));
        vd_buf_release(&name);
        return NULL;
    }
    }
}

static void mark_rootless(struct vd_cel_node *node)
{
    const struct vd_cel_node *target = node->args[0];
    if (target->op != VD_CEL_OP_IDENT && target->op != VD_CEL_OP_SELECT &&
        target->op != VD_CEL_OP_INDEX)
        node->flags |= VD_CEL_ROOTLESS;
}

static void check_select(struct checker *c, struct vd_cel_node *node)
{
    struct vd_buf name = {0};
    if (node->op == VD_CEL_OP_SELECT && qualified(c, node, &name) &&
        check_type_name(c, node, vd_buf_slice(&name))) {
        vd_buf_release(&name);
        return;
    }
    vd_buf_release(&name);
    check(c, node->args[0]);
    mark_rootless(node);
    const struct vd_cel_type *target = node->args[0]->type;
    bool optional = target->kind == VD_CEL_OPTIONAL;
    const struct vd_cel_type *found = field_type(c, node, optional ? target->item : target);
    if (!found)
        node->type = kind_type(VD_CEL_ERROR);
    else if (node->op == VD_CEL_OP_HAS)
        node->type = kind_type(VD_CEL_BOOL);
    else
        node->type = optional || (node->flags & VD_CEL_OPT_ENTRY)
                         ? vd_cel_optional_of(c->arena, found)
                         : found;
}

static void check_index(struct checker *c, struct vd_cel_node *node)
{
    check(c, node->args[0]);
    check(c, node->args[1]);
    mark_rootless(node);
    node->name = node->flags & VD_CEL_OPT_ENTRY ? VD_SLICE("_[?_]") : VD_SLICE("_[_]");
    check_overloads(c, node);
}

/* ---- literals ---- */

static bool expect_type(struct checker *c, const struct vd_cel_node *node,
                        const struct vd_cel_type *want)
{
    if (fits(want, node->type))
        return true;
    struct vd_buf wanted = {0}, found = {0};
    vd_cel_type_write(&wanted, want);
    vd_cel_type_write(&found, node->type);
    vd_cel_issue(c->issues, node->at, "expected type '%s' but found '%s'", vd_buf_text(&wanted),
                 vd_buf_text(&found));
    vd_buf_release(&wanted);
    vd_buf_release(&found);
    return false;
}

/* The type of every `stride`-th argument from `first`, which must be one. */
static const struct vd_cel_type *check_entries(struct checker *c, struct vd_cel_node *node,
                                               uint32_t first, uint32_t stride)
{
    const struct vd_cel_type *type = NULL;
    for (uint32_t i = first; i < node->count; i += stride) {
        struct vd_cel_node *entry = node->args[i];
        const struct vd_cel_node *marked = node->args[i - first];
        const struct vd_cel_type *found = entry->type;
        bool unwraps = (marked->flags & VD_CEL_OPT_ENTRY) && i % stride == stride - 1;
        if (unwraps && found->kind == VD_CEL_OPTIONAL)
            found = found->item;
        else if (unwraps && !is_any(found))
            expect_type(c, entry, kind_type(VD_CEL_OPTIONAL));
        else if (type && !c->mixed)
            expect_type(c, entry, type);
        type = type ? join(type, found) : found;
    }
    return type ? type : kind_type(VD_CEL_DYN);
}

static bool all_literal(const struct vd_cel_node *node)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (!is_literal(node->args[i]) || (node->args[i]->flags & VD_CEL_OPT_ENTRY))
            return false;
    return true;
}

static struct vd_cel_value *literals(struct checker *c, const struct vd_cel_node *node,
                                     uint32_t first, uint32_t stride)
{
    struct vd_cel_value *p = vd_arena_alloc(c->arena, (node->count / stride + 1) * sizeof *p);
    for (uint32_t i = first; i < node->count; i += stride)
        p[i / stride] = node->args[i]->literal;
    return p;
}

static void check_list(struct checker *c, struct vd_cel_node *node)
{
    for (uint32_t i = 0; i < node->count; i++)
        check(c, node->args[i]);
    node->type = vd_cel_list_of(c->arena, check_entries(c, node, 0, 1));
    if (!all_literal(node))
        return;
    struct vd_cel_list *list = vd_arena_alloc(c->arena, sizeof *list);
    *list = (struct vd_cel_list){node->count, literals(c, node, 0, 1)};
    node->op = VD_CEL_OP_LITERAL;
    node->flags |= VD_CEL_CONSTANT;
    node->literal = (struct vd_cel_value){.kind = VD_CEL_LIST, .list = list};
}

static bool repeats_a_key(const struct vd_cel_map *map)
{
    struct vd_cel_run run = {.cost_max = UINT64_MAX};
    for (size_t i = 0; i < map->n; i++)
        for (size_t k = 0; k < i; k++)
            if (vd_cel_equal(&run, &map->keys[i], &map->keys[k]))
                return true;
    return false;
}

static void check_map(struct checker *c, struct vd_cel_node *node)
{
    for (uint32_t i = 0; i < node->count; i++)
        check(c, node->args[i]);
    const struct vd_cel_type *key = check_entries(c, node, 0, 2);
    node->type = vd_cel_map_of(c->arena, key, check_entries(c, node, 1, 2));
    if (!all_literal(node) || node->count > 1000)
        return;
    struct vd_cel_map *map = vd_arena_alloc(c->arena, sizeof *map);
    *map = (struct vd_cel_map){node->count / 2, literals(c, node, 0, 2), literals(c, node, 1, 2)};
    if (repeats_a_key(map))
        return; /* an error of the evaluation */
    node->op = VD_CEL_OP_LITERAL;
    node->flags |= VD_CEL_CONSTANT;
    node->literal = (struct vd_cel_value){.kind = VD_CEL_MAP, .map = map};
}

static void check_literal(struct checker *c, struct vd_cel_node *node)
{
    (void)c;
    node->type = kind_type((enum vd_cel_kind)node->literal.kind);
}

/* ---- comprehensions ---- */

/* The types of the variables over this range; false: it is none. */
static bool range_types(struct checker *c, struct vd_cel_node *node)
{
    const struct vd_cel_type *range = node->args[0]->type;
    bool two = node->name2.p != NULL;
    node->var2_type = NULL;
    switch ((enum vd_cel_kind)range->kind) {
    case VD_CEL_LIST:
        node->var_type = two ? kind_type(VD_CEL_INT) : range->item;
        node->var2_type = range->item;
        return true;
    case VD_CEL_MAP:
        node->var_type = range->key;
        node->var2_type = range->item;
        return true;
    case VD_CEL_DYN:
    case VD_CEL_ERROR:
        node->var_type = node->var2_type = range;
        return true;
    default: {
        struct vd_buf name = {0};
        vd_cel_type_write(&name, range);
        vd_cel_issue(c->issues, node->args[0]->at,
                     "expression of type '%s' cannot be range of a comprehension (must be list, "
                     "map, or dynamic)",
                     vd_buf_text(&name));
        vd_buf_release(&name);
        return false;
    }
    }
}

/* A condition inside a macro, which the spec expands to this operator. */
static void check_condition(struct checker *c, const struct vd_cel_node *node, const char *function,
                            const char *types)
{
    if (fits(kind_type(VD_CEL_BOOL), node->type))
        return;
    struct vd_buf name = {0};
    vd_cel_type_write(&name, node->type);
    vd_cel_issue(c->issues, node->at, "found no matching overload for '%s' applied to '(%s%s%s)'",
                 function, *types == 'l' ? types + 1 : "", vd_buf_text(&name),
                 *types == 'l' ? "" : types);
    vd_buf_release(&name);
}

static void check_fold_result(struct checker *c, struct vd_cel_node *node)
{
    const struct vd_cel_node *body = node->args[1], *last = node->args[node->count - 1];
    node->type = kind_type(VD_CEL_BOOL);
    switch ((enum vd_cel_fold)node->fold) {
    case VD_CEL_FOLD_ALL:
        check_condition(c, body, "_&&_", "lbool, ");
        break;
    case VD_CEL_FOLD_EXISTS:
        check_condition(c, body, "_||_", "lbool, ");
        break;
    case VD_CEL_FOLD_ONE:
        check_condition(c, body, "_?_:_", ", int, int");
        break;
    case VD_CEL_FOLD_FILTER:
        check_condition(c, body, "_?_:_", ", list(dyn), list(dyn)");
        node->type = vd_cel_list_of(c->arena, node->var_type);
        break;
    case VD_CEL_FOLD_MAP:
    case VD_CEL_FOLD_TRANSFORM_MAP:
        if (node->count > 2)
            check_condition(c, body, "_?_:_", ", list(dyn), list(dyn)");
        node->type = node->fold == VD_CEL_FOLD_MAP
                         ? vd_cel_list_of(c->arena, last->type)
                         : vd_cel_map_of(c->arena, node->var_type, last->type);
        break;
    }
}

static void check_fold(struct checker *c, struct vd_cel_node *node)
{
    check(c, node->args[0]);
    if (!range_types(c, node)) {
        node->type = kind_type(VD_CEL_ERROR);
        return;
    }
    const struct scope *outer = c->scope;
    struct scope one = {outer, node->name, node->var_type, c->program->slot_count++};
    struct scope two = {&one, node->name2, node->var2_type, 0};
    node->slot = one.slot;
    c->scope = &one;
    if (node->name2.p) {
        two.slot = node->slot2 = c->program->slot_count++;
        c->scope = &two;
    }
    for (uint32_t i = 1; i < node->count; i++)
        check(c, node->args[i]);
    c->scope = outer;
    check_fold_result(c, node);
}

static void check_opt(struct checker *c, struct vd_cel_node *node)
{
    check(c, node->args[0]);
    const struct vd_cel_type *target = node->args[0]->type;
    if (target->kind != VD_CEL_OPTIONAL && !is_any(target)) {
        node->type = kind_type(VD_CEL_ERROR);
        node->name2 = node->name;
        node->name = node->flags & VD_CEL_FLAT ? VD_SLICE("optFlatMap") : VD_SLICE("optMap");
        expect_type(c, node->args[0], kind_type(VD_CEL_OPTIONAL));
        return;
    }
    const struct scope *outer = c->scope;
    struct scope one = {outer, node->name, is_any(target) ? target : target->item,
                        c->program->slot_count++};
    node->slot = one.slot;
    c->scope = &one;
    check(c, node->args[1]);
    c->scope = outer;
    if ((node->flags & VD_CEL_FLAT) && expect_type(c, node->args[1], kind_type(VD_CEL_OPTIONAL)))
        node->type = node->args[1]->type;
    else
        node->type = vd_cel_optional_of(c->arena, node->args[1]->type);
}

/* ---- logic ---- */

static void check_logic(struct checker *c, struct vd_cel_node *node)
{
    check(c, node->args[0]);
    check(c, node->args[1]);
    check_overloads(c, node);
}

/* Naming something costs a unit, but not as a branch of a ternary. */
static void free_of_charge(struct vd_cel_node *branch)
{
    while ((branch->op == VD_CEL_OP_SELECT || branch->op == VD_CEL_OP_INDEX) &&
           !(branch->flags & VD_CEL_ROOTLESS))
        branch = branch->args[0];
    if (branch->op == VD_CEL_OP_IDENT || (branch->flags & VD_CEL_ROOTLESS))
        branch->flags |= VD_CEL_FREE;
}

static void check_ternary(struct checker *c, struct vd_cel_node *node)
{
    for (uint32_t i = 0; i < 3; i++)
        check(c, node->args[i]);
    check_overloads(c, node);
    free_of_charge(node->args[1]);
    free_of_charge(node->args[2]);
}

static void check(struct checker *c, struct vd_cel_node *node)
{
    static void (*const by_op[])(struct checker *, struct vd_cel_node *) = {
        [VD_CEL_OP_LITERAL] = check_literal, [VD_CEL_OP_IDENT] = check_ident,
        [VD_CEL_OP_SELECT] = check_select,   [VD_CEL_OP_HAS] = check_select,
        [VD_CEL_OP_CALL] = check_call,       [VD_CEL_OP_INDEX] = check_index,
        [VD_CEL_OP_AND] = check_logic,       [VD_CEL_OP_OR] = check_logic,
        [VD_CEL_OP_TERNARY] = check_ternary, [VD_CEL_OP_LIST] = check_list,
        [VD_CEL_OP_MAP] = check_map,         [VD_CEL_OP_FOLD] = check_fold,
        [VD_CEL_OP_OPT] = check_opt,
    };
    by_op[node->op](c, node);
}

bool vd_cel_check(struct vd_cel_program *program, const struct vd_cel_env *env,
                  struct vd_cel_issues *issues)
{
    struct checker c = {program, env, issues, program->arena, NULL, 0};
    check(&c, program->root);
    return issues->count == 0;
}
