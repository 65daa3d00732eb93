/* src/kinds/conversion_review.c and webhook.c: what a webhook is sent, and what is taken from it.
 */
#include "kinds/conversion_review.h"

#include "check.h"
#include "kinds/kinds.h"
#include "kinds/webhook.h"
#include "json/yaml_read.h"

static const char DEFINITION[] =
    "metadata: {name: ws.x.io, uid: u}\n"
    "spec:\n"
    "  group: x.io\n"
    "  scope: Namespaced\n"
    "  names: {kind: W, plural: ws}\n"
    "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v9, v1],\n"
    "    clientConfig: {service: {namespace: ns, name: s, path: /p}, caBundle: YQ==}}}\n"
    "  versions:\n"
    "  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object,\n"
    "      properties: {a: {type: string}, d: {type: string, default: x}}}}}\n"
    "  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object,\n"
    "      properties: {b: {type: string}}}}}\n";

#define STORED                                                                                     \
    "{\"apiVersion\":\"x.io/v1\",\"kind\":\"W\",\"metadata\":{\"name\":\"w\",\"namespace\":\"n\"," \
    "\"uid\":\"7\",\"generation\":3,\"labels\":{\"l\":\"1\"}},\"a\":\"1\",\"gone\":true}"

struct setting {
    struct vd_kinds *kinds;
    struct vd_kind_set *set;
    struct vd_review_object object;
    struct vd_conversion_review review;
};

static int set_up(void **state)
{
    static struct setting s;
    struct vd_arena arena = {0};
    struct vd_json *document = NULL;
    s = (struct setting){.kinds = vd_kinds_new(NULL)};
    assert_int_equal(vd_yaml_read(&arena, vd_slice_of(DEFINITION), &document, NULL), VD_OK);
    assert_int_equal(vd_kinds_put(s.kinds, document, false, NULL), VD_OK);
    vd_arena_release(&arena);
    s.set = vd_kinds_snapshot(s.kinds);
    s.object.body = VD_SLICE(STORED);
    s.object.from = vd_kind_set_resource(s.set, VD_SLICE("x.io"), VD_SLICE("v1"), VD_SLICE("ws"));
    s.review = (struct vd_conversion_review){
        .version = VD_SLICE("v1"),
        .uid = VD_SLICE("id"),
        .to = vd_kind_set_resource(s.set, VD_SLICE("x.io"), VD_SLICE("v2"), VD_SLICE("ws")),
        .objects = &s.object,
        .n = 1,
    };
    *state = &s;
    return 0;
}

static int tear_down(void **state)
{
    struct setting *s = *state;
    vd_kind_set_unref(s->set);
    vd_kinds_free(s->kinds);
    return 0;
}

static void the_webhook_is_read(void **state)
{
    struct setting *s = *state;
    struct vd_webhook w;
    assert_true(s->review.to->webhook);
    assert_int_equal(vd_webhook_read(&w, s->review.to, NULL), VD_OK);
    assert_slice(w.name, "s");
    assert_slice(w.namespace, "ns");
    assert_slice(w.path, "/p");
    assert_int_equal(w.port, 443);
    assert_slice(w.review_version, "v1");
    assert_slice(w.ca_bundle, "YQ==");
    assert_int_equal(w.url.n, 0);
}

/* Pruned and with the defaults of the version that it is stored in. */
static void a_request_is_written(void **state)
{
    struct setting *s = *state;
    struct vd_buf out = {0};
    vd_conversion_review_write(&out, &s->review);
    assert_string_equal(
        vd_buf_text(&out),
        "{\"kind\":\"ConversionReview\",\"apiVersion\":\"apiextensions.k8s.io/v1\",\"request\":{"
        "\"uid\":\"id\",\"desiredAPIVersion\":\"x.io/v2\",\"objects\":[{\"apiVersion\":\"x.io/v1\","
        "\"kind\":\"W\",\"metadata\":{\"name\":\"w\",\"namespace\":\"n\",\"uid\":\"7\","
        "\"generation\":3,\"labels\":{\"l\":\"1\"}},\"a\":\"1\",\"d\":\"x\"}]}}");
    vd_buf_release(&out);
}

#define ANSWER(response)                                                                           \
    "{\"kind\":\"ConversionReview\",\"apiVersion\":\"apiextensions.k8s.io/v1\",\"response\":{"     \
    "\"uid\":\"id\"," response "}}\n"
#define OBJECTS(objects)                                                                           \
    ANSWER("\"result\":{\"status\":\"Success\"},\"convertedObjects\":[" objects "]")
#define OBJECT(version, metadata)                                                                  \
    OBJECTS("{\"apiVersion\":\"" version "\",\"kind\":\"W\",\"metadata\":" metadata                \
            ",\"b\":\"1\",\"unknown\":1}")
#define SAME "\"name\":\"w\",\"namespace\":\"n\",\"uid\":\"7\""
#define LEAD "conversion webhook for x.io/v1, Kind=W "

