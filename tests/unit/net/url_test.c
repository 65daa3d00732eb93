/* src/net/url.c: targets, paths, queries and escapes. */
#include "net/url.h"

#include "check.h"

static void targets_are_split_at_the_first_question_mark(void **state)
{
    (void)state;
    static const struct {
        const char *target, *path, *query;
    } cases[] = {
        {"/", "/", ""},           {"/a?b=c", "/a", "b=c"}, {"/a?", "/a", ""}, {"/?a?b", "/", "a?b"},
        {"/a%3fb", "/a%3fb", ""}, {"*", "*", ""},          {"", "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_slice path, query;
        vd_url_split(vd_slice_of(cases[i].target), &path, &query);
        assert_slice(path, cases[i].path);
        assert_slice(query, cases[i].query);
    }
}

static void escapes_are_decoded(void **state)
{
    (void)state;
    static const struct {
        const char *text, *path, *query; /* NULL: refused */
    } cases[] = {
        {"", "", ""},
        {"abc", "abc", "abc"},
        {"a+b", "a+b", "a b"},
        {"a%2Bb", "a+b", "a+b"},
        {"%41%6a%6A", "Ajj", "Ajj"},
        {"%c3%a9", "\xc3\xa9", "\xc3\xa9"},
        {"%ff", "\xff", "\xff"},
        {"%25", "%", "%"},
        {"%2541", "%41", "%41"}, /* once, not twice */
        {"a%20b", "a b", "a b"},
        {"%", NULL, NULL},
        {"a%", NULL, NULL},
        {"%4", NULL, NULL},
        {"%4g", NULL, NULL},
        {"%g4", NULL, NULL},
        {"%%41", NULL, NULL},
        {"% 41", NULL, NULL},
        {"%+4", NULL, NULL},
        {"%0x41", NULL, NULL},
        {"%u0041", NULL, NULL},
        {"%00", NULL, NULL},
        {"a%00b", NULL, NULL},
    };
    struct vd_arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int part = VD_URL_PATH; part <= VD_URL_QUERY; part++) {
            const char *want = part == VD_URL_PATH ? cases[i].path : cases[i].query;
            struct vd_slice out = VD_SLICE("untouched");
            struct vd_error error = {0};
            int code = vd_url_decode(&a, vd_slice_of(cases[i].text), (enum vd_url_part)part, &out,
                                     &error);
            if (code != (want ? VD_OK : VD_ERR_INVALID))
                fail_msg("%s: %s %s", cases[i].text, vd_code_name(code), error.text);
            assert_slice(out, want ? want : "untouched");
        }
    }
    vd_arena_release(&a);
}

static void a_raw_nul_is_refused(void **state)
{
    (void)state;
    struct vd_arena a = {0};
    struct vd_slice out;
    assert_code(vd_url_decode(&a, VD_SLICE("a\0b"), VD_URL_QUERY, &out, NULL), VD_ERR_INVALID);
    vd_arena_release(&a);
}

static void encoding_undoes_decoding(void **state)
{
    (void)state;
    struct vd_buf all = {0}, encoded = {0};
    struct vd_arena a = {0};
    for (int c = 1; c < 256; c++)
        vd_buf_add_char(&all, (char)c);
    vd_url_encode(&encoded, vd_buf_slice(&all));
    for (int part = VD_URL_PATH; part <= VD_URL_QUERY; part++) {
        struct vd_slice out;
        struct vd_error error;
        assert_ok(vd_url_decode(&a, vd_buf_slice(&encoded), (enum vd_url_part)part, &out, &error),
                  &error);
        assert_true(vd_slice_eq(out, vd_buf_slice(&all)));
    }
    vd_buf_reset(&encoded);
    vd_url_encode(&encoded, VD_SLICE("aZ09-._~ /?#&=+%\xc3\xa9\n"));
    assert_string_equal(vd_buf_text(&encoded), "aZ09-._~%20%2F%3F%23%26%3D%2B%25%C3%A9%0A");
    vd_buf_release(&encoded);
    vd_buf_release(&all);
    vd_arena_release(&a);
}

