/*
 * The embedded engine: the log in one SQLite file.
 *
 * The writer has the one connection that writes, which one thread uses at a time. History is read
 * through a small pool of further connections, each used by one thread at a time; in WAL mode they
 * never block the writer, nor it them.
 *
 * A commit is one transaction, synced by SQLite (synchronous=FULL) before COMMIT returns. tidy()
 * checkpoints the write-ahead log (the WAL) into the main file. The writer calls it after it has
 * answered, so that no proposer waits for a checkpoint.
 */
#include "store/sqlite_engine.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "base/errno_advice.h"
#include "base/failpoint.h"
#include "base/vec.h"
#include "store/sqlite_file.h"
#include "store/sqlite_row.h"

enum {
    READERS_IDLE_MAX = 4, /* connections that are kept open for the next reader */
    FILE_MODE = 0600,     /* only its owner reads the log */
    WAL_PATIENCE = 4,     /* when the WAL has grown to this many times its bound, tidy() waits for
                             readers so that it can be restarted */
    WAL_WAIT_MS = 100,    /* milliseconds that tidy() waits for readers */
    WAL_PAGE_LEN = 4096 + 24, /* bytes of a page in the WAL, with the header of its frame */
    WAL_AHEAD_LEN = 1 << 20,  /* bytes that the WAL's file is longer than its content, ... */
    WAL_AHEAD_PAGES_MIN = 64, /* ... once the WAL has this many pages */
    WAL_ZEROS_LEN = 1 << 13,  /* bytes of zeros that one write adds to the WAL's file */
};

struct reader {
    sqlite3 *db;
    sqlite3_stmt *read;
    sqlite3_stmt *history;
    sqlite3_stmt *get;
};

struct sqlite_engine {
    struct vd_engine engine;
    sqlite3 *db;
    sqlite3_stmt *begin;
    sqlite3_stmt *commit;
    sqlite3_stmt *insert;
    sqlite3_stmt *remove;
    struct vd_log_meta meta;
    uint64_t revision; /* the newest; used by the writer only */
    uint64_t passed;  /* rows that the floor has passed since the log was opened; used by the writer
                         only */
    size_t wal_pages; /* in the WAL; used by the writer only */
    size_t wal_folded;     /* how many of them the last checkpoint has copied */
    sqlite3_int64 wal_len; /* the length to which lengthen_wal() has extended its file */
    int busy_ms;
    int wait_ms; /* the present busy timeout of the writer's connection */
    size_t checkpoint_pages;
    bool failed; /* a write or sync failed for good; used by the writer only */
    struct vd_buf folder;
    struct vd_buf path;
    struct vd_lock_file lock_file;
    char *vfs;
    pthread_mutex_t lock; /* guards idle; held for a push or a pop only */
    VD_VEC(struct reader *) idle;
};

static int hide_path(const struct sqlite_engine *e, int code, struct vd_error *error)
{
    return vd_log_hide_path(e->db, vd_buf_text(&e->path), code, error);
}

static void reader_free(struct reader *reader)
{
    if (!reader)
        return;
    sqlite3_finalize(reader->read);
    sqlite3_finalize(reader->history);
    sqlite3_finalize(reader->get);
    sqlite3_close(reader->db);
    free(reader);
}

static int reader_take(struct sqlite_engine *e, struct reader **out, struct vd_error *error)
{
    struct reader *reader = NULL;
    pthread_mutex_lock(&e->lock);
    if (e->idle.n)
        reader = e->idle.p[--e->idle.n];
    pthread_mutex_unlock(&e->lock);
    if (reader) {
        *out = reader;
        return VD_OK;
    }
    reader = VD_NEW(struct reader);
    int code = vd_log_open(&reader->db, vd_buf_text(&e->path), e->vfs, VD_LOG_READ_ONLY, error);
    if (!code)
        code = vd_log_prepare(reader->db, &reader->read,
                              "SELECT " VD_ROW_COLUMNS " FROM log WHERE revision>?1 AND "
                              "revision<=?2 ORDER BY revision LIMIT ?3",
                              error);
    if (!code)
        code = vd_log_prepare(reader->db, &reader->history, VD_ROW_HISTORY, error);
    if (!code)
        code = vd_log_prepare(reader->db, &reader->get,
                              "SELECT " VD_ROW_COLUMNS " FROM log WHERE revision<=?1 "
                              "ORDER BY revision DESC LIMIT 1",
                              error);
    if (code)
        reader_free(reader);
    else
        *out = reader;
    return hide_path(e, code, error);
}

