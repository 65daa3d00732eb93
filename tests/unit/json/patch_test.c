/* src/json/patch.c: the examples of RFC 6902, its edges, and the limits. */
#include "json/patch.h"

#include <string.h>

#include "base/limits.h"
#include "json_check.h"
#include "json/compare.h"

struct patch_case {
    const char *doc, *patch;
    const char *want; /* as written; NULL: it fails */
    const char *says; /* what the error says */
};

static void check_case(struct vd_arena *a, const struct patch_case *c)
{
    struct vd_error error = {0};
    struct vd_json *doc = json_of(a, c->doc), *patch = NULL;
    struct vd_json *before = vd_json_copy(a, doc);
    int code = vd_json_patch_parse(a, vd_slice_of(c->patch), NULL, &patch, &error);
    struct vd_json *patch_before = code == VD_OK ? vd_json_copy(a, patch) : NULL;
    if (code == VD_OK)
        code = vd_json_patch(a, doc, patch, &error);
    if ((code == VD_OK) != (c->want != NULL))
        fail_msg("%s on %s: %s", c->patch, c->doc, code == VD_OK ? "applied" : error.text);
    if (code == VD_OK) {
        assert_json(doc, c->want);
    } else {
        assert_code(code, VD_ERR_INVALID);
        assert_says(&error, c->says);
        assert_true(vd_json_eq(doc, before)); /* all or nothing */
    }
    assert_true(vd_json_eq(patch, patch_before));
}

#define CHECK(a, cases)                                                                            \
    for (size_t i = 0; i < sizeof(cases) / sizeof *(cases); i++)                                   \
    check_case((a), &(cases)[i])

static void the_examples_of_the_rfc_hold(void **state)
{
    static const struct patch_case cases[] = {
        {"{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\"}]",
         "{\"foo\":\"bar\",\"baz\":\"qux\"}", NULL},
        {"{\"foo\":[\"bar\",\"baz\"]}", "[{\"op\":\"add\",\"path\":\"/foo/1\",\"value\":\"qux\"}]",
         "{\"foo\":[\"bar\",\"qux\",\"baz\"]}", NULL},
        {"{\"baz\":\"qux\",\"foo\":\"bar\"}", "[{\"op\":\"remove\",\"path\":\"/baz\"}]",
         "{\"foo\":\"bar\"}", NULL},
        {"{\"foo\":[\"bar\",\"qux\",\"baz\"]}", "[{\"op\":\"remove\",\"path\":\"/foo/1\"}]",
         "{\"foo\":[\"bar\",\"baz\"]}", NULL},
        {"{\"baz\":\"qux\",\"foo\":\"bar\"}",
         "[{\"op\":\"replace\",\"path\":\"/baz\",\"value\":\"boo\"}]",
         "{\"baz\":\"boo\",\"foo\":\"bar\"}", NULL},
        {"{\"foo\":{\"bar\":\"baz\",\"waldo\":\"fred\"},\"qux\":{\"corge\":\"grault\"}}",
         "[{\"op\":\"move\",\"from\":\"/foo/waldo\",\"path\":\"/qux/thud\"}]",
         "{\"foo\":{\"bar\":\"baz\"},\"qux\":{\"corge\":\"grault\",\"thud\":\"fred\"}}", NULL},
        {"{\"foo\":[\"all\",\"grass\",\"cows\",\"eat\"]}",
         "[{\"op\":\"move\",\"from\":\"/foo/1\",\"path\":\"/foo/3\"}]",
         "{\"foo\":[\"all\",\"cows\",\"eat\",\"grass\"]}", NULL},
        {"{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}",
         "[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"qux\"},"
         "{\"op\":\"test\",\"path\":\"/foo/1\",\"value\":2}]",
         "{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}", NULL},
        {"{\"baz\":\"qux\"}", "[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"bar\"}]", NULL,
         "patch operation 0 (test): testing value /baz failed: test failed"},
        {"{\"foo\":\"bar\"}",
         "[{\"op\":\"add\",\"path\":\"/child\",\"value\":{\"grandchild\":{}}}]",
         "{\"foo\":\"bar\",\"child\":{\"grandchild\":{}}}", NULL},
        {"{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\",\"xyz\":123}]",
         "{\"foo\":\"bar\",\"baz\":\"qux\"}", NULL},
        {"{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz/bat\",\"value\":\"qux\"}]", NULL,
         "add operation does not apply: doc is missing path: \"/baz/bat\": missing value"},
        {"{\"/\":9,\"~1\":10}", "[{\"op\":\"test\",\"path\":\"/~01\",\"value\":10}]",
         "{\"/\":9,\"~1\":10}", NULL},
        {"{\"/\":9,\"~1\":10}", "[{\"op\":\"test\",\"path\":\"/~01\",\"value\":\"10\"}]", NULL,
         "testing value /~01 failed"},
        {"{\"foo\":[\"bar\"]}",
         "[{\"op\":\"add\",\"path\":\"/foo/-\",\"value\":[\"abc\",\"def\"]}]",
         "{\"foo\":[\"bar\",[\"abc\",\"def\"]]}", NULL},
    };
    CHECK(*state, cases);
}

