/*
 * Damage: files that are not what was written, or not ours at all. Nothing wrong
 * is ever served, and the sentence says what is wrong and where.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "model.h"
#include "seed.h"
#include "store/snapshot.h"

struct setting {
    char *folder;
    struct vd_buf path;  /* of log.db */
    struct vd_buf whole; /* its bytes as they should be */
    struct vd_store *store;
    struct vd_error error;
};

static int setup(void **state)
{
    struct setting *t = calloc(1, sizeof *t);
    t->folder = temp_folder_new();
    vd_buf_addf(&t->path, "%s/log.db", t->folder);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct setting *t = *state;
    vd_store_close(t->store);
    temp_folder_remove(t->folder);
    vd_buf_release(&t->path);
    vd_buf_release(&t->whole);
    free(t);
    return 0;
}

static int try_open(struct setting *t, size_t tail_events_max)
{
    struct vd_store_options options = {.tail_events_max = tail_events_max,
                                       .manual_compaction = true};
    struct vd_folder folder = {.path = t->folder};
    return vd_store_open_in(&t->store, &folder, &options, &t->error);
}

static void store_close(struct setting *t)
{
    vd_store_close(t->store);
    t->store = NULL;
}

/* ---- the file's bytes ---- */

static void file_read(const char *path, struct vd_buf *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    char room[65536];
    vd_buf_reset(out);
    for (ssize_t n; (n = read(fd, room, sizeof room)) > 0;)
        vd_buf_add(out, room, (size_t)n);
    close(fd);
}

