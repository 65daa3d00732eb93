/*
 * The rules of a schema at work: see schema_rules.h.
 *
 * The walk goes side by side over the object, the stored object and the schema, only
 * into parts that have rules. What is compared with what: members by name, values of
 * maps by key, items of a list of type map by their keys; items of other lists have no
 * counterpart.
 *
 * One object has a budget of cost. When it is used up the walk ends with a violation,
 * so that no object passes because its rules were too dear.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "kinds/format.h"
#include "kinds/name.h"
#include "kinds/schema_internal.h"
#include "kinds/schema_rules.h"
#include "watch/label.h"
#include "json/compare.h"
#include "json/key_index.h"

/* ---- compiling ---- */

struct vd_rule_book {
    struct vd_arena arena;
    struct vd_schema_rules *p; /* in the order of the schema's `ruled` */
    size_t n;
    size_t text_len; /* of all expressions */
};

static void compile_rule(struct vd_arena *a, struct vd_cel_rule *rule,
                         const struct vd_cel_type *type)
{
    struct vd_buf issues = {0}, message_issues = {0};
    vd_cel_rule_compile(rule, a, type, &issues, &message_issues);
    if (issues.n)
        rule->issues = vd_arena_copy(a, vd_buf_slice(&issues));
    vd_buf_release(&issues);
    vd_buf_release(&message_issues);
}

/* The rules of one node. */
static struct vd_schema_rules compile_rules(struct vd_arena *a, const struct vd_schema_ruled *ruled)
{
    const struct vd_json *sources = vd_json_get(ruled->source,
                                                VD_SLICE("x-kubernetes-validations"));
    struct vd_slice name = vd_json_text(vd_json_get(ruled->source, VD_SLICE("type")));
    struct vd_schema_rules rules = {
        .p = vd_arena_alloc(a, vd_json_count(sources) * sizeof *rules.p),
        .type = vd_schema_cel_type(a, ruled->source, ruled->resource),
        .type_name = name.p ? name : VD_SLICE(""),
    };
    VD_JSON_EACH (source, sources) {
        struct vd_cel_rule *rule = &rules.p[rules.n];
        (void)vd_schema_rule_read(a, ruled->source, source, rule);
        if (!rule->text.n || !rules.type)
            continue;
        compile_rule(a, rule, rules.type);
        rules.n++;
    }
    return rules;
}

static struct vd_rule_book *compile_book(const struct vd_schema *s)
{
    struct vd_rule_book *book = VD_NEW(struct vd_rule_book);
    book->n = s->ruled.n;
    book->p = vd_arena_alloc(&book->arena, book->n * sizeof *book->p);
    for (size_t i = 0; i < book->n; i++) {
        book->p[i] = compile_rules(&book->arena, &s->ruled.p[i]);
        for (size_t k = 0; k < book->p[i].n; k++)
            book->text_len += book->p[i].p[k].text.n + book->p[i].p[k].message_expression.n;
    }
    return book;
}

void vd_rule_book_free(struct vd_rule_book *book)
{
    for (size_t i = 0; book && i < book->n; i++)
        for (size_t k = 0; k < book->p[i].n; k++)
            vd_cel_rule_release(&book->p[i].p[k]);
    if (book)
        vd_arena_release(&book->arena);
    free(book);
}

const struct vd_rule_book *vd_schema_rules_get(const struct vd_schema *s, struct vd_effort *effort)
{
    struct vd_rule_book *book = atomic_load_explicit(s->book, memory_order_acquire);
    struct vd_rule_book *other = NULL;
    if (book || !vd_effort_may_compile(effort))
        return book;
    book = compile_book(s);
    vd_effort_spend(effort, VD_EFFORT_COMPILE * (uint64_t)book->text_len);
    if (atomic_compare_exchange_strong(s->book, &other, book))
        return book;
    vd_rule_book_free(book); /* somebody was faster */
    return other;
}

/* ---- what CEL asks of Kubernetes' names ---- */

static size_t one_fault(bool wrong, const char *what, struct vd_slice faults[4])
{
    faults[0] = vd_slice_of(what);
    return wrong;
}

static size_t name_faults(enum vd_name_rule rule, bool prefix, struct vd_slice text,
                          struct vd_arena *arena, struct vd_slice faults[4])
{
    struct vd_name_faults found = {0};
    if (prefix ? vd_name_prefix_check(rule, text, &found) : vd_name_check(rule, text, &found))
        return 0;
    for (size_t i = 0; i < found.n; i++)
        faults[i] = vd_arena_copy(arena, vd_slice_of(found.p[i]));
    return found.n;
}

