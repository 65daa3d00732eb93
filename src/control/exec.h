/*
 * A reconciler that is a program: it is started once and spoken to in lines of JSON
 * (control/exec_message.h) over its stdin and stdout.
 *
 * The program says in its hello how many reconciles it takes at a time; the others wait here. What
 * it writes to stderr goes to the log. A program that ends, that does not answer a cancelled run in
 * time, or that says what is no message, is killed and started again, after a pause that grows
 * while it keeps failing.
 *
 * Nobody's run fails because of another one's object. When the program ends while it works on one
 * run, that run has failed. When it works on several, nobody knows which of them it was: all run
 * again, one at a time, and these runs do not count as attempts.
 *
 * All on one loop.
 */
#ifndef VD_CONTROL_EXEC_H
#define VD_CONTROL_EXEC_H

#include "base/clock.h"
#include "control/exec_message.h"
#include "control/run.h"

struct vd_exec;

/* All borrowed until the exec is freed. */
struct vd_exec_options {
    struct vd_loop *loop;
    const struct vd_clock *clock;
    const char *const *argv; /* as of struct vd_process_options */
    const char *const *env;
    const char *cwd;
    struct vd_exec_hello hello;
    uint64_t memory_max; /* bytes of address space; 0: as the server's own */
    uint64_t cancel_ms;  /* that a cancelled run has for its answer; 0: VD_EXEC_CANCEL_MS */
};

struct vd_exec_stats {
    uint64_t starts;   /* of the program */
    uint64_t failures; /* how often it has ended without being asked to */
    bool is_ready;     /* it has said hello */
    size_t waiting, working;
};

struct vd_exec *vd_exec_new(const struct vd_exec_options *options) VD_MUST_USE;

/* For the controller that it reconciles for. */
struct vd_reconcile *vd_exec_reconcile(struct vd_exec *exec);

/* The program is asked to end, and killed if it does not. `stopped` comes when it has ended; then
 * the exec may be freed. No run may be under way any more. */
void vd_exec_stop(struct vd_exec *exec, void (*stopped)(struct vd_exec *exec, void *arg),
                  void *arg);
void vd_exec_free(struct vd_exec *exec);

void vd_exec_stats(const struct vd_exec *exec, struct vd_exec_stats *out);

#endif
