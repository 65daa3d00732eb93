/* src/base/error.c: names for all codes, and text that is cut, never overrun. */
#include "base/error.h"

#include "check.h"

static void every_code_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < VD_CODE_COUNT; i++) {
        assert_non_null(vd_code_name(i));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(vd_code_name(i), vd_code_name(j));
    }
    assert_string_equal(vd_code_name(VD_OK), "ok");
    assert_string_equal(vd_code_name(VD_ERR_NOT_FOUND), "not-found");
    assert_string_equal(vd_code_name(-1), "unknown");
    assert_string_equal(vd_code_name(VD_CODE_COUNT), "unknown");
}

static void set_fills_the_error_and_returns_the_code(void **state)
{
    (void)state;
    struct vd_error error = {0};
    assert_code(vd_error_set(&error, VD_ERR_LIMIT, "name %s has %d bytes", "x", 7), VD_ERR_LIMIT);
    assert_int_equal(error.code, VD_ERR_LIMIT);
    assert_string_equal(error.text, "name x has 7 bytes");
    assert_code(vd_error_set(NULL, VD_ERR_IO, "nobody listens"), VD_ERR_IO);
}

static void prefixes_pile_up_in_front(void **state)
{
    (void)state;
    struct vd_error error = {0};
    vd_error_set(&error, VD_ERR_CORRUPT, "bad checksum");
    vd_error_prefix(&error, "revision %d", 7);
    vd_error_prefix(&error, "open %s", "/data");
    assert_int_equal(error.code, VD_ERR_CORRUPT);
    assert_string_equal(error.text, "open /data: revision 7: bad checksum");
    vd_error_prefix(NULL, "nobody listens");
}

static void long_text_is_cut(void **state)
{
    (void)state;
    struct vd_error error = {0};
    for (int width = VD_ERROR_TEXT_MAX - 3; width < VD_ERROR_TEXT_MAX + 3; width++) {
        size_t cut = (size_t)width < VD_ERROR_TEXT_MAX ? (size_t)width : VD_ERROR_TEXT_MAX - 1;
        vd_error_set(&error, VD_ERR_INVALID, "%*d", width, 7);
        assert_int_equal(strlen(error.text), cut);
        vd_error_prefix(&error, "context");
        assert_int_equal(strlen(error.text), VD_ERROR_TEXT_MAX - 1);
        assert_true(vd_slice_starts_with(vd_slice_of(error.text), VD_SLICE("context:   ")));
        vd_error_prefix(&error, "%*d", width, 7); /* a context that fills all by itself */
        assert_true(strlen(error.text) <= VD_ERROR_TEXT_MAX - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_name_of_its_own),
        cmocka_unit_test(set_fills_the_error_and_returns_the_code),
        cmocka_unit_test(prefixes_pile_up_in_front),
        cmocka_unit_test(long_text_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
