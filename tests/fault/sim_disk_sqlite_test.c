/*
 * Plain SQLite on the simulated disk: what it promises must hold here, and what
 * it does not promise must be seen to break. The second half is the proof that
 * the simulator bites; a store test that passes on it means something.
 *
 * The workload is a ledger: transaction number s puts a row (s % KEYS, s, bytes
 * that follow from s) and notes s as the last one. So each row proves itself, a
 * half-done transaction shows, and it is known which rows must be there.
 */
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "seed.h"
#include "sim_disk.h"

enum { KEYS = 23, BODY_MAX = 4000 };

struct ledger {
    struct sim_disk *disk;
    const char *setup; /* pragmas */
    sqlite3 *db;
    int64_t tried;       /* the last number that was used */
    int64_t acked[KEYS]; /* by key: the last number whose commit was acknowledged */
};

enum verdict { GOOD, LOST, CORRUPT };

static const char wal_full[] = "pragma journal_mode=wal; pragma synchronous=full;";
static const char wal_normal[] = "pragma journal_mode=wal; pragma synchronous=normal;";
static const char wal_off[] = "pragma journal_mode=wal; pragma synchronous=off;";
static const char delete_extra[] = "pragma journal_mode=delete; pragma synchronous=extra;";
static const char delete_off[] = "pragma journal_mode=delete; pragma synchronous=off;";

static int run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static void run_ok(sqlite3 *db, const char *sql)
{
    if (run(db, sql) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

static int try_connect(struct sim_disk *disk, sqlite3 **db)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    int rc = sqlite3_open_v2("ledger.db", db, flags, sim_disk_vfs(disk));
    if (rc != SQLITE_OK) {
        sqlite3_close(*db);
        *db = NULL;
        return rc;
    }
    sqlite3_extended_result_codes(*db, 1);
    return SQLITE_OK;
}

static sqlite3 *connect_ok(struct sim_disk *disk)
{
    sqlite3 *db = NULL;
    assert_int_equal(try_connect(disk, &db), SQLITE_OK);
    return db;
}

/* The first column of the first row, or -1 on any error. */
static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        value = sqlite3_column_int64(stmt, 0);
    if (sqlite3_finalize(stmt) != SQLITE_OK)
        value = -1;
    return value;
}

static void ledger_close(struct ledger *l)
{
    assert_int_equal(sqlite3_close(l->db), SQLITE_OK);
    l->db = NULL;
}

/* Small checkpoints, so that a short run has several of them. */
static int ledger_open(struct ledger *l)
{
    int rc = try_connect(l->disk, &l->db);
    if (rc == SQLITE_OK)
        rc = run(l->db, l->setup);
    if (rc == SQLITE_OK)
        rc = run(l->db, "pragma wal_autocheckpoint=12;"
                        "begin immediate;"
                        "create table if not exists kv(k integer primary key, seq, body);"
                        "create table if not exists meta(id integer primary key, last);"
                        "insert or ignore into meta values(1, 0);"
                        "commit;");
    if (rc != SQLITE_OK && l->db)
        ledger_close(l);
    return rc;
}

static struct ledger ledger_start(const struct sim_config *config, const char *setup)
{
    struct ledger l = {.disk = sim_disk_new(config), .setup = setup};
    assert_int_equal(ledger_open(&l), SQLITE_OK);
    return l;
}

static void ledger_end(struct ledger *l)
{
    sqlite3_close(l->db);
    assert_int_equal(sim_disk_free(l->disk), 0);
}

static int body_make(int64_t seq, char out[BODY_MAX])
{
    int n = (int)(seq * 397 % BODY_MAX);
    memset(out, (int)(seq % 251), (size_t)n);
    return n;
}

static int ledger_put(struct ledger *l, int64_t seq)
{
    char body[BODY_MAX];
    int n = body_make(seq, body);
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(l->db, "replace into kv values(?1 % ?2, ?1, ?3)", -1, &stmt, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_int64(stmt, 1, seq);
        sqlite3_bind_int(stmt, 2, KEYS);
        sqlite3_bind_blob(stmt, 3, body, n, SQLITE_STATIC);
        sqlite3_step(stmt);
        rc = sqlite3_finalize(stmt);
    }
    return rc;
}

