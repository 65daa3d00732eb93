/* src/json/pointer.c: the examples of RFC 6901 and its edges. */
#include "json/pointer.h"

#include <string.h>

#include "base/limits.h"
#include "json_check.h"

static void the_examples_of_the_rfc_hold(void **state)
{
    struct vd_json *v = json_of(*state, "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,"
                                        "\"e^f\":3,\"g|h\":4,\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,"
                                        "\"m~n\":8}");
    static const struct {
        const char *pointer, *value;
    } cases[] = {
        {"/foo", "[\"bar\",\"baz\"]"},
        {"/foo/0", "\"bar\""},
        {"/", "0"},
        {"/a~1b", "1"},
        {"/c%d", "2"},
        {"/e^f", "3"},
        {"/g|h", "4"},
        {"/i\\j", "5"},
        {"/k\"l", "6"},
        {"/ ", "7"},
        {"/m~0n", "8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_json *found = vd_json_point(v, vd_slice_of(cases[i].pointer));
        if (!found)
            fail_msg("%s finds nothing", cases[i].pointer);
        assert_json(found, cases[i].value);
    }
    assert_ptr_equal(vd_json_point(v, VD_SLICE("")), v);
}

static void wrong_pointers_find_nothing(void **state)
{
    struct vd_json *v = json_of(*state, "{\"a\":[1,[2]],\"b\":{\"\":{\"\":3}},\"0\":4,\"~1\":5}");
    static const char *const none[] = {"a",      "/a/2",   "/a/-",   "/a/00",
                                       "/a/01",  "/a/+1",  "/a/-1",  "/a/1/",
                                       "/a/1.0", "/x",     "/a/b",   "/b/x",
                                       "/0/0",   "/a/0/0", "/~",     "/~2",
                                       "/a~",    "/a ",    "/a/1e0", "/a/18446744073709551616"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        if (vd_json_point(v, vd_slice_of(none[i])))
            fail_msg("%s finds something", none[i]);
    }
    assert_json(vd_json_point(v, VD_SLICE("/a/1/0")), "2");
    assert_json(vd_json_point(v, VD_SLICE("/b//")), "3");
    assert_json(vd_json_point(v, VD_SLICE("/0")), "4");
    assert_json(vd_json_point(v, VD_SLICE("/~01")), "5");
}

static void made_pointers_lead_back(void **state)
{
    struct vd_arena *a = *state;
    static const char *const keys[] = {"plain", "a/b", "~", "~1", "", "//~~"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct vd_json *v = vd_json_object(a);
        struct vd_buf text = {0};
        vd_json_add(a, v, vd_slice_of(keys[i]), vd_json_bool(a, true));
        vd_pointer_add(&text, vd_slice_of(keys[i]));
        assert_true(vd_json_truth(vd_json_point(v, vd_buf_slice(&text))));
        vd_buf_release(&text);
    }
}

static void errors_say_what_is_wrong(void **state)
{
    struct vd_error error;
    struct vd_pointer pointer;
    assert_code(vd_pointer_parse(*state, VD_SLICE("a/b"), &pointer, &error), VD_ERR_INVALID);
    assert_says(&error, "start with '/'");
    assert_code(vd_pointer_parse(*state, VD_SLICE("/a~b"), &pointer, &error), VD_ERR_INVALID);
    assert_says(&error, "~0");
    char deep[VD_JSON_DEPTH_MAX + 1];
    memset(deep, '/', sizeof deep);
    assert_code(vd_pointer_parse(*state, vd_slice(deep, sizeof deep), &pointer, &error),
                VD_ERR_LIMIT);
    assert_ok(vd_pointer_parse(*state, vd_slice(deep, sizeof deep - 1), &pointer, &error), &error);
    assert_int_equal(pointer.n, VD_JSON_DEPTH_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(the_examples_of_the_rfc_hold),
        arena_test(wrong_pointers_find_nothing),
        arena_test(made_pointers_lead_back),
        arena_test(errors_say_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
