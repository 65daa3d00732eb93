/*
 * The bytes of a simulated file, and what a power loss does to them.
 *
 * Writes and truncates go to `live` at once and are remembered in order. A sync
 * replays them onto `durable`. A power loss replays them too, but each one only
 * if it is lucky: leaving out any subset of an ordered list gives every result
 * that reordering in caches can give, because for each sector only the last
 * write that arrived counts. A torn write is replayed for some of its 512-byte
 * sectors. Where a lost write would have made the file longer, the file may be
 * longer all the same (the size is metadata and travels by itself) and holds
 * zeros or garbage there.
 */
#include "sim_file.h"

#include <assert.h>

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void bytes_reserve(struct sim_bytes *b, size_t n)
{
    if (n > b->cap) {
        size_t cap = b->cap * 2 > n ? b->cap * 2 : n;
        b->p = vd_realloc(b->p, cap, 1);
        b->cap = cap;
    }
}

/* Shrinks, or grows with zeros. */
static void bytes_resize(struct sim_bytes *b, size_t n)
{
    bytes_reserve(b, n);
    if (n > b->n)
        memset(b->p + b->n, 0, n - b->n);
    b->n = n;
}

static void bytes_write(struct sim_bytes *b, size_t offset, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    if (offset + n > b->n)
        bytes_resize(b, offset + n);
    memcpy(b->p + offset, bytes, n);
}

static void bytes_garble(struct sim_bytes *b, size_t from, size_t to, struct seed_rng *rng)
{
    for (size_t i = from; i < to; i++)
        b->p[i] = (unsigned char)seed_next(rng);
}

struct sim_file *sim_file_new(const char *path)
{
    struct sim_file *f = VD_NEW(struct sim_file);
    f->path = vd_strdup(path);
    return f;
}

void sim_file_forget(struct sim_file *f)
{
    for (size_t i = 0; i < f->unsynced.n; i++)
        free(f->unsynced.p[i].data);
    f->unsynced.n = 0;
}

void sim_file_free(struct sim_file *f)
{
    sim_file_forget(f);
    VD_VEC_RELEASE(&f->unsynced);
    free(f->live.p);
    free(f->durable.p);
    free(f->path);
    free(f);
}

void sim_file_write(struct sim_file *f, size_t offset, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    bytes_write(&f->live, offset, bytes, n);
    *VD_VEC_PUSH(&f->unsynced) = (struct sim_change){
        .offset = offset, .n = n, .data = vd_memdup(bytes, n)};
}

void sim_file_truncate(struct sim_file *f, size_t size)
{
    bytes_resize(&f->live, size);
    *VD_VEC_PUSH(&f->unsynced) = (struct sim_change){.offset = size};
}

void sim_file_sync(struct sim_file *f)
{
    for (size_t i = 0; i < f->unsynced.n; i++) {
        const struct sim_change *c = &f->unsynced.p[i];
        if (c->data)
            bytes_write(&f->durable, c->offset, c->data, c->n);
        else
            bytes_resize(&f->durable, c->offset);
    }
    sim_file_forget(f);
}

struct sim_plan sim_plan_make(unsigned modes, uint64_t seed, size_t damage_size,
                              struct sim_losses *losses)
{
    static const unsigned all[] = {SIM_DROP_ALL_UNSYNCED, SIM_KEEP_RANDOM, SIM_TORN, SIM_KEEP_ALL};
    static const unsigned percents[] = {10, 50, 90};
    struct sim_plan plan = {.damage_size = damage_size, .rng = {seed}, .losses = losses};

    unsigned wanted[4];
    size_t n = 0;
    for (size_t i = 0; i < 4; i++) {
        if (modes & all[i])
            wanted[n++] = all[i];
    }
    assert(n > 0 && "a crash needs a mode");
    plan.mode = wanted[seed_below(&plan.rng, n)];
    plan.keep_percent = percents[seed_below(&plan.rng, 3)];
    bool coin = seed_percent(&plan.rng, 50);
    plan.garbage = (modes & SIM_GARBAGE) && (!(modes & SIM_ZEROS) || coin);
    return plan;
}

bool sim_plan_keeps_name(struct sim_plan *plan)
{
    if (plan->mode == SIM_KEEP_ALL || plan->mode == SIM_DROP_ALL_UNSYNCED)
        return plan->mode == SIM_KEEP_ALL;
    return seed_percent(&plan->rng, plan->keep_percent);
}

/* Makes the file at least `size` long; the new part was never written. */
static void survivor_grow(struct sim_bytes *b, size_t size, struct sim_plan *plan)
{
    size_t old = b->n;
    if (size <= old)
        return;
    bytes_resize(b, size);
    if (plan->garbage)
        bytes_garble(b, old, size, &plan->rng);
}

static void survivor_write(struct sim_bytes *b, size_t offset, const unsigned char *bytes, size_t n,
                           struct sim_plan *plan)
{
    survivor_grow(b, offset, plan);
    bytes_write(b, offset, bytes, n);
}

/* Garbles one whole sector of those the write touched. */
static void survivor_damage(struct sim_bytes *b, const struct sim_change *c, struct sim_plan *plan)
{
    size_t size = plan->damage_size;
    size_t first = c->offset / size, last = (c->offset + c->n - 1) / size;
    size_t start = (first + seed_below(&plan->rng, last - first + 1)) * size;
    if (start >= b->n)
        return;
    bytes_garble(b, start, min_size(start + size, b->n), &plan->rng);
    plan->losses->damaged++;
}

/* Some sectors of the write arrive and some do not. */
static void survivor_tear(struct sim_bytes *b, const struct sim_change *c, struct sim_plan *plan)
{
    /* Sectors lie on the device, not in the write: its ends may be parts. */
    for (size_t at = 0, n; at < c->n; at += n) {
        n = min_size(SIM_TORN_SECTOR - (c->offset + at) % SIM_TORN_SECTOR, c->n - at);
        if (seed_percent(&plan->rng, 50))
            survivor_write(b, c->offset + at, c->data + at, n, plan);
    }
    if (seed_percent(&plan->rng, 50))
        survivor_grow(b, c->offset + c->n, plan);
    if (plan->damage_size && seed_percent(&plan->rng, 50))
        survivor_damage(b, c, plan);
    plan->losses->torn++;
}

static void survivor_replay(struct sim_bytes *b, const struct sim_change *c, struct sim_plan *plan)
{
    bool random = plan->mode == SIM_KEEP_RANDOM || plan->mode == SIM_TORN;
    if (plan->mode == SIM_TORN && c->data && seed_percent(&plan->rng, 40)) {
        survivor_tear(b, c, plan);
    } else if (plan->mode == SIM_KEEP_ALL ||
               (random && seed_percent(&plan->rng, plan->keep_percent))) {
        if (c->data)
            survivor_write(b, c->offset, c->data, c->n, plan);
        else
            bytes_resize(b, c->offset);
        plan->losses->kept++;
    } else {
        if (random && c->data && seed_percent(&plan->rng, 50))
            survivor_grow(b, c->offset + c->n, plan);
        plan->losses->lost++;
    }
}

void sim_file_lose_power(struct sim_file *f, struct sim_plan *plan)
{
    for (size_t i = 0; i < f->unsynced.n; i++)
        survivor_replay(&f->durable, &f->unsynced.p[i], plan);
    sim_file_forget(f);
    f->live.n = 0;
    bytes_write(&f->live, 0, f->durable.p, f->durable.n);
}