static void file_write(const char *path, const void *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

/* The file as it should be but for one bit; no WAL beside it. */
static void file_flip(struct setting *t, size_t offset, unsigned bit)
{
    static const char *const suffixes[] = {"-wal", "-shm"};
    struct vd_buf name = {0};
    for (size_t i = 0; i < 2; i++) {
        vd_buf_reset(&name);
        vd_buf_addf(&name, "%s%s", vd_buf_text(&t->path), suffixes[i]);
        unlink(vd_buf_text(&name));
    }
    vd_buf_release(&name);
    t->whole.p[offset] ^= (char)(1u << bit);
    file_write(vd_buf_text(&t->path), t->whole.p, t->whole.n);
    t->whole.p[offset] ^= (char)(1u << bit);
}

/* Where these bytes are; they must be there once. */
static size_t file_find(const struct setting *t, const void *bytes, size_t n)
{
    const char *at = memmem(t->whole.p, t->whole.n, bytes, n);
    assert_non_null(at);
    const char *rest = at + 1;
    assert_null(memmem(rest, (size_t)(t->whole.p + t->whole.n - rest), bytes, n));
    return (size_t)(at - t->whole.p);
}

/* ---- a log with a victim ---- */

enum { LONG = 20000 }; /* bytes: several overflow pages */

static char long_value[LONG + 1];

/* Text in which every stretch of 16 bytes is unlike any other. */
static void fill_long_value(void)
{
    struct seed_rng rng = {42};
    for (size_t i = 0; i < LONG; i++)
        long_value[i] = (char)('a' + seed_below(&rng, 26));
}

static uint64_t put_text(struct setting *t, const char *name, const char *value)
{
    struct vd_buf body = {0};
    struct vd_outcome outcome;
    vd_buf_addf(&body, "{\"rv\":\"\",\"value\":\"%s\"}", value);
    struct vd_wish wish = {.action = VD_PUT,
                           .key = test_key("things", "space", name),
                           .uid = {{0xa1, 0xb2, 0xc3, 0xd4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
                           .body = {vd_buf_slice(&body), 7}};
    assert_code(vd_store_commit(t->store, &wish, 1, &outcome), VD_OK);
    vd_buf_release(&body);
    return outcome.revision;
}

/* Gives the victim's newest revision; `t->whole` is the closed file. */
static uint64_t make_log(struct setting *t, const char *value)
{
    fill_long_value();
    assert_ok(try_open(t, 0), &t->error);
    put_text(t, "before", "one");
    put_text(t, "victim", "first");
    put_text(t, "before", "two");
    uint64_t revision = put_text(t, "victim", value);
    put_text(t, "zz-after", "three");
    store_close(t);
    file_read(vd_buf_text(&t->path), &t->whole);
    return revision;
}

static struct vd_key key_of(const char *name)
{
    return test_key("things", "space", name);
}

#define assert_names(error, revision)                                                              \
    do {                                                                                           \
        char text_[64];                                                                            \
        snprintf(text_, sizeof text_, "revision %llu", (unsigned long long)(revision));            \
        assert_says((error), text_);                                                               \
    } while (0)

/* The log from a revision to its end, however many reads that takes. */
static void read_on(struct setting *t, uint64_t after, struct vd_stretch *all)
{
    struct vd_stretch piece = {0};
    vd_stretch_reset(all);
    for (; after < vd_store_revision(t->store); after = piece.upto) {
        assert_ok(vd_store_read(t->store, VD_SLICE("things"), after, 10, &piece, &t->error),
                  &t->error);
        for (size_t i = 0; i < piece.changes.n; i++)
            *VD_VEC_PUSH(&all->changes) = piece.changes.p[i];
        piece.changes.n = 0;
    }
    vd_stretch_release(&piece);
}

/* No way of reading gives the victim's bytes, and each names the revision. */
static void assert_refused(struct setting *t, uint64_t revision)
{
    struct vd_event *event = NULL, *events[8];
    struct vd_key victim = key_of("victim"), before = key_of("before");
    assert_code(vd_store_get(t->store, &victim, 0, &event, &t->error), VD_ERR_CORRUPT);
    assert_names(&t->error, revision);
    assert_code(vd_store_get(t->store, &victim, revision, &event, &t->error), VD_ERR_CORRUPT);
    assert_ok(vd_store_get(t->store, &before, 0, &event, &t->error), &t->error);
    vd_event_unref(event);

    struct vd_snapshot s;
    size_t n, seen = 0, refused = 0;
    struct vd_slice all = VD_SLICE("");
    const uint64_t at[] = {0, revision};
    for (size_t j = 0; j < 2; j++) {
        assert_ok(vd_snapshot_open(&s, t->store, VD_SLICE("things"), all, at[j], all, &t->error),
                  &t->error);
        while (!s.done) {
            int code = vd_snapshot_next(&s, events, 8, &n, &t->error);
            refused += code == VD_ERR_CORRUPT;
            if (code)
                assert_names(&t->error, revision);
            seen += n;
            for (size_t i = 0; i < n; i++) {
                assert_false(vd_slice_is(vd_entry_name(events[i]->entry), "victim"));
                vd_event_unref(events[i]);
            }
        }
        assert_int_equal(refused, j + 1);
        assert_ok(vd_snapshot_remaining(&s, &n, &t->error), &t->error);
        vd_snapshot_release(&s);
    }
    assert_int_equal(seen, 2 + 1); /* at its own revision only one other object exists */

    struct vd_stretch stretch = {0};
    assert_code(vd_store_read(t->store, VD_SLICE("things"), revision - 1, 10, &stretch, &t->error),
                VD_ERR_CORRUPT);
    assert_names(&t->error, revision);
    assert_int_equal(stretch.changes.n, 0);
    assert_ok(vd_store_read(t->store, VD_SLICE("things"), revision, 10, &stretch, &t->error),
              &t->error);
    assert_int_equal(stretch.changes.n, 1);
    /* What comes before it is still given, up to it. */
    assert_ok(vd_store_read(t->store, VD_SLICE("things"), 1, 10, &stretch, &t->error), &t->error);
    assert_int_equal(stretch.changes.n, 3);
    assert_int_equal(stretch.upto, revision - 1);
    vd_stretch_release(&stretch);
}

/* Replaced or deleted, the object is well again for all who come from now on. */
static void assert_mends(struct setting *t, uint64_t revision, bool replaces)
{
    struct vd_key victim = key_of("victim");
    struct vd_event *event;
    struct vd_outcome outcome;
    if (replaces)
        put_text(t, "victim", "mended");
    else
        assert_code(test_delete(t->store, "things", "space", "victim", &outcome), VD_OK);
    assert_code(vd_store_get(t->store, &victim, 0, &event, &t->error),
                replaces ? VD_OK : VD_ERR_NOT_FOUND);
    if (replaces)
        vd_event_unref(event);
    assert_int_equal(vd_store_count(t->store, VD_SLICE("things")), replaces ? 3 : 2);
    struct vd_stretch stretch = {0};
    for (int round = 0; round < 2; round++) { /* from memory, and from the engine */
        read_on(t, revision, &stretch);
        assert_int_equal(stretch.changes.n, 2 + round);
        const struct vd_change *c = &stretch.changes.p[1];
        assert_int_equal(c->now->type, replaces ? VD_EVENT_UPDATED : VD_EVENT_DELETED);
        assert_true(c->before && c->before->damaged && !c->before->body);
        assert_int_equal(!c->now->body, !replaces);
        assert_code(vd_store_get(t->store, &victim, revision, &event, &t->error), VD_ERR_CORRUPT);
        store_close(t);
        assert_ok(try_open(t, 1), &t->error);
        if (round == 0)
            put_text(t, "zz-after", "four");
    }
    vd_stretch_release(&stretch);
}

static void a_bit_in_a_body(struct setting *t, size_t offset, unsigned bit, uint64_t revision,
                            size_t tail)
{
    struct vd_health health;
    file_flip(t, offset, bit);
    assert_ok(try_open(t, tail), &t->error);
    vd_store_health(t->store, &health);
    assert_int_equal(health.damaged, 1);
    assert_int_equal(health.damaged_revision, revision);
    assert_false(health.read_only);
    assert_names(&health.error, revision);
    assert_refused(t, revision);
}

static void a_bit_flipped_in_a_body_is_named_and_not_served(void **state)
{
    struct setting *t = *state;
    uint64_t revision = make_log(t, long_value);
    struct seed_rng rng = {seed_of_run()};
    size_t tried = 0;
    for (size_t at = 0; at < LONG - 16; at += at < 64 || at > LONG - 80 ? 5 : 331) {
        const char *found = memmem(t->whole.p, t->whole.n, long_value + at, 16);
        if (!found) /* cut by the end of a page */
            continue;
        size_t tail = at % 2 ? 1 : 0; /* from the engine; from memory */
        a_bit_in_a_body(t, (size_t)(found - t->whole.p), (unsigned)seed_below(&rng, 8), revision,
                        tail);
        if (tried++ % 8 == 0)
            assert_mends(t, revision, tried % 16 == 1);
        store_close(t);
    }
    assert_true(tried > 50);
}

/* The first bytes of an overflow page lead to the next one. */
static void a_body_whose_pages_do_not_hang_together_is_damaged(void **state)
{
    struct setting *t = *state;
    uint64_t revision = make_log(t, long_value);
    enum { PAGE = 4096 };
    size_t tried = 0;
    for (size_t at = 0; at < LONG - 16; at += PAGE) {
        const char *found = memmem(t->whole.p, t->whole.n, long_value + at, 16);
        size_t page = found ? (size_t)(found - t->whole.p) / PAGE * PAGE : 0;
        if (!found || t->whole.p[page] != 0 || t->whole.p[page + 3] == 0)
            continue; /* cut by a page's end; a page of the tree; the last one */
        a_bit_in_a_body(t, page + 1, 3, revision, tried++ % 2);
        store_close(t);
    }
    assert_true(tried > 2);
}

static void every_bit_of_a_short_body_counts(void **state)
{
    struct setting *t = *state;
    uint64_t revision = make_log(t, "short-and-unique");
    size_t offset = file_find(t, "\"short-and-unique\"", 18);
    for (size_t i = 0; i < 18; i++) {
        a_bit_in_a_body(t, offset + i, (unsigned)(i % 8), revision, i % 3);
        store_close(t);
    }
}

/* A version that nobody needs any more does no harm but to those who ask for it. */
static void an_old_version_is_refused_where_it_is_needed(void **state)
{
    struct setting *t = *state;
    uint64_t newest = make_log(t, "second");
    file_flip(t, file_find(t, "\"first\"", 7) + 3, 2);
    for (size_t tail = 0; tail < 2; tail++) {
        struct vd_key victim = key_of("victim");
        struct vd_event *event;
        struct vd_health health;
        assert_ok(try_open(t, tail), &t->error);
        vd_store_health(t->store, &health);
        assert_int_equal(health.damaged, tail ? 0 : 1); /* only what was loaded is known */
        assert_ok(vd_store_get(t->store, &victim, 0, &event, &t->error), &t->error);
        vd_event_unref(event);
        assert_ok(vd_store_get(t->store, &victim, newest, &event, &t->error), &t->error);
        vd_event_unref(event);
        assert_code(vd_store_get(t->store, &victim, 3, &event, &t->error), VD_ERR_CORRUPT);
        assert_names(&t->error, 3);
        assert_code(vd_store_get(t->store, &victim, 2, &event, &t->error), VD_ERR_NOT_FOUND);
        struct vd_stretch stretch = {0};
        read_on(t, 3, &stretch);
        assert_int_equal(stretch.changes.n, 3);
        assert_true(stretch.changes.p[1].before->damaged);
        vd_stretch_release(&stretch);
        store_close(t);
    }
}

/* The way to an older version leads through a damaged one. */
static void a_damaged_version_does_not_hide_an_older_one(void **state)
{
    struct setting *t = *state;
    uint64_t damaged = make_log(t, "second-and-unique");
    assert_ok(try_open(t, 0), &t->error);
    put_text(t, "victim", "third");
    test_delete(t->store, "things", "space", "victim", NULL);
    put_text(t, "victim", "fourth");
    put_text(t, "before", "last");
    store_close(t);
    file_read(vd_buf_text(&t->path), &t->whole);
    file_flip(t, file_find(t, "\"second-and-unique\"", 19) + 5, 1);
    struct vd_key victim = key_of("victim");
    struct vd_event *event;
    for (size_t tail = 0; tail < 2; tail++) {
        char room[64];
        assert_ok(try_open(t, tail), &t->error);
        assert_ok(vd_store_get(t->store, &victim, 3, &event, &t->error), &t->error);
        assert_string_equal(body_value(event->body, room), "first");
        vd_event_unref(event);
        assert_code(vd_store_get(t->store, &victim, damaged, &event, &t->error), VD_ERR_CORRUPT);
        assert_names(&t->error, damaged);
        store_close(t);
    }
}

/* From the kind's first byte to the body's: the texts, the uid, the numbers and the checksums. */
static void a_bit_flipped_in_a_head_keeps_the_store_shut(void **state)
{
    struct setting *t = *state;
    uint64_t revision = make_log(t, "short-and-unique");
    size_t body = file_find(t, "short-and-unique", 16) - 18; /* {"rv":"","value":" */
    assert_memory_equal(t->whole.p + body, "{\"rv\"", 5);
    size_t kind = body;
    while (memcmp(t->whole.p + kind, "thingsspacevictim", 17) != 0)
        kind--;
    assert_true(body - kind > 17 + VD_UID_LEN && body - kind < 80);
    for (size_t at = kind; at < body; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            file_flip(t, at, bit);
            int code = try_open(t, 0);
            if (at >= body - 4) { /* the checksum of the body stands behind that of the head */
                assert_ok(code, &t->error);
                assert_refused(t, revision);
                store_close(t);
                continue;
            }
            if (code != VD_ERR_CORRUPT)
                fail_msg("byte %zu of the head, bit %u: %s", at - kind, bit, vd_code_name(code));
            assert_names(&t->error, revision);
            assert_says(&t->error, "restore");
        }
}

/* ---- a bit anywhere ---- */

static bool is_as_written(struct setting *t, const char *name, const char *want)
{
    struct vd_key key = key_of(name);
    struct vd_event *event;
    struct vd_buf body = {0};
    int code = vd_store_get(t->store, &key, 0, &event, &t->error);
    if (code)
        return code == VD_ERR_CORRUPT || code == VD_ERR_IO;
    vd_buf_addf(&body, "\",\"value\":\"%s\"}", want);
    bool same = vd_slice_ends_with(vd_body_slice(event->body), vd_buf_slice(&body));
    vd_buf_release(&body);
    vd_event_unref(event);
    return same;
}

/* Wherever a bit flips: the store does not open, or it says what is damaged, or
 * everything is as it was written. Nothing is missing or old in silence. */
static void a_bit_flipped_anywhere_is_never_believed(void **state)
{
    struct setting *t = *state;
    uint64_t seed = seed_of_run(), runs = seed_runs("VEDETTE_RUNS", 400), refused = 0;
    struct seed_rng rng = {seed};
    make_log(t, long_value);
    assert_ok(try_open(t, 0), &t->error);
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i % 20);
        put_text(t, name, i < 20 ? "old" : "new");
    }
    store_close(t);
    file_read(vd_buf_text(&t->path), &t->whole);
    for (uint64_t i = 0; i < runs; i++) {
        size_t offset = seed_below(&rng, t->whole.n);
        unsigned bit = (unsigned)seed_below(&rng, 8);
        file_flip(t, offset, bit);
        if (try_open(t, i % 2)) {
            refused++;
            continue;
        }
        bool sound = is_as_written(t, "before", "two") && is_as_written(t, "victim", long_value) &&
                     is_as_written(t, "zz-after", "three");
        for (int j = 0; j < 20; j++) {
            char name[16];
            snprintf(name, sizeof name, "n%d", j);
            sound = sound && is_as_written(t, name, "new");
        }
        if (!sound || vd_store_revision(t->store) != 46)
            fail_msg("bit %u of byte %zu: %s; VEDETTE_SEED=%llu", bit, offset, t->error.text,
                     (unsigned long long)seed);
        store_close(t);
    }
    assert_true(refused > 0 && refused < runs);
}

/* ---- files that are not ours ---- */

static void sql(const char *path, const char *statements)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, statements, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* The store says why it does not open, names the file, and leaves it as it is. */
static void assert_not_opened(struct setting *t, int code, const char *says)
{
    struct vd_buf before = {0}, after = {0};
    file_read(vd_buf_text(&t->path), &before);
    assert_code(try_open(t, 0), code);
    assert_says(&t->error, says);
    assert_says(&t->error, "log.db");
    file_read(vd_buf_text(&t->path), &after);
    assert_true(vd_slice_eq(vd_buf_slice(&before), vd_buf_slice(&after)));
    vd_buf_release(&before);
    vd_buf_release(&after);
}

static void another_program_s_database_is_refused_untouched(void **state)
{
    struct setting *t = *state;
    sql(vd_buf_text(&t->path), "CREATE TABLE mine(a); INSERT INTO mine VALUES(1)");
    assert_not_opened(t, VD_ERR_FORMAT, "another program");
    sql(vd_buf_text(&t->path), "PRAGMA application_id=7; PRAGMA user_version=1");
    assert_not_opened(t, VD_ERR_FORMAT, "another program");
}

static void a_newer_format_is_refused_untouched(void **state)
{
    struct setting *t = *state;
    make_log(t, "x");
    sql(vd_buf_text(&t->path), "PRAGMA journal_mode=DELETE; PRAGMA user_version=2");
    assert_not_opened(t, VD_ERR_FORMAT, "newer Vedette");
    assert_says(&t->error, "format 2");
}

static void what_is_no_database_is_refused_untouched(void **state)
{
    struct setting *t = *state;
    char text[5000];
    memset(text, 'x', sizeof text);
    file_write(vd_buf_text(&t->path), text, sizeof text);
    assert_not_opened(t, VD_ERR_FORMAT, "not a Vedette log");
    file_write(vd_buf_text(&t->path), "short", 5);
    assert_not_opened(t, VD_ERR_FORMAT, "not a Vedette log");
}

static void a_truncated_file_is_refused(void **state)
{
    struct setting *t = *state;
    make_log(t, long_value);
    for (size_t n = 34; n < t->whole.n; n += n < 200 ? 33 : 1777) { /* SQLite takes 1 for 0 */
        file_flip(t, 0, 0);
        file_write(vd_buf_text(&t->path), t->whole.p, n);
        int code = try_open(t, 0);
        struct vd_health health = {0};
        if (!code) { /* a part of one body is gone and no more */
            vd_store_health(t->store, &health);
            store_close(t);
        }
        if (!health.damaged && code != VD_ERR_CORRUPT && code != VD_ERR_FORMAT)
            fail_msg("%zu of %zu bytes: %s", n, t->whole.n, vd_code_name(code));
        if (code)
            assert_says(&t->error, "log.db");
    }
}

static void a_log_without_its_tables_is_refused(void **state)
{
    static const char *const wrecks[] = {"DROP TABLE log", "DROP TABLE meta", "DELETE FROM meta",
                                         "UPDATE meta SET floor=floor+1",
                                         "UPDATE meta SET base=base+1"};
    struct setting *t = *state;
    make_log(t, "x");
    for (size_t i = 0; i < sizeof wrecks / sizeof *wrecks; i++) {
        file_flip(t, 0, 0);
        file_write(vd_buf_text(&t->path), t->whole.p, t->whole.n);
        sql(vd_buf_text(&t->path), wrecks[i]);
        assert_code(try_open(t, 0), VD_ERR_CORRUPT);
        assert_says(&t->error, "log.db");
    }
}

/* ---- a log that is lost ---- */

static int try_open_traced(struct setting *t)
{
    struct vd_folder folder = {.path = t->folder, .trace = "keys"};
    struct vd_store_options options = {.manual_compaction = true};
    return vd_store_open_in(&t->store, &folder, &options, &t->error);
}

/* FOLDER/NAME, with this text. */
static void leave_file(struct setting *t, const char *name, const char *text)
{
    struct vd_buf path = {0};
    vd_buf_addf(&path, "%s/%s", t->folder, name);
    file_write(vd_buf_text(&path), text, strlen(text));
    vd_buf_release(&path);
}

/* The store is refused, with both ways out, and makes nothing. */
static void assert_lost(struct setting *t, const char *says)
{
    struct stat s;
    off_t before = stat(vd_buf_text(&t->path), &s) == 0 ? s.st_size : -1;
    assert_code(try_open_traced(t), VD_ERR_NOT_FOUND);
    assert_says(&t->error, says);
    assert_says(&t->error, t->folder);
    assert_says(&t->error, "vedette store restore");
    assert_says(&t->error, "vedette store init");
    assert_int_equal(stat(vd_buf_text(&t->path), &s) == 0 ? s.st_size : -1, before);
}

static void a_log_that_is_gone_beside_its_keys_is_not_made_anew(void **state)
{
    struct setting *t = *state;
    leave_file(t, "config", "of a user");
    assert_ok(try_open_traced(t), &t->error); /* the first start */
    store_close(t);
    leave_file(t, "keys", "secret");
    assert_ok(try_open_traced(t), &t->error);
    store_close(t);
    file_write(vd_buf_text(&t->path), "", 0);
    assert_lost(t, "as its keys shows, but its log.db is empty");
    unlink(vd_buf_text(&t->path));
    assert_lost(t, "as its keys shows, but its log.db is missing");
    sql(vd_buf_text(&t->path), "PRAGMA page_size=4096; VACUUM"); /* a database without a table */
    assert_code(try_open_traced(t), VD_ERR_FORMAT);
    assert_says(&t->error, "is empty: move it away");
}

/* SQLite would remove it. */
static void a_write_ahead_log_without_its_log_is_kept(void **state)
{
    struct setting *t = *state;
    struct vd_buf wal = {0};
    struct stat s;
    vd_buf_addf(&wal, "%s-wal", vd_buf_text(&t->path));
    leave_file(t, "log.db-wal", "left behind");
    assert_lost(t, "a log.db-wal of 11 bytes, but its log.db is missing");
    file_write(vd_buf_text(&t->path), "", 0);
    assert_lost(t, "a log.db-wal of 11 bytes, but its log.db is empty");
    assert_int_equal(stat(vd_buf_text(&wal), &s), 0);
    assert_int_equal(s.st_size, 11);
    vd_buf_release(&wal);
}

/* A first start that was killed before it had made its log. */
static void an_empty_file_without_a_trace_of_a_log_is_filled(void **state)
{
    struct setting *t = *state;
    file_write(vd_buf_text(&t->path), "", 0);
    leave_file(t, "log.db-wal", "");
    leave_file(t, "lock", "4711");
    assert_ok(try_open_traced(t), &t->error);
    assert_int_equal(vd_store_revision(t->store), 1);
}

/* Rows that somebody else took, put back or moved. */
static void rows_changed_behind_our_back_are_noticed(void **state)
{
    static const char *const wrecks[] = {
        "UPDATE log SET revision=50 WHERE revision=6", "UPDATE log SET previous=0 WHERE revision=5",
        "UPDATE log SET name='other' WHERE revision=5", "DELETE FROM log WHERE revision=5",
        "DELETE FROM log WHERE revision=3"};
    struct setting *t = *state;
    make_log(t, "x");
    for (size_t i = 0; i < sizeof wrecks / sizeof *wrecks; i++) {
        file_flip(t, 0, 0);
        file_write(vd_buf_text(&t->path), t->whole.p, t->whole.n);
        sql(vd_buf_text(&t->path), wrecks[i]);
        int code = try_open(t, 0);
        if (code != VD_ERR_CORRUPT)
            fail_msg("%s: %s", wrecks[i], vd_code_name(code));
        assert_says(&t->error, "revision");
    }
}

static void a_folder_in_the_file_s_place_is_an_error(void **state)
{
    struct setting *t = *state;
    assert_int_equal(mkdir(vd_buf_text(&t->path), 0700), 0);
    assert_code(try_open(t, 0), VD_ERR_IO);
    assert_says(&t->error, "log.db");
    assert_says(&t->error, "directory");
}

/* Root may write anywhere, so it becomes nobody for a moment. */
static void a_folder_that_cannot_be_written_is_an_error(void **state)
{
    struct setting *t = *state;
    enum { NOBODY = 65534 };
    bool root = geteuid() == 0;
    assert_int_equal(chmod(t->folder, 0500), 0);
    if (root) {
        assert_int_equal(chown(t->folder, NOBODY, NOBODY), 0);
        assert_int_equal(seteuid(NOBODY), 0);
    }
    int code = try_open(t, 0);
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(t->folder, 0700), 0);
    assert_code(code, VD_ERR_IO);
    assert_says(&t->error, t->folder);
    assert_says(&t->error, "Permission denied");
}

