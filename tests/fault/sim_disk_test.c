/* The simulated disk by itself: what its model promises, call by call. */
#include "check.h"

#include <errno.h>
#include <unistd.h>

#include "base/alloc.h"
#include "seed.h"
#include "sim_disk.h"

enum { PAGE = 4096, SECTOR = 512, OPEN_FLAGS = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE };

static int disk_setup(void **state)
{
    *state = sim_disk_new(NULL);
    return 0;
}

static int disk_teardown(void **state)
{
    return sim_disk_free(*state);
}

static sqlite3_vfs *vfs_of(struct sim_disk *disk)
{
    return sqlite3_vfs_find(sim_disk_vfs(disk));
}

static int raw_try_open(struct sim_disk *disk, const char *path, int flags, sqlite3_file **out)
{
    sqlite3_vfs *vfs = vfs_of(disk);
    sqlite3_file *f = vd_calloc(1, (size_t)vfs->szOsFile);
    int rc = vfs->xOpen(vfs, path, f, flags, NULL);
    if (rc == SQLITE_OK)
        *out = f;
    else
        free(f);
    return rc;
}

static sqlite3_file *raw_open(struct sim_disk *disk, const char *path)
{
    sqlite3_file *f = NULL;
    assert_int_equal(raw_try_open(disk, path, OPEN_FLAGS, &f), SQLITE_OK);
    return f;
}

static void raw_close(sqlite3_file *f)
{
    assert_int_equal(f->pMethods->xClose(f), SQLITE_OK);
    free(f);
}

static int raw_fill(sqlite3_file *f, char c, int n, sqlite3_int64 offset)
{
    char *bytes = vd_malloc((size_t)n);
    memset(bytes, c, (size_t)n);
    int rc = f->pMethods->xWrite(f, bytes, n, offset);
    free(bytes);
    return rc;
}

static void put(sqlite3_file *f, char c, int n, sqlite3_int64 offset)
{
    assert_int_equal(raw_fill(f, c, n, offset), SQLITE_OK);
}

static int raw_sync(sqlite3_file *f)
{
    return f->pMethods->xSync(f, SQLITE_SYNC_NORMAL);
}

/* A synced file of `n` bytes `c`, closed. */
static void file_make(struct sim_disk *disk, const char *path, char c, int n)
{
    sqlite3_file *f = raw_open(disk, path);
    put(f, c, n, 0);
    assert_int_equal(raw_sync(f), SQLITE_OK);
    raw_close(f);
}

static void crash(struct sim_disk *disk, unsigned modes, uint64_t seed)
{
    sim_disk_crash(disk, modes, seed);
    sim_disk_power_on(disk);
}

static char byte_at(struct sim_disk *disk, const char *path, uint64_t offset)
{
    char c = 0;
    assert_int_equal(sim_disk_read(disk, path, offset, &c, 1), 0);
    return c;
}

/* True when all n bytes at `offset` are the same; *c is which. */
static bool uniform(struct sim_disk *disk, const char *path, uint64_t offset, size_t n, char *c)
{
    *c = byte_at(disk, path, offset);
    for (size_t i = 1; i < n; i++) {
        if (byte_at(disk, path, offset + i) != *c)
            return false;
    }
    return true;
}

static void synced_bytes_survive_every_mode(void **state)
{
    struct sim_disk *disk = *state;
    file_make(disk, "f", 'A', 3 * PAGE);
    for (unsigned bit = 0; bit < 4; bit++) {
        for (uint64_t seed = 0; seed < 20; seed++) {
            char c;
            crash(disk, (1u << bit) | SIM_GARBAGE, seed);
            assert_int_equal(sim_disk_size(disk, "f"), 3 * PAGE);
            assert_true(uniform(disk, "f", 0, 3 * PAGE, &c) && c == 'A');
        }
    }
}

static void unsynced_writes_are_dropped_or_kept_as_asked(void **state)
{
    struct sim_disk *disk = *state;
    static const struct {
        unsigned mode;
        char want;
        int64_t size;
    } rows[] = {{SIM_DROP_ALL_UNSYNCED, 'A', PAGE}, {SIM_KEEP_ALL, 'B', 2 * PAGE}};
    for (size_t i = 0; i < 2; i++) {
        file_make(disk, "f", 'A', PAGE);
        sqlite3_file *f = raw_open(disk, "f");
        put(f, 'B', 2 * PAGE, 0);
        assert_int_equal(byte_at(disk, "f", 0), 'B');
        assert_int_equal(sim_disk_unsynced(disk, "f"), 1);
        crash(disk, rows[i].mode, 1);
        raw_close(f);
        assert_int_equal(byte_at(disk, "f", 0), rows[i].want);
        assert_int_equal(sim_disk_size(disk, "f"), rows[i].size);
    }
}

