/* src/json/yaml_position.c: places by address, and through copies. */
#include "json/yaml_position.h"

#include "check.h"

static void check_at(struct vd_yaml_positions *p, const struct vd_json *value, uint32_t line)
{
    struct vd_yaml_position at = {0};
    assert_true(vd_yaml_positions_find(p, value, &at));
    assert_int_equal(at.line, line);
    assert_int_equal(at.column, line + 1);
}

static void values_are_found_whenever_they_were_added(void **state)
{
    (void)state;
    struct vd_json values[100] = {0};
    struct vd_yaml_positions p = {0};
    struct vd_yaml_position at = {7, 7};
    assert_false(vd_yaml_positions_find(&p, &values[0], &at));
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t k = i * 37 % 100; /* not in the order of their addresses */
        vd_yaml_positions_add(&p, &values[k], (struct vd_yaml_position){k, k + 1});
        check_at(&p, &values[k], k);
        assert_int_equal(vd_yaml_positions_find(&p, &values[(k + 37) % 100], &at), i == 99);
    }
    for (uint32_t k = 0; k < 100; k++)
        check_at(&p, &values[k], k);
    vd_yaml_positions_clear(&p);
    at.line = 7;
    assert_false(vd_yaml_positions_find(&p, &values[0], &at));
    assert_int_equal(at.line, 7); /* filled only on success */
    vd_yaml_positions_release(&p);
}

static void copies_lead_to_their_original(void **state)
{
    (void)state;
    struct vd_json original = {0}, copy = {0}, copy_of_copy = {0}, orphan = {0}, stranger = {0};
    struct vd_yaml_positions p = {0};
    struct vd_yaml_position at;
    vd_yaml_positions_add_copy(&p, &copy_of_copy, &copy);
    vd_yaml_positions_add_copy(&p, &copy, &original);
    vd_yaml_positions_add(&p, &original, (struct vd_yaml_position){3, 4});
    vd_yaml_positions_add_copy(&p, &orphan, &stranger);
    check_at(&p, &copy_of_copy, 3);
    check_at(&p, &copy, 3);
    assert_false(vd_yaml_positions_find(&p, &orphan, &at));
    assert_false(vd_yaml_positions_find(&p, &stranger, &at));
    assert_false(vd_yaml_positions_find(&p, NULL, &at));
    vd_yaml_positions_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_whenever_they_were_added),
        cmocka_unit_test(copies_lead_to_their_original),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
