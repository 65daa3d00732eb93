/*
 * One run of `git gc` in a repository: at the lowest priority, with limits of time and memory.
 *
 *     struct vd_gc_run r = {.loop = loop, .program = program, .folder = folder, .done = done};
 *     vd_gc_run_start(&r, &error);
 *     ...  r.done(&r)        once: r.result
 *
 * All that refs lead to becomes one pack. What none leads to stays in a pack of its own until it is
 * older than VD_GIT_UPKEEP_GRACE_S, and then goes. On the loop.
 */
#ifndef VD_GIT_GC_RUN_H
#define VD_GIT_GC_RUN_H

#include "base/attributes.h"
#include "base/buf.h"
#include "git/program.h"
#include "net/process.h"

enum vd_gc_result {
    VD_GC_GOOD,
    VD_GC_FAILED,  /* the log says why; it may have left something behind */
    VD_GC_ENDED,   /* by vd_gc_run_end(); likewise */
    VD_GC_STOPPED, /* by the end of the loop */
};

struct vd_gc_run {
    /* ---- the caller's; borrowed until `done` ---- */
    struct vd_loop *loop;
    const struct vd_git_program *program;
    const char *folder; /* for the call of vd_gc_run_start() only */
    const char *uid;    /* for the log */
    bool keeps_refs;    /* refs are not packed, since somebody may want to lock them */
    void (*done)(struct vd_gc_run *r);
    /* ---- the outcome ---- */
    enum vd_gc_result result;
    uint64_t duration_ns;
    /* ---- private ---- */
    struct vd_process process;
    struct vd_timer limit;
    struct vd_buf said; /* on stderr; its beginning */
    uint64_t begun_ns;
    bool is_ending; /* it was told to end ... */
    bool is_late;   /* ... because its time was up */
};

/* On failure `done` is not called. */
int vd_gc_run_start(struct vd_gc_run *r, struct vd_error *error) VD_MUST_USE;

static inline bool vd_gc_run_is_running(const struct vd_gc_run *r)
{
    return vd_process_is_running(&r->process);
}

/* Has it end; it is killed if it does not. */
void vd_gc_run_end(struct vd_gc_run *r);

#endif
