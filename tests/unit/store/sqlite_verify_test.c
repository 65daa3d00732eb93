/*
 * src/store/sqlite_verify.h: every way in which a log can be wrong is found, and named with its
 * revision. Logs are written row by row with correct checksums, so that each case has only the one
 * mistake that it tests.
 */
#include "store/sqlite_verify.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"
#include "store/sqlite_file.h"
#include "store/sqlite_row.h"

enum { C = VD_EVENT_CREATED, U = VD_EVENT_UPDATED, D = VD_EVENT_DELETED, MORE = 16 };

struct line {
    uint64_t revision;
    uint64_t previous;
    int type;
    const char *name;
};

struct want {
    enum vd_finding_type type;
    uint64_t revision;
    const char *name; /* NULL: no key is given */
};

enum { FOUND_MAX = 8 };

/* What a check found, with copies of the names. */
struct found {
    size_t n;
    struct want all[FOUND_MAX];
    char names[FOUND_MAX][32];
};

static void collect(void *arg, const struct vd_finding *f)
{
    struct found *found = arg;
    assert_true(found->n < FOUND_MAX);
    assert_true(f->text[0] != 0);
    found->all[found->n] = (struct want){f->type, f->revision, NULL};
    if (f->key) {
        assert_slice(f->key->resource, "configmaps");
        assert_slice(f->key->namespace, "default");
        snprintf(found->names[found->n], 32, "%.*s", VD_FMT(f->key->name));
        found->all[found->n].name = found->names[found->n];
    }
    found->n++;
}

struct setting {
    char *folder;
    struct vd_buf path;
    sqlite3 *db;
};

static int setup(void **state)
{
    struct setting *t = calloc(1, sizeof *t);
    struct vd_error error;
    t->folder = temp_folder_new();
    vd_log_path(&t->path, t->folder);
    assert_ok(vd_log_open(&t->db, vd_buf_text(&t->path), NULL, VD_LOG_CREATE, &error), &error);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct setting *t = *state;
    sqlite3_close(t->db);
    temp_folder_remove(t->folder);
    vd_buf_release(&t->path);
    free(t);
    return 0;
}

static void run_sql(struct setting *t, const char *sql)
{
    struct vd_error error;
    assert_ok(vd_log_exec(t->db, sql, &error), &error);
}

static void write_line(struct setting *t, const struct line *line)
{
    struct vd_error error;
    struct vd_buf room = {0};
    sqlite3_stmt *insert = NULL;
    struct vd_row row = {
        .revision = line->revision,
        .previous = line->previous,
        .time_ms = 1000,
        .type = (enum vd_event_type)(line->type & ~MORE),
        .more = line->type & MORE,
        .key = test_key("configmaps", "default", line->name),
    };
    if (row.type != VD_EVENT_DELETED)
        row.body = test_body(&room, line->name, NULL, "v");
    row.body_len = (uint32_t)row.body.bytes.n;
    assert_ok(vd_log_prepare(t->db, &insert, VD_ROW_INSERT, &error), &error);
    vd_row_bind(insert, &row);
    assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
    sqlite3_finalize(insert);
    vd_buf_release(&room);
}

/* Replaces the log by one with these rows; the last line has revision 0. */
static void write_log(struct setting *t, struct vd_log_meta meta, const struct line *lines)
{
    struct vd_error error;
    run_sql(t, "DELETE FROM log");
    assert_ok(vd_log_meta_write(t->db, meta, &error), &error);
    for (; lines->revision; lines++)
        write_line(t, lines);
}

static struct vd_verify_result verify(struct setting *t, struct found *found)
{
    struct vd_error error;
    struct vd_verify_result result;
    struct vd_verify how = {VD_VERIFY_PAGES_FULL, collect, found, NULL};
    *found = (struct found){0};
    assert_ok(vd_log_verify(t->db, &how, &result, &error), &error);
    assert_int_equal(result.problems, found->n);
    return result;
}

