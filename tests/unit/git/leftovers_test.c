/* src/git/leftovers.c: what killed processes leave in a folder on a real disk. */
#include "git/leftovers.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "git/bare_repository.h"
#include "root_folder.h"

#define UID "0f1e2d3c-4b5a-4697-8877-665544332211"

static void make(const char *uid, const char *branch)
{
    struct vd_error error;
    assert_int_equal(vd_bare_repository_make(root, uid, vd_slice_of(branch), &error), VD_OK);
}

static void locks_and_quarantines_are_cleaned_and_nothing_else(void **state)
{
    (void)state;
    static const char *const left[] = {UID ".git/HEAD.lock",
                                       UID ".git/packed-refs.lock",
                                       UID ".git/refs/heads/main.lock",
                                       UID ".git/refs/heads/a/b.lock",
                                       UID ".git/objects/pack/tmp_pack_x",
                                       UID ".git/objects/pack/.tmp-7-pack-x.idx",
                                       UID ".git/gc.pid",
                                       UID ".git/gc.log",
                                       UID ".git/objects/tmp_objdir-incoming-x/y",
                                       UID ".git/objects/incoming-x/y"};
    static const char *const kept[] = {UID ".git/refs/heads/main", UID ".git/refs/heads/a/b",
                                       UID ".git/objects/pack/pack-1.pack"};
    struct vd_error error;
    make(UID, "main");
    assert_int_equal(mkdir(path_of(UID ".git/refs/heads/a"), 0700), 0);
    assert_int_equal(mkdir(path_of(UID ".git/objects/tmp_objdir-incoming-x"), 0700), 0);
    assert_int_equal(mkdir(path_of(UID ".git/objects/incoming-x"), 0700), 0);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        write_text(left[i], "x");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        write_text(kept[i], "x");
    assert_int_equal(vd_leftovers_remove(root, UID, &error), VD_OK);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        assert_false(is_there(left[i]));
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_true(is_there(kept[i]));
    assert_false(is_there(UID ".git/objects/incoming-x"));
}

static void only_quarantines_that_rest_since_a_time_are_removed(void **state)
{
    (void)state;
    struct vd_error error;
    struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    make(UID, "main");
    assert_int_equal(mkdir(path_of(UID ".git/objects/tmp_objdir-incoming-old"), 0700), 0);
    assert_int_equal(mkdir(path_of(UID ".git/objects/tmp_objdir-incoming-new"), 0700), 0);
    write_text(UID ".git/objects/tmp_objdir-incoming-old/pack", "x");
    write_text(UID ".git/HEAD.lock", "");
    assert_int_equal(
        utimensat(AT_FDCWD, path_of(UID ".git/objects/tmp_objdir-incoming-old"), old, 0), 0);
    assert_int_equal(vd_leftovers_remove_quarantines(root, UID, 999999, &error), VD_OK);
    assert_true(is_there(UID ".git/objects/tmp_objdir-incoming-old"));
    assert_int_equal(vd_leftovers_remove_quarantines(root, UID, 1000000, &error), VD_OK);
    assert_false(is_there(UID ".git/objects/tmp_objdir-incoming-old"));
    assert_true(is_there(UID ".git/objects/tmp_objdir-incoming-new"));
    assert_true(is_there(UID ".git/HEAD.lock"));
}

/* A process in its own group, in the folder `below`, whose number gc.pid names. */
static pid_t start_gc(const char *below)
{
    char text[32];
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (setsid() < 0 || chdir(path_of(below)) || write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    assert_int_equal(read(ready[0], text, 1), 1);
    close(ready[0]);
    close(ready[1]);
    (void)snprintf(text, sizeof text, "%d host", (int)pid);
    write_text(UID ".git/gc.pid", text);
    return pid;
}

static void a_gc_that_outlived_its_server_is_ended(void **state)
{
    (void)state;
    struct vd_error error;
    int status = 0;
    make(UID, "main");
    (void)signal(SIGCHLD, SIG_IGN); /* the kernel reaps, as init would */
    pid_t gc = start_gc(UID ".git");
    assert_int_equal(vd_leftovers_remove(root, UID, &error), VD_OK);
    assert_int_equal(kill(gc, 0), -1);
    (void)signal(SIGCHLD, SIG_DFL);
    pid_t other = start_gc("hooks");
    assert_int_equal(vd_leftovers_remove(root, UID, &error), VD_OK);
    assert_int_equal(waitpid(other, &status, WNOHANG), 0);
    assert_false(is_there(UID ".git/gc.pid"));
    kill(other, SIGKILL);
    assert_int_equal(waitpid(other, &status, 0), other);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(locks_and_quarantines_are_cleaned_and_nothing_else),
        TEST(only_quarantines_that_rest_since_a_time_are_removed),
        TEST(a_gc_that_outlived_its_server_is_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