static void a_later_write_may_survive_an_earlier_one(void **state)
{
    struct sim_disk *disk = *state;
    unsigned seen = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        file_make(disk, "f", 'A', 2 * PAGE);
        sqlite3_file *f = raw_open(disk, "f");
        put(f, 'B', PAGE, 0);
        put(f, 'C', PAGE, PAGE);
        crash(disk, SIM_KEEP_RANDOM, seed);
        raw_close(f);
        char first, second;
        assert_true(uniform(disk, "f", 0, PAGE, &first) && (first == 'A' || first == 'B'));
        assert_true(uniform(disk, "f", PAGE, PAGE, &second) && (second == 'A' || second == 'C'));
        seen |= 1u << ((first == 'B') + 2 * (second == 'C'));
    }
    assert_int_equal(seen, 0xf); /* none, the first, the second alone, both */
}

static void writes_are_torn_between_sectors_only(void **state)
{
    struct sim_disk *disk = *state;
    unsigned torn = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        file_make(disk, "f", 'A', 2 * PAGE);
        sqlite3_file *f = raw_open(disk, "f");
        put(f, 'B', PAGE, SECTOR / 2); /* not aligned: the first and the last are halves */
        crash(disk, SIM_TORN, seed);
        raw_close(f);
        unsigned olds = 0;
        char c;
        for (uint64_t at = SECTOR / 2; at < SECTOR / 2 + PAGE;) {
            uint64_t end = (at / SECTOR + 1) * SECTOR;
            end = end < SECTOR / 2 + PAGE ? end : SECTOR / 2 + PAGE;
            assert_true(uniform(disk, "f", at, (size_t)(end - at), &c) && (c == 'A' || c == 'B'));
            olds += c == 'A';
            at = end;
        }
        torn += olds > 0 && olds < 9;
        assert_true(uniform(disk, "f", 0, SECTOR / 2, &c) && c == 'A');
        assert_true(uniform(disk, "f", SECTOR / 2 + PAGE, PAGE - SECTOR / 2, &c) && c == 'A');
    }
    assert_true(torn > 10);
    assert_true(sim_disk_losses(disk).torn > 10);
}

static void a_file_may_grow_without_its_data(void **state)
{
    struct sim_disk *disk = *state;
    for (unsigned fill = SIM_ZEROS; fill <= SIM_GARBAGE; fill <<= 1) {
        unsigned grown = 0, plain = 0;
        for (uint64_t seed = 0; seed < 100; seed++) {
            sqlite3_file *f = raw_open(disk, "f");
            assert_int_equal(f->pMethods->xTruncate(f, 0), SQLITE_OK);
            assert_int_equal(raw_sync(f), SQLITE_OK);
            put(f, 'B', PAGE, 0);
            crash(disk, SIM_KEEP_RANDOM | fill, seed);
            raw_close(f);
            char c;
            bool same = sim_disk_size(disk, "f") == PAGE && uniform(disk, "f", 0, PAGE, &c);
            if (sim_disk_size(disk, "f") == PAGE && !(same && c == 'B')) {
                grown++;
                assert_true(fill == SIM_ZEROS ? same && c == 0 : !same);
            }
            plain += sim_disk_size(disk, "f") == 0;
        }
        assert_true(grown > 5 && plain > 5);
    }
}

static void a_truncate_may_be_lost(void **state)
{
    struct sim_disk *disk = *state;
    unsigned kept = 0, lost = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        file_make(disk, "f", 'A', 2 * PAGE);
        sqlite3_file *f = raw_open(disk, "f");
        assert_int_equal(f->pMethods->xTruncate(f, PAGE), SQLITE_OK);
        assert_int_equal(sim_disk_size(disk, "f"), PAGE);
        crash(disk, SIM_KEEP_RANDOM, seed);
        raw_close(f);
        kept += sim_disk_size(disk, "f") == PAGE;
        lost += sim_disk_size(disk, "f") == 2 * PAGE;
    }
    assert_true(kept > 5 && lost > 5);
    assert_int_equal(kept + lost, 50);
}

