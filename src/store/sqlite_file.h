/*
 * The log's file: opening it, its format, and SQLite's errors as Vedette's. The format itself is
 * described in sqlite_file.c.
 */
#ifndef VD_STORE_SQLITE_FILE_H
#define VD_STORE_SQLITE_FILE_H

#include <sqlite3.h>

#include "base/buf.h"
#include "base/error.h"
#include "store/engine.h"

enum {
    VD_LOG_APPLICATION_ID = 0x56454454, /* "VEDT" */
    VD_LOG_FORMAT = 1,
    /* The revision of a log that nothing was written to: a list must never say
     * resourceVersion "0", which clients take for "any". */
    VD_LOG_REVISION_FIRST = 1,
    /* How many milliseconds a connection waits for another one that has locked the file. */
    VD_LOG_BUSY_MS = 10000,
};

enum vd_log_open {
    VD_LOG_CHANGE = 0,    /* the file must exist */
    VD_LOG_CREATE = 1,    /* make the file when it is missing */
    VD_LOG_READ_ONLY = 2, /* never change it; works beside a running server */
};

/* `folder`/log.db into *path. */
void vd_log_path(struct vd_buf *path, const char *folder);

/*
 * Whether a log that is missing from the folder, or is empty, was lost: that is so if its
 * write-ahead log exists, or the file `trace` of the folder (NULL: none), which is made only after
 * a log. Then *former is set, and VD_ERR_NOT_FOUND says how to restore or to begin anew. Call this
 * before the log is opened, since SQLite removes a write-ahead log whose main file is missing.
 */
int vd_log_check_former(const char *folder, const char *trace, bool *former,
                        struct vd_error *error) VD_MUST_USE;

/* Opens and checks the file. Errors: VD_ERR_NOT_FOUND, VD_ERR_FORMAT for a
 * foreign file or a newer format, VD_ERR_CORRUPT, VD_ERR_IO. */
int vd_log_open(sqlite3 **out, const char *path, const char *vfs, enum vd_log_open how,
                struct vd_error *error) VD_MUST_USE;

/* The meta row: where the log begins. */
struct vd_log_meta {
    uint64_t base;  /* revisions start after it */
    uint64_t floor; /* cursors at or below it are expired */
};

int vd_log_meta_read(sqlite3 *db, struct vd_log_meta *meta, struct vd_error *error) VD_MUST_USE;
int vd_log_meta_write(sqlite3 *db, struct vd_log_meta meta, struct vd_error *error) VD_MUST_USE;

/* Makes an error fit for clients, who need not know where the file is: `path`, and the file name
 * that SQLite has for the database, are replaced by "log.db". Returns `code`; with VD_OK nothing is
 * changed. */
int vd_log_hide_path(sqlite3 *db, const char *path, int code, struct vd_error *error);

/* Runs one statement without results. */
int vd_log_exec(sqlite3 *db, const char *sql, struct vd_error *error) VD_MUST_USE;
int vd_log_run(sqlite3 *db, sqlite3_stmt *statement, struct vd_error *error) VD_MUST_USE;

int vd_log_prepare(sqlite3 *db, sqlite3_stmt **out, const char *sql,
                   struct vd_error *error) VD_MUST_USE;

/* A number from the first column of the first row. */
int vd_log_number(sqlite3 *db, const char *sql, int64_t *out, struct vd_error *error) VD_MUST_USE;

/* SQLite's last error as a struct vd_error. `doing` says what was tried: "writing to the log". */
int vd_log_error(sqlite3 *db, int rc, const char *doing, struct vd_error *error);

#endif