static void reader_give_back(struct sqlite_engine *e, struct reader *reader)
{
    pthread_mutex_lock(&e->lock);
    bool keep = e->idle.n < READERS_IDLE_MAX;
    if (keep)
        *VD_VEC_PUSH(&e->idle) = reader;
    pthread_mutex_unlock(&e->lock);
    if (!keep)
        reader_free(reader);
}

/* Steps through a bound SELECT; *rows counts what it gave. */
static int rows_pass(sqlite3 *db, sqlite3_stmt *select, const struct vd_row_sink *sink,
                     size_t *rows, struct vd_error *error)
{
    int code = VD_OK, rc = SQLITE_ROW;
    bool go_on = true;
    *rows = 0;
    while (!code && go_on && (rc = sqlite3_step(select)) == SQLITE_ROW) {
        code = vd_row_read(select, sink, &go_on, error);
        ++*rows;
    }
    if (!code && rc != SQLITE_ROW && rc != SQLITE_DONE)
        code = vd_log_error(db, rc, "could not read", error);
    sqlite3_reset(select);
    return code;
}

/* SQLite's integers end at 2^63 - 1, and so do the log's revisions: a larger bound becomes that
 * one. */
static sqlite3_int64 bound(uint64_t number)
{
    return number > INT64_MAX ? INT64_MAX : (sqlite3_int64)number;
}

static int sqlite_read(struct vd_engine *engine, uint64_t after, uint64_t upto, size_t rows_max,
                       const struct vd_row_sink *sink, struct vd_error *error)
{
    struct sqlite_engine *e = VD_CONTAINER_OF(engine, struct sqlite_engine, engine);
    struct reader *reader = NULL;
    int code = reader_take(e, &reader, error);
    if (code)
        return code;
    size_t rows;
    sqlite3_bind_int64(reader->read, 1, bound(after));
    sqlite3_bind_int64(reader->read, 2, bound(upto));
    sqlite3_bind_int64(reader->read, 3, bound(rows_max));
    code = rows_pass(reader->db, reader->read, sink, &rows, error);
    reader_give_back(e, reader);
    return hide_path(e, code, error);
}

static int sqlite_history(struct vd_engine *engine, struct vd_slice resource, uint64_t after,
                          uint64_t upto, size_t rows_max, const struct vd_history_sink *sink,
                          struct vd_error *error)
{
    struct sqlite_engine *e = VD_CONTAINER_OF(engine, struct sqlite_engine, engine);
    struct reader *reader = NULL;
    int code = reader_take(e, &reader, error), rc = SQLITE_ROW;
    if (code)
        return code;
    sqlite3_stmt *select = reader->history;
    bool go_on = true;
    sqlite3_bind_int64(select, 1, bound(after));
    sqlite3_bind_int64(select, 2, bound(upto));
    sqlite3_bind_int64(select, 3, bound(rows_max));
    sqlite3_bind_text(select, 4, resource.n ? resource.p : "", (int)resource.n, SQLITE_STATIC);
    while (!code && go_on && (rc = sqlite3_step(select)) == SQLITE_ROW)
        code = vd_row_read_history(select, resource, sink, &go_on, error);
    if (!code && rc != SQLITE_ROW && rc != SQLITE_DONE)
        code = vd_log_error(reader->db, rc, "could not read", error);
    sqlite3_reset(select);
    sqlite3_clear_bindings(select); /* the resource is borrowed */
    reader_give_back(e, reader);
    return hide_path(e, code, error);
}

static int sqlite_state(struct vd_engine *engine, struct vd_engine_state *state,
                        struct vd_error *error)
{
    (void)error;
    struct sqlite_engine *e = VD_CONTAINER_OF(engine, struct sqlite_engine, engine);
    *state = (struct vd_engine_state){e->revision, e->meta.floor, e->passed};
    return VD_OK;
}

