/* src/json/parse.c: what is JSON, what is not, and where it went wrong. */
#include "json/parse.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "json_check.h"

struct text_case {
    struct vd_slice text;
    const char *want; /* as written again; NULL: refused */
};

#define GOOD(text, want)                                                                           \
    {                                                                                              \
        VD_SLICE(text), want                                                                       \
    }
#define SAME(text)                                                                                 \
    {                                                                                              \
        VD_SLICE(text), text                                                                       \
    }
#define BAD(text)                                                                                  \
    {                                                                                              \
        VD_SLICE(text), NULL                                                                       \
    }

/* The input is on the heap, exactly as long as it is, so that ASan sees any
 * byte read past it. */
static void check_cases(struct vd_arena *a, const struct text_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct vd_error error = {0};
        struct vd_json *v = NULL;
        char *text = vd_memdup(cases[i].text.p, cases[i].text.n);
        int code = vd_json_parse(a, vd_slice(text, cases[i].text.n), NULL, &v, &error);
        if ((code == VD_OK) != (cases[i].want != NULL))
            fail_msg("case %zu, %.*s: %s", i, VD_FMT(cases[i].text),
                     code == VD_OK ? "accepted" : error.text);
        if (code == VD_OK) {
            assert_json(v, cases[i].want);
        } else {
            assert_code(code, VD_ERR_INVALID);
            assert_null(v);
            assert_says(&error, "JSON line ");
        }
        free(text);
    }
}

#define CHECK(a, cases) check_cases((a), (cases), sizeof(cases) / sizeof *(cases))

static void structures(void **state)
{
    static const struct text_case cases[] = {
        SAME("{}"),
        SAME("[]"),
        SAME("null"),
        SAME("true"),
        SAME("false"),
        SAME("[[],{},[[]],{\"a\":{}}]"),
        SAME("{\"a\":1,\"b\":[2,{\"c\":null}]}"),
        SAME("{\"\":0}"),
        GOOD(" [ ] ", "[]"),
        GOOD("\t\n\r {\r\n\"a\" : [ 1 , 2 ] , \"b\":\t{ } }\n", "{\"a\":[1,2],\"b\":{}}"),
        GOOD("{\n                          \"a\":                      1}", "{\"a\":1}"),
        BAD(""),
        BAD(" "),
        BAD("\xef\xbb\xbf{}"),
        BAD("\xef\xbb\xbf"),
        BAD("\xff\xfe[\x00]\x00"),
        BAD("["),
        BAD("]"),
        BAD("{"),
        BAD("}"),
        BAD("[}"),
        BAD("{]"),
        BAD("[1}"),
        BAD("{\"a\":1]"),
        BAD("[1"),
        BAD("[1,"),
        BAD("[1,]"),
        BAD("[,1]"),
        BAD("[,]"),
        BAD("[1,,2]"),
        BAD("[1 2]"),
        BAD("[1]]"),
        BAD("[1],"),
        BAD("[1] x"),
        BAD("{}{}"),
        BAD("1 2"),
        BAD("{\"a\"}"),
        BAD("{\"a\":}"),
        BAD("{\"a\":1,}"),
        BAD("{,}"),
        BAD("{,\"a\":1}"),
        BAD("{\"a\":1,,\"b\":2}"),
        BAD("{\"a\" 1}"),
        BAD("{\"a\"::1}"),
        BAD("{\"a\":1 \"b\":2}"),
        BAD("{\"a\""),
        BAD("{\"a\":"),
        BAD("{\"a\":1"),
        BAD("{\"a\":1,"),
        BAD("{a:1}"),
        BAD("{'a':1}"),
        BAD("{1:1}"),
        BAD("{null:1}"),
        BAD("{[]:1}"),
        BAD("['a']"),
        BAD("[True]"),
        BAD("[NULL]"),
        BAD("[nul]"),
        BAD("[nulll]"),
        BAD("[truefalse]"),
        BAD("tru"),
        BAD("[undefined]"),
        BAD("[NaN]"),
        BAD("[Infinity]"),
        BAD("[-Infinity]"),
        BAD("[1]//x"),
        BAD("[1]/**/"),
        BAD("/**/[1]"),
        BAD("[1]#x"),
        BAD("[\v]"),
        BAD("[\f1]"),
        BAD("[\xc2\xa0]"),     /* no-break space */
        BAD("[\xe2\x81\xa0]"), /* word joiner */
        BAD("\0"),
        BAD("[1\0]"),
        BAD("[1]\0"),
        BAD("[\0]"),
        BAD("*"),
        BAD("<.>"),
        BAD("[\\u0020]"),
    };
    CHECK(*state, cases);
}

