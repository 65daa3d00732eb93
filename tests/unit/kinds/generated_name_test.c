/* src/kinds/generated_name.c. */
#include "json_check.h"
#include "kinds/generated_name.h"

static void a_generated_name_is_the_base_and_five_letters(void **state)
{
    char base[101];
    memset(base, 'a', sizeof base - 1);
    base[100] = 0;
    struct vd_slice name = vd_generated_name_make(*state, VD_SLICE("web-"));
    assert_int_equal(name.n, 9);
    assert_true(vd_slice_starts_with(name, VD_SLICE("web-")));
    name = vd_generated_name_make(*state, vd_slice_of(base));
    assert_int_equal(name.n, 63);
    assert_int_equal(vd_generated_name_make(*state, VD_SLICE("")).n, 5);
    /* Every letter turns up, and no other. */
    size_t seen[256] = {0}, letters = 0;
    for (int i = 0; i < 2000; i++) {
        name = vd_generated_name_make(*state, VD_SLICE("x"));
        for (size_t j = 1; j < name.n; j++)
            seen[(unsigned char)name.p[j]]++;
    }
    for (const char *c = "bcdfghjklmnpqrstvwxz2456789"; *c; c++, letters++)
        assert_in_range(seen[(unsigned char)*c], 10000 / 27 / 2, 10000 / 27 * 2);
    for (size_t i = 0; i < 256; i++)
        letters -= seen[i] > 0;
    assert_int_equal(letters, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(a_generated_name_is_the_base_and_five_letters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
