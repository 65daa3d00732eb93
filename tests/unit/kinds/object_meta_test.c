/* src/kinds/object_meta.c: types checked, fields read and written. */
#include "kinds/object_meta.h"

#include "json_check.h"
#include "kinds/uid.h"

static const char pod[] =
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-0\",\"generateName\":\"web-\",\"namespace\":"
    "\"default\",\"uid\":\"0f1e2d3c-4b5a-4697-8877-665544332211\",\"resourceVersion\":\"42\","
    "\"generation\":3,\"creationTimestamp\":\"2026-11-15T09:35:21Z\",\"labels\":{\"app\":\"web\","
    "\"empty\":\"\"},\"annotations\":{\"note\":\"n\"},\"finalizers\":[\"a/b\",\"c/d\",\"a/b\"],"
    "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n\",\"uid\":\"u1\"},"
    "{\"apiVersion\":\"apps/"
    "v1\",\"kind\":\"Set\",\"name\":\"s\",\"uid\":\"u2\",\"controller\":true,"
    "\"blockOwnerDeletion\":true}]}}";

static void fields_are_read(void **state)
{
    struct vd_json *v = json_of(*state, pod);
    struct vd_error error;
    struct vd_slice value;
    struct vd_owner owner;
    char room[VD_UID_TEXT_MAX];
    assert_ok(vd_meta_check(v, &error), &error);
    assert_slice(vd_meta_name(v), "web-0");
    assert_slice(vd_meta_generate_name(v), "web-");
    assert_slice(vd_meta_namespace(v), "default");
    assert_slice(vd_meta_resource_version(v), "42");
    assert_slice(vd_meta_creation_timestamp(v), "2026-11-15T09:35:21Z");
    assert_slice(vd_uid_format(vd_meta_uid(v), room), "0f1e2d3c-4b5a-4697-8877-665544332211");
    assert_int_equal(vd_meta_generation(v), 3);
    assert_false(vd_meta_is_deleting(v));
    assert_true(vd_meta_label(v, VD_SLICE("app"), &value));
    assert_slice(value, "web");
    assert_true(vd_meta_label(v, VD_SLICE("empty"), &value));
    assert_slice(value, "");
    assert_false(vd_meta_label(v, VD_SLICE("note"), &value));
    assert_true(vd_meta_annotation(v, VD_SLICE("note"), &value));
    assert_int_equal(vd_json_count(vd_meta_labels(v)), 2);
    assert_int_equal(vd_json_count(vd_meta_annotations(v)), 1);
    assert_true(vd_meta_has_finalizer(v, VD_SLICE("c/d")));
    assert_false(vd_meta_has_finalizer(v, VD_SLICE("")));
    assert_int_equal(vd_json_count(vd_meta_owners(v)), 2);
    assert_true(vd_meta_controller(v, &owner));
    assert_slice(owner.name, "s");
    assert_slice(owner.uid, "u2");
    assert_slice(owner.api_version, "apps/v1");
    assert_slice(owner.kind, "Set");
    assert_true(owner.block_owner_deletion);
}

static void what_is_missing_or_strange_reads_as_nothing(void **state)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "{\"metadata\":null}",
        "{\"metadata\":[1]}",
        "{\"metadata\":{\"name\":1,\"uid\":\"x\",\"generation\":\"3\",\"labels\":[]}}",
        "{\"metadata\":{\"finalizers\":{},\"ownerReferences\":\"\"}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct vd_json *v = json_of(*state, texts[i]);
        struct vd_slice value;
        struct vd_owner owner;
        assert_slice(vd_meta_name(v), "");
        assert_true(vd_uid_is_none(vd_meta_uid(v)));
        assert_int_equal(vd_meta_generation(v), 0);
        assert_null(vd_meta_labels(v));
        assert_null(vd_meta_annotations(v));
        assert_false(vd_meta_label(v, VD_SLICE("app"), &value));
        assert_false(vd_meta_has_finalizer(v, VD_SLICE("a/b")));
        assert_false(vd_meta_remove_finalizer(v, VD_SLICE("a/b")));
        assert_false(vd_meta_remove_label(v, VD_SLICE("a/b")));
        assert_false(vd_meta_controller(v, &owner));
    }
}

