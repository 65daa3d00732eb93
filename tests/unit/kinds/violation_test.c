/* src/kinds/violation.c and field_path.c: texts, limits, merging. */
#include "kinds/violation.h"

#include <string.h>

#include "base/limits.h"
#include "json_check.h"

static void paths_are_written_in_two_styles(void **state)
{
    (void)state;
    struct vd_field_path a = vd_field_member(NULL, VD_SLICE("spec"));
    struct vd_field_path b = vd_field_key(&a, VD_SLICE("a.b/c"));
    struct vd_field_path c = vd_field_element(&b, 12);
    struct vd_field_path d = vd_field_member(&c, VD_SLICE("x"));
    struct vd_buf text = {0};
    vd_field_path_write(&text, &d, VD_FIELD_DOTTED);
    assert_slice(vd_buf_slice(&text), "spec.a.b/c[12].x");
    vd_buf_reset(&text);
    vd_field_path_write(&text, &d, VD_FIELD_BRACKETS);
    assert_slice(vd_buf_slice(&text), "spec[a.b/c][12].x");
    vd_buf_reset(&text);
    vd_field_path_write(&text, NULL, VD_FIELD_DOTTED);
    assert_slice(vd_buf_slice(&text), "");
    vd_buf_release(&text);
}

static void long_paths_lose_their_beginning(void **state)
{
    (void)state;
    struct vd_field_path parts[VD_JSON_DEPTH_MAX];
    struct vd_buf text = {0};
    for (size_t i = 0; i < VD_JSON_DEPTH_MAX; i++)
        parts[i] = vd_field_member(i ? &parts[i - 1] : NULL, VD_SLICE("0123456789"));
    vd_field_path_write(&text, &parts[VD_JSON_DEPTH_MAX - 1], VD_FIELD_DOTTED);
    assert_true(text.n < VD_FIELD_PATH_LEN_MAX + 32);
    assert_true(vd_slice_starts_with(vd_buf_slice(&text), VD_SLICE("...")));
    vd_buf_release(&text);
}

static void values_are_shown_as_go_shows_them(void **state)
{
    static const struct {
        const char *json, *want;
    } cases[] = {
        {"\"a\\\"b\\n\"", "\"a\\\"b\\n\""},
        {"5", "5"},
        {"1e1", "10"},
        {"0.50", "0.5"},
        {"true", "true"},
        {"null", "null"},
        {"{\"b\":[1, 2]}", "{\"b\":[1,2]}"},
    };
    struct vd_violations violations = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_slice(vd_bad_value_json(&violations, json_of(*state, cases[i].json)), cases[i].want);
    vd_violations_release(&violations);
}

static void each_type_has_its_words(void **state)
{
    static const struct {
        enum vd_violation_type type;
        const char *want, *reason;
    } cases[] = {
        {VD_VIOLATION_INVALID, "a: Invalid value: 1: d", "FieldValueInvalid"},
        {VD_VIOLATION_TYPE_INVALID, "a: Invalid value: 1: d", "FieldValueTypeInvalid"},
        {VD_VIOLATION_REQUIRED, "a: Required value: d", "FieldValueRequired"},
        {VD_VIOLATION_NOT_SUPPORTED, "a: Unsupported value: 1: d", "FieldValueNotSupported"},
        {VD_VIOLATION_DUPLICATE, "a: Duplicate value: 1: d", "FieldValueDuplicate"},
        {VD_VIOLATION_FORBIDDEN, "a: Forbidden: d", "FieldValueForbidden"},
        {VD_VIOLATION_TOO_LONG, "a: Too long: d", "FieldValueTooLong"},
        {VD_VIOLATION_TOO_MANY, "a: Too many: 1: d", "FieldValueTooMany"},
    };
    struct vd_field_path path = vd_field_member(NULL, VD_SLICE("a"));
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_violations violations = {0};
        struct vd_buf text = {0};
        vd_violations_add(&violations, cases[i].type, &path, VD_SLICE("1"), "%s", "d");
        vd_violations_write(&text, &violations);
        assert_slice(vd_buf_slice(&text), cases[i].want);
        assert_string_equal(vd_violation_reason(cases[i].type), cases[i].reason);
        vd_buf_release(&text);
        vd_violations_release(&violations);
    }
}

static void the_list_is_bounded_and_merges_without_repeats(void **state)
{
    struct vd_field_path path = vd_field_member(NULL, VD_SLICE("a"));
    struct vd_violations many = {0}, more = {0};
    struct vd_buf text = {0};
    (void)state;
    for (int i = 0; i < VD_VIOLATIONS_MAX + 3; i++)
        vd_violations_add(&many, VD_VIOLATION_INVALID, &path, vd_bad_value_nothing(), "%d", i);
    assert_int_equal(many.list.n, VD_VIOLATIONS_MAX);
    assert_int_equal(many.dropped, 3);
    vd_violations_write(&text, &many);
    assert_true(vd_slice_ends_with(vd_buf_slice(&text), VD_SLICE(", and 3 more]")));
    vd_violations_add(&more, VD_VIOLATION_INVALID, &path, vd_bad_value_nothing(), "%d", 0);
    vd_violations_merge(&more, &many);
    assert_int_equal(more.list.n, VD_VIOLATIONS_MAX);
    assert_int_equal(more.dropped, 3);
    vd_buf_release(&text);
    vd_violations_release(&many);
    vd_violations_release(&more);
}

static void long_values_and_details_are_cut(void **state)
{
    struct vd_field_path path = vd_field_member(NULL, VD_SLICE("a"));
    struct vd_violations violations = {0};
    char text[VD_VIOLATION_VALUE_LEN_MAX * 2 + 1];
    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    vd_violations_add(&violations, VD_VIOLATION_INVALID, &path,
                      vd_bad_value_text(&violations, vd_slice_of(text)), "%s", text);
    assert_true(violations.list.p[0].message.n < VD_VIOLATION_VALUE_LEN_MAX * 2 + 64);
    assert_true(vd_slice_ends_with(violations.list.p[0].message, VD_SLICE("...")));
    vd_violations_release(&violations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_written_in_two_styles),
        cmocka_unit_test(long_paths_lose_their_beginning),
        arena_test(values_are_shown_as_go_shows_them),
        cmocka_unit_test(each_type_has_its_words),
        cmocka_unit_test(long_values_and_details_are_cut),
        cmocka_unit_test(the_list_is_bounded_and_merges_without_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