/* The segments, each behind a bar; a slash at the end stands for one. */
static void join_path(struct vd_buf *out, const struct vd_url_path *path)
{
    for (size_t i = 0; i < path->n; i++) {
        vd_buf_add_char(out, '|');
        vd_buf_add_slice(out, path->segments[i]);
    }
    if (path->slash_end)
        vd_buf_add_char(out, '/');
}

static void paths_are_cut_into_segments(void **state)
{
    (void)state;
    static const struct {
        const char *path, *joined, *wrong;
    } cases[] = {
        {"/", "/", NULL},
        {"/a", "|a", NULL},
        {"/a/", "|a/", NULL},
        {"/api/v1/namespaces/default/pods", "|api|v1|namespaces|default|pods", NULL},
        {"/a%20b/c+d", "|a b|c+d", NULL},
        {"/%61", "|a", NULL},
        {"/...", "|...", NULL},
        {"/.a/b.", "|.a|b.", NULL},
        {"/a\\b", "|a\\b", NULL},
        {"/system%3Anode:x", "|system:node:x", NULL},
        {"", NULL, "start with a slash"},
        {"a", NULL, "start with a slash"},
        {"*", NULL, "start with a slash"},
        {"//", NULL, "segment 1 of the path is empty"},
        {"//a", NULL, "segment 1 of the path is empty"},
        {"/a//b", NULL, "segment 2 of the path is empty"},
        {"/a//", NULL, "segment 2 of the path is empty"},
        {"/.", NULL, "segment 1 of the path is \".\""},
        {"/a/./b", NULL, "segment 2 of the path is \".\""},
        {"/..", NULL, "segment 1 of the path is \"..\""},
        {"/a/../b", NULL, "segment 2 of the path is \"..\""},
        {"/a/..", NULL, "is \"..\""},
        {"/a/../", NULL, "is \"..\""},
        {"/a/%2e%2E/b", NULL, "is \"..\""},
        {"/a/.%2e", NULL, "is \"..\""},
        {"/%2e", NULL, "is \".\""},
        {"/a%2fb", NULL, "segment 1 of the path has an escaped slash"},
        {"/a/%2F", NULL, "segment 2 of the path has an escaped slash"},
        {"/a%00", NULL, "a NUL cannot be in a URL"},
        {"/a/%zz", NULL, "segment 2 of the path: byte 1"},
    };
    struct vd_arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_url_path path = {.n = 77};
        struct vd_error error = {0};
        struct vd_buf joined = {0};
        int code = vd_url_path_parse(&path, &a, vd_slice_of(cases[i].path), &error);
        if (code != (cases[i].joined ? VD_OK : VD_ERR_INVALID))
            fail_msg("%s: %s %s", cases[i].path, vd_code_name(code), error.text);
        if (cases[i].joined) {
            join_path(&joined, &path);
            assert_string_equal(vd_buf_text(&joined), cases[i].joined);
        } else {
            assert_says(&error, cases[i].wrong);
            assert_int_equal(path.n, 77);
        }
        vd_buf_release(&joined);
    }
    vd_arena_release(&a);
}

static void segments_are_counted(void **state)
{
    (void)state;
    struct vd_arena a = {0};
    struct vd_buf text = {0};
    struct vd_url_path path;
    struct vd_error error;
    for (int i = 0; i < VD_URL_SEGMENTS_MAX; i++)
        vd_buf_add_text(&text, "/a");
    assert_ok(vd_url_path_parse(&path, &a, vd_buf_slice(&text), &error), &error);
    assert_int_equal(path.n, VD_URL_SEGMENTS_MAX);
    vd_buf_add_text(&text, "/");
    assert_ok(vd_url_path_parse(&path, &a, vd_buf_slice(&text), &error), &error);
    vd_buf_add_text(&text, "a");
    assert_code(vd_url_path_parse(&path, &a, vd_buf_slice(&text), &error), VD_ERR_LIMIT);
    vd_buf_release(&text);
    vd_arena_release(&a);
}