/* One transaction with a number of its own. */
static int ledger_commit(struct ledger *l)
{
    int64_t seq = ++l->tried;
    int rc = run(l->db, "begin immediate");
    if (rc == SQLITE_OK)
        rc = ledger_put(l, seq);
    if (rc == SQLITE_OK)
        rc = run(l->db, "update meta set last = (select max(seq) from kv)");
    if (rc == SQLITE_OK)
        rc = run(l->db, "commit");
    if (rc == SQLITE_OK)
        l->acked[seq % KEYS] = seq;
    else if (!sqlite3_get_autocommit(l->db))
        run(l->db, "rollback"); /* the test sees by the rows whether it worked */
    return rc;
}

/* Commits until one fails or `n` are done. */
static int ledger_commit_many(struct ledger *l, unsigned n)
{
    int rc = SQLITE_OK;
    for (unsigned i = 0; i < n && rc == SQLITE_OK; i++)
        rc = ledger_commit(l);
    return rc;
}

static bool row_is_sound(const struct ledger *l, sqlite3_stmt *stmt)
{
    int64_t key = sqlite3_column_int64(stmt, 0), seq = sqlite3_column_int64(stmt, 1);
    char body[BODY_MAX];
    if (seq < 1 || seq > l->tried || seq % KEYS != key)
        return false;
    int n = body_make(seq, body);
    const void *got = sqlite3_column_blob(stmt, 2);
    return sqlite3_column_bytes(stmt, 2) == n && (n == 0 || memcmp(got, body, (size_t)n) == 0);
}

static bool is_intact(sqlite3 *db)
{
    sqlite3_stmt *stmt = NULL;
    bool intact = sqlite3_prepare_v2(db, "pragma integrity_check", -1, &stmt, NULL) == SQLITE_OK &&
                  sqlite3_step(stmt) == SQLITE_ROW &&
                  strcmp((const char *)sqlite3_column_text(stmt, 0), "ok") == 0;
    sqlite3_finalize(stmt);
    return intact;
}

/* Compares the open database with what was acknowledged. What is there is from
 * then on taken as acknowledged: it was read, so it may not vanish later. */
static enum verdict ledger_judge(struct ledger *l)
{
    int64_t found[KEYS] = {0};
    sqlite3_stmt *stmt = NULL;
    int rc;
    if (!is_intact(l->db) ||
        sqlite3_prepare_v2(l->db, "select k, seq, body from kv", -1, &stmt, NULL) != SQLITE_OK)
        return CORRUPT;
    bool sound = true;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && sound) {
        sound = row_is_sound(l, stmt);
        if (sound)
            found[sqlite3_column_int64(stmt, 0)] = sqlite3_column_int64(stmt, 1);
    }
    sqlite3_finalize(stmt);
    int64_t max = number(l->db, "select coalesce(max(seq), 0) from kv");
    if (rc != SQLITE_DONE || !sound || max < 0 || number(l->db, "select last from meta") != max)
        return CORRUPT;
    enum verdict verdict = GOOD;
    for (int k = 0; k < KEYS; k++) {
        if (found[k] < l->acked[k])
            verdict = LOST;
        l->acked[k] = found[k];
    }
    return verdict;
}

/* Powers on, heals, opens, judges; leaves the ledger open unless it is corrupt. */
static enum verdict ledger_recover(struct ledger *l)
{
    if (l->db)
        ledger_close(l);
    sim_disk_heal(l->disk);
    sim_disk_power_on(l->disk);
    return ledger_open(l) == SQLITE_OK ? ledger_judge(l) : CORRUPT;
}

static struct sim_fault crash_at(struct seed_rng *rng, unsigned modes, uint64_t calls)
{
    return (struct sim_fault){.op = SIM_CHANGE,
                              .at = 1 + seed_below(rng, calls),
                              .how = seed_percent(rng, 50) ? SIM_CRASH_BEFORE : SIM_CRASH_AFTER,
                              .crash = modes,
                              .seed = seed_next(rng)};
}

