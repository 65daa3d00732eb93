/* src/kinds/schema_rules.c, schema_type.c, rule_path.c: rules of schemas, asked of objects. */
#include "kinds/schema_rules.h"

#include <string.h>

#include "json_check.h"

static struct vd_schema *schema_of(struct vd_arena *a, const char *text)
{
    struct vd_error error = {0};
    struct vd_schema *schema;
    struct vd_schema_options options = {.resource = true};
    assert_ok(vd_schema_new(&schema, json_of(a, text), &options, &error), &error);
    return schema;
}

static void assert_verdict(struct vd_arena *a, const char *schema_text, const char *object,
                           const char *old, const char *want)
{
    struct vd_schema *schema = schema_of(a, schema_text);
    struct vd_violations violations = {0};
    struct vd_buf text = {0};
    bool ok = vd_schema_check_rules(schema, json_of(a, object), old ? json_of(a, old) : NULL,
                                    &violations);
    vd_violations_write(&text, &violations);
    if (strcmp(vd_buf_text(&text), want) != 0)
        fail_msg("schema %s, object %s, old %s:\n got %s\nwant %s", schema_text, object,
                 old ? old : "-", vd_buf_text(&text), want);
    assert_int_equal(ok, violations.list.n == 0);
    vd_buf_release(&text);
    vd_violations_release(&violations);
    vd_schema_unref(schema);
}

/* Where values are hidden, neither a message that is computed nor an error quotes one. */
static void hidden_values_stay_out_of_messages(void **state)
{
    static const char text[] =
        "{\"type\":\"object\",\"properties\":{\"pin\":{\"type\":\"string\",\"maxLength\":9,"
        "\"x-kubernetes-validations\":[{\"rule\":\"self == ''\",\"messageExpression\":"
        "\"'bad pin ' + self\"},{\"rule\":\"int(self) > 0\",\"message\":\"m\"}]}}}";
    struct vd_schema *schema = schema_of(*state, text);
    struct vd_violations shown = {0}, hidden = {.hides_values = true};
    struct vd_buf said = {0};
    struct vd_json *object = json_of(*state, "{\"pin\":\"S3cr3t\"}");
    assert_false(vd_schema_check_rules(schema, object, NULL, &shown));
    vd_violations_write(&said, &shown);
    assert_non_null(strstr(vd_buf_text(&said), "bad pin S3cr3t"));
    vd_buf_reset(&said);
    assert_false(vd_schema_check_rules(schema, object, NULL, &hidden));
    vd_violations_write(&said, &hidden);
    assert_string_equal(vd_buf_text(&said),
                        "[pin: Invalid value: \"string\": failed rule: self == '', "
                        "pin: Invalid value: \"string\": (hidden) evaluating rule: m]");
    vd_buf_release(&said);
    vd_violations_release(&shown);
    vd_violations_release(&hidden);
    vd_schema_unref(schema);
}

struct verdict {
    const char *rule;   /* the members of a rule, as JSON */
    const char *object; /* spec */
    const char *old;    /* spec, or NULL */
    const char *want;
};

/* A rule on a spec of many types. */
#define SPEC                                                                                       \
    "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{"          \
    "\"name\":{\"type\":\"string\"},\"min\":{\"type\":\"integer\"},\"max\":{\"type\":\"integer\"}" \
    ","                                                                                            \
    "\"ratio\":{\"type\":\"number\"},\"on\":{\"type\":\"boolean\"},"                               \
    "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"                               \
    "\"set\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":"          \
    "\"string\"}},\"ports\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\","               \
    "\"x-kubernetes-list-map-keys\":[\"name\"],\"items\":{\"type\":\"object\",\"properties\":{"    \
    "\"name\":{\"type\":\"string\"},\"port\":{\"type\":\"integer\"}}}},"                           \
    "\"labels\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}},"             \
    "\"size\":{\"x-kubernetes-int-or-string\":true},"                                              \
    "\"when\":{\"type\":\"string\",\"format\":\"date-time\"},"                                     \
    "\"day\":{\"type\":\"string\",\"format\":\"date\"},"                                           \
    "\"wait\":{\"type\":\"string\",\"format\":\"duration\"},"                                      \
    "\"data\":{\"type\":\"string\",\"format\":\"byte\"},"                                          \
    "\"maybe\":{\"type\":\"string\",\"nullable\":true},"                                           \
    "\"a-b\":{\"type\":\"string\"},\"in\":{\"type\":\"string\"},"                                  \
    "\"raw\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true},"                 \
    "\"pod\":{\"type\":\"object\",\"x-kubernetes-embedded-resource\":true,"                        \
    "\"x-kubernetes-preserve-unknown-fields\":true}},"                                             \
    "\"x-kubernetes-validations\":[{"

