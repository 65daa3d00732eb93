/*
 * The log's file.
 *
 * One SQLite database, log.db, in WAL mode. Format 1:
 *
 *   log(revision INTEGER PRIMARY KEY,  grows, never reused
 *       kind, namespace, name TEXT,    the key
 *       uid BLOB,                      16 bytes
 *       type INTEGER,                  1 created, 2 updated, 3 deleted; +16: more of the
 *                                      same atomic batch follow
 *       previous INTEGER,              revision of the key's row before, 0: none
 *       time INTEGER,                  wall clock at commit, milliseconds since 1970
 *       hole INTEGER,                  where the revision's digits belong in the body
 *       crc INTEGER,                   crc32c of the head << 32 | crc32c of the body
 *       body BLOB)                     the template, last so that heads are read without it
 *   meta(id = 1, base, floor, crc)     one row
 *
 * The newest row of a key is the object; there is no second copy to keep in step.
 * application_id tells our files from others, user_version is the format.
 */
#include "store/sqlite_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"

void vd_log_path(struct vd_buf *path, const char *folder)
{
    vd_buf_reset(path);
    vd_buf_addf(path, "%s/log.db", folder);
}

/* The size of a file of the folder; -1: there is none. */
static int64_t size_in(const char *folder, const char *name)
{
    struct vd_buf path = {0};
    struct stat s;
    vd_buf_addf(&path, "%s/%s", folder, name);
    int64_t size = stat(vd_buf_text(&path), &s) == 0 ? (int64_t)s.st_size : -1;
    vd_buf_release(&path);
    return size;
}

int vd_log_check_former(const char *folder, const char *trace, bool *former, struct vd_error *error)
{
    int64_t log = size_in(folder, "log.db"), wal = size_in(folder, "log.db-wal");
    bool traced = trace && size_in(folder, trace) >= 0;
    const char *what = log < 0 ? "missing" : "empty";
    *former = traced;
    if (log > 0)
        return VD_OK;
    if (wal > 0)
        return vd_error_set(error, VD_ERR_NOT_FOUND,
                            "the data folder %s has a log.db-wal of %lld bytes, but its log.db is "
                            "%s: put that log.db back, or move log.db-wal away and restore a "
                            "backup ('vedette store restore --data DIR --from FILE') or begin anew "
                            "without any objects ('vedette store init --data DIR')",
                            folder, (long long)wal, what);
    if (traced)
        return vd_error_set(error, VD_ERR_NOT_FOUND,
                            "the data folder %s is a former server's, as its %s shows, but its "
                            "log.db is %s: put it back, restore a backup ('vedette store restore "
                            "--data DIR --from FILE'), or begin anew without any objects "
                            "('vedette store init --data DIR')",
                            folder, trace, what);
    return VD_OK;
}

/* A full disk is an error that passes, unless a sync met it: then it is unknown what reached the
 * disk. */
static enum vd_code code_of(sqlite3 *db, int rc)
{
    int extended = db ? sqlite3_extended_errcode(db) : rc;
    int os = db ? sqlite3_system_errno(db) : 0;
    bool sync = extended == SQLITE_IOERR_FSYNC || extended == SQLITE_IOERR_DIR_FSYNC;
    switch (rc & 0xff) {
    case SQLITE_FULL:
        return VD_ERR_FULL;
    case SQLITE_NOMEM:
        return VD_ERR_MEMORY;
    case SQLITE_IOERR:
        if (extended == SQLITE_IOERR_NOMEM)
            return VD_ERR_MEMORY;
        if (extended == SQLITE_IOERR_SHMSIZE) /* no room for the index of the write-ahead log */
            return VD_ERR_FULL;
        return !sync && (os == ENOSPC || os == EDQUOT) ? VD_ERR_FULL : VD_ERR_IO;
    case SQLITE_CORRUPT:
        return VD_ERR_CORRUPT;
    case SQLITE_NOTADB:
        return VD_ERR_FORMAT;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return VD_ERR_LOCKED;
    default:
        return VD_ERR_IO;
    }
}

int vd_log_error(sqlite3 *db, int rc, const char *doing, struct vd_error *error)
{
    const char *file = db ? sqlite3_db_filename(db, "main") : NULL;
    int os = db ? sqlite3_system_errno(db) : 0;
    return vd_error_set(error, code_of(db, rc), "%s%s%s: %s%s%s", doing, file && *file ? " " : "",
                        file ? file : "", db ? sqlite3_errmsg(db) : sqlite3_errstr(rc),
                        os ? ": " : "", os ? strerror(os) : "");
}