static void numbers(void **state)
{
    static const struct text_case cases[] = {
        SAME("0"),
        SAME("-0"),
        SAME("-1"),
        SAME("123"),
        SAME("[0,1.5,-0.0,1e5,1E5,1e+5,1E-5,0e1,0E+1,-1.25e-7]"),
        SAME("[123456789012345678901234567890,1.00,1e999,-1e-999]"),
        SAME("[100000000000000000000000000000000000000000000000000000001]"),
        BAD("-"),
        BAD("[-]"),
        BAD("[+1]"),
        BAD("[++1]"),
        BAD("[01]"),
        BAD("[-01]"),
        BAD("[00]"),
        BAD("[-00]"),
        BAD("[.5]"),
        BAD("[-.5]"),
        BAD("[1.]"),
        BAD("[1.e5]"),
        BAD("[0.e1]"),
        BAD("[1e]"),
        BAD("[1e+]"),
        BAD("[1eE2]"),
        BAD("[1e1.5]"),
        BAD("[1.2.3]"),
        BAD("[1-1]"),
        BAD("[1+2]"),
        BAD("[0x1F]"),
        BAD("[1_000]"),
        BAD("[1a]"),
        BAD("[- 1]"),
        BAD("[1 000]"),
        BAD("[--1]"),
        BAD("[\xef\xbc\x91]"), /* full-width 1 */
        BAD("1."),
        BAD("1e"),
    };
    CHECK(*state, cases);
}