static void a_folder_of_a_running_server_is_locked(void **state)
{
    struct setting *t = *state;
    int ready[2];
    char byte, wanted[64];
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (try_open(t, 0) == VD_OK && write(ready[1], "x", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_code(try_open(t, 0), VD_ERR_LOCKED);
    snprintf(wanted, sizeof wanted, "process %ld", (long)pid);
    assert_says(&t->error, wanted);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_ok(try_open(t, 0), &t->error);
    close(ready[0]);
    close(ready[1]);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_bit_flipped_in_a_body_is_named_and_not_served),
        IN_FOLDER(a_body_whose_pages_do_not_hang_together_is_damaged),
        IN_FOLDER(every_bit_of_a_short_body_counts),
        IN_FOLDER(an_old_version_is_refused_where_it_is_needed),
        IN_FOLDER(a_damaged_version_does_not_hide_an_older_one),
        IN_FOLDER(a_bit_flipped_in_a_head_keeps_the_store_shut),
        IN_FOLDER(a_bit_flipped_anywhere_is_never_believed),
        IN_FOLDER(another_program_s_database_is_refused_untouched),
        IN_FOLDER(a_newer_format_is_refused_untouched),
        IN_FOLDER(what_is_no_database_is_refused_untouched),
        IN_FOLDER(a_truncated_file_is_refused),
        IN_FOLDER(a_log_without_its_tables_is_refused),
        IN_FOLDER(a_log_that_is_gone_beside_its_keys_is_not_made_anew),
        IN_FOLDER(a_write_ahead_log_without_its_log_is_kept),
        IN_FOLDER(an_empty_file_without_a_trace_of_a_log_is_filled),
        IN_FOLDER(rows_changed_behind_our_back_are_noticed),
        IN_FOLDER(a_folder_in_the_file_s_place_is_an_error),
        IN_FOLDER(a_folder_that_cannot_be_written_is_an_error),
        IN_FOLDER(a_folder_of_a_running_server_is_locked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
