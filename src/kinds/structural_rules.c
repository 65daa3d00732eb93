/*
 * The rules of a CustomResourceDefinition's schema (x-kubernetes-validations): do they
 * compile, and what may they cost?
 *
 * A rule is estimated for the largest value that its schema allows, times the number of
 * such values that one object can hold: maxItems and maxProperties on the way down, or,
 * where those are missing, what fits into a request. Both limits, of one rule and of
 * the whole schema, are Kubernetes', and so are the sentences.
 */
#include <string.h>

#include "base/limits.h"
#include "kinds/schema_rules.h"
#include "kinds/structural_internal.h"

enum {
    EXPENSIVE_MAX = 4,         /* rules that the error names when all rules cost too much */
    REQUEST_LEN_MAX = 3145728, /* bytes of a request, which bound what a schema leaves unbounded */
};

#define UNBOUNDED UINT64_MAX

struct expensive {
    struct vd_slice field;
    uint64_t cost;
};

struct judge {
    struct vd_violations *out;
    struct vd_arena arena;
    uint64_t total;
    struct expensive most[EXPENSIVE_MAX + 1]; /* dearest first */
    size_t most_count;
};

/* Where in the schema a node is. */
struct spot {
    uint64_t cardinality;                       /* values there can be, or UNBOUNDED */
    const struct vd_field_path *uncorrelatable; /* the list whose items have no past, or NULL */
    bool resource;
};

static void walk(struct judge *j, const struct vd_json *schema, const struct vd_field_path *path,
                 struct spot spot);

