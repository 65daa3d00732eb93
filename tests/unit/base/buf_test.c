/* src/base/buf.c: bytes in a row, always with a NUL behind them. */
#include "base/buf.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "check.h"

static void an_empty_buffer_is_an_empty_text(void **state)
{
    (void)state;
    struct vd_buf b = {0};
    assert_string_equal(vd_buf_text(&b), "");
    assert_int_equal(vd_buf_slice(&b).n, 0);
    assert_non_null(vd_buf_slice(&b).p);
    vd_buf_reset(&b);
    vd_buf_add(&b, NULL, 0);
    assert_string_equal(vd_buf_text(&b), "");
    vd_buf_release(&b);
    vd_buf_release(&b);
}

static void every_way_of_adding_appends_and_terminates(void **state)
{
    (void)state;
    struct vd_buf b = {0};
    vd_buf_add(&b, "a\0b", 3);
    assert_int_equal(b.n, 3);
    assert_int_equal(b.p[3], 0);
    vd_buf_reset(&b);
    vd_buf_add_text(&b, "text ");
    vd_buf_add_slice(&b, VD_SLICE("slice "));
    vd_buf_add_char(&b, 'c');
    vd_buf_add_u64(&b, UINT64_MAX);
    vd_buf_addf(&b, " %d-%s", -1, "x");
    assert_string_equal(vd_buf_text(&b), "text slice c18446744073709551615 -1-x");
    assert_int_equal(b.n, strlen(b.p));
    vd_buf_release(&b);
}

/* Around the sizes where the buffer grows, one byte at a time and formatted. */
static void growth_keeps_all_bytes(void **state)
{
    (void)state;
    struct vd_buf b = {0};
    for (size_t i = 0; i < 5000; i++) {
        vd_buf_add_char(&b, (char)('a' + i % 26));
        assert_int_equal(b.p[b.n], 0);
    }
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(b.p[i], 'a' + i % 26);
    for (int width = 0; width < 300; width++) {
        struct vd_buf f = {0};
        vd_buf_addf(&f, "%*d", width, 7);
        assert_int_equal(f.n, width ? width : 1);
        assert_int_equal(f.p[f.n - 1], '7');
        assert_int_equal(f.p[f.n], 0);
        vd_buf_release(&f);
    }
    vd_buf_release(&b);
}

static void reserved_room_is_used_without_moving(void **state)
{
    (void)state;
    struct vd_buf b = {0};
    vd_buf_reserve(&b, 10000);
    const char *before = b.p;
    for (size_t i = 0; i < 10000; i++)
        vd_buf_add_char(&b, 'x');
    assert_ptr_equal(b.p, before);
    vd_buf_reset(&b);
    assert_ptr_equal(b.p, before);
    assert_string_equal(vd_buf_text(&b), "");
    vd_buf_release(&b);
}

static void taken_bytes_leave_an_empty_buffer_behind(void **state)
{
    (void)state;
    struct vd_buf b = {0};
    size_t n = 99;
    char *empty = vd_buf_take(&b, &n);
    assert_string_equal(empty, "");
    assert_int_equal(n, 0);
    vd_buf_add_text(&b, "abc");
    char *text = vd_buf_take(&b, NULL);
    assert_string_equal(text, "abc");
    assert_null(b.p);
    vd_buf_add_text(&b, "again");
    assert_string_equal(vd_buf_text(&b), "again");
    vd_buf_release(&b);
    free(empty);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buffer_is_an_empty_text),
        cmocka_unit_test(every_way_of_adding_appends_and_terminates),
        cmocka_unit_test(growth_keeps_all_bytes),
        cmocka_unit_test(reserved_room_is_used_without_moving),
        cmocka_unit_test(taken_bytes_leave_an_empty_buffer_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
