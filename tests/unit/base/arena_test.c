/* src/base/arena.c: aligned, apart from each other, and gone together. */
#include "base/arena.h"

#include "check.h"

static void allocations_are_aligned_and_do_not_overlap(void **state)
{
    (void)state;
    struct vd_arena a = {0};
    enum { PIECES = 3000 };
    static unsigned char *pieces[PIECES];
    for (size_t i = 0; i < PIECES; i++) {
        size_t n = i % 97 + 1;
        pieces[i] = vd_arena_alloc(&a, n);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        memset(pieces[i], (int)(i % 251), n);
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t k = 0; k < i % 97 + 1; k++)
            assert_int_equal(pieces[i][k], i % 251);
    vd_arena_release(&a);
}

static void a_request_larger_than_any_chunk_is_served(void **state)
{
    (void)state;
    struct vd_arena a = {0};
    size_t n = (size_t)5 << 20;
    char *big = vd_arena_alloc(&a, n), *small = vd_arena_alloc(&a, 8);
    memset(big, 1, n);
    memset(small, 2, 8);
    assert_int_equal(big[n - 1], 1);
    assert_true(a.total >= n);
    vd_arena_release(&a);
    assert_int_equal(a.total, 0);
}

static void copies_are_terminated(void **state)
{
    (void)state;
    struct vd_arena a = {0};
    struct vd_slice copy = vd_arena_copy(&a, VD_SLICE("abc"));
    assert_slice(copy, "abc");
    assert_int_equal(copy.p[3], 0);
    copy = vd_arena_copy(&a, vd_slice(NULL, 0));
    assert_int_equal(copy.n, 0);
    assert_int_equal(copy.p[0], 0);
    vd_arena_release(&a);
}

static void reset_keeps_one_chunk_so_that_a_loop_stops_allocating(void **state)
{
    (void)state;
    struct vd_arena a = {0};
    vd_arena_reset(&a);
    assert_int_equal(a.total, 0);
    size_t total = 0;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 1000; i++)
            memset(vd_arena_alloc(&a, 100), round, 100);
        vd_arena_reset(&a);
        if (round > 5)
            assert_int_equal(a.total, total);
        total = a.total;
    }
    assert_true(total > 0);
    vd_arena_release(&a);
    vd_arena_release(&a);
}

static void reserved_room_is_used_and_no_more(void **state)
{
    (void)state;
    struct vd_arena measured = {0}, exact = {0};
    for (int i = 0; i < 300; i++)
        (void)vd_arena_copy(&measured, VD_SLICE("some text"));
    size_t used = vd_arena_used(&measured);
    assert_in_range(used, 300 * 16, 300 * 16 + 256);
    vd_arena_reserve(&exact, used);
    size_t total = exact.total;
    for (int i = 0; i < 300; i++)
        assert_string_equal(vd_arena_copy(&exact, VD_SLICE("some text")).p, "some text");
    assert_int_equal(exact.total, total); /* it needed no other chunk */
    vd_arena_release(&measured);
    vd_arena_release(&exact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_aligned_and_do_not_overlap),
        cmocka_unit_test(a_request_larger_than_any_chunk_is_served),
        cmocka_unit_test(copies_are_terminated),
        cmocka_unit_test(reset_keeps_one_chunk_so_that_a_loop_stops_allocating),
        cmocka_unit_test(reserved_room_is_used_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
