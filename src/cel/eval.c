/*
 * The evaluator: walks the checked tree.
 *
 * Errors are values. && and || pass an error over if the other side decides; a
 * comprehension goes on behind one for the same reason. Everything else gives the
 * first error that it meets.
 *
 * Costs are charged as cel-go charges the expansions of the macros: an all() costs
 * per item the test of its loop and the && of its step, though neither is executed
 * here. Constants cost nothing, nor does has().
 */
#include <string.h>

#include "base/alloc.h"
#include "cel/program_internal.h"

enum {
    LIST_CREATE = 10, /* cost of making a list, as in cel-go */
    MAP_CREATE = 30,  /* cost of making a map, as in cel-go */
    ARGS_MAX = 8,     /* arguments of a call; no function of the libraries has more */
};

static struct vd_cel_value eval(struct vd_cel_run *run, const struct vd_cel_node *node);

static void charge(struct vd_cel_run *run, uint64_t cost)
{
    run->cost = run->cost > UINT64_MAX - cost ? UINT64_MAX : run->cost + cost;
    if (run->cost > run->cost_max)
        run->cancelled = true;
}

static bool is_error(const struct vd_cel_value *v)
{
    return v->kind == VD_CEL_ERROR;
}

static struct vd_cel_value cancelled(void)
{
    return (struct vd_cel_value){.kind = VD_CEL_ERROR,
                                 .s = VD_SLICE("operation cancelled: actual cost limit exceeded")};
}

/* ---- names and fields ---- */

static struct vd_cel_value eval_ident(struct vd_cel_run *run, const struct vd_cel_node *node)
{
    if (!(node->flags & VD_CEL_FREE))
        charge(run, 1);
    if (node->slot == VD_CEL_SLOT_SELF)
        return run->self;
    if (node->slot == VD_CEL_SLOT_OLD_SELF)
        return run->old_self;
    return run->slots[node->slot];
}

static struct vd_cel_value no_such_key(struct vd_cel_run *run, struct vd_slice name)
{
    return vd_cel_error(run, "no such key: %.*s", VD_FMT(name));
}

static bool has_members(const struct vd_cel_value *v)
{
    return v->kind == VD_CEL_MAP || v->kind == VD_CEL_OBJECT;
}

/* The member that a selection names. Of the object that the checker saw, its type is
 * known without a search. */
static bool member_of(struct vd_cel_run *run, const struct vd_cel_node *node,
                      const struct vd_cel_value *target, struct vd_cel_value *out)
{
    struct vd_cel_value key = vd_cel_string(node->name);
    if (target->kind == VD_CEL_OBJECT && target->decl == node->literal.decl)
        return vd_cel_member(run, target->json, node->name, node->var_type, out);
    return vd_cel_lookup(run, target, &key, out);
}

static struct vd_cel_value eval_select(struct vd_cel_run *run, const struct vd_cel_node *node)
{
    struct vd_cel_value target = eval(run, node->args[0]), out;
    charge(run, (node->flags & (VD_CEL_ROOTLESS | VD_CEL_FREE)) == VD_CEL_ROOTLESS ? 2 : 1);
    if (is_error(&target))
        return target;
    bool optional = target.kind == VD_CEL_OPTIONAL;
    if (optional && !target.some)
        return vd_cel_none();
    if (optional)
        target = *target.some;
    if (!has_members(&target))
        return vd_cel_no_overload();
    optional = optional || (node->flags & VD_CEL_OPT_ENTRY);
    if (!member_of(run, node, &target, &out))
        return optional ? vd_cel_none() : no_such_key(run, node->name);
    return optional ? vd_cel_some(run, out) : out;
}

static struct vd_cel_value eval_has(struct vd_cel_run *run, const struct vd_cel_node *node)
{
    struct vd_cel_value target = eval(run, node->args[0]), out;
    if (is_error(&target))
        return target;
    if (target.kind == VD_CEL_OPTIONAL) {
        if (!target.some)
            return vd_cel_bool(false);
        target = *target.some;
    }
    if (!has_members(&target))
        return vd_cel_no_overload();
    bool found = member_of(run, node, &target, &out);
    return vd_cel_bool(found && (out.kind != VD_CEL_NULL || target.kind == VD_CEL_MAP));
}

