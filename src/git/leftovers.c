/* See leftovers.h. */
#include "git/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "git/bare_repository.h"
#include "git/disk.h"

enum {
    WALK_FOLDERS = 16, /* that a walk has open */
    GC_PID_MAX = 128,  /* bytes of gc.pid: "1234 host" */
    GC_END_MS = 2000   /* that a process which was killed may take to end */
};

/* ---- folders ---- */

/* Removes what `is_wanted` says of the names in this folder alone. A folder that is not there has
 * nothing in it. */
static int remove_from(const char *folder,
                       bool (*is_wanted)(const char *path, const char *name, const void *arg),
                       const void *arg, struct vd_error *error)
{
    struct vd_buf path = {0};
    int code = VD_OK;
    DIR *dir = opendir(folder);
    if (!dir)
        return errno == ENOENT ? VD_OK : vd_disk_failed(error, "read the folder", folder);
    for (struct dirent *entry; !code && (entry = readdir(dir));) {
        vd_buf_reset(&path);
        vd_buf_addf(&path, "%s/%s", folder, entry->d_name);
        if (is_wanted(vd_buf_text(&path), entry->d_name, arg))
            code = vd_disk_remove(vd_buf_text(&path), error);
    }
    closedir(dir);
    vd_buf_release(&path);
    return code;
}

static int remove_below(const char *root, const char *uid, const char *below,
                        bool (*is_wanted)(const char *path, const char *name, const void *arg),
                        const void *arg, struct vd_error *error)
{
    struct vd_buf folder = {0};
    vd_bare_repository_path(&folder, root, uid);
    vd_buf_add_text(&folder, below);
    int code = remove_from(vd_buf_text(&folder), is_wanted, arg, error);
    vd_buf_release(&folder);
    return code;
}

static bool is_quarantine(struct vd_slice name)
{
    return vd_slice_starts_with(name, VD_SLICE("incoming-")) ||
           vd_slice_starts_with(name, VD_SLICE("tmp_objdir-"));
}

/* Of a pack that is being written. */
static bool is_unfinished(struct vd_slice name)
{
    return vd_slice_starts_with(name, VD_SLICE("tmp_")) ||
           vd_slice_starts_with(name, VD_SLICE(".tmp-"));
}

static bool is_left_over(const char *path, const char *name, const void *arg)
{
    struct vd_slice n = vd_slice_of(name);
    (void)path;
    (void)arg;
    return is_quarantine(n) || is_unfinished(n) || vd_slice_ends_with(n, VD_SLICE(".lock")) ||
           vd_slice_is(n, "gc.pid") || vd_slice_is(n, "gc.log");
}

/* ---- a gc that has outlived its server ---- */

/* The process that gc.pid names, if it works in this folder and leads its process group, as those
 * of the server do; 0: it does not run. */
static pid_t gc_of(const char *folder)
{
    struct vd_buf path = {0}, text = {0};
    struct vd_error error;
    char where[4096] = "";
    vd_buf_addf(&path, "%s/gc.pid", folder);
    int code = vd_disk_read(vd_buf_text(&path), &text, GC_PID_MAX, &error);
    long pid = code ? 0 : strtol(vd_buf_text(&text), NULL, 10);
    if (pid > 1 && getpgid((pid_t)pid) == pid) {
        vd_buf_reset(&path);
        vd_buf_addf(&path, "/proc/%ld/cwd", pid);
        ssize_t n = readlink(vd_buf_text(&path), where, sizeof where - 1);
        where[n > 0 ? n : 0] = 0;
    }
    bool is_here = strcmp(where, folder) == 0;
    vd_buf_release(&path);
    vd_buf_release(&text);
    return is_here ? (pid_t)pid : 0;
}

/* The kernel does not kill it with the server, and it reads nothing that would end. */
static void end_gc(const char *folder)
{
    const struct vd_clock *clock = vd_clock_system();
    uint64_t until_ns = vd_clock_mono_ns(clock) + GC_END_MS * UINT64_C(1000000);
    pid_t pid = gc_of(folder);
    if (!pid)
        return;
    vd_log_info("an upkeep of a repository that has outlived the server is ended",
                VD_F_STR("folder", folder), VD_F_I64("pid", pid));
    kill(-pid, SIGKILL);
    while (gc_of(folder) && vd_clock_mono_ns(clock) < until_ns)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* ---- all of it ---- */

/* No ref's name ends in ".lock": git does not allow it. */
static int remove_lock(const char *path, const struct stat *found, int type, struct FTW *at)
{
    (void)found;
    bool lock = type == FTW_F &&
                vd_slice_ends_with(vd_slice_of(path + at->base), VD_SLICE(".lock"));
    return lock && unlink(path) ? -1 : 0;
}

int vd_leftovers_remove(const char *root, const char *uid, struct vd_error *error)
{
    static const char *const folders[] = {"", "/objects", "/objects/info", "/objects/pack"};
    struct vd_buf path = {0};
    int code = VD_OK;
    vd_bare_repository_path(&path, root, uid);
    end_gc(vd_buf_text(&path));
    for (size_t i = 0; !code && i < sizeof folders / sizeof *folders; i++)
        code = remove_below(root, uid, folders[i], is_left_over, NULL, error);
    vd_buf_add_text(&path, "/refs");
    if (!code && nftw(vd_buf_text(&path), remove_lock, WALK_FOLDERS, FTW_PHYS) && errno != ENOENT)
        code = vd_disk_failed(error, "remove the locks", vd_buf_text(&path));
    vd_buf_release(&path);
    return code;
}

/* ---- what is old enough ---- */

static bool is_older(const char *path, const void *until_ms)
{
    struct stat found;
    return lstat(path, &found) == 0 &&
           (int64_t)found.st_mtim.tv_sec * 1000 + found.st_mtim.tv_nsec / 1000000 <=
               *(const int64_t *)until_ms;
}

/* git writes into the folder itself only when it makes it. */
static bool is_old_quarantine(const char *path, const char *name, const void *until_ms)
{
    return is_quarantine(vd_slice_of(name)) && is_older(path, until_ms);
}

static bool is_old_pack(const char *path, const char *name, const void *until_ms)
{
    return is_unfinished(vd_slice_of(name)) && is_older(path, until_ms);
}

int vd_leftovers_remove_quarantines(const char *root, const char *uid, int64_t until_ms,
                                    struct vd_error *error)
{
    return remove_below(root, uid, "/objects", is_old_quarantine, &until_ms, error);
}

int vd_leftovers_remove_packs(const char *root, const char *uid, int64_t until_ms,
                              struct vd_error *error)
{
    return remove_below(root, uid, "/objects/pack", is_old_pack, &until_ms, error);
}