static void strings(void **state)
{
    static const struct text_case cases[] = {
        SAME("\"\""),
        SAME("\"plain\""),
        SAME("\"fifteen bytes..\""),
        SAME("\"sixteen bytes...\""),
        SAME("\"seventeen bytes..\""),
        SAME("\"thirty-one bytes in one string.\""),
        SAME("\"a string of more than two blocks of sixteen bytes\""),
        SAME("\"\x7f\""),
        SAME("\"\\\"\\\\\\b\\f\\n\\r\\t\""),
        GOOD("\"\\/\"", "\"/\""),
        GOOD("\"\\u0041\\u00e4\\u20AC\"", "\"A\xc3\xa4\xe2\x82\xac\""),
        GOOD("\"\\u0000\\u001f\"", "\"\\u0000\\u001f\""),
        GOOD("\"\\u0008\\u000C\\u000a\\u000d\\u0009\"", "\"\\b\\f\\n\\r\\t\""),
        GOOD("\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\""),
        GOOD("\"\\uD834\\uDD1E!\"", "\"\xf0\x9d\x84\x9e!\""),
        GOOD("\"\\udbff\\udfff\"", "\"\xf4\x8f\xbf\xbf\""),
        /* Half a pair is U+FFFD, as in Go. */
        GOOD("\"\\ud800\"", "\"\xef\xbf\xbd\""),
        GOOD("\"\\udc00\"", "\"\xef\xbf\xbd\""),
        GOOD("\"\\ud800x\"", "\"\xef\xbf\xbdx\""),
        GOOD("\"\\ud800\\n\"", "\"\xef\xbf\xbd\\n\""),
        GOOD("\"\\ud800\\u0041\"", "\"\xef\xbf\xbd"
                                   "A\""),
        GOOD("\"\\ud800\\ud800\\udc00\"", "\"\xef\xbf\xbd\xf0\x90\x80\x80\""),
        GOOD("\"\\udc00\\ud800\"", "\"\xef\xbf\xbd\xef\xbf\xbd\""),
        SAME("\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""),
        GOOD("\"\xe2\x80\xa8 \xe2\x80\xa9 \xe2\x80\xaa\"", "\"\\u2028 \\u2029 \xe2\x80\xaa\""),
        SAME("\"<b>&amp;</b>\""),
        SAME("\"\xef\xbb\xbf\""),
        GOOD("{\"\\u0061\\n\":\"x\\ty\"}", "{\"a\\n\":\"x\\ty\"}"),
        GOOD("\"a long text with an \\\"escape\\\" in it, and then \\\\ some more of it\"",
             "\"a long text with an \\\"escape\\\" in it, and then \\\\ some more of it\""),
        BAD("\""),
        BAD("\"abc"),
        BAD("[\"abc]"),
        BAD("\"\\"),
        BAD("\"\\\""),
        BAD("\"\\a\""),
        BAD("\"\\x41\""),
        BAD("\"\\'\""),
        BAD("\"\\0\""),
        BAD("\"\\U0041\""),
        BAD("\"\\u\""),
        BAD("\"\\u004\""),
        BAD("\"\\u00g1\""),
        BAD("\"\\u 041\""),
        BAD("\"\\ud83d\\u\""),
        BAD("\"\\ud83d\\"),
        BAD("\"\\u00"),
        BAD("\"a\nb\""),
        BAD("\"a\tb\""),
        BAD("\"a\0b\""),
        BAD("\"\x1f\""),
        BAD("\"a long text with the control character \x01 behind its first blocks\""),
        BAD("\"\xff\""),
        BAD("\"\x80\""),
        BAD("\"\xc0\x80\""),
        BAD("\"\xc3\""),
        BAD("\"\xc3\x28\""),
        BAD("\"\xe0\x80\x80\""),
        BAD("\"\xed\xa0\x80\""),
        BAD("\"\xed\xa0\xbd\xed\xb8\x80\""), /* a pair in CESU-8 */
        BAD("\"\xf4\x90\x80\x80\""),
        BAD("\"\xf0\x80\x80\xaf\""),
        BAD("\"\xe2\x82"),
        BAD("{\"\xff\":1}"),
        BAD("[\"a\\\n\"]"),
    };
    CHECK(*state, cases);
}

static void errors_name_line_column_and_path(void **state)
{
    static const struct {
        const char *text;
        size_t line, column;
        const char *path, *says;
    } cases[] = {
        {"", 1, 1, "", "a value, but the text ends"},
        {"{\"a\":1,}", 1, 8, "", "a key in quotes, found '}'"},
        {"{\n  \"spec\": {\n    \"n\": 01\n}}", 3, 10, "spec.n", "leading zeros"},
        {"{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":tru}]}}", 1, 45,
         "spec.containers[1].name", "a value, found 't'"},
        {"[[1,2],[3,4,5 6]]", 1, 15, "[1]", "',' or ']', found '6'"},
        {"[1,[2],{\"a\":[]", 1, 15, "[2]", "',' or '}', but the text ends"},
        {"{\"\xc3\xa4\xc3\xb6\":\"\\x\"}", 1, 8, "\xc3\xa4\xc3\xb6", "not an escape"},
        {"[\"\xff\"]", 1, 3, "[0]", "not UTF-8"},
        {"[\"a\nb\"]", 1, 4, "[0]", "control character"},
        {"{\"a\" 1}", 1, 6, "a", "':' after the key, found '1'"},
        {"{\"a\":{}} x", 1, 10, "", "nothing behind the document, found 'x'"},
        {"[1,]", 1, 4, "", "a value after ','"},
        {"[\x01]", 1, 2, "[0]", "found byte 0x01"},
        {"{\"a\\nb\":[x]}", 1, 10, "a?b[0]", "a value, found 'x'"},
        {"{\"a\":1,\"b", 1, 10, "", "inside a string"},
        {"{\"a\":[-]}", 1, 8, "a[0]", "a digit after '-', found ']'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_json_where where;
        struct vd_json_options options = {.where = &where};
        struct vd_error error;
        struct vd_json *v;
        assert_code(vd_json_parse(*state, vd_slice_of(cases[i].text), &options, &v, &error),
                    VD_ERR_INVALID);
        if (where.line != cases[i].line || where.column != cases[i].column ||
            strcmp(where.path, cases[i].path) != 0)
            fail_msg("case %zu: line %zu, column %zu, path %s: %s", i, where.line, where.column,
                     where.path, error.text);
        assert_says(&error, cases[i].says);
        assert_says(&error, cases[i].path);
    }
}

