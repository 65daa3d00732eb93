/*
 * See bare_repository.h. The repository has git's oldest format, which all versions read: refs are
 * files below refs/, or lines of packed-refs.
 */
#include "git/bare_repository.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/disk.h"

enum {
    SMALL_FILE_MAX = 512, /* bytes of HEAD, and of the file of a ref */
    CONFIG_MAX = 65536    /* bytes of the repository's settings; a longer file is left alone */
};

/* The settings of a repository. Somebody who pushes into the folder, and not to the server's URL,
 * runs the hooks, too, which refuse that: they have no channel to the server (cmd/hook.c). The path
 * is relative to the repository, so that the data folder may be moved. */
#define CONFIG_BASE  "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
#define CONFIG_HOOKS "\thooksPath = ../hooks\n"

/* ---- paths ---- */

static void add_path(struct vd_buf *out, const char *root, const char *uid, const char *suffix)
{
    vd_buf_addf(out, "%s/%s%s", root, uid, suffix);
}

void vd_bare_repository_path(struct vd_buf *out, const char *root, const char *uid)
{
    add_path(out, root, uid, ".git");
}

/* ---- removing ---- */

int vd_bare_repository_remove(const char *root, const char *uid, struct vd_error *error)
{
    struct vd_buf is = {0}, gone = {0};
    vd_bare_repository_path(&is, root, uid);
    add_path(&gone, root, uid, ".gone");
    int code = vd_disk_remove(vd_buf_text(&gone), error);
    if (!code && rename(vd_buf_text(&is), vd_buf_text(&gone)) && errno != ENOENT)
        code = vd_disk_failed(error, "move the folder away", vd_buf_text(&is));
    if (!code)
        code = vd_disk_sync_folder(root, error);
    if (!code)
        code = vd_disk_remove(vd_buf_text(&gone), error);
    vd_buf_release(&is);
    vd_buf_release(&gone);
    return code;
}

/* ---- making ---- */

static int write_file_in(const char *folder, const char *name, struct vd_slice text,
                         struct vd_error *error)
{
    struct vd_buf path = {0};
    vd_buf_addf(&path, "%s/%s", folder, name);
    int code = vd_disk_write(vd_buf_text(&path), text, error);
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
            code = vd_disk_failed(error, "make the folder", vd_buf_text(&path));
    }
    vd_buf_reset(&path);
    vd_buf_addf(&path, "%s/objects", folder);
    if (!code)
        code = vd_disk_sync_folder(vd_buf_text(&path), error);
    vd_buf_release(&path);
    return code;
}

static int make_at(const char *folder, struct vd_slice branch, struct vd_error *error)
{
    int code = make_folders(folder, error);
    if (!code)
        code = write_file_in(folder, "config", VD_SLICE(CONFIG_BASE CONFIG_HOOKS), error);
    if (!code)
        code = write_head(folder, "HEAD", branch, error);
    return code ? code : vd_disk_sync_folder(folder, error);
}

int vd_bare_repository_make(const char *root, const char *uid, struct vd_slice branch,
                            struct vd_error *error)
{
    struct vd_buf is = {0}, new = {0};
    int code = VD_OK;
    vd_bare_repository_path(&is, root, uid);
    add_path(&new, root, uid, ".new");
    if (vd_disk_exists(vd_buf_text(&is)))
        goto out;
    code = vd_disk_remove(vd_buf_text(&new), error);
    if (!code)
        code = make_at(vd_buf_text(&new), branch, error);
    if (!code && rename(vd_buf_text(&new), vd_buf_text(&is)))
        code = vd_disk_failed(error, "move the new folder into its place", vd_buf_text(&is));
    if (!code)
        code = vd_disk_sync_folder(root, error);
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
    int code = good ? VD_OK : vd_disk_failed(error, "make the link", vd_buf_text(&path));
    vd_buf_release(&path);
    vd_buf_release(&new);
    return code;
}

