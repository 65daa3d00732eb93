/* src/kinds/structural_rules.c: which rules a CustomResourceDefinition may have. */
#include "kinds/structural.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/pattern.h"
#include "json_check.h"

/* What is said of the schema of spec.validation. */
static void assert_verdict(struct vd_arena *a, const char *schema, const char *want)
{
    struct vd_field_path spec = vd_field_member(NULL, VD_SLICE("spec"));
    struct vd_field_path up = vd_field_member(&spec, VD_SLICE("validation"));
    struct vd_violations violations = {0};
    struct vd_buf text = {0};
    vd_structural_check(json_of(a, schema), &up, false, &violations);
    vd_violations_write(&text, &violations);
    if (*want ? !strstr(vd_buf_text(&text), want) : text.n > 0)
        fail_msg("%s:\n got %s\nwant %s", schema, vd_buf_text(&text), want);
    vd_buf_release(&text);
    vd_violations_release(&violations);
}

#define AT "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0]"

/* spec with these properties and this rule. */
static void assert_spec(struct vd_arena *a, const char *properties, const char *rule,
                        const char *want)
{
    struct vd_buf schema = {0};
    vd_buf_addf(&schema,
                "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":"
                "{%s},\"x-kubernetes-validations\":[{%s}]}}}",
                properties, rule);
    assert_verdict(a, vd_buf_text(&schema), want);
    vd_buf_release(&schema);
}

#define R(rule)   "\"rule\":\"" rule "\""
#define STRING(n) "\"type\":\"string\",\"maxLength\":" #n
#define SHOWN(r)                                                                                   \
    "apiextensions.ValidationRule{Rule:\"" r "\", Message:\"\", MessageExpression:\"\", "          \
    "Reason:(*apiextensions.FieldValueErrorReason)(nil), FieldPath:\"\", "                         \
    "OptionalOldSelf:(*bool)(nil)}"

