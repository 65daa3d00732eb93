/*
 * One file of the simulated disk: its bytes, and what is not yet safe of them.
 *
 * Invariant: `live` is `durable` with all of `unsynced` applied in order, except
 * after sim_file_forget, when some changes are in `live` only and no sync will
 * ever bring them to `durable`. No locking here: the disk's mutex is held.
 */
#ifndef VD_TESTS_SIM_FILE_H
#define VD_TESTS_SIM_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "seed.h"
#include "sim_disk.h"

/* The unit in which a torn write survives or not. */
enum { SIM_TORN_SECTOR = 512 };

struct sim_bytes {
    unsigned char *p;
    size_t n;
    size_t cap;
};

/* A write of n bytes at `offset`, or (data NULL) a truncate to `offset`. */
struct sim_change {
    size_t offset;
    size_t n;
    unsigned char *data;
};

struct sim_handle;
struct sim_shm;

struct sim_file {
    char *path; /* "" for a temporary file, which never has a name */
    struct sim_bytes live;
    struct sim_bytes durable;
    VD_VEC(struct sim_change) unsynced;
    bool linked;         /* the path leads here, for programs */
    bool linked_durably; /* and would after a power loss */
    unsigned handles;    /* open ones, dead ones included */

    unsigned lock_sharers;          /* handles at SHARED or above */
    const struct sim_handle *owner; /* the one at RESERVED or above, or NULL */
    struct sim_shm *shm;            /* NULL when nobody has it mapped */
};

/* How one power loss treats unsynced changes. */
struct sim_plan {
    unsigned mode;         /* exactly one of SIM_DROP_ALL_UNSYNCED ... SIM_KEEP_ALL */
    bool garbage;          /* in holes, instead of zeros */
    unsigned keep_percent; /* for the random modes */
    size_t damage_size;    /* sectors that a torn write may garble, 0: none */
    struct seed_rng rng;
    struct sim_losses *losses;
};

/* A plan from the modes and the seed. */
struct sim_plan sim_plan_make(unsigned modes, uint64_t seed, size_t damage_size,
                              struct sim_losses *losses);

/* True when the plan keeps a change of the directory. */
bool sim_plan_keeps_name(struct sim_plan *plan);

struct sim_file *sim_file_new(const char *path) VD_MUST_USE;
void sim_file_free(struct sim_file *f);

void sim_file_write(struct sim_file *f, size_t offset, const void *bytes, size_t n);
void sim_file_truncate(struct sim_file *f, size_t size);

/* What is unsynced becomes durable. */
void sim_file_sync(struct sim_file *f);

/* What is unsynced is seen by programs but will never be durable. */
void sim_file_forget(struct sim_file *f);

/* What is unsynced survives or not; then nothing is unsynced. */
void sim_file_lose_power(struct sim_file *f, struct sim_plan *plan);

#endif
