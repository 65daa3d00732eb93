/*
 * The simulated disk: its names, its power, its faults and its room.
 *
 * Files are kept in the order in which they were created. A path can belong to
 * several of them at once: one that programs see (`linked`), and an older one
 * that they deleted but that a power loss would bring back (`linked_durably`
 * only). A file goes when neither a link nor a handle leads to it.
 *
 * A power loss is carried out at once, inside the call that it hits: it decides
 * what survives, file by file, and raises the epoch, which makes every handle
 * dead. Turning the power on again only lets new opens through.
 */
#include "sim_disk.h"

#include <assert.h>
#include <errno.h>

#include "sim_disk_internal.h"

/* What SQLite's unix VFS answers when the system call behind fails. */
static const struct {
    int eio;
    int enospc;
} op_codes[SIM_OP_COUNT] = {
    {SQLITE_CANTOPEN, SQLITE_CANTOPEN},             /* SIM_OPEN */
    {SQLITE_IOERR_READ, SQLITE_IOERR_READ},         /* SIM_READ */
    {SQLITE_IOERR_WRITE, SQLITE_FULL},              /* SIM_WRITE */
    {SQLITE_IOERR_FSYNC, SQLITE_IOERR_FSYNC},       /* SIM_SYNC */
    {SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_TRUNCATE}, /* SIM_TRUNCATE */
    {SQLITE_IOERR_DELETE, SQLITE_IOERR_DELETE},     /* SIM_DELETE */
    {SQLITE_IOERR_ACCESS, SQLITE_IOERR_ACCESS},     /* SIM_ACCESS */
    {SQLITE_IOERR_FSTAT, SQLITE_IOERR_FSTAT},       /* SIM_SIZE */
    {SQLITE_IOERR_LOCK, SQLITE_IOERR_LOCK},         /* SIM_LOCK */
    {SQLITE_IOERR_SHMMAP, SQLITE_IOERR_SHMSIZE},    /* SIM_SHM */
};

struct sim_disk *sim_disk_new(const struct sim_config *config)
{
    struct sim_disk *disk = VD_NEW(struct sim_disk);
    disk->config = config ? *config : SIM_CONFIG_DEFAULT;
    int sector = disk->config.sector_size;
    assert(sector >= SIM_TORN_SECTOR && sector <= 65536 && (sector & (sector - 1)) == 0);
    disk->space = SIM_SPACE_UNLIMITED;
    disk->rng.state = disk->config.seed;
    pthread_mutex_init(&disk->mutex, NULL);
    /* The address makes the name unique among the disks of the process. */
    snprintf(disk->name, sizeof disk->name, "sim-%p", (void *)disk);
    sim_vfs_fill(disk);
    int rc = sqlite3_vfs_register(&disk->vfs, 0);
    assert(rc == SQLITE_OK);
    (void)rc;
    return disk;
}

int sim_disk_free(struct sim_disk *disk)
{
    if (!disk)
        return 0;
    sim_disk_enter(disk);
    bool open = disk->handles > 0;
    sim_disk_leave(disk);
    if (open)
        return -1;
    sqlite3_vfs_unregister(&disk->vfs);
    sim_disk_heal(disk);
    for (size_t i = 0; i < disk->files.n; i++)
        sim_file_free(disk->files.p[i]);
    VD_VEC_RELEASE(&disk->files);
    pthread_mutex_destroy(&disk->mutex);
    free(disk);
    return 0;
}

const char *sim_disk_vfs(const struct sim_disk *disk)
{
    return disk->name;
}

struct sim_file *sim_names_find(const struct sim_disk *disk, const char *path)
{
    for (size_t i = 0; i < disk->files.n; i++) {
        struct sim_file *f = disk->files.p[i];
        if (f->linked && strcmp(f->path, path) == 0)
            return f;
    }
    return NULL;
}

struct sim_file *sim_names_create(struct sim_disk *disk, const char *path)
{
    struct sim_file *f = sim_file_new(path ? path : "");
    f->linked = path != NULL;
    *VD_VEC_PUSH(&disk->files) = f;
    return f;
}

