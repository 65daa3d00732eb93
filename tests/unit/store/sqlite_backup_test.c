/*
 * src/store/sqlite_backup.h: a backup is whole and of one moment, a restore does
 * not turn back time, and neither leaves half a file behind.
 */
#include "store/sqlite_backup.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"
#include "store/lock_file.h"
#include "store/sqlite_draft.h"
#include "store/sqlite_file.h"
#include "store/sqlite_stats.h"

#define NOW_MS INT64_C(1700000000000)

struct setting {
    char *folder;
    struct vd_buf data, file; /* folder/data, folder/backup.db */
    struct test_clock clock;
    struct vd_store *store;
};

static void store_open(struct setting *t, const char *folder)
{
    struct vd_error error;
    struct vd_store_options options = {.clock = &t->clock.clock, .manual_compaction = true};
    vd_store_close(t->store);
    t->store = NULL;
    if (folder)
        assert_ok(
            vd_store_open_in(&t->store, &(struct vd_folder){.path = folder}, &options, &error),
            &error);
}

static int setup(void **state)
{
    struct setting *t = calloc(1, sizeof *t);
    t->folder = temp_folder_new();
    vd_buf_addf(&t->data, "%s/data", t->folder);
    vd_buf_addf(&t->file, "%s/backup.db", t->folder);
    test_clock_init(&t->clock, NOW_MS);
    store_open(t, vd_buf_text(&t->data));
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct setting *t = *state;
    vd_store_close(t->store);
    temp_folder_remove(t->folder);
    vd_buf_release(&t->data);
    vd_buf_release(&t->file);
    free(t);
    return 0;
}

static bool exists(const char *path, const char *suffix)
{
    struct vd_buf name = {0};
    vd_buf_addf(&name, "%s%s", path, suffix);
    bool there = access(vd_buf_text(&name), F_OK) == 0;
    vd_buf_release(&name);
    return there;
}

