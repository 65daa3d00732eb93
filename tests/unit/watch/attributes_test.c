/* src/watch/attributes.h: labels and fields, read out of an object's bytes. */
#include "watch/attributes.h"

#include "check.h"
#include "watch_fixture.h"

static struct vd_collection *things;

static struct vd_event *event_of(const char *json)
{
    return test_event(things, "ns", "x", VD_EVENT_CREATED, 5, json);
}

/* The labels as "key=value " texts, in the order of the bytes. */
static void labels_text(struct vd_attributes *attributes, struct vd_buf *out)
{
    size_t n;
    const struct vd_label *labels = vd_attributes_labels(attributes, &n);
    vd_buf_reset(out);
    for (size_t i = 0; i < n; i++)
        vd_buf_addf(out, "%.*s=%.*s ", VD_FMT(labels[i].key), VD_FMT(labels[i].value));
}

static void labels_are_read_from_the_body(void **state)
{
    (void)state;
    static const struct {
        const char *json, *labels;
    } cases[] = {
        {"{\"metadata\":{\"labels\":{\"a\":\"b\"}}}", "a=b "},
        {"{\"metadata\":{\"labels\":{\"a\":\"b\",\"c\":\"\",\"d/e\":\"f\"}}}", "a=b c= d/e=f "},
        {"{ \"spec\" : {\"metadata\":1} ,\n\"metadata\" : { \"name\" : \"}\" ,"
         " \"labels\" : { \"a\" : \"b\" } } }",
         "a=b "},
        /* escapes in keys and values, and in the keys on the way */
        {"{\"metadata\":{\"labels\":{\"\\u0061\":\"\\u0062\"}}}", "a=b "},
        {"{\"metadata\":{\"labels\":{\"a\\/b\":\"\\\"q\\\\\"}}}", "a/b=\"q\\ "},
        {"{\"metadata\":{\"labels\":{\"\\u00e4\":\"\\ud83d\\ude00\"}}}",
         "\xc3\xa4=\xf0\x9f\x98\x80 "},
        {"{\"m\\u0065tadata\":{\"l\\u0061bels\":{\"a\":\"b\"}}}", "a=b "},
        /* what is no text is no label; the others stay */
        {"{\"metadata\":{\"labels\":{\"n\":1,\"t\":true,\"z\":null,\"o\":{\"a\":\"b\"},"
         "\"l\":[\"a\"],\"s\":\"yes\"}}}",
         "s=yes "},
        {"{\"metadata\":{\"labels\":{\"a\":\"\\x\",\"b\":\"c\"}}}", "b=c "},
        /* no labels at all, in many ways */
        {"{\"metadata\":{\"labels\":{}}}", ""},
        {"{\"metadata\":{\"labels\":null}}", ""},
        {"{\"metadata\":{\"labels\":[\"a\",\"b\"]}}", ""},
        {"{\"metadata\":{\"labels\":\"a=b\"}}", ""},
        {"{\"metadata\":{\"labels\":7}}", ""},
        {"{\"metadata\":{}}", ""},
        {"{\"metadata\":[{\"labels\":{\"a\":\"b\"}}]}", ""},
        {"{\"labels\":{\"a\":\"b\"}}", ""},
        {"{\"spec\":{\"metadata\":{\"labels\":{\"a\":\"b\"}}}}", ""},
        {"[]", ""},
        {"null", ""},
        {" ", ""},
        /* garbage is never read beyond its end */
        {"{\"metadata\":{\"labels\":{\"a\":\"b\",\"c", ""},
        {"{\"metadata\":{\"labels\":{\"a\":\"b", ""},
        {"{\"metadata\":{\"labels\":{\"a\\", ""},
    };
    struct vd_attributes attributes = {0};
    struct vd_buf got = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_event *event = event_of(cases[i].json);
        vd_attributes_set(&attributes, event);
        labels_text(&attributes, &got);
        if (!vd_slice_is(vd_buf_slice(&got), cases[i].labels))
            fail_msg("%s: got \"%s\"", cases[i].json, vd_buf_text(&got));
        vd_event_unref(event);
    }
    vd_attributes_release(&attributes);
    vd_buf_release(&got);
}

static void a_label_is_looked_up_by_its_decoded_key(void **state)
{
    (void)state;
    struct vd_event *event = event_of("{\"metadata\":{\"labels\":{\"a\\/b\":\"\\u0031\",\"e\":\"\","
                                      "\"n\":4}}}");
    struct vd_attributes attributes = {0};
    struct vd_slice value;
    size_t n;
    vd_attributes_set(&attributes, event);
    vd_attributes_labels(&attributes, &n);
    assert_int_equal(n, 2);
    assert_true(vd_attributes_label(&attributes, VD_SLICE("a/b"), &value));
    assert_slice(value, "1");
    assert_true(vd_attributes_label(&attributes, VD_SLICE("e"), &value));
    assert_slice(value, "");
    assert_false(vd_attributes_label(&attributes, VD_SLICE("a\\/b"), &value));
    assert_false(vd_attributes_label(&attributes, VD_SLICE("n"), &value));
    assert_false(vd_attributes_label(&attributes, VD_SLICE(""), &value));
    vd_event_unref(event);
    vd_attributes_release(&attributes);
}