/* The number that an index is; false: it is none. */
static bool index_of(const struct vd_cel_value *v, int64_t *out)
{
    switch ((enum vd_cel_kind)v->kind) {
    case VD_CEL_INT:
        *out = v->i;
        return true;
    case VD_CEL_UINT:
        *out = v->u > INT64_MAX ? -1 : (int64_t)v->u;
        return true;
    case VD_CEL_DOUBLE:
        if (!(v->d >= -9e15 && v->d <= 9e15) || v->d != (double)(int64_t)v->d)
            return false;
        *out = (int64_t)v->d;
        return true;
    default:
        return false;
    }
}

static struct vd_cel_value item_of(struct vd_cel_run *run, const struct vd_cel_value *target,
                                   const struct vd_cel_value *index, bool *found)
{
    struct vd_cel_value out;
    *found = false;
    if (target->kind == VD_CEL_MAP) {
        *found = vd_cel_lookup(run, target, index, &out);
        if (*found)
            return out;
        struct vd_buf text = {0};
        bool shown = vd_cel_to_text(&text, index);
        out = shown ? no_such_key(run, vd_buf_slice(&text)) : vd_cel_error(run, "no such key");
        vd_buf_release(&text);
        return out;
    }
    int64_t i;
    if (target->kind != VD_CEL_LIST || !index_of(index, &i))
        return vd_cel_no_overload();
    if (i < 0 || (uint64_t)i >= vd_cel_size(target))
        return vd_cel_error(run, "index out of bounds: %lld", (long long)i);
    *found = true;
    return vd_cel_list_at(run, target, (uint64_t)i);
}

static struct vd_cel_value eval_index(struct vd_cel_run *run, const struct vd_cel_node *node)
{
    struct vd_cel_value target = eval(run, node->args[0]);
    const struct vd_cel_node *by = node->args[1];
    uint64_t before = run->cost;
    struct vd_cel_value index = eval(run, by);
    if (by->op == VD_CEL_OP_IDENT) /* a name inside brackets is part of the path */
        run->cost = before;
    charge(run, (node->flags & (VD_CEL_ROOTLESS | VD_CEL_FREE)) == VD_CEL_ROOTLESS ? 2 : 1);
    if (is_error(&target))
        return target;
    if (is_error(&index))
        return index;
    bool optional = target.kind == VD_CEL_OPTIONAL, found;
    if (optional && !target.some)
        return vd_cel_none();
    if (optional)
        target = *target.some;
    struct vd_cel_value out = item_of(run, &target, &index, &found);
    if (!optional && !(node->flags & VD_CEL_OPT_ENTRY))
        return out;
    if (found)
        return vd_cel_some(run, out);
    return target.kind == VD_CEL_MAP || target.kind == VD_CEL_LIST ? vd_cel_none() : out;
}

/* ---- logic ---- */

static struct vd_cel_value eval_logic(struct vd_cel_run *run, const struct vd_cel_node *node)
{
    bool decides = node->op == VD_CEL_OP_OR;
    struct vd_cel_value left = eval(run, node->args[0]);
    if (left.kind == VD_CEL_BOOL && left.truth == decides)
        return left;
    struct vd_cel_value right = eval(run, node->args[1]);
    if (right.kind == VD_CEL_BOOL && right.truth == decides)
        return right;
    if (left.kind == VD_CEL_BOOL && right.kind == VD_CEL_BOOL)
        return left;
    if (is_error(&left))
        return left;
    return is_error(&right) ? right : vd_cel_no_overload();
}

static struct vd_cel_value eval_ternary(struct vd_cel_run *run, const struct vd_cel_node *node)
{
    struct vd_cel_value condition = eval(run, node->args[0]);
    if (is_error(&condition))
        return condition;
    if (condition.kind != VD_CEL_BOOL)
        return vd_cel_no_overload();
    return eval(run, node->args[condition.truth ? 1 : 2]);
}