static void a_long_path_keeps_its_end(void **state)
{
    struct vd_buf text = {0};
    for (int i = 0; i < 100; i++)
        vd_buf_add_text(&text, "{\"k\xc3\xa4y\":");
    struct vd_json_where where;
    struct vd_json_options options = {.where = &where};
    struct vd_json *v;
    assert_code(vd_json_parse(*state, vd_buf_slice(&text), &options, &v, NULL), VD_ERR_INVALID);
    assert_true(strlen(where.path) < sizeof where.path);
    assert_memory_equal(where.path, "...", 3);
    assert_true(vd_slice_ends_with(vd_slice_of(where.path), VD_SLICE(".k\xc3\xa4y.k\xc3\xa4y")));
    vd_buf_release(&text);
}

static void depth_is_capped_without_using_the_stack(void **state)
{
    struct vd_error error;
    struct vd_json *v;
    char *deep = vd_malloc(200000);
    memset(deep, '[', 100000);
    memset(deep + 100000, ']', 100000);
    assert_code(vd_json_parse(*state, vd_slice(deep, 100000), NULL, &v, &error), VD_ERR_LIMIT);
    assert_says(&error, "nested more than 512 deep");
    assert_says(&error, "column 513");
    assert_code(vd_json_parse(*state, vd_slice(deep, 200000), NULL, &v, &error), VD_ERR_LIMIT);
    size_t max = VD_JSON_DEPTH_MAX;
    assert_ok(vd_json_parse(*state, vd_slice(deep + 100000 - max, 2 * max), NULL, &v, &error),
              &error);
    assert_int_equal(vd_json_depth(v), max);
    struct vd_json_options two = {.depth_max = 2};
    assert_ok(vd_json_parse(*state, VD_SLICE("[{}]"), &two, &v, &error), &error);
    assert_code(vd_json_parse(*state, VD_SLICE("[{\"a\":[]}]"), &two, &v, &error), VD_ERR_LIMIT);
    assert_says(&error, "at [0].a: nested more than 2 deep");
    free(deep);
}

static void length_is_capped(void **state)
{
    struct vd_error error;
    struct vd_json *v;
    struct vd_json_options options = {.len_max = 4};
    assert_ok(vd_json_parse(*state, VD_SLICE("[12]"), &options, &v, &error), &error);
    assert_code(vd_json_parse(*state, VD_SLICE("[123]"), &options, &v, &error), VD_ERR_LIMIT);
    assert_says(&error, "5 bytes; at most 4");
    assert_code(vd_json_parse_copy(*state, VD_SLICE("[123]"), &options, &v, &error), VD_ERR_LIMIT);
}

static void numbers_are_capped(void **state)
{
    struct vd_error error;
    struct vd_json *v;
    char digits[VD_JSON_NUMBER_LEN_MAX + 3];
    memset(digits, '7', sizeof digits);
    digits[0] = '[';
    digits[VD_JSON_NUMBER_LEN_MAX + 1] = ']';
    struct vd_slice most = vd_slice(digits, VD_JSON_NUMBER_LEN_MAX + 2);
    assert_ok(vd_json_parse(*state, most, NULL, &v, &error), &error);
    assert_int_equal(vd_json_number_text(vd_json_first(v)).n, VD_JSON_NUMBER_LEN_MAX);
    digits[VD_JSON_NUMBER_LEN_MAX + 1] = '7';
    digits[VD_JSON_NUMBER_LEN_MAX + 2] = ']';
    struct vd_slice more = vd_slice(digits, sizeof digits);
    assert_code(vd_json_parse(*state, more, NULL, &v, &error), VD_ERR_LIMIT);
    assert_says(&error, "column 2, at [0]: a number of too many digits");
}