int vd_bare_repository_make_root(const char *root, const char *program, struct vd_error *error)
{
    struct vd_buf hooks = {0};
    vd_buf_addf(&hooks, "%s/hooks", root);
    int code = vd_disk_make_folder(root, error);
    if (!code)
        code = vd_disk_make_folder(vd_buf_text(&hooks), error);
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

int vd_bare_repository_set_head(const char *root, const char *uid, struct vd_slice branch,
                                struct vd_error *error)
{
    struct vd_buf folder = {0}, path = {0}, is = {0}, want = {0};
    vd_bare_repository_path(&folder, root, uid);
    vd_buf_addf(&path, "%s/HEAD", vd_buf_text(&folder));
    vd_buf_addf(&want, "ref: refs/heads/%.*s\n", VD_FMT(branch));
    int code = vd_disk_read(vd_buf_text(&path), &is, SMALL_FILE_MAX, error);
    if (code == VD_ERR_NOT_FOUND || (!code && !vd_slice_eq(vd_buf_slice(&is), vd_buf_slice(&want))))
        code = vd_disk_replace(vd_buf_text(&folder), "HEAD", vd_buf_slice(&want), error);
    vd_buf_release(&folder);
    vd_buf_release(&path);
    vd_buf_release(&is);
    vd_buf_release(&want);
    return code;
}

/* Behind what the file has: a later setting wins. Settings that somebody has added stay. */
int vd_bare_repository_refuse_direct(const char *root, const char *uid, struct vd_error *error)
{
    struct vd_buf folder = {0}, path = {0}, text = {0};
    vd_bare_repository_path(&folder, root, uid);
    vd_buf_addf(&path, "%s/config", vd_buf_text(&folder));
    int code = vd_disk_read(vd_buf_text(&path), &text, CONFIG_MAX, error);
    if (code == VD_ERR_NOT_FOUND) {
        vd_buf_add_text(&text, CONFIG_BASE);
        code = VD_OK;
    }
    if (!code && text.n < CONFIG_MAX && !strstr(vd_buf_text(&text), CONFIG_HOOKS)) {
        vd_buf_addf(&text, "\n[core]\n%s", CONFIG_HOOKS);
        code = vd_disk_replace(vd_buf_text(&folder), "config", vd_buf_slice(&text), error);
    }
    vd_buf_release(&folder);
    vd_buf_release(&path);
    vd_buf_release(&text);
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
        code = vd_disk_failed(error, "read the file", vd_buf_text(&path));
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
    struct vd_buf folder = {0}, path = {0}, text = {0};
    out[0] = 0;
    vd_bare_repository_path(&folder, root, uid);
    vd_buf_addf(&path, "%s/%.*s", vd_buf_text(&folder), VD_FMT(ref));
    int code = vd_disk_read(vd_buf_text(&path), &text, SMALL_FILE_MAX, error);
    if (code == VD_ERR_NOT_FOUND)
        code = read_packed(vd_buf_text(&folder), ref, out, error);
    else if (!code && !take_id(vd_slice(vd_buf_text(&text), text.n), out))
        out[0] = 0; /* what git cannot read either is to be written again */
    vd_buf_release(&folder);
    vd_buf_release(&path);
    vd_buf_release(&text);
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
        return vd_disk_failed(error, "read the folder", root);
    for (struct dirent *entry; !code && (entry = readdir(dir));) {
        struct vd_slice name = vd_slice_of(entry->d_name), uid;
        if (cut_suffix(name, VD_SLICE(".git"), &uid)) {
            each(arg, uid);
        } else if (cut_suffix(name, VD_SLICE(".new"), &uid) ||
                   cut_suffix(name, VD_SLICE(".gone"), &uid)) {
            vd_buf_reset(&path);
            vd_buf_addf(&path, "%s/%s", root, entry->d_name);
            code = vd_disk_remove(vd_buf_text(&path), error);
        }
    }
    closedir(dir);
    vd_buf_release(&path);
    return code;
}