static int sqlite_get(struct vd_engine *engine, uint64_t revision, const struct vd_row_sink *sink,
                      struct vd_error *error)
{
    struct sqlite_engine *e = VD_CONTAINER_OF(engine, struct sqlite_engine, engine);
    struct reader *reader = NULL;
    int code = reader_take(e, &reader, error);
    if (code)
        return code;
    size_t rows;
    sqlite3_bind_int64(reader->get, 1, bound(revision));
    code = rows_pass(reader->db, reader->get, sink, &rows, error);
    if (!code && rows == 0)
        code = vd_error_set(error, VD_ERR_NOT_FOUND, "revision %llu is no longer in the log",
                            (unsigned long long)revision);
    reader_give_back(e, reader);
    return hide_path(e, code, error);
}

static int missing(uint64_t revision, struct vd_error *error)
{
    return vd_error_set(error, VD_ERR_CORRUPT,
                        "revision %llu is missing from the log: restore the newest backup with "
                        "'vedette store restore'",
                        (unsigned long long)revision);
}

/* Revisions have no gaps here, and compaction removes only rows at or below the floor: a row that
 * is missing above it was lost. */
static int sqlite_load(struct vd_engine *engine, const struct vd_row_sink *sink,
                       struct vd_engine_state *state, struct vd_error *error)
{
    struct sqlite_engine *e = VD_CONTAINER_OF(engine, struct sqlite_engine, engine);
    *state = (struct vd_engine_state){e->revision, e->meta.floor, e->passed};
    sqlite3_stmt *select = NULL;
    uint64_t lowest = e->meta.floor > e->meta.base ? e->meta.floor : e->meta.base;
    uint64_t due = e->revision;
    int rc = SQLITE_ROW;
    bool go_on = true;
    int code = vd_log_prepare(e->db, &select,
                              "SELECT " VD_ROW_COLUMNS " FROM log ORDER BY revision DESC", error);
    while (!code && go_on && (rc = sqlite3_step(select)) == SQLITE_ROW) {
        if (due > lowest && (uint64_t)sqlite3_column_int64(select, 0) != due)
            code = missing(due, error);
        else
            code = vd_row_read(select, sink, &go_on, error);
        due -= due > lowest;
    }
    if (!code && rc != SQLITE_ROW && rc != SQLITE_DONE)
        code = vd_log_error(e->db, rc, "could not read", error);
    if (!code && rc == SQLITE_DONE && due > lowest)
        code = missing(due, error);
    sqlite3_finalize(select);
    return code;
}

/* Ends a transaction that failed; the error that it failed with is the one to report. */
static void rollback(struct sqlite_engine *e, int code)
{
    if (!sqlite3_get_autocommit(e->db))
        sqlite3_exec(e->db, "ROLLBACK", NULL, NULL, NULL);
    e->failed |= !vd_code_passes(code);
}

/* Sets how long the writer's connection waits from now on for another that has locked the file. */
static void set_wait(struct sqlite_engine *e, int wait_ms)
{
    if (wait_ms != e->wait_ms)
        sqlite3_busy_timeout(e->db, wait_ms);
    e->wait_ms = wait_ms;
}

static int behind(const char *what, uint64_t revision, struct vd_error *error)
{
    return vd_error_set(error, VD_ERR_BEHIND, "the log's %s is not revision %llu", what,
                        (unsigned long long)revision);
}

static int insert_rows(struct sqlite_engine *e, uint64_t head, struct vd_row *rows, size_t n,
                       struct vd_error *error)
{
    for (size_t i = 0; i < n; i++) {
        rows[i].revision = head + 1 + i;
        if (rows[i].previous_row)
            rows[i].previous = rows[rows[i].previous_row - 1].revision;
        vd_row_bind(e->insert, &rows[i]);
        int rc = sqlite3_step(e->insert);
        sqlite3_reset(e->insert);
        if (rc != SQLITE_DONE)
            return vd_log_error(e->db, rc, "could not write to", error);
    }
    return VD_OK;
}

