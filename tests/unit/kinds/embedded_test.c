/* src/kinds/embedded.c, by way of an object that has another inside. */
#include "json_check.h"
#include "kinds/builtin.h"
#include "kinds/embedded.h"
#include "kinds/object.h"
#include "widget_kinds.h"

/* clang-format off */
static const char KIND[] =
    CLUSTER_KIND_YAML("Box", "boxes")
    "        properties:\n"
    "          spec:\n"
    "            type: object\n"
    "            properties:\n"
    "              all:\n"
    "                type: array\n"
    "                items:\n"
    "                  type: object\n"
    "                  x-kubernetes-embedded-resource: true\n"
    "                  x-kubernetes-preserve-unknown-fields: true\n";
/* clang-format on */

#define ONE(rest) "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"" rest "}"

static void a_resource_inside_another_is_one(void **state)
{
    static const struct {
        const char *resource, *wrong;
    } cases[] = {
        {ONE(""), ""},
        {ONE(",\"metadata\":{\"name\":\"a_B\",\"namespace\":\"x\",\"labels\":{\"a/b\":\"c\"},"
             "\"finalizers\":[\"plain\"]},\"spec\":{\"x\":1}"),
         ""},
        {"{}", "[spec.all[0].apiVersion: Required value: must not be empty, "
               "spec.all[0].kind: Required value: must not be empty]"},
        {"{\"apiVersion\":7,\"kind\":true}",
         "[spec.all[0].apiVersion: Invalid value: 7: must be a string, "
         "spec.all[0].kind: Invalid value: true: must be a string]"},
        {"{\"apiVersion\":\"a/b/c\",\"kind\":\"A\"}",
         "spec.all[0].apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c"},
        {ONE(",\"metadata\":{\"name\":\"a/b\"}"),
         "spec.all[0].metadata.name: Invalid value: \"a/b\": may not contain '/'"},
        {ONE(",\"metadata\":{\"finalizers\":[\"orphan\",\"foregroundDeletion\"]}"),
         "spec.all[0].metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: "
         "finalizer orphan and foregroundDeletion cannot be both set"},
        {ONE(",\"metadata\":{\"labels\":{\"a\":7}}"),
         "spec.all[0].metadata.labels.a: Invalid value: \"integer\": spec.all[0].metadata.labels.a "
         "in body must be of type string: \"integer\""},
    };
    struct vd_arena *a = *state;
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    put_kind(kinds, KIND, false);
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    const struct vd_kind *kind = vd_kind_set_stored(set, VD_SLICE("boxes.example.com"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_violations violations = {0};
        struct vd_buf text = {0};
        struct vd_json *object = json_of(a, "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Box\","
                                            "\"metadata\":{\"name\":\"b\"},\"spec\":{\"all\":[]}}");
        vd_json_append(vd_json_dig(object, "spec", "all", NULL), json_of(a, cases[i].resource));
        vd_object_validate(kind, object, NULL, &violations);
        vd_violations_write(&text, &violations);
        assert_slice(vd_buf_slice(&text), cases[i].wrong);
        vd_buf_release(&text);
        vd_violations_release(&violations);
    }
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

static void a_label_that_is_none_is_named(void **state)
{
    struct vd_arena *a = *state;
    struct vd_violations violations = {0};
    struct vd_field_path path = vd_field_member(NULL, VD_SLICE("template"));
    assert_false(vd_embedded_check(
        json_of(a, ONE(",\"metadata\":{\"labels\":{\"-\":\"x\"},\"annotations\":{\"-\":\"x\"},"
                       "\"generation\":-1,\"namespace\":\"A\"}")),
        &path, &violations));
    static const char *const fields[] = {"template.metadata.namespace",
                                         "template.metadata.generation", "template.metadata.labels",
                                         "template.metadata.annotations"};
    assert_int_equal(violations.list.n, 4);
    for (size_t i = 0; i < 4; i++)
        assert_slice(violations.list.p[i].field, fields[i]);
    vd_violations_release(&violations);
}

/* clang-format off */
static const char FURNISHED[] =
    CLUSTER_KIND_YAML("Crate", "crates")
    "        properties:\n"
    "          whole:\n"
    "            type: object\n"
    "            x-kubernetes-embedded-resource: true\n"
    "            x-kubernetes-preserve-unknown-fields: true\n"
    "            default: {apiVersion: v1, kind: Pod, metadata: {name: pod, unheard: of}, x: 1}\n"
    "          part:\n"
    "            type: object\n"
    "            x-kubernetes-embedded-resource: true\n"
    "            x-kubernetes-preserve-unknown-fields: true\n"
    "            properties:\n"
    "              metadata: {type: object, default: {labels: {a: b}, unheard: of}}\n";
/* clang-format on */

static void a_default_brings_nothing_that_metadata_does_not_have(void **state)
{
    struct vd_arena *a = *state;
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    put_kind(kinds, FURNISHED, false);
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    const struct vd_kind *kind = vd_kind_set_stored(set, VD_SLICE("crates.example.com"));
    struct vd_json *object = json_of(a, "{\"part\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}}");
    assert_int_equal(
        vd_object_prepare(kind, a, object, true, NULL, &(struct vd_effort){0}, NULL), VD_OK);
    assert_json(object, "{\"part\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":"
                        "{\"labels\":{\"a\":\"b\"}}},\"whole\":{\"apiVersion\":\"v1\",\"kind\":"
                        "\"Pod\",\"metadata\":{\"name\":\"pod\"},\"x\":1}}");
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(a_resource_inside_another_is_one),
        arena_test(a_label_that_is_none_is_named),
        arena_test(a_default_brings_nothing_that_metadata_does_not_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
