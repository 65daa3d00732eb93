/* src/json/merge_patch.c: the examples of RFC 7386, and large objects. */
#include "json/merge_patch.h"

#include <stdio.h>
#include <unistd.h>

#include "json_check.h"
#include "json/compare.h"

static void the_examples_of_the_rfc_hold(void **state)
{
    static const struct {
        const char *doc, *patch, *want;
    } cases[] = {
        {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
        {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
        {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
        {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
        {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
        {"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
        {"{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"},
        {"{\"a\":\"foo\"}", "null", "null"},
        {"{\"a\":\"foo\"}", "\"bar\"", "\"bar\""},
        {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
        {"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
        {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
        /* Nulls inside arrays are values. */
        {"{}", "{\"a\":[null,{\"b\":null}]}", "{\"a\":[null,{\"b\":null}]}"},
        {"{\"a\":1,\"b\":2,\"c\":3}", "{\"c\":null,\"a\":null,\"d\":4,\"x\":null}",
         "{\"b\":2,\"d\":4}"},
        {"{\"metadata\":{\"labels\":{\"x\":\"1\"}},\"spec\":{}}",
         "{\"metadata\":{\"labels\":{\"y\\n\":\"2\",\"x\":null}}}",
         "{\"metadata\":{\"labels\":{\"y\\n\":\"2\"}},\"spec\":{}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_json *doc = json_of(*state, cases[i].doc);
        struct vd_json *patch = json_of(*state, cases[i].patch);
        vd_json_merge_patch(*state, doc, patch);
        assert_json(doc, cases[i].want);
        vd_json_merge_patch(*state, doc, patch); /* a second time changes nothing */
        assert_json(doc, cases[i].want);
        assert_true(vd_json_eq(patch, json_of(*state, cases[i].patch)));
    }
}

/* This takes a second; with a linear look-up for each key, more than the alarm
 * allows. */
static void large_objects_merge_quickly(void **state)
{
    struct vd_arena *a = *state;
    enum { COUNT = 400000, DEADLINE_S = 20 };
    alarm(DEADLINE_S);
    for (int filled = 0; filled < 2; filled++) {
        struct vd_json *doc = vd_json_object(a), *patch = vd_json_object(a);
        for (int i = 0; i < COUNT; i++) {
            char key[32];
            snprintf(key, sizeof key, "k%d", i);
            if (filled)
                vd_json_add(a, doc, vd_slice_of(key), vd_json_i64(a, i));
            vd_json_add(a, patch, vd_slice_of(key),
                        i % 2 ? vd_json_null(a) : vd_json_bool(a, true));
        }
        vd_json_merge_patch(a, doc, patch);
        assert_int_equal(vd_json_count(doc), COUNT / 2);
        assert_true(vd_json_truth(vd_json_get(doc, VD_SLICE("k0"))));
        assert_null(vd_json_get(doc, VD_SLICE("k1")));
    }
    alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(the_examples_of_the_rfc_hold),
        arena_test(large_objects_merge_quickly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