/* A life between two power losses: some commits, perhaps a reader that holds
 * the WAL back, a checkpoint, a clean end; and a crash somewhere in it, at
 * times already in the recovery from the crash before. */
static enum verdict ledger_live(struct ledger *l, unsigned modes, uint64_t seed)
{
    struct seed_rng rng = {seed};
    sqlite3 *reader = NULL;
    if (seed_percent(&rng, 30) && try_connect(l->disk, &reader) == SQLITE_OK)
        run(reader, "begin; select count(*) from kv");
    sim_disk_fail(l->disk, crash_at(&rng, modes, 60));
    int rc = ledger_commit_many(l, (unsigned)seed_below(&rng, 12));
    if (rc == SQLITE_OK && seed_percent(&rng, 20))
        run(l->db, "pragma wal_checkpoint(truncate)");
    if (reader)
        sqlite3_close(reader);
    if (seed_percent(&rng, 20))
        ledger_close(l);
    sim_disk_crash(l->disk, modes, seed_next(&rng)); /* unless it is off already */
    if (l->db)
        ledger_close(l);
    if (seed_percent(&rng, 30)) {
        sim_disk_heal(l->disk);
        sim_disk_power_on(l->disk);
        sim_disk_fail(l->disk, crash_at(&rng, modes, 10));
        if (ledger_open(l) == SQLITE_OK)
            ledger_close(l);
        sim_disk_crash(l->disk, modes, seed_next(&rng));
    }
    return ledger_recover(l);
}

struct tally {
    unsigned lost;
    unsigned corrupt;
    struct sim_losses losses;
};

/* Lives through `n` crashes; a corrupt disk is replaced by a new one. */
static struct tally ledger_crash_many(const struct sim_config *config, const char *setup,
                                      unsigned modes, uint64_t first_seed, unsigned n)
{
    struct tally tally = {0};
    struct ledger l = ledger_start(config, setup);
    for (uint64_t seed = first_seed; seed < first_seed + n; seed++) {
        enum verdict verdict = ledger_live(&l, modes, seed);
        tally.lost += verdict == LOST;
        tally.corrupt += verdict == CORRUPT;
        tally.losses = sim_disk_losses(l.disk);
        if (verdict == CORRUPT) {
            ledger_end(&l);
            l = ledger_start(config, setup);
        }
    }
    ledger_end(&l);
    return tally;
}

static void committed_transactions_survive_every_power_loss(void **state)
{
    (void)state;
    struct sim_config usual = SIM_CONFIG_DEFAULT, weak = SIM_CONFIG_WEAK, small = SIM_CONFIG_WEAK;
    small.sector_size = 512;
    const struct {
        const char *name;
        const struct sim_config *config;
        const char *setup;
        unsigned modes;
    } rows[] = {
        {"drop", &usual, wal_full, SIM_DROP_ALL_UNSYNCED},
        {"random", &usual, wal_full, SIM_KEEP_RANDOM},
        {"torn", &usual, wal_full, SIM_TORN},
        {"torn, garbage", &usual, wal_full, SIM_TORN | SIM_GARBAGE},
        {"keep", &usual, wal_full, SIM_KEEP_ALL},
        {"anyhow", &usual, wal_full, SIM_ANYHOW},
        {"anyhow, weak device", &weak, wal_full, SIM_ANYHOW},
        {"anyhow, weak device of 512", &small, wal_full, SIM_ANYHOW},
        {"anyhow, rollback journal", &usual, delete_extra, SIM_ANYHOW},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ledger l = ledger_start(rows[i].config, rows[i].setup);
        for (uint64_t seed = 1; seed <= 300; seed++) {
            enum verdict verdict = ledger_live(&l, rows[i].modes, seed);
            if (verdict != GOOD)
                fail_msg("%s, seed %u: %s", rows[i].name, (unsigned)seed,
                         verdict == LOST ? "lost a commit" : "corrupt");
        }
        /* The crashes met work in progress, and did to it what the mode says. */
        struct sim_losses losses = sim_disk_losses(l.disk);
        assert_true(l.tried > 300 && losses.kept + losses.lost + losses.torn > 300);
        assert_true((losses.torn > 50) == ((rows[i].modes & SIM_TORN) != 0));
        ledger_end(&l);
    }
}

