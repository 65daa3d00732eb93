/*
 * Rows of the log table.
 *
 * Two checksums stand in one column. A wrong *body* loses that version and no
 * more: its key is known, so reads of that object can say what happened. A wrong
 * *head* cannot be tied to a key - it may hide the newest version of any object -
 * so nothing may be served as if it were complete.
 */
#include "store/sqlite_row.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/limits.h"
#include "store/sqlite_file.h"

enum { TYPE_MORE = 16 }; /* added to the type: more rows of the batch follow */

enum column {
    COL_REVISION,
    COL_KIND,
    COL_NAMESPACE,
    COL_NAME,
    COL_UID,
    COL_TYPE,
    COL_PREVIOUS,
    COL_TIME,
    COL_HOLE,
    COL_CRC,
    COL_BODY, /* the body, when inserting */
    COL_BODY_LEN = COL_BODY,
    COL_BODY_SHORT, /* a short body, when reading; NULL: the body is long and is read apart */
    COL_COUNT,
};

/* The checksum covers the head's numbers in a fixed order, then its texts. The lengths of the texts
 * are among the numbers, so that a byte moved from one text to the next is noticed. */
static uint32_t head_crc(const struct vd_row *row)
{
    uint64_t numbers[] = {
        row->revision,          row->previous,
        (uint64_t)row->time_ms, (uint64_t)row->type | (row->more ? TYPE_MORE : 0),
        row->body.hole,         row->body_len,
        row->key.resource.n,    row->key.namespace.n,
        row->key.name.n,
    };
    uint32_t crc = vd_crc32c(0, numbers, sizeof numbers);
    crc = vd_crc32c(crc, row->key.resource.p, row->key.resource.n);
    crc = vd_crc32c(crc, row->key.namespace.p, row->key.namespace.n);
    crc = vd_crc32c(crc, row->key.name.p, row->key.name.n);
    return vd_crc32c(crc, row->uid.bytes, VD_UID_LEN);
}

static void bind_text(sqlite3_stmt *insert, int at, struct vd_slice text)
{
    sqlite3_bind_text(insert, at + 1, text.n ? text.p : "", (int)text.n, SQLITE_STATIC);
}

void vd_row_bind(sqlite3_stmt *insert, const struct vd_row *row)
{
    uint64_t crc = (uint64_t)head_crc(row) << 32 |
                   vd_crc32c(0, row->body.bytes.p, row->body.bytes.n);
    sqlite3_bind_int64(insert, COL_REVISION + 1, (sqlite3_int64)row->revision);
    bind_text(insert, COL_KIND, row->key.resource);
    bind_text(insert, COL_NAMESPACE, row->key.namespace);
    bind_text(insert, COL_NAME, row->key.name);
    sqlite3_bind_blob(insert, COL_UID + 1, row->uid.bytes, VD_UID_LEN, SQLITE_STATIC);
    sqlite3_bind_int(insert, COL_TYPE + 1, (int)row->type | (row->more ? TYPE_MORE : 0));
    sqlite3_bind_int64(insert, COL_PREVIOUS + 1, (sqlite3_int64)row->previous);
    sqlite3_bind_int64(insert, COL_TIME + 1, row->time_ms);
    sqlite3_bind_int64(insert, COL_HOLE + 1, row->body.hole);
    sqlite3_bind_int64(insert, COL_CRC + 1, (sqlite3_int64)crc);
    sqlite3_bind_blob(insert, COL_BODY + 1, row->body.bytes.n ? row->body.bytes.p : "",
                      (int)row->body.bytes.n, SQLITE_STATIC);
}

static struct vd_slice column_text(sqlite3_stmt *select, int at)
{
    const void *text = sqlite3_column_text(select, at);
    return vd_slice(text ? text : "", (size_t)sqlite3_column_bytes(select, at));
}

/* A row's columns begin at `from`. False when a column cannot be what was written, whatever the
 * checksum says. */
static bool read_head(sqlite3_stmt *select, int from, struct vd_row *row)
{
    int type = sqlite3_column_int(select, from + COL_TYPE);
    row->revision = (uint64_t)sqlite3_column_int64(select, from + COL_REVISION);
    row->key = (struct vd_key){column_text(select, from + COL_KIND),
                               column_text(select, from + COL_NAMESPACE),
                               column_text(select, from + COL_NAME)};
    bool has_uid = sqlite3_column_bytes(select, from + COL_UID) == VD_UID_LEN;
    if (has_uid)
        memcpy(row->uid.bytes, sqlite3_column_blob(select, from + COL_UID), VD_UID_LEN);
    row->type = (enum vd_event_type)(type & ~TYPE_MORE);
    row->more = type & TYPE_MORE;
    row->previous = (uint64_t)sqlite3_column_int64(select, from + COL_PREVIOUS);
    row->time_ms = sqlite3_column_int64(select, from + COL_TIME);
    row->body.hole = (uint32_t)sqlite3_column_int64(select, from + COL_HOLE);
    row->body_len = (uint32_t)sqlite3_column_int64(select, from + COL_BODY_LEN);
    return has_uid;
}

static bool head_is_sound(sqlite3_stmt *select, int from, const struct vd_row *row)
{
    uint64_t crc = (uint64_t)sqlite3_column_int64(select, from + COL_CRC);
    return head_crc(row) == (uint32_t)(crc >> 32) && row->type >= VD_EVENT_CREATED &&
           row->type <= VD_EVENT_DELETED && row->body.hole <= row->body_len &&
           vd_key_check(&row->key, NULL) == VD_OK;
}

