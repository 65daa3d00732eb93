/*
 * Small files with secrets or certificates, which are read whole, and written whole or not at all.
 *
 * A write goes to PATH.partial, is synced, renamed to its place, and the folder is synced. So a
 * reader, or a start after a power loss, finds the old file or the new one. The functions block and
 * are not for event loops.
 */
#ifndef VD_AUTH_PRIVATE_FILE_H
#define VD_AUTH_PRIVATE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"

enum {
    VD_FILE_MODE_SECRET = 0600,   /* a file that only its owner reads */
    VD_FILE_MODE_PUBLIC = 0644,   /* a file that everybody may read */
    VD_FOLDER_MODE_SECRET = 0700, /* a folder that only its owner enters */
};

/* Adds the file's bytes to `out`. VD_ERR_NOT_FOUND when there is none,
 * VD_ERR_LIMIT when it is longer than len_max. */
int vd_private_file_read(struct vd_buf *out, const char *path, size_t len_max,
                         struct vd_error *error) VD_MUST_USE;

/* Puts the file in place of whatever has the name. One that root writes belongs to the folder's
 * owner. */
int vd_private_file_replace(const char *path, struct vd_slice bytes, mode_t mode,
                            struct vd_error *error) VD_MUST_USE;

/* The same, but VD_ERR_EXISTS when something has the name already. */
int vd_private_file_create(const char *path, struct vd_slice bytes, mode_t mode,
                           struct vd_error *error) VD_MUST_USE;

/* Makes the folder (not its parents) when it is missing. */
int vd_private_folder_make(const char *path, struct vd_error *error) VD_MUST_USE;

#endif