static int sqlite_commit(struct vd_engine *engine, struct vd_engine_commit how, struct vd_row *rows,
                         size_t n, struct vd_error *error)
{
    struct sqlite_engine *e = VD_CONTAINER_OF(engine, struct sqlite_engine, engine);
    if (how.head != e->revision)
        return behind("newest revision", how.head, error);
    set_wait(e, how.patient ? e->busy_ms : 0);
    int code = vd_log_run(e->db, e->begin, error);
    if (!code)
        code = insert_rows(e, how.head, rows, n, error);
    VD_FAILPOINT("engine.before_commit");
    if (!code)
        code = vd_log_run(e->db, e->commit, error);
    VD_FAILPOINT("engine.after_commit");
    if (code)
        rollback(e, code);
    else
        e->revision += n;
    return hide_path(e, code, error);
}

static int sqlite_compact(struct vd_engine *engine, const struct vd_compaction *what,
                          struct vd_error *error)
{
    struct sqlite_engine *e = VD_CONTAINER_OF(engine, struct sqlite_engine, engine);
    struct vd_log_meta meta = {.base = e->meta.base, .floor = what->floor};
    if (what->floor_seen != e->meta.floor)
        return behind("floor", what->floor_seen, error);
    set_wait(e, e->busy_ms);
    int code = vd_log_run(e->db, e->begin, error);
    for (size_t i = 0; !code && i < what->n; i++) {
        sqlite3_bind_int64(e->remove, 1, (sqlite3_int64)what->dead[i]);
        int rc = sqlite3_step(e->remove);
        sqlite3_reset(e->remove);
        if (rc != SQLITE_DONE)
            code = vd_log_error(e->db, rc, "could not compact", error);
    }
    if (!code)
        code = vd_log_meta_write(e->db, meta, error);
    VD_FAILPOINT("engine.before_compact_commit");
    if (!code)
        code = vd_log_run(e->db, e->commit, error);
    VD_FAILPOINT("engine.after_compact_commit");
    if (code) {
        rollback(e, code);
        return hide_path(e, code, error);
    }
    e->meta = meta;
    e->passed += what->passed;
    return VD_OK;
}

/*
 * Checkpoints the WAL into the main file. A passive checkpoint never waits, but after it SQLite can
 * restart the WAL only if no reader uses it at that moment, so with busy readers the WAL would grow
 * for ever. Once it is large, the checkpoint therefore waits a little for the present readers;
 * those who begin later read the main file, and the checkpoint need not wait for them.
 */
static int checkpoint(struct sqlite_engine *e)
{
    bool waits = e->wal_pages / WAL_PATIENCE >= e->checkpoint_pages;
    int mode = waits ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE;
    set_wait(e, WAL_WAIT_MS);
    int rc = sqlite3_wal_checkpoint_v2(e->db, NULL, mode, NULL, NULL);
    return (rc & 0xff) == SQLITE_BUSY ? SQLITE_OK : rc;
}

/* Appends zeros to the WAL's file. The caller holds SQLite's write lock: without it another process
 * could append frames after the file's length was read, and the zeros would overwrite them. */
static void lengthen_wal(struct sqlite_engine *e, sqlite3_int64 used)
{
    static const char zeros[WAL_ZEROS_LEN];
    sqlite3_file *wal = NULL;
    sqlite3_int64 len = 0;
    if (sqlite3_file_control(e->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal) != SQLITE_OK ||
        !wal || !wal->pMethods || wal->pMethods->xFileSize(wal, &len) != SQLITE_OK)
        return;
    for (e->wal_len = used + WAL_AHEAD_LEN; len < e->wal_len; len += WAL_ZEROS_LEN)
        if (wal->pMethods->xWrite(wal, zeros, WAL_ZEROS_LEN, len) != SQLITE_OK)
            return;
}

/*
 * Makes the WAL's file longer before it is needed: a sync after overwriting bytes is twice as fast
 * as a sync after the file has grown, which has to write the file's new length, too. Readers know
 * from the WAL's checksums where its content ends. This is done in a transaction without any
 * change, which costs no sync and keeps other writers and checkpoints away from the file. When
 * another process has the lock, the file is extended the next time. If there is no room, no error
 * is given here: a commit that needs the room will fail.
 */