static uint64_t times(uint64_t a, uint64_t b)
{
    return a && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

/* ---- costs ---- */

static void write_cost(struct vd_buf *out, const char *what, uint64_t cost, uint64_t limit)
{
    double factor = (double)cost / (double)limit;
    vd_buf_addf(out, "%s exceeds budget by factor of ", what);
    if (factor > 100)
        vd_buf_add_text(out, "more than 100x");
    else
        vd_buf_addf(out, factor < 1.5 ? "%fx" : "%.1fx", factor);
    vd_buf_add_text(out, " (try simplifying the rule, or adding maxItems, maxProperties, and "
                         "maxLength where arrays, maps, and strings are declared)");
}

static void forbid_cost(struct judge *j, const struct vd_field_path *path, const char *what,
                        uint64_t cost, uint64_t limit)
{
    struct vd_buf text = {0};
    write_cost(&text, what, cost, limit);
    vd_violations_add(j->out, VD_VIOLATION_FORBIDDEN, path, vd_bad_value_nothing(), "%s",
                      vd_buf_text(&text));
    vd_buf_release(&text);
}

/* Adds to the total and remembers the dearest. */
static void count_cost(struct judge *j, const struct vd_field_path *path, uint64_t cost)
{
    j->total = cost > UINT64_MAX - j->total ? UINT64_MAX : j->total + cost;
    if (cost < VD_CEL_TOTAL_COST_MAX / 100)
        return;
    struct vd_buf field = {0};
    vd_field_path_write(&field, path, VD_FIELD_BRACKETS);
    size_t at = j->most_count;
    for (; at > 0 && j->most[at - 1].cost < cost; at--)
        j->most[at] = j->most[at - 1];
    j->most[at] = (struct expensive){vd_arena_copy(&j->arena, vd_buf_slice(&field)), cost};
    if (j->most_count < EXPENSIVE_MAX)
        j->most_count++;
    vd_buf_release(&field);
}

static void judge_cost(struct judge *j, const struct vd_field_path *path, const char *what,
                       uint64_t cost)
{
    if (cost > VD_CEL_COST_MAX)
        forbid_cost(j, path, what, cost, VD_CEL_COST_MAX);
    count_cost(j, path, cost);
}

static void judge_total(struct judge *j, const struct vd_field_path *path)
{
    if (j->total <= VD_CEL_TOTAL_COST_MAX)
        return;
    for (size_t i = 0; i < j->most_count; i++)
        vd_violations_add_at(j->out, VD_VIOLATION_FORBIDDEN, j->most[i].field,
                             vd_bad_value_nothing(),
                             VD_SLICE("contributed to estimated rule cost total exceeding cost "
                                      "limit for entire OpenAPIv3 schema"));
    forbid_cost(j, path,
                "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema",
                j->total, VD_CEL_TOTAL_COST_MAX);
}

/* ---- one rule ---- */

static void add_quoted(struct vd_buf *out, struct vd_violations *v, const char *name,
                       struct vd_slice text)
{
    struct vd_slice quoted = vd_bad_value_text(v, text.p ? text : VD_SLICE(""));
    vd_buf_addf(out, "%s:%.*s, ", name, VD_FMT(quoted));
}

/* The rule as Kubernetes' messages show it: Go's idea of its struct. */
static struct vd_slice shown_rule(struct judge *j, const struct vd_json *source)
{
    struct vd_buf text = {0};
    const struct vd_json *optional = vd_json_get(source, VD_SLICE("optionalOldSelf"));
    vd_buf_add_text(&text, "apiextensions.ValidationRule{");
    add_quoted(&text, j->out, "Rule", vd_keyword_text(source, VD_SLICE("rule")));
    add_quoted(&text, j->out, "Message", vd_keyword_text(source, VD_SLICE("message")));
    add_quoted(&text, j->out, "MessageExpression",
               vd_keyword_text(source, VD_SLICE("messageExpression")));
    vd_buf_addf(&text, "Reason:(*apiextensions.FieldValueErrorReason)(%s), ",
                vd_json_get(source, VD_SLICE("reason")) ? "0xc000000000" : "nil");
    add_quoted(&text, j->out, "FieldPath", vd_keyword_text(source, VD_SLICE("fieldPath")));
    vd_buf_addf(&text, "OptionalOldSelf:(*bool)(%s)}", optional ? "0xc000000000" : "nil");
    struct vd_slice shown = vd_arena_copy(&j->arena, vd_buf_slice(&text));
    vd_buf_release(&text);
    return shown;
}

static void refuse(struct judge *j, const struct vd_field_path *rule, const char *member,
                   struct vd_slice shown, const char *detail)
{
    struct vd_field_path at = vd_field_member(rule, vd_slice_of(member));
    vd_violations_add(j->out, VD_VIOLATION_INVALID, &at, shown, "%s", detail);
}

static void judge_form(struct judge *j, const struct vd_json *source, bool path_ok,
                       const struct vd_field_path *at)
{
    static const char *const reasons[] = {"FieldValueDuplicate", "FieldValueForbidden",
                                          "FieldValueInvalid", "FieldValueRequired"};
    struct vd_slice reason = vd_keyword_text(source, VD_SLICE("reason"));
    struct vd_slice path = vd_keyword_text(source, VD_SLICE("fieldPath"));
    size_t i = 0;
    while (i < 4 && !vd_slice_is(reason, reasons[i]))
        i++;
    if (vd_json_get(source, VD_SLICE("reason")) && i == 4) {
        struct vd_field_path where = vd_field_member(at, VD_SLICE("reason"));
        vd_violations_add(j->out, VD_VIOLATION_NOT_SUPPORTED, &where,
                          vd_bad_value_text(j->out, reason),
                          "supported values: \"%s\", \"%s\", \"%s\", \"%s\"", reasons[0],
                          reasons[1], reasons[2], reasons[3]);
    }
    if (path.n && !vd_slice_trim(path).n)
        refuse(j, at, "fieldPath", vd_bad_value_text(j->out, path),
               "fieldPath must be non-empty if specified");
    if (path.n && !path_ok)
        refuse(j, at, "fieldPath", vd_bad_value_text(j->out, path),
               "fieldPath must be a valid path");
}

static void judge_old_self(struct judge *j, const struct vd_cel_rule *rule,
                           const struct vd_json *source, const struct vd_field_path *at,
                           const struct spot *spot)
{
    const struct vd_json *optional = vd_json_get(source, VD_SLICE("optionalOldSelf"));
    if (rule->uses_old_self && spot->uncorrelatable) {
        struct vd_buf text = {0};
        vd_buf_add_text(&text, "oldSelf cannot be used on the uncorrelatable portion of the "
                               "schema within ");
        vd_field_path_write(&text, spot->uncorrelatable, VD_FIELD_BRACKETS);
        refuse(j, at, "rule", vd_bad_value_text(j->out, rule->text), vd_buf_text(&text));
        vd_buf_release(&text);
    } else if (!rule->uses_old_self && rule->program && optional) {
        refuse(j, at, "optionalOldSelf", vd_bad_value_json(j->out, optional),
               "may not be set if oldSelf is not used in rule");
    }
}

static uint64_t rule_cost(const struct vd_cel_rule *rule, const struct vd_cel_type *type,
                          const struct spot *spot)
{
    uint64_t each = rule->program ? vd_cel_program_cost(rule->program) : 0;
    uint64_t count = spot->cardinality == UNBOUNDED ? REQUEST_LEN_MAX / (type->min_size + 1)
                                                    : spot->cardinality;
    return times(each, count);
}

static void count_patterns(struct judge *j, const struct vd_field_path *path,
                           const struct vd_cel_program *program)
{
    if (program)
        vd_structural_count_patterns(j->out, path, vd_cel_program_pattern_size(program));
}

/* False: there are more rules than can be looked at, or larger ones, and that has been said. */
static bool count_rule(struct judge *j, const struct vd_field_path *path)
{
    if (++j->out->effort.rules == VD_DEFINITION_RULES_MAX + 1)
        vd_violations_add(j->out, VD_VIOLATION_FORBIDDEN, path, vd_bad_value_nothing(),
                          "a definition may have at most %d rules", VD_DEFINITION_RULES_MAX);
    return j->out->effort.rules <= VD_DEFINITION_RULES_MAX &&
           j->out->effort.pattern_size <= VD_DEFINITION_PATTERNS_SIZE_MAX;
}

static void judge_rule(struct judge *j, const struct vd_json *schema, const struct vd_json *source,
                       const struct vd_cel_type *type, const struct vd_field_path *at,
                       const struct spot *spot)
{
    struct vd_cel_rule rule;
    struct vd_buf issues = {0}, message_issues = {0};
    struct vd_field_path where = vd_field_member(at, VD_SLICE("rule"));
    struct vd_field_path message = vd_field_member(at, VD_SLICE("messageExpression"));
    bool path_ok = vd_schema_rule_read(&j->arena, schema, source, &rule);
    judge_form(j, source, path_ok, at);
    vd_cel_rule_compile(&rule, &j->arena, type, &issues, &message_issues);
    judge_cost(j, &where, "estimated rule cost", rule_cost(&rule, type, spot));
    count_patterns(j, &where, rule.program);
    count_patterns(j, &message, rule.message_program);
    if (issues.n)
        refuse(j, at, "rule", shown_rule(j, source), vd_buf_text(&issues));
    if (message_issues.n)
        refuse(j, at, "messageExpression", shown_rule(j, source), vd_buf_text(&message_issues));
    if (rule.message_program)
        judge_cost(j, &message, "estimated messageExpression cost",
                   vd_cel_program_cost(rule.message_program));
    judge_old_self(j, &rule, source, at, spot);
    vd_cel_rule_release(&rule);
    vd_buf_release(&issues);
    vd_buf_release(&message_issues);
}

/* ---- the walk ---- */

static void judge_node(struct judge *j, const struct vd_json *schema,
                       const struct vd_field_path *path, const struct spot *spot)
{
    const struct vd_json *sources = vd_json_get(schema, VD_X_VALIDATIONS);
    struct vd_field_path list = vd_field_member(path, VD_X_VALIDATIONS);
    size_t index = 0;
    if (vd_json_count(sources) == 0)
        return;
    const struct vd_cel_type *type = vd_schema_cel_type(&j->arena, schema, spot->resource);
    if (!type) {
        vd_violations_add(j->out, VD_VIOLATION_INVALID, &list, VD_SLICE("null"), "%s",
                          "internal error: failed to retrieve type information for "
                          "x-kubernetes-validations");
        return;
    }
    VD_JSON_EACH (source, sources) {
        struct vd_field_path at = vd_field_element(&list, index++);
        if (count_rule(j, &at))
            judge_rule(j, schema, source, type, &at, spot);
    }
}

/* The spot below a list or a map: as many values as its bound allows. */
static struct spot below(const struct spot *spot, const struct vd_json *schema, const char *bound,
                         const struct vd_json *child)
{
    uint64_t most;
    struct spot made = *spot;
    if (spot->cardinality == UNBOUNDED ||
        !vd_json_to_u64(vd_json_get(schema, vd_slice_of(bound)), &most))
        made.cardinality = UNBOUNDED;
    else
        made.cardinality = times(spot->cardinality, most);
    made.resource = vd_keyword_truth(child, VD_X_EMBEDDED);
    return made;
}

static void walk(struct judge *j, const struct vd_json *schema, const struct vd_field_path *path,
                 struct spot spot)
{
    const struct vd_json *items = vd_subschema(schema, VD_SLICE("items"));
    const struct vd_json *additional = vd_subschema(schema, VD_SLICE("additionalProperties"));
    struct vd_field_path up = vd_field_member(path, VD_SLICE("properties"));
    VD_JSON_EACH (property, vd_subschema(schema, VD_SLICE("properties"))) {
        struct vd_field_path at = vd_field_key(&up, vd_json_key(property));
        struct spot there = spot;
        there.resource = vd_keyword_truth(property, VD_X_EMBEDDED);
        walk(j, property, &at, there);
    }
    if (additional) {
        struct vd_field_path at = vd_field_member(path, VD_SLICE("additionalProperties"));
        walk(j, additional, &at, below(&spot, schema, "maxProperties", additional));
    }
    if (items) {
        struct vd_field_path at = vd_field_member(path, VD_SLICE("items"));
        struct spot there = below(&spot, schema, "maxItems", items);
        if (!vd_slice_is(vd_keyword_text(schema, VD_X_LIST_TYPE), "map"))
            there.uncorrelatable = path;
        walk(j, items, &at, there);
    }
    judge_node(j, schema, path, &spot);
}

void vd_structural_rules(const struct vd_json *schema, const struct vd_field_path *path,
                         struct vd_violations *out)
{
    struct judge j = {.out = out};
    walk(&j, schema, path, (struct spot){1, NULL, true});
    judge_total(&j, path);
    vd_arena_release(&j.arena);
}
