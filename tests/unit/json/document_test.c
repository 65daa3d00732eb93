/* src/json/document.c: building, reading and changing values. */
#include "json/document.h"

#include <string.h>

#include "json_check.h"

static void built_values_write_as_they_should(void **state)
{
    struct vd_arena *a = *state;
    struct vd_json *o = vd_json_object(a), *list = vd_json_array(a);
    vd_json_append(list, vd_json_i64(a, INT64_MIN));
    vd_json_append(list, vd_json_u64(a, UINT64_MAX));
    vd_json_append(list, vd_json_double(a, 0.1));
    vd_json_append(list, vd_json_number(a, VD_SLICE("1.50")));
    vd_json_add(a, o, VD_SLICE("n"), vd_json_null(a));
    vd_json_add_ref(o, VD_SLICE("t"), vd_json_bool(a, true));
    vd_json_add(a, o, VD_SLICE("s"), vd_json_string(a, VD_SLICE("a\"b")));
    vd_json_add(a, o, VD_SLICE("r"), vd_json_string_ref(a, VD_SLICE("ref")));
    vd_json_add(a, o, VD_SLICE("l"), list);
    vd_json_add(a, o, VD_SLICE("e"), vd_json_object(a));
    assert_json(o, "{\"n\":null,\"t\":true,\"s\":\"a\\\"b\",\"r\":\"ref\",\"l\":["
                   "-9223372036854775808,18446744073709551615,0.1,1.50],\"e\":{}}");
}

static void strings_are_copied_unless_borrowed(void **state)
{
    struct vd_arena *a = *state;
    char text[] = "abc", key[] = "key";
    struct vd_json *o = vd_json_object(a);
    vd_json_add(a, o, vd_slice_of(key), vd_json_string(a, vd_slice_of(text)));
    memset(text, 'x', 3);
    memset(key, 'x', 3);
    assert_json(o, "{\"key\":\"abc\"}");
}

static void reading_nothing_finds_nothing(void **state)
{
    struct vd_arena *a = *state;
    struct vd_json *v = json_of(a, "{\"a\":{\"b\":[1,2,3]},\"s\":\"text\"}");
    int64_t number;
    assert_null(vd_json_get(NULL, VD_SLICE("a")));
    assert_null(vd_json_get(vd_json_get(v, VD_SLICE("s")), VD_SLICE("a")));
    assert_null(vd_json_dig(v, "a", "x", "y", NULL));
    assert_null(vd_json_dig(v, "s", "b", NULL));
    assert_null(vd_json_at(v, 0));
    assert_null(vd_json_at(vd_json_dig(v, "a", "b", NULL), 3));
    assert_null(vd_json_first(vd_json_get(v, VD_SLICE("s"))));
    assert_null(vd_json_text(NULL).p);
    assert_null(vd_json_text(v).p);
    assert_int_equal(vd_json_count(NULL), 0);
    assert_int_equal(vd_json_count(vd_json_get(v, VD_SLICE("s"))), 0);
    assert_false(vd_json_truth(NULL));
    assert_false(vd_json_to_i64(v, &number));
    assert_false(vd_json_to_i64(NULL, &number));
}

static void look_ups_find_by_key_and_index(void **state)
{
    struct vd_arena *a = *state;
    struct vd_json *v = json_of(a, "{\"a\":{\"b\":[1,2,3]},\"\":true,\"s\":\"text\"}");
    struct vd_json *list = vd_json_dig(v, "a", "b", NULL);
    int64_t number = 0;
    for (size_t i = 0; i < 3; i++) {
        assert_true(vd_json_to_i64(vd_json_at(list, i), &number));
        assert_int_equal(number, i + 1);
    }
    assert_true(vd_json_truth(vd_json_get(v, VD_SLICE(""))));
    assert_slice(vd_json_text(vd_json_get(v, VD_SLICE("s"))), "text");
    assert_slice(vd_json_key(vd_json_first(v)), "a");
    assert_string_equal(vd_json_type_name(list), "array");
}

static void set_replaces_in_place_or_appends(void **state)
{
    struct vd_arena *a = *state;
    struct vd_json *v = json_of(a, "{\"a\":1,\"b\":2,\"c\":3}");
    struct vd_json *old = vd_json_set(a, v, VD_SLICE("b"), vd_json_bool(a, false));
    assert_json(old, "2");
    assert_int_equal(vd_json_key(old).n, 0);
    assert_null(vd_json_set(a, v, VD_SLICE("d"), old));
    vd_json_set(a, v, VD_SLICE("c"), vd_json_null(a));
    vd_json_set(a, v, VD_SLICE("a"), vd_json_null(a));
    vd_json_add(a, v, VD_SLICE("e"), vd_json_null(a));
    assert_json(v, "{\"a\":null,\"b\":false,\"c\":null,\"d\":2,\"e\":null}");
    assert_int_equal(vd_json_count(v), 5);
}