static void assert_no_leavings(const char *path)
{
    static const char *const suffixes[] = {".partial",     ".partial-journal", ".partial-wal",
                                           ".partial-shm", "-journal",         "-wal"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (exists(path, suffixes[i]))
            fail_msg("%s%s was left behind", path, suffixes[i]);
}

/* Opens a log file read-only and checks all of it. */
static struct vd_verify_result verify(const char *path)
{
    sqlite3 *db = NULL;
    struct vd_error error;
    struct vd_verify_result result;
    struct vd_verify how = {.pages = VD_VERIFY_PAGES_FULL};
    assert_ok(vd_log_open(&db, path, NULL, VD_LOG_READ_ONLY, &error), &error);
    assert_ok(vd_log_verify(db, &how, &result, &error), &error);
    sqlite3_close(db);
    return result;
}

static struct vd_backup_report backup(struct setting *t, bool replace)
{
    struct vd_error error;
    struct vd_backup_report report;
    assert_ok(
        vd_log_backup(vd_buf_text(&t->data), vd_buf_text(&t->file), replace, NULL, &report, &error),
        &error);
    assert_no_leavings(vd_buf_text(&t->file));
    return report;
}

/* An object "a" with three versions, "b" deleted, and "c". */
static uint64_t fill(struct vd_store *store)
{
    put(store, "configmaps", "default", "a", "1");
    put(store, "configmaps", "default", "b", "1");
    put(store, "configmaps", "default", "a", "2");
    put(store, "widgets.example.com", "", "c", "1");
    put(store, "configmaps", "default", "a", "3");
    return del(store, "configmaps", "default", "b");
}

static void a_backup_has_everything(void **state)
{
    struct setting *t = *state;
    uint64_t newest = fill(t->store);
    struct vd_backup_report report = backup(t, false);
    assert_int_equal(report.revision, newest);
    assert_int_equal(report.rows, 6);
    assert_int_equal(report.objects, 2);
    struct stat s;
    assert_int_equal(stat(vd_buf_text(&t->file), &s), 0);
    assert_int_equal(s.st_size, report.bytes);
    assert_int_equal(s.st_mode & 0777, 0600);
    struct vd_verify_result result = verify(vd_buf_text(&t->file));
    assert_int_equal(result.problems, 0);
    assert_int_equal(result.revision, newest);
    assert_no_leavings(vd_buf_text(&t->file)); /* reading it makes no -wal either */
}

static void an_existing_file_is_kept_unless_told(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    struct vd_backup_report report;
    uint64_t then = fill(t->store);
    const char *data = vd_buf_text(&t->data), *file = vd_buf_text(&t->file);
    backup(t, false);
    uint64_t now = put(t->store, "configmaps", "default", "d", "1");
    assert_code(vd_log_backup(data, file, false, NULL, &report, &error), VD_ERR_EXISTS);
    assert_says(&error, "--force");
    assert_int_equal(verify(file).revision, then);
    assert_int_equal(backup(t, true).revision, now);
    assert_int_equal(verify(file).revision, now);
}

static void a_backup_over_a_folder_or_the_log_is_refused(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    struct vd_backup_report report;
    struct vd_buf log = {0};
    const char *data = vd_buf_text(&t->data);
    vd_log_path(&log, data);
    assert_code(vd_log_backup(data, data, true, NULL, &report, &error), VD_ERR_INVALID);
    assert_says(&error, "is a folder");
    assert_code(vd_log_backup(data, vd_buf_text(&log), true, NULL, &report, &error),
                VD_ERR_INVALID);
    assert_says(&error, "is the log itself");
    vd_buf_release(&log);
}

static void what_an_interrupted_backup_left_is_thrown_away(void **state)
{
    struct setting *t = *state;
    static const char *const suffixes[] = {".partial", ".partial-journal", ".partial-wal"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        struct vd_buf name = {0};
        vd_buf_addf(&name, "%s%s", vd_buf_text(&t->file), suffixes[i]);
        FILE *junk = fopen(vd_buf_text(&name), "w");
        for (int line = 0; line < 1000; line++)
            fputs("this is no database\n", junk);
        fclose(junk);
        vd_buf_release(&name);
    }
    fill(t->store);
    assert_int_equal(backup(t, false).rows, 6);
    assert_int_equal(verify(vd_buf_text(&t->file)).problems, 0);
}

static void two_drafts_of_one_name_are_refused(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    struct vd_backup_report report;
    struct vd_log_draft draft;
    fill(t->store);
    assert_ok(vd_log_draft_open(&draft, vd_buf_text(&t->file), &error), &error);
    assert_code(
        vd_log_backup(vd_buf_text(&t->data), vd_buf_text(&t->file), false, NULL, &report, &error),
        VD_ERR_LOCKED);
    assert_true(exists(vd_buf_text(&t->file), ".partial")); /* that of the first backup */
    vd_log_draft_close(&draft);
    assert_no_leavings(vd_buf_text(&t->file));
    backup(t, false);
}

static void damage(struct setting *t, const char *sql)
{
    struct vd_buf log = {0};
    struct vd_error error;
    sqlite3 *db = NULL;
    vd_log_path(&log, vd_buf_text(&t->data));
    assert_ok(vd_log_open(&db, vd_buf_text(&log), NULL, VD_LOG_CREATE, &error), &error);
    assert_ok(vd_log_exec(db, sql, &error), &error);
    sqlite3_close(db);
    vd_buf_release(&log);
}

static void a_damaged_log_does_not_replace_a_good_backup(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    struct vd_backup_report report;
    uint64_t then = fill(t->store);
    backup(t, false);
    store_open(t, NULL);
    damage(t, "UPDATE log SET body = zeroblob(length(body)) WHERE revision = 4");
    assert_code(
        vd_log_backup(vd_buf_text(&t->data), vd_buf_text(&t->file), true, NULL, &report, &error),
        VD_ERR_CORRUPT);
    assert_says(&error, "revision 4 (configmaps default/a)");
    assert_int_equal(verify(vd_buf_text(&t->file)).revision, then);
    assert_no_leavings(vd_buf_text(&t->file));
}

/* ---- beside a writer ---- */

struct writer {
    struct vd_store *store;
    atomic_bool stop;
    atomic_uint_fast64_t written;
};

static void *write_on(void *arg)
{
    struct writer *w = arg;
    for (uint64_t i = 0; !atomic_load(&w->stop); i++) {
        char name[16];
        snprintf(name, sizeof name, "n%llu", (unsigned long long)(i % 20));
        put(w->store, "configmaps", "busy", name, i % 2 ? "odd" : "even");
        atomic_fetch_add(&w->written, 1);
    }
    return NULL;
}

static void a_backup_beside_a_writer_is_of_one_moment(void **state)
{
    struct setting *t = *state;
    struct writer w = {.store = t->store};
    pthread_t thread;
    for (int i = 0; i < 1000; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        put(t->store, "configmaps", "filled", name, "x");
    }
    assert_int_equal(pthread_create(&thread, NULL, write_on, &w), 0);
    while (atomic_load(&w.written) < 10)
        sched_yield();
    for (int round = 0; round < 3; round++) {
        uint64_t before = vd_store_revision(t->store);
        struct vd_backup_report report = backup(t, true);
        uint64_t after = vd_store_revision(t->store);
        assert_true(report.revision >= before && report.revision <= after);
        struct vd_verify_result result = verify(vd_buf_text(&t->file));
        assert_int_equal(result.problems, 0);
        assert_int_equal(result.revision, report.revision);
        assert_int_equal(result.rows, report.revision - 1);
    }
    atomic_store(&w.stop, true);
    pthread_join(thread, NULL);
}

/* ---- restore ---- */

static struct vd_restore_report restore(struct setting *t, const char *name, int64_t now_ms,
                                        struct vd_buf *folder)
{
    struct vd_error error;
    struct vd_restore_report report;
    vd_buf_reset(folder);
    vd_buf_addf(folder, "%s/%s", t->folder, name);
    assert_ok(
        vd_log_restore(vd_buf_text(&t->file), vd_buf_text(folder), now_ms, NULL, &report, &error),
        &error);
    return report;
}

static void a_restored_log_goes_on_above_the_lost_one(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    struct vd_event *event = NULL;
    struct vd_buf folder = {0}, log = {0};
    char value[64];
    uint64_t newest = fill(t->store);
    backup(t, false);
    uint64_t lost = put(t->store, "configmaps", "default", "a", "lost");
    struct vd_restore_report report = restore(t, "restored", NOW_MS, &folder);
    assert_int_equal(report.revision_then, newest);
    assert_int_equal(report.revision, newest + (UINT64_C(1) << 40));
    assert_int_equal(report.objects, 2);
    assert_int_equal(report.rows, 2);
    vd_log_path(&log, vd_buf_text(&folder));
    assert_no_leavings(vd_buf_text(&log));
    assert_int_equal(verify(vd_buf_text(&log)).problems, 0);

    store_open(t, vd_buf_text(&folder));
    assert_int_equal(vd_store_revision(t->store), report.revision);
    assert_int_equal(vd_store_floor(t->store), report.revision - 1);
    assert_code(vd_store_check_revision(t->store, newest, &error), VD_ERR_EXPIRED);
    assert_code(vd_store_check_revision(t->store, lost, &error), VD_ERR_EXPIRED);
    assert_code(vd_store_check_revision(t->store, report.revision, &error), VD_OK);
    struct vd_key key = test_key("configmaps", "default", "a");
    assert_ok(vd_store_get(t->store, &key, 0, &event, &error), &error);
    assert_int_equal(event->revision, newest - 1);
    assert_string_equal(body_value(event->body, value), "3");
    vd_event_unref(event);
    key = test_key("configmaps", "default", "b");
    assert_code(vd_store_get(t->store, &key, 0, &event, &error), VD_ERR_NOT_FOUND);

    /* It is an ordinary log: it can be written, read, compacted and opened again. */
    assert_int_equal(put(t->store, "configmaps", "default", "a", "4"), report.revision + 1);
    assert_int_equal(put(t->store, "configmaps", "default", "b", "2"), report.revision + 2);
    assert_int_equal(del(t->store, "widgets.example.com", "", "c"), report.revision + 3);
    struct vd_stretch stretch = {0};
    assert_ok(vd_store_read(t->store, vd_slice_of(""), report.revision, 10, &stretch, &error),
              &error);
    assert_int_equal(stretch.changes.n, 3);
    assert_int_equal(stretch.changes.p[0].before->revision, newest - 1);
    vd_stretch_release(&stretch);
    store_open(t, vd_buf_text(&folder));
    assert_ok(vd_store_compact(t->store, report.revision + 2, &error), &error);
    assert_int_equal(vd_store_floor(t->store), report.revision + 2);
    store_open(t, NULL);
    assert_int_equal(verify(vd_buf_text(&log)).problems, 0);
    vd_buf_release(&folder);
    vd_buf_release(&log);
}

/* A second restore of the same backup must not issue the first one's revisions. */
static void two_restores_of_one_backup_do_not_meet(void **state)
{
    struct setting *t = *state;
    struct vd_buf folder = {0};
    fill(t->store);
    backup(t, false);
    struct vd_restore_report first = restore(t, "first", NOW_MS + 5000, &folder);
    struct vd_restore_report second = restore(t, "second", NOW_MS + 7000, &folder);
    assert_int_equal(second.revision - first.revision, 2000 * 100);
    /* With a clock that was set back only the second term of the base is missing, not the first. */
    struct vd_restore_report late = restore(t, "late", NOW_MS - 5000, &folder);
    assert_int_equal(late.revision, late.revision_then + (UINT64_C(1) << 40));
    vd_buf_release(&folder);
}

static void an_empty_log_can_be_restored(void **state)
{
    struct setting *t = *state;
    struct vd_buf folder = {0};
    backup(t, false);
    struct vd_restore_report report = restore(t, "restored", NOW_MS, &folder);
    assert_int_equal(report.objects, 0);
    store_open(t, vd_buf_text(&folder));
    assert_int_equal(put(t->store, "configmaps", "default", "a", "1"), report.revision + 1);
    vd_buf_release(&folder);
}

static void a_folder_with_a_log_is_not_restored_into(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    struct vd_restore_report report;
    fill(t->store);
    backup(t, false);
    const char *data = vd_buf_text(&t->data), *file = vd_buf_text(&t->file);
    assert_code(vd_log_restore(file, data, NOW_MS, NULL, &report, &error), VD_ERR_LOCKED);
    store_open(t, NULL);
    assert_code(vd_log_restore(file, data, NOW_MS, NULL, &report, &error), VD_ERR_EXISTS);
    assert_says(&error, "move log.db");
    struct vd_buf name = {0};
    vd_log_path(&name, data);
    assert_int_equal(unlink(vd_buf_text(&name)), 0);
    vd_buf_add_text(&name, "-wal");
    FILE *wal = fopen(vd_buf_text(&name), "w");
    fputs("left", wal);
    fclose(wal);
    assert_code(vd_log_restore(file, data, NOW_MS, NULL, &report, &error), VD_ERR_EXISTS);
    assert_says(&error, "log.db-wal");
    assert_int_equal(unlink(vd_buf_text(&name)), 0);
    assert_ok(vd_log_restore(file, data, NOW_MS, NULL, &report, &error), &error);
    vd_buf_release(&name);
}

/* A new log is made in place of one that was lost. */
static void a_log_begun_anew_expires_every_cursor_of_the_lost_one(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    struct vd_buf log = {0};
    uint64_t lost = fill(t->store), revision = 0;
    const char *data = vd_buf_text(&t->data);
    assert_code(vd_log_init(data, NOW_MS, &revision, &error), VD_ERR_LOCKED);
    store_open(t, NULL);
    assert_code(vd_log_init(data, NOW_MS, &revision, &error), VD_ERR_EXISTS);
    assert_says(&error, "has a log already: begin in another folder");
    vd_log_path(&log, data);
    assert_int_equal(truncate(vd_buf_text(&log), 0), 0);
    assert_ok(vd_log_init(data, NOW_MS, &revision, &error), &error);
    assert_int_equal(verify(vd_buf_text(&log)).problems, 0);
    store_open(t, data);
    assert_int_equal(vd_store_revision(t->store), revision);
    assert_int_equal(vd_store_count(t->store, VD_SLICE("configmaps")), 0);
    assert_code(vd_store_check_revision(t->store, lost, &error), VD_ERR_EXPIRED);
    assert_code(vd_store_check_revision(t->store, revision, &error), VD_OK);
    assert_int_equal(put(t->store, "configmaps", "default", "a", "1"), revision + 1);
    vd_buf_release(&log);
}

static void an_empty_file_in_the_log_s_place_is_restored_over(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    struct vd_restore_report report;
    struct vd_buf log = {0};
    fill(t->store);
    backup(t, false);
    store_open(t, NULL);
    vd_log_path(&log, vd_buf_text(&t->data));
    assert_int_equal(truncate(vd_buf_text(&log), 0), 0);
    assert_ok(
        vd_log_restore(vd_buf_text(&t->file), vd_buf_text(&t->data), NOW_MS, NULL, &report, &error),
        &error);
    assert_int_equal(report.objects, 2);
    vd_buf_release(&log);
}

static void a_damaged_backup_is_not_restored(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    struct vd_restore_report report;
    struct vd_buf folder = {0}, log = {0};
    fill(t->store);
    backup(t, false);
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(vd_buf_text(&t->file), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "DELETE FROM log WHERE revision = 5", NULL, NULL, NULL), 0);
    sqlite3_close(db);
    vd_buf_addf(&folder, "%s/restored", t->folder);
    vd_log_path(&log, vd_buf_text(&folder));
    assert_code(
        vd_log_restore(vd_buf_text(&t->file), vd_buf_text(&folder), NOW_MS, NULL, &report, &error),
        VD_ERR_CORRUPT);
    assert_says(&error, "revisions 5 to 5");
    assert_false(exists(vd_buf_text(&log), ""));
    assert_no_leavings(vd_buf_text(&log));
    vd_buf_release(&folder);
    vd_buf_release(&log);
}

