/* What tests of folders of repositories share: the folder that these are in, on a real disk. */
#ifndef VD_TESTS_ROOT_FOLDER_H
#define VD_TESTS_ROOT_FOLDER_H

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "check.h"
#include "fixture.h"
#include "git/bare_repository.h"

static char *root;

static inline int set_up(void **state)
{
    struct vd_error error;
    (void)state;
    root = temp_folder_new();
    return vd_bare_repository_make_root(root, "/bin/true", &error);
}

static inline int tear_down(void **state)
{
    (void)state;
    temp_folder_remove(root);
    return 0;
}

static inline const char *path_of(const char *below)
{
    static struct vd_buf path;
    vd_buf_reset(&path);
    vd_buf_addf(&path, "%s/%s", root, below);
    return vd_buf_text(&path);
}

static inline bool is_there(const char *below)
{
    struct stat found;
    return lstat(path_of(below), &found) == 0;
}

static inline void write_text(const char *below, const char *text)
{
    int fd = open(path_of(below), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

#endif