/* The rest of its metadata is as it was; what the schema does not know is gone. */
static void an_answer_is_read(void **state)
{
    struct setting *s = *state;
    struct vd_buf out = {0};
    struct vd_error error = {0};
    const char *answer = OBJECT("x.io/v2", "{" SAME ",\"generation\":9,\"finalizers\":[\"a/b\"],"
                                           "\"annotations\":{\"k\":\"v\"}}");
    assert_int_equal(vd_conversion_review_read(&s->review, vd_slice_of(answer), &out, &error),
                     VD_CONVERSION_FAILED_NONE);
    assert_string_equal(vd_buf_text(&out),
                        "{\"apiVersion\":\"x.io/v2\",\"kind\":\"W\",\"metadata\":{\"name\":\"w\","
                        "\"namespace\":\"n\",\"uid\":\"7\",\"generation\":3,\"annotations\":{"
                        "\"k\":\"v\"}},\"b\":\"1\"}");
    vd_buf_release(&out);
}

static void bad_answers_are_refused(void **state)
{
    static const struct {
        const char *answer;
        enum vd_conversion_failure failure;
        const char *want;
    } rows[] = {
        {"", VD_CONVERSION_FAILED_MALFORMED, LEAD "failed: no response provided"},
        {"{\"response\":null}", VD_CONVERSION_FAILED_MALFORMED,
         LEAD "failed: no response provided"},
        {"{\"response\":{}}", VD_CONVERSION_FAILED_MALFORMED,
         LEAD "failed: expected webhook response of apiextensions.k8s.io/v1, "
              "Kind=ConversionReview, got , Kind="},
        {"{\"kind\":\"ConversionReview\",\"apiVersion\":\"apiextensions.k8s.io/v1\",\"response\":{"
         "\"uid\":\"other\"}}",
         VD_CONVERSION_FAILED_MALFORMED,
         LEAD "failed: expected response.uid=\"id\", got \"other\""},
        {ANSWER("\"result\":{\"status\":\"Failed\",\"message\":\"no \\\"way\\\"\"}"),
         VD_CONVERSION_FAILED_MALFORMED, LEAD "failed: no \"way\""},
        {ANSWER("\"convertedObjects\":[{}]"), VD_CONVERSION_FAILED_MALFORMED,
         LEAD "failed: response.result.status was '', not 'Success'"},
        {OBJECTS(""), VD_CONVERSION_FAILED_PARTIAL, LEAD "returned 0 objects, expected 1"},
        {OBJECTS("{},{}"), VD_CONVERSION_FAILED_PARTIAL, LEAD "returned 2 objects, expected 1"},
        {OBJECT("x.io/v1", "{" SAME "}"), VD_CONVERSION_FAILED_INVALID,
         LEAD "returned invalid converted object at index 0: invalid groupVersion (expected "
              "x.io/v2, received x.io/v1)"},
        {OBJECTS("{\"apiVersion\":\"x.io/v2\",\"kind\":\"V\"}"), VD_CONVERSION_FAILED_INVALID,
         LEAD
         "returned invalid converted object at index 0: invalid kind (expected W, received V)"},
        {OBJECT("x.io/v2", "{\"name\":\"v\",\"namespace\":\"n\",\"uid\":\"7\"}"),
         VD_CONVERSION_FAILED_INVALID,
         LEAD "returned invalid converted object at index 0: must have the same name: w != v"},
        {OBJECT("x.io/v2", "{\"name\":\"w\",\"uid\":\"7\"}"), VD_CONVERSION_FAILED_INVALID,
         LEAD "returned invalid converted object at index 0: must have the same namespace: n != "},
        {OBJECT("x.io/v2", "{\"name\":\"w\",\"namespace\":\"n\",\"uid\":\"8\"}"),
         VD_CONVERSION_FAILED_INVALID,
         LEAD "returned invalid converted object at index 0: must have the same UID: 7 != 8"},
        {OBJECT("x.io/v2", "7"), VD_CONVERSION_FAILED_INVALID,
         LEAD
         "returned invalid metadata in object at index 0: missing metadata in converted object"},
        {OBJECT("x.io/v2", "{" SAME ",\"labels\":[]}"), VD_CONVERSION_FAILED_INVALID,
         LEAD "returned invalid metadata in object at index 0: invalid metadata.labels of type "
              "array in converted object"},
        {OBJECT("x.io/v2", "{" SAME ",\"annotations\":{\"a\":1}}"), VD_CONVERSION_FAILED_INVALID,
         LEAD "returned invalid metadata in object at index 0: metadata.annotations[a] must be a "
              "string, but is number in converted object"},
    };
    struct setting *s = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vd_buf out = {0};
        struct vd_error error = {0};
        enum vd_conversion_failure failure = vd_conversion_review_read(
            &s->review, vd_slice_of(rows[i].answer), &out, &error);
        assert_int_equal(failure, rows[i].failure);
        vd_conversion_failure_tell(&error, failure, &s->review);
        assert_string_equal(error.text, rows[i].want);
        vd_buf_release(&out);
    }
}

static void labels_are_checked(void **state)
{
    struct setting *s = *state;
    struct vd_buf out = {0};
    struct vd_error error = {0};
    const char *answer = OBJECT("x.io/v2", "{" SAME ",\"labels\":{\"a b\":\"c\"}}");
    assert_int_equal(vd_conversion_review_read(&s->review, vd_slice_of(answer), &out, &error),
                     VD_CONVERSION_FAILED_INVALID);
    assert_non_null(strstr(error.text, "metadata.labels: Invalid value: \"a b\""));
    vd_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_webhook_is_read), cmocka_unit_test(a_request_is_written),
        cmocka_unit_test(an_answer_is_read),   cmocka_unit_test(bad_answers_are_refused),
        cmocka_unit_test(labels_are_checked),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
