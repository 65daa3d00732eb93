/*
 * Backup, restore, beginning anew and shrinking of a data folder's log.
 *
 * A backup is one SQLite file in the log's own format. All of them write a draft
 * first (sqlite_draft.h) and check every row of it before it gets its name.
 */
#ifndef VD_STORE_SQLITE_BACKUP_H
#define VD_STORE_SQLITE_BACKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "store/progress.h"

struct vd_backup_report {
    uint64_t revision; /* newest in the backup */
    uint64_t rows;
    uint64_t objects;
    uint64_t bytes;
};

/*
 * Writes the log of `folder` to the file `to`, as of one moment; a server may go
 * on writing. Without `replace` an existing file is refused: VD_ERR_EXISTS. A log
 * with problems is refused (VD_ERR_CORRUPT), so that a good backup is never
 * replaced by a bad one.
 */
int vd_log_backup(const char *folder, const char *to, bool replace,
                  const struct vd_progress *progress, struct vd_backup_report *report,
                  struct vd_error *error) VD_MUST_USE;

struct vd_restore_report {
    uint64_t revision_then; /* newest in the backup */
    uint64_t revision;      /* where the restored log goes on */
    uint64_t rows;
    uint64_t objects;
    uint64_t bytes;
};

/*
 * Makes the backup `from` the log of `folder`, which must have none:
 * VD_ERR_EXISTS. The folder is made when it is missing, and locked. Objects keep
 * their resourceVersions; every cursor from before is expired, as sqlite_backup.c
 * explains. `now_ms` is the wall clock.
 */
int vd_log_restore(const char *from, const char *folder, int64_t now_ms,
                   const struct vd_progress *progress, struct vd_restore_report *report,
                   struct vd_error *error) VD_MUST_USE;

/*
 * Makes a new log without objects in `folder`, which must have none: VD_ERR_EXISTS. Its revisions
 * begin after *revision, which is far above any that a log lost from this folder can have given
 * out, so that every cursor of the lost log is expired. `now_ms` is the wall clock.
 */
int vd_log_init(const char *folder, int64_t now_ms, uint64_t *revision,
                struct vd_error *error) VD_MUST_USE;

/*
 * Gives the room that removed rows have left back to the file system. The folder
 * is locked; the log is copied, packed, and the copy takes its place, so it needs
 * room for a second one: VD_ERR_FULL says how much.
 */
int vd_log_shrink(const char *folder, const struct vd_progress *progress,
                  struct vd_error *error) VD_MUST_USE;

#endif
