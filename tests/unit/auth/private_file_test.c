/* src/auth/private_file.c: whole files with the right mode, or none. */
#include "auth/private_file.h"

#include <unistd.h>

#include "folder_check.h"

static void a_file_has_its_mode_whatever_the_umask(void **state)
{
    struct vd_buf path = {0};
    struct vd_error error = {0};
    mode_t before = umask(0077);
    path_in(&path, *state, "a");
    assert_ok(vd_private_file_replace(vd_buf_text(&path), VD_SLICE("one"), 0644, &error), &error);
    umask(0);
    assert_int_equal(mode_of(*state, "a"), 0644);
    assert_ok(vd_private_file_replace(vd_buf_text(&path), VD_SLICE("two"), 0600, &error), &error);
    umask(before);
    assert_int_equal(mode_of(*state, "a"), 0600);
    assert_int_equal(mode_of(*state, "a.partial"), -1);
    char *text = text_of(*state, "a");
    assert_string_equal(text, "two");
    free(text);
    vd_buf_release(&path);
}

static void what_root_replaces_belongs_to_the_owner_of_the_folder(void **state)
{
    struct vd_buf path = {0};
    struct vd_error error = {0};
    struct stat s;
    if (geteuid() != 0) /* who cannot give files away has nothing to give */
        skip();
    assert_int_equal(chown(*state, 12345, 23456), 0);
    path_in(&path, *state, "tokens");
    assert_ok(vd_private_file_replace(vd_buf_text(&path), VD_SLICE("x"), 0600, &error), &error);
    assert_int_equal(stat(vd_buf_text(&path), &s), 0);
    assert_true(s.st_uid == 12345 && s.st_gid == 23456);
    assert_int_equal(s.st_mode & 07777, 0600);
    path_in(&path, *state, "other");
    assert_ok(vd_private_file_create(vd_buf_text(&path), VD_SLICE("x"), 0600, &error), &error);
    assert_int_equal(stat(vd_buf_text(&path), &s), 0);
    assert_true(s.st_uid == 0);
    vd_buf_release(&path);
}

static void create_keeps_what_exists(void **state)
{
    struct vd_buf path = {0};
    struct vd_error error = {0};
    path_in(&path, *state, "k");
    assert_ok(vd_private_file_create(vd_buf_text(&path), VD_SLICE("one"), 0600, &error), &error);
    assert_code(vd_private_file_create(vd_buf_text(&path), VD_SLICE("two"), 0600, &error),
                VD_ERR_EXISTS);
    assert_int_equal(mode_of(*state, "k.partial"), -1);
    char *text = text_of(*state, "k");
    assert_string_equal(text, "one");
    free(text);
    vd_buf_release(&path);
}

static void a_planted_link_is_not_followed(void **state)
{
    struct vd_buf path = {0}, link = {0}, victim = {0};
    struct vd_error error = {0};
    write_text(*state, "victim", "mine");
    assert_int_equal(
        symlink(path_in(&victim, *state, "victim"), path_in(&link, *state, "secret.partial")), 0);
    path_in(&path, *state, "secret");
    assert_ok(vd_private_file_replace(vd_buf_text(&path), VD_SLICE("s"), 0600, &error), &error);
    char *text = text_of(*state, "victim");
    assert_string_equal(text, "mine");
    free(text);
    vd_buf_release(&path);
    vd_buf_release(&link);
    vd_buf_release(&victim);
}

static void errors_name_the_file(void **state)
{
    struct vd_buf path = {0}, out = {0};
    struct vd_error error = {0};
    vd_buf_add_text(&out, "kept");
    assert_code(vd_private_file_read(&out, path_in(&path, *state, "none"), 10, &error),
                VD_ERR_NOT_FOUND);
    assert_says(&error, "/none: No such file");
    write_text(*state, "long", "0123456789a");
    assert_code(vd_private_file_read(&out, path_in(&path, *state, "long"), 10, &error),
                VD_ERR_LIMIT);
    assert_slice(vd_slice(out.p, out.n), "kept");
    assert_ok(vd_private_file_read(&out, path_in(&path, *state, "long"), 11, &error), &error);
    assert_slice(vd_buf_slice(&out), "kept0123456789a");
    assert_code(
        vd_private_file_replace(path_in(&path, *state, "no/where"), VD_SLICE(""), 0600, &error),
        VD_ERR_NOT_FOUND);
    assert_says(&error, "no/where.partial");
    assert_ok(vd_private_folder_make(path_in(&path, *state, "folder"), &error), &error);
    assert_ok(vd_private_folder_make(path_in(&path, *state, "folder"), &error), &error);
    assert_int_equal(mode_of(*state, "folder"), 0700);
    vd_buf_release(&path);
    vd_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        folder_test(a_file_has_its_mode_whatever_the_umask),
        folder_test(what_root_replaces_belongs_to_the_owner_of_the_folder),
        folder_test(create_keeps_what_exists),
        folder_test(a_planted_link_is_not_followed),
        folder_test(errors_name_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