/* Puts "log.db" in the place of `path`, once. */
static void replace_path(struct vd_error *error, const char *path)
{
    char *at = path && *path ? strstr(error->text, path) : NULL;
    if (!at)
        return;
    struct vd_buf text = {0};
    vd_buf_addf(&text, "%.*slog.db%s", (int)(at - error->text), error->text, at + strlen(path));
    snprintf(error->text, sizeof error->text, "%s", vd_buf_text(&text));
    vd_buf_release(&text);
}

int vd_log_hide_path(sqlite3 *db, const char *path, int code, struct vd_error *error)
{
    if (code && error) {
        replace_path(error, db ? sqlite3_db_filename(db, "main") : NULL);
        replace_path(error, path);
    }
    return code;
}

int vd_log_exec(sqlite3 *db, const char *sql, struct vd_error *error)
{
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? VD_OK : vd_log_error(db, rc, "could not use", error);
}

int vd_log_run(sqlite3 *db, sqlite3_stmt *statement, struct vd_error *error)
{
    int rc = sqlite3_step(statement);
    int code = rc == SQLITE_DONE ? VD_OK : vd_log_error(db, rc, "could not use", error);
    sqlite3_reset(statement);
    return code;
}

int vd_log_prepare(sqlite3 *db, sqlite3_stmt **out, const char *sql, struct vd_error *error)
{
    int rc = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    return rc == SQLITE_OK ? VD_OK : vd_log_error(db, rc, "could not use", error);
}

int vd_log_number(sqlite3 *db, const char *sql, int64_t *out, struct vd_error *error)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *out = sqlite3_column_int64(statement, 0);
    int code = rc == SQLITE_ROW ? VD_OK : vd_log_error(db, rc, "could not read", error);
    sqlite3_finalize(statement);
    return code;
}

static uint32_t meta_crc(struct vd_log_meta meta)
{
    uint64_t fields[2] = {meta.base, meta.floor};
    return vd_crc32c(0, fields, sizeof fields);
}

int vd_log_meta_read(sqlite3 *db, struct vd_log_meta *meta, struct vd_error *error)
{
    sqlite3_stmt *statement = NULL;
    int code = vd_log_prepare(db, &statement, "SELECT base, floor, crc FROM meta", error);
    if (code)
        return code;
    int rc = sqlite3_step(statement);
    struct vd_log_meta read = {(uint64_t)sqlite3_column_int64(statement, 0),
                               (uint64_t)sqlite3_column_int64(statement, 1)};
    uint32_t crc = (uint32_t)sqlite3_column_int64(statement, 2);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        code = vd_log_error(db, rc, "could not read", error);
    else if (rc == SQLITE_DONE || crc != meta_crc(read))
        code = vd_error_set(error, VD_ERR_CORRUPT,
                            "the meta row of %s fails its checksum: restore the newest backup with "
                            "'vedette store restore'",
                            sqlite3_db_filename(db, "main"));
    else
        *meta = read;
    sqlite3_finalize(statement);
    return code;
}

int vd_log_meta_write(sqlite3 *db, struct vd_log_meta meta, struct vd_error *error)
{
    sqlite3_stmt *statement = NULL;
    int code = vd_log_prepare(db, &statement,
                              "REPLACE INTO meta(id,base,floor,crc) VALUES(1,?,?,?)", error);
    if (code)
        return code;
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)meta.base);
    sqlite3_bind_int64(statement, 2, (sqlite3_int64)meta.floor);
    sqlite3_bind_int64(statement, 3, meta_crc(meta));
    int rc = sqlite3_step(statement);
    if (rc != SQLITE_DONE)
        code = vd_log_error(db, rc, "could not write to", error);
    sqlite3_finalize(statement);
    return code;
}

/* One transaction: a crash leaves an empty file, which is created again. */
static int create_schema(sqlite3 *db, struct vd_error *error)
{
    char pragmas[128];
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id=%d; PRAGMA user_version=%d;",
             VD_LOG_APPLICATION_ID, VD_LOG_FORMAT);
    const char *const steps[] = {
        "BEGIN IMMEDIATE",
        pragmas,
        "CREATE TABLE log(revision INTEGER PRIMARY KEY, kind TEXT NOT NULL,"
        " namespace TEXT NOT NULL, name TEXT NOT NULL, uid BLOB NOT NULL, type INTEGER NOT NULL,"
        " previous INTEGER NOT NULL, time INTEGER NOT NULL, hole INTEGER NOT NULL,"
        " crc INTEGER NOT NULL, body BLOB NOT NULL)",
        "CREATE TABLE meta(id INTEGER PRIMARY KEY CHECK (id = 1), base INTEGER NOT NULL,"
        " floor INTEGER NOT NULL, crc INTEGER NOT NULL)",
    };
    int code = VD_OK;
    for (size_t i = 0; !code && i < sizeof steps / sizeof *steps; i++)
        code = vd_log_exec(db, steps[i], error);
    if (!code)
        code = vd_log_meta_write(db, (struct vd_log_meta){.base = VD_LOG_REVISION_FIRST}, error);
    return code ? code : vd_log_exec(db, "COMMIT", error);
}