/* ---- calls ---- */

static struct vd_cel_value eval_call(struct vd_cel_run *run, const struct vd_cel_node *node)
{
    struct vd_cel_value args[ARGS_MAX], result;
    const struct vd_cel_value *error = NULL;
    size_t n = node->count < ARGS_MAX ? node->count : ARGS_MAX;
    for (size_t i = 0; i < n; i++) {
        args[i] = eval(run, node->args[i]);
        if (!error && is_error(&args[i]))
            error = &args[i];
        if (run->cancelled)
            return cancelled();
    }
    if (error) {
        result = *error;
        charge(run, 1);
        return result;
    }
    result = node->function->body(run, node, args, n);
    bool constant_set = node->function->price == VD_CEL_PRICE_IN &&
                        (node->args[1]->flags & VD_CEL_CONSTANT);
    if (!constant_set)
        charge(run, vd_cel_call_price(node, args, n, &result));
    return result;
}

/* ---- literals that are not constant ---- */

static struct vd_cel_value eval_list(struct vd_cel_run *run, const struct vd_cel_node *node)
{
    struct vd_cel_value *p = vd_cel_alloc(run, (node->count + 1) * sizeof *p);
    size_t n = 0;
    for (uint32_t i = 0; p && i < node->count; i++) {
        struct vd_cel_value item = eval(run, node->args[i]);
        if (is_error(&item))
            return item;
        if (node->args[i]->flags & VD_CEL_OPT_ENTRY) {
            if (item.kind != VD_CEL_OPTIONAL)
                return vd_cel_no_overload();
            if (!item.some)
                continue;
            item = *item.some;
        }
        p[n++] = item;
    }
    charge(run, LIST_CREATE);
    return p ? vd_cel_list(run, p, n) : cancelled();
}

/* Adds an entry; false if the key is there already or is of a type that no key is. */
static bool add_entry(struct vd_cel_run *run, struct vd_cel_map *map, struct vd_cel_value key,
                      struct vd_cel_value value)
{
    if (key.kind != VD_CEL_STRING && key.kind != VD_CEL_INT && key.kind != VD_CEL_UINT &&
        key.kind != VD_CEL_BOOL)
        return false;
    for (size_t i = 0; i < map->n; i++)
        if (vd_cel_equal(run, &map->keys[i], &key))
            return false;
    map->keys[map->n] = key;
    map->values[map->n++] = value;
    return true;
}

static struct vd_cel_value eval_map(struct vd_cel_run *run, const struct vd_cel_node *node)
{
    size_t room = node->count / 2 + 1;
    struct vd_cel_map *map = vd_cel_alloc(run, sizeof *map);
    struct vd_cel_value *p = map ? vd_cel_alloc(run, 2 * room * sizeof *p) : NULL;
    if (!p)
        return cancelled();
    *map = (struct vd_cel_map){0, p, p + room};
    for (uint32_t i = 0; i + 1 < node->count; i += 2) {
        struct vd_cel_value key = eval(run, node->args[i]);
        struct vd_cel_value value = eval(run, node->args[i + 1]);
        if (is_error(&key))
            return key;
        if (is_error(&value))
            return value;
        if (node->args[i]->flags & VD_CEL_OPT_ENTRY) {
            if (value.kind != VD_CEL_OPTIONAL)
                return vd_cel_no_overload();
            if (!value.some)
                continue;
            value = *value.some;
        }
        if (!add_entry(run, map, key, value))
            return vd_cel_error(run, "Failed with repeated key");
    }
    charge(run, MAP_CREATE);
    return (struct vd_cel_value){.kind = VD_CEL_MAP, .map = map};
}

/* ---- comprehensions ---- */

/* A list that grows in the arena. */
struct growing {
    struct vd_cel_value *p;
    size_t n, cap;
};