static void wrong_types_are_named(void **state)
{
    static const struct {
        const char *meta, *says; /* NULL: it is fine */
    } cases[] = {
        {"{}", NULL},
        {"null", NULL},
        {"{\"name\":null,\"labels\":null,\"creationTimestamp\":null,\"finalizers\":null}", NULL},
        {"{\"unknown\":[7]}", NULL},
        {"{\"ownerReferences\":[{\"controller\":null}],\"managedFields\":[{}]}", NULL},
        {"[]", "metadata must be an object, but it is of type array"},
        {"\"x\"", "metadata must be an object, but it is \"x\""},
        {"{\"name\":1}", "metadata.name must be a string, but it is of type number"},
        {"{\"namespace\":{}}", "metadata.namespace must be a string"},
        {"{\"uid\":true}", "metadata.uid must be a string"},
        {"{\"resourceVersion\":5}", "metadata.resourceVersion must be a string"},
        {"{\"generation\":\"1\"}", "metadata.generation must be a 64-bit integer, but it is \"1\""},
        {"{\"generation\":1.5}", "metadata.generation must be a 64-bit integer"},
        {"{\"creationTimestamp\":\"noon\"}",
         "metadata.creationTimestamp must be a time like 2006-01-02T15:04:05Z, but it is \"noon\""},
        {"{\"deletionTimestamp\":7}", "metadata.deletionTimestamp must be a time"},
        {"{\"labels\":[]}", "metadata.labels must be a map of strings, but it is of type array"},
        {"{\"labels\":{\"a\":\"b\",\"c\":1}}",
         "metadata.labels[\"c\"] must be a string, but it is of type number"},
        {"{\"annotations\":{\"c\":null}}", "metadata.annotations[\"c\"] must be a string"},
        {"{\"finalizers\":\"x\"}", "metadata.finalizers must be a list, but it is \"x\""},
        {"{\"finalizers\":[\"x\",1]}", "metadata.finalizers[1] must be a string"},
        {"{\"ownerReferences\":[1]}", "metadata.ownerReferences[0] must be an object"},
        {"{\"ownerReferences\":[{},{\"uid\":1}]}",
         "metadata.ownerReferences[1].uid must be a string"},
        {"{\"ownerReferences\":[{\"controller\":\"yes\"}]}",
         "metadata.ownerReferences[0].controller must be true or false"},
        {"{\"managedFields\":[\"x\"]}", "metadata.managedFields[0] must be an object"},
        {"{\"managedFields\":[{\"manager\":\"m\",\"time\":\"2026-01-02T15:04:05.5Z\"}]}", NULL},
        {"{\"managedFields\":[{},{\"time\":\"noon\"}]}",
         "metadata.managedFields[1].time must be a time like"},
        {"{\"managedFields\":[{\"manager\":5}]}",
         "metadata.managedFields[0].manager must be a string"},
        {"{\"managedFields\":[{\"subresource\":{}}]}",
         "metadata.managedFields[0].subresource must be a string"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_buf text = {0};
        struct vd_error error = {0};
        vd_buf_addf(&text, "{\"metadata\":%s}", cases[i].meta);
        int code = vd_meta_check(json_of(*state, vd_buf_text(&text)), &error);
        if (code != (cases[i].says ? VD_ERR_INVALID : VD_OK))
            fail_msg("%s: %s %s", cases[i].meta, vd_code_name(code), error.text);
        if (cases[i].says)
            assert_says(&error, cases[i].says);
        vd_buf_release(&text);
    }
    struct vd_error error;
    assert_code(vd_meta_check(json_of(*state, "[]"), &error), VD_ERR_INVALID);
    assert_says(&error, "an object of the API must be a JSON object");
}

static void empty_containers_go(void **state)
{
    struct vd_json *object = json_of(
        *state, "{\"metadata\":{\"name\":\"a\",\"labels\":{},\"annotations\":{\"a\":\"\"},"
                "\"finalizers\":[],\"ownerReferences\":[]},\"spec\":{\"labels\":{}}}");
    vd_meta_drop_empty(object);
    assert_json(object, "{\"metadata\":{\"name\":\"a\",\"annotations\":{\"a\":\"\"}},"
                        "\"spec\":{\"labels\":{}}}");
    object = json_of(*state, "{\"spec\":1}");
    vd_meta_drop_empty(object);
    assert_json(object, "{\"spec\":1}");
}

static void fields_are_written(void **state)
{
    struct vd_json *v = vd_json_object(*state);
    struct vd_uid uid = {{0}};
    assert_true(vd_uid_parse(VD_SLICE("0f1e2d3c-4b5a-4697-8877-665544332211"), &uid));
    vd_meta_set_name(*state, v, VD_SLICE("n"));
    vd_meta_set_namespace(*state, v, VD_SLICE("s"));
    vd_meta_set_uid(*state, v, uid);
    vd_meta_set_resource_version(*state, v, VD_SLICE("7"));
    vd_meta_set_generation(*state, v, 1);
    vd_meta_set_creation_timestamp(*state, v, 1794735321042);
    assert_json(v, "{\"metadata\":{\"name\":\"n\",\"namespace\":\"s\",\"uid\":"
                   "\"0f1e2d3c-4b5a-4697-8877-665544332211\",\"resourceVersion\":\"7\","
                   "\"generation\":1,\"creationTimestamp\":\"2026-11-15T09:35:21Z\"}}");
    vd_meta_set_namespace(*state, v, VD_SLICE(""));
    vd_meta_set_uid(*state, v, (struct vd_uid){{0}});
    vd_meta_set_resource_version(*state, v, VD_SLICE(""));
    vd_meta_set_generation(*state, v, 0);
    vd_meta_set_deletion(*state, v, 1794735321042, 0);
    assert_true(vd_meta_is_deleting(v));
    assert_json(v, "{\"metadata\":{\"name\":\"n\",\"creationTimestamp\":\"2026-11-15T09:35:21Z\","
                   "\"deletionTimestamp\":\"2026-11-15T09:35:21Z\","
                   "\"deletionGracePeriodSeconds\":0}}");
}

static void labels_finalizers_and_owners_are_written(void **state)
{
    struct vd_json *v = json_of(*state, "{\"metadata\":{\"labels\":null}}");
    vd_meta_set_label(*state, v, VD_SLICE("a"), VD_SLICE("1"));
    vd_meta_set_label(*state, v, VD_SLICE("a"), VD_SLICE(""));
    vd_meta_set_annotation(*state, v, VD_SLICE("x"), VD_SLICE("y"));
    assert_true(vd_meta_add_finalizer(*state, v, VD_SLICE("f")));
    assert_false(vd_meta_add_finalizer(*state, v, VD_SLICE("f")));
    struct vd_owner owner = {VD_SLICE("v1"), VD_SLICE("K"), VD_SLICE("n"),
                             VD_SLICE("u"),  true,          false};
    vd_meta_set_owner(*state, v, &owner);
    owner.name = VD_SLICE("m");
    owner.controller = false;
    owner.block_owner_deletion = true;
    vd_meta_set_owner(*state, v, &owner);
    assert_json(v, "{\"metadata\":{\"labels\":{\"a\":\"\"},\"annotations\":{\"x\":\"y\"},"
                   "\"finalizers\":[\"f\"],\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":"
                   "\"K\",\"name\":\"m\",\"uid\":\"u\",\"blockOwnerDeletion\":true}]}}");
    owner.uid = VD_SLICE("w");
    vd_meta_set_owner(*state, v, &owner);
    assert_int_equal(vd_json_count(vd_meta_owners(v)), 2);
    assert_true(vd_meta_remove_label(v, VD_SLICE("a")));
    assert_false(vd_meta_remove_label(v, VD_SLICE("a")));
    assert_true(vd_meta_remove_annotation(v, VD_SLICE("x")));
    assert_true(vd_meta_remove_finalizer(v, VD_SLICE("f")));
    assert_null(vd_meta_finalizers(v));
    assert_null(vd_meta_labels(v));
    /* All of that name, and only those. */
    v = json_of(*state, pod);
    assert_true(vd_meta_remove_finalizer(v, VD_SLICE("a/b")));
    assert_json(vd_meta_finalizers(v), "[\"c/d\"]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(fields_are_read),       arena_test(what_is_missing_or_strange_reads_as_nothing),
        arena_test(wrong_types_are_named), arena_test(empty_containers_go),
        arena_test(fields_are_written),    arena_test(labels_finalizers_and_owners_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