static void of_two_labels_with_one_key_the_first_counts(void **state)
{
    (void)state;
    struct vd_event *event = event_of("{\"metadata\":{\"labels\":{\"a\":\"1\",\"a\":\"2\"},"
                                      "\"labels\":{\"b\":\"3\"}}}");
    struct vd_attributes attributes = {0};
    struct vd_slice value;
    size_t n;
    vd_attributes_set(&attributes, event);
    vd_attributes_labels(&attributes, &n);
    assert_true(vd_attributes_label(&attributes, VD_SLICE("a"), &value));
    assert_slice(value, "1");
    assert_false(vd_attributes_label(&attributes, VD_SLICE("b"), &value));
    vd_event_unref(event);
    vd_attributes_release(&attributes);
}

static void a_field_is_the_text_at_a_dotted_path(void **state)
{
    (void)state;
    static const char json[] =
        "{\"metadata\":{\"name\":\"lies\",\"namespace\":\"lies\",\"generation\":3},"
        "\"spec\":{\"node\":\"n1\",\"count\":-1.50e3,\"on\":true,\"off\":false,\"none\":null,"
        "\"empty\":\"\",\"esc\":\"a\\u0062\\n\",\"k\\u0065y\":\"v\",\"list\":[1],\"deep\":{\"er\":"
        "\"d\"},"
        "\"bad\":\"\\x\",\"a.b\":\"dotted\",\"\":\"nameless\",\"twice\":\"1\",\"twice\":\"2\"},"
        "\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":"
        "{\"a\":{\"a\":{\"a\":\"16\",\"b\":{\"a\":\"17\"}}}}}}}}}}}}}}}}}";
    static const struct {
        const char *field, *value; /* NULL: not there */
    } cases[] = {
        {"metadata.name", "x"},
        {"metadata.namespace", "ns"},
        {"metadata.generation", "3"},
        {"spec.node", "n1"},
        {"spec.count", "-1.50e3"},
        {"spec.on", "true"},
        {"spec.off", "false"},
        {"spec.none", NULL},
        {"spec.empty", ""},
        {"spec.esc", "ab\n"},
        {"spec.key", "v"},
        {"spec.list", NULL},
        {"spec.list.0", NULL},
        {"spec.deep", NULL},
        {"spec.deep.er", "d"},
        {"spec.deep.er.still", NULL},
        {"spec.bad", NULL},
        {"spec.a.b", NULL},
        {"spec.", "nameless"},
        {"spec", NULL},
        {"spec.twice", "1"},
        {"missing", NULL},
        {"spec.missing", NULL},
        {"", NULL},
        {".", NULL},
        {"a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a", "16"},
        {"a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.b.a", NULL}, /* too deep */
    };
    struct vd_event *event = event_of(json);
    struct vd_attributes attributes = {0};
    vd_attributes_set(&attributes, event);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_slice value = VD_SLICE("untouched");
        bool found = vd_attributes_field(&attributes, vd_slice_of(cases[i].field), &value);
        if (found != !!cases[i].value)
            fail_msg("%s: %s", cases[i].field, found ? "found" : "not found");
        if (found && !vd_slice_is(value, cases[i].value))
            fail_msg("%s: got \"%.*s\"", cases[i].field, VD_FMT(value));
    }
    vd_event_unref(event);
    vd_attributes_release(&attributes);
}

static void of_several_fields_the_first_with_a_text_counts(void **state)
{
    (void)state;
    static const struct {
        const char *json, *want;
    } cases[] = {
        {"{\"source\":{\"component\":\"a\"},\"by\":\"b\"}", "a"},
        {"{\"source\":{\"component\":\"\"},\"by\":\"b\"}", "b"},
        {"{\"source\":{},\"by\":\"b\"}", "b"},
        {"{\"by\":\"b\"}", "b"},
        {"{\"source\":\"a\"}", NULL},
        {"{}", NULL},
    };
    struct vd_attributes attributes = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_event *event = event_of(cases[i].json);
        struct vd_slice value = {0};
        vd_attributes_set(&attributes, event);
        bool found = vd_attributes_first_field(&attributes, VD_SLICE("source.component|by"),
                                               &value);
        assert_int_equal(found, cases[i].want != NULL);
        if (found)
            assert_slice(value, cases[i].want);
        vd_event_unref(event);
    }
    vd_attributes_release(&attributes);
}

