/* src/git/bare_repository.c: folders of repositories on a real disk, with the real git. */
#include "git/bare_repository.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "root_folder.h"

#define UID  "0f1e2d3c-4b5a-4697-8877-665544332211"
#define UID2 "1f1e2d3c-4b5a-4697-8877-665544332211"
#define ID   "0123456789012345678901234567890123456789"

static void assert_text(const char *below, const char *want)
{
    char text[256] = "";
    int fd = open(path_of(below), O_RDONLY);
    assert_true(fd >= 0);
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    assert_true(n >= 0);
    assert_string_equal(text, want);
}

static void make(const char *uid, const char *branch)
{
    struct vd_error error;
    assert_int_equal(vd_bare_repository_make(root, uid, vd_slice_of(branch), &error), VD_OK);
}

static void git_takes_what_was_made_for_a_repository(void **state)
{
    (void)state;
    struct vd_buf command = {0};
    make(UID, "trunk");
    vd_buf_addf(&command,
                "test \"$(git --git-dir=%s/" UID ".git symbolic-ref HEAD)\" = refs/heads/trunk && "
                "git --git-dir=%s/" UID ".git fsck",
                root, root);
    assert_int_equal(system(vd_buf_text(&command)), 0);
    vd_buf_release(&command);
}

static void making_it_again_changes_nothing(void **state)
{
    (void)state;
    make(UID, "main");
    write_text(UID ".git/HEAD", "ref: refs/heads/kept\n");
    make(UID, "main");
    assert_text(UID ".git/HEAD", "ref: refs/heads/kept\n");
    assert_false(is_there(UID ".new"));
}

static void what_was_half_made_is_made_anew(void **state)
{
    (void)state;
    assert_int_equal(mkdir(path_of(UID ".new"), 0700), 0);
    write_text(UID ".new/HEAD", "rubbish");
    make(UID, "main");
    assert_text(UID ".git/HEAD", "ref: refs/heads/main\n");
    assert_false(is_there(UID ".new"));
}

static void head_follows_the_default_branch(void **state)
{
    (void)state;
    struct vd_error error;
    make(UID, "main");
    assert_int_equal(vd_bare_repository_set_head(root, UID, VD_SLICE("a/b"), &error), VD_OK);
    assert_text(UID ".git/HEAD", "ref: refs/heads/a/b\n");
    write_text(UID ".git/HEAD.lock", "");
    assert_int_equal(vd_bare_repository_set_head(root, UID, VD_SLICE("a/b"), &error), VD_OK);
    assert_int_equal(vd_bare_repository_set_head(root, UID, VD_SLICE("c"), &error), VD_ERR_IO);
    assert_non_null(strstr(error.text, "HEAD.lock"));
}

static void pushes_into_the_folder_run_the_hooks_also_of_old_folders(void **state)
{
    (void)state;
    static const char old[] = "[core]\n\tbare = true\n[uploadpack]\n\tallowFilter = false";
    struct vd_error error;
    make(UID, "main");
    assert_text(UID ".git/config", "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n"
                                   "\tbare = true\n\thooksPath = ../hooks\n");
    write_text(UID ".git/config", old);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(vd_bare_repository_refuse_direct(root, UID, &error), VD_OK);
        assert_text(UID ".git/config", "[core]\n\tbare = true\n[uploadpack]\n\tallowFilter = false"
                                       "\n[core]\n\thooksPath = ../hooks\n");
    }
}

static void refs_are_read_from_files_and_from_the_packed_ones(void **state)
{
    (void)state;
    char id[VD_OBJECT_ID_TEXT_MAX];
    struct vd_error error;
    make(UID, "main");
    write_text(UID ".git/refs/heads/main", ID "\n");
    write_text(UID ".git/packed-refs", "# pack-refs with: peeled fully-peeled sorted \n"
                                       "9999999999999999999999999999999999999999 refs/heads/main\n"
                                       "8888888888888888888888888888888888888888 refs/heads/old\n"
                                       "^7777777777777777777777777777777777777777\n");
    assert_int_equal(
        vd_bare_repository_read_ref(root, UID, VD_SLICE("refs/heads/main"), id, &error), VD_OK);
    assert_string_equal(id, ID);
    assert_int_equal(vd_bare_repository_read_ref(root, UID, VD_SLICE("refs/heads/old"), id, &error),
                     VD_OK);
    assert_string_equal(id, "8888888888888888888888888888888888888888");
    assert_int_equal(
        vd_bare_repository_read_ref(root, UID, VD_SLICE("refs/heads/none"), id, &error), VD_OK);
    assert_string_equal(id, "");
    assert_int_equal(vd_bare_repository_read_ref(root, UID, VD_SLICE("refs/heads"), id, &error),
                     VD_OK);
    assert_string_equal(id, "");
}

static void count_one(void *arg, struct vd_slice uid)
{
    assert_true(vd_slice_is(uid, UID) || vd_slice_is(uid, UID2));
    ++*(size_t *)arg;
}

static void a_removed_one_is_gone_and_the_list_has_the_others(void **state)
{
    (void)state;
    struct vd_error error;
    size_t n = 0;
    make(UID, "main");
    make(UID2, "main");
    assert_int_equal(mkdir(path_of("other.new"), 0700), 0);
    assert_int_equal(mkdir(path_of("another.gone"), 0700), 0);
    assert_int_equal(vd_bare_repository_list(root, count_one, &n, &error), VD_OK);
    assert_int_equal(n, 2);
    assert_false(is_there("other.new"));
    assert_false(is_there("another.gone"));
    assert_int_equal(vd_bare_repository_remove(root, UID, &error), VD_OK);
    assert_false(is_there(UID ".git"));
    assert_false(is_there(UID ".gone"));
    assert_true(is_there(UID2 ".git"));
    assert_int_equal(vd_bare_repository_remove(root, UID, &error), VD_OK);
    assert_true(is_there("hooks/pre-receive"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(git_takes_what_was_made_for_a_repository),
        TEST(making_it_again_changes_nothing),
        TEST(what_was_half_made_is_made_anew),
        TEST(head_follows_the_default_branch),
        TEST(pushes_into_the_folder_run_the_hooks_also_of_old_folders),
        TEST(refs_are_read_from_files_and_from_the_packed_ones),
        TEST(a_removed_one_is_gone_and_the_list_has_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