static size_t folder_len(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

void sim_names_settle_one(struct sim_disk *disk, const char *path)
{
    for (size_t i = disk->files.n; i-- > 0;) {
        struct sim_file *f = disk->files.p[i];
        if (strcmp(f->path, path) == 0) {
            f->linked_durably = f->linked;
            sim_names_collect(disk, f);
        }
    }
}

void sim_names_settle(struct sim_disk *disk, const char *path)
{
    size_t len = folder_len(path);
    for (size_t i = disk->files.n; i-- > 0;) {
        struct sim_file *f = disk->files.p[i];
        if (folder_len(f->path) == len && memcmp(f->path, path, len) == 0) {
            f->linked_durably = f->linked;
            sim_names_collect(disk, f);
        }
    }
}

void sim_names_collect(struct sim_disk *disk, struct sim_file *f)
{
    if (f->linked || f->linked_durably || f->handles > 0)
        return;
    size_t i = 0;
    while (disk->files.p[i] != f)
        i++;
    memmove(&disk->files.p[i], &disk->files.p[i + 1], (disk->files.n - i - 1) * sizeof f);
    disk->files.n--;
    sim_file_free(f);
}

/* True when a newer file has taken the path, durably. */
static bool names_superseded(const struct sim_disk *disk, size_t i)
{
    const struct sim_file *f = disk->files.p[i];
    for (size_t j = i + 1; j < disk->files.n; j++) {
        if (disk->files.p[j]->linked_durably && strcmp(disk->files.p[j]->path, f->path) == 0)
            return true;
    }
    return false;
}

static void names_lose_power(struct sim_disk *disk, struct sim_plan *plan)
{
    for (size_t i = 0; i < disk->files.n; i++) {
        struct sim_file *f = disk->files.p[i];
        if (f->linked != f->linked_durably && sim_plan_keeps_name(plan))
            f->linked_durably = f->linked;
    }
    /* From the newest on, so that what supersedes is settled before. */
    for (size_t i = disk->files.n; i-- > 0;) {
        struct sim_file *f = disk->files.p[i];
        if (names_superseded(disk, i))
            f->linked_durably = false;
        disk->losses.names_lost += f->linked && !f->linked_durably;
        disk->losses.names_back += !f->linked && f->linked_durably;
        f->linked = f->linked_durably;
        sim_names_collect(disk, f);
    }
}

static void disk_lose_power(struct sim_disk *disk, unsigned modes, uint64_t seed)
{
    if (disk->off)
        return;
    size_t damage = disk->config.damages_sectors ? (size_t)disk->config.sector_size : 0;
    struct sim_plan plan = sim_plan_make(modes, seed, damage, &disk->losses);
    for (size_t i = 0; i < disk->files.n; i++) {
        sim_file_lose_power(disk->files.p[i], &plan);
        sim_lock_lose_power(disk->files.p[i]);
    }
    names_lose_power(disk, &plan);
    disk->off = true;
    disk->epoch++;
}

void sim_disk_crash(struct sim_disk *disk, unsigned modes, uint64_t seed)
{
    sim_disk_enter(disk);
    disk_lose_power(disk, modes, seed);
    sim_disk_leave(disk);
}

void sim_disk_power_on(struct sim_disk *disk)
{
    sim_disk_enter(disk);
    disk->off = false;
    sim_disk_leave(disk);
}

bool sim_disk_is_off(struct sim_disk *disk)
{
    sim_disk_enter(disk);
    bool off = disk->off;
    sim_disk_leave(disk);
    return off;
}

struct sim_losses sim_disk_losses(struct sim_disk *disk)
{
    sim_disk_enter(disk);
    struct sim_losses losses = disk->losses;
    sim_disk_leave(disk);
    return losses;
}

void sim_disk_fail(struct sim_disk *disk, struct sim_fault fault)
{
    bool crashes = fault.how == SIM_CRASH_BEFORE || fault.how == SIM_CRASH_AFTER;
    assert(fault.op && fault.how && fault.at >= 1 && (!crashes || fault.crash));
    (void)crashes;
    sim_disk_enter(disk);
    assert(disk->armed_n < SIM_FAULTS_MAX);
    if (fault.count == 0)
        fault.count = 1;
    if (fault.file)
        fault.file = vd_strdup(fault.file);
    disk->armed[disk->armed_n++] = (struct sim_armed){.fault = fault};
    sim_disk_leave(disk);
}

void sim_disk_heal(struct sim_disk *disk)
{
    sim_disk_enter(disk);
    for (size_t i = 0; i < disk->armed_n; i++)
        free((void *)(uintptr_t)disk->armed[i].fault.file); /* our own copy, const to users */
    disk->armed_n = 0;
    disk->hits = 0;
    sim_disk_leave(disk);
}

uint64_t sim_disk_hits(struct sim_disk *disk)
{
    sim_disk_enter(disk);
    uint64_t hits = disk->hits;
    sim_disk_leave(disk);
    return hits;
}

uint64_t sim_disk_calls(struct sim_disk *disk, unsigned ops)
{
    uint64_t calls = 0;
    sim_disk_enter(disk);
    for (unsigned i = 0; i < SIM_OP_COUNT; i++)
        calls += ops & (1u << i) ? disk->calls[i] : 0;
    sim_disk_leave(disk);
    return calls;
}

static bool fault_matches(const struct sim_fault *fault, enum sim_op op, const char *path)
{
    if (!(fault->op & op) || (fault->how == SIM_SHORT_WRITE && op != SIM_WRITE))
        return false;
    return !fault->file || strstr(path, fault->file);
}

/* Every fault counts the call; the first one whose turn it is has it. */
static const struct sim_fault *faults_ask(struct sim_disk *disk, enum sim_op op, const char *path)
{
    const struct sim_fault *hit = NULL;
    for (size_t i = 0; i < disk->armed_n; i++) {
        struct sim_armed *a = &disk->armed[i];
        if (!fault_matches(&a->fault, op, path))
            continue;
        a->seen++;
        if (!hit && a->seen >= a->fault.at && a->seen - a->fault.at < a->fault.count)
            hit = &a->fault;
    }
    disk->hits += hit != NULL;
    return hit;
}

struct sim_call sim_call_begin(struct sim_disk *disk, const struct sim_handle *h, enum sim_op op,
                               const char *path, struct sim_file *file)
{
    struct sim_call call = {.disk = disk, .rc = SQLITE_IOERR};
    sim_disk_enter(disk);
    if (disk->off || (h && h->epoch != disk->epoch)) {
        disk->last_errno = EIO;
        return call;
    }
    unsigned i = (unsigned)__builtin_ctz((unsigned)op);
    disk->calls[i]++;
    call.fault = faults_ask(disk, op, path ? path : "");
    call.rc = SQLITE_OK;
    switch (call.fault ? call.fault->how : SIM_CRASH_AFTER) {
    case SIM_EIO:
        call.rc = op_codes[i].eio;
        disk->last_errno = EIO;
        break;
    case SIM_ENOSPC:
    case SIM_SHORT_WRITE:
        call.rc = op_codes[i].enospc;
        disk->last_errno = ENOSPC;
        break;
    case SIM_CRASH_BEFORE:
        call.rc = SQLITE_IOERR;
        disk->last_errno = EIO;
        disk_lose_power(disk, call.fault->crash, call.fault->seed);
        break;
    case SIM_CRASH_AFTER: /* sim_call_end's part */
        break;
    }
    if (call.rc != SQLITE_OK && op == SIM_SYNC && call.fault->drops_unsynced && !disk->off)
        sim_file_forget(file);
    return call;
}

int sim_call_end(struct sim_call *call, int rc)
{
    struct sim_disk *disk = call->disk;
    if (call->fault && call->fault->how == SIM_CRASH_AFTER) {
        disk_lose_power(disk, call->fault->crash, call->fault->seed);
        disk->last_errno = EIO;
        rc = SQLITE_IOERR;
    }
    sim_disk_leave(disk);
    return rc;
}

static uint64_t space_used(const struct sim_disk *disk)
{
    uint64_t used = 0;
    for (size_t i = 0; i < disk->files.n; i++)
        used += disk->files.p[i]->live.n;
    return used;
}

size_t sim_space_fit(const struct sim_disk *disk, const struct sim_file *f, size_t offset, size_t n)
{
    size_t size = f->live.n;
    if (disk->space == SIM_SPACE_UNLIMITED || offset + n <= size)
        return n;
    uint64_t used = space_used(disk);
    uint64_t room = disk->space > used ? disk->space - used : 0;
    if (offset + n - size <= room)
        return n;
    size_t end = size + (size_t)room;
    return end > offset ? end - offset : 0;
}

void sim_disk_space(struct sim_disk *disk, uint64_t bytes)
{
    sim_disk_enter(disk);
    disk->space = bytes;
    sim_disk_leave(disk);
}

uint64_t sim_disk_used(struct sim_disk *disk)
{
    sim_disk_enter(disk);
    uint64_t used = space_used(disk);
    sim_disk_leave(disk);
    return used;
}

int64_t sim_disk_size(struct sim_disk *disk, const char *path)
{
    sim_disk_enter(disk);
    const struct sim_file *f = sim_names_find(disk, path);
    int64_t size = f ? (int64_t)f->live.n : -1;
    sim_disk_leave(disk);
    return size;
}

size_t sim_disk_unsynced(struct sim_disk *disk, const char *path)
{
    sim_disk_enter(disk);
    const struct sim_file *f = sim_names_find(disk, path);
    size_t n = f ? f->unsynced.n : 0;
    sim_disk_leave(disk);
    return n;
}

/* The file, if it has n bytes at `offset`. */
static struct sim_file *file_with(struct sim_disk *disk, const char *path, uint64_t offset,
                                  size_t n)
{
    struct sim_file *f = sim_names_find(disk, path);
    return f && offset <= f->live.n && n <= f->live.n - offset ? f : NULL;
}

int sim_disk_read(struct sim_disk *disk, const char *path, uint64_t offset, void *out, size_t n)
{
    sim_disk_enter(disk);
    const struct sim_file *f = file_with(disk, path, offset, n);
    if (f && n > 0)
        memcpy(out, f->live.p + offset, n);
    sim_disk_leave(disk);
    return f ? 0 : -1;
}

int sim_disk_patch(struct sim_disk *disk, const char *path, uint64_t offset, const void *bytes,
                   size_t n)
{
    sim_disk_enter(disk);
    struct sim_file *f = file_with(disk, path, offset, n);
    if (f) {
        sim_file_write(f, (size_t)offset, bytes, n);
        sim_file_sync(f);
    }
    sim_disk_leave(disk);
    return f ? 0 : -1;
}

int sim_disk_flip(struct sim_disk *disk, const char *path, uint64_t offset, unsigned char mask)
{
    unsigned char byte;
    if (sim_disk_read(disk, path, offset, &byte, 1) != 0)
        return -1;
    byte ^= mask;
    return sim_disk_patch(disk, path, offset, &byte, 1);
}

int sim_disk_export(struct sim_disk *disk, const char *path, const char *real_path)
{
    sim_disk_enter(disk);
    const struct sim_file *f = sim_names_find(disk, path);
    size_t n = f ? f->live.n : 0;
    unsigned char *copy = f ? vd_memdup(n ? f->live.p : (const unsigned char *)"", n) : NULL;
    sim_disk_leave(disk);
    if (!copy) {
        errno = ENOENT;
        return -1;
    }
    FILE *out = fopen(real_path, "wb");
    bool failed = !out || fwrite(copy, 1, n, out) != n;
    if (out && fclose(out) != 0)
        failed = true;
    free(copy);
    return failed ? -1 : 0;
}

int sim_disk_import(struct sim_disk *disk, const char *real_path, const char *path)
{
    FILE *in = fopen(real_path, "rb");
    if (!in)
        return -1;
    VD_VEC(unsigned char) bytes = {0};
    unsigned char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, in)) > 0; bytes.n += n) {
        VD_VEC_RESERVE(&bytes, n);
        memcpy(bytes.p + bytes.n, part, n);
    }
    bool failed = ferror(in);
    fclose(in);
    if (!failed) {
        sim_disk_enter(disk);
        struct sim_file *f = sim_names_find(disk, path);
        if (!f)
            f = sim_names_create(disk, path);
        sim_file_truncate(f, 0);
        sim_file_write(f, 0, bytes.p, bytes.n);
        sim_file_sync(f);
        sim_names_settle_one(disk, path);
        sim_disk_leave(disk);
    }
    VD_VEC_RELEASE(&bytes);
    return failed ? -1 : 0;
}