/* ---- shrinking and numbers ---- */

static void shrinking_returns_space_and_keeps_the_log(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    struct vd_buf log = {0};
    const char *data = vd_buf_text(&t->data);
    struct vd_log_stats before = {0}, after = {0};
    vd_log_path(&log, data);
    for (int i = 0; i < 500; i++)
        put(t->store, "configmaps", "default", i % 2 ? "a" : "b", i % 3 ? "x" : "y");
    uint64_t newest = vd_store_revision(t->store);
    assert_ok(vd_store_compact(t->store, newest - 10, &error), &error);
    assert_code(vd_log_shrink(data, NULL, &error), VD_ERR_LOCKED);
    store_open(t, NULL);
    assert_ok(vd_log_stats_read(&before, data, &error), &error);
    assert_ok(vd_log_shrink(data, NULL, &error), &error);
    assert_ok(vd_log_stats_read(&after, data, &error), &error);
    assert_true(after.file_bytes < before.file_bytes);
    assert_int_equal(after.free_bytes, 0);
    assert_int_equal(after.rows, before.rows);
    assert_int_equal(after.objects, 2);
    assert_int_equal(after.revision, newest);
    assert_int_equal(after.floor, newest - 10);
    assert_int_equal(after.window_events, 10);
    assert_int_equal(verify(vd_buf_text(&log)).problems, 0);
    store_open(t, data);
    assert_int_equal(put(t->store, "configmaps", "default", "a", "z"), newest + 1);
    vd_log_stats_release(&before);
    vd_log_stats_release(&after);
    vd_buf_release(&log);
}

