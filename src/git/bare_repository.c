/*
 * See bare_repository.h. The repository has git's oldest format, which all versions read: refs are
 * files below refs/, or lines of packed-refs.
 */
#include "git/bare_repository.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errno_advice.h"

enum {
    WALK_FOLDERS = 16,   /* that a walk has open */
    SMALL_FILE_MAX = 512 /* bytes of HEAD, and of the file of a ref */
};

static int failed(struct vd_error *error, const char *what, const char *path)
{
    int reason = errno;
    enum vd_code code = reason == ENOSPC || reason == EDQUOT ? VD_ERR_FULL : VD_ERR_IO;
    return vd_error_set(error, code, "%s: cannot %s: %s%s", path, what, strerror(reason),
                        vd_errno_advice(reason));
}

/* ---- paths ---- */

static void add_path(struct vd_buf *out, const char *root, const char *uid, const char *suffix)
{
    vd_buf_addf(out, "%s/%s%s", root, uid, suffix);
}

void vd_bare_repository_path(struct vd_buf *out, const char *root, const char *uid)
{
    add_path(out, root, uid, ".git");
}

static bool exists(const char *path)
{
    struct stat found;
    return lstat(path, &found) == 0;
}

static int sync_folder(const char *path, struct vd_error *error)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && fsync(fd) == 0;
    int code = good ? VD_OK : failed(error, "sync the folder", path);
    if (fd >= 0)
        close(fd);
    return code;
}

/* ---- removing ---- */

static int remove_one(const char *path, const struct stat *found, int type, struct FTW *at)
{
    (void)found;
    (void)type;
    (void)at;
    return remove(path) && errno != ENOENT ? -1 : 0;
}

static int remove_tree(const char *path, struct vd_error *error)
{
    if (nftw(path, remove_one, WALK_FOLDERS, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
        return failed(error, "remove the folder", path);
    return VD_OK;
}

int vd_bare_repository_remove(const char *root, const char *uid, struct vd_error *error)
{
    struct vd_buf is = {0}, gone = {0};
    vd_bare_repository_path(&is, root, uid);
    add_path(&gone, root, uid, ".gone");
    int code = remove_tree(vd_buf_text(&gone), error);
    if (!code && rename(vd_buf_text(&is), vd_buf_text(&gone)) && errno != ENOENT)
        code = failed(error, "move the folder away", vd_buf_text(&is));
    if (!code)
        code = sync_folder(root, error);
    if (!code)
        code = remove_tree(vd_buf_text(&gone), error);
    vd_buf_release(&is);
    vd_buf_release(&gone);
    return code;
}

/* ---- making ---- */

/* Writes a whole new file, and has it on the disk. */
static int write_file(const char *path, struct vd_slice text, struct vd_error *error)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return failed(error, "write the file", path);
    ssize_t n = write(fd, text.p, text.n);
    if (n >= 0 && (size_t)n < text.n)
        errno = ENOSPC;
    bool good = n == (ssize_t)text.n && fsync(fd) == 0;
    int code = good ? VD_OK : failed(error, "write the file", path);
    close(fd);
    return code;
}

static int write_file_in(const char *folder, const char *name, struct vd_slice text,
                         struct vd_error *error)
{
    struct vd_buf path = {0};
    vd_buf_addf(&path, "%s/%s", folder, name);
    int code = write_file(vd_buf_text(&path), text, error);
    vd_buf_release(&path);
    return code;
}

static int write_head(const char *folder, const char *name, struct vd_slice branch,
                      struct vd_error *error)
{
    struct vd_buf text = {0};
    vd_buf_addf(&text, "ref: refs/heads/%.*s\n", VD_FMT(branch));
    int code = write_file_in(folder, name, vd_buf_slice(&text), error);
    vd_buf_release(&text);
    return code;
}

/* Makes the folders, in this order, and then syncs them. */
static int make_folders(const char *folder, struct vd_error *error)
{
    static const char *const names[] = {"",      "/objects",    "/objects/info", "/objects/pack",
                                        "/refs", "/refs/heads", "/refs/tags"};
    struct vd_buf path = {0};
    int code = VD_OK;
    for (size_t i = 0; !code && i < sizeof names / sizeof *names; i++) {
        vd_buf_reset(&path);
        vd_buf_addf(&path, "%s%s", folder, names[i]);
        if (mkdir(vd_buf_text(&path), 0700))
            code = failed(error, "make the folder", vd_buf_text(&path));
    }
    vd_buf_reset(&path);
    vd_buf_addf(&path, "%s/objects", folder);
    if (!code)
        code = sync_folder(vd_buf_text(&path), error);
    vd_buf_release(&path);
    return code;
}

static int make_at(const char *folder, struct vd_slice branch, struct vd_error *error)
{
    static const struct vd_slice config = VD_SLICE(
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n");
    int code = make_folders(folder, error);
    if (!code)
        code = write_file_in(folder, "config", config, error);
    if (!code)
        code = write_head(folder, "HEAD", branch, error);
    return code ? code : sync_folder(folder, error);
}

int vd_bare_repository_make(const char *root, const char *uid, struct vd_slice branch,
                            struct vd_error *error)
{
    struct vd_buf is = {0}, new = {0};
    int code = VD_OK;
    vd_bare_repository_path(&is, root, uid);
    add_path(&new, root, uid, ".new");
    if (exists(vd_buf_text(&is)))
        goto out;
    code = remove_tree(vd_buf_text(&new), error);
    if (!code)
        code = make_at(vd_buf_text(&new), branch, error);
    if (!code && rename(vd_buf_text(&new), vd_buf_text(&is)))
        code = failed(error, "move the new folder into its place", vd_buf_text(&is));
    if (!code)
        code = sync_folder(root, error);
out:
    vd_buf_release(&is);
    vd_buf_release(&new);
    return code;
}

static int make_link(const char *root, const char *name, const char *program,
                     struct vd_error *error)
{
    struct vd_buf path = {0}, new = {0};
    vd_buf_addf(&path, "%s/hooks/%s", root, name);
    vd_buf_addf(&new, "%s/hooks/%s.new", root, name);
    unlink(vd_buf_text(&new));
    bool good = symlink(program, vd_buf_text(&new)) == 0 &&
                rename(vd_buf_text(&new), vd_buf_text(&path)) == 0;
    int code = good ? VD_OK : failed(error, "make the link", vd_buf_text(&path));
    vd_buf_release(&path);
    vd_buf_release(&new);
    return code;
}

static int make_folder(const char *path, struct vd_error *error)
{
    if (mkdir(path, 0700) && errno != EEXIST)
        return failed(error, "make the folder", path);
    return VD_OK;
}

int vd_bare_repository_make_root(const char *root, const char *program, struct vd_error *error)
{
    struct vd_buf hooks = {0};
    vd_buf_addf(&hooks, "%s/hooks", root);
    int code = make_folder(root, error);
    if (!code)
        code = make_folder(vd_buf_text(&hooks), error);
    if (!code)
        code = make_link(root, "pre-receive", program, error);
    if (!code)
        code = make_link(root, "proc-receive", program, error);
    if (!code)
        code = make_link(root, "ssh", program, error);
    vd_buf_release(&hooks);
    return code;
}

/* ---- reading ---- */

/* The first bytes of a small file. VD_ERR_NOT_FOUND: there is none, or a folder in its place. */
static int read_small(const char *path, char out[SMALL_FILE_MAX], size_t *n, struct vd_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, out, SMALL_FILE_MAX) : -1;
    int code = VD_OK;
    if (len < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EISDIR))
        code = VD_ERR_NOT_FOUND;
    else if (len < 0)
        code = failed(error, "read the file", path);
    else
        *n = (size_t)len;
    if (fd >= 0)
        close(fd);
    return code;
}