static void a_torn_write_damages_neighbours_only_on_a_weak_device(void **state)
{
    (void)state;
    for (int weak = 0; weak < 2; weak++) {
        struct sim_config config = weak ? SIM_CONFIG_WEAK : SIM_CONFIG_DEFAULT;
        struct sim_disk *disk = sim_disk_new(&config);
        unsigned damaged = 0;
        for (uint64_t seed = 0; seed < 100; seed++) {
            file_make(disk, "f", 'A', 2 * PAGE);
            sqlite3_file *f = raw_open(disk, "f");
            put(f, 'B', 100, 200);
            crash(disk, SIM_TORN, seed);
            raw_close(f);
            char c;
            damaged += !uniform(disk, "f", 0, 200, &c) || c != 'A';
            assert_true(uniform(disk, "f", PAGE, PAGE, &c) && c == 'A'); /* another sector */
        }
        assert_true(weak ? damaged > 5 : damaged == 0);
        assert_int_equal(sim_disk_losses(disk).damaged, damaged);
        assert_int_equal(sim_disk_free(disk), 0);
    }
}

static void a_new_name_is_durable_from_the_first_sync(void **state)
{
    struct sim_disk *disk = *state;
    sqlite3_file *f = raw_open(disk, "new");
    put(f, 'A', PAGE, 0);
    crash(disk, SIM_DROP_ALL_UNSYNCED, 1);
    raw_close(f);
    assert_int_equal(sim_disk_size(disk, "new"), -1);
    assert_int_equal(sim_disk_losses(disk).names_lost, 1);

    file_make(disk, "new", 'B', PAGE);
    crash(disk, SIM_DROP_ALL_UNSYNCED, 1);
    assert_int_equal(byte_at(disk, "new", 0), 'B');
}

static void a_deleted_file_comes_back_unless_the_directory_was_synced(void **state)
{
    struct sim_disk *disk = *state;
    sqlite3_vfs *vfs = vfs_of(disk);
    for (int sync_dir = 0; sync_dir < 2; sync_dir++) {
        file_make(disk, "f", 'A', PAGE);
        assert_int_equal(vfs->xDelete(vfs, "f", sync_dir), SQLITE_OK);
        assert_int_equal(sim_disk_size(disk, "f"), -1);
        crash(disk, SIM_DROP_ALL_UNSYNCED, 1);
        assert_int_equal(sim_disk_size(disk, "f"), sync_dir ? -1 : PAGE);
        assert_int_equal(sim_disk_losses(disk).names_back, 1);
    }
    assert_int_equal(vfs->xDelete(vfs, "f", 0), SQLITE_IOERR_DELETE_NOENT);
}

static void the_first_sync_of_a_wal_settles_the_names_of_its_directory(void **state)
{
    struct sim_disk *disk = *state;
    sqlite3_vfs *vfs = vfs_of(disk);
    sqlite3_file *wal = NULL;
    static const char *const paths[] = {"/d/old", "/other/old"};
    for (int is_wal = 0; is_wal < 2; is_wal++) {
        for (int i = 0; i < 2; i++) {
            file_make(disk, paths[i], 'A', PAGE);
            assert_int_equal(vfs->xDelete(vfs, paths[i], 0), SQLITE_OK);
        }
        int flags = OPEN_FLAGS | (is_wal ? SQLITE_OPEN_WAL : SQLITE_OPEN_MAIN_DB);
        assert_int_equal(raw_try_open(disk, "/d/new", flags, &wal), SQLITE_OK);
        assert_int_equal(raw_sync(wal), SQLITE_OK);
        crash(disk, SIM_DROP_ALL_UNSYNCED, 1);
        raw_close(wal);
        assert_int_equal(sim_disk_size(disk, "/d/new"), 0);
        assert_int_equal(sim_disk_size(disk, "/d/old"), is_wal ? -1 : PAGE);
        assert_int_equal(sim_disk_size(disk, "/other/old"), PAGE);
    }
}

