/* src/kube/openapi/v3.c, openapi_schema.c, openapi_paths.c: what kubectl reads of the API. */
#include "kube/openapi/v3.h"

#include "json_check.h"
#include "kinds/builtin.h"
#include "kube/subresource.h"
#include "openapi_check.h"
#include "widget_kinds.h"

/* The document of a group and version, parsed into the arena. */
static struct vd_json *document_of(struct vd_arena *a, const struct vd_kind_set *set,
                                   const char *group, const char *version)
{
    struct vd_buf out = {0};
    assert_true(vd_openapi_v3_write(&out, set, vd_slice_of(group), vd_slice_of(version),
                                    VD_SLICE("v1.32.4")));
    struct vd_json *v = json_of(a, vd_arena_copy(a, vd_buf_slice(&out)).p);
    vd_buf_release(&out);
    return v;
}

static struct vd_json *path_of(const struct vd_json *document, const char *path)
{
    return vd_json_dig(document, "paths", path, NULL);
}

static void a_kind_has_the_paths_of_its_verbs(void **state)
{
    static const struct {
        const char *path, *methods;
    } want[] = {
        {"/apis/example.com/v1/widgets", "get "},
        {"/apis/example.com/v1/namespaces/{namespace}/widgets", "get post delete "},
        {"/apis/example.com/v1/namespaces/{namespace}/widgets/{name}", "get put delete patch "},
        {"/apis/example.com/v1/namespaces/{namespace}/widgets/{name}/scale", "get put patch "},
        {"/apis/example.com/v1/namespaces/{namespace}/widgets/{name}/status", "get put patch "},
    };
    struct vd_kinds *kinds = widget_kinds();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    struct vd_json *document = document_of(*state, set, "example.com", "v1");
    assert_int_equal(vd_json_count(vd_json_dig(document, "paths", NULL)),
                     sizeof want / sizeof *want);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct vd_buf methods = {0};
        VD_JSON_EACH (member, path_of(document, want[i].path)) {
            if (!vd_slice_is(vd_json_key(member), "parameters"))
                vd_buf_addf(&methods, "%.*s ", VD_FMT(vd_json_key(member)));
        }
        assert_slice(vd_buf_slice(&methods), want[i].methods);
        vd_buf_release(&methods);
    }
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

