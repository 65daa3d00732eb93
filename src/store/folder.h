/*
 * The folder that a log is kept in: it is made when it is missing, locked against other processes,
 * and asked whether it has lost a log before one is opened or made in it.
 */
#ifndef VD_STORE_FOLDER_H
#define VD_STORE_FOLDER_H

#include "store/engine.h"
#include "store/store.h"

struct vd_folder {
    const char *path;
    const char *vfs;   /* SQLite VFS; NULL: the system's. Tests use another, which has no folder to
                          make or lock */
    const char *trace; /* a file of the folder that is made only after a log: where it is
                          there, no new log is made. NULL: none */
    size_t checkpoint_pages; /* see sqlite_engine.h */
    int busy_ms;             /* how long a write waits for another process that has the log */
};

/*
 * Opens the log in a folder. The engine has the folder's lock until it is closed. VD_ERR_LOCKED
 * names the process that has it. A log that is missing or empty is made, unless there was one:
 * VD_ERR_NOT_FOUND.
 */
int vd_folder_open(struct vd_engine **out, const struct vd_folder *folder,
                   struct vd_engine_state *state, struct vd_error *error) VD_MUST_USE;

/* Opens a store on the log in a folder; `folder` NULL, or without a path: on a log in memory. This
 * is vd_folder_open() or vd_memory_engine_open() and then vd_store_open(). */
int vd_store_open_in(struct vd_store **out, const struct vd_folder *folder,
                     const struct vd_store_options *options, struct vd_error *error) VD_MUST_USE;

#endif