static void edges_of_each_operation(void **state)
{
    static const struct patch_case cases[] = {
        {"{\"a\":1}", "[]", "{\"a\":1}", NULL},
        {"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"\",\"value\":[1]}]", "[1]", NULL},
        {"{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":null}]", "null", NULL},
        {"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/\",\"value\":2}]", "{\"a\":1,\"\":2}", NULL},
        {"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/a\",\"value\":null}]", "{\"a\":null}", NULL},
        {"[]", "[{\"op\":\"add\",\"path\":\"/0\",\"value\":1}]", "[1]", NULL},
        {"[1]", "[{\"op\":\"add\",\"path\":\"/1\",\"value\":2}]", "[1,2]", NULL},
        {"[1]", "[{\"op\":\"add\",\"path\":\"/2\",\"value\":2}]", NULL,
         "error in add for path: '/2': Unable to access invalid index: 2"},
        {"[1]", "[{\"op\":\"add\",\"path\":\"/x\",\"value\":2}]", NULL,
         "value was not a proper array index: 'x'"},
        {"[1]", "[{\"op\":\"add\",\"path\":\"/-1\",\"value\":2}]", NULL, "not a proper array"},
        {"[1]", "[{\"op\":\"add\",\"path\":\"/00\",\"value\":2}]", NULL, "not a proper array"},
        {"\"s\"", "[{\"op\":\"add\",\"path\":\"/a\",\"value\":2}]", NULL, "missing path"},
        {"[1]", "[{\"op\":\"remove\",\"path\":\"/1\"}]", NULL,
         "remove operation does not apply: doc is missing path: \"/1\""},
        {"[1]", "[{\"op\":\"remove\",\"path\":\"/-\"}]", NULL, "missing path"},
        {"{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"/b\"}]", NULL, "missing path: \"/b\""},
        {"{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"\"}]", NULL, "cannot be removed"},
        {"{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"/b\",\"value\":1}]", NULL,
         "replace operation does not apply: doc is missing path: /b: missing value"},
        {"[1,2,3]", "[{\"op\":\"replace\",\"path\":\"/1\",\"value\":{\"a\":[]}}]",
         "[1,{\"a\":[]},3]", NULL},
        {"{\"a\":{\"b\":1}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]", NULL,
         "/a/b lies inside the value to move"},
        {"{\"a\":{\"b\":1}}", "[{\"op\":\"move\",\"from\":\"\",\"path\":\"/a\"}]", NULL, "inside"},
        {"{\"a\":1}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a\"}]", "{\"a\":1}", NULL},
        {"{\"a\":{\"b\":1}}", "[{\"op\":\"move\",\"from\":\"/a/b\",\"path\":\"/a\"}]", "{\"a\":1}",
         NULL},
        {"{\"a\":{\"b\":1}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"\"}]", "{\"b\":1}",
         NULL},
        {"{\"a\":1}", "[{\"op\":\"move\",\"from\":\"/x\",\"path\":\"/y\"}]", NULL,
         "move operation does not apply: doc is missing from path: /x"},
        {"{\"a\":1}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/x/y\"}]", NULL,
         "missing path: \"/x/y\""},
        {"{\"a\":[1]}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/0\"}]", "{\"a\":[[1],1]}",
         NULL},
        {"{\"a\":1}", "[{\"op\":\"copy\",\"from\":\"\",\"path\":\"/a\"}]", "{\"a\":{\"a\":1}}",
         NULL},
        {"{\"a\":1}", "[{\"op\":\"copy\",\"from\":\"/x\",\"path\":\"/y\"}]", NULL,
         "copy operation does not apply: doc is missing from path: /x"},
        {"{\"a\":[1]}",
         "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"},"
         "{\"op\":\"add\",\"path\":\"/b/-\",\"value\":2}]",
         "{\"a\":[1],\"b\":[1,2]}", NULL},
        {"{\"a\":{\"x\":1,\"y\":2}}",
         "[{\"op\":\"test\",\"path\":\"/a\",\"value\":{\"y\":2.0,\"x\":1}}]",
         "{\"a\":{\"x\":1,\"y\":2}}", NULL},
        {"{\"a\":null}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":null}]", "{\"a\":null}",
         NULL},
        {"{}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":null}]", NULL,
         "test operation does not apply: is missing path: /a"},
        {"{\"a\":1}", "[{\"op\":\"test\",\"path\":\"\",\"value\":{\"a\":1}}]", "{\"a\":1}", NULL},
        /* Earlier operations of a patch that fails are undone. */
        {"{\"a\":{\"b\":[1,2]}}",
         "[{\"op\":\"remove\",\"path\":\"/a/b/0\"},{\"op\":\"add\",\"path\":\"/c\",\"value\":1},"
         "{\"op\":\"replace\",\"path\":\"\",\"value\":{}},{\"op\":\"remove\",\"path\":\"/x\"}]",
         NULL, "patch operation 3 (remove)"},
        /* One value of a patch that lands in two places is two values. */
        {"{}",
         "[{\"op\":\"add\",\"path\":\"/a\",\"value\":{}},"
         "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"},"
         "{\"op\":\"add\",\"path\":\"/a/x\",\"value\":1}]",
         "{\"a\":{\"x\":1},\"b\":{}}", NULL},
    };
    CHECK(*state, cases);
}

