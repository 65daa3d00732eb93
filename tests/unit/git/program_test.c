/* src/git/program.c: finding git, and reading its version. */
#include "git/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "check.h"
#include "fixture.h"

static void a_version_is_read_whatever_follows_it(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned major, minor;
    } good[] = {{"git version 2.39.5", 2, 39},
                {"git version 2.31.0.windows.1", 2, 31},
                {"git version 2.51.rc1 (a build)", 2, 51},
                {"git version 3.0", 3, 0}};
    static const char *const bad[] = {
        "", "git", "git version ", "git version x.1", "git version 2", "2.39", "git version 2.x"};
    struct vd_git_version v;
    struct vd_error error;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(vd_git_version_parse(vd_slice_of(good[i].text), &v, &error), VD_OK);
        assert_int_equal(v.major, good[i].major);
        assert_int_equal(v.minor, good[i].minor);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(vd_git_version_parse(vd_slice_of(bad[i]), &v, &error), VD_ERR_FORMAT);
}

/* A program of that name that prints a text for each option. */
static void write_git(const char *folder, const char *script)
{
    struct vd_buf path = {0};
    vd_buf_addf(&path, "%s/git", folder);
    FILE *f = fopen(vd_buf_text(&path), "w");
    assert_non_null(f);
    assert_true(fputs(script, f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(vd_buf_text(&path), 0700), 0);
    vd_buf_release(&path);
}

static void the_git_of_the_machine_is_found(void **state)
{
    (void)state;
    struct vd_git_program program;
    struct vd_error error;
    assert_int_equal(vd_git_program_open(&program, getenv("PATH"), &error), VD_OK);
    assert_int_equal(program.path[0], '/');
    assert_int_equal(program.exec_path[0], '/');
    assert_true(vd_git_program_is(&program, VD_GIT_MAJOR_MIN, VD_GIT_MINOR_MIN));
    assert_false(vd_git_program_is(&program, 1000, 0));
    vd_git_program_close(&program);
}

static void the_first_folder_with_a_git_wins_and_relative_ones_do_not_count(void **state)
{
    (void)state;
    char *folder = temp_folder_new();
    struct vd_buf path = {0}, want = {0};
    struct vd_git_program program;
    struct vd_error error;
    write_git(folder,
              "#!/bin/sh\ncase $1 in --version) echo git version 2.77.1;; *) echo /x;; esac\n");
    vd_buf_addf(&path, ".::bin:/nowhere:%s:/usr/bin:/bin", folder);
    vd_buf_addf(&want, "%s/git", folder);
    assert_int_equal(vd_git_program_open(&program, vd_buf_text(&path), &error), VD_OK);
    assert_string_equal(program.path, vd_buf_text(&want));
    assert_string_equal(program.exec_path, "/x");
    assert_int_equal(program.version.minor, 77);
    vd_git_program_close(&program);
    vd_buf_release(&path);
    vd_buf_release(&want);
    temp_folder_remove(folder);
}

static void what_cannot_be_used_is_refused_with_the_reason(void **state)
{
    (void)state;
    static const struct {
        const char *script, *says;
        int code;
    } cases[] = {
        {"#!/bin/sh\necho git version 2.30.9\n", "need 2.36 or later", VD_ERR_FORMAT},
        {"#!/bin/sh\necho something else\n", "names no version", VD_ERR_FORMAT},
        {"#!/bin/sh\nexit 3\n", "does not answer", VD_ERR_IO},
        {"#!/no/such/shell\n", "cannot be run", VD_ERR_IO},
        {"#!/bin/sh\n[ $1 = --version ] && echo git version 2.50.0\nexit 0\n", "names no folder",
         VD_ERR_FORMAT},
    };
    char *folder = temp_folder_new();
    struct vd_git_program program;
    struct vd_error error;
    assert_int_equal(vd_git_program_open(&program, folder, &error), VD_ERR_NOT_FOUND);
    assert_non_null(strstr(error.text, "install git"));
    assert_int_equal(vd_git_program_open(&program, NULL, &error), VD_ERR_NOT_FOUND);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_git(folder, cases[i].script);
        assert_int_equal(vd_git_program_open(&program, folder, &error), cases[i].code);
        assert_non_null(strstr(error.text, cases[i].says));
        assert_null(program.path);
    }
    temp_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_version_is_read_whatever_follows_it),
        cmocka_unit_test(the_git_of_the_machine_is_found),
        cmocka_unit_test(the_first_folder_with_a_git_wins_and_relative_ones_do_not_count),
        cmocka_unit_test(what_cannot_be_used_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
