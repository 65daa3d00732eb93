/* See private_file.h. The partial file is made anew each time, never followed
 * if it is a link, and has its mode from the first byte on. */
#include "auth/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errno_advice.h"

static int refuse(const char *what, const char *path, struct vd_error *error)
{
    int number = errno;
    return vd_error_set(error,
                        number == ENOENT                       ? VD_ERR_NOT_FOUND
                        : number == EEXIST                     ? VD_ERR_EXISTS
                        : number == ENOSPC || number == EDQUOT ? VD_ERR_FULL
                                                               : VD_ERR_IO,
                        "could not %s %s: %s%s", what, path, strerror(number),
                        vd_errno_advice(number));
}

int vd_private_file_read(struct vd_buf *out, const char *path, size_t len_max,
                         struct vd_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return refuse("open", path, error);
    int code = VD_OK;
    size_t before = out->n;
    for (ssize_t n = 1; n > 0 && !code;) {
        vd_buf_reserve(out, 4096);
        n = read(fd, out->p + out->n, 4096);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n < 0)
            code = refuse("read", path, error);
        else
            out->p[out->n += (size_t)n] = 0;
        if (out->n - before > len_max)
            code = vd_error_set(error, VD_ERR_LIMIT, "%s is longer than %zu bytes", path, len_max);
    }
    if (code)
        out->n = before;
    close(fd);
    return code;
}

static int write_all(int fd, struct vd_slice bytes)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno != EINTR)
            return -1;
        if (n > 0)
            bytes = vd_slice(bytes.p + n, bytes.n - (size_t)n);
    }
    return fsync(fd);
}

static const char *folder_of(struct vd_buf *out, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        vd_buf_add_text(out, ".");
    else
        vd_buf_add(out, path, slash == path ? 1 : (size_t)(slash - path));
    return vd_buf_text(out);
}

static int sync_folder_of(const char *path, struct vd_error *error)
{
    struct vd_buf folder = {0};
    int code = VD_OK;
    int fd = open(folder_of(&folder, path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0)
        code = refuse("sync", vd_buf_text(&folder), error);
    if (fd >= 0)
        close(fd);
    vd_buf_release(&folder);
    return code;
}

/* A file that root writes into the folder of another user, say with a tool into the folder of a
 * service, is given to that user, who could not read it otherwise. */
static int give_to_owner(int fd, const char *path)
{
    struct vd_buf folder = {0};
    struct stat s;
    int rc = 0;
    if (geteuid() == 0 && stat(folder_of(&folder, path), &s) == 0 && s.st_uid != 0)
        rc = fchown(fd, s.st_uid, s.st_gid);
    vd_buf_release(&folder);
    return rc;
}

static int write_partial(const char *path, struct vd_slice bytes, mode_t mode, bool give,
                         struct vd_error *error)
{
    if (unlink(path) != 0 && errno != ENOENT)
        return refuse("remove", path, error);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0)
        return refuse("make", path, error);
    int code = VD_OK;
    /* The mode is what was asked for, whatever the umask is. */
    if (fchmod(fd, mode) != 0 || (give && give_to_owner(fd, path) != 0) ||
        write_all(fd, bytes) != 0)
        code = refuse("write", path, error);
    close(fd);
    return code;
}

static int put(const char *path, struct vd_slice bytes, mode_t mode, bool replace,
               struct vd_error *error)
{
    struct vd_buf partial = {0};
    vd_buf_addf(&partial, "%s.partial", path);
    int code = write_partial(vd_buf_text(&partial), bytes, mode, replace, error);
    if (!code && replace && rename(vd_buf_text(&partial), path) != 0)
        code = refuse("rename a file to", path, error);
    /* link refuses an existing name, atomically, on every file system. */
    if (!code && !replace && link(vd_buf_text(&partial), path) != 0)
        code = refuse("make", path, error);
    if (code || !replace)
        unlink(vd_buf_text(&partial));
    if (!code)
        code = sync_folder_of(path, error);
    vd_buf_release(&partial);
    return code;
}

int vd_private_file_replace(const char *path, struct vd_slice bytes, mode_t mode,
                            struct vd_error *error)
{
    return put(path, bytes, mode, true, error);
}

int vd_private_file_create(const char *path, struct vd_slice bytes, mode_t mode,
                           struct vd_error *error)
{
    return put(path, bytes, mode, false, error);
}

int vd_private_folder_make(const char *path, struct vd_error *error)
{
    if (mkdir(path, VD_FOLDER_MODE_SECRET) == 0)
        return sync_folder_of(path, error);
    return errno == EEXIST ? VD_OK : refuse("make the folder", path, error);
}
