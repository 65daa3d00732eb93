/*
 * The folder that a log is kept in. Before a log is opened or made in it, the folder is made if it
 * is missing, locked against other processes, and checked for traces of a log that was lost.
 */
#ifndef VD_STORE_FOLDER_H
#define VD_STORE_FOLDER_H

#include "store/engine.h"
#include "store/store.h"

struct vd_folder {
    const char *path;
    const char *vfs;   /* SQLite VFS; NULL: the system's. Tests use another, which has no folder to
                          make or lock */
    const char *trace; /* a file of the folder that is made only after a log: if it exists, a
                          missing log was lost, and no new one is made. NULL: no such file */
    size_t checkpoint_pages; /* see sqlite_engine.h */
    int busy_ms;             /* how long a write waits for another process that has the log */
};

/*
 * Opens the log in a folder. The engine has the folder's lock until it is closed. VD_ERR_LOCKED
 * names the process that has it. A log that is missing or empty is made, unless there are traces of
 * a lost one: that is VD_ERR_NOT_FOUND.
 */
int vd_folder_open(struct vd_engine **out, const struct vd_folder *folder,
                   struct vd_engine_state *state, struct vd_error *error) VD_MUST_USE;

/* Opens a store on the log in a folder; `folder` NULL, or without a path: on a log in memory. This
 * is vd_folder_open() or vd_memory_engine_open() and then vd_store_open(). */
int vd_store_open_in(struct vd_store **out, const struct vd_folder *folder,
                     const struct vd_store_options *options, struct vd_error *error) VD_MUST_USE;

#endif
