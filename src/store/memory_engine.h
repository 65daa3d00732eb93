/*
 * The memory engine keeps the log in this process's memory: for tests and scratch servers.
 *
 * A *memory log* can be shared by several engines of the process, each with a store of its own.
 * They behave like processes over one database: each finds the others' rows, and is behind when
 * another was faster. Tests use this to show that the store is fit for such engines.
 */
#ifndef VD_STORE_MEMORY_ENGINE_H
#define VD_STORE_MEMORY_ENGINE_H

#include "store/engine.h"

struct vd_memory_log;

/* A log without rows, to be shared. With `stride` > 1 its revisions have gaps; 0 and 1: none. */
struct vd_memory_log *vd_memory_log_new(unsigned stride) VD_MUST_USE;

/* Drops the caller's reference: each engine holds one of its own. NULL allowed. */
void vd_memory_log_unref(struct vd_memory_log *log);

/* The revision that follows another one: 0 to stride - 1 numbers are left out, in a fixed
 * pattern. */
static inline uint64_t vd_memory_log_next(unsigned stride, uint64_t revision)
{
    return revision + 1 + (stride > 1 ? revision % stride : 0);
}

struct vd_memory_options {
    struct vd_memory_log *log; /* shared with others; NULL: a log of its own */
    bool thread_only;          /* see struct vd_engine */
    bool never_wakes; /* it is never woken: it learns what others have done only when it asks, or
                         when its commit is behind */
};

/* `options` NULL: a log of its own. */
int vd_memory_engine_open(struct vd_engine **out, const struct vd_memory_options *options,
                          struct vd_engine_state *state, struct vd_error *error) VD_MUST_USE;

#endif
