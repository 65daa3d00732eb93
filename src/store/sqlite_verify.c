/*
 * Checking a log file.
 *
 * SQLite looks at its pages, then all rows are read once, oldest first. What has
 * been seen of each key - its newest row so far - is kept in a map, so that every
 * row can be held against the one that it should follow:
 *
 *   at or below the floor   it is the only row of its key, and no deletion
 *   above the floor         revisions have no gaps (this engine assigns them one
 *                           by one, and compaction removes nothing there);
 *                           `previous` is the key's row before; an object is
 *                           created over nothing or a deletion, and changed or
 *                           deleted while it lives
 *
 * The row before a creation may be gone: it was a deletion, and the floor has
 * passed it. A row whose head is damaged counts as seen, but nobody knows of
 * which key, so rows that follow it are not held against anything.
 */
#include "store/sqlite_verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash_map.h"
#include "base/vec.h"
#include "store/sqlite_file.h"
#include "store/sqlite_row.h"

enum {
    PROGRESS_ROWS = 1024,   /* between two calls of the progress */
    PROGRESS_STEPS = 50000, /* instructions of SQLite's virtual machine between two calls of the
                               progress while it checks its pages */
    TEXT_MAX = 256,
};

/* The newest row of a key so far. */
struct seen {
    uint64_t revision;
    bool live;
    struct vd_slice id; /* kind/namespace/name */
};

struct verifier {
    sqlite3 *db;
    const struct vd_verify *how;
    struct vd_verify_result result;
    struct vd_log_meta meta;
    bool meta_known;
    uint64_t next; /* the revision that must come next above the floor */
    uint64_t last; /* the row before this one */
    bool last_more;
    bool complete; /* every row could be read */
    int64_t rows_total;
    struct vd_hash_map seen;
    struct vd_arena arena;
    struct vd_buf id;
    VD_VEC(uint64_t) headless; /* revisions of rows with a damaged head, ascending */
};

const char *vd_finding_name(enum vd_finding_type type)
{
    static const char *const names[] = {
#define VD_FINDING_TEXT(name, text) [name] = (text),
        VD_FINDINGS(VD_FINDING_TEXT)
#undef VD_FINDING_TEXT
    };
    return names[type];
}

static void find(struct verifier *v, enum vd_finding_type type, uint64_t revision,
                 const struct vd_key *key, const char *format, ...) VD_PRINTF(5, 6);

static void find(struct verifier *v, enum vd_finding_type type, uint64_t revision,
                 const struct vd_key *key, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    v->result.problems++;
    if (v->how->found)
        v->how->found(v->how->arg, &(struct vd_finding){type, revision, key, text});
}

/* ---- SQLite's own structures ---- */

static int pages_progress(void *arg)
{
    vd_progress_step(((struct verifier *)arg)->how->progress, "checking pages", 0, 0);
    return 0;
}

static int check_pages(struct verifier *v, struct vd_error *error)
{
    if (v->how->pages == VD_VERIFY_PAGES_NONE)
        return VD_OK;
    bool quick = v->how->pages == VD_VERIFY_PAGES_QUICK;
    sqlite3_stmt *check = NULL;
    int code = vd_log_prepare(v->db, &check,
                              quick ? "PRAGMA quick_check" : "PRAGMA integrity_check", error);
    if (code)
        return code;
    int rc;
    sqlite3_progress_handler(v->db, PROGRESS_STEPS, pages_progress, v);
    while ((rc = sqlite3_step(check)) == SQLITE_ROW) {
        const char *line = (const char *)sqlite3_column_text(check, 0);
        if (line && strcmp(line, "ok") != 0)
            find(v, VD_FINDING_FILE, 0, NULL, "%s", line);
    }
    sqlite3_progress_handler(v->db, 0, NULL, NULL);
    if ((rc & 0xff) == SQLITE_CORRUPT)
        find(v, VD_FINDING_FILE, 0, NULL, "%s", sqlite3_errmsg(v->db));
    else if (rc != SQLITE_DONE)
        code = vd_log_error(v->db, rc, "could not check", error);
    sqlite3_finalize(check);
    return code;
}

