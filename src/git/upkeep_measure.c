/* See upkeep_measure.h. */
#include "git/upkeep_measure.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "git/bare_repository.h"

#define MARK "/vedette-upkeep"

/* How many names in a folder are of a sort; SIZE_MAX: there is no such folder. */
static size_t count(const char *folder, bool (*is)(struct vd_slice name))
{
    size_t n = 0;
    DIR *dir = opendir(folder);
    if (!dir)
        return SIZE_MAX;
    for (struct dirent *entry; (entry = readdir(dir));)
        n += is(vd_slice_of(entry->d_name));
    closedir(dir);
    return n;
}

static bool is_pack(struct vd_slice name)
{
    return vd_slice_ends_with(name, VD_SLICE(".pack")) && name.p[0] != '.';
}

static bool is_keep(struct vd_slice name)
{
    return vd_slice_ends_with(name, VD_SLICE(".keep"));
}

static bool is_hex(struct vd_slice name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!isxdigit((unsigned char)name.p[i]))
            return false;
    return true;
}

/* Of one of the 256 folders, or of an object in it. */
static bool is_fan_out(struct vd_slice name)
{
    return name.n == 2 && is_hex(name);
}

static bool is_object(struct vd_slice name)
{
    return name.n >= 38 && is_hex(name);
}

static size_t count_below(const char *root, const char *uid, const char *below,
                          bool (*is)(struct vd_slice name))
{
    struct vd_buf folder = {0};
    vd_bare_repository_path(&folder, root, uid);
    vd_buf_add_text(&folder, below);
    size_t n = count(vd_buf_text(&folder), is);
    vd_buf_release(&folder);
    return n;
}

/* Touches the file, or only makes it. What cannot be done here is done by a later upkeep. */
static int64_t mark(const char *root, const char *uid, bool touches)
{
    struct vd_buf path = {0};
    struct stat found = {0};
    vd_bare_repository_path(&path, root, uid);
    vd_buf_add_text(&path, MARK);
    int fd = open(vd_buf_text(&path), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    vd_buf_release(&path);
    if (fd < 0)
        return INT64_MAX;
    if (touches && futimens(fd, NULL))
        touches = false;
    int rc = fstat(fd, &found);
    close(fd);
    return rc ? INT64_MAX : (int64_t)found.st_mtim.tv_sec * 1000;
}

void vd_upkeep_measure_take(struct vd_upkeep_measure *out, const char *root, const char *uid,
                            int64_t now_ms)
{
    size_t fan_outs = count_below(root, uid, "/objects", is_fan_out);
    size_t packs = count_below(root, uid, "/objects/pack", is_pack);
    size_t kept = count_below(root, uid, "/objects/pack", is_keep);
    size_t sample = count_below(root, uid, "/objects/17", is_object);
    *out = (struct vd_upkeep_measure){.exists = fan_outs != SIZE_MAX && packs != SIZE_MAX &&
                                                kept != SIZE_MAX};
    if (!out->exists)
        return;
    int64_t last_ms = mark(root, uid, false);
    out->packs = packs > kept ? packs - kept : 0;
    out->loose = sample == SIZE_MAX ? 0 : sample * 256;
    out->is_untidy = out->packs > 1 || fan_outs > 0;
    out->is_large = out->packs > VD_GIT_UPKEEP_PACKS || out->loose > VD_GIT_UPKEEP_LOOSE;
    out->is_due = out->is_large || (out->is_untidy && last_ms != INT64_MAX &&
                                    now_ms - last_ms >= VD_GIT_UPKEEP_AGE_MS);
}

void vd_upkeep_measure_mark(const char *root, const char *uid)
{
    (void)mark(root, uid, true);
}
