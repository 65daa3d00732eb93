/* src/json/span.c: finding values in bytes, and surviving garbage. */
#include "json/span.h"

#include <stdlib.h>
#include <string.h>

#include "json_check.h"

static const char pod[] =
    "{\"kind\":\"Pod\",\"status\":{\"conditions\":[{\"message\":\"a \\\"}]{[\\\\\",\"n\":[[[]]]},"
    "{\"text\":\"brackets }}}}]]]] in a string that is longer than one block of sixty-four bytes "
    "\\\\\\\\\"}]},\"metadata\":{\"name\":\"web-0\",\"labels\":{\"app\":\"x\",\"q\\\"k\":"
    "\"\\u00e4\"},"
    "\"n\":-1.5e3,\"t\":true,\"e\":{},\"resourceVersion\":\"17\"},\"last\":null}";

static void values_are_found_by_their_keys(void **state)
{
    (void)state;
    static const struct {
        const char *keys[3];
        const char *value;
    } cases[] = {
        {{"kind"}, "\"Pod\""},
        {{"metadata", "name"}, "\"web-0\""},
        {{"metadata", "labels"}, "{\"app\":\"x\",\"q\\\"k\":\"\\u00e4\"}"},
        {{"metadata", "labels", "q\"k"}, "\"\\u00e4\""},
        {{"metadata", "n"}, "-1.5e3"},
        {{"metadata", "t"}, "true"},
        {{"metadata", "e"}, "{}"},
        {{"metadata", "resourceVersion"}, "\"17\""},
        {{"last"}, "null"},
        {{"nothing"}, NULL},
        {{"metadata", "x"}, NULL},
        {{"kind", "x"}, NULL},
        {{"status", "conditions", "0"}, NULL},
        {{"last", "x"}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_slice keys[3], value = {0};
        size_t n = 0;
        for (; n < 3 && cases[i].keys[n]; n++)
            keys[n] = vd_slice_of(cases[i].keys[n]);
        bool found = vd_span_find(vd_slice_of(pod), keys, n, &value);
        if (found != (cases[i].value != NULL))
            fail_msg("case %zu: %s", i, found ? "found" : "not found");
        if (found)
            assert_slice(value, cases[i].value);
    }
}

static void no_keys_give_the_whole(void **state)
{
    (void)state;
    struct vd_slice value;
    assert_true(vd_span_find(VD_SLICE("[1]"), NULL, 0, &value));
    assert_slice(value, "[1]");
}

static void children_come_in_order(void **state)
{
    (void)state;
    struct vd_span_cursor c;
    struct vd_slice key, value;
    struct vd_buf seen = {0};
    vd_span_open(&c, VD_SLICE(" { \"a\" : 1 , \"b\":[1, 2],\"c\\n\":\"x,y\" } "));
    while (vd_span_next(&c, &key, &value))
        vd_buf_addf(&seen, "%.*s=%.*s;", VD_FMT(key), VD_FMT(value));
    assert_false(c.broken);
    vd_span_open(&c, VD_SLICE("[1,\"two\",{\"a\":[]},[],null]"));
    while (vd_span_next(&c, &key, &value))
        vd_buf_addf(&seen, "%.*s=%.*s;", VD_FMT(key), VD_FMT(value));
    assert_false(c.broken);
    assert_slice(vd_buf_slice(&seen),
                 "a=1;b=[1, 2];c\\n=\"x,y\";=1;=\"two\";={\"a\":[]};=[];=null;");
    static const char *const childless[] = {"", " ", "{}", "[ ]", "1", "\"x\"", "null"};
    for (size_t i = 0; i < sizeof childless / sizeof *childless; i++) {
        vd_span_open(&c, vd_slice_of(childless[i]));
        assert_false(vd_span_next(&c, &key, &value));
        assert_false(c.broken);
    }
    vd_buf_release(&seen);
}

static void strings_are_decoded_only_if_they_have_to(void **state)
{
    struct vd_slice plain = VD_SLICE("\"plain \xc3\xa4\""), out;
    assert_true(vd_span_text(*state, plain, &out));
    assert_ptr_equal(out.p, plain.p + 1);
    assert_slice(out, "plain \xc3\xa4");
    assert_true(vd_span_text(*state, VD_SLICE("\"a\\n\\ud83d\\ude00\\\"\""), &out));
    assert_slice(out, "a\n\xf0\x9f\x98\x80\"");
    static const char *const none[] = {"",    "\"",      "1",      "\"a",
                                       "a\"", "\"\\x\"", "\"\\\"", "\"\\u12\""};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        if (vd_span_text(*state, vd_slice_of(none[i]), &out))
            fail_msg("%s is taken for a string", none[i]);
    }
}

