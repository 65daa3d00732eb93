/* See disk.h. */
#include "git/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errno_advice.h"

enum { WALK_FOLDERS = 16 }; /* that a walk has open */

int vd_disk_failed(struct vd_error *error, const char *what, const char *path)
{
    int reason = errno;
    enum vd_code code = reason == ENOSPC || reason == EDQUOT ? VD_ERR_FULL : VD_ERR_IO;
    return vd_error_set(error, code, "%s: cannot %s: %s%s", path, what, strerror(reason),
                        vd_errno_advice(reason));
}

bool vd_disk_exists(const char *path)
{
    struct stat found;
    return lstat(path, &found) == 0;
}

int vd_disk_make_folder(const char *path, struct vd_error *error)
{
    if (mkdir(path, 0700) && errno != EEXIST)
        return vd_disk_failed(error, "make the folder", path);
    return VD_OK;
}

int vd_disk_sync_folder(const char *path, struct vd_error *error)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && fsync(fd) == 0;
    int code = good ? VD_OK : vd_disk_failed(error, "sync the folder", path);
    if (fd >= 0)
        close(fd);
    return code;
}

static int remove_one(const char *path, const struct stat *found, int type, struct FTW *at)
{
    (void)found;
    (void)type;
    (void)at;
    return remove(path) && errno != ENOENT ? -1 : 0;
}

int vd_disk_remove(const char *path, struct vd_error *error)
{
    if (nftw(path, remove_one, WALK_FOLDERS, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
        return vd_disk_failed(error, "remove the folder", path);
    return VD_OK;
}

int vd_disk_write(const char *path, struct vd_slice text, struct vd_error *error)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return vd_disk_failed(error, "write the file", path);
    ssize_t n = write(fd, text.p, text.n);
    if (n >= 0 && (size_t)n < text.n)
        errno = ENOSPC;
    bool good = n == (ssize_t)text.n && fsync(fd) == 0;
    int code = good ? VD_OK : vd_disk_failed(error, "write the file", path);
    close(fd);
    return code;
}

int vd_disk_replace(const char *folder, const char *name, struct vd_slice text,
                    struct vd_error *error)
{
    struct vd_buf path = {0}, lock = {0};
    vd_buf_addf(&path, "%s/%s", folder, name);
    vd_buf_addf(&lock, "%s/%s.lock", folder, name);
    int code = vd_disk_write(vd_buf_text(&lock), text, error);
    if (!code && rename(vd_buf_text(&lock), vd_buf_text(&path)))
        code = vd_disk_failed(error, "replace the file", vd_buf_text(&path));
    if (!code)
        code = vd_disk_sync_folder(folder, error);
    vd_buf_release(&path);
    vd_buf_release(&lock);
    return code;
}

int vd_disk_read(const char *path, struct vd_buf *out, size_t max, struct vd_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t before = out->n;
    ssize_t n = fd >= 0 ? 1 : -1;
    vd_buf_reserve(out, max);
    while (n > 0 && out->n - before < max) {
        n = read(fd, out->p + out->n, max - (out->n - before));
        out->n += n > 0 ? (size_t)n : 0;
    }
    int code = VD_OK;
    if (n < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EISDIR))
        code = VD_ERR_NOT_FOUND;
    else if (n < 0)
        code = vd_disk_failed(error, "read the file", path);
    if (fd >= 0)
        close(fd);
    return code;
}