static size_t format_faults(const char *format, struct vd_slice text, struct vd_arena *arena,
                            struct vd_slice faults[4])
{
    static const struct {
        const char *name;
        enum vd_name_rule rule;
        bool prefix;
    } names[] = {
        {"dns1123Label", VD_NAME_LABEL, false},
        {"dns1123Subdomain", VD_NAME_SUBDOMAIN, false},
        {"dns1035Label", VD_NAME_DNS1035, false},
        {"dns1123LabelPrefix", VD_NAME_LABEL, true},
        {"dns1123SubdomainPrefix", VD_NAME_SUBDOMAIN, true},
        {"dns1035LabelPrefix", VD_NAME_DNS1035, true},
    };
    static const struct {
        const char *name, *what;
        enum vd_format format;
    } formats[] = {
        {"uri", "invalid URI for request", VD_FORMAT_URI},
        {"uuid", "does not match the UUID format", VD_FORMAT_UUID},
        {"byte", "invalid base64", VD_FORMAT_BYTE},
        {"date", "invalid date", VD_FORMAT_DATE},
        {"datetime", "invalid datetime", VD_FORMAT_DATE_TIME},
    };
    struct vd_slice asked = vd_slice_of(format);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (vd_slice_is(asked, names[i].name))
            return name_faults(names[i].rule, names[i].prefix, text, arena, faults);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (vd_slice_is(asked, formats[i].name))
            return one_fault(!vd_format_matches(formats[i].format, text), formats[i].what, faults);
    struct vd_buf why = {0};
    bool ok = vd_slice_is(asked, "labelValue") ? vd_label_value_check(text, &why)
                                               : vd_label_key_check(text, &why);
    faults[0] = vd_arena_copy(arena, vd_buf_slice(&why));
    vd_buf_release(&why);
    return ok ? 0 : 1;
}

const struct vd_cel_host vd_schema_cel_host = {format_faults};

/* ---- evaluating ---- */

/* A value beside its stored counterpart, if it has one. */
struct pair {
    const struct vd_json *value, *old;
    const struct vd_schema_node *node;
};

struct rule_walk {
    struct vd_violations *out;
    const struct vd_rule_book *book;
    struct vd_arena arena;
    struct vd_cel_run run;
    uint64_t budget;
    bool over; /* nothing more is evaluated */
    bool ok;
};

static void walk(struct rule_walk *w, const struct vd_schema_node *node, struct pair pair,
                 const struct pair *parent, const struct vd_field_path *path);

/* Nothing has changed here, so an old fault is no reason to refuse the update. */
static bool is_unchanged(const struct pair *pair, const struct pair *parent)
{
    if (pair->old)
        return vd_schema_same(pair->node, pair->value, pair->old);
    return parent && parent->old && vd_schema_same(parent->node, parent->value, parent->old);
}

static void add(struct rule_walk *w, enum vd_violation_type type, const struct vd_field_path *path,
                struct vd_slice below, struct vd_slice shown, struct vd_slice detail)
{
    struct vd_buf field = {0};
    vd_field_path_write(&field, path, VD_FIELD_BRACKETS);
    if (below.n)
        vd_buf_addf(&field, "%s%.*s", field.n && below.p[0] != '[' ? "." : "", VD_FMT(below));
    if (field.n == 0)
        vd_buf_add_text(&field, "<nil>");
    vd_violations_add_at(w->out, type, vd_buf_slice(&field), vd_bad_value_name(w->out, shown),
                         detail);
    vd_buf_release(&field);
    w->ok = false;
}

/* A violation of the rule's evaluation, not of the rule: "<what><between><the rule>". */
static void add_failure(struct rule_walk *w, const struct vd_schema_rules *rules,
                        const struct vd_field_path *path, const struct vd_cel_rule *rule,
                        struct vd_slice what, const char *between)
{
    const char *quote = between[0] == '\'' ? "'" : "";
    struct vd_slice name = rule->message.n ? rule->message : rule->text;
    struct vd_buf detail = {0};
    if (w->out->hides_values)
        what = VD_SLICE(VD_HIDDEN_VALUE); /* it may quote a value */
    vd_buf_addf(&detail, "%s%.*s%s%.*s", quote, VD_FMT(what), between, VD_FMT(name));
    add(w, VD_VIOLATION_INVALID, path, VD_SLICE(""), rules->type_name, vd_buf_slice(&detail));
    vd_buf_release(&detail);
}