/* Brackets, quotes and backslashes at every offset of a block. */
static void blocks_join_seamlessly(void **state)
{
    (void)state;
    for (size_t pad = 0; pad < 200; pad++) {
        struct vd_buf text = {0};
        struct vd_slice value;
        vd_buf_add_text(&text, "{\"skip\":{\"p\":\"");
        for (size_t i = 0; i < pad; i++)
            vd_buf_add_char(&text, 'x');
        vd_buf_add_text(&text, "\\\\\\\"}\",\"q\":[\"\\\\\",\"]\",{\"r\":\"\\\"\"}]},\"found\":7}");
        assert_true(vd_span_get(vd_buf_slice(&text), VD_SLICE("found"), &value));
        assert_slice(value, "7");
        vd_buf_release(&text);
    }
}

/* Every start of a document, in memory that ends there: ASan watches. */
static void cut_bytes_are_never_read_past(void **state)
{
    (void)state;
    static const struct vd_slice keys[] = {VD_SLICE("metadata"), VD_SLICE("labels"),
                                           VD_SLICE("q\"k")};
    for (size_t n = 0; n < sizeof pod - 1; n++) {
        char *cut = vd_memdup(pod, n);
        struct vd_slice value;
        for (size_t k = 1; k <= 3; k++) {
            if (vd_span_find(vd_slice(cut, n), keys, k, &value))
                assert_true(value.p >= cut && value.p + value.n <= cut + n);
        }
        free(cut);
    }
}

static void garbage_ends_the_iteration(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "{",         "[",    "{\"a\"", "{\"a\":",     "{a:1}", "{\"a\" 1}",
        "{\"a\":{}", "[[1]", "[\"a",   "{\"a\":\"\\", "[,1]"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct vd_span_cursor c;
        struct vd_slice key, value;
        vd_span_open(&c, vd_slice_of(broken[i]));
        while (vd_span_next(&c, &key, &value))
            continue;
        if (!c.broken)
            fail_msg("%s passes for whole", broken[i]);
    }
}

/* The value's end is not looked for, and what is behind it is there as well. */
static void values_are_looked_into_without_their_end(void **state)
{
    (void)state;
    struct vd_slice json = VD_SLICE("{\"a\":{},\"b\":{\"c\":[1]},\"d\":2}"), rest, value;
    assert_true(vd_span_seek(json, VD_SLICE("a"), &rest));
    assert_true(vd_slice_is(rest, "{},\"b\":{\"c\":[1]},\"d\":2}"));
    assert_true(vd_span_seek(json, VD_SLICE("b"), &rest));
    assert_true(vd_span_get(rest, VD_SLICE("c"), &value));
    assert_true(vd_slice_is(value, "[1]"));
    assert_false(vd_span_get(rest, VD_SLICE("d"), &value));
    assert_false(vd_span_seek(json, VD_SLICE("c"), &rest));
    assert_false(vd_span_seek(VD_SLICE("[1]"), VD_SLICE("a"), &rest));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_looked_into_without_their_end),
        arena_test(values_are_found_by_their_keys),
        arena_test(no_keys_give_the_whole),
        arena_test(children_come_in_order),
        arena_test(strings_are_decoded_only_if_they_have_to),
        arena_test(blocks_join_seamlessly),
        arena_test(cut_bytes_are_never_read_past),
        arena_test(garbage_ends_the_iteration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