int vd_bare_repository_set_head(const char *root, const char *uid, struct vd_slice branch,
                                struct vd_error *error)
{
    struct vd_buf folder = {0}, head = {0}, lock = {0}, want = {0};
    char is[SMALL_FILE_MAX];
    size_t n = 0;
    vd_bare_repository_path(&folder, root, uid);
    vd_buf_addf(&head, "%s/HEAD", vd_buf_text(&folder));
    vd_buf_addf(&lock, "%s/HEAD.lock", vd_buf_text(&folder));
    vd_buf_addf(&want, "ref: refs/heads/%.*s\n", VD_FMT(branch));
    int code = read_small(vd_buf_text(&head), is, &n, error);
    if (!code && vd_slice_eq(vd_slice(is, n), vd_buf_slice(&want)))
        goto out;
    if (code && code != VD_ERR_NOT_FOUND)
        goto out;
    code = write_head(vd_buf_text(&folder), "HEAD.lock", branch, error);
    if (!code && rename(vd_buf_text(&lock), vd_buf_text(&head)))
        code = failed(error, "replace the file", vd_buf_text(&head));
    if (!code)
        code = sync_folder(vd_buf_text(&folder), error);
out:
    vd_buf_release(&folder);
    vd_buf_release(&head);
    vd_buf_release(&lock);
    vd_buf_release(&want);
    return code;
}

static bool take_id(struct vd_slice text, char out[VD_OBJECT_ID_TEXT_MAX])
{
    size_t n = strspn(text.p, "0123456789abcdef");
    if (n != 40 && n != 64)
        return false;
    memcpy(out, text.p, n);
    out[n] = 0;
    return true;
}

/* The line "<id> <ref>" of packed-refs. */
static int read_packed(const char *folder, struct vd_slice ref, char out[VD_OBJECT_ID_TEXT_MAX],
                       struct vd_error *error)
{
    struct vd_buf path = {0};
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    int code = VD_OK;
    vd_buf_addf(&path, "%s/packed-refs", folder);
    FILE *f = fopen(vd_buf_text(&path), "re");
    if (!f && errno != ENOENT)
        code = failed(error, "read the file", vd_buf_text(&path));
    while (f && (n = getline(&line, &cap, f)) > 0) {
        struct vd_slice rest = vd_slice_trim(vd_slice(line, (size_t)n)), id;
        if (vd_slice_cut(&rest, ' ', &id) && vd_slice_eq(rest, ref) && take_id(id, out))
            break;
    }
    free(line);
    if (f)
        fclose(f);
    vd_buf_release(&path);
    return code;
}