static void assert_found(const char *title, const struct found *found, const struct want *want,
                         size_t n)
{
    if (found->n != n)
        fail_msg("%s: %zu findings, want %zu", title, found->n, n);
    for (size_t i = 0; i < n; i++) {
        const struct want *got = &found->all[i];
        if (got->type != want[i].type || got->revision != want[i].revision)
            fail_msg("%s: got %s at %llu, want %s at %llu", title, vd_finding_name(got->type),
                     (unsigned long long)got->revision, vd_finding_name(want[i].type),
                     (unsigned long long)want[i].revision);
        if (!got->name != !want[i].name || (got->name && strcmp(got->name, want[i].name) != 0))
            fail_msg("%s: got the name %s, want %s", title, got->name ? got->name : "(none)",
                     want[i].name ? want[i].name : "(none)");
    }
}

static void a_sound_log_has_no_findings(void **state)
{
    struct setting *t = *state;
    struct found found;
    static const struct {
        const char *title;
        struct vd_log_meta meta;
        struct line lines[9];
        uint64_t rows, objects, first, newest;
    } cases[] = {
        {"an empty log", {1, 0}, {{0}}, 0, 0, 1, 1},
        {"a life with a second birth",
         {1, 0},
         {{2, 0, C, "a"},
          {3, 2, U, "a"},
          {4, 3, D, "a"},
          {5, 4, C, "a"},
          {6, 0, C | MORE, "b"},
          {7, 0, C, "c"}},
         6,
         3,
         2,
         7},
        {"objects from before the floor, and what the window replaced",
         {1, 8},
         {{2, 0, C, "old"}, {5, 3, U, "b"}, {9, 5, U, "b"}, {10, 9, D, "b"}},
         4,
         1,
         2,
         10},
        {"a birth over a deletion that the floor has passed", {1, 5}, {{6, 5, C, "a"}}, 1, 1, 6, 6},
        {"a restored log: a batch whose end was a deletion",
         {1000, 999},
         {{2, 0, C | MORE, "a"}},
         1,
         1,
         2,
         1000},
        {"a restored log that went on",
         {1000, 999},
         {{2, 0, C, "a"}, {1001, 2, U, "a"}},
         2,
         1,
         2,
         1001},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_log(t, cases[i].meta, cases[i].lines);
        struct vd_verify_result r = verify(t, &found);
        assert_found(cases[i].title, &found, NULL, 0);
        assert_int_equal(r.rows, cases[i].rows);
        assert_int_equal(r.objects, cases[i].objects);
        assert_int_equal(r.revision_first, cases[i].first);
        assert_int_equal(r.revision, cases[i].newest);
    }
}