static void malformed_patches_are_refused(void **state)
{
    static const struct patch_case cases[] = {
        {"{}", "{}", NULL, "array of operations, not object"},
        {"{}", "[1]", NULL, "has to be an object, not number"},
        {"{}", "[", NULL, "JSON line 1"},
        {"{}", "[{}]", NULL, "patch operation 0: Unexpected kind: "},
        {"{}", "[{\"op\":1,\"path\":\"\"}]", NULL, "Unexpected kind: "},
        {"{}", "[{\"op\":\"spam\",\"path\":\"\"}]", NULL, "Unexpected kind: spam"},
        {"{}", "[{\"op\":\"ADD\",\"path\":\"\",\"value\":1}]", NULL, "Unexpected kind: ADD"},
        {"{}", "[{\"op\":\"add\",\"value\":1}]", NULL, "needs a string in \"path\""},
        {"{}", "[{\"op\":\"add\",\"path\":1,\"value\":1}]", NULL, "needs a string in \"path\""},
        {"{}", "[{\"op\":\"add\",\"path\":\"a\",\"value\":1}]", NULL, "\"path\": a JSON pointer"},
        {"{}", "[{\"op\":\"add\",\"path\":\"/~\",\"value\":1}]", NULL, "~0"},
        {"{}", "[{\"op\":\"add\",\"path\":\"/a\"}]", NULL, "needs a \"value\""},
        {"{}", "[{\"op\":\"test\",\"path\":\"/a\"}]", NULL, "needs a \"value\""},
        {"{}", "[{\"op\":\"move\",\"path\":\"/a\"}]", NULL, "needs a string in \"from\""},
        {"{}", "[{\"op\":\"copy\",\"path\":\"/a\",\"from\":null}]", NULL,
         "needs a string in \"from\""},
    };
    CHECK(*state, cases);
}

static void a_patch_can_be_applied_to_many_documents(void **state)
{
    struct vd_arena *a = *state;
    struct vd_error error;
    struct vd_json *patch = json_of(a,
                                    "[{\"op\":\"add\",\"path\":\"/l/-\",\"value\":{\"k\":[1]}}]");
    for (int i = 0; i < 3; i++) {
        struct vd_json *doc = json_of(a, "{\"l\":[]}");
        assert_ok(vd_json_patch(a, doc, patch, &error), &error);
        assert_ok(vd_json_patch(a, doc, patch, &error), &error);
        assert_json(doc, "{\"l\":[{\"k\":[1]},{\"k\":[1]}]}");
    }
}