static void a_cluster_scoped_object_has_the_empty_namespace(void **state)
{
    (void)state;
    struct vd_event *event = test_event(things, "", "x", VD_EVENT_CREATED, 5, "{}");
    struct vd_attributes attributes = {0};
    struct vd_slice value;
    vd_attributes_set(&attributes, event);
    assert_true(vd_attributes_field(&attributes, VD_SLICE("metadata.namespace"), &value));
    assert_slice(value, "");
    vd_event_unref(event);
    vd_attributes_release(&attributes);
}

/* Decoded texts of one event must not be used for the next. */
static void attributes_are_reused_from_event_to_event(void **state)
{
    (void)state;
    struct vd_attributes attributes = {0};
    struct vd_buf got = {0}, want = {0};
    struct vd_slice value;
    for (int i = 0; i < 200; i++) {
        char json[256];
        snprintf(json, sizeof json,
                 "{\"metadata\":{\"labels\":{\"k\\u0065y%d\":\"v\\u0061l%d\"}},"
                 "\"spec\":{\"f\":\"\\u0066%d\"}}",
                 i, i, i);
        struct vd_event *event = event_of(json);
        vd_attributes_set(&attributes, event);
        assert_true(vd_attributes_field(&attributes, VD_SLICE("spec.f"), &value));
        labels_text(&attributes, &got);
        vd_buf_reset(&want);
        vd_buf_addf(&want, "key%d=val%d ", i, i);
        assert_string_equal(vd_buf_text(&got), vd_buf_text(&want));
        vd_buf_reset(&want);
        vd_buf_addf(&want, "f%d", i);
        assert_slice(value, vd_buf_text(&want));
        vd_event_unref(event);
    }
    vd_attributes_release(&attributes);
    vd_buf_release(&got);
    vd_buf_release(&want);
}

static void labels_are_read_once(void **state)
{
    (void)state;
    struct vd_event *event = event_of("{\"metadata\":{\"labels\":{\"\\u0061\":\"b\"}}}");
    struct vd_attributes attributes = {0};
    size_t n;
    vd_attributes_set(&attributes, event);
    const struct vd_label *first = vd_attributes_labels(&attributes, &n);
    const char *key = first[0].key.p;
    assert_int_equal(n, 1);
    assert_ptr_equal(vd_attributes_labels(&attributes, &n), first);
    assert_int_equal(n, 1);
    assert_ptr_equal(first[0].key.p, key);
    vd_event_unref(event);
    vd_attributes_release(&attributes);
}

static void no_event_and_a_lost_body_have_no_attributes(void **state)
{
    (void)state;
    struct vd_attributes attributes = {0};
    struct vd_slice value;
    size_t n = 7;
    vd_attributes_labels(&attributes, &n);
    assert_int_equal(n, 0);
    struct vd_event *event = event_of("{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    vd_attributes_set(&attributes, event);
    vd_attributes_labels(&attributes, &n);
    assert_int_equal(n, 1);
    vd_attributes_set(&attributes, NULL);
    vd_attributes_labels(&attributes, &n);
    assert_int_equal(n, 0);
    assert_false(vd_attributes_label(&attributes, VD_SLICE("a"), &value));
    assert_false(vd_attributes_field(&attributes, VD_SLICE("metadata.name"), &value));
    vd_event_unref(event);
    event = event_of(NULL); /* damaged: only the key is known */
    vd_attributes_set(&attributes, event);
    vd_attributes_labels(&attributes, &n);
    assert_int_equal(n, 0);
    assert_true(vd_attributes_field(&attributes, VD_SLICE("metadata.name"), &value));
    assert_slice(value, "x");
    assert_false(vd_attributes_field(&attributes, VD_SLICE("spec.node"), &value));
    vd_event_unref(event);
    vd_attributes_release(&attributes);
    vd_attributes_release(&attributes);
}

static int setup(void **state)
{
    (void)state;
    things = vd_collection_new(VD_SLICE("things"));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    vd_collection_free(things);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_read_from_the_body),
        cmocka_unit_test(a_label_is_looked_up_by_its_decoded_key),
        cmocka_unit_test(of_two_labels_with_one_key_the_first_counts),
        cmocka_unit_test(a_field_is_the_text_at_a_dotted_path),
        cmocka_unit_test(of_several_fields_the_first_with_a_text_counts),
        cmocka_unit_test(a_cluster_scoped_object_has_the_empty_namespace),
        cmocka_unit_test(attributes_are_reused_from_event_to_event),
        cmocka_unit_test(labels_are_read_once),
        cmocka_unit_test(no_event_and_a_lost_body_have_no_attributes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
