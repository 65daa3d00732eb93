/*
 * Backup, restore, beginning anew and shrinking.
 *
 * Restoring must not turn back time. Clients hold cursors from the lost log above the backup's
 * newest revision, and the restored log would sooner or later reach those revisions again with
 * other events: a cursor would resume in the wrong history, silently. So a restored log goes on far
 * above anything that the lost one can have issued, with its floor right below:
 *
 *      base  = newest of the backup + 2^40 + 100 * milliseconds since its newest row
 *      floor = base - 1
 *
 * A list then says `base`, the next write gets base + 1, and every cursor from
 * before is at or below the floor: expired. The two terms:
 *
 * - 2^40 revisions are 127 days of 100,000 writes a second, more than a server
 *   that was backed up at all can have written since; whatever the clocks say.
 * - The time term is 100,000 revisions for each second that has passed. Two
 *   restores of the same backup would else go on at the same revision, and the
 *   cursors of the first would be taken for the second's.
 *
 * 2^63 revisions leave room for millions of restores.
 *
 * A log that is begun anew in the place of one that is lost must not turn back time either, and
 * nobody knows how far that one had come. Its base is 2^40 + 100 * milliseconds since 1970.
 *
 * As the new floor is above all rows, no cursor can ask for rows that were replaced or for
 * deletions any more: they are removed, as in any compaction.
 */
#include "store/sqlite_backup.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/event.h"
#include "store/lock_file.h"
#include "store/sqlite_draft.h"
#include "store/sqlite_engine.h"
#include "store/sqlite_file.h"

#define RESTORE_DISTANCE (UINT64_C(1) << 40)
#define REVISION_MAX     (UINT64_C(1) << 62)

enum {
    RESTORE_REVISIONS_PER_MS = 100
}; /* revisions that the lost log may have given out for each millisecond */

/* ---- backup ---- */

/* The snapshot begins with the first read of the transaction. */
static int pin_snapshot(sqlite3 *source, struct vd_error *error)
{
    int64_t ignored;
    int code = vd_log_exec(source, "BEGIN", error);
    return code ? code : vd_log_number(source, "SELECT count(*) FROM meta", &ignored, error);
}

static int check_target(const char *log, const char *to, bool replace, struct vd_error *error)
{
    struct stat target, source;
    if (stat(to, &target) != 0)
        return VD_OK;
    if (S_ISDIR(target.st_mode))
        return vd_error_set(error, VD_ERR_INVALID, "%s is a folder: name a file in it", to);
    if (stat(log, &source) == 0 && source.st_ino == target.st_ino && source.st_dev == target.st_dev)
        return vd_error_set(error, VD_ERR_INVALID, "%s is the log itself: name another file", to);
    if (!replace)
        return vd_error_set(error, VD_ERR_EXISTS,
                            "%s exists: name another file, or replace it with --force", to);
    return VD_OK;
}

static int copy_checked(struct vd_log_draft *draft, sqlite3 *source,
                        const struct vd_progress *progress, struct vd_verify_result *checked,
                        struct vd_error *error)
{
    int code = pin_snapshot(source, error);
    if (!code)
        code = vd_log_draft_copy(draft, source, progress, error);
    sqlite3_exec(source, "ROLLBACK", NULL, NULL, NULL);
    return code ? code : vd_log_draft_verify(draft, progress, checked, error);
}

int vd_log_backup(const char *folder, const char *to, bool replace,
                  const struct vd_progress *progress, struct vd_backup_report *report,
                  struct vd_error *error)
{
    struct vd_buf log = {0};
    struct vd_log_draft draft = {.fd = -1};
    struct vd_verify_result checked;
    sqlite3 *source = NULL;
    uint64_t bytes;
    vd_log_path(&log, folder);
    int code = vd_log_open(&source, vd_buf_text(&log), NULL, VD_LOG_READ_ONLY, error);
    if (!code)
        code = check_target(vd_buf_text(&log), to, replace, error);
    if (!code)
        code = vd_log_draft_open(&draft, to, error);
    if (!code)
        code = copy_checked(&draft, source, progress, &checked, error);
    if (code == VD_ERR_CORRUPT)
        vd_error_prefix(error, "the log in %s is damaged and was not backed up", folder);
    if (!code)
        code = vd_log_draft_publish(&draft, replace, &bytes, error);
    if (!code)
        *report = (struct vd_backup_report){checked.revision, checked.rows, checked.objects, bytes};
    vd_log_draft_close(&draft);
    sqlite3_close(source);
    vd_buf_release(&log);
    return code;
}