static void a_synced_file_replaces_the_deleted_one_of_its_name(void **state)
{
    struct sim_disk *disk = *state;
    sqlite3_vfs *vfs = vfs_of(disk);
    for (uint64_t seed = 0; seed < 20; seed++) {
        file_make(disk, "f", 'A', PAGE);
        assert_int_equal(vfs->xDelete(vfs, "f", 0), SQLITE_OK);
        file_make(disk, "f", 'B', PAGE);
        crash(disk, SIM_ANYHOW, seed);
        assert_int_equal(byte_at(disk, "f", 0), 'B');

        /* Not synced: the old one, the new one, or none, but never a mixture. */
        assert_int_equal(vfs->xDelete(vfs, "f", 0), SQLITE_OK);
        sqlite3_file *f = raw_open(disk, "f");
        put(f, 'C', PAGE, 0);
        crash(disk, SIM_KEEP_RANDOM, seed);
        raw_close(f);
        char c;
        if (sim_disk_size(disk, "f") > 0)
            assert_true(uniform(disk, "f", 0, PAGE, &c) && (c == 'B' || c == 'C' || c == 0));
    }
}

static void a_failed_sync_may_forget_what_it_should_have_written(void **state)
{
    struct sim_disk *disk = *state;
    for (int drops = 0; drops < 2; drops++) {
        file_make(disk, "f", 'A', PAGE);
        sqlite3_file *f = raw_open(disk, "f");
        put(f, 'B', PAGE, 0);
        sim_disk_fail(disk, (struct sim_fault){
                                .op = SIM_SYNC, .at = 1, .how = SIM_EIO, .drops_unsynced = drops});
        assert_int_equal(raw_sync(f), SQLITE_IOERR_FSYNC);
        assert_int_equal(byte_at(disk, "f", 0), 'B'); /* programs do not notice */
        assert_int_equal(raw_sync(f), SQLITE_OK);     /* and the next sync is content */
        crash(disk, SIM_KEEP_ALL, 1);
        raw_close(f);
        assert_int_equal(byte_at(disk, "f", 0), drops ? 'A' : 'B');
        sim_disk_heal(disk);
    }
}

/* Does the call of one operation on a file that exists. */
static int op_do(struct sim_disk *disk, sqlite3_file *f, enum sim_op op)
{
    sqlite3_vfs *vfs = vfs_of(disk);
    sqlite3_file *other = NULL;
    void volatile *region;
    sqlite3_int64 size;
    char c;
    int yes;
    switch (op) {
    case SIM_OPEN:
        yes = raw_try_open(disk, "other", OPEN_FLAGS, &other);
        if (other)
            raw_close(other);
        return yes;
    case SIM_READ:
        return f->pMethods->xRead(f, &c, 1, 0);
    case SIM_WRITE:
        return raw_fill(f, 'B', 100, 0);
    case SIM_SYNC:
        return raw_sync(f);
    case SIM_TRUNCATE:
        return f->pMethods->xTruncate(f, PAGE);
    case SIM_DELETE:
        return vfs->xDelete(vfs, "scrap", 1);
    case SIM_ACCESS:
        return vfs->xAccess(vfs, "f", SQLITE_ACCESS_EXISTS, &yes);
    case SIM_SIZE:
        return f->pMethods->xFileSize(f, &size);
    case SIM_LOCK:
        return f->pMethods->xLock(f, SQLITE_LOCK_SHARED);
    case SIM_SHM:
        return f->pMethods->xShmMap(f, 0, 32768, 1, &region);
    default:
        fail();
        return -1;
    }
}

static const struct {
    enum sim_op op;
    int eio;
    int enospc;
} op_rows[] = {
    {SIM_OPEN, SQLITE_CANTOPEN, SQLITE_CANTOPEN},
    {SIM_READ, SQLITE_IOERR_READ, SQLITE_IOERR_READ},
    {SIM_WRITE, SQLITE_IOERR_WRITE, SQLITE_FULL},
    {SIM_SYNC, SQLITE_IOERR_FSYNC, SQLITE_IOERR_FSYNC},
    {SIM_TRUNCATE, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_TRUNCATE},
    {SIM_DELETE, SQLITE_IOERR_DELETE, SQLITE_IOERR_DELETE},
    {SIM_ACCESS, SQLITE_IOERR_ACCESS, SQLITE_IOERR_ACCESS},
    {SIM_SIZE, SQLITE_IOERR_FSTAT, SQLITE_IOERR_FSTAT},
    {SIM_LOCK, SQLITE_IOERR_LOCK, SQLITE_IOERR_LOCK},
    {SIM_SHM, SQLITE_IOERR_SHMMAP, SQLITE_IOERR_SHMSIZE},
};

