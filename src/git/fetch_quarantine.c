/* See fetch_quarantine.h. */
#include "git/fetch_quarantine.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "git/disk.h"

void vd_fetch_quarantine_path(struct vd_buf *out, const char *folder)
{
    vd_buf_addf(out, "%s/objects/tmp_objdir-fetch", folder);
}

/* In quotes, so that the path may have a colon in it, which else ends it. */
void vd_fetch_quarantine_alternates(struct vd_buf *out, const char *folder)
{
    vd_buf_add_text(out, "\"");
    for (const char *p = folder; *p; p++) {
        if (*p == '"' || *p == '\\')
            vd_buf_add_text(out, "\\");
        vd_buf_add(out, p, 1);
    }
    vd_buf_add_text(out, "/objects\"");
}

int vd_fetch_quarantine_remove(const char *folder, struct vd_error *error)
{
    struct vd_buf path = {0};
    vd_fetch_quarantine_path(&path, folder);
    int code = vd_disk_remove(vd_buf_text(&path), error);
    vd_buf_release(&path);
    return code;
}

int vd_fetch_quarantine_make(const char *folder, struct vd_error *error)
{
    struct vd_buf path = {0};
    vd_fetch_quarantine_path(&path, folder);
    int code = vd_fetch_quarantine_remove(folder, error);
    if (!code)
        code = vd_disk_make_folder(vd_buf_text(&path), error);
    vd_buf_add_text(&path, "/pack");
    if (!code)
        code = vd_disk_make_folder(vd_buf_text(&path), error);
    vd_buf_release(&path);
    return code;
}

uint64_t vd_fetch_quarantine_len(const char *folder)
{
    struct vd_buf path = {0};
    uint64_t sum = 0;
    struct stat found;
    vd_fetch_quarantine_path(&path, folder);
    vd_buf_add_text(&path, "/pack");
    size_t n = path.n;
    DIR *dir = opendir(vd_buf_text(&path));
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        vd_buf_addf(&path, "/%s", entry->d_name);
        if (stat(vd_buf_text(&path), &found) == 0 && S_ISREG(found.st_mode))
            sum += (uint64_t)found.st_size;
        path.n = n;
    }
    if (dir)
        closedir(dir);
    vd_buf_release(&path);
    return sum;
}

/* ---- the move ---- */

static int move_file(const char *from_folder, const char *to_folder, const char *name,
                     struct vd_error *error)
{
    struct vd_buf from = {0}, to = {0};
    vd_buf_addf(&from, "%s/%s", from_folder, name);
    vd_buf_addf(&to, "%s/%s", to_folder, name);
    int code = VD_OK;
    if (rename(vd_buf_text(&from), vd_buf_text(&to)))
        code = vd_disk_failed(error, "move the pack there", vd_buf_text(&to));
    vd_buf_release(&from);
    vd_buf_release(&to);
    return code;
}

/* Moves the indexes, or all else. git takes a pack for there when it finds its index. */
static int move_files(const char *from, const char *to, bool indexes, struct vd_error *error)
{
    int code = VD_OK;
    DIR *dir = opendir(from);
    if (!dir)
        return vd_disk_failed(error, "read the folder", from);
    for (struct dirent *entry; !code && (entry = readdir(dir));) {
        struct vd_slice name = vd_slice_of(entry->d_name);
        if (vd_slice_starts_with(name, VD_SLICE("pack-")) &&
            vd_slice_ends_with(name, VD_SLICE(".idx")) == indexes)
            code = move_file(from, to, entry->d_name, error);
    }
    closedir(dir);
    return code;
}

int vd_fetch_quarantine_admit(const char *folder, struct vd_error *error)
{
    struct vd_buf from = {0}, to = {0};
    vd_fetch_quarantine_path(&from, folder);
    vd_buf_add_text(&from, "/pack");
    vd_buf_addf(&to, "%s/objects/pack", folder);
    int code = VD_OK;
    if (vd_fetch_quarantine_len(folder)) {
        code = move_files(vd_buf_text(&from), vd_buf_text(&to), false, error);
        if (!code)
            code = move_files(vd_buf_text(&from), vd_buf_text(&to), true, error);
        if (!code)
            code = vd_disk_sync_folder(vd_buf_text(&to), error);
    }
    vd_buf_release(&from);
    vd_buf_release(&to);
    return code ? code : vd_fetch_quarantine_remove(folder, error);
}
