/* See lock_file.h. The file is not removed at the end: removing it would let two processes hold
 * locks on two files of the same name. */
#include "store/lock_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/errno_advice.h"

enum {
    FOLDER_MODE = 0700, /* only its owner enters the folder */
    FILE_MODE = 0600,   /* only its owner reads the file */
};

/* Writes "process 4711", or "another process" if the file does not name one. */
static void describe_holder(int fd, char *out, size_t cap)
{
    char pid[32] = {0};
    ssize_t n = pread(fd, pid, sizeof pid - 1, 0);
    struct vd_slice text = vd_slice_trim(vd_slice(pid, n > 0 ? (size_t)n : 0));
    uint64_t number;
    if (vd_slice_to_u64(text, &number) == 0)
        snprintf(out, cap, "process %llu", (unsigned long long)number);
    else
        snprintf(out, cap, "another process");
}

static int take(int fd, const char *folder, struct vd_error *error)
{
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        char holder[64];
        if (errno != EWOULDBLOCK)
            return vd_error_set(error, VD_ERR_IO, "could not lock the data folder %s: %s", folder,
                                strerror(errno));
        describe_holder(fd, holder, sizeof holder);
        return vd_error_set(error, VD_ERR_LOCKED,
                            "the data folder %s is in use by %s: stop it first, or use another "
                            "folder",
                            folder, holder);
    }
    char pid[32];
    int n = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)n, 0) != n) {
        /* A process id that cannot be written is ignored: it is only for the message that other
         * processes get, and a full disk must not keep the store from being opened and read. */
    }
    return VD_OK;
}

int vd_lock_file_open(struct vd_lock_file *lock, const char *folder, struct vd_error *error)
{
    lock->fd = -1;
    if (mkdir(folder, FOLDER_MODE) != 0 && errno != EEXIST)
        return vd_error_set(error, VD_ERR_IO, "could not make the data folder %s: %s%s", folder,
                            strerror(errno),
                            errno == ENOENT ? ": make the folder above it first, or choose another"
                                            : vd_errno_advice(errno));
    struct vd_buf path = {0};
    vd_buf_addf(&path, "%s/lock", folder);
    int fd = open(vd_buf_text(&path), O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
    int code = VD_OK;
    if (fd < 0 && errno == ENOTDIR)
        code = vd_error_set(error, VD_ERR_IO,
                            "the data folder %s is not a folder: choose another, or move away what "
                            "stands there",
                            folder);
    else if (fd < 0)
        code = vd_error_set(error, VD_ERR_IO, "could not open %s: %s%s", vd_buf_text(&path),
                            strerror(errno), vd_errno_advice(errno));
    else
        code = take(fd, folder, error);
    vd_buf_release(&path);
    if (code && fd >= 0)
        close(fd);
    if (!code)
        lock->fd = fd;
    return code;
}

void vd_lock_file_close(struct vd_lock_file *lock)
{
    if (lock->fd >= 0)
        close(lock->fd);
    lock->fd = -1;
}
