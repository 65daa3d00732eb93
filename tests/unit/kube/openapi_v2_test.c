/* src/kube/openapi/v2.c: the same in the words of version 2. */
#include "kube/openapi/v2.h"

#include "json_check.h"
#include "kinds/builtin.h"
#include "kube/subresource.h"
#include "openapi_check.h"
#include "widget_kinds.h"

static void schemas_lose_what_version_2_cannot_say(void **state)
{
    static const struct {
        const char *field, *json;
    } want[] = {
        {"color", "{\"type\":\"string\",\"enum\":[\"red\",\"blue\"]}"},
        {"size", "{\"type\":\"integer\",\"minimum\":1}"},
        {"port", "{\"x-kubernetes-int-or-string\":true}"},
        {"note", "{}"},
        {"free", "{\"x-kubernetes-preserve-unknown-fields\":true}"},
        {"tags", "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}"},
    };
    struct vd_kinds *kinds = widget_kinds();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    struct vd_json *document = vd_openapi_v2(*state, set, VD_SLICE("v1.32.4"));
    struct vd_json *widget = vd_json_dig(document, "definitions", "com.example.v1.Widget", NULL);
    struct vd_json *fields = vd_json_dig(widget, "properties", "spec", "properties", NULL);
    assert_int_equal(vd_json_count(fields), sizeof want / sizeof *want);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_json(vd_json_get(fields, vd_slice_of(want[i].field)), want[i].json);
    assert_json(vd_json_dig(widget, "properties", "metadata", NULL),
                "{\"description\":\"Standard object's metadata. More info: https://git.k8s.io/"
                "community/contributors/devel/sig-architecture/api-conventions.md#metadata\","
                "\"$ref\":\"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta\"}");
    assert_json(vd_json_dig(widget, "x-kubernetes-group-version-kind", NULL),
                "[{\"group\":\"example.com\",\"version\":\"v1\",\"kind\":\"Widget\"}]");
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

/* A client that knew some fields would refuse the others. */
static void a_kind_of_any_fields_names_none(void **state)
{
    struct vd_kinds *kinds = widget_kinds();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    struct vd_json *document = vd_openapi_v2(*state, set, VD_SLICE("v1.32.4"));
    assert_json(
        vd_json_dig(document, "definitions", "com.example.v2.Widget", NULL),
        "{\"type\":\"object\",\"x-kubernetes-group-version-kind\":[{\"group\":\"example.com\","
        "\"version\":\"v2\",\"kind\":\"Widget\"}]}");
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

static void operations_have_their_body_among_the_parameters(void **state)
{
    struct vd_kinds *kinds = widget_kinds();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    struct vd_json *document = vd_openapi_v2(*state, set, VD_SLICE("v1.32.4"));
    assert_json(
        vd_json_dig(document, "paths", "/api/v1/namespaces/{name}/finalize", "put", NULL),
        "{\"description\":\"replace the specified finalize of Namespace\","
        "\"operationId\":\"replaceCoreV1NamespaceFinalize\","
        "\"responses\":{\"200\":{\"description\":\"OK\","
        "\"schema\":{\"$ref\":\"#/definitions/io.k8s.api.core.v1.Namespace\"}},"
        "\"201\":{\"description\":\"Created\","
        "\"schema\":{\"$ref\":\"#/definitions/io.k8s.api.core.v1.Namespace\"}},"
        "\"401\":{\"description\":\"Unauthorized\"}},\"x-kubernetes-action\":\"put\","
        "\"x-kubernetes-group-version-kind\":{\"group\":\"\",\"version\":\"v1\","
        "\"kind\":\"Namespace\"},\"parameters\":["
        "{\"name\":\"dryRun\",\"in\":\"query\","
        "\"description\":\"All: check everything and change nothing.\",\"type\":\"string\"},"
        "{\"name\":\"fieldManager\",\"in\":\"query\",\"description\":\"Who makes this change.\","
        "\"type\":\"string\"},"
        "{\"name\":\"fieldValidation\",\"in\":\"query\",\"description\":\"For unknown and "
        "duplicate fields: Ignore, Warn or Strict.\",\"type\":\"string\"},"
        "{\"name\":\"body\",\"in\":\"body\",\"required\":true,"
        "\"schema\":{\"$ref\":\"#/definitions/io.k8s.api.core.v1.Namespace\"}}],"
        "\"produces\":[\"application/json\",\"application/yaml\"],"
        "\"consumes\":[\"application/json\"]}");
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

/* kubectl refuses the whole document for one schema it cannot read: an array
 * has items, a type is one word, and choices are unknown. */
static void assert_readable(const struct vd_json *schema)
{
    static const char *const unknown[] = {"allOf", "anyOf", "oneOf", "not", "nullable"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_null(vd_json_get(schema, vd_slice_of(unknown[i])));
    const struct vd_json *type = vd_json_get(schema, VD_SLICE("type"));
    const struct vd_json *items = vd_json_get(schema, VD_SLICE("items"));
    assert_true(!type || vd_json_is(type, VD_JSON_STRING));
    if (vd_slice_is(vd_json_text(type), "array"))
        assert_non_null(items);
    VD_JSON_EACH (property, vd_json_get(schema, VD_SLICE("properties")))
        assert_readable(property);
    if (items)
        assert_readable(items);
}

static void the_built_in_document_is_whole(void **state)
{
    size_t n;
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    struct vd_kind *const *all = vd_kind_set_all(set, &n);
    struct vd_json *document = vd_openapi_v2(*state, set, VD_SLICE("v1.32.4"));
    struct vd_json *definitions = vd_json_get(document, VD_SLICE("definitions"));
    struct vd_json *paths = vd_json_get(document, VD_SLICE("paths"));
    assert_references_resolve(document, definitions, "#/definitions/");
    assert_operation_ids_differ(*state, paths);
    for (size_t i = 0; i < n; i++) {
        if (!all[i]->served)
            continue;
        assert_int_equal(schemas_of_kind(definitions, all[i]), 1);
        assert_true(operations_of_kind(paths, all[i]) > 0);
    }
    VD_JSON_EACH (schema, definitions)
        assert_readable(schema);
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(schemas_lose_what_version_2_cannot_say),
        arena_test(a_kind_of_any_fields_names_none),
        arena_test(operations_have_their_body_among_the_parameters),
        arena_test(the_built_in_document_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
