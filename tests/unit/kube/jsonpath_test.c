/* src/kube/table/jsonpath.c: what paths find, in documents and in bytes, and what is refused. */
#include "kube/table/jsonpath.h"

#include "base/limits.h"
#include "json_check.h"

static const char widget[] =
    "{\"metadata\":{\"name\":\"w\",\"annotations\":{\"a.b\":\"dots\",\"example.com/tier\":\"gold\","
    "\"*\":\"star\",\"it's\":\"quote\"}},"
    "\"spec\":{\"color\":\"red\",\"size\":3,\"on\":true,\"none\":null,\"list\":[{\"name\":\"n0\","
    "\"x\":1},{\"name\":\"n1\"},{\"name\":\"n2\",\"x\":3.0}],\"grid\":[[1,2],[3]]},"
    "\"status\":{\"conditions\":[{\"type\":\"Synced\",\"status\":\"True\"},{\"reason\":\"untyped\"}"
    ","
    "{\"type\":\"Ready\",\"status\":\"False\",\"age\":10}]}}";

static bool add(void *context, const struct vd_json *value)
{
    struct vd_buf *out = context;
    if (out->n)
        vd_buf_add_char(out, ' ');
    vd_json_write(out, value);
    return true;
}

static const struct vd_jsonpath *compile(struct vd_arena *a, const char *text)
{
    const struct vd_jsonpath *path = NULL;
    struct vd_error error;
    if (vd_jsonpath_compile(a, vd_slice_of(text), &path, &error) != VD_OK)
        fail_msg("%s: %s", text, error.text);
    return path;
}

static void paths_find_what_they_name(void **state)
{
    static const struct {
        const char *path, *want;
    } cases[] = {
        {".spec.color", "\"red\""},
        {"{.spec.color}", "\"red\""},
        {" { .spec.color } ", "\"red\""},
        {"{$.spec.color}", "\"red\""},
        {"$.spec.size", "3"},
        {".spec.none", "null"},
        {".spec.missing", ""},
        {".spec.color.deeper", ""},
        {".spec.size[0]", ""},
        {".spec.list[0].name", "\"n0\""},
        {".spec.list[2].name", "\"n2\""},
        {".spec.list[-1].name", "\"n2\""},
        {".spec.list[-3].name", "\"n0\""},
        {".spec.list[3].name", ""},
        {".spec.list[-4].name", ""},
        {".spec.list[*].name", "\"n0\" \"n1\" \"n2\""},
        {".spec.list[*].x", "1 3.0"},
        {".spec.list.*.x", "1 3.0"},
        {".spec.grid[*][*]", "1 2 3"},
        {".spec.grid[0][1]", "2"},
        {".metadata.annotations['a\\.b']", "\"dots\""},
        {".metadata.annotations['a.b']", "\"dots\""},
        {".metadata.annotations[\"a.b\"]", "\"dots\""},
        {".metadata.annotations.a\\.b", "\"dots\""},
        {".metadata.annotations.example\\.com/tier", "\"gold\""},
        {".metadata.annotations['it\\'s']", "\"quote\""},
        {".metadata.annotations.\\*", "\"star\""},
        {"['spec']['color']", "\"red\""},
        {".status.conditions[?(@.type==\"Ready\")].status", "\"False\""},
        {".status.conditions[?(@.type=='Ready')].status", "\"False\""},
        {".status.conditions[?( @.type == \"Ready\" )].status", "\"False\""},
        {".status.conditions[?(@.type!=\"Ready\")].status", "\"True\""},
        {".status.conditions[?(@.type)].type", "\"Synced\" \"Ready\""},
        {".status.conditions[?(@.age>9)].type", "\"Ready\""},
        {".status.conditions[?(@.age>10)].type", ""},
        {".status.conditions[?(@.age>=1e1)].type", "\"Ready\""},
        {".status.conditions[?(@.age<=-1)].type", ""},
        {".status.conditions[?(@.age==\"10\")].type", ""},
        {".status.conditions[?(@.age!=\"10\")].type", "\"Ready\""},
        {".status.conditions[?(@.type<\"S\")].type", "\"Ready\""},
        {".spec.list[?(@.x==3)].name", "\"n2\""},
        {".spec.list[?(@['name']==\"n1\")].name", "\"n1\""},
        {".spec.grid[?(@[1]==2)][0]", "1"},
        {".spec.grid[0][?(@==2)]", "2"},
        {".spec[?(@.x==1)]", ""},
        {".spec.on", "true"},
    };
    struct vd_json *doc = json_of(*state, widget);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_buf got = {0};
        const struct vd_jsonpath *path = compile(*state, cases[i].path);
        assert_true(vd_jsonpath_each(path, doc, add, &got));
        if (!vd_slice_is(vd_buf_slice(&got), cases[i].want))
            fail_msg("%s: got %s, want %s", cases[i].path, vd_buf_text(&got), cases[i].want);
        /* The first result is the first of all. */
        struct vd_buf first = {0};
        const struct vd_json *value = vd_jsonpath_first(path, doc);
        if (value)
            vd_json_write(&first, value);
        assert_true(vd_slice_starts_with(vd_buf_slice(&got), vd_buf_slice(&first)));
        assert_int_equal(first.n == 0, got.n == 0);
        vd_buf_release(&got);
        vd_buf_release(&first);
    }
}

