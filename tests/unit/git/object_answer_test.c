/* src/git/object_answer.c: what git cat-file answers. */
#include "git/object_answer.h"

#include "check.h"

#define A "1111111111111111111111111111111111111111"

static void answers_are_read_when_they_are_complete(void **state)
{
    (void)state;
    static const char text[] = A " blob 6\nhe\nllo\nrest";
    struct vd_object_answer a;
    struct vd_error error;
    size_t used;
    for (size_t n = 0; n < 55; n++) {
        assert_ok(vd_object_answer_read(vd_slice(text, n), true, 6, &a, &used, &error), &error);
        assert_int_equal(used, 0);
    }
    assert_ok(vd_object_answer_read(vd_slice_of(text), true, 6, &a, &used, &error), &error);
    assert_int_equal(used, 55);
    assert_true(a.found);
    assert_slice(a.id, A);
    assert_slice(a.type, "blob");
    assert_int_equal(a.len, 6);
    assert_slice(a.contents, "he\nllo");
    assert_ok(vd_object_answer_read(vd_slice_of(text), false, 0, &a, &used, &error), &error);
    assert_int_equal(used, 48);
    assert_int_equal(a.len, 6);
    assert_ok(vd_object_answer_read(VD_SLICE("main:a b missing\nx"), true, 6, &a, &used, &error),
              &error);
    assert_int_equal(used, 17);
    assert_false(a.found);
}

static void other_answers_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int code;
    } cases[] = {
        {A " blob 7\n", VD_ERR_LIMIT},
        {A " blob\n", VD_ERR_FORMAT},
        {A " blob x\n", VD_ERR_FORMAT},
        {A "  1\n", VD_ERR_FORMAT},
        {"fatal: what\n", VD_ERR_FORMAT},
        {"\n", VD_ERR_FORMAT},
        {A " blob 2\nabc\n", VD_ERR_FORMAT},
        {A " blob 1 2\n", VD_ERR_FORMAT},
        {A " blob 18446744073709551615\n", VD_ERR_LIMIT},
    };
    struct vd_object_answer a;
    struct vd_error error;
    size_t used;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_code(vd_object_answer_read(vd_slice_of(cases[i].text), true, 6, &a, &used, &error),
                    cases[i].code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_read_when_they_are_complete),
        cmocka_unit_test(other_answers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