static void without_full_sync_the_loss_is_seen(void **state)
{
    (void)state;
    static const unsigned modes[] = {SIM_DROP_ALL_UNSYNCED, SIM_KEEP_RANDOM, SIM_TORN};
    for (size_t i = 0; i < 3; i++) {
        /* NORMAL may lose the end of the WAL but never the database. */
        struct tally t = ledger_crash_many(NULL, wal_normal, modes[i], 1, 100);
        assert_true(t.lost > 10);
        assert_int_equal(t.corrupt, 0);
        t = ledger_crash_many(NULL, wal_off, modes[i], 1, 100);
        assert_true(t.lost + t.corrupt > 10);
        if (modes[i] != SIM_DROP_ALL_UNSYNCED)
            assert_true(t.corrupt > 0);
        t = ledger_crash_many(NULL, delete_off, modes[i], 1, 100);
        assert_true(t.lost + t.corrupt > 10);
    }
    /* As after kill -9 all is there, whatever was synced. */
    struct tally t = ledger_crash_many(NULL, wal_off, SIM_KEEP_ALL, 1, 100);
    assert_int_equal(t.lost + t.corrupt, 0);
}

static void a_device_that_lies_about_overwrites_is_caught(void **state)
{
    (void)state;
    struct sim_config liar = SIM_CONFIG_DEFAULT;
    liar.damages_sectors = true;
    struct tally t = ledger_crash_many(&liar, wal_full, SIM_TORN, 1, 300);
    assert_true(t.lost + t.corrupt > 0);
}

/* A short run over everything: open, commits, a checkpoint, close. */
static void ledger_short_run(struct ledger *l)
{
    if (ledger_open(l) != SQLITE_OK)
        return;
    ledger_commit_many(l, 4);
    run(l->db, "pragma wal_checkpoint(truncate)");
    ledger_commit_many(l, 3);
    ledger_close(l);
}

static void power_may_fail_at_every_call(void **state)
{
    (void)state;
    for (enum sim_how how = SIM_CRASH_BEFORE; how <= SIM_CRASH_AFTER; how++) {
        uint64_t n = 0;
        for (bool hit = true; hit;) {
            n++;
            struct ledger l = {.disk = sim_disk_new(NULL), .setup = wal_full};
            sim_disk_fail(l.disk,
                          (struct sim_fault){
                              .op = SIM_ANY, .at = n, .how = how, .crash = SIM_ANYHOW, .seed = n});
            ledger_short_run(&l);
            hit = sim_disk_hits(l.disk) > 0;
            assert_true(hit == sim_disk_is_off(l.disk));
            if (ledger_recover(&l) != GOOD)
                fail_msg("power lost %s call %u", how == SIM_CRASH_BEFORE ? "before" : "after",
                         (unsigned)n);
            ledger_end(&l);
        }
        assert_true(n > 100);
    }
}

/* Fails the n-th of these calls, for every n; then a power loss on top. */
static void every_call_fails(struct sim_fault fault, uint64_t n_min)
{
    for (uint64_t n = 1;; n++) {
        struct ledger l = {.disk = sim_disk_new(NULL), .setup = wal_full};
        fault.at = n;
        sim_disk_fail(l.disk, fault);
        ledger_short_run(&l);
        bool hit = sim_disk_hits(l.disk) > 0;
        if (n % 2) /* half of them with the disk still broken, half with a second chance */
            sim_disk_heal(l.disk);
        ledger_short_run(&l);
        sim_disk_crash(l.disk, SIM_ANYHOW, n);
        enum verdict verdict = ledger_recover(&l);
        if (verdict != GOOD)
            fail_msg("how %d at call %u, %s: %s", (int)fault.how, (unsigned)n,
                     fault.count == SIM_FOREVER ? "forever" : "once",
                     verdict == LOST ? "lost a commit" : "corrupt");
        ledger_end(&l);
        if (!hit) {
            assert_true(n > n_min);
            return;
        }
    }
}