/* Takes the cost of the last evaluation from the budget; false: there was not enough. */
static bool pay(struct rule_walk *w, const struct vd_schema_rules *rules,
                const struct vd_field_path *path)
{
    if (w->run.cost <= w->budget) {
        w->budget -= w->run.cost;
        return true;
    }
    add(w, VD_VIOLATION_INVALID, path, VD_SLICE(""), rules->type_name,
        VD_SLICE("validation failed due to running out of cost budget, no further validation "
                 "rules will be run"));
    w->over = true;
    return false;
}

static void explain_error(struct rule_walk *w, const struct vd_schema_rules *rules,
                          const struct vd_field_path *path, const struct vd_cel_rule *rule,
                          struct vd_slice what)
{
    if (w->run.cancelled) {
        add_failure(w, rules, path, rule, what,
                    "': no further validation rules will be run due to call cost exceeds limit "
                    "for rule: ");
        w->over = true;
    } else if (vd_slice_starts_with(what, VD_SLICE("no such overload"))) {
        add_failure(w, rules, path, rule, what,
                    "': call arguments did not match a supported operator, function or macro "
                    "signature for rule: ");
    } else {
        add_failure(w, rules, path, rule, what, " evaluating rule: ");
    }
}

/* The sentence of a rule that is not true: messageExpression, message or the rule. An expression
 * may put values into its sentence, so that it is passed over where they are hidden. */
static void write_message(struct rule_walk *w, const struct vd_cel_rule *rule, struct vd_buf *out)
{
    if (rule->message_program && !w->out->hides_values) {
        struct vd_cel_value v = vd_cel_eval(rule->message_program, &w->run);
        struct vd_slice text = v.kind == VD_CEL_STRING ? vd_slice_trim(v.s) : VD_SLICE("");
        w->budget -= w->run.cost < w->budget ? w->run.cost : w->budget;
        if (text.n && text.n <= VD_CEL_MESSAGE_LEN_MAX && !memchr(text.p, '\n', text.n)) {
            vd_buf_add_slice(out, text);
            return;
        }
    }
    if (rule->message.n)
        vd_buf_add_slice(out, rule->message);
    else
        vd_buf_addf(out, "failed rule: %.*s", VD_FMT(rule->text));
}

static void report(struct rule_walk *w, const struct vd_schema_rules *rules,
                   const struct vd_field_path *path, const struct vd_cel_rule *rule)
{
    static const uint8_t types[] = {
        [VD_CEL_INVALID] = VD_VIOLATION_INVALID,
        [VD_CEL_FORBIDDEN] = VD_VIOLATION_FORBIDDEN,
        [VD_CEL_REQUIRED] = VD_VIOLATION_REQUIRED,
        [VD_CEL_DUPLICATE] = VD_VIOLATION_DUPLICATE,
    };
    struct vd_buf detail = {0};
    write_message(w, rule, &detail);
    add(w, (enum vd_violation_type)types[rule->reason], path, rule->field_path, rules->type_name,
        rule->reason == VD_CEL_DUPLICATE ? VD_SLICE("") : vd_buf_slice(&detail));
    vd_buf_release(&detail);
}

static void set_old_self(struct rule_walk *w, const struct vd_schema_rules *rules,
                         const struct pair *pair, bool optional)
{
    struct vd_cel_value old = pair->old ? vd_cel_of_json(&w->run, pair->old, rules->type)
                                        : vd_cel_null();
    if (optional)
        old = pair->old ? vd_cel_some(&w->run, old) : vd_cel_none();
    w->run.old_self = old;
}

static void check_rule(struct rule_walk *w, const struct vd_schema_rules *rules,
                       const struct vd_cel_rule *rule, const struct pair *pair,
                       const struct pair *parent, const struct vd_field_path *path)
{
    if (!rule->program) {
        struct vd_buf detail = {0};
        vd_buf_addf(&detail, "rule compile error: %.*s", VD_FMT(rule->issues));
        add(w, VD_VIOLATION_INVALID, path, VD_SLICE(""), rules->type_name, vd_buf_slice(&detail));
        vd_buf_release(&detail);
        return;
    }
    if (rule->uses_old_self && !pair->old && !rule->optional_old_self)
        return; /* a transition from nothing is none */
    vd_arena_reset(&w->arena);
    w->run.memory = 0;
    w->run.self = vd_cel_of_json(&w->run, pair->value, rules->type);
    set_old_self(w, rules, pair, rule->optional_old_self);
    struct vd_cel_value result = vd_cel_eval(rule->program, &w->run);
    if (!vd_effort_spend(&w->out->effort, VD_EFFORT_CEL * w->run.cost))
        w->over = true;
    if (!w->run.cancelled && !pay(w, rules, path))
        return;
    if (result.kind == VD_CEL_BOOL && result.truth)
        return;
    if (result.kind == VD_CEL_BOOL) {
        size_t before = w->out->list.n, dropped = w->out->dropped;
        bool ok = w->ok;
        set_old_self(w, rules, pair, false);
        report(w, rules, path, rule);
        if (!rule->uses_old_self && is_unchanged(pair, parent) &&
            vd_violations_pass(w->out, before, dropped))
            w->ok = ok;
    } else {
        explain_error(w, rules, path, rule,
                      result.kind == VD_CEL_ERROR ? result.s : VD_SLICE("no such overload"));
    }
}

