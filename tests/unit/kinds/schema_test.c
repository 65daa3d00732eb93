/* src/kinds/schema*.c: what is accepted, what is said of the rest, what is pruned and filled in. */
#include "kinds/schema.h"

#include <string.h>
#include <unistd.h>

#include "json_check.h"

#define RESOURCE_META                                                                              \
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},"                         \
    "\"labels\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}}}"

static struct vd_schema *schema_of(struct vd_arena *a, const char *text, bool resource)
{
    struct vd_error error = {0};
    struct vd_schema *metadata, *schema;
    assert_ok(vd_schema_new(&metadata, json_of(a, RESOURCE_META), NULL, &error), &error);
    struct vd_schema_options options = {.resource = resource,
                                        .metadata = resource ? metadata : NULL};
    assert_ok(vd_schema_new(&schema, json_of(a, text), &options, &error), &error);
    vd_schema_unref(metadata);
    return schema;
}

/* What is wrong with the object under properties.x of an object, as people read it. */
static void assert_verdict(struct vd_arena *a, const char *schema_text, const char *value,
                           const char *want)
{
    struct vd_schema *schema = schema_of(a, schema_text, false);
    struct vd_violations violations = {0};
    struct vd_buf text = {0};
    bool ok = vd_schema_validate(schema, json_of(a, value), &violations);
    vd_violations_write(&text, &violations);
    if (strcmp(vd_buf_text(&text), want) != 0)
        fail_msg("schema %s, value %s:\n got %s\nwant %s", schema_text, value, vd_buf_text(&text),
                 want);
    assert_int_equal(ok, violations.list.n == 0);
    vd_buf_release(&text);
    vd_violations_release(&violations);
    vd_schema_unref(schema);
}

#define X(schema) "{\"properties\":{\"x\":" schema "}}"

