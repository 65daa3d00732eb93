/*
 * See work_tree.h. Folders wait in a list instead of on the stack, so that a deep tree needs
 * neither recursion nor an open file for each level.
 */
#include "work_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/manifest.h"

/* Folders that were found and not read yet; "" is the root. */
struct folders {
    VD_VEC(struct vd_slice) list;
};

static void add_problem(struct vd_work_tree *t, struct vd_slice path)
{
    *VD_VEC_PUSH(&t->problems) = (struct vd_work_tree_problem){path, strerror(errno)};
}

static struct vd_slice path_of(struct vd_work_tree *t, struct vd_slice folder, const char *name)
{
    struct vd_buf path = {0};
    vd_buf_addf(&path, "%.*s%s%s", VD_FMT(folder), folder.n ? "/" : "", name);
    struct vd_slice made = vd_arena_copy(&t->arena, vd_buf_slice(&path));
    vd_buf_release(&path);
    return made;
}

/* Whether the folder is a work tree of its own. */
static bool is_submodule(int folder, const char *name)
{
    struct stat about;
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool found = fd >= 0 && fstatat(fd, ".git", &about, AT_SYMLINK_NOFOLLOW) == 0;
    if (fd >= 0)
        close(fd);
    return found;
}

static void add_entry(struct vd_work_tree *t, struct folders *folders, int folder_fd,
                      struct vd_slice folder, const char *name)
{
    struct vd_slice path = path_of(t, folder, name);
    struct stat about;
    if (fstatat(folder_fd, name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
        add_problem(t, path);
        return;
    }
    if (S_ISDIR(about.st_mode) && !is_submodule(folder_fd, name)) {
        *VD_VEC_PUSH(&folders->list) = path;
        return;
    }
    if (!S_ISDIR(about.st_mode) && !S_ISREG(about.st_mode) && !S_ISLNK(about.st_mode))
        return; /* a socket or the like, which Git does not know */
    *VD_VEC_PUSH(&t->entries) = (struct vd_work_tree_entry){
        .path = path,
        .mode = S_ISDIR(about.st_mode)   ? VD_GIT_MODE_SUBMODULE
                : S_ISLNK(about.st_mode) ? VD_GIT_MODE_SYMLINK
                                         : 0100644,
        .len = (uint64_t)about.st_size,
    };
}

static void read_folder(struct vd_work_tree *t, struct folders *folders, struct vd_slice folder)
{
    int fd = openat(t->fd, folder.n ? folder.p : ".",
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        add_problem(t, folder);
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            strcmp(entry->d_name, ".git") != 0)
            add_entry(t, folders, fd, folder, entry->d_name);
    closedir(dir);
}

static int entry_cmp(const void *a, const void *b)
{
    return vd_slice_cmp(((const struct vd_work_tree_entry *)a)->path,
                        ((const struct vd_work_tree_entry *)b)->path);
}

int vd_work_tree_open(struct vd_work_tree *t, const char *folder, struct vd_error *error)
{
    struct folders folders = {0};
    *t = (struct vd_work_tree){.fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (t->fd < 0)
        return vd_error_set(error, VD_ERR_IO, "%s: %s", folder, strerror(errno));
    *VD_VEC_PUSH(&folders.list) = VD_SLICE("");
    while (folders.list.n) {
        struct vd_slice next = folders.list.p[--folders.list.n];
        read_folder(t, &folders, next);
    }
    VD_VEC_RELEASE(&folders.list);
    if (t->entries.n)
        qsort(t->entries.p, t->entries.n, sizeof *t->entries.p, entry_cmp);
    return VD_OK;
}

void vd_work_tree_close(struct vd_work_tree *t)
{
    if (t->fd >= 0)
        close(t->fd);
    VD_VEC_RELEASE(&t->entries);
    VD_VEC_RELEASE(&t->problems);
    vd_arena_release(&t->arena);
}

const char *vd_work_tree_read(const struct vd_work_tree *t, struct vd_slice path, size_t len_max,
                              struct vd_buf *out)
{
    char room[65536];
    ssize_t n = 0;
    size_t left = len_max + 1;
    int fd = openat(t->fd, path.p, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return strerror(errno);
    while (left && (n = read(fd, room, left < sizeof room ? left : sizeof room)) > 0) {
        vd_buf_add(out, room, (size_t)n);
        left -= (size_t)n;
    }
    const char *reason = n < 0 ? strerror(errno) : NULL;
    close(fd);
    return reason;
}
