/* Rows of the log table: how they are bound, read and checked. */
#ifndef VD_STORE_SQLITE_ROW_H
#define VD_STORE_SQLITE_ROW_H

#include <sqlite3.h>

#include "store/engine.h"

#define VD_ROW_INSERT                                                                              \
    "INSERT INTO log(revision,kind,namespace,name,uid,type,previous,time,hole,crc,body)"           \
    " VALUES(?,?,?,?,?,?,?,?,?,?,?)"

/* The columns that vd_row_read() expects, in its order. SQLite reads a column when
 * it steps onto the row, wanted or not; so a body that has pages of its own is
 * asked for by its length only, and fetched apart when it is wanted. */
#define VD_ROW_COLUMNS VD_ROW_COLUMNS_OF("log")

#define VD_ROW_COLUMNS_OF(table)                                                                   \
    VD_ROW_HEAD_OF(table)                                                                          \
    ",CASE WHEN length(" table ".body)<=3000 THEN " table ".body END"

#define VD_ROW_HEAD_OF(t)                                                                          \
    t ".revision," t ".kind," t ".namespace," t ".name," t ".uid," t ".type," t ".previous," t     \
      ".time," t ".hole," t ".crc,length(" t ".body)"

/* What vd_row_read_history() expects: rows above ?1 up to ?2, at most ?3, each with the row that it
 * replaced; of resources other than ?4 only the head (?4 empty: all rows are whole). */
#define VD_ROW_HISTORY                                                                             \
    "SELECT " VD_ROW_HEAD_OF(                                                                      \
        "log") ",CASE WHEN length(log.body)<=3000 AND (?4='' OR log.kind=?4)"                      \
               " THEN log.body END," VD_ROW_COLUMNS_OF(                                            \
                   "p") " FROM log LEFT JOIN log p ON "                                            \
                        "p.revision=log.previous AND log.type&3<>1 AND (?4='' OR log.kind=?4) "    \
                        "WHERE log.revision>?1 AND log.revision<=?2 ORDER BY log.revision LIMIT "  \
                        "?3"

/* Binds a row whose revision and previous are set; the bytes are borrowed until
 * the statement is stepped. */
void vd_row_bind(sqlite3_stmt *insert, const struct vd_row *row);

/* Hands the statement's current row to the sink. *go_on says whether the sink
 * wants more. VD_ERR_CORRUPT when the head's checksum is wrong. */
int vd_row_read(sqlite3_stmt *select, const struct vd_row_sink *sink, bool *go_on,
                struct vd_error *error) VD_MUST_USE;

/* The same for a row of VD_ROW_HISTORY. */
int vd_row_read_history(sqlite3_stmt *select, struct vd_slice resource,
                        const struct vd_history_sink *sink, bool *go_on,
                        struct vd_error *error) VD_MUST_USE;

enum vd_row_state {
    VD_ROW_SOUND,
    VD_ROW_BODY_DAMAGED, /* the head can be trusted, and there is no body */
    VD_ROW_HEAD_DAMAGED, /* only the revision is given: it is where the row was found */
};

/* The head of the statement's current row, as far as it can be trusted, for callers that must go on
 * after damage. The body is checked but not given. The texts are borrowed until the statement is
 * stepped. */
enum vd_row_state vd_row_examine(sqlite3_stmt *select, struct vd_row *row) VD_MUST_USE;

#endif