static void each_call_fails_with_its_own_code(void **state)
{
    struct sim_disk *disk = *state;
    sqlite3_vfs *vfs = vfs_of(disk);
    for (size_t i = 0; i < sizeof op_rows / sizeof *op_rows; i++) {
        enum sim_op op = op_rows[i].op;
        file_make(disk, "f", 'A', PAGE);
        file_make(disk, "scrap", 'A', 1);
        sqlite3_file *f = raw_open(disk, "f");
        uint64_t calls = sim_disk_calls(disk, op);
        sim_disk_fail(disk, (struct sim_fault){.op = op, .at = 1, .how = SIM_EIO});
        sim_disk_fail(disk, (struct sim_fault){.op = op, .at = 2, .how = SIM_ENOSPC});
        assert_int_equal(op_do(disk, f, op), op_rows[i].eio);
        assert_int_equal(vfs->xGetLastError(vfs, 0, NULL), EIO);
        assert_int_equal(op_do(disk, f, op), op_rows[i].enospc);
        assert_int_equal(vfs->xGetLastError(vfs, 0, NULL), ENOSPC);
        assert_int_equal(op_do(disk, f, op), SQLITE_OK);
        assert_int_equal(sim_disk_hits(disk), 2);
        assert_int_equal(sim_disk_calls(disk, op), calls + 3);
        raw_close(f);
        sim_disk_heal(disk);
    }
}

static void a_fault_counts_only_the_calls_it_names(void **state)
{
    struct sim_disk *disk = *state;
    sqlite3_file *db = raw_open(disk, "a.db"), *wal = raw_open(disk, "a.db-wal");
    sim_disk_fail(
        disk, (struct sim_fault){
                  .op = SIM_WRITE | SIM_SYNC, .file = "-wal", .at = 2, .count = 2, .how = SIM_EIO});
    put(wal, 'A', 10, 0); /* the first */
    put(db, 'A', 10, 0);
    assert_int_equal(raw_sync(db), SQLITE_OK);
    assert_int_equal(wal->pMethods->xTruncate(wal, 5), SQLITE_OK);
    assert_int_equal(raw_sync(wal), SQLITE_IOERR_FSYNC);
    assert_int_equal(raw_fill(wal, 'B', 10, 0), SQLITE_IOERR_WRITE);
    assert_int_equal(byte_at(disk, "a.db-wal", 0), 'A');
    put(wal, 'B', 10, 0);
    assert_int_equal(sim_disk_hits(disk), 2);
    sim_disk_heal(disk);
    assert_int_equal(sim_disk_hits(disk), 0);
    sim_disk_fail(
        disk, (struct sim_fault){.op = SIM_ANY, .at = 1, .count = SIM_FOREVER, .how = SIM_ENOSPC});
    for (int i = 0; i < 100; i++)
        assert_int_equal(raw_fill(db, 'B', 10, 0), SQLITE_FULL);
    raw_close(db);
    raw_close(wal);
}

static void a_short_write_stores_half(void **state)
{
    struct sim_disk *disk = *state;
    sqlite3_file *f = raw_open(disk, "f");
    sim_disk_fail(disk, (struct sim_fault){.op = SIM_ANY, .at = 1, .how = SIM_SHORT_WRITE});
    assert_int_equal(raw_sync(f), SQLITE_OK); /* not a write: neither counted nor hit */
    assert_int_equal(raw_fill(f, 'A', 1000, 0), SQLITE_FULL);
    assert_int_equal(sim_disk_size(disk, "f"), 500);
    raw_close(f);
}

static void a_full_disk_stores_what_fits_until_it_is_larger(void **state)
{
    struct sim_disk *disk = *state;
    sqlite3_file *f = raw_open(disk, "f"), *g = raw_open(disk, "g");
    sim_disk_space(disk, 1500);
    put(f, 'A', 1000, 0);
    assert_int_equal(raw_fill(g, 'A', 1000, 0), SQLITE_FULL);
    assert_int_equal(sim_disk_size(disk, "g"), 500);
    assert_int_equal(sim_disk_used(disk), 1500);
    put(f, 'B', 1000, 0); /* nothing new is needed */
    assert_int_equal(raw_fill(f, 'B', 1, 1000), SQLITE_FULL);
    sim_disk_space(disk, 2000);
    put(g, 'A', 1000, 0);
    sim_disk_space(disk, SIM_SPACE_UNLIMITED);
    put(g, 'A', 100000, 0);
    raw_close(f);
    raw_close(g);
}

