/* src/json/yaml_anchor.c: names, redefinition and open nodes. */
#include "json/yaml_anchor.h"

#include <stdio.h>

#include "check.h"

static void a_name_means_its_newest_node(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    struct vd_yaml_anchors anchors = {0};
    struct vd_json *one = vd_json_null(&arena), *two = vd_json_null(&arena);
    assert_null(vd_yaml_anchors_find(&anchors, "a"));
    vd_yaml_anchors_set(&anchors, "a", one, false);
    vd_yaml_anchors_set(&anchors, NULL, two, false);
    assert_ptr_equal(vd_yaml_anchors_find(&anchors, "a")->value, one);
    assert_null(vd_yaml_anchors_find(&anchors, "ab"));
    vd_yaml_anchors_set(&anchors, "a", two, false);
    assert_ptr_equal(vd_yaml_anchors_find(&anchors, "a")->value, two);
    vd_yaml_anchors_clear(&anchors);
    assert_null(vd_yaml_anchors_find(&anchors, "a"));
    vd_yaml_anchors_release(&anchors);
    vd_arena_release(&arena);
}

static void closing_spares_a_name_that_was_given_again(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    struct vd_yaml_anchors anchors = {0};
    struct vd_json *outer = vd_json_array(&arena), *inner = vd_json_array(&arena);
    vd_yaml_anchors_set(&anchors, "a", outer, true);
    assert_true(vd_yaml_anchors_find(&anchors, "a")->open);
    vd_yaml_anchors_set(&anchors, "a", inner, true);
    vd_yaml_anchors_close(&anchors, "a", outer);
    assert_true(vd_yaml_anchors_find(&anchors, "a")->open);
    vd_yaml_anchors_close(&anchors, "a", inner);
    assert_false(vd_yaml_anchors_find(&anchors, "a")->open);
    vd_yaml_anchors_close(&anchors, NULL, inner);
    vd_yaml_anchors_release(&anchors);
    vd_arena_release(&arena);
}

static void many_names_are_told_apart(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    struct vd_yaml_anchors anchors = {0};
    struct vd_json *values[1000];
    char name[16];
    for (int i = 0; i < 1000; i++) {
        values[i] = vd_json_i64(&arena, i);
        snprintf(name, sizeof name, "n%d", i);
        vd_yaml_anchors_set(&anchors, name, values[i], false);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "n%d", i);
        assert_ptr_equal(vd_yaml_anchors_find(&anchors, name)->value, values[i]);
    }
    vd_yaml_anchors_release(&anchors);
    vd_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_means_its_newest_node),
        cmocka_unit_test(closing_spares_a_name_that_was_given_again),
        cmocka_unit_test(many_names_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
