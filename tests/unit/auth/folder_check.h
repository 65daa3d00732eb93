/* For tests that work in a folder: a fresh one in *state for each, and what is in it. */
#ifndef VD_TESTS_FOLDER_CHECK_H
#define VD_TESTS_FOLDER_CHECK_H

#include <sys/stat.h>

#include "auth/private_file.h"
#include "base/buf.h"
#include "check.h"
#include "fixture.h"

static inline int folder_setup(void **state)
{
    *state = temp_folder_new();
    return 0;
}

static inline int folder_teardown(void **state)
{
    temp_folder_remove(*state);
    return 0;
}

#define folder_test(f) cmocka_unit_test_setup_teardown(f, folder_setup, folder_teardown)

/* FOLDER/FILE in `room`. */
static inline const char *path_in(struct vd_buf *room, const char *folder, const char *file)
{
    vd_buf_reset(room);
    vd_buf_addf(room, "%s/%s", folder, file);
    return vd_buf_text(room);
}

/* The mode's permission bits; -1 when there is no such file. */
static inline int mode_of(const char *folder, const char *file)
{
    struct vd_buf path = {0};
    struct stat s;
    int mode = stat(path_in(&path, folder, file), &s) == 0 ? (int)(s.st_mode & 07777) : -1;
    vd_buf_release(&path);
    return mode;
}

/* The file's bytes, to be freed. */
static inline char *text_of(const char *folder, const char *file)
{
    struct vd_buf path = {0}, text = {0};
    struct vd_error error = {0};
    size_t n;
    assert_ok(vd_private_file_read(&text, path_in(&path, folder, file), 1 << 20, &error), &error);
    vd_buf_release(&path);
    vd_buf_add_text(&text, "");
    vd_buf_reserve(&text, 1);
    return vd_buf_take(&text, &n);
}

static inline void write_text(const char *folder, const char *file, const char *text)
{
    struct vd_buf path = {0};
    struct vd_error error = {0};
    assert_ok(
        vd_private_file_replace(path_in(&path, folder, file), vd_slice_of(text), 0600, &error),
        &error);
    vd_buf_release(&path);
}

#endif
