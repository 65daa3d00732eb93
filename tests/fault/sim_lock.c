/*
 * Locks between the handles of a simulated file, and the shared memory of WAL.
 *
 * File locks are SQLite's: any number of handles at SHARED, of which one, the
 * owner, may be at RESERVED (others may still come), PENDING (no new ones may)
 * or EXCLUSIVE (it is alone).
 *
 * Shared memory is a list of zeroed heap regions per file and eight slots, each
 * free, held by some handles shared, or by one exclusively. It exists from the
 * first map to the last unmap. SQLite keeps pointers into the regions, and code
 * that has not yet noticed a power loss may still follow them; so a power loss
 * only takes the memory away from the file, and the dead handles share it until
 * the last of them is closed.
 */
#include <assert.h>

#include "sim_disk_internal.h"

struct sim_shm {
    unsigned handles;
    VD_VEC(void *) regions;
    unsigned sharers[SQLITE_SHM_NLOCK];
    const struct sim_handle *owner[SQLITE_SHM_NLOCK]; /* who holds it exclusively, or NULL */
};

int sim_lock_raise(struct sim_handle *h, int level)
{
    struct sim_file *f = h->file;
    if (h->lock >= level)
        return SQLITE_OK;
    if (f->owner && f->owner != h &&
        (level > SQLITE_LOCK_SHARED || f->owner->lock >= SQLITE_LOCK_PENDING))
        return SQLITE_BUSY;
    if (level == SQLITE_LOCK_SHARED) {
        f->lock_sharers++;
        h->lock = SQLITE_LOCK_SHARED;
        return SQLITE_OK;
    }
    assert(h->lock >= SQLITE_LOCK_SHARED && "SQLite takes SHARED before anything above it");
    f->owner = h;
    if (level == SQLITE_LOCK_EXCLUSIVE && f->lock_sharers > 1) {
        h->lock = SQLITE_LOCK_PENDING; /* readers leave, and none may come */
        return SQLITE_BUSY;
    }
    h->lock = level;
    return SQLITE_OK;
}

void sim_lock_lower(struct sim_handle *h, int level)
{
    struct sim_file *f = h->file;
    if (h->lock <= level)
        return;
    if (f->owner == h)
        f->owner = NULL;
    if (level == SQLITE_LOCK_NONE)
        f->lock_sharers--;
    h->lock = level;
}

void sim_lock_lose_power(struct sim_file *f)
{
    f->owner = NULL;
    f->lock_sharers = 0;
    f->shm = NULL;
}

void sim_shm_map(struct sim_handle *h, size_t region, size_t size, bool extend, void volatile **out)
{
    if (!h->shm) {
        if (!h->file->shm)
            h->file->shm = VD_NEW(struct sim_shm);
        h->shm = h->file->shm;
        h->shm->handles++;
    }
    struct sim_shm *shm = h->shm;
    while (extend && shm->regions.n <= region)
        *VD_VEC_PUSH(&shm->regions) = vd_calloc(1, size);
    *out = region < shm->regions.n ? shm->regions.p[region] : NULL;
}

/* Gives up the slots of the mask that the handle holds. */
static void shm_unlock(struct sim_handle *h, unsigned mask)
{
    for (unsigned i = 0; i < SQLITE_SHM_NLOCK; i++) {
        if (mask & h->shm_shared & (1u << i))
            h->shm->sharers[i]--;
        if (mask & h->shm_exclusive & (1u << i))
            h->shm->owner[i] = NULL;
    }
    h->shm_shared &= ~mask;
    h->shm_exclusive &= ~mask;
}

static int shm_lock_shared(struct sim_handle *h, unsigned mask)
{
    for (unsigned i = 0; i < SQLITE_SHM_NLOCK; i++) {
        if ((mask & (1u << i)) && h->shm->owner[i])
            return SQLITE_BUSY;
    }
    for (unsigned i = 0; i < SQLITE_SHM_NLOCK; i++) {
        if (mask & ~h->shm_shared & (1u << i))
            h->shm->sharers[i]++;
    }
    h->shm_shared |= mask;
    return SQLITE_OK;
}

static int shm_lock_exclusive(struct sim_handle *h, unsigned mask)
{
    assert(!(h->shm_shared & mask) && "SQLite never upgrades a shared slot");
    for (unsigned i = 0; i < SQLITE_SHM_NLOCK; i++) {
        bool mine = h->shm_exclusive & (1u << i);
        if ((mask & (1u << i)) && !mine && (h->shm->owner[i] || h->shm->sharers[i] > 0))
            return SQLITE_BUSY;
    }
    for (unsigned i = 0; i < SQLITE_SHM_NLOCK; i++) {
        if (mask & (1u << i))
            h->shm->owner[i] = h;
    }
    h->shm_exclusive |= mask;
    return SQLITE_OK;
}

int sim_shm_lock(struct sim_handle *h, unsigned mask, int flags)
{
    assert(h->shm && "SQLite maps before it locks");
    if (flags & SQLITE_SHM_UNLOCK) {
        shm_unlock(h, mask);
        return SQLITE_OK;
    }
    return flags & SQLITE_SHM_SHARED ? shm_lock_shared(h, mask) : shm_lock_exclusive(h, mask);
}

void sim_shm_unmap(struct sim_handle *h)
{
    struct sim_shm *shm = h->shm;
    if (!shm)
        return;
    shm_unlock(h, ~0u);
    h->shm = NULL;
    if (--shm->handles > 0)
        return;
    if (h->file->shm == shm)
        h->file->shm = NULL;
    for (size_t i = 0; i < shm->regions.n; i++)
        free(shm->regions.p[i]);
    VD_VEC_RELEASE(&shm->regions);
    free(shm);
}