struct fold_state {
    struct vd_cel_value error; /* the first one, VD_CEL_ERROR when there is one */
    bool decided;              /* of all() a false item was found, of exists() a true one */
    size_t hits;
    struct growing items, keys;
};

static void push(struct vd_cel_run *run, struct growing *list, const struct vd_cel_value *v)
{
    if (list->n == list->cap) {
        size_t cap = list->cap ? 2 * list->cap : 8;
        struct vd_cel_value *p = vd_cel_alloc(run, cap * sizeof *p);
        if (!p)
            return;
        if (list->n)
            memcpy(p, list->p, list->n * sizeof *p);
        *list = (struct growing){p, list->n, cap};
    }
    list->p[list->n++] = *v;
}

/* One item of all() or exists(). */
static void step_logic(struct vd_cel_run *run, const struct vd_cel_node *node,
                       struct fold_state *state)
{
    bool exists = node->fold == VD_CEL_FOLD_EXISTS;
    charge(run, exists ? 4 : 3);
    struct vd_cel_value v = eval(run, node->args[1]);
    if (v.kind == VD_CEL_BOOL)
        state->decided = v.truth == exists;
    else if (!is_error(&state->error))
        state->error = is_error(&v) ? v : vd_cel_no_overload();
}

/* Whether an item is wanted; an error ends the fold. */
static bool condition(struct vd_cel_run *run, const struct vd_cel_node *node,
                      struct fold_state *state)
{
    struct vd_cel_value v = eval(run, node);
    if (v.kind == VD_CEL_BOOL)
        return v.truth;
    state->error = is_error(&v) ? v : vd_cel_no_overload();
    return false;
}

static void step_collect(struct vd_cel_run *run, const struct vd_cel_node *node,
                         struct fold_state *state, const struct vd_cel_value *item)
{
    const struct vd_cel_node *last = node->args[node->count - 1];
    bool filter = node->fold == VD_CEL_FOLD_FILTER;
    if ((filter || node->count > 2) && !condition(run, node->args[1], state))
        return;
    struct vd_cel_value made = *item;
    if (filter)
        charge(run, 1);
    else
        made = eval(run, last);
    charge(run, LIST_CREATE + 2);
    if (is_error(&made)) {
        state->error = made;
        return;
    }
    push(run, &state->items, &made);
    if (node->fold == VD_CEL_FOLD_TRANSFORM_MAP)
        push(run, &state->keys, item);
}

static void step(struct vd_cel_run *run, const struct vd_cel_node *node, struct fold_state *state,
                 const struct vd_cel_value *item)
{
    switch ((enum vd_cel_fold)node->fold) {
    case VD_CEL_FOLD_ALL:
    case VD_CEL_FOLD_EXISTS:
        step_logic(run, node, state);
        break;
    case VD_CEL_FOLD_ONE:
        if (condition(run, node->args[1], state)) {
            state->hits++;
            charge(run, 2);
        }
        break;
    case VD_CEL_FOLD_FILTER:
    case VD_CEL_FOLD_MAP:
    case VD_CEL_FOLD_TRANSFORM_MAP:
        step_collect(run, node, state, item);
        break;
    }
}

static struct vd_cel_value collected(struct vd_cel_run *run, const struct vd_cel_node *node,
                                     const struct fold_state *state)
{
    if (node->fold != VD_CEL_FOLD_TRANSFORM_MAP)
        return vd_cel_list(run, state->items.p, state->items.n);
    struct vd_cel_map *map = vd_cel_alloc(run, sizeof *map);
    if (!map)
        return cancelled();
    *map = (struct vd_cel_map){state->items.n, state->keys.p, state->items.p};
    return (struct vd_cel_value){.kind = VD_CEL_MAP, .map = map};
}

