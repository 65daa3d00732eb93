/*
 * SQLite's view of the simulated disk: the methods of a VFS and of its files.
 *
 * Each method asks sim_call_begin whether it may do its work (power, faults),
 * does it under the disk's mutex, and leaves through sim_call_end. What cannot
 * fail on a real system (closing, unlocking, unmapping) works without power,
 * too, so that a dead connection can be closed. Time and sleep are the real
 * ones: two threads that wait for each other's locks have to get on.
 */
#include <assert.h>
#include <errno.h>

#include "sim_disk_internal.h"

static struct sim_handle *handle_of(sqlite3_file *base)
{
    return (struct sim_handle *)(void *)base;
}

static struct sim_disk *disk_of(sqlite3_vfs *vfs)
{
    return vfs->pAppData;
}

static struct sim_call handle_begin(struct sim_handle *h, enum sim_op op)
{
    return sim_call_begin(h->disk, h, op, h->file->path, h->file);
}

static int file_close(sqlite3_file *base)
{
    struct sim_handle *h = handle_of(base);
    struct sim_disk *disk = h->disk;
    sim_disk_enter(disk);
    sim_shm_unmap(h);
    if (h->epoch == disk->epoch) {
        sim_lock_lower(h, SQLITE_LOCK_NONE);
        if (h->delete_on_close)
            h->file->linked = false;
    }
    h->file->handles--;
    disk->handles--;
    sim_names_collect(disk, h->file);
    sim_disk_leave(disk);
    base->pMethods = NULL;
    return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *out, int n, sqlite3_int64 offset)
{
    struct sim_handle *h = handle_of(base);
    struct sim_call call = handle_begin(h, SIM_READ);
    int rc = call.rc;
    if (rc == SQLITE_OK) {
        const struct sim_bytes *live = &h->file->live;
        size_t want = (size_t)n, at = (size_t)offset;
        size_t have = at < live->n ? live->n - at : 0;
        size_t take = have < want ? have : want;
        if (take > 0)
            memcpy(out, live->p + at, take);
        if (take < want) {
            memset((char *)out + take, 0, want - take); /* as SQLite asks of a VFS */
            rc = SQLITE_IOERR_SHORT_READ;
        }
    }
    return sim_call_end(&call, rc);
}

static int file_write(sqlite3_file *base, const void *bytes, int n, sqlite3_int64 offset)
{
    struct sim_handle *h = handle_of(base);
    struct sim_call call = handle_begin(h, SIM_WRITE);
    int rc = call.rc;
    size_t want = (size_t)n, at = (size_t)offset;
    if (rc == SQLITE_OK) {
        size_t fits = sim_space_fit(h->disk, h->file, at, want);
        sim_file_write(h->file, at, bytes, fits);
        if (fits < want) {
            h->disk->last_errno = ENOSPC;
            rc = SQLITE_FULL;
        }
    } else if (call.fault && call.fault->how == SIM_SHORT_WRITE) {
        sim_file_write(h->file, at, bytes, want / 2);
    }
    return sim_call_end(&call, rc);
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    struct sim_handle *h = handle_of(base);
    struct sim_call call = handle_begin(h, SIM_TRUNCATE);
    if (call.rc == SQLITE_OK)
        sim_file_truncate(h->file, (size_t)size);
    return sim_call_end(&call, call.rc);
}

static int file_sync(sqlite3_file *base, int flags)
{
    (void)flags; /* a data-only sync keeps the size as well: the unix VFS's does */
    struct sim_handle *h = handle_of(base);
    struct sim_call call = handle_begin(h, SIM_SYNC);
    if (call.rc == SQLITE_OK) {
        sim_file_sync(h->file);
        if (h->syncs_folder)
            sim_names_settle(h->disk, h->file->path);
        else if (h->file->linked && !h->file->linked_durably)
            sim_names_settle_one(h->disk, h->file->path);
        h->syncs_folder = false;
    }
    return sim_call_end(&call, call.rc);
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
    struct sim_handle *h = handle_of(base);
    struct sim_call call = handle_begin(h, SIM_SIZE);
    if (call.rc == SQLITE_OK)
        *size = (sqlite3_int64)h->file->live.n;
    return sim_call_end(&call, call.rc);
}