static void a_fault_at_every_call_loses_nothing(void **state)
{
    (void)state;
    for (enum sim_how how = SIM_EIO; how <= SIM_SHORT_WRITE; how++) {
        for (int forever = 0; forever < 2; forever++)
            every_call_fails(
                (struct sim_fault){.op = SIM_ANY, .count = forever ? SIM_FOREVER : 1, .how = how},
                how == SIM_SHORT_WRITE ? 30 : 100);
    }
}

static void a_failed_sync_at_every_sync_loses_nothing(void **state)
{
    (void)state;
    for (int forever = 0; forever < 2; forever++)
        every_call_fails((struct sim_fault){.op = SIM_SYNC,
                                            .count = forever ? SIM_FOREVER : 1,
                                            .how = SIM_EIO,
                                            .drops_unsynced = true},
                         10);
}

static void a_commit_is_not_acknowledged_when_its_sync_fails(void **state)
{
    (void)state;
    struct ledger l = ledger_start(NULL, wal_full);
    assert_int_equal(ledger_commit(&l), SQLITE_OK);
    assert_int_equal(sim_disk_unsynced(l.disk, "ledger.db-wal"), 0);
    sim_disk_fail(l.disk,
                  (struct sim_fault){.op = SIM_SYNC, .file = "-wal", .at = 1, .how = SIM_EIO});
    assert_int_equal(ledger_commit(&l), SQLITE_IOERR_FSYNC);
    assert_int_equal(sim_disk_hits(l.disk), 1);
    assert_int_equal(ledger_commit(&l), SQLITE_OK);
    assert_int_equal(ledger_judge(&l), GOOD);
    ledger_end(&l);
}

static void a_full_disk_refuses_and_then_goes_on(void **state)
{
    (void)state;
    struct ledger l = ledger_start(NULL, wal_full);
    for (int round = 0; round < 20; round++) {
        sim_disk_space(l.disk, sim_disk_used(l.disk) + (uint64_t)round * 1000);
        int rc = ledger_commit_many(&l, 1000);
        /* The WAL is reused after a checkpoint: only a disk that cannot grow is full. */
        if (rc != SQLITE_OK)
            assert_int_equal(rc, SQLITE_FULL);
        if (round == 0)
            assert_int_equal(rc, SQLITE_FULL);
        assert_int_equal(ledger_judge(&l), GOOD); /* reading works */
        sim_disk_space(l.disk, SIM_SPACE_UNLIMITED);
        assert_int_equal(ledger_commit_many(&l, 3), SQLITE_OK);
        sim_disk_crash(l.disk, SIM_ANYHOW, (uint64_t)round);
        assert_int_equal(ledger_recover(&l), GOOD);
    }
    ledger_end(&l);
}

static void the_wal_checksum_cuts_at_the_first_torn_frame(void **state)
{
    (void)state;
    unsigned cut = 0, torn = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct ledger l = ledger_start(NULL, wal_full);
        /* Nothing is synced and no checkpoint touches the database from here on. */
        run_ok(l.db, "pragma wal_checkpoint(truncate); pragma synchronous=off;"
                     "pragma wal_autocheckpoint=0");
        assert_int_equal(ledger_commit_many(&l, 10), SQLITE_OK);
        sim_disk_crash(l.disk, SIM_TORN | SIM_GARBAGE, seed);
        torn += sim_disk_losses(l.disk).torn > 0;
        enum verdict verdict = ledger_recover(&l);
        assert_int_not_equal(verdict, CORRUPT);
        /* What is left is the first so many transactions, without a gap. */
        int64_t last = number(l.db, "select last from meta");
        assert_int_equal(last, number(l.db, "select count(*) from kv"));
        cut += last < 10;
        ledger_end(&l);
    }
    assert_true(cut > 50 && torn > 50);
}

