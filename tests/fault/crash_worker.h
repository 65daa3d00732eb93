/*
 * The worker of the crash test: opens the store, lets writers and watchers loose
 * on it, and tells all that happens through a pipe until it is killed.
 *
 * A word is smaller than PIPE_BUF, so it arrives whole or not at all.
 */
#ifndef VD_TESTS_CRASH_WORKER_H
#define VD_TESTS_CRASH_WORKER_H

#include "history.h"

enum { CRASH_WATCHERS = 6, CRASH_WRITERS = 3 };

enum crash_says {
    CRASH_ACKNOWLEDGED, /* fact */
    CRASH_BEGAN,        /* watcher, flag: with a snapshot, revision: at or behind it */
    CRASH_SHOWN,        /* watcher, sight, flag: not of the snapshot */
    CRASH_PASSED,       /* watcher, revision, flag: and a bookmark says so */
    CRASH_EXPIRED,      /* watcher */
};

struct crash_word {
    uint8_t says;
    bool flag;
    uint8_t watcher;
    uint64_t revision;
    union {
        struct fact fact;
        struct sight sight;
    };
};

/* What the parent tells the worker. */
struct crash_plan {
    uint64_t seed;
    struct want want[CRASH_WATCHERS];
    uint64_t resume[CRASH_WATCHERS]; /* 0: start with a snapshot */
    bool away[CRASH_WATCHERS];       /* does not watch in this cycle */
};

void crash_plan_init(struct crash_plan *plan);

/* Writes the plan into the folder; the file's name into `path`. */
void crash_plan_write(const struct crash_plan *plan, const char *folder, char *path, size_t cap);

/* A window and a write-ahead log so small that every cycle compacts and
 * checkpoints. */
struct vd_folder crash_folder(const char *path);
extern const struct vd_store_options crash_store_options;

int crash_worker_run(const char *folder, const char *plan, const char *fd);

#endif
