/* Versions with different schemas: whose defaults an object has, and whose fields, as it is written
 * through one and read through another. */
#include "face_check.h"

#include "json_check.h"
#include "widget_kinds.h"

/* clang-format off */
static const char KIND[] =
    "spec:\n"
    "  group: example.com\n"
    "  scope: Cluster\n"
    "  names: {kind: Thing, plural: things}\n"
    "  versions:\n"
    "  - name: v1\n"
    "    served: true\n"
    "    storage: false\n"
    "    schema:\n"
    "      openAPIV3Schema:\n"
    "        type: object\n"
    "        properties:\n"
    "          spec:\n"
    "            type: object\n"
    "            properties:\n"
    "              a: {type: string, default: a1}\n"
    "              b: {type: string}\n"
    "              c: {type: string}\n"
    "  - name: v2\n"
    "    served: true\n"
    "    storage: true\n"
    "    schema:\n"
    "      openAPIV3Schema:\n"
    "        type: object\n"
    "        properties:\n"
    "          spec:\n"
    "            type: object\n"
    "            properties:\n"
    "              a: {type: string}\n"
    "              b: {type: string, default: b2}\n"
    "              d: {type: string, default: d2}\n";
/* clang-format on */

static int open_kinds(void **state)
{
    open_face(state);
    put_kind(face.env.kinds, KIND, false);
    return arena_setup(state);
}

static int close_kinds(void **state)
{
    arena_teardown(state);
    return close_face(state);
}

static void assert_spec(struct vd_arena *a, const char *method, const char *target,
                        const char *body, unsigned status, const char *spec)
{
    struct answer answer = face_ask(method, target, "", body, status);
    struct vd_json *object = json_of(a, vd_buf_text(&answer.body));
    assert_json(vd_json_get(object, VD_SLICE("spec")), spec);
    answer_release(&answer);
}

#define V1 "/apis/example.com/v1/things"
#define V2 "/apis/example.com/v2/things"

static void what_is_written_has_the_defaults_of_both_versions(void **state)
{
    struct vd_arena *a = *state;
    assert_spec(a, "POST", V1, "{\"metadata\":{\"name\":\"o\"},\"spec\":{\"c\":\"x\"}}", 201,
                "{\"a\":\"a1\",\"b\":\"b2\"}");
    assert_spec(a, "GET", V1 "/o", "", 200, "{\"a\":\"a1\",\"b\":\"b2\"}");
    assert_spec(a, "GET", V2 "/o", "", 200, "{\"a\":\"a1\",\"b\":\"b2\",\"d\":\"d2\"}");
}

static void what_is_read_has_those_of_the_stored_version(void **state)
{
    struct vd_arena *a = *state;
    assert_spec(a, "POST", V2, "{\"metadata\":{\"name\":\"o\"},\"spec\":{}}", 201,
                "{\"b\":\"b2\",\"d\":\"d2\"}");
    assert_spec(a, "GET", V1 "/o", "", 200, "{\"b\":\"b2\"}");
}

/* What is stored in another version than today's has the defaults of its own. */
static void the_version_of_the_bytes_counts(void **state)
{
    struct vd_arena *a = *state;
    struct vd_wish wish = {.key = test_key("things.example.com", "", "o"),
                           .uid = vd_uid_generate()};
    struct vd_outcome outcome;
    static const char body[] = "{\"kind\":\"Thing\",\"apiVersion\":\"example.com/v1\","
                               "\"metadata\":{\"name\":\"o\",\"resourceVersion\":\"\"},"
                               "\"spec\":{\"c\":\"x\",\"d\":\"y\"}}";
    const char *hole = strstr(body, "Version\":\"\"") + 10;
    wish.body = (struct vd_template){vd_slice_of(body), (uint32_t)(hole - body)};
    assert_ok(vd_store_commit(face.store, &wish, 1, &outcome), &outcome.error);
    assert_spec(a, "GET", V2 "/o", "", 200, "{\"a\":\"a1\"}");
    assert_spec(a, "GET", V1 "/o", "", 200, "{\"c\":\"x\",\"a\":\"a1\"}");
}

#define face_test(f) cmocka_unit_test_setup_teardown(f, open_kinds, close_kinds)

int main(void)
{
    const struct CMUnitTest tests[] = {
        face_test(what_is_written_has_the_defaults_of_both_versions),
        face_test(what_is_read_has_those_of_the_stored_version),
        face_test(the_version_of_the_bytes_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