/* Reads a long body into *room, which the caller frees. If SQLite finds its pages damaged, the body
 * is lost and nothing else, as with a wrong checksum. */
static int read_long_body(sqlite3_stmt *select, struct vd_row *row, void **room,
                          struct vd_error *error)
{
    sqlite3 *db = sqlite3_db_handle(select);
    sqlite3_blob *blob = NULL;
    int rc = sqlite3_blob_open(db, "main", "log", "body", (sqlite3_int64)row->revision, 0, &blob);
    *room = vd_malloc(row->body_len);
    if (rc == SQLITE_OK)
        rc = sqlite3_blob_read(blob, *room, (int)row->body_len, 0);
    row->damaged = (rc & 0xff) == SQLITE_CORRUPT;
    int code = rc == SQLITE_OK || row->damaged ? VD_OK
                                               : vd_log_error(db, rc, "could not read", error);
    sqlite3_blob_close(blob);
    row->body.bytes = vd_slice(*room, row->body_len);
    return code;
}

/* SQLite also gives an empty column when it had no memory for it. This tells that case from
 * damage. */
static int check_memory(sqlite3_stmt *select, struct vd_error *error)
{
    sqlite3 *db = sqlite3_db_handle(select);
    int rc = sqlite3_errcode(db);
    return (rc & 0xff) == SQLITE_NOMEM ? vd_log_error(db, rc, "could not read", error) : VD_OK;
}

/* Fetches the body and checks it. */
static int read_body(sqlite3_stmt *select, int from, struct vd_row *row, void **room,
                     struct vd_error *error)
{
    int code = VD_OK, at = from + COL_BODY_SHORT;
    uint32_t crc = (uint32_t)sqlite3_column_int64(select, from + COL_CRC);
    if (sqlite3_column_type(select, at) == SQLITE_NULL)
        code = read_long_body(select, row, room, error);
    else
        row->body.bytes = vd_slice(sqlite3_column_blob(select, at), row->body_len);
    if (!code && row->body_len && !row->body.bytes.p)
        code = check_memory(select, error);
    if (code)
        return code;
    row->damaged = row->damaged || vd_crc32c(0, row->body.bytes.p, row->body.bytes.n) != crc;
    if (row->damaged)
        row->body = (struct vd_template){.hole = 0};
    return VD_OK;
}

enum vd_row_state vd_row_examine(sqlite3_stmt *select, struct vd_row *row)
{
    struct vd_row read = {0};
    void *room = NULL;
    bool sound = read_head(select, 0, &read) && head_is_sound(select, 0, &read);
    if (sound && read_body(select, 0, &read, &room, NULL))
        read.damaged = true;
    free(room);
    read.body = (struct vd_template){.hole = read.body.hole};
    *row = sound ? read : (struct vd_row){.revision = read.revision};
    return !sound ? VD_ROW_HEAD_DAMAGED : read.damaged ? VD_ROW_BODY_DAMAGED : VD_ROW_SOUND;
}

static int read_sound_head(sqlite3_stmt *select, int from, struct vd_row *row,
                           struct vd_error *error)
{
    if (read_head(select, from, row) && head_is_sound(select, from, row))
        return VD_OK;
    int code = check_memory(select, error);
    if (code)
        return code;
    return vd_error_set(error, VD_ERR_CORRUPT,
                        "the head of revision %llu fails its checksum, so the object it belongs "
                        "to is unknown: restore the newest backup with 'vedette store restore'",
                        (unsigned long long)row->revision);
}

int vd_row_read(sqlite3_stmt *select, const struct vd_row_sink *sink, bool *go_on,
                struct vd_error *error)
{
    struct vd_row row = {0};
    int code = read_sound_head(select, 0, &row, error);
    if (code)
        return code;
    *go_on = true;
    if (sink->wants && !sink->wants(sink->arg, &row))
        return VD_OK;
    void *room = NULL;
    code = read_body(select, 0, &row, &room, error);
    if (!code)
        *go_on = sink->take(sink->arg, &row);
    free(room);
    return code;
}

/* A row that is wanted, and the version that it replaced, if the log still has that. */
static int read_change(sqlite3_stmt *select, struct vd_row *row, const struct vd_history_sink *sink,
                       bool *go_on, struct vd_error *error)
{
    struct vd_row before = {0};
    void *room = NULL, *before_room = NULL;
    bool has_before = sqlite3_column_type(select, COL_COUNT) != SQLITE_NULL;
    int code = read_body(select, 0, row, &room, error);
    if (!code && has_before)
        code = read_sound_head(select, COL_COUNT, &before, error);
    if (!code && has_before)
        code = read_body(select, COL_COUNT, &before, &before_room, error);
    if (!code)
        *go_on = sink->take(sink->arg, row, has_before ? &before : NULL);
    free(room);
    free(before_room);
    return code;
}

int vd_row_read_history(sqlite3_stmt *select, struct vd_slice resource,
                        const struct vd_history_sink *sink, bool *go_on, struct vd_error *error)
{
    struct vd_row row = {0};
    int code = read_sound_head(select, 0, &row, error);
    if (code)
        return code;
    *go_on = true;
    sink->passes(sink->arg, &row);
    return resource.n == 0 || vd_slice_eq(resource, row.key.resource)
               ? read_change(select, &row, sink, go_on, error)
               : VD_OK;
}
