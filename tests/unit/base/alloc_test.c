/* src/base/alloc.c: memory that is there, or one line and the end. */
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "death.h"

static void an_empty_allocation_can_be_freed(void **state)
{
    (void)state;
    void *p = vd_malloc(0), *q = vd_calloc(0, 8), *r = vd_realloc(NULL, 0, 8);
    assert_non_null(p);
    assert_non_null(q);
    assert_non_null(r);
    free(p);
    free(q);
    free(r);
}

static void calloc_gives_zeros_and_realloc_keeps_the_bytes(void **state)
{
    (void)state;
    uint32_t *p = vd_calloc(4, sizeof *p);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(p[i], 0);
    p[3] = 7;
    p = vd_realloc(p, 1000, sizeof *p);
    assert_int_equal(p[3], 7);
    free(p);
}

static void copies_are_the_same_bytes_elsewhere(void **state)
{
    (void)state;
    static const char bytes[] = "a\0b";
    char *copy = vd_memdup(bytes, sizeof bytes), *text = vd_strdup("abc");
    assert_ptr_not_equal(copy, bytes);
    assert_memory_equal(copy, bytes, sizeof bytes);
    assert_string_equal(text, "abc");
    free(copy);
    free(text);
    free(vd_memdup(NULL, 0));
}

static void calloc_too_much(void)
{
    free(vd_calloc(SIZE_MAX / 2, 3));
}

static void realloc_too_much(void)
{
    free(vd_realloc(NULL, 3, SIZE_MAX / 2));
}

static void a_product_that_does_not_fit_ends_the_process(void **state)
{
    (void)state;
    assert_true(aborts_saying(calloc_too_much, "vedette: out of memory"));
    assert_true(aborts_saying(realloc_too_much, "vedette: out of memory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_allocation_can_be_freed),
        cmocka_unit_test(calloc_gives_zeros_and_realloc_keeps_the_bytes),
        cmocka_unit_test(copies_are_the_same_bytes_elsewhere),
        cmocka_unit_test(a_product_that_does_not_fit_ends_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
