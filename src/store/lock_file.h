/* One process per data folder: a lock that the kernel drops with the process. */
#ifndef VD_STORE_LOCK_FILE_H
#define VD_STORE_LOCK_FILE_H

#include "base/error.h"

struct vd_lock_file {
    int fd; /* -1: not held */
};

/* Takes `folder`/lock; the folder is made when it is missing. VD_ERR_LOCKED
 * names the process that has it. */
int vd_lock_file_open(struct vd_lock_file *lock, const char *folder,
                      struct vd_error *error) VD_MUST_USE;
void vd_lock_file_close(struct vd_lock_file *lock);

#endif