static void remove_keeps_the_tail_right(void **state)
{
    struct vd_arena *a = *state;
    static const struct {
        const char *key, *left;
    } cases[] = {
        {"c", "{\"a\":1,\"b\":2,\"x\":0}"},
        {"a", "{\"b\":2,\"c\":3,\"x\":0}"},
        {"b", "{\"a\":1,\"c\":3,\"x\":0}"},
    };
    for (size_t i = 0; i < 3; i++) {
        struct vd_json *v = json_of(a, "{\"a\":1,\"b\":2,\"c\":3}");
        assert_non_null(vd_json_remove(v, vd_slice_of(cases[i].key)));
        assert_null(vd_json_remove(v, vd_slice_of(cases[i].key)));
        vd_json_add(a, v, VD_SLICE("x"), vd_json_i64(a, 0));
        assert_json(v, cases[i].left);
    }
    struct vd_json *one = json_of(a, "{\"a\":1}");
    vd_json_remove(one, VD_SLICE("a"));
    assert_json(one, "{}");
    vd_json_add(a, one, VD_SLICE("b"), vd_json_null(a));
    assert_json(one, "{\"b\":null}");
}

static void arrays_insert_and_remove_anywhere(void **state)
{
    struct vd_arena *a = *state;
    struct vd_json *v = vd_json_array(a);
    vd_json_insert(v, 0, vd_json_i64(a, 2));
    vd_json_insert(v, 0, vd_json_i64(a, 1));
    vd_json_insert(v, 2, vd_json_i64(a, 4));
    vd_json_insert(v, 2, vd_json_i64(a, 3));
    vd_json_append(v, vd_json_i64(a, 5));
    assert_json(v, "[1,2,3,4,5]");
    struct vd_json *last = vd_json_remove_at(v, 4);
    assert_json(last, "5");
    vd_json_insert(v, 0, last);
    assert_non_null(vd_json_remove_at(v, 2));
    assert_null(vd_json_remove_at(v, 4));
    assert_json(v, "[5,1,3,4]");
}

static void a_loop_can_prune(void **state)
{
    struct vd_arena *a = *state;
    struct vd_json *v = json_of(a, "{\"a\":null,\"b\":1,\"c\":null,\"d\":2,\"e\":null}");
    struct vd_json *before = NULL;
    for (struct vd_json *m = vd_json_first(v), *next; m; m = next) {
        next = vd_json_next(m);
        if (vd_json_is(m, VD_JSON_NULL))
            vd_json_remove_after(v, before);
        else
            before = m;
    }
    assert_json(v, "{\"b\":1,\"d\":2}");
    vd_json_add(a, v, VD_SLICE("z"), vd_json_null(a));
    assert_json(v, "{\"b\":1,\"d\":2,\"z\":null}");
}

static void assign_keeps_place_and_key(void **state)
{
    struct vd_arena *a = *state;
    struct vd_json *v = json_of(a, "{\"a\":1,\"b\":{\"x\":1},\"c\":3}");
    struct vd_json *value = json_of(a, "[1,\"t\\n\",{\"k\":true}]");
    vd_json_assign(vd_json_get(v, VD_SLICE("b")), value);
    assert_json(v, "{\"a\":1,\"b\":[1,\"t\\n\",{\"k\":true}],\"c\":3}");
    assert_json(value, "null");
    vd_json_assign(v, json_of(a, "\"s\""));
    assert_json(v, "\"s\"");
}

static void copies_are_independent(void **state)
{
    struct vd_arena *a = *state;
    char text[] = "{\"a\":[1,{\"b\":\"t\"}],\"k\\n\":\"e\\u0001\",\"f\":false,\"e\":\"\"}";
    char again[sizeof text];
    memcpy(again, text, sizeof text);
    struct vd_json *v = json_of(a, text);
    struct vd_arena other = {0};
    struct vd_json *copy = vd_json_copy(&other, v), *clone = vd_json_clone(a, v);
    vd_json_remove(vd_json_at(vd_json_get(v, VD_SLICE("a")), 1), VD_SLICE("b"));
    assert_json(clone, again);
    memset(text, 'x', sizeof text - 1);
    assert_json(copy, again);
    vd_arena_release(&other);
}

static void depth_counts_containers(void **state)
{
    struct vd_arena *a = *state;
    assert_int_equal(vd_json_depth(json_of(a, "1")), 0);
    assert_int_equal(vd_json_depth(json_of(a, "[]")), 1);
    assert_int_equal(vd_json_depth(json_of(a, "{\"a\":[1],\"b\":[[{}]],\"c\":1}")), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(built_values_write_as_they_should),
        arena_test(strings_are_copied_unless_borrowed),
        arena_test(reading_nothing_finds_nothing),
        arena_test(look_ups_find_by_key_and_index),
        arena_test(set_replaces_in_place_or_appends),
        arena_test(remove_keeps_the_tail_right),
        arena_test(arrays_insert_and_remove_anywhere),
        arena_test(a_loop_can_prune),
        arena_test(assign_keeps_place_and_key),
        arena_test(copies_are_independent),
        arena_test(depth_counts_containers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