struct report {
    struct vd_buf paths;
};

static void note_path(void *context, struct vd_slice path)
{
    struct report *report = context;
    vd_buf_add_slice(&report->paths, path);
    vd_buf_add_char(&report->paths, ';');
}

static void duplicate_keys_keep_place_of_first_and_value_of_last(void **state)
{
    static const struct {
        const char *text, *want, *paths;
    } cases[] = {
        {"{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}", "a;"},
        {"{\"a\":1,\"a\":2,\"a\":[3,{}]}", "{\"a\":[3,{}]}", "a;"},
        {"{\"a\":1,\"\\u0061\":2}", "{\"a\":2}", "a;"},
        {"{\"\":1,\"\":2}", "{\"\":2}", ";"},
        {"{\"b\":1,\"a\":1,\"a\":2,\"b\":2}", "{\"b\":2,\"a\":2}", "a;b;"},
        {"{\"s\":{\"l\":[1,{\"x\":1,\"x\":\"2\"}],\"l\":[{\"y\":1,\"y\":2}]},\"s\":0}", "{\"s\":0}",
         "s.l[1].x;s.l[0].y;s.l;s;"},
        {"{\"a\":1,\"b\":1,\"ab\":1,\"ba\":1,\"aa\":1,\"bb\":1}",
         "{\"a\":1,\"b\":1,\"ab\":1,\"ba\":1,\"aa\":1,\"bb\":1}", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct report report = {0};
        struct vd_json_options options = {
            .duplicates = VD_JSON_DUPLICATES_REPORT, .on_duplicate = note_path, .context = &report};
        struct vd_error error;
        struct vd_json *v;
        struct vd_slice text = vd_slice_of(cases[i].text);
        assert_json(json_of(*state, cases[i].text), cases[i].want);
        assert_ok(vd_json_parse(*state, text, &options, &v, &error), &error);
        assert_json(v, cases[i].want);
        assert_slice(vd_buf_slice(&report.paths), cases[i].paths);
        vd_buf_release(&report.paths);
        options.duplicates = VD_JSON_DUPLICATES_REJECT;
        assert_code(vd_json_parse(*state, text, &options, &v, &error),
                    cases[i].paths[0] ? VD_ERR_INVALID : VD_OK);
    }
}

static void a_rejected_duplicate_is_located(void **state)
{
    struct vd_json_where where;
    struct vd_json_options options = {.duplicates = VD_JSON_DUPLICATES_REJECT, .where = &where};
    struct vd_error error;
    struct vd_json *v;
    assert_code(
        vd_json_parse(*state, VD_SLICE("{\"m\":{\"a\":1,\n \"a\":2}}"), &options, &v, &error),
        VD_ERR_INVALID);
    assert_says(&error, "line 2, column 2, at m: the key \"a\" is there twice");
}

/* {"k0":0,"k1":1,...} with `count` keys, then `more`. */
static void make_large(struct vd_buf *out, size_t count, const char *more)
{
    vd_buf_add_char(out, '{');
    for (size_t i = 0; i < count; i++)
        vd_buf_addf(out, "%s\"k%zu\":%zu", i ? "," : "", i, i);
    vd_buf_add_text(out, more);
    vd_buf_add_char(out, '}');
}

static void duplicates_are_found_in_large_objects(void **state)
{
    for (size_t count = 30; count <= 100000; count = count < 36 ? count + 1 : count * 50) {
        struct vd_buf text = {0};
        struct report report = {0};
        struct vd_json_options options = {
            .duplicates = VD_JSON_DUPLICATES_REPORT, .on_duplicate = note_path, .context = &report};
        struct vd_error error;
        struct vd_json *v;
        make_large(&text, count, ",\"k7\":\"x\",\"k29\":1,\"k7\":\"new\"");
        assert_ok(vd_json_parse(*state, vd_buf_slice(&text), &options, &v, &error), &error);
        assert_slice(vd_buf_slice(&report.paths), "k7;k29;");
        assert_int_equal(vd_json_count(v), count);
        assert_slice(vd_json_text(vd_json_at(NULL, 0)), "");
        assert_slice(vd_json_text(vd_json_get(v, VD_SLICE("k7"))), "new");
        options.duplicates = VD_JSON_DUPLICATES_REJECT;
        assert_code(vd_json_parse(*state, vd_buf_slice(&text), &options, &v, &error),
                    VD_ERR_INVALID);
        assert_says(&error, "\"k7\" is there twice");
        vd_buf_reset(&text);
        make_large(&text, count, "");
        assert_ok(vd_json_parse(*state, vd_buf_slice(&text), &options, &v, &error), &error);
        assert_int_equal(vd_json_count(v), count);
        vd_buf_release(&report.paths);
        vd_buf_release(&text);
    }
}

static void count_path(void *context, struct vd_slice path)
{
    (void)path;
    ++*(size_t *)context;
}

static void reports_of_duplicates_are_bounded(void **state)
{
    struct vd_buf text = {0};
    size_t count = 0;
    struct vd_json_options options = {
        .duplicates = VD_JSON_DUPLICATES_REPORT, .on_duplicate = count_path, .context = &count};
    struct vd_error error;
    struct vd_json *v;
    vd_buf_add_text(&text, "[0");
    for (int i = 0; i < 3 * VD_JSON_DUPLICATES_MAX; i++)
        vd_buf_add_text(&text, ",{\"a\":1,\"a\":2}");
    vd_buf_add_char(&text, ']');
    assert_ok(vd_json_parse(*state, vd_buf_slice(&text), &options, &v, &error), &error);
    assert_int_equal(count, VD_JSON_DUPLICATES_MAX);
    assert_json(vd_json_at(v, 3 * VD_JSON_DUPLICATES_MAX), "{\"a\":2}");
    vd_buf_release(&text);
}

static void plain_strings_borrow_and_a_copying_parse_does_not(void **state)
{
    char text[] = "{\"key\":[\"value\",\"a\\nb\",12]}";
    struct vd_error error;
    struct vd_json *borrowed = json_of(*state, text), *copied;
    assert_ok(vd_json_parse_copy(*state, vd_slice_of(text), NULL, &copied, &error), &error);
    struct vd_json *list = vd_json_get(borrowed, VD_SLICE("key"));
    assert_ptr_equal(vd_json_text(vd_json_at(list, 0)).p, text + 9);
    memset(text, 'x', sizeof text - 1);
    assert_json(copied, "{\"key\":[\"value\",\"a\\nb\",12]}");
}

/* Every start of a document is refused, and read from memory that ends there. */
static void a_cut_document_is_never_accepted(void **state)
{
    static const char text[] =
        "{\"metadata\":{\"name\":\"w\xc3\xa4"
        "b\",\"n\\u00e4\\ud83d\\ude00\":[1.5e+10,-0,true,false,"
        "null,\"a long enough string to be scanned by blocks\"]},\"spec\": {  } }";
    for (size_t n = 0; n < sizeof text - 1; n++) {
        char *cut = vd_memdup(text, n);
        struct vd_json *v;
        assert_code(vd_json_parse(*state, vd_slice(cut, n), NULL, &v, NULL), VD_ERR_INVALID);
        free(cut);
    }
    json_of(*state, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(structures),
        arena_test(numbers),
        arena_test(strings),
        arena_test(errors_name_line_column_and_path),
        arena_test(a_long_path_keeps_its_end),
        arena_test(depth_is_capped_without_using_the_stack),
        arena_test(length_is_capped),
        arena_test(numbers_are_capped),
        arena_test(duplicate_keys_keep_place_of_first_and_value_of_last),
        arena_test(a_rejected_duplicate_is_located),
        arena_test(duplicates_are_found_in_large_objects),
        arena_test(reports_of_duplicates_are_bounded),
        arena_test(plain_strings_borrow_and_a_copying_parse_does_not),
        arena_test(a_cut_document_is_never_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