/* ---- restore ---- */

/* Refuses a folder that has a log, or the -wal of one: SQLite would replay a -wal of another log
 * into the new one. An empty file is no log. */
static int check_vacant(const char *folder, const char *log, const char *what,
                        struct vd_error *error)
{
    struct stat s;
    struct vd_buf wal = {0};
    int code = VD_OK;
    vd_buf_addf(&wal, "%s-wal", log);
    if (lstat(log, &s) == 0 && s.st_size > 0)
        code = vd_error_set(error, VD_ERR_EXISTS,
                            "%s has a log already: %s another folder, or move log.db and "
                            "log.db-wal away first",
                            folder, what);
    else if (lstat(vd_buf_text(&wal), &s) == 0 && s.st_size > 0)
        code = vd_error_set(error, VD_ERR_EXISTS,
                            "%s is left of a log that was moved away, and belongs to it: move it "
                            "there too",
                            vd_buf_text(&wal));
    else {
        unlink(vd_buf_text(&wal));
        unlink(log);
    }
    vd_buf_release(&wal);
    return code;
}

static int restored_base(sqlite3 *db, uint64_t newest, int64_t now_ms, uint64_t *base,
                         struct vd_error *error)
{
    int64_t time_ms = now_ms;
    int code = vd_log_number(
        db, "SELECT coalesce((SELECT time FROM log ORDER BY revision DESC LIMIT 1), 0)", &time_ms,
        error);
    if (code)
        return code;
    uint64_t passed_ms = time_ms > 0 && now_ms > time_ms ? (uint64_t)(now_ms - time_ms) : 0;
    uint64_t distance = RESTORE_DISTANCE + passed_ms * RESTORE_REVISIONS_PER_MS;
    if (newest > REVISION_MAX || distance > REVISION_MAX)
        return vd_error_set(error, VD_ERR_INVALID,
                            "revision %llu leaves no room to go on: the backup's revisions or "
                            "this machine's clock are wrong",
                            (unsigned long long)newest);
    *base = newest + distance;
    return VD_OK;
}

/* Moves the log to its new base; see the head of this file. */
static int rebase(sqlite3 *db, uint64_t base, struct vd_error *error)
{
    char forget[160];
    snprintf(forget, sizeof forget,
             "DELETE FROM log WHERE type & 15 = %d OR revision IN (SELECT previous FROM log)",
             VD_EVENT_DELETED);
    int code = vd_log_exec(db, "BEGIN IMMEDIATE", error);
    if (!code)
        code = vd_log_exec(db, forget, error);
    if (!code)
        code = vd_log_meta_write(db, (struct vd_log_meta){.base = base, .floor = base - 1}, error);
    return code ? code : vd_log_exec(db, "COMMIT", error);
}

/* Finishes the log in WAL mode, which a server expects: changing the mode needs exclusive access to
 * the file, which a starting server may not get. */
static int make_log(struct vd_log_draft *draft, struct vd_error *error)
{
    return vd_log_exec(draft->db, "PRAGMA journal_mode=WAL", error);
}

static int restore_locked(sqlite3 *source, const char *log, int64_t now_ms,
                          const struct vd_progress *progress, struct vd_restore_report *report,
                          struct vd_error *error)
{
    struct vd_log_draft draft = {.fd = -1};
    struct vd_verify_result then;
    int64_t rows = 0;
    uint64_t bytes, base = 0;
    int code = vd_log_draft_open(&draft, log, error);
    if (!code)
        code = copy_checked(&draft, source, progress, &then, error);
    if (code == VD_ERR_CORRUPT)
        vd_error_prefix(error, "the backup is damaged and was not restored");
    if (!code)
        code = restored_base(draft.db, then.revision, now_ms, &base, error);
    if (!code)
        code = rebase(draft.db, base, error);
    if (!code)
        code = vd_log_number(draft.db, "SELECT count(*) FROM log", &rows, error);
    if (!code)
        code = make_log(&draft, error);
    if (!code)
        code = vd_log_draft_publish(&draft, false, &bytes, error);
    if (!code)
        *report = (struct vd_restore_report){then.revision, base, (uint64_t)rows, then.objects,
                                             bytes};
    vd_log_draft_close(&draft);
    return code;
}