static void flipped_bits_are_seen(void **state)
{
    (void)state;
    struct ledger l = ledger_start(NULL, wal_full);
    run_ok(l.db, "pragma wal_checkpoint(truncate); pragma wal_autocheckpoint=0");
    assert_int_equal(ledger_commit_many(&l, 5), SQLITE_OK);
    int64_t size = sim_disk_size(l.disk, "ledger.db-wal");
    sim_disk_crash(l.disk, SIM_KEEP_ALL, 1);
    assert_int_equal(sim_disk_flip(l.disk, "ledger.db-wal", (uint64_t)size - 100, 0x10), 0);
    assert_int_equal(ledger_recover(&l), LOST); /* the last transaction, and it alone */
    assert_int_equal(number(l.db, "select last from meta"), 4);

    ledger_close(&l); /* into the database file; its second page is the root of kv */
    char zeros[4096] = {0};
    assert_int_equal(sim_disk_patch(l.disk, "ledger.db", 4096, zeros, sizeof zeros), 0);
    assert_int_equal(ledger_recover(&l), CORRUPT);
    ledger_end(&l);
}

static void writers_exclude_each_other_and_readers_keep_their_snapshot(void **state)
{
    (void)state;
    struct sim_disk *disk = sim_disk_new(NULL);
    sqlite3 *a = connect_ok(disk), *b = connect_ok(disk);
    run_ok(a, "pragma journal_mode=wal; create table t(v); insert into t values(1)");
    run_ok(a, "begin immediate; update t set v = 2");
    assert_int_equal(run(b, "begin immediate"), SQLITE_BUSY);
    run_ok(b, "begin");
    assert_int_equal(number(b, "select v from t"), 1);
    run_ok(a, "commit");
    assert_int_equal(number(b, "select v from t"), 1);
    assert_int_equal(number(a, "select v from t"), 2);
    assert_int_equal(number(a, "pragma wal_checkpoint(truncate)"), 1); /* busy: b needs the WAL */
    assert_int_equal(run(b, "update t set v = 3"), SQLITE_BUSY_SNAPSHOT);
    run_ok(b, "commit");
    assert_int_equal(number(b, "select v from t"), 2);
    assert_int_equal(number(a, "pragma wal_checkpoint(truncate)"), 0);
    assert_int_equal(sim_disk_size(disk, "ledger.db-wal"), 0);
    sqlite3_close(a);
    sqlite3_close(b);
    assert_int_equal(sim_disk_free(disk), 0);
}

struct racer {
    struct sim_disk *disk;
    pthread_barrier_t *start; /* all have tried to connect */
    atomic_bool *stop;        /* the writers are done */
    int64_t done;             /* transactions that this thread committed or snapshots it checked */
    int failed;               /* a result code that should not have been */
};

enum { RACE_COMMITS = 150 };

/* Only threads wait for locks: alone, one would wait for oneself. */
static int race_connect(const struct racer *r, sqlite3 **db)
{
    int rc = try_connect(r->disk, db);
    return rc == SQLITE_OK ? sqlite3_busy_timeout(*db, 60000) : rc;
}

static void *race_write(void *arg)
{
    struct racer *r = arg;
    sqlite3 *db = NULL;
    r->failed = race_connect(r, &db);
    if (!r->failed)
        r->failed = run(db, "pragma synchronous=full; pragma wal_autocheckpoint=10");
    pthread_barrier_wait(r->start);
    while (!r->failed && r->done < RACE_COMMITS) {
        r->failed = run(db, "begin immediate; update t set v = v + 1 where id = 1");
        sched_yield(); /* lets the others run into a transaction that is half done */
        if (!r->failed)
            r->failed = run(db, "update t set v = v - 1 where id = 2; commit");
        r->done += !r->failed;
    }
    sqlite3_close(db);
    return NULL;
}

static void *race_read(void *arg)
{
    struct racer *r = arg;
    sqlite3 *db = NULL;
    int64_t before = 0;
    r->failed = race_connect(r, &db);
    pthread_barrier_wait(r->start);
    /* At least one after the writers are done, so that it sees the end. */
    for (bool last = false; !r->failed && !last; r->done++) {
        last = atomic_load(r->stop);
        int64_t now = number(db, "select v * 1000 + (select sum(v) from t) from t where id = 1");
        if (now < before || now % 1000 != 0)
            r->failed = -1; /* went back, or saw half a transaction */
        before = now;
    }
    if (before != 2 * RACE_COMMITS * 1000)
        r->failed = -1;
    sqlite3_close(db);
    return NULL;
}