static void walk_object(struct rule_walk *w, const struct vd_schema_node *node, struct pair pair,
                        const struct vd_field_path *path)
{
    bool changes = vd_json_is(pair.old, VD_JSON_OBJECT);
    struct vd_key_index olds;
    if (changes)
        vd_key_index_init(&olds, pair.old);
    VD_JSON_EACH (member, pair.value) {
        const struct vd_schema_property *property = vd_schema_find(node, vd_json_key(member));
        const struct vd_schema_node *child = property ? property->node : node->additional;
        if (!child || !(child->flags & VD_SCHEMA_RULES_BELOW))
            continue;
        struct vd_field_path at = property ? vd_field_member(path, vd_json_key(member))
                                           : vd_field_key(path, vd_json_key(member));
        struct pair below = {member, changes ? vd_key_index_get(&olds, vd_json_key(member)) : NULL,
                             child};
        walk(w, child, below, &pair, &at);
    }
    if (changes)
        vd_key_index_release(&olds);
}

static void walk_array(struct rule_walk *w, const struct vd_schema_node *node, struct pair pair,
                       const struct vd_field_path *path)
{
    if (!node->items || !(node->items->flags & VD_SCHEMA_RULES_BELOW))
        return;
    const struct vd_json **old = NULL;
    if (node->list_type == VD_LIST_MAP && vd_json_is(pair.old, VD_JSON_ARRAY))
        old = vd_schema_correlate(node, pair.value, pair.old);
    size_t index = 0;
    VD_JSON_EACH (item, pair.value) {
        struct vd_field_path at = vd_field_element(path, index);
        struct pair below = {item, old ? old[index] : NULL, node->items};
        walk(w, node->items, below, &pair, &at);
        index++;
    }
    free(old);
}

static void walk(struct rule_walk *w, const struct vd_schema_node *node, struct pair pair,
                 const struct pair *parent, const struct vd_field_path *path)
{
    if (vd_json_is(pair.value, VD_JSON_NULL))
        return;
    if (vd_json_is(pair.old, VD_JSON_NULL))
        pair.old = NULL;
    const struct vd_schema_rules *rules = node->rules ? &w->book->p[node->rules - 1] : NULL;
    for (size_t i = 0; rules && i < rules->n && !w->over; i++)
        check_rule(w, rules, &rules->p[i], &pair, parent, path);
    if (w->over)
        return;
    if (vd_json_is(pair.value, VD_JSON_OBJECT))
        walk_object(w, node, pair, path);
    else if (vd_json_is(pair.value, VD_JSON_ARRAY))
        walk_array(w, node, pair, path);
}

bool vd_schema_has_rules(const struct vd_schema *s)
{
    return s->root->flags & VD_SCHEMA_RULES_BELOW;
}

bool vd_schema_may_check_rules(const struct vd_violations *v, size_t from)
{
    for (size_t i = from; i < v->list.n; i++) {
        enum vd_violation_type type = v->list.p[i].type;
        if (type == VD_VIOLATION_REQUIRED || type == VD_VIOLATION_TYPE_INVALID ||
            type == VD_VIOLATION_TOO_LONG || type == VD_VIOLATION_TOO_MANY)
            return false;
    }
    return v->dropped == 0;
}

bool vd_schema_check_rules(const struct vd_schema *s, const struct vd_json *object,
                           const struct vd_json *old, struct vd_violations *out)
{
    if (!vd_schema_has_rules(s))
        return true;
    const struct vd_rule_book *book = vd_schema_rules_get(s, &out->effort);
    if (!book)
        return false;
    struct rule_walk w = {.out = out, .book = book, .budget = VD_CEL_BUDGET_MAX, .ok = true};
    w.run.arena = &w.arena;
    w.run.effort = &out->effort;
    w.run.host = &vd_schema_cel_host;
    w.run.cost_max = VD_CEL_CALL_COST_MAX;
    walk(&w, s->root, (struct pair){object, old, s->root}, NULL, NULL);
    vd_cel_run_release(&w.run);
    vd_arena_release(&w.arena);
    return w.ok;
}