static int read_meta(struct verifier *v, struct vd_error *error)
{
    struct vd_error own = {0};
    int code = vd_log_meta_read(v->db, &v->meta, &own);
    v->meta_known = !code;
    if (code == VD_ERR_CORRUPT) {
        find(v, VD_FINDING_META, 0, NULL,
             "the meta row fails its checksum: base and floor are "
             "unknown, and rows were not held against them");
        return VD_OK;
    }
    v->next = (v->meta.base > v->meta.floor ? v->meta.base : v->meta.floor) + 1;
    v->result.revision = v->meta.base;
    if (code && error)
        *error = own;
    return code;
}

/* ---- rows ---- */

static struct vd_slice seen_id(const void *item)
{
    return ((const struct seen *)item)->id;
}

static struct vd_slice row_id(struct verifier *v, const struct vd_key *key)
{
    vd_buf_reset(&v->id);
    vd_buf_add_slice(&v->id, key->resource);
    vd_buf_add_char(&v->id, '/');
    vd_buf_add_slice(&v->id, key->namespace);
    vd_buf_add_char(&v->id, '/');
    vd_buf_add_slice(&v->id, key->name);
    return vd_buf_slice(&v->id);
}

static bool is_headless(const struct verifier *v, uint64_t revision)
{
    size_t low = 0, high = v->headless.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (v->headless.p[middle] < revision)
            low = middle + 1;
        else
            high = middle;
    }
    return low < v->headless.n && v->headless.p[low] == revision;
}

/* Checks a row at or below the floor: compaction should have removed one that was replaced, and
 * deletions. */
static void check_behind(struct verifier *v, const struct vd_row *row, const struct seen *before)
{
    if (before)
        find(v, VD_FINDING_LEFTOVER, before->revision, &row->key,
             "revision %llu replaced it and the floor %llu has passed both, but it is still there",
             (unsigned long long)row->revision, (unsigned long long)v->meta.floor);
    if (row->type == VD_EVENT_DELETED)
        find(v, VD_FINDING_LEFTOVER, row->revision, &row->key,
             "it is a deletion that the floor %llu has passed, but it is still there",
             (unsigned long long)v->meta.floor);
    if (row->more && row->revision == v->meta.floor)
        find(v, VD_FINDING_BATCH, row->revision, &row->key,
             "the floor stands on it, inside an atomic batch");
}

/* Why the row does not follow from the key's row before, or NULL. */
static const char *chain_complaint(const struct verifier *v, const struct vd_row *row,
                                   const struct seen *before)
{
    bool creates = row->type == VD_EVENT_CREATED;
    if (row->previous >= row->revision)
        return "it replaces a revision that is not older";
    if (before && before->revision != row->previous)
        return "it replaces a revision that is not the version before";
    if (!before && row->previous > v->meta.floor)
        return "it replaces a revision that is no version of this object";
    if (!before && !creates)
        return "it changes an object that is not there";
    if (before && before->live && creates)
        return "it creates an object that exists";
    if (before && !before->live && !creates)
        return "it changes an object that is deleted";
    return NULL;
}

static void check_window(struct verifier *v, const struct vd_row *row, const struct seen *before)
{
    const char *complaint = is_headless(v, row->previous) ? NULL : chain_complaint(v, row, before);
    if (complaint)
        find(v, VD_FINDING_CHAIN, row->revision, &row->key, "%s (it names revision %llu)",
             complaint, (unsigned long long)row->previous);
}

static void check_gap(struct verifier *v, uint64_t revision)
{
    if (!v->meta_known || revision <= v->meta.floor)
        return;
    if (revision > v->next)
        find(v, VD_FINDING_GAP, 0, NULL, "revisions %llu to %llu of the window are missing",
             (unsigned long long)v->next, (unsigned long long)revision - 1);
    v->next = revision + 1;
}

static void check_row(struct verifier *v, const struct vd_row *row)
{
    struct vd_slice id = row_id(v, &row->key);
    struct seen *seen = vd_hash_map_get(&v->seen, id);
    if (v->meta_known && row->revision <= v->meta.floor)
        check_behind(v, row, seen);
    else if (v->meta_known)
        check_window(v, row, seen);
    if (!seen) {
        seen = vd_arena_alloc(&v->arena, sizeof *seen);
        *seen = (struct seen){.id = vd_arena_copy(&v->arena, id)};
        vd_hash_map_put(&v->seen, seen);
    }
    v->result.objects -= seen->live;
    seen->live = row->type != VD_EVENT_DELETED;
    seen->revision = row->revision;
    v->result.objects += seen->live;
}

