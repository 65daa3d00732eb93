/*
 * The simulated disk as its own files see it; tests include sim_disk.h only.
 *
 * sim_vfs.c turns SQLite's calls into sim_call_begin, some work on a sim_file or
 * on the locks, and sim_call_end. The mutex is held in between.
 */
#ifndef VD_TESTS_SIM_DISK_INTERNAL_H
#define VD_TESTS_SIM_DISK_INTERNAL_H

#include <assert.h>
#include <pthread.h>

#include "sim_disk.h"
#include "sim_file.h"

enum { SIM_OP_COUNT = 10, SIM_FAULTS_MAX = 16 };

struct sim_armed {
    struct sim_fault fault; /* .file is owned */
    uint64_t seen;          /* matching calls since it was armed */
};

struct sim_disk {
    /* Guards everything below it; a leaf: no other lock is taken under it. */
    pthread_mutex_t mutex;
    VD_VEC(struct sim_file *) files; /* oldest first; of one path, the newest link counts */
    bool off;
    uint64_t epoch; /* power losses so far; a handle of an older epoch is dead */
    unsigned handles;
    uint64_t space;
    uint64_t calls[SIM_OP_COUNT];
    struct sim_armed armed[SIM_FAULTS_MAX];
    size_t armed_n;
    uint64_t hits;
    struct sim_losses losses;
    struct seed_rng rng; /* of xRandomness */
    int last_errno;      /* of the last failed call, on whatever thread */

    /* Written once by sim_disk_new. */
    struct sim_config config;
    sqlite3_vfs vfs;
    char name[32];
};

static inline void sim_disk_enter(struct sim_disk *disk)
{
    int rc = pthread_mutex_lock(&disk->mutex);
    assert(rc == 0);
    (void)rc;
}

static inline void sim_disk_leave(struct sim_disk *disk)
{
    int rc = pthread_mutex_unlock(&disk->mutex);
    assert(rc == 0);
    (void)rc;
}

/* An open file; SQLite allocates it and calls through `base`. */
struct sim_handle {
    sqlite3_file base;
    struct sim_disk *disk;
    struct sim_file *file;
    uint64_t epoch;
    int lock; /* SQLITE_LOCK_* */
    bool delete_on_close;
    bool syncs_folder;      /* its next sync also syncs the folder, once */
    int persist_wal;        /* SQLITE_FCNTL_PERSIST_WAL */
    struct sim_shm *shm;    /* NULL until mapped; outlives a power loss, see sim_lock.c */
    unsigned shm_shared;    /* slots held shared, a bit each */
    unsigned shm_exclusive; /* slots held exclusively */
};

/* A call in progress. */
struct sim_call {
    struct sim_disk *disk;
    int rc;                        /* SQLITE_OK: do the work; else what the caller will get */
    const struct sim_fault *fault; /* the one that hit this call, or NULL */
};

/* Locks the disk, counts the call and asks the faults. `h` is NULL for calls by
 * path. `file` is NULL when there is none yet. */
struct sim_call sim_call_begin(struct sim_disk *disk, const struct sim_handle *h, enum sim_op op,
                               const char *path, struct sim_file *file);

/* Carries out a crash that was due after the call, unlocks, gives the result. */
int sim_call_end(struct sim_call *call, int rc);

/* The file that the path leads to, or NULL. Mutex held, as for all below. */
struct sim_file *sim_names_find(const struct sim_disk *disk, const char *path);

/* A new empty file; a path of NULL makes it temporary. */
struct sim_file *sim_names_create(struct sim_disk *disk, const char *path);

/* Syncs the folder of the path: each name in it leads after a power loss to
 * where it leads now. */
void sim_names_settle(struct sim_disk *disk, const char *path);

/* The same for this one path, as when a new file is synced but not its folder. */
void sim_names_settle_one(struct sim_disk *disk, const char *path);

/* Frees the file if neither a name nor a handle leads to it. */
void sim_names_collect(struct sim_disk *disk, struct sim_file *f);

/* How many of n bytes at `offset` the disk has room for. */
size_t sim_space_fit(const struct sim_disk *disk, const struct sim_file *f, size_t offset,
                     size_t n);

/* File locks: SQLITE_OK or SQLITE_BUSY. */
int sim_lock_raise(struct sim_handle *h, int level);
void sim_lock_lower(struct sim_handle *h, int level);

/* Shared memory of a database and its slots; see sim_lock.c. */
void sim_shm_map(struct sim_handle *h, size_t region, size_t size, bool extend,
                 void volatile **out);
int sim_shm_lock(struct sim_handle *h, unsigned mask, int flags);
void sim_shm_unmap(struct sim_handle *h);

/* Power is gone: nobody holds anything of this file any more. */
void sim_lock_lose_power(struct sim_file *f);

/* The table of functions for disk->vfs. */
void sim_vfs_fill(struct sim_disk *disk);

#endif
