/* src/json/write.c and escape.c: the bytes that leave. */
#include "json/write.h"

#include "json_check.h"
#include "json/escape.h"

static void pretty_is_how_kubectl_shows_it(void **state)
{
    struct vd_json *v = json_of(*state,
                                "{\"a\":[],\"b\":{},\"c\":[1,\"x\",[true]],\"d\":{\"e\":null}}");
    struct vd_buf out = {0};
    vd_json_write_pretty(&out, v, 4);
    assert_slice(vd_buf_slice(&out), "{\n"
                                     "    \"a\": [],\n"
                                     "    \"b\": {},\n"
                                     "    \"c\": [\n"
                                     "        1,\n"
                                     "        \"x\",\n"
                                     "        [\n"
                                     "            true\n"
                                     "        ]\n"
                                     "    ],\n"
                                     "    \"d\": {\n"
                                     "        \"e\": null\n"
                                     "    }\n"
                                     "}");
    vd_buf_release(&out);
}

static void strings_built_by_hand_are_escaped(void **state)
{
    struct vd_arena *a = *state;
    static const struct {
        struct vd_slice text;
        const char *want;
    } cases[] = {
        {VD_SLICE(""), "\"\""},
        {VD_SLICE("plain"), "\"plain\""},
        {VD_SLICE("\"\\/"), "\"\\\"\\\\/\""},
        {VD_SLICE("\b\f\n\r\t\v"), "\"\\b\\f\\n\\r\\t\\u000b\""},
        {VD_SLICE("\0\x01\x1f\x7f"), "\"\\u0000\\u0001\\u001f\x7f\""},
        {VD_SLICE("\xe2\x80\xa8\xe2\x80\xa9"), "\"\\u2028\\u2029\""},
        {VD_SLICE("\xe2\x80\xa7\xe2\x82\xac"), "\"\xe2\x80\xa7\xe2\x82\xac\""},
        {VD_SLICE("<script>&'"), "\"<script>&'\""},
        {VD_SLICE("a text longer than sixteen bytes \n and on \xc3\xa4 it goes"),
         "\"a text longer than sixteen bytes \\n and on \xc3\xa4 it goes\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_json *o = vd_json_object(a);
        struct vd_buf want = {0};
        assert_json(vd_json_string(a, cases[i].text), cases[i].want);
        vd_json_add(a, o, cases[i].text, vd_json_null(a));
        vd_buf_addf(&want, "{%s:null}", cases[i].want);
        assert_json(o, vd_buf_text(&want));
        vd_buf_release(&want);
    }
}

static void all_characters_survive_a_round_trip(void **state)
{
    struct vd_arena *a = *state;
    struct vd_buf text = {0}, out = {0};
    for (int c = 0; c < 128; c++)
        vd_buf_add_char(&text, (char)c);
    vd_buf_add_text(&text, "\xc2\x80\xe2\x80\xa8\xef\xbf\xbf\xf4\x8f\xbf\xbf");
    vd_escape_write(&out, vd_buf_slice(&text));
    struct vd_json *v = json_of(a, vd_buf_text(&out));
    assert_true(vd_slice_eq(vd_json_text(v), vd_buf_slice(&text)));
    vd_buf_release(&text);
    vd_buf_release(&out);
}

static void writing_appends_and_terminates(void **state)
{
    struct vd_buf out = {0};
    vd_buf_add_text(&out, "data: ");
    vd_json_write(&out, json_of(*state, "{\"a\":1}"));
    assert_string_equal(vd_buf_text(&out), "data: {\"a\":1}");
    vd_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(pretty_is_how_kubectl_shows_it),
        arena_test(strings_built_by_hand_are_escaped),
        arena_test(all_characters_survive_a_round_trip),
        arena_test(writing_appends_and_terminates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