static void extend_wal(struct sqlite_engine *e)
{
    sqlite3_int64 used = (sqlite3_int64)e->wal_pages * WAL_PAGE_LEN;
    if (e->wal_pages < WAL_AHEAD_PAGES_MIN || used + WAL_AHEAD_LEN / 2 <= e->wal_len ||
        e->wal_pages >= e->checkpoint_pages)
        return;
    set_wait(e, 0);
    if (vd_log_run(e->db, e->begin, NULL) == VD_OK)
        lengthen_wal(e, used);
    if (!sqlite3_get_autocommit(e->db))
        sqlite3_exec(e->db, "ROLLBACK", NULL, NULL, NULL);
}

/* A sync that fails here is as final as one that fails in a commit. */
static int sqlite_tidy(struct vd_engine *engine, struct vd_error *error)
{
    struct sqlite_engine *e = VD_CONTAINER_OF(engine, struct sqlite_engine, engine);
    extend_wal(e);
    if (e->wal_pages - e->wal_folded < e->checkpoint_pages)
        return VD_OK;
    VD_FAILPOINT("engine.before_checkpoint");
    int rc = checkpoint(e);
    VD_FAILPOINT("engine.after_checkpoint");
    if (rc != SQLITE_OK) {
        int code = vd_log_error(e->db, rc, "could not checkpoint", error);
        e->failed |= !vd_code_passes(code);
        return hide_path(e, code, error);
    }
    e->wal_folded = e->wal_pages;
    return VD_OK;
}

/* Writes the meta row again, unchanged. */
static int sqlite_probe(struct vd_engine *engine, struct vd_error *error)
{
    struct sqlite_engine *e = VD_CONTAINER_OF(engine, struct sqlite_engine, engine);
    set_wait(e, 0);
    int code = vd_log_run(e->db, e->begin, error);
    if (!code)
        code = vd_log_meta_write(e->db, e->meta, error);
    if (!code)
        code = vd_log_run(e->db, e->commit, error);
    if (code)
        rollback(e, code);
    return hide_path(e, code, error);
}

static int count_wal_pages(void *arg, sqlite3 *db, const char *name, int pages)
{
    struct sqlite_engine *e = arg;
    (void)db;
    (void)name;
    if ((size_t)pages < e->wal_pages) /* the WAL was restarted */
        e->wal_folded = 0;
    e->wal_pages = (size_t)pages;
    return SQLITE_OK;
}

static uint64_t file_size(const char *path, const char *suffix)
{
    struct vd_buf name = {0};
    vd_buf_addf(&name, "%s%s", path, suffix);
    int fd = open(vd_buf_text(&name), O_RDONLY | O_CLOEXEC);
    off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    if (fd >= 0)
        close(fd);
    vd_buf_release(&name);
    return size > 0 ? (uint64_t)size : 0;
}

static int sqlite_stats(struct vd_engine *engine, struct vd_engine_stats *out,
                        struct vd_error *error)
{
    struct sqlite_engine *e = VD_CONTAINER_OF(engine, struct sqlite_engine, engine);
    struct reader *reader = NULL;
    int64_t rows = 0, page = 0, unused = 0;
    int code = reader_take(e, &reader, error);
    if (code)
        return code;
    code = vd_log_number(reader->db, "SELECT count(*) FROM log", &rows, error);
    if (!code)
        code = vd_log_number(reader->db, "PRAGMA page_size", &page, error);
    if (!code)
        code = vd_log_number(reader->db, "PRAGMA freelist_count", &unused, error);
    reader_give_back(e, reader);
    if (!code)
        *out = (struct vd_engine_stats){
            .rows = (uint64_t)rows,
            .file_bytes = file_size(vd_buf_text(&e->path), "") +
                          file_size(vd_buf_text(&e->path), "-wal"),
            .free_bytes = (uint64_t)(page * unused),
        };
    return code;
}

/* Closing checkpoints the WAL into the main file, with syncs. After a failed write or sync nothing
 * more is written to the disk: what was acknowledged is in the WAL, and the next open finds it. */
