/* The embedded engine keeps the log in one SQLite file, for one process. */
#ifndef VD_STORE_SQLITE_ENGINE_H
#define VD_STORE_SQLITE_ENGINE_H

#include "store/engine.h"
#include "store/lock_file.h"

struct vd_sqlite_options {
    const char *folder;      /* must exist; the log is folder/log.db */
    const char *vfs;         /* an SQLite VFS, NULL for the system's own; tests put a faulty disk
                                there */
    size_t checkpoint_pages; /* pages of the write-ahead log after which it is checkpointed into the
                                main file; 0: VD_CHECKPOINT_PAGES_DEFAULT */
    int busy_ms;             /* how long another process may have the log; 0: VD_LOG_BUSY_MS */
    bool must_exist;         /* a missing log is an error and is not made, as there was one */
    struct vd_lock_file *lock; /* of the folder; if the open succeeds, the engine takes it over and
                                  releases it when it is closed. NULL: there is none */
};

int vd_sqlite_engine_open(struct vd_engine **out, const struct vd_sqlite_options *options,
                          struct vd_engine_state *state, struct vd_error *error) VD_MUST_USE;

#endif
