/* See data_folder.h. */
#include "data_folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "store/sqlite_file.h"

static int refuse(const char *what, const char *path, const char *way_out, struct vd_error *error)
{
    int number = errno;
    if (number == ENOENT || number == ENOTDIR)
        return vd_error_set(error, VD_ERR_NOT_FOUND, "there is no %s %s: %s", what, path, way_out);
    return vd_error_set(error, VD_ERR_IO, "could not look at %s: %s", path, strerror(number));
}

int vd_data_folder_exists(const char *folder, struct vd_error *error)
{
    struct stat s;
    if (stat(folder, &s) != 0)
        return refuse("data folder", folder,
                      "give the one that the server uses with --data or VEDETTE_DATA", error);
    if (!S_ISDIR(s.st_mode))
        return vd_error_set(error, VD_ERR_INVALID,
                            "%s is not a folder: give the server's data folder with --data or "
                            "VEDETTE_DATA",
                            folder);
    return VD_OK;
}

int vd_data_folder_check(const char *folder, struct vd_error *error)
{
    struct vd_buf path = {0};
    struct stat s;
    int code = vd_data_folder_exists(folder, error);
    vd_log_path(&path, folder);
    if (!code && stat(vd_buf_text(&path), &s) != 0)
        code = refuse("log", vd_buf_text(&path),
                      "this is not a data folder, or no server has used it yet", error);
    vd_buf_release(&path);
    return code;
}