static struct vd_cel_value fold_result(struct vd_cel_run *run, const struct vd_cel_node *node,
                                       const struct fold_state *state)
{
    bool exists = node->fold == VD_CEL_FOLD_EXISTS;
    charge(run, node->fold == VD_CEL_FOLD_ONE ? 2 : 1);
    if (run->cancelled)
        return cancelled();
    if (node->fold <= VD_CEL_FOLD_EXISTS && state->decided)
        return vd_cel_bool(exists);
    if (is_error(&state->error))
        return state->error;
    if (node->fold <= VD_CEL_FOLD_EXISTS)
        return vd_cel_bool(!exists);
    if (node->fold == VD_CEL_FOLD_ONE)
        return vd_cel_bool(state->hits == 1);
    return collected(run, node, state);
}

static struct vd_cel_value eval_fold(struct vd_cel_run *run, const struct vd_cel_node *node)
{
    struct vd_cel_value range = eval(run, node->args[0]), item, second;
    struct vd_cel_iterator it;
    struct fold_state state = {.error = {.kind = VD_CEL_NULL}};
    bool logic = node->fold <= VD_CEL_FOLD_EXISTS;
    if (is_error(&range))
        return range;
    if (!vd_cel_iterate(run, &it, &range))
        return run->cancelled ? cancelled() : vd_cel_no_overload();
    while (!run->cancelled && vd_cel_next(run, &it, &item, node->name2.p ? &second : NULL)) {
        if (logic && state.decided) { /* the loop's test, which ends it */
            charge(run, node->fold == VD_CEL_FOLD_EXISTS ? 3 : 2);
            break;
        }
        run->slots[node->slot] = item;
        if (node->name2.p)
            run->slots[node->slot2] = second;
        step(run, node, &state, &item);
        if (!logic && is_error(&state.error))
            break;
    }
    return fold_result(run, node, &state);
}

static struct vd_cel_value eval_opt(struct vd_cel_run *run, const struct vd_cel_node *node)
{
    struct vd_cel_value target = eval(run, node->args[0]);
    if (is_error(&target))
        return target;
    charge(run, 1);
    if (target.kind != VD_CEL_OPTIONAL)
        return vd_cel_no_overload();
    if (!target.some)
        return target;
    run->slots[node->slot] = *target.some;
    struct vd_cel_value made = eval(run, node->args[1]);
    charge(run, LIST_CREATE + 1);
    if (is_error(&made) || (node->flags & VD_CEL_FLAT))
        return made;
    return vd_cel_some(run, made);
}

static struct vd_cel_value eval_literal(struct vd_cel_run *run, const struct vd_cel_node *node)
{
    (void)run;
    return node->literal;
}

static struct vd_cel_value eval(struct vd_cel_run *run, const struct vd_cel_node *node)
{
    static struct vd_cel_value (*const by_op[])(struct vd_cel_run *, const struct vd_cel_node *) = {
        [VD_CEL_OP_LITERAL] = eval_literal, [VD_CEL_OP_IDENT] = eval_ident,
        [VD_CEL_OP_SELECT] = eval_select,   [VD_CEL_OP_HAS] = eval_has,
        [VD_CEL_OP_CALL] = eval_call,       [VD_CEL_OP_INDEX] = eval_index,
        [VD_CEL_OP_AND] = eval_logic,       [VD_CEL_OP_OR] = eval_logic,
        [VD_CEL_OP_TERNARY] = eval_ternary, [VD_CEL_OP_LIST] = eval_list,
        [VD_CEL_OP_MAP] = eval_map,         [VD_CEL_OP_FOLD] = eval_fold,
        [VD_CEL_OP_OPT] = eval_opt,
    };
    if (run->cancelled)
        return cancelled();
    return by_op[node->op](run, node);
}

struct vd_cel_value vd_cel_eval(const struct vd_cel_program *program, struct vd_cel_run *run)
{
    struct vd_cel_value slots[16];
    run->cost = run->steps = 0;
    run->memory = 0;
    run->cancelled = false;
    run->slots = program->slot_count <= sizeof slots / sizeof *slots
                     ? slots
                     : vd_cel_alloc(run, program->slot_count * sizeof *run->slots);
    struct vd_cel_value result = run->slots ? eval(run, program->root) : cancelled();
    run->slots = NULL;
    return run->cancelled ? cancelled() : result;
}