static void connections_share_a_database_between_threads(void **state)
{
    (void)state;
    struct sim_disk *disk = sim_disk_new(NULL);
    sqlite3 *db = connect_ok(disk);
    run_ok(db, "pragma journal_mode=wal; create table t(id integer primary key, v);"
               "insert into t values(1, 0), (2, 0)");
    atomic_bool stop = false;
    struct racer racers[4];
    pthread_t threads[4];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, 4);
    for (int i = 0; i < 4; i++) {
        racers[i] = (struct racer){.disk = disk, .start = &start, .stop = &stop};
        assert_int_equal(
            pthread_create(&threads[i], NULL, i < 2 ? race_write : race_read, &racers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        if (i == 2)
            atomic_store(&stop, true); /* both writers have been joined */
        pthread_join(threads[i], NULL);
        assert_int_equal(racers[i].failed, 0);
        assert_true(racers[i].done > 0);
    }
    pthread_barrier_destroy(&start);
    assert_int_equal(number(db, "select v from t where id = 1"), 2 * RACE_COMMITS);
    assert_true(is_intact(db));
    assert_true(sim_disk_calls(disk, SIM_SHM) > RACE_COMMITS);
    sqlite3_close(db);
    assert_int_equal(sim_disk_size(disk, "ledger.db-wal"), -1); /* the last one tidies up */
    assert_int_equal(sim_disk_free(disk), 0);
}

static void a_power_loss_stops_all_threads(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct sim_disk *disk = sim_disk_new(NULL);
        sqlite3 *db = connect_ok(disk);
        run_ok(db, "pragma journal_mode=wal; create table t(id integer primary key, v);"
                   "insert into t values(1, 0), (2, 0)");
        sim_disk_fail(disk, (struct sim_fault){.op = SIM_SYNC,
                                               .at = 20 + seed * 7,
                                               .how = SIM_CRASH_BEFORE,
                                               .crash = SIM_ANYHOW,
                                               .seed = seed});
        struct racer racers[2];
        pthread_t threads[2];
        pthread_barrier_t start;
        pthread_barrier_init(&start, NULL, 2);
        for (int i = 0; i < 2; i++) {
            racers[i] = (struct racer){.disk = disk, .start = &start};
            assert_int_equal(pthread_create(&threads[i], NULL, race_write, &racers[i]), 0);
        }
        for (int i = 0; i < 2; i++) {
            pthread_join(threads[i], NULL);
            assert_int_not_equal(racers[i].failed, 0);
        }
        pthread_barrier_destroy(&start);
        sqlite3_close(db);
        sim_disk_power_on(disk);
        db = connect_ok(disk);
        int64_t acked = racers[0].done + racers[1].done;
        int64_t found = number(db, "select v from t where id = 1");
        /* One transaction can have been on its way: there is one writer at a time. */
        assert_in_range(found, acked, acked + 1);
        assert_int_equal(number(db, "select sum(v) from t"), 0);
        sqlite3_close(db);
        assert_int_equal(sim_disk_free(disk), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writers_exclude_each_other_and_readers_keep_their_snapshot),
        cmocka_unit_test(connections_share_a_database_between_threads),
        cmocka_unit_test(a_power_loss_stops_all_threads),
        cmocka_unit_test(committed_transactions_survive_every_power_loss),
        cmocka_unit_test(without_full_sync_the_loss_is_seen),
        cmocka_unit_test(a_device_that_lies_about_overwrites_is_caught),
        cmocka_unit_test(power_may_fail_at_every_call),
        cmocka_unit_test(a_fault_at_every_call_loses_nothing),
        cmocka_unit_test(a_failed_sync_at_every_sync_loses_nothing),
        cmocka_unit_test(a_commit_is_not_acknowledged_when_its_sync_fails),
        cmocka_unit_test(a_full_disk_refuses_and_then_goes_on),
        cmocka_unit_test(the_wal_checksum_cuts_at_the_first_torn_frame),
        cmocka_unit_test(flipped_bits_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
