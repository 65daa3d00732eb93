/* src/control/status_merge.c: what a result makes of a status. */
#include "check.h"

#include "base/buf.h"
#include "control/status_merge.h"
#include "json/parse.h"
#include "json/write.h"

#define OBJECT                                                                                     \
    "{\"metadata\":{\"generation\":3},\"status\":{\"a\":1,\"b\":{\"c\":1},\"conditions\":["        \
    "{\"type\":\"Other\",\"status\":\"True\",\"lastTransitionTime\":\"2020-01-01T00:00:00Z\"},"    \
    "{\"type\":\"Ready\",\"status\":\"False\",\"lastTransitionTime\":\"2020-01-01T00:00:00Z\","    \
    "\"reason\":\"Old\",\"message\":\"\",\"observedGeneration\":2}]}}"

static struct vd_json *parse(struct vd_arena *a, const char *text)
{
    struct vd_json *out = NULL;
    struct vd_error error;
    assert_ok(vd_json_parse(a, vd_slice_of(text), NULL, &out, &error), &error);
    return out;
}

/* The object's text after the merge, or the error. */
static const char *merged(struct vd_arena *a, const char *object, const char *status,
                          const char *conditions)
{
    static char text[2048];
    struct vd_buf out = {0};
    struct vd_error error;
    struct vd_json *o = parse(a, object);
    struct vd_result result = {.status = status ? parse(a, status) : NULL,
                               .conditions = conditions ? parse(a, conditions) : NULL};
    int code = vd_status_merge(a, o, &result, 1600000000000, &error);
    vd_json_write(&out, o);
    snprintf(text, sizeof text, "%s", code ? error.text : vd_buf_text(&out));
    vd_buf_release(&out);
    return text;
}

static void members_take_their_places(void **state)
{
    struct vd_arena a = {0};
    (void)state;
    assert_string_equal(merged(&a, "{\"spec\":{}}", "{\"x\":1}", NULL),
                        "{\"spec\":{},\"status\":{\"x\":1}}");
    assert_string_equal(
        merged(&a, "{\"status\":{\"a\":1,\"b\":{\"c\":1}}}", "{\"b\":{\"d\":2},\"a\":null}", NULL),
        "{\"status\":{\"b\":{\"d\":2}}}");
    assert_string_equal(merged(&a, "{\"status\":null}", "{}", NULL), "{\"status\":{}}");
    assert_string_equal(merged(&a, OBJECT, NULL, NULL), OBJECT);
    vd_arena_release(&a);
}

static void conditions_are_merged_by_type(void **state)
{
    struct vd_arena a = {0};
    (void)state;
    const char *text = merged(&a, OBJECT, NULL,
                              "[{\"type\":\"Ready\",\"status\":\"False\",\"reason\":\"New\"}]");
    assert_non_null(strstr(text, "\"reason\":\"New\""));
    assert_non_null(strstr(text, "\"observedGeneration\":3"));
    assert_null(strstr(text, "2020-09-13")); /* its status is what it was */
    assert_non_null(strstr(text, "\"type\":\"Other\""));
    text = merged(&a, OBJECT, NULL,
                  "[{\"type\":\"Ready\",\"status\":\"True\",\"observedGeneration\":1},"
                  "{\"type\":\"More\",\"status\":\"Unknown\"}]");
    assert_non_null(strstr(text, "\"lastTransitionTime\":\"2020-09-13T12:26:40Z\""));
    assert_non_null(strstr(text, "\"observedGeneration\":1"));
    assert_non_null(strstr(text, "\"type\":\"More\""));
    vd_arena_release(&a);
}

static void saying_the_same_twice_changes_nothing(void **state)
{
    struct vd_arena a = {0};
    char once[2048];
    (void)state;
    static const char *const conditions =
        "[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"R\",\"message\":\"m\"}]";
    snprintf(once, sizeof once, "%s", merged(&a, OBJECT, "{\"a\":2}", conditions));
    assert_string_equal(merged(&a, once, "{\"a\":2}", conditions), once);
    vd_arena_release(&a);
}

static void wrong_conditions_are_named(void **state)
{
    struct vd_arena a = {0};
    (void)state;
    assert_non_null(
        strstr(merged(&a, OBJECT, NULL, "[{\"status\":\"True\"}]"), "conditions[0].type"));
    assert_non_null(
        strstr(merged(&a, OBJECT, NULL,
                      "[{\"type\":\"A\",\"status\":\"True\"},{\"type\":\"B\",\"status\":true}]"),
               "conditions[1].status"));
    assert_non_null(strstr(merged(&a, OBJECT, NULL, "[1]"), "conditions[0].type"));
    vd_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_take_their_places),
        cmocka_unit_test(conditions_are_merged_by_type),
        cmocka_unit_test(saying_the_same_twice_changes_nothing),
        cmocka_unit_test(wrong_conditions_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