static const struct {
    const char *title;
    struct vd_log_meta meta;
    struct line lines[6];
    struct want want[3];
} wrong_logs[] = {
    {"a row replaces itself", {1, 0}, {{2, 2, C, "a"}}, {{VD_FINDING_CHAIN, 2, "a"}}},
    {"a row replaces a later one",
     {1, 0},
     {{2, 3, U, "a"}, {3, 0, C, "b"}},
     {{VD_FINDING_CHAIN, 2, "a"}}},
    {"a row replaces another object's",
     {1, 0},
     {{2, 0, C, "a"}, {3, 2, U, "b"}},
     {{VD_FINDING_CHAIN, 3, "b"}}},
    {"a row skips a version",
     {1, 0},
     {{2, 0, C, "a"}, {3, 2, U, "a"}, {4, 2, U, "a"}},
     {{VD_FINDING_CHAIN, 4, "a"}}},
    {"a creation that knows of nothing before it, over a deletion",
     {1, 0},
     {{2, 0, C, "a"}, {3, 2, D, "a"}, {4, 0, C, "a"}},
     {{VD_FINDING_CHAIN, 4, "a"}}},
    {"the version that a change of the window replaced is gone",
     {1, 5},
     {{6, 4, U, "a"}},
     {{VD_FINDING_CHAIN, 6, "a"}}},
    {"a creation over a living object",
     {1, 0},
     {{2, 0, C, "a"}, {3, 2, C, "a"}},
     {{VD_FINDING_CHAIN, 3, "a"}}},
    {"a change of a deleted object",
     {1, 0},
     {{2, 0, C, "a"}, {3, 2, D, "a"}, {4, 3, U, "a"}},
     {{VD_FINDING_CHAIN, 4, "a"}}},
    {"a deletion of nothing", {1, 0}, {{2, 0, D, "a"}}, {{VD_FINDING_CHAIN, 2, "a"}}},
    {"a revision of the window is missing",
     {1, 0},
     {{2, 0, C, "a"}, {5, 0, C, "b"}},
     {{VD_FINDING_GAP, 0, NULL}}},
    {"the window's first revision is missing",
     {1, 5},
     {{2, 0, C, "a"}, {7, 0, C, "b"}},
     {{VD_FINDING_GAP, 0, NULL}}},
    {"a replaced row below the floor",
     {1, 4},
     {{2, 0, C, "a"}, {3, 2, U, "a"}, {5, 0, C, "b"}},
     {{VD_FINDING_LEFTOVER, 2, "a"}}},
    {"a deletion below the floor, and what it deleted",
     {1, 4},
     {{2, 0, C, "a"}, {3, 2, D, "a"}, {5, 0, C, "b"}},
     {{VD_FINDING_LEFTOVER, 2, "a"}, {VD_FINDING_LEFTOVER, 3, "a"}}},
    {"a batch without an end",
     {1, 0},
     {{2, 0, C, "a"}, {3, 0, C | MORE, "b"}},
     {{VD_FINDING_BATCH, 3, NULL}}},
    {"a floor inside a batch",
     {1, 2},
     {{2, 0, C | MORE, "a"}, {3, 0, C, "b"}},
     {{VD_FINDING_BATCH, 2, "a"}}},
    {"a floor at the newest revision", {1, 2}, {{2, 0, C, "a"}}, {{VD_FINDING_META, 0, NULL}}},
    {"a base of 0", {0, 0}, {{1, 0, C, "a"}}, {{VD_FINDING_META, 0, NULL}}},
};

static void a_wrong_log_is_found_out(void **state)
{
    struct setting *t = *state;
    struct found found;
    for (size_t i = 0; i < sizeof wrong_logs / sizeof *wrong_logs; i++) {
        size_t wanted = 1;
        while (wanted < 3 &&
               (wrong_logs[i].want[wanted].type || wrong_logs[i].want[wanted].revision))
            wanted++;
        write_log(t, wrong_logs[i].meta, wrong_logs[i].lines);
        verify(t, &found);
        assert_found(wrong_logs[i].title, &found, wrong_logs[i].want, wanted);
    }
}

