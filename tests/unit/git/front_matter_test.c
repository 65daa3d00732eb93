/* src/git/front_matter.c: where front matter ends, and the body behind it. */
#include "git/front_matter.h"

#include "check.h"

static void check_splits(struct vd_slice text, const char *yaml, struct vd_slice body,
                         unsigned line)
{
    struct vd_front_matter f = {0};
    assert_int_equal(vd_front_matter_split(text, &f), VD_FRONT_MATTER_FOUND);
    if (!vd_slice_is(f.yaml, yaml))
        fail_msg("yaml is \"%.*s\"", VD_FMT(f.yaml));
    if (!vd_slice_eq(f.body, body))
        fail_msg("body is \"%.*s\"", VD_FMT(f.body));
    assert_int_equal(f.at.line, line);
    assert_int_equal(f.at.column, 1);
}

static void the_body_is_kept_byte_for_byte(void **state)
{
    (void)state;
    check_splits(VD_SLICE("---\na: 1\n---\nbody\n"), "---\na: 1\n", VD_SLICE("body\n"), 4);
    check_splits(VD_SLICE("---\na: 1\n---\n\n  \n"), "---\na: 1\n", VD_SLICE("\n  \n"), 4);
    check_splits(VD_SLICE("---\na: 1\n---\n---\nx\n---\n"), "---\na: 1\n",
                 VD_SLICE("---\nx\n---\n"), 4);
    check_splits(VD_SLICE("---\na: 1\n...\nx"), "---\na: 1\n", VD_SLICE("x"), 4);
    check_splits(VD_SLICE("---\na: 1\n---"), "---\na: 1\n", VD_SLICE(""), 4);
    check_splits(VD_SLICE("---\n---\n"), "---\n", VD_SLICE(""), 3);
    check_splits(VD_SLICE("---\na: 1\n---\n\0\xff\x1b"), "---\na: 1\n", VD_SLICE("\0\xff\x1b"), 4);
}

static void crlf_and_a_byte_order_mark_are_taken(void **state)
{
    (void)state;
    check_splits(VD_SLICE("---\r\na: 1\r\n---\r\nx\r\n\r\n"), "---\r\na: 1\r\n",
                 VD_SLICE("x\r\n\r\n"), 4);
    check_splits(VD_SLICE("\xEF\xBB\xBF---\na: 1\n---\nx"), "---\na: 1\n", VD_SLICE("x"), 4);
}

static void markers_inside_values_do_not_end_it(void **state)
{
    (void)state;
    check_splits(
        VD_SLICE("---\na: |\n  x\n  ---\n  y\nb: \"---\"\nc: '\n ---\n'\n# ---\n----\n---\nx"),
        "---\na: |\n  x\n  ---\n  y\nb: \"---\"\nc: '\n ---\n'\n# ---\n----\n", VD_SLICE("x"), 13);
}

static void other_files_have_none(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "# Title\n---\na: 1\n---\n",
                                        "----\na: 1\n---\n",
                                        "--- x\n",
                                        " ---\n",
                                        "\n---\na: 1\n---\n",
                                        "---\ra"};
    struct vd_front_matter f = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(vd_front_matter_split(vd_slice_of(texts[i]), &f), VD_FRONT_MATTER_NONE);
}

static void an_end_that_is_missing_or_unclear_is_told(void **state)
{
    (void)state;
    struct vd_front_matter f = {0};
    assert_int_equal(vd_front_matter_split(VD_SLICE("---\na: 1\n"), &f), VD_FRONT_MATTER_UNCLOSED);
    assert_int_equal(vd_front_matter_split(VD_SLICE("---"), &f), VD_FRONT_MATTER_UNCLOSED);
    assert_int_equal(vd_front_matter_split(VD_SLICE("---\na: 1\n--- x\n---\n"), &f),
                     VD_FRONT_MATTER_UNCLEAR);
    assert_int_equal(f.at.line, 3);
    assert_int_equal(vd_front_matter_split(VD_SLICE("---\na: 1\n---\t\n"), &f),
                     VD_FRONT_MATTER_UNCLEAR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_body_is_kept_byte_for_byte),
        cmocka_unit_test(crlf_and_a_byte_order_mark_are_taken),
        cmocka_unit_test(markers_inside_values_do_not_end_it),
        cmocka_unit_test(other_files_have_none),
        cmocka_unit_test(an_end_that_is_missing_or_unclear_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
