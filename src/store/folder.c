/* See folder.h. */
#include "store/folder.h"

#include "store/memory_engine.h"
#include "store/sqlite_engine.h"
#include "store/sqlite_file.h"

int vd_folder_open(struct vd_engine **out, const struct vd_folder *folder,
                   struct vd_engine_state *state, struct vd_error *error)
{
    struct vd_lock_file lock = {.fd = -1};
    struct vd_sqlite_options sqlite = {.folder = folder->path,
                                       .vfs = folder->vfs,
                                       .checkpoint_pages = folder->checkpoint_pages,
                                       .busy_ms = folder->busy_ms,
                                       .lock = &lock};
    int code = folder->vfs ? VD_OK : vd_lock_file_open(&lock, folder->path, error);
    if (!code && !folder->vfs)
        code = vd_log_check_former(folder->path, folder->trace, &sqlite.must_exist, error);
    if (!code)
        code = vd_sqlite_engine_open(out, &sqlite, state, error);
    if (code)
        vd_lock_file_close(&lock);
    return code;
}

int vd_store_open_in(struct vd_store **out, const struct vd_folder *folder,
                     const struct vd_store_options *options, struct vd_error *error)
{
    struct vd_engine *engine = NULL;
    struct vd_engine_state state;
    int code = folder && folder->path ? vd_folder_open(&engine, folder, &state, error)
                                      : vd_memory_engine_open(&engine, NULL, &state, error);
    return code ? code : vd_store_open(out, engine, options, error);
}
