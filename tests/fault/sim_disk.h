/*
 * A simulated disk for tests, as an SQLite VFS.
 *
 * The disk keeps files in memory. Each file has what programs see (the page
 * cache) and what would survive a power loss now; a sync moves the first into
 * the second. A test can cut the power at any call, make calls fail, fill the
 * disk up and damage bytes, and everything it does follows from the seeds it
 * was given and the order of the calls.
 *
 *     struct sim_disk *disk = sim_disk_new(NULL);
 *     sqlite3_open_v2("store.db", &db, flags, sim_disk_vfs(disk));
 *     ... commit something ...
 *     sim_disk_crash(disk, SIM_TORN, seed);     every call on db now fails
 *     sqlite3_close(db);
 *     sim_disk_power_on(disk);                  open again: what survived?
 *
 * What survives a power loss
 * - All that was synced, unless the sync lied (see sim_fault.drops_unsynced).
 * - Of the writes and truncates since the last sync of their file, any subset,
 *   in any order, as the crash mode says. Files are independent of each other.
 * - The name of a new file from its first successful sync on. Other names as of
 *   the last sync of their directory, which comes with the first sync of a
 *   journal or WAL (as in SQLite's unix VFS) and with a delete that asks for it.
 *   For names made or deleted since, the crash decides: a new file may vanish,
 *   a deleted one may come back.
 * - No locks and no shared memory.
 *
 * What the device promises (sim_config.device and .sector_size) is what the
 * unix VFS reports on Linux unless the test asks for less: sectors of 4096
 * bytes and SQLITE_IOCAP_POWERSAFE_OVERWRITE, that is, a torn write harms no
 * byte outside its own range. No atomic writes, no safe append, no ordering.
 *
 * Threads: all functions may be called from any thread; one mutex guards the
 * whole disk. Connections may be used as SQLite allows.
 */
#ifndef VD_TESTS_SIM_DISK_H
#define VD_TESTS_SIM_DISK_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

struct sim_disk;

struct sim_config {
    uint64_t seed;        /* of the VFS's randomness; crashes have their own */
    int sector_size;      /* what xSectorSize reports: 512 to 65536, a power of two */
    int device;           /* what xDeviceCharacteristics reports */
    bool damages_sectors; /* a torn write may turn a whole sector of sector_size into garbage,
                           * with the bytes of earlier writes in it: what a device may do that
                           * does not promise POWERSAFE_OVERWRITE */
};

#define SIM_CONFIG_DEFAULT                                                                         \
    ((struct sim_config){                                                                          \
        .seed = 1, .sector_size = 4096, .device = SQLITE_IOCAP_POWERSAFE_OVERWRITE})

/* The weakest device: promises nothing and damages whole sectors. */
#define SIM_CONFIG_WEAK                                                                            \
    ((struct sim_config){.seed = 1, .sector_size = 4096, .damages_sectors = true})

/* An empty disk, powered on, registered as an SQLite VFS of its own (not the
 * default one). NULL is SIM_CONFIG_DEFAULT. */
struct sim_disk *sim_disk_new(const struct sim_config *config) VD_MUST_USE;

/* Unregisters the VFS and frees all; NULL is fine. Every connection must have
 * been closed: with files still open the disk stays as it is, so that they can
 * be closed, and the result is -1 (in a cmocka teardown: a failed test). */
int sim_disk_free(struct sim_disk *disk);

/* The name to give to sqlite3_open_v2, borrowed until the disk is freed. */
const char *sim_disk_vfs(const struct sim_disk *disk);

/* ---- power loss ---- */

/* What happens to that which was not synced. Of several modes in one call the
 * seed picks one, so SIM_ANYHOW over many seeds explores all of them. */
enum sim_crash {
    SIM_DROP_ALL_UNSYNCED = 1 << 0, /* all lost: nothing ever left the cache */
    SIM_KEEP_RANDOM = 1 << 1,       /* each write, truncate and name: kept or lost */
    SIM_TORN = 1 << 2,              /* the same, and some writes keep only some 512-byte sectors */
    SIM_KEEP_ALL = 1 << 3,          /* all kept, as after kill -9 */

    /* What is in a file where it grew but the data was lost. */
    SIM_ZEROS = 1 << 4, /* the default */
    SIM_GARBAGE = 1 << 5,

    SIM_ANYHOW = (1 << 6) - 1,
};

/* Turns the power off now. Open handles are dead for good: every call on them
 * gives SQLITE_IOERR (closing and unlocking work). Nothing opens until
 * sim_disk_power_on. Does nothing when the power is off already. */
void sim_disk_crash(struct sim_disk *disk, unsigned modes, uint64_t seed);

/* The power is back: new opens see what survived. Armed faults stay armed. */
void sim_disk_power_on(struct sim_disk *disk);

bool sim_disk_is_off(struct sim_disk *disk);

/* What all power losses so far did to unsynced changes; for proof that a test
 * met what it was written for. */