static void sqlite_close(struct vd_engine *engine)
{
    struct sqlite_engine *e = VD_CONTAINER_OF(engine, struct sqlite_engine, engine);
    if (e->failed)
        sqlite3_db_config(e->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    for (size_t i = 0; i < e->idle.n; i++)
        reader_free(e->idle.p[i]);
    VD_VEC_RELEASE(&e->idle);
    sqlite3_finalize(e->begin);
    sqlite3_finalize(e->commit);
    sqlite3_finalize(e->insert);
    sqlite3_finalize(e->remove);
    sqlite3_close(e->db);
    pthread_mutex_destroy(&e->lock);
    vd_lock_file_close(&e->lock_file); /* last, when no file of the log is open any more */
    vd_buf_release(&e->folder);
    vd_buf_release(&e->path);
    free(e->vfs);
    free(e);
}

static const struct vd_engine_ops sqlite_ops = {
    .name = "sqlite",
    .close = sqlite_close,
    .load = sqlite_load,
    .commit = sqlite_commit,
    .state = sqlite_state,
    .read = sqlite_read,
    .history = sqlite_history,
    .get = sqlite_get,
    .compact = sqlite_compact,
    .tidy = sqlite_tidy,
    .probe = sqlite_probe,
    .stats = sqlite_stats,
};

/* The name of a new file must survive a power loss too. */
static int sync_folder(const char *folder, struct vd_error *error)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? -1 : fsync(fd);
    if (fd >= 0)
        close(fd);
    return rc == 0 ? VD_OK : vd_error_set(error, VD_ERR_IO, "could not sync the folder %s", folder);
}

static int open_writer(struct sqlite_engine *e, bool must_exist, struct vd_error *error)
{
    int64_t newest = 0;
    enum vd_log_open how = must_exist ? VD_LOG_CHANGE : VD_LOG_CREATE;
    int code = vd_log_open(&e->db, vd_buf_text(&e->path), e->vfs, how, error);
    if (!code)
        code = vd_log_meta_read(e->db, &e->meta, error);
    if (!code)
        code = vd_log_number(e->db, "SELECT coalesce(max(revision),0) FROM log", &newest, error);
    if (!code)
        code = vd_log_prepare(e->db, &e->begin, "BEGIN IMMEDIATE", error);
    if (!code)
        code = vd_log_prepare(e->db, &e->commit, "COMMIT", error);
    if (!code)
        code = vd_log_prepare(e->db, &e->insert, VD_ROW_INSERT, error);
    if (!code)
        code = vd_log_prepare(e->db, &e->remove, "DELETE FROM log WHERE revision=?1", error);
    if (code)
        return code;
    set_wait(e, e->busy_ms);
    sqlite3_wal_hook(e->db, count_wal_pages, e);
    e->revision = (uint64_t)newest > e->meta.base ? (uint64_t)newest : e->meta.base;
    return VD_OK;
}

/* SQLite would make the file readable by all; objects may be secrets. Its
 * companions (-wal, -shm) get the same mode. */
static int create_private(const char *path, struct vd_error *error)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
    if (fd < 0)
        return vd_error_set(error, VD_ERR_IO, "could not open %s: %s%s", path, strerror(errno),
                            vd_errno_advice(errno));
    close(fd);
    return VD_OK;
}

int vd_sqlite_engine_open(struct vd_engine **out, const struct vd_sqlite_options *options,
                          struct vd_engine_state *state, struct vd_error *error)
{
    struct sqlite_engine *e = VD_NEW(struct sqlite_engine);
    e->engine.ops = &sqlite_ops;
    vd_buf_add_text(&e->folder, options->folder);
    e->engine.where = vd_buf_text(&e->folder);
    e->lock_file.fd = -1;
    e->wait_ms = -1;
    e->vfs = options->vfs ? vd_strdup(options->vfs) : NULL;
    e->checkpoint_pages = options->checkpoint_pages ? options->checkpoint_pages
                                                    : VD_CHECKPOINT_PAGES_DEFAULT;
    e->busy_ms = options->busy_ms ? options->busy_ms : VD_LOG_BUSY_MS;
    vd_log_path(&e->path, options->folder);
    pthread_mutex_init(&e->lock, NULL);
    bool makes = !options->vfs && !options->must_exist;
    int code = makes ? create_private(vd_buf_text(&e->path), error) : VD_OK;
    if (!code)
        code = open_writer(e, options->must_exist, error);
    if (!code && !options->vfs)
        code = sync_folder(options->folder, error);
    if (code) {
        sqlite_close(&e->engine);
        return code;
    }
    if (options->lock) {
        e->lock_file = *options->lock;
        options->lock->fd = -1;
    }
    *out = &e->engine;
    return sqlite_state(&e->engine, state, error);
}
