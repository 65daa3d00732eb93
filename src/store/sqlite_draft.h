/*
 * A draft: a log file in the making. It stands as NAME.partial beside its place
 * until it is whole, checked and synced, and gets its name in one step; so a file
 * that has the name is good, whenever the power fails.
 *
 * Used by one thread. Only for the system's own files: no VFS.
 */
#ifndef VD_STORE_SQLITE_DRAFT_H
#define VD_STORE_SQLITE_DRAFT_H

#include <sqlite3.h>

#include "base/buf.h"
#include "base/error.h"
#include "store/progress.h"
#include "store/sqlite_verify.h"

struct vd_log_draft {
    struct vd_buf target; /* the name that it will get */
    struct vd_buf path;   /* NAME.partial */
    int fd;               /* holds the lock against another draft of the same name; -1: closed */
    sqlite3 *db;          /* open once the draft was filled */
};

/* Starts an empty draft; what an interrupted one has left is thrown away.
 * VD_ERR_LOCKED when another process is making the same file. */
int vd_log_draft_open(struct vd_log_draft *draft, const char *target,
                      struct vd_error *error) VD_MUST_USE;

/* Copies a log page by page. The source must have a read transaction open: then
 * the copy is of that moment, whoever writes meanwhile. */
int vd_log_draft_copy(struct vd_log_draft *draft, sqlite3 *source,
                      const struct vd_progress *progress, struct vd_error *error) VD_MUST_USE;

/* Copies a log row by row, without its free pages. No transaction may be open. */
int vd_log_draft_copy_packed(struct vd_log_draft *draft, sqlite3 *source,
                             const struct vd_progress *progress,
                             struct vd_error *error) VD_MUST_USE;

/* Reads the draft back and checks every row. VD_ERR_CORRUPT names the first
 * problem. */
int vd_log_draft_verify(struct vd_log_draft *draft, const struct vd_progress *progress,
                        struct vd_verify_result *result, struct vd_error *error) VD_MUST_USE;

/* Syncs the draft and gives it its name, durably; *bytes is its size. Without
 * `replace` a file that has the name is left alone: VD_ERR_EXISTS. */
int vd_log_draft_publish(struct vd_log_draft *draft, bool replace, uint64_t *bytes,
                         struct vd_error *error) VD_MUST_USE;

/* Frees it; a draft that was not published is removed. `= {.fd = -1}` allowed. */
void vd_log_draft_close(struct vd_log_draft *draft);

#endif
