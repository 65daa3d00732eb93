/*
 * What is in a log file.
 *
 * The newest row of a key is the one that no row names as `previous`; unless it
 * is a deletion, it is an object. Lengths come from the rows' heads, so bodies
 * stay unread. All numbers are of one read transaction, but for the files' sizes.
 */
#include "store/sqlite_stats.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "store/event.h"
#include "store/sqlite_file.h"

static uint64_t file_size(const char *path, const char *suffix)
{
    struct vd_buf name = {0};
    struct stat s;
    vd_buf_addf(&name, "%s%s", path, suffix);
    uint64_t size = stat(vd_buf_text(&name), &s) == 0 ? (uint64_t)s.st_size : 0;
    vd_buf_release(&name);
    return size;
}

static int read_kinds(struct vd_log_stats *stats, sqlite3 *db, struct vd_error *error)
{
    sqlite3_stmt *select = NULL;
    int rc = SQLITE_DONE;
    int code = vd_log_prepare(db, &select,
                              "SELECT kind, count(*), sum(length(body)) FROM log"
                              " WHERE type & 15 != ?1 AND revision NOT IN"
                              " (SELECT previous FROM log) GROUP BY kind ORDER BY 3 DESC, kind",
                              error);
    if (!code)
        sqlite3_bind_int(select, 1, VD_EVENT_DELETED);
    while (!code && (rc = sqlite3_step(select)) == SQLITE_ROW) {
        struct vd_resource_stats *k = VD_VEC_PUSH(&stats->resources);
        const char *resource = (const char *)sqlite3_column_text(select, 0);
        *k = (struct vd_resource_stats){
            .resource = vd_strdup(resource ? resource : ""),
            .objects = (uint64_t)sqlite3_column_int64(select, 1),
            .bytes = (uint64_t)sqlite3_column_int64(select, 2),
        };
        stats->objects += k->objects;
        stats->object_bytes += k->bytes;
    }
    if (!code && rc != SQLITE_DONE)
        code = vd_log_error(db, rc, "could not read", error);
    sqlite3_finalize(select);
    return code;
}

static int read_window(struct vd_log_stats *stats, sqlite3 *db, struct vd_error *error)
{
    sqlite3_stmt *select = NULL;
    int code = vd_log_prepare(
        db, &select, "SELECT count(*), coalesce(min(time), 0) FROM log WHERE revision > ?", error);
    if (code)
        return code;
    sqlite3_bind_int64(select, 1, (sqlite3_int64)stats->floor);
    int rc = sqlite3_step(select);
    if (rc == SQLITE_ROW) {
        stats->window_events = (uint64_t)sqlite3_column_int64(select, 0);
        stats->window_oldest_ms = sqlite3_column_int64(select, 1);
    } else {
        code = vd_log_error(db, rc, "could not read", error);
    }
    sqlite3_finalize(select);
    return code;
}

static int read_all(struct vd_log_stats *stats, sqlite3 *db, struct vd_error *error)
{
    struct vd_log_meta meta = {0};
    int64_t rows = 0, newest = 0, page = 0, unused = 0;
    int code = vd_log_exec(db, "BEGIN", error);
    if (!code)
        code = vd_log_meta_read(db, &meta, error);
    if (!code)
        code = vd_log_number(db, "SELECT count(*) FROM log", &rows, error);
    if (!code)
        code = vd_log_number(db, "SELECT coalesce(max(revision), 0) FROM log", &newest, error);
    if (!code)
        code = vd_log_number(db, "PRAGMA page_size", &page, error);
    if (!code)
        code = vd_log_number(db, "PRAGMA freelist_count", &unused, error);
    if (code)
        return code;
    stats->floor = meta.floor;
    stats->revision = (uint64_t)newest > meta.base ? (uint64_t)newest : meta.base;
    stats->rows = (uint64_t)rows;
    stats->free_bytes = (uint64_t)(page * unused);
    code = read_window(stats, db, error);
    return code ? code : read_kinds(stats, db, error);
}

int vd_log_stats_read(struct vd_log_stats *stats, const char *folder, struct vd_error *error)
{
    struct vd_buf path = {0};
    struct vd_log_stats read = {0};
    sqlite3 *db = NULL;
    vd_log_path(&path, folder);
    int code = vd_log_open(&db, vd_buf_text(&path), NULL, VD_LOG_READ_ONLY, error);
    if (!code)
        code = read_all(&read, db, error);
    if (!code) {
        read.file_bytes = file_size(vd_buf_text(&path), "");
        read.wal_bytes = file_size(vd_buf_text(&path), "-wal");
        *stats = read;
    } else {
        vd_log_stats_release(&read);
    }
    sqlite3_close(db);
    vd_buf_release(&path);
    return code;
}

void vd_log_stats_release(struct vd_log_stats *stats)
{
    for (size_t i = 0; i < stats->resources.n; i++)
        free(stats->resources.p[i].resource);
    VD_VEC_RELEASE(&stats->resources);
    *stats = (struct vd_log_stats){0};
}

/* Runs a query with one bound number that gives one number; 0 when it gives no row. */
static int lookup(sqlite3 *db, const char *sql, int64_t bound, uint64_t *out,
                  struct vd_error *error)
{
    sqlite3_stmt *select = NULL;
    int code = vd_log_prepare(db, &select, sql, error);
    if (code)
        return code;
    sqlite3_bind_int64(select, 1, bound);
    int rc = sqlite3_step(select);
    if (rc == SQLITE_ROW || rc == SQLITE_DONE)
        *out = rc == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(select, 0) : 0;
    else
        code = vd_log_error(db, rc, "could not read", error);
    sqlite3_finalize(select);
    return code;
}

int vd_log_floor_for(const char *folder, uint64_t events_max, int64_t since_ms, uint64_t *floor,
                     struct vd_error *error)
{
    struct vd_buf path = {0};
    sqlite3 *db = NULL;
    uint64_t by_events = 0, by_age = 0;
    int64_t skip = events_max < INT64_MAX ? (int64_t)events_max : INT64_MAX;
    vd_log_path(&path, folder);
    int code = vd_log_open(&db, vd_buf_text(&path), NULL, VD_LOG_READ_ONLY, error);
    if (!code)
        code = lookup(db, "SELECT revision FROM log ORDER BY revision DESC LIMIT 1 OFFSET ?", skip,
                      &by_events, error);
    if (!code)
        code = lookup(db, "SELECT max(revision) FROM log WHERE time < ?", since_ms, &by_age, error);
    if (!code)
        *floor = by_events > by_age ? by_events : by_age;
    sqlite3_close(db);
    vd_buf_release(&path);
    return code;
}