static int file_lock(sqlite3_file *base, int level)
{
    struct sim_handle *h = handle_of(base);
    struct sim_call call = handle_begin(h, SIM_LOCK);
    return sim_call_end(&call, call.rc == SQLITE_OK ? sim_lock_raise(h, level) : call.rc);
}

static int file_unlock(sqlite3_file *base, int level)
{
    struct sim_handle *h = handle_of(base);
    sim_disk_enter(h->disk);
    if (h->epoch == h->disk->epoch)
        sim_lock_lower(h, level);
    sim_disk_leave(h->disk);
    return SQLITE_OK;
}

static int file_check_reserved(sqlite3_file *base, int *reserved)
{
    struct sim_handle *h = handle_of(base);
    struct sim_call call = handle_begin(h, SIM_LOCK);
    if (call.rc == SQLITE_OK)
        *reserved = h->file->owner != NULL;
    return sim_call_end(&call,
                        call.rc == SQLITE_IOERR_LOCK ? SQLITE_IOERR_CHECKRESERVEDLOCK : call.rc);
}

static int file_control(sqlite3_file *base, int op, void *arg)
{
    struct sim_handle *h = handle_of(base);
    int *value = arg;
    switch (op) {
    case SQLITE_FCNTL_PERSIST_WAL:
        if (*value >= 0)
            h->persist_wal = *value > 0;
        *value = h->persist_wal;
        return SQLITE_OK;
    case SQLITE_FCNTL_POWERSAFE_OVERWRITE: /* the device decides, nobody else */
        *value = (h->disk->config.device & SQLITE_IOCAP_POWERSAFE_OVERWRITE) != 0;
        return SQLITE_OK;
    case SQLITE_FCNTL_LOCKSTATE:
        *value = h->lock;
        return SQLITE_OK;
    case SQLITE_FCNTL_VFSNAME:
        *(char **)arg = sqlite3_mprintf("%s", h->disk->name);
        return SQLITE_OK;
    default:
        return SQLITE_NOTFOUND;
    }
}

static int file_sector_size(sqlite3_file *base)
{
    return handle_of(base)->disk->config.sector_size;
}

static int file_device(sqlite3_file *base)
{
    return handle_of(base)->disk->config.device;
}

static int file_shm_map(sqlite3_file *base, int region, int size, int extend, void volatile **out)
{
    struct sim_handle *h = handle_of(base);
    struct sim_call call = handle_begin(h, SIM_SHM);
    *out = NULL;
    if (call.rc == SQLITE_OK)
        sim_shm_map(h, (size_t)region, (size_t)size, extend != 0, out);
    return sim_call_end(&call, call.rc);
}

static int file_shm_lock(sqlite3_file *base, int first, int n, int flags)
{
    struct sim_handle *h = handle_of(base);
    unsigned mask = ((1u << n) - 1) << first;
    if (flags & SQLITE_SHM_UNLOCK) {
        sim_disk_enter(h->disk);
        if (h->shm)
            sim_shm_lock(h, mask, flags);
        sim_disk_leave(h->disk);
        return SQLITE_OK;
    }
    struct sim_call call = handle_begin(h, SIM_SHM);
    int rc = call.rc;
    if (rc == SQLITE_OK)
        rc = sim_shm_lock(h, mask, flags);
    else if (call.fault)
        rc = SQLITE_IOERR_SHMLOCK;
    return sim_call_end(&call, rc);
}

static void file_shm_barrier(sqlite3_file *base)
{
    /* A lock and an unlock are a full barrier, and one that TSan understands. */
    struct sim_disk *disk = handle_of(base)->disk;
    sim_disk_enter(disk);
    sim_disk_leave(disk);
}

static int file_shm_unmap(sqlite3_file *base, int delete_it)
{
    (void)delete_it; /* it is gone with its last user anyway */
    struct sim_handle *h = handle_of(base);
    sim_disk_enter(h->disk);
    sim_shm_unmap(h);
    sim_disk_leave(h->disk);
    return SQLITE_OK;
}

/* Version 2: shared memory, no memory-mapped reading (it would see no faults). */
static const sqlite3_io_methods file_methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_device,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

/* The file to open, created if the flags allow; NULL when they do not. */
static struct sim_file *names_open(struct sim_disk *disk, const char *path, int flags)
{
    struct sim_file *f = path ? sim_names_find(disk, path) : NULL;
    if (f)
        return flags & SQLITE_OPEN_EXCLUSIVE ? NULL : f;
    return flags & SQLITE_OPEN_CREATE ? sim_names_create(disk, path) : NULL;
}