struct sim_losses {
    uint64_t kept;       /* writes and truncates that survived whole */
    uint64_t lost;       /* that left nothing but, perhaps, the file's size */
    uint64_t torn;       /* writes of which some sectors survived */
    uint64_t damaged;    /* sectors turned into garbage (damages_sectors) */
    uint64_t names_lost; /* new files that vanished */
    uint64_t names_back; /* deleted files that came back */
};

struct sim_losses sim_disk_losses(struct sim_disk *disk);

/* ---- faults ---- */

/* The calls that are counted and can fail. A set of them is an `unsigned`. */
enum sim_op {
    SIM_OPEN = 1 << 0,
    SIM_READ = 1 << 1,
    SIM_WRITE = 1 << 2,
    SIM_SYNC = 1 << 3,
    SIM_TRUNCATE = 1 << 4,
    SIM_DELETE = 1 << 5,
    SIM_ACCESS = 1 << 6,
    SIM_SIZE = 1 << 7,
    SIM_LOCK = 1 << 8, /* file locks; unlocking is neither counted nor failed */
    SIM_SHM = 1 << 9,  /* mapping shared memory and locking its slots */
    SIM_ANY = (1 << 10) - 1,

    /* The calls that change the disk: where a crash can make a difference. */
    SIM_CHANGE = SIM_WRITE | SIM_SYNC | SIM_TRUNCATE | SIM_DELETE,
};

enum sim_how {
    SIM_EIO = 1,      /* SQLITE_IOERR_*, as the call has it; opening: SQLITE_CANTOPEN */
    SIM_ENOSPC,       /* writes: SQLITE_FULL with nothing written; else as SIM_EIO */
    SIM_SHORT_WRITE,  /* half of the bytes are written, then SQLITE_FULL; matches writes only */
    SIM_CRASH_BEFORE, /* the power goes off before the call has done anything */
    SIM_CRASH_AFTER,  /* the call has its effect, but the caller gets SQLITE_IOERR */
};

#define SIM_FOREVER UINT64_MAX

struct sim_fault {
    unsigned op;         /* which calls: SIM_WRITE | SIM_SYNC, SIM_ANY, ... */
    const char *file;    /* only files whose path contains this; NULL: all. Copied. */
    uint64_t at;         /* the n-th such call from now on fails, counted from 1 */
    uint64_t count;      /* and this many in all; 0 is 1; SIM_FOREVER */
    enum sim_how how;    /* how it fails */
    bool drops_unsynced; /* a failed sync forgets what it did not write: programs still read it,
                          * later syncs succeed, and a crash loses it (as Linux does) */
    unsigned crash;      /* for SIM_CRASH_*: modes and seed of the power loss */
    uint64_t seed;
};

/* Arms a fault, in addition to those that are armed (16 at most). Where two
 * want the same call, the first one armed has it. */
void sim_disk_fail(struct sim_disk *disk, struct sim_fault fault);

/* Disarms all faults. */
void sim_disk_heal(struct sim_disk *disk);

/* How many calls the faults have hit since sim_disk_new or the last
 * sim_disk_heal. A loop over every n ends when a run has hit nothing. */
uint64_t sim_disk_hits(struct sim_disk *disk);

/* How many calls of these kinds there were in the life of the disk, failed ones
 * included; calls on dead handles or without power do not count. */
uint64_t sim_disk_calls(struct sim_disk *disk, unsigned ops);

/* The disk holds this many bytes in all. A write that needs more stores what
 * fits and gives SQLITE_FULL. Lowering it below what is used deletes nothing. */
#define SIM_SPACE_UNLIMITED UINT64_MAX
void sim_disk_space(struct sim_disk *disk, uint64_t bytes);

/* Bytes in use now. */
uint64_t sim_disk_used(struct sim_disk *disk);

/* ---- the files, from outside SQLite; power may be on or off ---- */

/* Bytes of the file as programs see it, or -1: there is no such file. */
int64_t sim_disk_size(struct sim_disk *disk, const char *path);

/* How many writes and truncates of the file wait for a sync; 0 without file. */
size_t sim_disk_unsynced(struct sim_disk *disk, const char *path);

/* Copies n bytes at `offset` out. -1 when the file does not have them. */
int sim_disk_read(struct sim_disk *disk, const char *path, uint64_t offset, void *out,
                  size_t n) VD_MUST_USE;

/* Replaces n bytes inside the file, durably. What waited for a sync in that
 * file is synced first, so that the patch is on top. -1 as above. */
int sim_disk_patch(struct sim_disk *disk, const char *path, uint64_t offset, const void *bytes,
                   size_t n) VD_MUST_USE;

/* Flips the bits of `mask` in one byte, durably. -1 as above. */
int sim_disk_flip(struct sim_disk *disk, const char *path, uint64_t offset,
                  unsigned char mask) VD_MUST_USE;

/* Copies a file as programs see it to the real file system; an existing file
 * there is replaced. -1 with errno when that fails, ENOENT without file. */
int sim_disk_export(struct sim_disk *disk, const char *path, const char *real_path) VD_MUST_USE;

/* Copies a real file onto the disk, durably. An open file of that path gets the
 * new content. -1 with errno when the real file cannot be read. */
int sim_disk_import(struct sim_disk *disk, const char *real_path, const char *path) VD_MUST_USE;

#endif