static void assert_spec(struct vd_arena *a, const struct verdict *v)
{
    struct vd_buf schema = {0}, object = {0}, old = {0};
    vd_buf_addf(&schema, "%s%s}]}}}", SPEC, v->rule);
    vd_buf_addf(&object, "{\"metadata\":{\"name\":\"n\"},\"spec\":%s}", v->object);
    vd_buf_addf(&old, "{\"metadata\":{\"name\":\"n\"},\"spec\":%s}", v->old ? v->old : "{}");
    assert_verdict(a, vd_buf_text(&schema), vd_buf_text(&object), v->old ? vd_buf_text(&old) : NULL,
                   v->want);
    vd_buf_release(&schema);
    vd_buf_release(&object);
    vd_buf_release(&old);
}

#define R(rule) "\"rule\":\"" rule "\""

static void rules_are_asked_of_typed_values(void **state)
{
    static const struct verdict rows[] = {
        {R("self.min <= self.max"), "{\"min\":1,\"max\":2}", NULL, ""},
        {R("self.min <= self.max"), "{\"min\":3,\"max\":2}", NULL,
         "spec: Invalid value: \"object\": failed rule: self.min <= self.max"},
        {R("self.min <= self.max"), "{\"min\":3}", NULL,
         "spec: Invalid value: \"object\": no such key: max evaluating rule: self.min <= self.max"},
        {R("self.min <= self.max") ",\"message\":\" min above max \"", "{\"min\":3,\"max\":2}",
         NULL, "spec: Invalid value: \"object\": min above max"},
        {R("self.ratio < 1.0"), "{\"ratio\":0}", NULL, ""},
        {R("self.ratio < 1.0"), "{\"ratio\":1}", NULL,
         "spec: Invalid value: \"object\": failed rule: self.ratio < 1.0"},
        {R("self.on"), "{\"on\":true}", NULL, ""},
        {R("self.tags.all(t, t.matches('^[a-z]+$'))"), "{\"tags\":[\"a\",\"b\"]}", NULL, ""},
        {R("self.tags.all(t, self.tags.exists_one(u, u == t))"), "{\"tags\":[\"a\",\"a\"]}", NULL,
         "spec: Invalid value: \"object\": failed rule: self.tags.all(t, self.tags.exists_one(u, u "
         "== t))"},
        {R("self.set == ['b', 'a']"), "{\"set\":[\"a\",\"b\"]}", NULL, ""},
        {R("self.set + ['b', 'c'] == ['c', 'b', 'a']"), "{\"set\":[\"a\",\"b\"]}", NULL, ""},
        {R("self.ports.all(p, p.port < 100)"), "{\"ports\":[{\"name\":\"a\",\"port\":80}]}", NULL,
         ""},
        {R("self.labels.all(k, k.startsWith('a'))"), "{\"labels\":{\"ab\":\"1\"}}", NULL, ""},
        {R("self.labels['x'] == '1'"), "{\"labels\":{\"x\":\"1\"}}", NULL, ""},
        {R("type(self.size) == int ? self.size > 1 : self.size.endsWith('%')"), "{\"size\":\"5%\"}",
         NULL, ""},
        {R("self.size + 1 > 1"), "{\"size\":\"5%\"}", NULL,
         "spec: Invalid value: \"object\": 'no such overload': call arguments did not match a "
         "supported operator, function or macro signature for rule: self.size + 1 > 1"},
        {R("self.when < timestamp('2021-01-01T00:00:00Z')"), "{\"when\":\"2020-01-01T00:00:00Z\"}",
         NULL, ""},
        {R("self.day.getFullYear() == 1997"), "{\"day\":\"1997-07-16\"}", NULL, ""},
        {R("self.wait <= duration('1h')"), "{\"wait\":\"59m\"}", NULL, ""},
        {R("self.wait == duration('50h')"), "{\"wait\":\"2 days 2hours\"}", NULL, ""},
        {R("self.wait == duration('168h')"), "{\"wait\":\"1w\"}", NULL, ""},
        {R("self.data == b'AB' && size(self.data) == 2"), "{\"data\":\"QUI=\"}", NULL, ""},
        {R("!has(self.maybe)"), "{\"maybe\":null}", NULL, ""},
        {R("!has(self.maybe) || self.maybe != ''"), "{\"maybe\":\"x\"}", NULL, ""},
        {R("self.a__dash__b == self.__in__"), "{\"a-b\":\"1\",\"in\":\"1\"}", NULL, ""},
        {R("has(self.raw)"), "{\"raw\":{\"x\":1}}", NULL, ""},
        {R("self.pod.kind == 'Pod' && self.pod.metadata.name == 'p'"),
         "{\"pod\":{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"}}}", NULL, ""},
        {R("quantity(self.name).isLessThan(quantity('1Gi'))"), "{\"name\":\"512Mi\"}", NULL, ""},
        {R("!format.dns1123Label().validate(self.name).hasValue()"), "{\"name\":\"ok\"}", NULL, ""},
        {R("format.dns1123Label().validate(self.name).hasValue()"), "{\"name\":\"Not_OK\"}", NULL,
         ""},
        {R("!format.uuid().validate(self.name).hasValue()"), "{\"name\":\"x\"}", NULL,
         "spec: Invalid value: \"object\": failed rule: "
         "!format.uuid().validate(self.name).hasValue()"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_spec(*state, &rows[i]);
}