static void rules_must_compile(void **state)
{
    static const char fields[] = "\"a\":{\"type\":\"integer\"},\"s\":{\"type\":\"string\"}";
    static const struct {
        const char *rule, *want;
    } rows[] = {
        {R("self.a > 0"), ""},
        {R("self.a == oldSelf.a"), ""},
        {R("self.foo"),
         AT ".rule: Invalid value: " SHOWN(
             "self.foo") ": compilation failed: ERROR: "
                         "<input>:1:5: undefined field 'foo'\n | self.foo\n | ....^"},
        {R("self.a"), AT ".rule: Invalid value: " SHOWN("self.a") ": cel expression must evaluate "
                                                                  "to a bool"},
        {R("self.a > 0 &&"), ": compilation failed: ERROR: <input>:1:14: Syntax error: mismatched "
                             "input '<EOF>' expecting"},
        {R("bogus(self.a)"), "undeclared reference to 'bogus' (in container '')"},
        {R("self.a > 0") ",\"messageExpression\":\"self.b\"",
         ".messageExpression: Invalid value: "},
        {R("self.a > 0") ",\"messageExpression\":\"self.b\"",
         ": messageExpression compilation failed: ERROR: <input>:1:5: undefined field 'b'"},
        {R("self.a > 0") ",\"messageExpression\":\"5\"",
         ": messageExpression must evaluate to a string"},
        {R("self.a > 0") ",\"messageExpression\":\"'x'\"", ""},
        {R("self.a > 0") ",\"reason\":\"FieldValueForbidden\"", ""},
        {R("self.a > 0") ",\"reason\":\"Other\"",
         AT ".reason: Unsupported value: \"Other\": supported values: \"FieldValueDuplicate\", "
            "\"FieldValueForbidden\", \"FieldValueInvalid\", \"FieldValueRequired\""},
        {R("self.a > 0") ",\"fieldPath\":\".a\"", ""},
        {R("self.a > 0") ",\"fieldPath\":\".b\"",
         AT ".fieldPath: Invalid value: \".b\": fieldPath must be a valid path"},
        {R("self.a > 0") ",\"fieldPath\":\"a\"", "fieldPath must be a valid path"},
        {R("self.a > 0") ",\"optionalOldSelf\":true",
         AT ".optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule"},
        {R("!oldSelf.hasValue() || oldSelf.value().a == self.a") ",\"optionalOldSelf\":true", ""},
        {R("oldSelf.hasValue()"), "found no matching overload for 'hasValue'"},
        {R("self.s.matches('(')"), "invalid matches argument"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_spec(*state, fields, rows[i].rule, rows[i].want);
}

static void the_past_needs_keys(void **state)
{
    static const char form[] =
        "{\"type\":\"object\",\"properties\":{\"l\":{\"type\":\"array\",\"maxItems\":5%s,\"items\":"
        "{\"type\":\"object\",\"properties\":{\"k\":{\"type\":\"string\",\"maxLength\":5}},"
        "\"required\":[\"k\"],\"x-kubernetes-validations\":[{\"rule\":\"self.k == "
        "oldSelf.k\"}]}}}}";
    static const char keys[] = ",\"x-kubernetes-list-type\":\"map\","
                               "\"x-kubernetes-list-map-keys\":[\"k\"]";
    const char *hole = strstr(form, "%s");
    struct vd_buf keyed = {0}, plain = {0};
    vd_buf_add(&keyed, form, (size_t)(hole - form));
    vd_buf_addf(&keyed, "%s%s", keys, hole + 2);
    assert_verdict(*state, vd_buf_text(&keyed), "");
    vd_buf_add(&plain, form, (size_t)(hole - form));
    vd_buf_add_text(&plain, hole + 2);
    assert_verdict(*state, vd_buf_text(&plain),
                   "properties[l].items.x-kubernetes-validations[0].rule: Invalid value: \"self.k "
                   "== oldSelf.k\": oldSelf cannot be used on the uncorrelatable portion of the "
                   "schema within spec.validation.openAPIV3Schema.properties[l]");
    vd_buf_release(&keyed);
    vd_buf_release(&plain);
}

#define LIST(max, items) "\"l\":{\"type\":\"array\"" max ",\"items\":{" items "}}"

static void dear_rules_are_refused(void **state)
{
    static const struct {
        const char *fields, *rule, *want;
    } rows[] = {
        {LIST(",\"maxItems\":10", STRING(10)), R("self.l.all(x, self.l.all(y, x == y))"), ""},
        {LIST("", "\"type\":\"string\""), R("self.l.all(x, x.contains('a'))"),
         AT ".rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try "
            "simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, "
            "maps, and strings are declared)"},
        {LIST("", "\"type\":\"string\""), R("self.l.all(x, x.contains('a'))"),
         "spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost "
         "total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x"},
        {LIST("", "\"type\":\"string\""), R("self.l.all(x, x.contains('a'))"),
         AT ".rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for "
            "entire OpenAPIv3 schema"},
        {LIST("", "\"type\":\"integer\""), R("self.l.all(x, x > 0)"), ""},
        {LIST("", "\"type\":\"integer\""), R("self.l.all(x, self.l.exists(y, y == x))"),
         "more than 100x"},
        {LIST(",\"maxItems\":2000", "\"type\":\"integer\""),
         R("self.l.all(x, self.l.exists(y, y < x))"),
         "estimated rule cost exceeds budget by factor "
         "of 2.8x"},
        {"\"s\":{\"type\":\"string\"}", R("self.s == 'x'"), ""},
        {"\"s\":{\"type\":\"string\"}", R("self.s.startsWith('x')"), ""},
        {"\"s\":{\"type\":\"string\"}", R("self.s.matches('^a+$')"), ""},
        {"\"s\":{\"type\":\"string\"},\"t\":{\"type\":\"string\"}", R("self.s.contains(self.t)"),
         "more than 100x"},
        {"\"s\":{\"type\":\"string\"}",
         R("self.s == 'x'") ",\"messageExpression\":\"'a' + string(5.0 + double(self.s.size()))\"",
         ".messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor "
         "of more than 100x"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_spec(*state, rows[i].fields, rows[i].rule, rows[i].want);
}

/* A cheap rule on the items of lists of lists is as dear as there can be items. */
static void cardinality_counts(void **state)
{
    static const char bounded[] =
        "{\"type\":\"object\",\"properties\":{\"l\":{\"type\":\"array\",\"maxItems\":100,\"items\":"
        "{\"type\":\"array\",\"maxItems\":100,\"items\":{\"type\":\"string\",\"maxLength\":100,"
        "\"x-kubernetes-validations\":[{\"rule\":\"self.contains('abc')\"}]}}}}}";
    static const char unbounded[] =
        "{\"type\":\"object\",\"properties\":{\"l\":{\"type\":\"array\",\"items\":"
        "{\"type\":\"string\",\"maxLength\":1000,"
        "\"x-kubernetes-validations\":[{\"rule\":\"self.contains('abc')\"}]}}}}";
    assert_verdict(*state, bounded, "");
    assert_verdict(*state, unbounded, "exceeds budget by factor of");
}

static void defaults_follow_the_rules(void **state)
{
    static const char form[] =
        "{\"type\":\"object\",\"properties\":{\"r\":{\"type\":\"object\",\"default\":%s,"
        "\"properties\":{\"min\":{\"type\":\"integer\"},\"max\":{\"type\":\"integer\"}},"
        "\"x-kubernetes-validations\":[{\"rule\":\"self.min <= self.max\"}]}}}";
    static const struct {
        const char *value, *want;
    } rows[] = {
        {"{\"min\":0,\"max\":5}", ""},
        {"{\"min\":6,\"max\":5}", "spec.validation.openAPIV3Schema.properties[r].default: Invalid "
                                  "value: \"object\": failed rule: self.min <= self.max"},
        {"{}", "no such key: min evaluating rule: self.min <= self.max"},
    };
    const char *hole = strstr(form, "%s");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vd_buf schema = {0};
        vd_buf_add(&schema, form, (size_t)(hole - form));
        vd_buf_addf(&schema, "%s%s", rows[i].value, hole + 2);
        assert_verdict(*state, vd_buf_text(&schema), rows[i].want);
        vd_buf_release(&schema);
    }
}

/* ---- how much there may be of it ---- */

/* A schema of `n` fields, each with this; what is said of it. */
static void assert_many(struct vd_arena *a, size_t n, const char *field, const char *want)
{
    struct vd_buf schema = {0};
    vd_buf_add_text(&schema, "{\"type\":\"object\",\"properties\":{");
    for (size_t i = 0; i < n; i++)
        vd_buf_addf(&schema, "%s\"f%zu\":{\"type\":\"string\",\"maxLength\":9,%s}", i ? "," : "", i,
                    field);
    vd_buf_add_text(&schema, "}}");
    assert_verdict(a, vd_buf_text(&schema), want);
    vd_buf_release(&schema);
}

static void patterns_are_bounded(void **state)
{
    static const char heavy[] = "(a?){1000}(b?){1000}";
    char why[64];
    struct vd_pattern *pattern = vd_pattern_new(heavy, strlen(heavy), why, sizeof why);
    size_t most = VD_DEFINITION_PATTERNS_SIZE_MAX / vd_pattern_size(pattern);
    char want[256];
    vd_pattern_free(pattern);
    assert_many(*state, most, "\"pattern\":\"(a?){1000}(b?){1000}\"", "");
    snprintf(want, sizeof want,
             "properties[f%zu].pattern: Forbidden: with this one the regular expressions of the "
             "definition compile to more than %d instructions",
             most, VD_DEFINITION_PATTERNS_SIZE_MAX);
    assert_many(*state, most + 3, "\"pattern\":\"(a?){1000}(b?){1000}\"", want);
    snprintf(want, sizeof want,
             "properties[f%zu].x-kubernetes-validations[0].rule: Forbidden: with this one the "
             "regular expressions of the definition compile to more than %d instructions",
             most, VD_DEFINITION_PATTERNS_SIZE_MAX);
    assert_many(
        *state, most + 3,
        "\"x-kubernetes-validations\":[{\"rule\":\"self.matches('(a?){1000}(b?){1000}')\"}]", want);
}

static void small_patterns_count_too(void **state)
{
    size_t most = VD_DEFINITION_PATTERNS_SIZE_MAX / 256;
    assert_many(*state, most, "\"pattern\":\"a\"", "");
    assert_many(*state, most + 1, "\"pattern\":\"a\"", "pattern: Forbidden: with this one");
    assert_many(*state, 10000, "\"x-kubernetes-validations\":[{\"rule\":\"true\"}]", "");
}

static void rules_are_bounded(void **state)
{
    char want[256];
    assert_many(*state, VD_DEFINITION_RULES_MAX,
                "\"x-kubernetes-validations\":[{\"rule\":\"true\"}]", "");
    snprintf(want, sizeof want,
             "properties[f%d].x-kubernetes-validations[0]: Forbidden: a definition may have at "
             "most %d rules",
             VD_DEFINITION_RULES_MAX, VD_DEFINITION_RULES_MAX);
    assert_many(*state, VD_DEFINITION_RULES_MAX + 1,
                "\"x-kubernetes-validations\":[{\"rule\":\"true\"}]", want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(rules_must_compile),        arena_test(the_past_needs_keys),
        arena_test(dear_rules_are_refused),    arena_test(cardinality_counts),
        arena_test(defaults_follow_the_rules), arena_test(patterns_are_bounded),
        arena_test(small_patterns_count_too),  arena_test(rules_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
