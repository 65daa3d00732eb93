/*
 * Files and folders on the disk, as far as the Git face touches them itself. Errors name the path,
 * the system's words and the way out; a full disk is VD_ERR_FULL, all else VD_ERR_IO.
 *
 * All functions wait for the disk: for a thread that may.
 */
#ifndef VD_GIT_DISK_H
#define VD_GIT_DISK_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"

/* Makes an error of errno: "PATH: cannot WHAT: ...". */
int vd_disk_failed(struct vd_error *error, const char *what, const char *path);

bool vd_disk_exists(const char *path);

/* That the folder is there already is no error. */
int vd_disk_make_folder(const char *path, struct vd_error *error) VD_MUST_USE;

/* Has the names in a folder on the disk. */
int vd_disk_sync_folder(const char *path, struct vd_error *error) VD_MUST_USE;

/* Removes a file, or a folder with all that is in it. That it is not there is no error. */
int vd_disk_remove(const char *path, struct vd_error *error) VD_MUST_USE;

/* Writes a whole new file, and has it on the disk. */
int vd_disk_write(const char *path, struct vd_slice text, struct vd_error *error) VD_MUST_USE;

/* Puts a file in the place of another one, as git does: it is written as PATH.lock and renamed. The
 * folder is synced. */
int vd_disk_replace(const char *folder, const char *name, struct vd_slice text,
                    struct vd_error *error) VD_MUST_USE;

/* Adds the first `max` bytes of a file. VD_ERR_NOT_FOUND, and no error text: there is none, or a
 * folder in its place. */
int vd_disk_read(const char *path, struct vd_buf *out, size_t max,
                 struct vd_error *error) VD_MUST_USE;

#endif