static void a_rule_says_what_it_wants(void **state)
{
    static const struct verdict rows[] = {
        {R("self.min > 5") ",\"messageExpression\":\"'min is %d, not above 5'.format([self.min])\"",
         "{\"min\":3}", NULL, "spec: Invalid value: \"object\": min is 3, not above 5"},
        {R("self.min > 5") ",\"message\":\"m\",\"messageExpression\":\"'a' + "
                           "string(1 / self.max)\"",
         "{\"min\":3,\"max\":0}", NULL, "spec: Invalid value: \"object\": m"},
        {R("self.min > 5") ",\"messageExpression\":\"self.name\",\"message\":\"m\"",
         "{\"min\":3,\"name\":\"a\\nb\"}", NULL, "spec: Invalid value: \"object\": m"},
        {R("self.min > 5") ",\"fieldPath\":\".min\"", "{\"min\":3}", NULL,
         "spec.min: Invalid value: \"object\": failed rule: self.min > 5"},
        {R("self.labels.size() > 5") ",\"fieldPath\":\".labels['a.b']\"", "{\"labels\":{}}", NULL,
         "spec.labels[a.b]: Invalid value: \"object\": failed rule: self.labels.size() > 5"},
        {R("self.min > 5") ",\"reason\":\"FieldValueForbidden\",\"message\":\"no\"", "{\"min\":3}",
         NULL, "spec: Forbidden: no"},
        {R("self.min > 5") ",\"reason\":\"FieldValueRequired\",\"message\":\"no\","
                           "\"fieldPath\":\".max\"",
         "{\"min\":3}", NULL, "spec.max: Required value: no"},
        {R("self.min > 5") ",\"reason\":\"FieldValueDuplicate\",\"message\":\"no\"", "{\"min\":3}",
         NULL, "spec: Duplicate value: \"object\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_spec(*state, &rows[i]);
}

static void transitions_compare_with_the_past(void **state)
{
    static const struct verdict rows[] = {
        {R("self.name == oldSelf.name"), "{\"name\":\"a\"}", NULL, ""},
        {R("self.name == oldSelf.name"), "{\"name\":\"a\"}", "{\"name\":\"a\"}", ""},
        {R("self.name == oldSelf.name") ",\"message\":\"name is immutable\"", "{\"name\":\"b\"}",
         "{\"name\":\"a\"}", "spec: Invalid value: \"object\": name is immutable"},
        {R("self.min >= oldSelf.min"), "{\"min\":4}", "{\"min\":3}", ""},
        {R("self.ports == oldSelf.ports"),
         "{\"ports\":[{\"name\":\"b\",\"port\":2},{\"name\":\"a\",\"port\":1}]}",
         "{\"ports\":[{\"name\":\"a\",\"port\":1},{\"name\":\"b\",\"port\":2}]}", ""},
        {R("oldSelf.hasValue() || self.min == 1") ",\"optionalOldSelf\":true", "{\"min\":1}", NULL,
         ""},
        {R("oldSelf.hasValue() || self.min == 1") ",\"optionalOldSelf\":true", "{\"min\":2}", NULL,
         "spec: Invalid value: \"object\": failed rule: oldSelf.hasValue() || self.min == 1"},
        {R("oldSelf.optMap(o, o.min <= self.min).orValue(true)") ",\"optionalOldSelf\":true",
         "{\"min\":2}", "{\"min\":1}", ""},
        /* ratcheting: what was wrong already and has not changed does not block */
        {R("self.min > 5"), "{\"min\":3}", "{\"min\":3}", ""},
        {R("self.min > 5"), "{\"min\":3}", "{\"min\":2}",
         "spec: Invalid value: \"object\": failed rule: self.min > 5"},
        {R("self.min > oldSelf.min"), "{\"min\":3}", "{\"min\":3}",
         "spec: Invalid value: \"object\": failed rule: self.min > oldSelf.min"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_spec(*state, &rows[i]);
}

#define ITEM_RULE(list, rule)                                                                      \
    "{\"type\":\"object\",\"properties\":{\"l\":{\"type\":\"array\"" list                          \
    ",\"items\":{\"type\":\"object\",\"properties\":{\"k\":{\"type\":\"string\"},\"v\":{\"type\":" \
    "\"integer\"}},\"x-kubernetes-validations\":[{\"rule\":\"" rule "\"}]}}}}"

#define MAP_LIST ",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":[\"k\"]"

static void items_have_a_past_by_their_keys(void **state)
{
    static const char grows[] = ITEM_RULE(MAP_LIST, "self.v >= oldSelf.v");
    static const char positive[] = ITEM_RULE("", "self.v > 0");
    assert_verdict(*state, grows, "{\"l\":[{\"k\":\"b\",\"v\":1},{\"k\":\"a\",\"v\":5}]}",
                   "{\"l\":[{\"k\":\"a\",\"v\":4}]}", "");
    assert_verdict(*state, grows, "{\"l\":[{\"k\":\"b\",\"v\":1},{\"k\":\"a\",\"v\":3}]}",
                   "{\"l\":[{\"k\":\"a\",\"v\":4}]}",
                   "l[1]: Invalid value: \"object\": failed rule: self.v >= oldSelf.v");
    assert_verdict(*state, positive, "{\"l\":[{\"k\":\"a\",\"v\":0}]}", NULL,
                   "l[0]: Invalid value: \"object\": failed rule: self.v > 0");
    /* without keys the whole list decides whether an old fault is let pass */
    assert_verdict(*state, positive, "{\"l\":[{\"k\":\"a\",\"v\":0}]}",
                   "{\"l\":[{\"k\":\"a\",\"v\":0}]}", "");
    assert_verdict(*state, positive, "{\"l\":[{\"k\":\"a\",\"v\":0},{\"k\":\"b\",\"v\":1}]}",
                   "{\"l\":[{\"k\":\"a\",\"v\":0}]}",
                   "l[0]: Invalid value: \"object\": failed rule: self.v > 0");
}

static void rules_stand_anywhere(void **state)
{
    static const char root[] = "{\"type\":\"object\",\"x-kubernetes-validations\":[{\"rule\":"
                               "\"self.metadata.name == 'n' && self.kind == 'K'\"}]}";
    static const char scalar[] = "{\"type\":\"object\",\"properties\":{\"s\":{\"type\":\"string\","
                                 "\"x-kubernetes-validations\":[{\"rule\":\"self != 'x'\"}]}}}";
    static const char map[] = "{\"type\":\"object\",\"properties\":{\"m\":{\"type\":\"object\","
                              "\"additionalProperties\":{\"type\":\"integer\","
                              "\"x-kubernetes-validations\":[{\"rule\":\"self > 0\"}]}}}}";
    assert_verdict(*state, root, "{\"kind\":\"K\",\"metadata\":{\"name\":\"n\"}}", NULL, "");
    assert_verdict(*state, root, "{\"kind\":\"K\",\"metadata\":{\"name\":\"m\"}}", NULL,
                   "<nil>: Invalid value: \"object\": failed rule: self.metadata.name == 'n' && "
                   "self.kind == 'K'");
    assert_verdict(*state, scalar, "{\"s\":\"x\"}", NULL,
                   "s: Invalid value: \"string\": failed rule: self != 'x'");
    assert_verdict(*state, scalar, "{}", NULL, "");
    assert_verdict(*state, map, "{\"m\":{\"a.b\":0,\"c\":1}}", NULL,
                   "m[a.b]: Invalid value: \"integer\": failed rule: self > 0");
}

static void an_object_has_a_budget(void **state)
{
    struct vd_buf object = {0};
    vd_buf_add_text(&object, "{\"l\":[0");
    for (int i = 1; i < 1000; i++)
        vd_buf_addf(&object, ",%d", i);
    vd_buf_add_text(&object, "]}");
    /* about 5,000 a time, a thousand times, is under the limit of a call and of an object; the
     * nested one is above the limit of a call */
    assert_verdict(*state,
                   "{\"type\":\"object\",\"properties\":{\"l\":{\"type\":\"array\",\"items\":{"
                   "\"type\":\"integer\"},\"x-kubernetes-validations\":[{\"rule\":"
                   "\"self.all(x, self.all(y, x + y >= 0))\"}]}}}",
                   vd_buf_text(&object), NULL,
                   "l: Invalid value: \"array\": 'operation cancelled: actual cost limit "
                   "exceeded': no further validation rules will be run due to call cost exceeds "
                   "limit for rule: self.all(x, self.all(y, x + y >= 0))");
    vd_buf_release(&object);
}

static void a_rule_that_does_not_compile_refuses(void **state)
{
    assert_verdict(*state,
                   "{\"type\":\"object\",\"x-kubernetes-validations\":[{\"rule\":\"self.x\"}]}",
                   "{}", NULL,
                   "<nil>: Invalid value: \"object\": rule compile error: compilation failed: "
                   "ERROR: <input>:1:5: undefined field 'x'\n | self.x\n | ....^");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(rules_are_asked_of_typed_values),
        arena_test(a_rule_says_what_it_wants),
        arena_test(hidden_values_stay_out_of_messages),
        arena_test(transitions_compare_with_the_past),
        arena_test(items_have_a_past_by_their_keys),
        arena_test(rules_stand_anywhere),
        arena_test(an_object_has_a_budget),
        arena_test(a_rule_that_does_not_compile_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