static void the_number_of_operations_and_bytes_is_bounded(void **state)
{
    struct vd_arena *a = *state;
    struct vd_error error;
    struct vd_json *patch = vd_json_array(a), *doc = json_of(a, "{\"n\":1}");
    for (int i = 0; i < VD_JSON_PATCH_OPS_MAX; i++)
        vd_json_append(patch, json_of(a, "{\"op\":\"test\",\"path\":\"/n\",\"value\":1}"));
    assert_ok(vd_json_patch(a, doc, patch, &error), &error);
    vd_json_append(patch, json_of(a, "{\"op\":\"test\",\"path\":\"/n\",\"value\":1}"));
    assert_code(vd_json_patch(a, doc, patch, &error), VD_ERR_LIMIT);
    assert_says(&error, "maximum operations in a JSON patch is 10000, got 10001");
    char *text = vd_malloc(VD_JSON_PATCH_LEN_MAX + 1);
    memset(text, ' ', VD_JSON_PATCH_LEN_MAX + 1);
    text[0] = '[';
    text[1] = ']';
    assert_ok(vd_json_patch_parse(a, vd_slice(text, VD_JSON_PATCH_LEN_MAX), NULL, &patch, &error),
              &error);
    assert_code(
        vd_json_patch_parse(a, vd_slice(text, VD_JSON_PATCH_LEN_MAX + 1), NULL, &patch, &error),
        VD_ERR_LIMIT);
    free(text);
}

static void copies_cannot_multiply_without_end(void **state)
{
    struct vd_arena *a = *state;
    struct vd_error error;
    struct vd_json *patch = vd_json_array(a), *doc = json_of(a, "{\"a\":[\"some text\"]}");
    for (int i = 0; i < 64; i++)
        vd_json_append(patch, json_of(a, "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/-\"}"));
    assert_code(vd_json_patch(a, doc, patch, &error), VD_ERR_LIMIT);
    assert_says(&error, "accumulated size increase of copy");
    assert_json(doc, "{\"a\":[\"some text\"]}");
}

/* `count` times `open`, then `middle`, then `count` times `close`. */
static const char *nested(struct vd_buf *out, int count, const char *open, const char *middle,
                          const char *close)
{
    vd_buf_reset(out);
    for (int i = 0; i < count; i++)
        vd_buf_add_text(out, open);
    vd_buf_add_text(out, middle);
    for (int i = 0; i < count; i++)
        vd_buf_add_text(out, close);
    return vd_buf_text(out);
}

/* The value comes to lie in 501 objects, so it may be 11 deep itself. */
static void a_patch_cannot_nest_too_deep(void **state)
{
    struct vd_arena *a = *state;
    static const char *const kinds[] = {"add", "replace"};
    struct vd_buf doc = {0}, path = {0}, value = {0}, text = {0};
    nested(&doc, 500, "{\"a\":", "{\"x\":1}", "}");
    nested(&path, 500, "/a", "", "");
    for (int i = 0; i < 4; i++) {
        struct vd_error error;
        int depth = VD_JSON_DEPTH_MAX - 501 + i % 2;
        nested(&value, depth, "[", "", "]");
        vd_buf_reset(&text);
        vd_buf_addf(&text, "[{\"op\":\"%s\",\"path\":\"%s/x\",\"value\":%s}]", kinds[i / 2],
                    vd_buf_text(&path), vd_buf_text(&value));
        struct vd_json *v = json_of(a, vd_buf_text(&doc));
        int code = vd_json_patch(a, v, json_of(a, vd_buf_text(&text)), &error);
        assert_code(code, i % 2 ? VD_ERR_LIMIT : VD_OK);
        assert_int_equal(vd_json_depth(v), i % 2 ? 501 : VD_JSON_DEPTH_MAX);
    }
    vd_buf_release(&doc);
    vd_buf_release(&path);
    vd_buf_release(&value);
    vd_buf_release(&text);
}

static void work_is_bounded_on_large_arrays(void **state)
{
    struct vd_arena *a = *state;
    struct vd_error error;
    struct vd_json *doc = vd_json_array(a), *patch = vd_json_array(a);
    for (int i = 0; i < 100000; i++)
        vd_json_append(doc, vd_json_null(a));
    for (int i = 0; i < VD_JSON_PATCH_OPS_MAX; i++)
        vd_json_append(patch, json_of(a, "{\"op\":\"test\",\"path\":\"/99000\",\"value\":null}"));
    assert_code(vd_json_patch(a, doc, patch, &error), VD_ERR_LIMIT);
    assert_says(&error, "takes too long");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(the_examples_of_the_rfc_hold),
        arena_test(edges_of_each_operation),
        arena_test(malformed_patches_are_refused),
        arena_test(a_patch_can_be_applied_to_many_documents),
        arena_test(the_number_of_operations_and_bytes_is_bounded),
        arena_test(copies_cannot_multiply_without_end),
        arena_test(a_patch_cannot_nest_too_deep),
        arena_test(work_is_bounded_on_large_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