int vd_bare_repository_read_ref(const char *root, const char *uid, struct vd_slice ref,
                                char out[VD_OBJECT_ID_TEXT_MAX], struct vd_error *error)
{
    struct vd_buf folder = {0}, path = {0};
    char text[SMALL_FILE_MAX + 1];
    size_t n = 0;
    out[0] = 0;
    vd_bare_repository_path(&folder, root, uid);
    vd_buf_addf(&path, "%s/%.*s", vd_buf_text(&folder), VD_FMT(ref));
    int code = read_small(vd_buf_text(&path), text, &n, error);
    text[n] = 0;
    if (code == VD_ERR_NOT_FOUND)
        code = read_packed(vd_buf_text(&folder), ref, out, error);
    else if (!code && !take_id(vd_slice(text, n), out))
        out[0] = 0; /* what git cannot read either is to be written again */
    vd_buf_release(&folder);
    vd_buf_release(&path);
    return code;
}

/* ---- what was interrupted ---- */

static bool is_left_over(struct vd_slice name)
{
    return vd_slice_ends_with(name, VD_SLICE(".lock")) ||
           vd_slice_starts_with(name, VD_SLICE("incoming-")) ||
           vd_slice_starts_with(name, VD_SLICE("tmp_"));
}

/* In this folder alone. A folder that is not there has nothing in it. */
static int clean_folder(const char *folder, struct vd_error *error)
{
    struct vd_buf path = {0};
    int code = VD_OK;
    DIR *dir = opendir(folder);
    if (!dir)
        return errno == ENOENT ? VD_OK : failed(error, "read the folder", folder);
    for (struct dirent *entry; !code && (entry = readdir(dir));) {
        if (!is_left_over(vd_slice_of(entry->d_name)))
            continue;
        vd_buf_reset(&path);
        vd_buf_addf(&path, "%s/%s", folder, entry->d_name);
        code = remove_tree(vd_buf_text(&path), error);
    }
    closedir(dir);
    vd_buf_release(&path);
    return code;
}

/* No ref's name ends in ".lock": git does not allow it. */
static int remove_lock(const char *path, const struct stat *found, int type, struct FTW *at)
{
    (void)found;
    bool lock = type == FTW_F &&
                vd_slice_ends_with(vd_slice_of(path + at->base), VD_SLICE(".lock"));
    return lock && unlink(path) ? -1 : 0;
}

int vd_bare_repository_clean(const char *root, const char *uid, struct vd_error *error)
{
    static const char *const folders[] = {"", "/objects", "/objects/info", "/objects/pack"};
    struct vd_buf path = {0};
    int code = VD_OK;
    for (size_t i = 0; !code && i < sizeof folders / sizeof *folders; i++) {
        vd_buf_reset(&path);
        vd_bare_repository_path(&path, root, uid);
        vd_buf_add_text(&path, folders[i]);
        code = clean_folder(vd_buf_text(&path), error);
    }
    vd_buf_reset(&path);
    vd_bare_repository_path(&path, root, uid);
    vd_buf_add_text(&path, "/refs");
    if (!code && nftw(vd_buf_text(&path), remove_lock, WALK_FOLDERS, FTW_PHYS) && errno != ENOENT)
        code = failed(error, "remove the locks", vd_buf_text(&path));
    vd_buf_release(&path);
    return code;
}

/* ---- all of them ---- */

/* The part before the suffix; false: the name has another one. */
static bool cut_suffix(struct vd_slice name, struct vd_slice suffix, struct vd_slice *uid)
{
    *uid = vd_slice(name.p, name.n - suffix.n);
    return name.n > suffix.n && vd_slice_ends_with(name, suffix);
}

int vd_bare_repository_list(const char *root, void (*each)(void *arg, struct vd_slice uid),
                            void *arg, struct vd_error *error)
{
    struct vd_buf path = {0};
    int code = VD_OK;
    DIR *dir = opendir(root);
    if (!dir)
        return failed(error, "read the folder", root);
    for (struct dirent *entry; !code && (entry = readdir(dir));) {
        struct vd_slice name = vd_slice_of(entry->d_name), uid;
        if (cut_suffix(name, VD_SLICE(".git"), &uid)) {
            each(arg, uid);
        } else if (cut_suffix(name, VD_SLICE(".new"), &uid) ||
                   cut_suffix(name, VD_SLICE(".gone"), &uid)) {
            vd_buf_reset(&path);
            vd_buf_addf(&path, "%s/%s", root, entry->d_name);
            code = remove_tree(vd_buf_text(&path), error);
        }
    }
    closedir(dir);
    vd_buf_release(&path);
    return code;
}
