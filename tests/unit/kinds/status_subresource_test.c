/* The doors of large objects: that the work grows with their size and not with its
 * square is seen by the run ending at all. What comes through is tested in
 * tests/unit/kube/status_write_test.c and tests/fuzz/status_fuzz.c. */
#include <stdio.h>

#include "json_check.h"
#include "kinds/status_subresource.h"
#include "json/compare.h"

enum { MANY = 200000 };

/* An object with many members, from last to first if `reversed`. */
static struct vd_json *many(struct vd_arena *a, bool reversed)
{
    struct vd_json *object = vd_json_object(a);
    for (int i = 0; i < MANY; i++) {
        char key[16];
        int n = snprintf(key, sizeof key, "k%d", reversed ? MANY - i : i + 1);
        vd_json_add(a, object, vd_slice(key, (size_t)n), vd_json_i64(a, 1));
    }
    return object;
}

static void large_objects_are_compared_in_time(void **state)
{
    struct vd_arena *a = *state;
    struct vd_violations violations = {0};
    struct vd_json *old = vd_json_object(a), *object = vd_json_object(a);
    vd_json_set(a, old, VD_SLICE("spec"), many(a, false));
    vd_json_set(a, object, VD_SLICE("spec"), many(a, true));
    assert_true(vd_status_subresource_check(object, old, &violations));
    vd_json_set(a, vd_json_get(object, VD_SLICE("spec")), VD_SLICE("k7"), vd_json_i64(a, 2));
    assert_false(vd_status_subresource_check(object, old, &violations));
    assert_int_equal(violations.list.n, 1);
    assert_slice(violations.list.p[0].field, "spec.k7");
    vd_violations_release(&violations);
}

static void large_objects_are_filled_in_time(void **state)
{
    struct vd_arena *a = *state;
    struct vd_json *old = many(a, false), *object = many(a, true);
    vd_json_remove(object, VD_SLICE("k5"));
    vd_json_set(a, old, VD_SLICE("metadata"), vd_json_object(a));
    vd_status_subresource_fill(a, object, old);
    assert_true(vd_json_eq(object, old));
}

static void what_a_put_leaves_out_is_filled_in(void **state)
{
    static const struct {
        const char *old, *object, *becomes;
    } cases[] = {
        {"{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"y\"},\"resourceVersion\":\"7\"},"
         "\"spec\":{\"a\":1},\"status\":{\"s\":1}}",
         "{\"metadata\":{\"name\":\"a\"}}",
         "{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"y\"}},\"spec\":{\"a\":1}}"},
        {"{\"metadata\":{\"labels\":{\"x\":\"y\"}},\"spec\":{\"a\":1}}",
         "{\"status\":{},\"spec\":{},\"metadata\":{\"labels\":{}}}",
         "{\"status\":{},\"spec\":{},\"metadata\":{\"labels\":{}}}"},
    };
    struct vd_arena *a = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_json *object = json_of(a, cases[i].object);
        vd_status_subresource_fill(a, object, json_of(a, cases[i].old));
        assert_json(object, cases[i].becomes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(large_objects_are_compared_in_time),
        arena_test(large_objects_are_filled_in_time),
        arena_test(what_a_put_leaves_out_is_filled_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