static void take_row(struct verifier *v, sqlite3_stmt *select)
{
    struct vd_row row;
    enum vd_row_state state = vd_row_examine(select, &row);
    if (v->result.rows++ == 0)
        v->result.revision_first = row.revision;
    check_gap(v, row.revision);
    v->last = row.revision;
    v->last_more = row.more;
    if (state == VD_ROW_HEAD_DAMAGED) {
        find(v, VD_FINDING_HEAD, row.revision, NULL,
             "its head fails its checksum, so the object it belongs to is unknown");
        *VD_VEC_PUSH(&v->headless) = row.revision;
        return;
    }
    if (state == VD_ROW_BODY_DAMAGED)
        find(v, VD_FINDING_BODY, row.revision, &row.key, "its body fails its checksum");
    check_row(v, &row);
}

static int check_rows(struct verifier *v, struct vd_error *error)
{
    sqlite3_stmt *select = NULL;
    int rc = SQLITE_DONE;
    int code = vd_log_prepare(v->db, &select,
                              "SELECT " VD_ROW_COLUMNS " FROM log ORDER BY revision", error);
    while (!code && (rc = sqlite3_step(select)) == SQLITE_ROW) {
        take_row(v, select);
        if (v->result.rows % PROGRESS_ROWS == 0)
            vd_progress_step(v->how->progress, "checking rows", v->result.rows,
                             (uint64_t)v->rows_total);
    }
    v->complete = !code && rc == SQLITE_DONE;
    if ((rc & 0xff) == SQLITE_CORRUPT)
        find(v, VD_FINDING_FILE, 0, NULL, "rows behind revision %llu cannot be read: %s",
             (unsigned long long)v->last, sqlite3_errmsg(v->db));
    else if (!code && rc != SQLITE_DONE)
        code = vd_log_error(v->db, rc, "could not read", error);
    sqlite3_finalize(select);
    return code;
}

/* Reports what is known only when all rows were seen. */
static void check_end(struct verifier *v)
{
    struct vd_verify_result *r = &v->result;
    if (v->last > r->revision)
        r->revision = v->last;
    if (r->rows == 0)
        r->revision_first = r->revision;
    if (!v->complete || !v->meta_known)
        return;
    if (v->meta.base == 0)
        find(v, VD_FINDING_META, 0, NULL, "the base is 0, which no revision may be");
    if (v->meta.floor >= r->revision)
        find(v, VD_FINDING_META, 0, NULL, "the floor %llu is not below the newest revision %llu",
             (unsigned long long)v->meta.floor, (unsigned long long)r->revision);
    if (v->last > v->meta.floor && v->last_more)
        find(v, VD_FINDING_BATCH, v->last, NULL,
             "it is the newest row, but says that more of its atomic batch follow");
}

/* The number is only for the percentage of the progress, as counting reads the whole tree. */
static int count_rows(struct verifier *v, struct vd_error *error)
{
    int code = v->how->progress
                   ? vd_log_number(v->db, "SELECT count(*) FROM log", &v->rows_total, error)
                   : VD_OK;
    return code == VD_ERR_CORRUPT ? VD_OK : code;
}

int vd_log_verify(sqlite3 *db, const struct vd_verify *how, struct vd_verify_result *result,
                  struct vd_error *error)
{
    struct verifier v = {.db = db, .how = how};
    vd_hash_map_init(&v.seen, seen_id);
    int code = vd_log_exec(db, "BEGIN", error);
    if (code)
        return code;
    code = read_meta(&v, error);
    if (!code)
        code = check_pages(&v, error);
    if (!code)
        code = count_rows(&v, error);
    if (!code)
        code = check_rows(&v, error);
    if (!code) {
        check_end(&v);
        *result = v.result;
    }
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    vd_hash_map_release(&v.seen);
    vd_arena_release(&v.arena);
    vd_buf_release(&v.id);
    VD_VEC_RELEASE(&v.headless);
    return code;
}