static void handles_are_dead_after_a_power_loss(void **state)
{
    struct sim_disk *disk = *state;
    file_make(disk, "f", 'A', PAGE);
    sqlite3_file *f = raw_open(disk, "f"), *other = NULL;
    void volatile *region = NULL;
    assert_int_equal(f->pMethods->xShmMap(f, 0, 32768, 1, &region), SQLITE_OK);
    assert_int_equal(f->pMethods->xLock(f, SQLITE_LOCK_SHARED), SQLITE_OK);
    sim_disk_crash(disk, SIM_KEEP_ALL, 1);
    assert_true(sim_disk_is_off(disk));
    assert_int_equal(raw_try_open(disk, "f", OPEN_FLAGS, &other), SQLITE_IOERR);
    sim_disk_power_on(disk);
    for (size_t i = 0; i < sizeof op_rows / sizeof *op_rows; i++) {
        enum sim_op op = op_rows[i].op;
        if (op != SIM_OPEN && op != SIM_DELETE && op != SIM_ACCESS)
            assert_int_equal(op_do(disk, f, op), SQLITE_IOERR);
    }
    *(volatile char *)region = 1; /* still memory, but nobody else's */
    other = raw_open(disk, "f");
    assert_int_equal(other->pMethods->xLock(other, SQLITE_LOCK_SHARED), SQLITE_OK);
    assert_int_equal(other->pMethods->xLock(other, SQLITE_LOCK_EXCLUSIVE), SQLITE_OK);
    assert_int_equal(other->pMethods->xShmMap(other, 0, 32768, 1, &region), SQLITE_OK);
    assert_int_equal(*(volatile char *)region, 0);
    raw_close(f);
    assert_int_equal(op_do(disk, other, SIM_READ), SQLITE_OK);
    raw_close(other);
}

static void the_power_can_fail_before_and_after_a_call(void **state)
{
    struct sim_disk *disk = *state;
    for (enum sim_how how = SIM_CRASH_BEFORE; how <= SIM_CRASH_AFTER; how++) {
        file_make(disk, "f", 'A', PAGE);
        sqlite3_file *f = raw_open(disk, "f");
        put(f, 'B', PAGE, 0);
        sim_disk_fail(disk,
                      (struct sim_fault){
                          .op = SIM_SYNC, .at = 1, .how = how, .crash = SIM_DROP_ALL_UNSYNCED});
        assert_int_equal(raw_sync(f), SQLITE_IOERR);
        assert_true(sim_disk_is_off(disk));
        sim_disk_power_on(disk);
        raw_close(f);
        assert_int_equal(byte_at(disk, "f", 0), how == SIM_CRASH_BEFORE ? 'A' : 'B');
        sim_disk_heal(disk);
    }
}

static void file_locks_exclude_as_sqlite_wants(void **state)
{
    struct sim_disk *disk = *state;
    enum { UNLOCK = 10 };
    static const struct {
        int who;
        int level;
        int want;
    } steps[] = {
        {0, SQLITE_LOCK_SHARED, SQLITE_OK},
        {1, SQLITE_LOCK_SHARED, SQLITE_OK},
        {0, SQLITE_LOCK_RESERVED, SQLITE_OK},
        {1, SQLITE_LOCK_RESERVED, SQLITE_BUSY},
        {2, SQLITE_LOCK_SHARED, SQLITE_OK},
        {0, SQLITE_LOCK_EXCLUSIVE, SQLITE_BUSY},
        {2, UNLOCK, SQLITE_OK},
        {2, SQLITE_LOCK_SHARED, SQLITE_BUSY},
        {0, SQLITE_LOCK_EXCLUSIVE, SQLITE_BUSY},
        {1, UNLOCK, SQLITE_OK},
        {0, SQLITE_LOCK_EXCLUSIVE, SQLITE_OK},
        {1, SQLITE_LOCK_SHARED, SQLITE_BUSY},
        {0, UNLOCK, SQLITE_OK},
        {1, SQLITE_LOCK_SHARED, SQLITE_OK},
        {1, SQLITE_LOCK_EXCLUSIVE, SQLITE_OK},
    };
    sqlite3_file *f[3] = {raw_open(disk, "f"), raw_open(disk, "f"), raw_open(disk, "f")};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        sqlite3_file *who = f[steps[i].who];
        int rc = steps[i].level == UNLOCK ? who->pMethods->xUnlock(who, SQLITE_LOCK_NONE)
                                          : who->pMethods->xLock(who, steps[i].level);
        if (rc != steps[i].want)
            fail_msg("step %zu: got %d, want %d", i, rc, steps[i].want);
    }
    int reserved = 0;
    assert_int_equal(f[0]->pMethods->xCheckReservedLock(f[0], &reserved), SQLITE_OK);
    assert_int_equal(reserved, 1);
    for (int i = 0; i < 3; i++)
        raw_close(f[i]);
}