static void queries_are_read_in_order(void **state)
{
    (void)state;
    static const struct {
        const char *query, *joined, *wrong;
    } cases[] = {
        {"", "", NULL},
        {"&", "", NULL},
        {"&&&", "", NULL},
        {"a", "[a]=[]", NULL},
        {"a=", "[a]=[]", NULL},
        {"=b", "[]=[b]", NULL},
        {"=", "[]=[]", NULL},
        {"a=b=c", "[a]=[b=c]", NULL},
        {"a=1&b=2&a=3", "[a]=[1][b]=[2][a]=[3]", NULL},
        {"&a=1&&b=2&", "[a]=[1][b]=[2]", NULL},
        {"a;b=c;d", "[a;b]=[c;d]", NULL},
        {"labelSelector=a+in+(b,c)%2Cd%3De", "[labelSelector]=[a in (b,c),d=e]", NULL},
        {"%61%26=%3d%26", "[a&]=[=&]", NULL},
        {"a=/?", "[a]=[/?]", NULL},
        {"a=%", NULL, "parameter 1 of the query: byte 1 of a part of the query: '%'"},
        {"a=1&%zz=2", NULL, "parameter 2 of the query"},
        {"a=x%00", NULL, "a NUL cannot be in a URL"},
    };
    struct vd_arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_url_query query = {.n = 77};
        struct vd_error error = {0};
        struct vd_buf joined = {0};
        int code = vd_url_query_parse(&query, &a, vd_slice_of(cases[i].query), &error);
        if (code != (cases[i].joined ? VD_OK : VD_ERR_INVALID))
            fail_msg("%s: %s %s", cases[i].query, vd_code_name(code), error.text);
        if (cases[i].joined) {
            for (size_t k = 0; k < query.n; k++)
                vd_buf_addf(&joined, "[%.*s]=[%.*s]", VD_FMT(query.params[k].key),
                            VD_FMT(query.params[k].value));
            assert_string_equal(vd_buf_text(&joined), cases[i].joined);
        } else {
            assert_says(&error, cases[i].wrong);
            assert_int_equal(query.n, 77);
        }
        vd_buf_release(&joined);
    }
    vd_arena_release(&a);
}

static void parameters_are_found_by_key(void **state)
{
    (void)state;
    struct vd_arena a = {0};
    struct vd_url_query query;
    struct vd_slice value;
    struct vd_error error;
    size_t at = 0;
    assert_ok(vd_url_query_parse(&query, &a, VD_SLICE("a=1&%61=2&A=3&a"), &error), &error);
    assert_true(vd_url_query_find(&query, VD_SLICE("a"), &value));
    assert_slice(value, "1");
    assert_true(vd_url_query_next(&query, VD_SLICE("a"), &at, &value));
    assert_true(vd_url_query_next(&query, VD_SLICE("a"), &at, &value));
    assert_slice(value, "2");
    assert_true(vd_url_query_next(&query, VD_SLICE("a"), &at, &value));
    assert_slice(value, "");
    assert_false(vd_url_query_next(&query, VD_SLICE("a"), &at, &value));
    assert_false(vd_url_query_find(&query, VD_SLICE("b"), &value));
    vd_arena_release(&a);
}

static void parameters_are_counted(void **state)
{
    (void)state;
    struct vd_arena a = {0};
    struct vd_buf text = {0};
    struct vd_url_query query;
    struct vd_error error;
    for (int i = 0; i < VD_URL_PARAMS_MAX; i++)
        vd_buf_add_text(&text, i ? "&a" : "a");
    assert_ok(vd_url_query_parse(&query, &a, vd_buf_slice(&text), &error), &error);
    assert_int_equal(query.n, VD_URL_PARAMS_MAX);
    vd_buf_add_text(&text, "&a");
    assert_code(vd_url_query_parse(&query, &a, vd_buf_slice(&text), &error), VD_ERR_LIMIT);
    vd_buf_release(&text);
    vd_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_are_split_at_the_first_question_mark),
        cmocka_unit_test(escapes_are_decoded),
        cmocka_unit_test(a_raw_nul_is_refused),
        cmocka_unit_test(encoding_undoes_decoding),
        cmocka_unit_test(paths_are_cut_into_segments),
        cmocka_unit_test(segments_are_counted),
        cmocka_unit_test(queries_are_read_in_order),
        cmocka_unit_test(parameters_are_found_by_key),
        cmocka_unit_test(parameters_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
