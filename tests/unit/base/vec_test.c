/* src/base/vec.h: typed items that stay in order as the vector grows. */
#include "base/vec.h"

#include "check.h"

struct pair {
    size_t a;
    char b;
};

static void pushed_items_stay_in_order(void **state)
{
    (void)state;
    VD_VEC(struct pair) pairs = {0};
    for (size_t i = 0; i < 1000; i++)
        *VD_VEC_PUSH(&pairs) = (struct pair){i, (char)(i % 100)};
    assert_int_equal(pairs.n, 1000);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(pairs.p[i].a, i);
        assert_int_equal(pairs.p[i].b, i % 100);
    }
    VD_VEC_RELEASE(&pairs);
    assert_null(pairs.p);
    assert_int_equal(pairs.n, 0);
    *VD_VEC_PUSH(&pairs) = (struct pair){1, 2};
    assert_int_equal(pairs.n, 1);
    VD_VEC_RELEASE(&pairs);
}

static void reserved_room_is_used_without_moving(void **state)
{
    (void)state;
    VD_VEC(int) numbers = {0};
    VD_VEC_RESERVE(&numbers, 1000);
    assert_true(numbers.cap >= 1000);
    assert_int_equal(numbers.n, 0);
    const int *before = numbers.p;
    for (int i = 0; i < 1000; i++)
        *VD_VEC_PUSH(&numbers) = i;
    assert_ptr_equal(numbers.p, before);
    assert_int_equal(numbers.p[999], 999);
    VD_VEC_RELEASE(&numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushed_items_stay_in_order),
        cmocka_unit_test(reserved_room_is_used_without_moving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