static void shared_memory_slots_exclude_as_sqlite_wants(void **state)
{
    struct sim_disk *disk = *state;
    enum {
        LS = SQLITE_SHM_LOCK | SQLITE_SHM_SHARED,
        LX = SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE,
        US = SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED,
        UX = SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE,
    };
    static const struct {
        int who;
        int first;
        int n;
        int flags;
        int want;
    } steps[] = {
        {0, 3, 1, LS, SQLITE_OK},   {1, 3, 1, LS, SQLITE_OK},   {0, 0, 1, LX, SQLITE_OK},
        {1, 0, 1, LX, SQLITE_BUSY}, {1, 0, 1, LS, SQLITE_BUSY}, {1, 3, 1, US, SQLITE_OK},
        {1, 1, 7, LX, SQLITE_BUSY}, {0, 3, 1, US, SQLITE_OK},   {1, 1, 7, LX, SQLITE_OK},
        {0, 7, 1, LS, SQLITE_BUSY}, {1, 1, 7, UX, SQLITE_OK},   {0, 7, 1, LS, SQLITE_OK},
    };
    void volatile *region[2];
    sqlite3_file *f[2] = {raw_open(disk, "f"), raw_open(disk, "f")};
    assert_int_equal(f[0]->pMethods->xShmMap(f[0], 1, 32768, 0, &region[0]), SQLITE_OK);
    assert_null(region[0]); /* not asked to make it */
    for (int i = 0; i < 2; i++)
        assert_int_equal(f[i]->pMethods->xShmMap(f[i], 1, 32768, 1, &region[i]), SQLITE_OK);
    assert_ptr_equal(region[0], region[1]);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        sqlite3_file *who = f[steps[i].who];
        int rc = who->pMethods->xShmLock(who, steps[i].first, steps[i].n, steps[i].flags);
        if (rc != steps[i].want)
            fail_msg("step %zu: got %d, want %d", i, rc, steps[i].want);
    }
    raw_close(f[0]); /* gives up slots 0 and 7 */
    assert_int_equal(f[1]->pMethods->xShmLock(f[1], 0, 8, LX), SQLITE_OK);
    raw_close(f[1]);
}

static void the_device_reports_what_it_was_told(void **state)
{
    sqlite3_file *f = raw_open(*state, "f");
    assert_int_equal(f->pMethods->xSectorSize(f), 4096);
    assert_int_equal(f->pMethods->xDeviceCharacteristics(f), SQLITE_IOCAP_POWERSAFE_OVERWRITE);
    raw_close(f);
    struct sim_disk *weak = sim_disk_new(&(struct sim_config){.sector_size = 512});
    f = raw_open(weak, "f");
    assert_int_equal(f->pMethods->xSectorSize(f), 512);
    assert_int_equal(f->pMethods->xDeviceCharacteristics(f), 0);
    raw_close(f);
    assert_int_equal(sim_disk_free(weak), 0);
}