static void damage_is_found_and_what_follows_is_still_checked(void **state)
{
    struct setting *t = *state;
    struct found found;
    static const struct line log[] = {{2, 0, C, "a"}, {3, 0, C, "b"}, {4, 2, U, "a"},
                                      {5, 3, D, "b"}, {6, 4, U, "a"}, {0}};
    static const struct {
        const char *title;
        const char *sql;
        struct want want[2];
        uint64_t objects;
    } cases[] = {
        {"a body",
         "UPDATE log SET body = zeroblob(length(body)) WHERE revision = 4",
         {{VD_FINDING_BODY, 4, "a"}},
         1},
        {"a body that got shorter",
         "UPDATE log SET body = x'7b7d' WHERE revision = 4",
         {{VD_FINDING_HEAD, 4, NULL}},
         1},
        {"a name", "UPDATE log SET name = 'c' WHERE revision = 3", {{VD_FINDING_HEAD, 3, NULL}}, 1},
        {"a type", "UPDATE log SET type = 1 WHERE revision = 4", {{VD_FINDING_HEAD, 4, NULL}}, 1},
        {"a uid",
         "UPDATE log SET uid = zeroblob(4) || 'x' WHERE revision = 6",
         {{VD_FINDING_HEAD, 6, NULL}},
         1},
        {"two rows, one of each",
         "UPDATE log SET time = 1 WHERE revision = 3; UPDATE log SET body = zeroblob(length(body)) "
         "WHERE revision = 6",
         {{VD_FINDING_HEAD, 3, NULL}, {VD_FINDING_BODY, 6, "a"}},
         1},
        {"the meta row", "UPDATE meta SET floor = 3", {{VD_FINDING_META, 0, NULL}}, 1},
        {"no meta row", "DELETE FROM meta", {{VD_FINDING_META, 0, NULL}}, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_log(t, (struct vd_log_meta){1, 0}, log);
        run_sql(t, cases[i].sql);
        struct vd_verify_result r = verify(t, &found);
        assert_found(cases[i].title, &found, cases[i].want,
                     cases[i].want[1].type || cases[i].want[1].revision ? 2 : 1);
        assert_int_equal(r.rows, 5);
        assert_int_equal(r.objects, cases[i].objects);
    }
}

/* Writes over a page in the middle of the file. */
static void a_broken_page_is_found(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    struct vd_verify_result result;
    run_sql(t, "BEGIN");
    for (uint64_t i = 2; i < 800; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%llu", (unsigned long long)i);
        write_line(t, &(struct line){i, 0, C, name});
    }
    run_sql(t, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
    sqlite3_close(t->db);
    t->db = NULL;
    char junk[4096];
    memset(junk, 0x5a, sizeof junk);
    int fd = open(vd_buf_text(&t->path), O_RDWR | O_CLOEXEC);
    assert_int_equal(pwrite(fd, junk, sizeof junk, (off_t)9 * 4096), sizeof junk);
    close(fd);
    assert_ok(vd_log_open(&t->db, vd_buf_text(&t->path), NULL, VD_LOG_READ_ONLY, &error), &error);
    for (int pages = VD_VERIFY_PAGES_FULL; pages <= VD_VERIFY_PAGES_NONE; pages++) {
        struct vd_verify how = {.pages = (enum vd_verify_pages)pages};
        assert_ok(vd_log_verify(t->db, &how, &result, &error), &error);
        assert_true(result.problems > 0);
    }
}

/* Counts the calls of the progress, and checks that it never goes back or beyond the end. */
struct watched {
    size_t calls;
    uint64_t last;
};

static void watch(void *arg, const char *what, uint64_t done, uint64_t total)
{
    struct watched *w = arg;
    (void)what;
    assert_true(done <= total || total == 0);
    if (total) {
        assert_true(done >= w->last);
        w->last = done;
    }
    w->calls++;
}

static void progress_is_told(void **state)
{
    struct setting *t = *state;
    struct watched watched = {0};
    struct vd_progress progress = {watch, &watched};
    struct vd_verify how = {.pages = VD_VERIFY_PAGES_NONE, .progress = &progress};
    struct vd_verify_result result;
    struct vd_error error;
    run_sql(t, "BEGIN");
    for (uint64_t i = 2; i < 5000; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%llu", (unsigned long long)i);
        write_line(t, &(struct line){i, 0, C, name});
    }
    run_sql(t, "COMMIT");
    assert_ok(vd_log_verify(t->db, &how, &result, &error), &error);
    assert_int_equal(result.problems, 0);
    assert_true(watched.calls >= 4);
    assert_true(watched.last > 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_sound_log_has_no_findings, setup, teardown),
        cmocka_unit_test_setup_teardown(a_wrong_log_is_found_out, setup, teardown),
        cmocka_unit_test_setup_teardown(damage_is_found_and_what_follows_is_still_checked, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_broken_page_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(progress_is_told, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