static void booleans_are_compared(void **state)
{
    struct vd_json *doc = json_of(*state, "[{\"on\":true,\"n\":1},{\"on\":false,\"n\":2}]");
    assert_json(vd_jsonpath_first(compile(*state, "[?(@.on==true)].n"), doc), "1");
    assert_json(vd_jsonpath_first(compile(*state, "[?(@.on==false)].n"), doc), "2");
    assert_json(vd_jsonpath_first(compile(*state, "[?(@.on!=true)].n"), doc), "2");
}

static void a_lone_dot_is_the_document(void **state)
{
    struct vd_json *doc = json_of(*state, "{\"a\":1}");
    assert_ptr_equal(vd_jsonpath_first(compile(*state, "."), doc), doc);
    assert_ptr_equal(vd_jsonpath_first(compile(*state, "{.}"), doc), doc);
    assert_null(vd_jsonpath_first(compile(*state, ".a"), NULL));
}

static void plain_paths_work_on_bytes(void **state)
{
    static const struct {
        const char *path, *want; /* NULL: not there, or not plain */
        bool plain;
    } cases[] = {
        {".spec.color", "\"red\"", true},
        {".metadata.annotations['a\\.b']", "\"dots\"", true},
        {".spec.grid", "[[1,2],[3]]", true},
        {".spec.none", "null", true},
        {".spec.missing", NULL, true},
        {".spec.color.deeper", NULL, true},
        {".spec.list[0].name", NULL, false},
        {".spec.*", NULL, false},
        {".spec.list[?(@.x)].name", NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct vd_jsonpath *path = compile(*state, cases[i].path);
        struct vd_slice value;
        assert_int_equal(vd_jsonpath_is_plain(path), cases[i].plain);
        assert_int_equal(vd_jsonpath_span(path, vd_slice_of(widget), &value),
                         cases[i].want != NULL);
        if (cases[i].want)
            assert_slice(value, cases[i].want);
        assert_slice(vd_jsonpath_text(path), cases[i].path);
    }
}

static void mistakes_are_named(void **state)
{
    static const struct {
        const char *path, *says;
    } cases[] = {
        {"", "a path starts with a dot"},
        {"spec.color", "a path starts with a dot"},
        {"{spec}", "a path starts with a dot"},
        {"{.spec", "the brace is not closed"},
        {"{", "the brace is not closed"},
        {"{}", "a path starts with a dot"},
        {".spec}", "expected . or [ or the end"},
        {".spec color", "expected . or [ or the end"},
        {"..name", "recursive descent"},
        {".spec..name", "recursive descent"},
        {".spec.", "the name of a field is missing"},
        {".spec.[0]", "the name of a field is missing"},
        {".spec.a\\", "nothing behind the backslash"},
        {".list[", "expected an index"},
        {".list[]", "expected an index"},
        {".list[x]", "expected an index"},
        {".list[01]", "expected an index"},
        {".list[--1]", "expected an index"},
        {".list[99999999999]", "expected an index"},
        {".list[0", "not closed by ]"},
        {".list[0,1]", "unions and slices"},
        {".list[0:1]", "unions and slices"},
        {".list['a','b']", "unions and slices"},
        {".list['a", "quotes are not closed"},
        {".list[?(.a)]", "a test starts with @"},
        {".list[?(@.a=1)]", "expected ==, !="},
        {".list[?(@.a==)]", "expected a quoted string, a number"},
        {".list[?(@.a==x)]", "expected a quoted string, a number"},
        {".list[?(@.a==01)]", "expected a quoted string, a number"},
        {".list[?(@.a==1]", "the test is not closed"},
        {".list[?(@.a==1)", "not closed by ]"},
        {".list[?(@.*==1)]", "a test looks at one value"},
        {".list[?(@[?(@.a)])]", "expected an index"},
        {"{range .items[*]}{.name}{end}", "a path starts with a dot"},
        {".a\xff", "not UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct vd_jsonpath *path;
        struct vd_error error = {0};
        int code = vd_jsonpath_compile(*state, vd_slice_of(cases[i].path), &path, &error);
        if (code != VD_ERR_INVALID)
            fail_msg("%s: %s", cases[i].path, vd_code_name(code));
        assert_says(&error, cases[i].says);
    }
    const struct vd_jsonpath *path;
    assert_code(vd_jsonpath_compile(*state, vd_slice(".a\0b", 4), &path, NULL), VD_ERR_INVALID);
    char *long_path = vd_arena_alloc(*state, VD_JSONPATH_LEN_MAX + 1);
    memset(long_path, 'a', VD_JSONPATH_LEN_MAX + 1);
    long_path[0] = '.';
    struct vd_slice text = vd_slice(long_path, VD_JSONPATH_LEN_MAX + 1);
    assert_code(vd_jsonpath_compile(*state, text, &path, NULL), VD_ERR_LIMIT);
    text.n--;
    assert_code(vd_jsonpath_compile(*state, text, &path, NULL), VD_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(paths_find_what_they_name),  arena_test(booleans_are_compared),
        arena_test(a_lone_dot_is_the_document), arena_test(plain_paths_work_on_bytes),
        arena_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