/* By this kubectl decides about dry runs, validation and server-side apply. */
static void a_patch_names_its_kind_and_parameters(void **state)
{
    struct vd_kinds *kinds = widget_kinds();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    struct vd_json *document = document_of(*state, set, "example.com", "v1");
    static const char *const suffixes[] = {"", "/status"};
    for (size_t i = 0; i < 2; i++) {
        struct vd_buf path = {0}, names = {0};
        vd_buf_addf(&path, "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}%s",
                    suffixes[i]);
        struct vd_json *patch = vd_json_dig(path_of(document, vd_buf_text(&path)), "patch", NULL);
        assert_json(vd_json_dig(patch, "x-kubernetes-group-version-kind", NULL),
                    "{\"group\":\"example.com\",\"version\":\"v1\",\"kind\":\"Widget\"}");
        VD_JSON_EACH (parameter, vd_json_get(patch, VD_SLICE("parameters")))
            vd_buf_addf(&names, "%.*s ",
                        VD_FMT(vd_json_text(vd_json_get(parameter, VD_SLICE("name")))));
        assert_slice(vd_buf_slice(&names), "dryRun fieldManager fieldValidation force ");
        /* A custom kind takes no strategic merge patch: kubectl would send one. */
        struct vd_json *types = vd_json_dig(patch, "requestBody", "content", NULL);
        assert_non_null(vd_json_get(types, VD_SLICE("application/merge-patch+json")));
        assert_null(vd_json_get(types, VD_SLICE("application/strategic-merge-patch+json")));
        vd_buf_release(&path);
        vd_buf_release(&names);
    }
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

static void an_operation_is_written_in_full(void **state)
{
    struct vd_kinds *kinds = widget_kinds();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    struct vd_json *document = document_of(*state, set, "", "v1");
    assert_json(
        vd_json_dig(path_of(document, "/api/v1/namespaces/{name}/finalize"), "put", NULL),
        "{\"description\":\"replace the specified finalize of Namespace\","
        "\"operationId\":\"replaceCoreV1NamespaceFinalize\",\"parameters\":["
        "{\"name\":\"dryRun\",\"in\":\"query\","
        "\"description\":\"All: check everything and change nothing.\","
        "\"schema\":{\"type\":\"string\"}},"
        "{\"name\":\"fieldManager\",\"in\":\"query\",\"description\":\"Who makes this change.\","
        "\"schema\":{\"type\":\"string\"}},"
        "{\"name\":\"fieldValidation\",\"in\":\"query\",\"description\":\"For unknown and "
        "duplicate fields: Ignore, Warn or Strict.\",\"schema\":{\"type\":\"string\"}}],"
        "\"requestBody\":{\"content\":{\"application/json\":{\"schema\":{"
        "\"$ref\":\"#/components/schemas/io.k8s.api.core.v1.Namespace\"}}},\"required\":true},"
        "\"responses\":{\"200\":{\"description\":\"OK\",\"content\":{\"application/json\":{"
        "\"schema\":{\"$ref\":\"#/components/schemas/io.k8s.api.core.v1.Namespace\"}}}},"
        "\"201\":{\"description\":\"Created\",\"content\":{\"application/json\":{"
        "\"schema\":{\"$ref\":\"#/components/schemas/io.k8s.api.core.v1.Namespace\"}}}},"
        "\"401\":{\"description\":\"Unauthorized\"}},\"x-kubernetes-action\":\"put\","
        "\"x-kubernetes-group-version-kind\":{\"group\":\"\",\"version\":\"v1\","
        "\"kind\":\"Namespace\"}}");
    assert_json(
        vd_json_dig(path_of(document, "/api/v1/namespaces/{name}/finalize"), "parameters", NULL),
        "[{\"name\":\"name\",\"in\":\"path\",\"description\":\"The object's name.\","
        "\"required\":true,\"schema\":{\"type\":\"string\"}},"
        "{\"name\":\"pretty\",\"in\":\"query\",\"description\":\"true: indented output.\","
        "\"schema\":{\"type\":\"string\"}}]");
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

#define CONVENTIONS                                                                                \
    "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/"                 \
    "api-conventions.md#"

static void a_schema_is_the_definitions_with_what_objects_have(void **state)
{
    struct vd_kinds *kinds = widget_kinds();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    struct vd_json *document = document_of(*state, set, "example.com", "v2");
    assert_json(
        vd_json_dig(document, "components", "schemas", "com.example.v2.Widget", NULL),
        "{\"x-kubernetes-preserve-unknown-fields\":true,\"type\":\"object\",\"properties\":{"
        "\"apiVersion\":{\"description\":\"APIVersion defines the versioned schema of this "
        "representation of an object. Servers should convert recognized schemas to the latest "
        "internal value, and may reject unrecognized values. " CONVENTIONS
        "resources\",\"type\":\"string\"},\"kind\":{\"description\":\"Kind is a string value "
        "representing the REST resource this object represents. Servers may infer this from the "
        "endpoint the client submits requests to. Cannot be updated. In CamelCase. " CONVENTIONS
        "types-kinds\",\"type\":\"string\"},\"metadata\":{\"description\":\"Standard object's "
        "metadata. " CONVENTIONS "metadata\","
        "\"allOf\":[{\"$ref\":\"#/components/schemas/"
        "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta\"}]}},"
        "\"x-kubernetes-group-version-kind\":[{\"group\":\"example.com\",\"version\":\"v2\","
        "\"kind\":\"Widget\"}]}");
    document = document_of(*state, set, "example.com", "v1");
    struct vd_json *widget = vd_json_dig(document, "components", "schemas", "com.example.v1.Widget",
                                         NULL);
    assert_slice(vd_json_text(vd_json_dig(widget, "description", NULL)), "A widget.");
    assert_json(vd_json_dig(widget, "properties", "spec", "properties", "port", NULL),
                "{\"x-kubernetes-int-or-string\":true,"
                "\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]}");
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

static void what_is_not_served_has_no_document(void **state)
{
    (void)state;
    struct vd_kinds *kinds = widget_kinds();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    struct vd_buf out = {0};
    assert_false(vd_openapi_v3_write(&out, set, VD_SLICE("example.com"), VD_SLICE("v3alpha1"),
                                     VD_SLICE("v1.32.4")));
    assert_false(vd_openapi_v3_write(&out, set, VD_SLICE("example.org"), VD_SLICE("v1"),
                                     VD_SLICE("v1.32.4")));
    assert_int_equal(out.n, 0);
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

static void add_fake_hash(void *context, struct vd_slice group, struct vd_slice version,
                          struct vd_buf *hash)
{
    (void)context;
    vd_buf_addf(hash, "%zu%.*s", group.n, VD_FMT(version));
}

static void the_index_names_every_version_with_its_hash(void **state)
{
    (void)state;
    struct vd_kinds *kinds = widget_kinds();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    struct vd_buf out = {0};
    vd_openapi_v3_write_index(&out, set, add_fake_hash, NULL);
    assert_slice(vd_buf_slice(&out),
                 "{\"paths\":{\"api/v1\":{\"serverRelativeURL\":\"/openapi/v3/api/v1?hash=0v1\"},"
                 "\"apis/example.com/v2\":{\"serverRelativeURL\":"
                 "\"/openapi/v3/apis/example.com/v2?hash=11v2\"},"
                 "\"apis/example.com/v1\":{\"serverRelativeURL\":"
                 "\"/openapi/v3/apis/example.com/v1?hash=11v1\"}}}");
    vd_buf_release(&out);
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

static void built_in_documents_are_whole(void **state)
{
    size_t n;
    struct vd_arena *a = *state;
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    struct vd_kind *const *all = vd_kind_set_all(set, &n);
    for (size_t i = 0; i < n; i++) {
        if (!vd_kind_is_listed(all[i]))
            continue;
        struct vd_buf out = {0};
        assert_true(
            vd_openapi_v3_write(&out, set, all[i]->group, all[i]->version, VD_SLICE("v1.32.4")));
        struct vd_json *document = json_of(a, vd_buf_text(&out));
        struct vd_json *schemas = vd_json_dig(document, "components", "schemas", NULL);
        assert_references_resolve(document, schemas, "#/components/schemas/");
        assert_int_equal(schemas_of_kind(schemas, all[i]), 1);
        assert_true(operations_of_kind(vd_json_get(document, VD_SLICE("paths")), all[i]) > 0);
        assert_operation_ids_differ(a, vd_json_get(document, VD_SLICE("paths")));
        vd_arena_reset(a);
        vd_buf_release(&out);
    }
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(a_kind_has_the_paths_of_its_verbs),
        arena_test(a_patch_names_its_kind_and_parameters),
        arena_test(an_operation_is_written_in_full),
        arena_test(a_schema_is_the_definitions_with_what_objects_have),
        cmocka_unit_test(what_is_not_served_has_no_document),
        cmocka_unit_test(the_index_names_every_version_with_its_hash),
        arena_test(built_in_documents_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