/* The unix VFS syncs the folder with the first sync of a journal or a WAL that
 * it was asked to create, be the file new or not. */
static bool open_syncs_folder(int flags)
{
    int journals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL;
    return (flags & SQLITE_OPEN_CREATE) && (flags & journals);
}

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags,
                     int *out_flags)
{
    struct sim_disk *disk = disk_of(vfs);
    struct sim_handle *h = handle_of(base);
    base->pMethods = NULL; /* SQLite then does not close what did not open */
    struct sim_call call = sim_call_begin(disk, NULL, SIM_OPEN, path, NULL);
    int rc = call.rc;
    struct sim_file *f = rc == SQLITE_OK ? names_open(disk, path, flags) : NULL;
    if (rc == SQLITE_OK && !f) {
        disk->last_errno = ENOENT;
        rc = SQLITE_CANTOPEN;
    }
    bool crashes = call.fault && call.fault->how == SIM_CRASH_AFTER;
    if (rc == SQLITE_OK && !crashes) {
        *h = (struct sim_handle){.base.pMethods = &file_methods,
                                 .disk = disk,
                                 .file = f,
                                 .epoch = disk->epoch,
                                 .delete_on_close = flags & SQLITE_OPEN_DELETEONCLOSE,
                                 .syncs_folder = open_syncs_folder(flags)};
        f->handles++;
        disk->handles++;
        if (out_flags)
            *out_flags = flags;
    }
    return sim_call_end(&call, rc);
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync_dir)
{
    struct sim_disk *disk = disk_of(vfs);
    struct sim_call call = sim_call_begin(disk, NULL, SIM_DELETE, path, NULL);
    int rc = call.rc;
    if (rc == SQLITE_OK) {
        struct sim_file *f = sim_names_find(disk, path);
        if (f)
            f->linked = false;
        else
            rc = SQLITE_IOERR_DELETE_NOENT;
        if (f && sync_dir)
            sim_names_settle(disk, path);
        else if (f)
            sim_names_collect(disk, f);
    }
    return sim_call_end(&call, rc);
}

static int disk_access(sqlite3_vfs *vfs, const char *path, int flags, int *out)
{
    struct sim_disk *disk = disk_of(vfs);
    struct sim_call call = sim_call_begin(disk, NULL, SIM_ACCESS, path, NULL);
    if (call.rc == SQLITE_OK) {
        const struct sim_file *f = sim_names_find(disk, path);
        /* The unix VFS counts an empty file as none when asked for existence. */
        *out = f && (flags != SQLITE_ACCESS_EXISTS || f->live.n > 0);
    }
    return sim_call_end(&call, call.rc);
}

static int disk_full_path(sqlite3_vfs *vfs, const char *path, int n, char *out)
{
    (void)vfs; /* there are no folders: a path is only a name */
    int len = snprintf(out, (size_t)n, "%s", path);
    return len < n ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int disk_randomness(sqlite3_vfs *vfs, int n, char *out)
{
    struct sim_disk *disk = disk_of(vfs);
    sim_disk_enter(disk);
    for (int i = 0; i < n; i++)
        out[i] = (char)seed_next(&disk->rng);
    sim_disk_leave(disk);
    return n;
}

static int disk_sleep(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    return real->xSleep(real, us);
}

static int disk_time(sqlite3_vfs *vfs, sqlite3_int64 *julian_ms)
{
    (void)vfs;
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    return real->xCurrentTimeInt64(real, julian_ms);
}

static int disk_last_error(sqlite3_vfs *vfs, int n, char *text)
{
    (void)n;
    (void)text;
    struct sim_disk *disk = disk_of(vfs);
    sim_disk_enter(disk);
    int code = disk->last_errno;
    sim_disk_leave(disk);
    return code;
}

void sim_vfs_fill(struct sim_disk *disk)
{
    disk->vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = sizeof(struct sim_handle),
        .mxPathname = 1024,
        .zName = disk->name,
        .pAppData = disk,
        .xOpen = disk_open,
        .xDelete = disk_delete,
        .xAccess = disk_access,
        .xFullPathname = disk_full_path,
        .xRandomness = disk_randomness,
        .xSleep = disk_sleep,
        .xGetLastError = disk_last_error,
        .xCurrentTimeInt64 = disk_time,
    };
}