static void the_numbers_of_a_log_are_right(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    struct vd_log_stats stats = {0};
    uint64_t floor = 0;
    const char *data = vd_buf_text(&t->data);
    put(t->store, "configmaps", "default", "first", "1");
    test_clock_advance_ms(&t->clock, 60000);
    uint64_t newest = fill(t->store);
    assert_ok(vd_log_stats_read(&stats, data, &error), &error);
    assert_int_equal(stats.revision, newest);
    assert_int_equal(stats.rows, 7);
    assert_int_equal(stats.window_events, 7);
    assert_int_equal(stats.window_oldest_ms, NOW_MS);
    assert_int_equal(stats.objects, 3);
    assert_int_equal(stats.resources.n, 2);
    assert_string_equal(stats.resources.p[0].resource, "configmaps");
    assert_int_equal(stats.resources.p[0].objects, 2);
    assert_string_equal(stats.resources.p[1].resource, "widgets.example.com");
    assert_int_equal(stats.resources.p[1].objects, 1);
    assert_int_equal(stats.object_bytes, stats.resources.p[0].bytes + stats.resources.p[1].bytes);
    vd_log_stats_release(&stats);

    assert_ok(vd_log_floor_for(data, 3, INT64_MIN, &floor, &error), &error);
    assert_int_equal(floor, newest - 3);
    assert_ok(vd_log_floor_for(data, 100, INT64_MIN, &floor, &error), &error);
    assert_int_equal(floor, 0);
    assert_ok(vd_log_floor_for(data, 100, NOW_MS + 1, &floor, &error), &error);
    assert_int_equal(floor, 2);
    assert_ok(vd_log_floor_for(data, UINT64_MAX, NOW_MS, &floor, &error), &error);
    assert_int_equal(floor, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_backup_has_everything),
        TEST(an_existing_file_is_kept_unless_told),
        TEST(a_backup_over_a_folder_or_the_log_is_refused),
        TEST(what_an_interrupted_backup_left_is_thrown_away),
        TEST(two_drafts_of_one_name_are_refused),
        TEST(a_damaged_log_does_not_replace_a_good_backup),
        TEST(a_backup_beside_a_writer_is_of_one_moment),
        TEST(a_restored_log_goes_on_above_the_lost_one),
        TEST(two_restores_of_one_backup_do_not_meet),
        TEST(an_empty_log_can_be_restored),
        TEST(a_folder_with_a_log_is_not_restored_into),
        TEST(a_log_begun_anew_expires_every_cursor_of_the_lost_one),
        TEST(an_empty_file_in_the_log_s_place_is_restored_over),
        TEST(a_damaged_backup_is_not_restored),
        TEST(shrinking_returns_space_and_keeps_the_log),
        TEST(the_numbers_of_a_log_are_right),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