static void types_are_checked(void **state)
{
    static const struct {
        const char *schema, *value, *want;
    } cases[] = {
        {X("{\"type\":\"string\"}"), "{\"x\":\"\"}", ""},
        {X("{\"type\":\"string\"}"), "{\"x\":5}",
         "x: Invalid value: \"integer\": x in body must be of type string: \"integer\""},
        {X("{\"type\":\"string\"}"), "{\"x\":1.5}",
         "x: Invalid value: \"number\": x in body must be of type string: \"number\""},
        {X("{\"type\":\"string\"}"), "{\"x\":null}",
         "x: Invalid value: \"null\": x in body must be of type string: \"null\""},
        {X("{\"type\":\"string\",\"nullable\":true}"), "{\"x\":null}", ""},
        {X("{\"type\":\"integer\"}"), "{\"x\":1.0}", ""},
        {X("{\"type\":\"integer\"}"), "{\"x\":10e-1}", ""},
        {X("{\"type\":\"integer\"}"), "{\"x\":9223372036854775807}", ""},
        {X("{\"type\":\"integer\"}"), "{\"x\":-9223372036854775808}", ""},
        {X("{\"type\":\"integer\"}"), "{\"x\":9223372036854775808}",
         "x: Invalid value: \"number\": x in body must be of type integer: \"number\""},
        {X("{\"type\":\"integer\"}"), "{\"x\":-9223372036854775809}",
         "x: Invalid value: \"number\": x in body must be of type integer: \"number\""},
        {X("{\"type\":\"integer\"}"), "{\"x\":1e30}",
         "x: Invalid value: \"number\": x in body must be of type integer: \"number\""},
        {X("{\"type\":\"number\"}"), "{\"x\":18446744073709551615}", ""},
        {X("{\"x-kubernetes-int-or-string\":true}"), "{\"x\":9223372036854775808}",
         "x: Invalid value: \"number\": x in body must be of type integer,string: \"number\""},
        {X("{\"type\":\"integer\"}"), "{\"x\":1.5}",
         "x: Invalid value: \"number\": x in body must be of type integer: \"number\""},
        {X("{\"type\":\"integer\"}"), "{\"x\":\"1\"}",
         "x: Invalid value: \"string\": x in body must be of type integer: \"string\""},
        {X("{\"type\":\"number\"}"), "{\"x\":7}", ""},
        {X("{\"type\":\"boolean\"}"), "{\"x\":\"true\"}",
         "x: Invalid value: \"string\": x in body must be of type boolean: \"string\""},
        {X("{\"type\":\"array\"}"), "{\"x\":{}}",
         "x: Invalid value: \"object\": x in body must be of type array: \"object\""},
        {X("{\"type\":\"object\"}"), "{\"x\":[]}",
         "x: Invalid value: \"array\": x in body must be of type object: \"array\""},
        {X("{\"x-kubernetes-int-or-string\":true}"), "{\"x\":\"50%\"}", ""},
        {X("{\"x-kubernetes-int-or-string\":true}"), "{\"x\":50}", ""},
        {X("{\"x-kubernetes-int-or-string\":true}"), "{\"x\":true}",
         "x: Invalid value: \"boolean\": x in body must be of type integer,string: \"boolean\""},
        {X("{\"type\":\"string\",\"format\":\"date-time\"}"), "{\"x\":5}",
         "x: Invalid value: \"int64\": x in body must be of type date-time: \"int64\""},
        {X("{\"type\":\"string\",\"format\":\"date-time\"}"), "{\"x\":\"soon\"}",
         "x: Invalid value: \"soon\": x in body must be of type date-time: \"soon\""},
        {X("{\"type\":\"string\",\"format\":\"who-knows\"}"), "{\"x\":\"soon\"}", ""},
        {"{\"type\":\"object\"}", "[]",
         "<nil>: Invalid value: \"array\":  in body must be of type object: \"array\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_verdict(*state, cases[i].schema, cases[i].value, cases[i].want);
}

static void bounds_are_checked(void **state)
{
    static const struct {
        const char *schema, *value, *want;
    } cases[] = {
        {X("{\"minimum\":1,\"maximum\":3}"), "{\"x\":3}", ""},
        {X("{\"maximum\":3}"), "{\"x\":4}",
         "x: Invalid value: 4: x in body should be less than or equal to 3"},
        {X("{\"maximum\":3,\"exclusiveMaximum\":true}"), "{\"x\":3}",
         "x: Invalid value: 3: x in body should be less than 3"},
        {X("{\"minimum\":1}"), "{\"x\":0.5}",
         "x: Invalid value: 0.5: x in body should be greater than or equal to 1"},
        {X("{\"minimum\":1,\"exclusiveMinimum\":true}"), "{\"x\":1}",
         "x: Invalid value: 1: x in body should be greater than 1"},
        {X("{\"minimum\":1.5}"), "{\"x\":1}",
         "x: Invalid value: 1: x in body should be greater than or equal to 1.5"},
        {X("{\"maximum\":9007199254740992}"), "{\"x\":9007199254740993}",
         "x: Invalid value: 9007199254740993: x in body should be less than or equal to "
         "9007199254740992"},
        {X("{\"multipleOf\":5}"), "{\"x\":10}", ""},
        {X("{\"multipleOf\":5}"), "{\"x\":7}",
         "x: Invalid value: 7: x in body should be a multiple of 5"},
        {X("{\"multipleOf\":0.1}"), "{\"x\":0.3}", ""},
        {X("{\"maxLength\":3}"), "{\"x\":\"\xc3\xa4\xc3\xb6\xc3\xbc\"}", ""},
        {X("{\"maxLength\":3}"), "{\"x\":\"abcd\"}", "x: Too long: may not be more than 3 bytes"},
        {X("{\"maxLength\":1,\"pattern\":\"^z\"}"), "{\"x\":\"abcd\"}",
         "x: Too long: may not be more than 1 byte"},
        {X("{\"minLength\":3}"), "{\"x\":\"\xc3\xa4\xc3\xb6\"}",
         "x: Invalid value: \"\xc3\xa4\xc3\xb6\": x in body should be at least 3 chars long"},
        {X("{\"minLength\":9223372036854775808}"), "{\"x\":\"\"}",
         "x: Invalid value: \"\": x in body should be at least 9223372036854775808 chars long"},
        {X("{\"pattern\":\"^a+$\"}"), "{\"x\":\"ab\"}",
         "x: Invalid value: \"ab\": x in body should match '^a+$'"},
        {X("{\"pattern\":\"b\"}"), "{\"x\":\"abc\"}", ""},
        {X("{\"enum\":[\"a\",\"b\"]}"), "{\"x\":\"c\"}",
         "x: Unsupported value: \"c\": supported values: \"a\", \"b\""},
        {X("{\"enum\":[1,2.0]}"), "{\"x\":2}", ""},
        {X("{\"enum\":[1,true]}"), "{\"x\":3}",
         "x: Unsupported value: 3: supported values: \"1\", \"true\""},
        {X("{\"type\":\"string\",\"enum\":[\"a\"]}"), "{\"x\":1}",
         "[x: Invalid value: \"integer\": x in body must be of type string: \"integer\", "
         "x: Unsupported value: 1: supported values: \"a\"]"},
        {X("{\"minItems\":2}"), "{\"x\":[1]}",
         "x: Invalid value: 1: x in body should have at least 2 items"},
        {X("{\"maxItems\":1}"), "{\"x\":[1,2]}", "x: Too many: 2: must have at most 1 item"},
        {X("{\"uniqueItems\":true}"), "{\"x\":[1,2,1.0]}",
         "x: Invalid value: \"\": x in body shouldn't contain duplicates"},
        {X("{\"minProperties\":1}"), "{\"x\":{}}",
         "x: Invalid value: 0: x in body should have at least 1 properties"},
        {X("{\"maxProperties\":1}"), "{\"x\":{\"a\":1,\"b\":2}}",
         "x: Too many: 2: must have at most 1 item"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_verdict(*state, cases[i].schema, cases[i].value, cases[i].want);
}

static void members_and_items_are_checked(void **state)
{
    static const struct {
        const char *schema, *value, *want;
    } cases[] = {
        {"{\"type\":\"object\",\"required\":[\"a\",\"b\"],\"properties\":{\"b\":{}}}", "{}",
         "[a: Required value, b: Required value]"},
        {X("{\"required\":[\"a\"]}"), "{\"x\":{}}", "x.a: Required value"},
        {X("{\"additionalProperties\":{\"type\":\"string\"}}"), "{\"x\":{\"k.v/w\":1}}",
         "x.k.v/w: Invalid value: \"integer\": x.k.v/w in body must be of type string: "
         "\"integer\""},
        {X("{\"properties\":{\"a\":{}},\"additionalProperties\":false}"),
         "{\"x\":{\"a\":1,\"b\":1}}",
         "x: Invalid value: \"b\": x.b in body is a forbidden property"},
        {X("{\"items\":{\"type\":\"integer\"}}"), "{\"x\":[1,\"2\",3,\"4\"]}",
         "[x[1]: Invalid value: \"string\": x[1] in body must be of type integer: \"string\", "
         "x[3]: Invalid value: \"string\": x[3] in body must be of type integer: \"string\"]"},
        {X("{\"items\":{\"properties\":{\"p\":{\"maximum\":1}}}}"), "{\"x\":[{\"p\":2}]}",
         "x[0].p: Invalid value: 2: x[0].p in body should be less than or equal to 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_verdict(*state, cases[i].schema, cases[i].value, cases[i].want);
}

static void alternatives_are_checked(void **state)
{
    static const struct {
        const char *schema, *value, *want;
    } cases[] = {
        {X("{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]}"), "{\"x\":\"a\"}", ""},
        {X("{\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}"), "{\"x\":{}}",
         "[<nil>: Invalid value: \"\": \"x\" must validate at least one schema (anyOf), "
         "x.a: Required value]"},
        {X("{\"oneOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}"), "{\"x\":{\"b\":1}}", ""},
        {X("{\"oneOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}"),
         "{\"x\":{\"a\":1,\"b\":1}}",
         "<nil>: Invalid value: \"\": \"x\" must validate one and only one schema (oneOf). Found 2 "
         "valid alternatives"},
        {X("{\"oneOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}"), "{\"x\":{}}",
         "[<nil>: Invalid value: \"\": \"x\" must validate one and only one schema (oneOf). Found "
         "none valid, x.a: Required value]"},
        {X("{\"allOf\":[{\"maximum\":3},{\"minimum\":1}]}"), "{\"x\":5}",
         "[x: Invalid value: 5: x in body should be less than or equal to 3, "
         "<nil>: Invalid value: \"\": \"x\" must validate all the schemas (allOf)]"},
        {X("{\"not\":{\"enum\":[\"no\"]}}"), "{\"x\":\"no\"}",
         "<nil>: Invalid value: \"\": \"x\" must not validate the schema (not)"},
        {X("{\"not\":{\"enum\":[\"no\"]}}"), "{\"x\":\"yes\"}", ""},
        /* The alternative that came closest explains itself. */
        {X("{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"object\",\"properties\":{\"a\":{\"type\":"
           "\"string\"},\"b\":{\"type\":\"string\"}}}]}"),
         "{\"x\":{\"a\":\"\",\"b\":1}}",
         "[<nil>: Invalid value: \"\": \"x\" must validate at least one schema (anyOf), "
         "x.b: Invalid value: \"integer\": x.b in body must be of type string: \"integer\"]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_verdict(*state, cases[i].schema, cases[i].value, cases[i].want);
}

static void list_types_are_checked(void **state)
{
    static const struct {
        const char *schema, *value, *want;
    } cases[] = {
        {X("{\"x-kubernetes-list-type\":\"set\"}"), "{\"x\":[\"a\",\"b\"]}", ""},
        {X("{\"x-kubernetes-list-type\":\"set\"}"), "{\"x\":[\"a\",\"b\",\"a\",\"b\",\"a\"]}",
         "[x[2]: Duplicate value: \"a\", x[3]: Duplicate value: \"b\", "
         "x[4]: Duplicate value: \"a\"]"},
        {X("{\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":[\"port\"],"
           "\"items\":{\"properties\":{\"port\":{\"type\":\"integer\"}}}}"),
         "{\"x\":[{\"port\":1,\"n\":1},{\"port\":2},{\"port\":1,\"n\":2}]}",
         "x[2]: Duplicate value: {\"port\":1}"},
        {X("{\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":[\"a\",\"b\"],"
           "\"items\":{\"properties\":{\"b\":{\"default\":\"TCP\"}}}}"),
         "{\"x\":[{\"a\":1},{\"a\":1,\"b\":\"UDP\"},{\"a\":1,\"b\":\"TCP\"}]}",
         "x[2]: Duplicate value: {\"a\":1,\"b\":\"TCP\"}"},
        {X("{\"additionalProperties\":{\"x-kubernetes-list-type\":\"set\"}}"),
         "{\"x\":{\"k\":[1,1]}}", "x[k][1]: Duplicate value: 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_verdict(*state, cases[i].schema, cases[i].value, cases[i].want);
}

static void long_lists_are_compared_quickly(void **state)
{
    struct vd_arena *a = *state;
    enum { COUNT = 200000, DEADLINE_S = 20 };
    struct vd_schema *schema = schema_of(a, "{\"x-kubernetes-list-type\":\"set\"}", false);
    struct vd_json *list = vd_json_array(a);
    struct vd_violations violations = {0};
    alarm(DEADLINE_S);
    for (int i = 0; i < COUNT; i++)
        vd_json_append(list, vd_json_i64(a, i / 2));
    assert_false(vd_schema_validate(schema, list, &violations));
    assert_int_equal(violations.list.n + violations.dropped, COUNT / 2);
    alarm(0);
    vd_violations_release(&violations);
    vd_schema_unref(schema);
}

static void unknown_fields_are_pruned(void **state)
{
    static const struct {
        const char *schema, *value, *want, *paths;
    } cases[] = {
        {"{\"properties\":{\"spec\":{\"properties\":{\"a\":{}}}}}",
         "{\"spec\":{\"a\":{\"deep\":1},\"b\":2},\"c\":3}", "{\"spec\":{\"a\":{}}}",
         "spec.a.deep spec.b c "},
        {"{\"properties\":{\"l\":{\"items\":{\"properties\":{\"a\":{}}}}}}",
         "{\"l\":[{\"a\":1,\"z\":1},{\"z\":2}]}", "{\"l\":[{\"a\":1},{}]}", "l[0].z l[1].z "},
        {"{\"additionalProperties\":{\"properties\":{\"a\":{}}}}", "{\"k\":{\"a\":1,\"z\":1}}",
         "{\"k\":{\"a\":1}}", "k.z "},
        {"{\"additionalProperties\":true}", "{\"k\":{\"a\":1}}", "{\"k\":{\"a\":1}}", ""},
        {"{\"x-kubernetes-preserve-unknown-fields\":true,\"properties\":{\"s\":{\"properties\":"
         "{}}}}",
         "{\"any\":{\"a\":[{}]},\"s\":{\"z\":1}}", "{\"any\":{\"a\":[{}]},\"s\":{}}", "s.z "},
        {"{\"allOf\":[{\"properties\":{\"a\":{}}}]}", "{\"a\":1}", "{}", "a "},
        /* Nulls go without a word, unless they are allowed or have a default. */
        {"{\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"string\",\"nullable\":"
         "true},\"c\":{\"default\":1}}}",
         "{\"a\":null,\"b\":null,\"c\":null}", "{\"b\":null,\"c\":null}", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_schema *schema = schema_of(*state, cases[i].schema, false);
        struct vd_json *value = json_of(*state, cases[i].value);
        struct vd_pruned pruned = {0};
        struct vd_buf paths = {0};
        vd_schema_prune(schema, value, &pruned);
        assert_json(value, cases[i].want);
        for (size_t p = 0; p < pruned.paths.n; p++)
            vd_buf_addf(&paths, "%.*s ", VD_FMT(pruned.paths.p[p]));
        assert_slice(vd_buf_slice(&paths), cases[i].paths);
        vd_schema_prune(schema, value, NULL); /* again: nothing left */
        assert_json(value, cases[i].want);
        vd_buf_release(&paths);
        vd_pruned_release(&pruned);
        vd_schema_unref(schema);
    }
}

static void resources_keep_their_identity(void **state)
{
    static const char text[] =
        "{\"type\":\"object\",\"properties\":{\"t\":{\"x-kubernetes-embedded-resource\":true,"
        "\"properties\":{\"spec\":{\"type\":\"object\"}}}}}";
    struct vd_schema *schema = schema_of(*state, text, true);
    struct vd_json *value = json_of(
        *state, "{\"apiVersion\":\"v1\",\"kind\":\"K\",\"metadata\":{\"name\":\"n\",\"x\":1},"
                "\"t\":{\"apiVersion\":\"v1\",\"metadata\":{\"labels\":{\"a\":2},\"y\":1},"
                "\"spec\":{},\"z\":1}}");
    struct vd_pruned pruned = {0};
    vd_schema_prune(schema, value, &pruned);
    assert_json(value, "{\"apiVersion\":\"v1\",\"kind\":\"K\",\"metadata\":{\"name\":\"n\"},"
                       "\"t\":{\"apiVersion\":\"v1\",\"metadata\":{\"labels\":{\"a\":2}},"
                       "\"spec\":{}}}");
    assert_int_equal(pruned.paths.n, 3);
    struct vd_violations violations = {0};
    assert_false(vd_schema_validate(schema, value, &violations));
    assert_int_equal(violations.list.n, 2);
    assert_slice(violations.list.p[0].field, "t.kind");
    assert_slice(violations.list.p[1].field, "t.metadata.labels.a");
    vd_violations_release(&violations);
    vd_pruned_release(&pruned);
    vd_schema_unref(schema);
}

static void defaults_are_filled_in(void **state)
{
    static const struct {
        const char *schema, *value, *want;
    } cases[] = {
        {"{\"properties\":{\"a\":{\"default\":1}}}", "{}", "{\"a\":1}"},
        {"{\"properties\":{\"a\":{\"default\":1}}}", "{\"a\":2}", "{\"a\":2}"},
        {"{\"properties\":{\"a\":{\"default\":1}}}", "{\"a\":null}", "{\"a\":1}"},
        {"{\"properties\":{\"a\":{\"default\":1,\"nullable\":true}}}", "{\"a\":null}",
         "{\"a\":null}"},
        /* Only where the parent is there. */
        {"{\"properties\":{\"p\":{\"properties\":{\"a\":{\"default\":1}}}}}", "{}", "{}"},
        {"{\"properties\":{\"p\":{\"properties\":{\"a\":{\"default\":1}}}}}", "{\"p\":{}}",
         "{\"p\":{\"a\":1}}"},
        {"{\"properties\":{\"p\":{\"default\":{},\"properties\":{\"a\":{\"default\":1}}}}}", "{}",
         "{\"p\":{\"a\":1}}"},
        {"{\"items\":{\"properties\":{\"a\":{\"default\":1}}}}", "[{},{\"a\":2},3]",
         "[{\"a\":1},{\"a\":2},3]"},
        {"{\"additionalProperties\":{\"properties\":{\"a\":{\"default\":1}}}}", "{\"k\":{}}",
         "{\"k\":{\"a\":1}}"},
        {"{\"additionalProperties\":{\"default\":7}}", "{\"k\":null}", "{\"k\":7}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_schema *schema = schema_of(*state, cases[i].schema, false);
        struct vd_json *value = json_of(*state, cases[i].value);
        assert_true(vd_schema_default(schema, *state, value, &(struct vd_effort){0}));
        assert_json(value, cases[i].want);
        assert_true(vd_schema_default(schema, *state, value, &(struct vd_effort){0}));
        assert_json(value, cases[i].want);
        vd_schema_unref(schema);
    }
}

static void bad_schemas_are_refused(void **state)
{
    static const struct {
        const char *schema, *says;
    } cases[] = {
        {"[]", "a schema must be an object"},
        {X("{\"type\":\"text\"}"), "schema: x: type must be one of"},
        {X("{\"pattern\":\"(\"}"), "x.pattern: missing )"},
        {X("{\"minLength\":-1}"), "x.minLength: must be an integer"},
        {X("{\"maximum\":\"3\"}"), "x.maximum: must be a number"},
        {X("{\"multipleOf\":0}"), "x.multipleOf: must be greater than 0"},
        {X("{\"$ref\":\"#/a\"}"), "x.$ref: is not supported"},
        {X("{\"items\":[{}]}"), "x.items: a schema must be an object"},
        {X("{\"required\":[1]}"), "required must be a list of strings"},
        {X("{\"anyOf\":{}}"), "x.anyOf: must be a list of schemas"},
        {X("{\"nullable\":\"yes\"}"), "x.nullable: must be true or false"},
        {X("{\"x-kubernetes-list-type\":\"bag\"}"), "x-kubernetes-list-type must be"},
        {X("{\"enum\":{}}"), "enum must be a list"},
        {X("{\"description\":5}"), "x.description: must be a string"},
        {X("{\"format\":7}"), "x.format: must be a string"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_error error = {0};
        struct vd_schema *schema = NULL;
        assert_code(vd_schema_new(&schema, json_of(*state, cases[i].schema), NULL, &error),
                    VD_ERR_INVALID);
        assert_says(&error, cases[i].says);
        assert_null(schema);
    }
}

static void nodes_can_be_looked_at(void **state)
{
    struct vd_schema *schema = schema_of(
        *state,
        "{\"properties\":{\"ports\":{\"x-kubernetes-patch-strategy\":\"merge\","
        "\"x-kubernetes-patch-merge-key\":\"port\",\"items\":{\"description\":\"d\"}}}}",
        true);
    const struct vd_schema_node *root = vd_schema_root(schema);
    const struct vd_schema_node *ports = vd_schema_member(root, VD_SLICE("ports"));
    assert_slice(vd_schema_patch_strategy(ports).strategy, "merge");
    assert_slice(vd_schema_patch_strategy(ports).merge_key, "port");
    assert_json(vd_schema_source(vd_schema_items(ports)), "{\"description\":\"d\"}");
    assert_null(vd_schema_member(root, VD_SLICE("other")));
    assert_non_null(
        vd_schema_member(vd_schema_member(root, VD_SLICE("metadata")), VD_SLICE("labels")));
    vd_schema_unref(schema);
}

static void what_has_not_changed_may_be_wrong(void **state)
{
    static const char schema_text[] =
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"object\",\"required\":[\"r\"],"
        "\"properties\":{\"n\":{\"type\":\"integer\",\"maximum\":5},\"s\":{\"type\":\"string\"}}},"
        "\"l\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\","
        "\"x-kubernetes-list-map-keys\":[\"k\"],\"items\":{\"type\":\"object\",\"properties\":{"
        "\"k\":{\"type\":\"string\"},\"v\":{\"type\":\"integer\",\"maximum\":5}}}},"
        "\"p\":{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"maximum\":5}},"
        "\"few\":{\"type\":\"array\",\"maxItems\":1,\"x-kubernetes-list-type\":\"map\","
        "\"x-kubernetes-list-map-keys\":[\"k\"],\"items\":{\"type\":\"object\",\"properties\":{"
        "\"k\":{\"type\":\"string\"}}}},"
        "\"all\":{\"type\":\"array\",\"maxItems\":1,\"x-kubernetes-list-type\":\"atomic\","
        "\"items\":{\"type\":\"integer\"}},"
        "\"set\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\","
        "\"items\":{\"type\":\"integer\"}},"
        "\"e\":{\"type\":\"object\",\"x-kubernetes-embedded-resource\":true,\"properties\":{"
        "\"n\":{\"type\":\"integer\",\"maximum\":5}}}}}";
    static const struct {
        const char *old, *value, *want;
    } rows[] = {
        /* the order of a keyed list is no change; that of any other is */
        {"{\"few\":[{\"k\":\"a\"},{\"k\":\"b\"}]}", "{\"few\":[{\"k\":\"b\"},{\"k\":\"a\"}]}", ""},
        {"{\"all\":[1,2]}", "{\"all\":[2,1]}", "all: Too many: 2: must have at most 1 item"},
        /* one list with duplicates excuses all of the object, and only that */
        {"{\"set\":[1,1]}", "{\"set\":[1,1,2]}", ""},
        {"{\"set\":[1,1]}", "{\"set\":[1],\"l\":[{\"k\":\"a\"},{\"k\":\"a\"}]}", ""},
        {"{\"set\":[1]}", "{\"set\":[1,1]}", "set[1]: Duplicate value: 1"},
        /* what an embedded resource must have, it must always have */
        {"{\"e\":{\"n\":9,\"kind\":\"K\"}}", "{\"e\":{\"n\":9,\"kind\":\"K\"}}",
         "e.apiVersion: Required value: must not be empty"},
        {"{\"a\":{\"n\":9}}", "{\"a\":{\"n\":9},\"p\":[1]}", ""},
        {"{\"a\":{\"n\":9,\"r\":1}}", "{\"a\":{\"n\":9,\"r\":1,\"s\":\"x\"}}", ""},
        {"{\"a\":{\"n\":9,\"r\":1}}", "{\"a\":{\"n\":8,\"r\":1}}",
         "a.n: Invalid value: 8: a.n in body should be less than or equal to 5"},
        {"{\"a\":{\"n\":9}}", "{\"a\":{\"n\":9,\"s\":\"x\"}}", "a.r: Required value"},
        {"{\"l\":[{\"k\":\"a\",\"v\":9}]}", "{\"l\":[{\"k\":\"b\",\"v\":1},{\"k\":\"a\",\"v\":9}]}",
         ""},
        {"{\"l\":[{\"k\":\"a\",\"v\":9}]}", "{\"l\":[{\"k\":\"b\",\"v\":9},{\"k\":\"a\",\"v\":9}]}",
         "l[0].v: Invalid value: 9: l[0].v in body should be less than or equal to 5"},
        {"{\"p\":[9]}", "{\"p\":[9],\"a\":{\"r\":1}}", ""},
        {"{\"p\":[9]}", "{\"p\":[9,1]}",
         "p[0]: Invalid value: 9: p[0] in body should be less than or equal to 5"},
    };
    struct vd_schema *schema = schema_of(*state, schema_text, false);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vd_violations violations = {0};
        struct vd_buf text = {0};
        bool ok = vd_schema_validate_change(schema, json_of(*state, rows[i].value),
                                            json_of(*state, rows[i].old), &violations);
        vd_violations_write(&text, &violations);
        assert_string_equal(vd_buf_text(&text), rows[i].want);
        assert_int_equal(ok, violations.list.n == 0);
        /* Duplicates that are excused are not even warned of. */
        assert_true(violations.list.n > 0 || violations.passed.n > 0 ||
                    strstr(rows[i].old, "\"set\":[1,1]"));
        vd_buf_release(&text);
        vd_violations_release(&violations);
    }
    vd_schema_unref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(what_has_not_changed_may_be_wrong),
        arena_test(types_are_checked),
        arena_test(bounds_are_checked),
        arena_test(members_and_items_are_checked),
        arena_test(alternatives_are_checked),
        arena_test(list_types_are_checked),
        arena_test(long_lists_are_compared_quickly),
        arena_test(unknown_fields_are_pruned),
        arena_test(resources_keep_their_identity),
        arena_test(defaults_are_filled_in),
        arena_test(bad_schemas_are_refused),
        arena_test(nodes_can_be_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
