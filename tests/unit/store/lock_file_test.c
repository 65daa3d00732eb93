/* src/store/lock_file.h: one process per data folder. */
#include "store/lock_file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "check.h"
#include "fixture.h"

static int setup(void **state)
{
    *state = temp_folder_new();
    return 0;
}

static int teardown(void **state)
{
    temp_folder_remove(*state);
    return 0;
}

/* A process that holds the lock until it is killed. */
static pid_t holder_start(const char *folder)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct vd_lock_file lock;
        char code = (char)vd_lock_file_open(&lock, folder, NULL);
        if (write(ready[1], &code, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    char code = -1;
    assert_int_equal(read(ready[0], &code, 1), 1);
    assert_int_equal(code, VD_OK);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void holder_kill(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_second_process_is_told_who_has_it(void **state)
{
    const char *folder = *state;
    struct vd_lock_file lock;
    struct vd_error error;
    char wanted[64];
    pid_t pid = holder_start(folder);
    assert_code(vd_lock_file_open(&lock, folder, &error), VD_ERR_LOCKED);
    snprintf(wanted, sizeof wanted, "process %ld", (long)pid);
    assert_says(&error, wanted);
    assert_says(&error, folder);
    assert_int_equal(lock.fd, -1);
    vd_lock_file_close(&lock);
    holder_kill(pid);
}

static void kill_9_frees_it(void **state)
{
    const char *folder = *state;
    struct vd_lock_file lock;
    struct vd_error error;
    holder_kill(holder_start(folder));
    assert_ok(vd_lock_file_open(&lock, folder, &error), &error);
    vd_lock_file_close(&lock);
    holder_kill(holder_start(folder)); /* after closing, another process gets the lock */
}

static void it_excludes_within_one_process_too(void **state)
{
    const char *folder = *state;
    struct vd_lock_file lock, second;
    struct vd_error error;
    char wanted[64];
    assert_ok(vd_lock_file_open(&lock, folder, &error), &error);
    assert_code(vd_lock_file_open(&second, folder, &error), VD_ERR_LOCKED);
    snprintf(wanted, sizeof wanted, "process %ld", (long)getpid());
    assert_says(&error, wanted);
    vd_lock_file_close(&lock);
    assert_int_equal(lock.fd, -1);
    vd_lock_file_close(&lock);
    assert_ok(vd_lock_file_open(&second, folder, &error), &error);
    vd_lock_file_close(&second);
}

static void an_unreadable_file_names_another_process(void **state)
{
    const char *folder = *state;
    struct vd_lock_file lock, second;
    struct vd_error error;
    assert_ok(vd_lock_file_open(&lock, folder, &error), &error);
    static const char *const contents[] = {"", "what?\n", "99999999999999999999999999999\n"};
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        assert_int_equal(ftruncate(lock.fd, 0), 0);
        size_t n = strlen(contents[i]);
        assert_int_equal(pwrite(lock.fd, contents[i], n, 0), n);
        assert_code(vd_lock_file_open(&second, folder, &error), VD_ERR_LOCKED);
        assert_says(&error, "another process");
    }
    vd_lock_file_close(&lock);
}

static void a_long_name_of_an_earlier_holder_leaves_nothing_behind(void **state)
{
    const char *folder = *state;
    struct vd_lock_file lock;
    struct vd_error error;
    char text[64] = {0}, wanted[64];
    assert_ok(vd_lock_file_open(&lock, folder, &error), &error);
    assert_int_equal(pwrite(lock.fd, "12345678901234567890\n", 21, 0), 21);
    vd_lock_file_close(&lock);
    assert_ok(vd_lock_file_open(&lock, folder, &error), &error);
    ssize_t n = pread(lock.fd, text, sizeof text - 1, 0);
    assert_true(n > 0);
    snprintf(wanted, sizeof wanted, "%ld\n", (long)getpid());
    assert_string_equal(text, wanted);
    vd_lock_file_close(&lock);
}

static void the_folder_is_made_but_not_its_parents(void **state)
{
    struct vd_buf path = {0};
    struct vd_lock_file lock;
    struct vd_error error;
    struct stat s;
    vd_buf_addf(&path, "%s/data", (const char *)*state);
    assert_ok(vd_lock_file_open(&lock, vd_buf_text(&path), &error), &error);
    vd_lock_file_close(&lock);
    assert_int_equal(stat(vd_buf_text(&path), &s), 0);
    assert_int_equal(s.st_mode & 077, 0); /* only the owner may use the file */
    vd_buf_add_text(&path, "/a/b/c");
    assert_code(vd_lock_file_open(&lock, vd_buf_text(&path), &error), VD_ERR_IO);
    assert_says(&error, "/a/b/c");
    assert_says(&error, "No such file");
    vd_buf_release(&path);
}

static void a_file_in_the_folder_s_place_is_an_error(void **state)
{
    struct vd_buf path = {0};
    struct vd_lock_file lock;
    struct vd_error error;
    vd_buf_addf(&path, "%s/file", (const char *)*state);
    int fd = open(vd_buf_text(&path), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_code(vd_lock_file_open(&lock, vd_buf_text(&path), &error), VD_ERR_IO);
    assert_says(&error, "is not a folder: choose another");
    vd_buf_release(&path);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_second_process_is_told_who_has_it),
        IN_FOLDER(kill_9_frees_it),
        IN_FOLDER(it_excludes_within_one_process_too),
        IN_FOLDER(an_unreadable_file_names_another_process),
        IN_FOLDER(a_long_name_of_an_earlier_holder_leaves_nothing_behind),
        IN_FOLDER(the_folder_is_made_but_not_its_parents),
        IN_FOLDER(a_file_in_the_folder_s_place_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