/* Checks that the file is a Vedette log of a format that this program knows; an empty database
 * becomes a log. Until this has succeeded nothing is changed, since the file may belong to another
 * program. */
static int check_format(sqlite3 *db, enum vd_log_open how, bool *empty, struct vd_error *error)
{
    int64_t id = 0, format = 0, all = 0, ours = 0;
    int code = vd_log_number(db, "PRAGMA application_id", &id, error);
    if (!code)
        code = vd_log_number(db, "PRAGMA user_version", &format, error);
    if (!code)
        code = vd_log_number(db, "SELECT count(*) FROM sqlite_schema", &all, error);
    if (!code)
        code = vd_log_number(db, "SELECT count(*) FROM sqlite_schema WHERE name IN ('log','meta')",
                             &ours, error);
    if (code)
        return code;
    const char *file = sqlite3_db_filename(db, "main");
    *empty = id == 0 && format == 0 && all == 0 && how == VD_LOG_CREATE;
    if (*empty)
        return VD_OK;
    if (id == 0 && format == 0 && all == 0)
        return vd_error_set(error, VD_ERR_FORMAT, "%s is empty: %s", file,
                            how == VD_LOG_READ_ONLY
                                ? "no server has finished starting with it"
                                : "move it away, and restore a backup with 'vedette store restore' "
                                  "or begin anew with 'vedette store init'");
    if (id != VD_LOG_APPLICATION_ID)
        return vd_error_set(error, VD_ERR_FORMAT,
                            "%s is an SQLite database of another program: use another data folder",
                            file);
    if (format > VD_LOG_FORMAT)
        return vd_error_set(error, VD_ERR_FORMAT,
                            "%s was written by a newer Vedette (format %lld, this one knows up to "
                            "%d): use that version",
                            file, (long long)format, VD_LOG_FORMAT);
    if (ours != 2)
        return vd_error_set(error, VD_ERR_CORRUPT,
                            "%s lacks its tables: restore the newest backup with 'vedette store "
                            "restore'",
                            file);
    return VD_OK;
}

/* synchronous=FULL: SQLite syncs every commit before COMMIT returns. SQLite's own checkpoints are
 * off, since sqlite_tidy() makes them. */
static int configure(sqlite3 *db, struct vd_error *error)
{
    return vd_log_exec(db,
                       "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                       "PRAGMA wal_autocheckpoint=0; PRAGMA journal_size_limit=67108864;"
                       "PRAGMA cache_size=-2048",
                       error);
}

static int prepare_file(sqlite3 *db, enum vd_log_open how, struct vd_error *error)
{
    bool empty = false;
    sqlite3_busy_timeout(db, VD_LOG_BUSY_MS);
    sqlite3_extended_result_codes(db, 1);
    int code = check_format(db, how, &empty, error);
    if (!code && how != VD_LOG_READ_ONLY)
        code = configure(db, error);
    return !code && empty ? create_schema(db, error) : code;
}

int vd_log_open(sqlite3 **out, const char *path, const char *vfs, enum vd_log_open how,
                struct vd_error *error)
{
    sqlite3 *db = NULL;
    int flags = SQLITE_OPEN_NOMUTEX;
    flags |= how == VD_LOG_READ_ONLY ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    if (how == VD_LOG_CREATE)
        flags |= SQLITE_OPEN_CREATE;
    int rc = sqlite3_open_v2(path, &db, flags, vfs);
    int code = VD_OK;
    if (rc == SQLITE_CANTOPEN && how == VD_LOG_READ_ONLY && !vfs && access(path, F_OK) != 0)
        code = vd_error_set(error, VD_ERR_NOT_FOUND, "there is no log at %s: %s", path,
                            strerror(errno));
    else if (rc != SQLITE_OK)
        code = vd_error_set(error, code_of(db, rc), "could not open %s: %s", path,
                            db && sqlite3_system_errno(db) ? strerror(sqlite3_system_errno(db))
                                                           : sqlite3_errstr(rc));
    if (!code)
        code = prepare_file(db, how, error);
    if (code == VD_ERR_FORMAT && error && strstr(error->text, "not a database"))
        code = vd_error_set(error, VD_ERR_FORMAT,
                            "%s is not a Vedette log (nor any SQLite database): use another data "
                            "folder, or restore a backup",
                            path);
    if (code) {
        sqlite3_close(db);
        return code;
    }
    *out = db;
    return VD_OK;
}
