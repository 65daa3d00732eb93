/* src/git/report.c: order, limits, and the three ways to write a report. */
#include "git/report.h"

#include "base/limits.h"
#include "check.h"

static void add(struct vd_git_report *r, enum vd_git_severity severity, const char *path,
                unsigned line, unsigned column, const char *field, const char *reason)
{
    vd_git_report_add(r, severity, vd_slice_of(path), (struct vd_yaml_position){line, column},
                      vd_slice_of(field), "%s", reason);
}

static void check_text(const struct vd_git_report *r,
                       void (*write)(struct vd_buf *out, const struct vd_git_report *r),
                       const char *want)
{
    struct vd_buf out = {0};
    write(&out, r);
    assert_string_equal(vd_buf_text(&out), want);
    vd_buf_release(&out);
}

static void findings_are_sorted_by_place(void **state)
{
    (void)state;
    struct vd_git_report r = {0};
    add(&r, VD_GIT_ERROR, "b.md", 2, 1, "spec", "third");
    add(&r, VD_GIT_ERROR, "a.md", 10, 2, "spec.b", "second");
    add(&r, VD_GIT_WARNING, "a.md", 9, 7, "", "first");
    add(&r, VD_GIT_ERROR, "b.md", 2, 1, "spec", "fourth");
    add(&r, VD_GIT_ERROR, "a.md", 0, 0, "", "whole");
    vd_git_report_sort(&r);
    check_text(&r, vd_git_report_write_text,
               "a.md: whole\n"
               "a.md:9:7: warning: first\n"
               "a.md:10:2: spec.b: second\n"
               "b.md:2:1: spec: third\n"
               "b.md:2:1: spec: fourth\n");
    assert_true(vd_git_report_has_errors(&r));
    vd_git_report_release(&r);
    check_text(&r, vd_git_report_write_text, "");
}

static void json_and_github_say_the_same(void **state)
{
    (void)state;
    struct vd_git_report r = {0};
    add(&r, VD_GIT_ERROR, "a,b:c.md", 3, 5, "spec.x", "100% wrong\nindeed");
    add(&r, VD_GIT_WARNING, "d\xff.md", 0, 0, "", "odd");
    vd_git_report_sort(&r);
    check_text(&r, vd_git_report_write_github,
               "::error file=a%2Cb%3Ac.md,line=3,col=5::spec.x: 100%25 wrong\\nindeed\n"
               "::warning file=d\xff.md::odd\n");
    check_text(&r, vd_git_report_write_json,
               "{\n"
               "  \"errors\": 1,\n"
               "  \"warnings\": 1,\n"
               "  \"findings\": [\n"
               "    {\n"
               "      \"path\": \"a,b:c.md\",\n"
               "      \"line\": 3,\n"
               "      \"column\": 5,\n"
               "      \"field\": \"spec.x\",\n"
               "      \"reason\": \"100% wrong\\nindeed\",\n"
               "      \"severity\": \"error\"\n"
               "    },\n"
               "    {\n"
               "      \"path\": \"d\\\\xff.md\",\n"
               "      \"line\": 0,\n"
               "      \"column\": 0,\n"
               "      \"field\": \"\",\n"
               "      \"reason\": \"odd\",\n"
               "      \"severity\": \"warning\"\n"
               "    }\n"
               "  ]\n"
               "}\n");
    vd_git_report_release(&r);
}

static void a_terminal_gets_no_control_characters(void **state)
{
    (void)state;
    struct vd_git_report r = {0};
    add(&r, VD_GIT_ERROR, "a\033[2J\n\xff.md", 1, 1,
        "\xC2\x9B"
        "x",
        "\xE2\x80\xAE"
        "abc \xC3\xA9");
    check_text(&r, vd_git_report_write_text,
               "a\\u001b[2J\\n\\xff.md:1:1: \\u009bx: \\u202eabc \xC3\xA9\n");
    vd_git_report_release(&r);
}

static void what_is_too_much_is_counted(void **state)
{
    (void)state;
    struct vd_git_report r = {.kept_max = 2};
    for (unsigned i = 1; i <= 5; i++)
        add(&r, VD_GIT_ERROR, "a", i, 1, "", "e");
    for (unsigned i = 1; i <= 3; i++)
        add(&r, VD_GIT_WARNING, "b", i, 1, "", "w");
    vd_git_report_sort(&r);
    check_text(&r, vd_git_report_write_text,
               "a:1:1: e\na:2:1: e\nb:1:1: warning: w\nb:2:1: warning: w\n"
               "and 3 more errors\nand 1 more warning\n");
    vd_git_report_release(&r);
}

static void memory_is_bounded_by_bytes(void **state)
{
    (void)state;
    struct vd_git_report r = {.kept_max = SIZE_MAX};
    static char reason[100000];
    memset(reason, 'x', sizeof reason - 1);
    for (unsigned i = 0; i < 2000; i++)
        add(&r, VD_GIT_ERROR, reason, i, 1, reason, reason);
    assert_int_equal(r.found[VD_GIT_ERROR], 2000);
    assert_true(r.kept[VD_GIT_ERROR] > 100);
    assert_true(r.arena.total < 4 * VD_GIT_REPORT_LEN_MAX); /* long texts leave room in chunks */
    assert_int_equal(r.findings.p[0].reason.n, VD_GIT_REASON_LEN_MAX);
    vd_git_report_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_are_sorted_by_place),
        cmocka_unit_test(json_and_github_say_the_same),
        cmocka_unit_test(a_terminal_gets_no_control_characters),
        cmocka_unit_test(what_is_too_much_is_counted),
        cmocka_unit_test(memory_is_bounded_by_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