static void files_can_be_read_patched_and_carried_over(void **state)
{
    struct sim_disk *disk = *state;
    char real[] = "/tmp/sim_disk_test.XXXXXX";
    int fd = mkstemp(real);
    assert_true(fd >= 0);
    close(fd);
    file_make(disk, "f", 'A', 5000);
    assert_int_equal(sim_disk_patch(disk, "f", 4998, "xy", 2), 0);
    assert_int_equal(sim_disk_patch(disk, "f", 4999, "xy", 2), -1); /* past the end */
    assert_int_equal(sim_disk_flip(disk, "f", 0, 0x03), 0);
    assert_int_equal(sim_disk_flip(disk, "none", 0, 1), -1);
    crash(disk, SIM_DROP_ALL_UNSYNCED, 1);
    assert_int_equal(byte_at(disk, "f", 0), 'B');
    assert_int_equal(byte_at(disk, "f", 4999), 'y');

    assert_int_equal(sim_disk_export(disk, "f", real), 0);
    assert_int_equal(sim_disk_export(disk, "none", real), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(sim_disk_import(disk, real, "copy"), 0);
    assert_int_equal(sim_disk_import(disk, "/nonexistent/file", "copy"), -1);
    crash(disk, SIM_DROP_ALL_UNSYNCED, 1);
    assert_int_equal(sim_disk_size(disk, "copy"), 5000);
    assert_int_equal(byte_at(disk, "copy", 4998), 'x');
    unlink(real);
}

static void temporary_files_leave_nothing(void **state)
{
    struct sim_disk *disk = *state;
    sqlite3_file *f = raw_open(disk, NULL), *g = NULL;
    put(f, 'A', PAGE, 0);
    assert_int_equal(sim_disk_used(disk), PAGE);
    assert_int_equal(sim_disk_free(disk), -1); /* refused: a file is open */
    raw_close(f);
    assert_int_equal(raw_try_open(disk, "g", OPEN_FLAGS | SQLITE_OPEN_DELETEONCLOSE, &g),
                     SQLITE_OK);
    put(g, 'A', PAGE, 0);
    raw_close(g);
    assert_int_equal(sim_disk_used(disk), 0);
    assert_int_equal(raw_try_open(disk, "none", SQLITE_OPEN_READWRITE, &g), SQLITE_CANTOPEN);
}

/* Random calls and a crash; a checksum of what is left. */
static uint64_t history_run(uint64_t seed)
{
    struct seed_rng rng = {seed};
    struct sim_disk *disk = sim_disk_new(NULL);
    sqlite3_file *f[3] = {raw_open(disk, "a"), raw_open(disk, "b"), raw_open(disk, "c")};
    for (int i = 0; i < 200; i++) {
        sqlite3_file *g = f[seed_below(&rng, 3)];
        uint64_t what = seed_below(&rng, 20);
        if (what == 0)
            assert_int_equal(raw_sync(g), SQLITE_OK);
        else if (what == 1)
            assert_int_equal(g->pMethods->xTruncate(g, (int64_t)seed_below(&rng, 9999)), 0);
        else
            put(g, (char)i, 1 + (int)seed_below(&rng, 3000), (int64_t)seed_below(&rng, 9999));
    }
    sim_disk_crash(disk, SIM_ANYHOW, seed);
    uint64_t sum = 0;
    for (int i = 0; i < 3; i++) {
        const char path[] = {(char)('a' + i), 0};
        raw_close(f[i]);
        for (int64_t at = 0; at < sim_disk_size(disk, path); at++)
            sum = sum * 1099511628211u + (unsigned char)byte_at(disk, path, (uint64_t)at) + 1;
    }
    assert_int_equal(sim_disk_free(disk), 0);
    return sum;
}

static void the_same_seed_gives_the_same_disk(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        assert_true(history_run(seed) == history_run(seed));
        assert_true(history_run(seed) != history_run(seed + 1));
    }
}

#define DISK_TEST(name) cmocka_unit_test_setup_teardown(name, disk_setup, disk_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DISK_TEST(synced_bytes_survive_every_mode),
        DISK_TEST(unsynced_writes_are_dropped_or_kept_as_asked),
        DISK_TEST(a_later_write_may_survive_an_earlier_one),
        DISK_TEST(writes_are_torn_between_sectors_only),
        DISK_TEST(a_file_may_grow_without_its_data),
        DISK_TEST(a_truncate_may_be_lost),
        cmocka_unit_test(a_torn_write_damages_neighbours_only_on_a_weak_device),
        DISK_TEST(a_new_name_is_durable_from_the_first_sync),
        DISK_TEST(a_deleted_file_comes_back_unless_the_directory_was_synced),
        DISK_TEST(the_first_sync_of_a_wal_settles_the_names_of_its_directory),
        DISK_TEST(a_synced_file_replaces_the_deleted_one_of_its_name),
        DISK_TEST(a_failed_sync_may_forget_what_it_should_have_written),
        DISK_TEST(each_call_fails_with_its_own_code),
        DISK_TEST(a_fault_counts_only_the_calls_it_names),
        DISK_TEST(a_short_write_stores_half),
        DISK_TEST(a_full_disk_stores_what_fits_until_it_is_larger),
        DISK_TEST(handles_are_dead_after_a_power_loss),
        DISK_TEST(the_power_can_fail_before_and_after_a_call),
        DISK_TEST(file_locks_exclude_as_sqlite_wants),
        DISK_TEST(shared_memory_slots_exclude_as_sqlite_wants),
        DISK_TEST(the_device_reports_what_it_was_told),
        DISK_TEST(files_can_be_read_patched_and_carried_over),
        DISK_TEST(temporary_files_leave_nothing),
        cmocka_unit_test(the_same_seed_gives_the_same_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