int vd_log_restore(const char *from, const char *folder, int64_t now_ms,
                   const struct vd_progress *progress, struct vd_restore_report *report,
                   struct vd_error *error)
{
    struct vd_buf log = {0};
    struct vd_lock_file lock = {.fd = -1};
    sqlite3 *source = NULL;
    vd_log_path(&log, folder);
    int code = vd_log_open(&source, from, NULL, VD_LOG_READ_ONLY, error);
    if (!code)
        code = vd_lock_file_open(&lock, folder, error);
    if (!code)
        code = check_vacant(folder, vd_buf_text(&log), "restore into", error);
    if (!code)
        code = restore_locked(source, vd_buf_text(&log), now_ms, progress, report, error);
    vd_lock_file_close(&lock);
    sqlite3_close(source);
    vd_buf_release(&log);
    return code;
}

/* ---- beginning anew ---- */

static int init_locked(const char *folder, const char *log, uint64_t base, struct vd_error *error)
{
    struct vd_engine *engine = NULL;
    struct vd_engine_state state;
    sqlite3 *db = NULL;
    int code = check_vacant(folder, log, "begin in", error);
    if (!code)
        code = vd_sqlite_engine_open(&engine, &(struct vd_sqlite_options){.folder = folder}, &state,
                                     error);
    if (engine)
        engine->ops->close(engine);
    if (!code)
        code = vd_log_open(&db, log, NULL, VD_LOG_CHANGE, error);
    if (!code)
        code = rebase(db, base, error);
    sqlite3_close(db);
    return code;
}

int vd_log_init(const char *folder, int64_t now_ms, uint64_t *revision, struct vd_error *error)
{
    struct vd_buf log = {0};
    struct vd_lock_file lock = {.fd = -1};
    uint64_t passed_ms = now_ms > 0 ? (uint64_t)now_ms : 0;
    uint64_t base = RESTORE_DISTANCE + passed_ms * RESTORE_REVISIONS_PER_MS;
    vd_log_path(&log, folder);
    int code = vd_lock_file_open(&lock, folder, error);
    if (!code)
        code = init_locked(folder, vd_buf_text(&log), base, error);
    if (!code)
        *revision = base;
    vd_lock_file_close(&lock);
    vd_buf_release(&log);
    return code;
}

/* ---- shrinking ---- */

/*
 * The old file leaves WAL mode first: SQLite then checkpoints its -wal and removes it, which works
 * only while no other process has the file open. SQLite would replay a -wal that stayed into the
 * copy.
 */
static int shrink_locked(sqlite3 *db, const char *log, const struct vd_progress *progress,
                         struct vd_error *error)
{
    struct vd_log_draft draft = {.fd = -1};
    struct vd_verify_result checked;
    uint64_t bytes;
    int code = vd_log_exec(db, "PRAGMA journal_mode=DELETE", error);
    if (!code)
        code = vd_log_draft_open(&draft, log, error);
    if (!code)
        code = vd_log_draft_copy_packed(&draft, db, progress, error);
    if (!code)
        code = vd_log_draft_verify(&draft, progress, &checked, error);
    if (!code)
        code = make_log(&draft, error);
    if (!code)
        code = vd_log_draft_publish(&draft, true, &bytes, error);
    vd_log_draft_close(&draft);
    return code;
}

static void explain(const char *folder, uint64_t need, struct vd_error *error)
{
    if (error && error->code == VD_ERR_FULL)
        vd_error_set(error, VD_ERR_FULL,
                     "no room in %s: returning space needs up to %llu MiB free for a packed copy "
                     "(the floor has moved all the same)",
                     folder, (unsigned long long)(need >> 20) + 1);
    else if (error && error->code == VD_ERR_LOCKED)
        vd_error_set(error, VD_ERR_LOCKED,
                     "the log in %s is being read by another process (a backup or a check): wait "
                     "until it ends",
                     folder);
}

int vd_log_shrink(const char *folder, const struct vd_progress *progress, struct vd_error *error)
{
    struct vd_buf log = {0};
    struct vd_lock_file lock = {.fd = -1};
    sqlite3 *db = NULL;
    struct stat s = {0};
    vd_log_path(&log, folder);
    int code = vd_lock_file_open(&lock, folder, error);
    if (!code) {
        code = vd_log_open(&db, vd_buf_text(&log), NULL, VD_LOG_CHANGE, error);
        if (!code)
            code = shrink_locked(db, vd_buf_text(&log), progress, error);
        if (code && stat(vd_buf_text(&log), &s) == 0)
            explain(folder, (uint64_t)s.st_size, error);
    }
    sqlite3_close(db);
    vd_lock_file_close(&lock);
    vd_buf_release(&log);
    return code;
}
