/*
 * A process: a program that the server runs, and the pipes between them.
 *
 * The owner embeds a struct vd_process and starts it with a program, its arguments and its whole
 * environment; no shell is involved and nothing is looked up in PATH. What the program writes comes
 * through `ops`, and `exited` is the last call, exactly once:
 *
 *   vd_process_start()          `exited` follows if it returned VD_OK, and never else
 *   vd_process_write() ...      to its stdin; vd_process_close_input() ends that
 *   output, errors, channel     what it says, as it comes
 *   exited                      it has ended, and all that it said has been given
 *
 * Back-pressure. vd_process_write() copies and never blocks; whoever writes looks at
 * vd_process_is_full() and stops feeding it until `drained`. vd_process_pause() stops reading
 * stdout: the program then waits in its own write. stderr and the channel are always read; who
 * keeps what comes there bounds it.
 *
 * Channel. fd 3 of the program can be a socket, which its children inherit if it lets them: those
 * who have it, and nobody else, can speak to the owner there.
 *
 * The end. The program leads a session and a process group of its own. When it exits, when its time
 * is over and on vd_process_kill(), the whole group gets SIGKILL, so children do not outlive it.
 * One that has left the group can keep the pipes open: then `exited` comes VD_PROCESS_LINGER_MS
 * after the program's end, with `is_cut`. An owner that has paused stdout gets `exited` after it
 * has resumed and taken the rest.
 *
 * If the server dies, nobody kills the group: the kernel closes the server's ends of stdin, stdout
 * and the channel, and the program must end with these (git does). PR_SET_PDEATHSIG is of no use
 * here: it goes by the thread that made the process.
 *
 * A loop that is stopped (vd_loop_stop) kills the processes that still run on it, waits for them
 * for at most VD_PROCESS_LINGER_MS and calls `exited` with `is_stopped`, after the tasks that were
 * posted before. The owner then only lets go of its memory. One that wants to do more kills its
 * processes before it stops the loop.
 *
 * Limits of the program's resources are set by prlimit(2) as soon as it has been started, and are
 * inherited by its children. It never dumps core.
 *
 * All on the loop's thread. The program inherits stdin, stdout, stderr and the channel only: every
 * other descriptor of the server is closed on exec.
 */
#ifndef VD_NET_PROCESS_H
#define VD_NET_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/slice.h"
#include "net/loop.h"

struct vd_process;
struct vd_process_child;

/* All borrowed for the call of vd_process_start(), but for `name`. */
struct vd_process_options {
    const char *const *argv;  /* argv[0] is an absolute path; NULL behind the last */
    const char *const *env;   /* the whole environment, likewise; NULL: empty */
    const char *cwd;          /* NULL: "/" */
    const char *name;         /* for metrics, behind argv[0]'s: "receive-pack"; constant; or NULL */
    bool has_channel;         /* fd 3 is a socket */
    bool is_background;       /* it has the lowest priority */
    uint64_t timeout_ms;      /* that it may take in all; 0: any time */
    uint64_t idle_timeout_ms; /* in which a byte must go in or out; 0: any time */
    /* Of each process of the group; 0: as the server's own. */
    uint64_t memory_max;   /* bytes of address space */
    uint64_t cpu_s_max;    /* seconds of CPU time */
    uint64_t file_len_max; /* bytes of a file that it writes */
    uint64_t files_max;    /* descriptors */
};

/* How it has ended. */
struct vd_process_exit {
    int status;      /* that it exited with; -1: a signal ended it */
    int signal;      /* that ended it; 0: none */
    bool timed_out;  /* it took too long, or was idle for too long, and was killed for that */
    bool is_killed;  /* by vd_process_kill() */
    bool is_stopped; /* by the end of its loop; status and signal may be unknown: -1 and 0 */
    bool is_cut;     /* somebody it left behind has the pipes still: output may be incomplete */
};

/* Whether it ended by itself, and well. */
static inline bool vd_process_succeeded(const struct vd_process_exit *exit)
{
    return exit->status == 0 && !exit->timed_out && !exit->is_killed && !exit->is_stopped;
}

/* All may be NULL, but for `exited`: then what comes is read and dropped. Slices are borrowed for
 * the call. A call may write, pause, resume and kill; only `exited` may free the process. None
 * comes from inside one of the functions below. */
struct vd_process_ops {
    void (*output)(struct vd_process *p, struct vd_slice bytes);  /* of stdout */
    void (*errors)(struct vd_process *p, struct vd_slice bytes);  /* of stderr */
    void (*channel)(struct vd_process *p, struct vd_slice bytes); /* of fd 3 */
    /* The backlog of stdin, which was not empty, has been taken; or nobody will take it, since the
     * program has closed its stdin or ended. */
    void (*drained)(struct vd_process *p);
    void (*exited)(struct vd_process *p, const struct vd_process_exit *exit);
};

struct vd_process {
    struct vd_loop *loop;
    const struct vd_process_ops *ops;
    void *arg; /* the owner's; vd_process_start() leaves it as it is */
    int pid;
    /* Private: */
    struct vd_process_child *child; /* NULL: it has ended, or was never started */
    struct vd_process *prev, *next; /* of the loop */
};

/*
 * Starts a program. `ops` is borrowed until `exited`. On failure nothing is left of it, `exited` is
 * not called, and the error says what could not be started and why:
 *
 *   VD_ERR_NOT_FOUND  there is no such program, or no such folder to run it in
 *   VD_ERR_FORBIDDEN  it may not be run
 *   VD_ERR_LIMIT      the system has no room for one more process or for its descriptors just now
 *   VD_ERR_MEMORY     the system has no memory for it just now
 *   VD_ERR_CLOSED     the loop stops
 *   VD_ERR_IO         any other reason
 */
int vd_process_start(struct vd_process *p, struct vd_loop *loop,
                     const struct vd_process_options *options, const struct vd_process_ops *ops,
                     struct vd_error *error) VD_MUST_USE;

/* From `start` until `exited` has been called. */
static inline bool vd_process_is_running(const struct vd_process *p)
{
    return p->child != NULL;
}

/* The following may be called at any time after vd_process_start() has succeeded, also in `exited`,
 * where they do nothing. */

/* Writes to its stdin; the bytes are copied. They are dropped if it has closed its stdin. */
void vd_process_write(struct vd_process *p, struct vd_slice bytes);

/* Bytes that were written and that it has not taken yet; 0 when it has ended. */
size_t vd_process_backlog(const struct vd_process *p);

/* Whether whoever feeds it should wait for `drained`. */
static inline bool vd_process_is_full(const struct vd_process *p)
{
    return vd_process_backlog(p) >= VD_PROCESS_BACKLOG_MAX;
}

/* Its stdin ends behind what was written. */
void vd_process_close_input(struct vd_process *p);

/* Writes to the channel; the bytes are copied. */
void vd_process_send_channel(struct vd_process *p, struct vd_slice bytes);

/* Bytes that were sent there and not taken yet. */
size_t vd_process_channel_backlog(const struct vd_process *p);

/* Stops reading its stdout, and goes on. Calls do not add up. */
void vd_process_pause(struct vd_process *p);
void vd_process_resume(struct vd_process *p);

/* SIGKILL for the whole group. From now on only `exited` is called, as soon as the program has
 * ended: nobody waits for what it has still to say. */
void vd_process_kill(struct vd_process *p);

/* The same for a program that cleans up when its input ends: its stdin and the channel are closed,
 * and if it has not ended VD_PROCESS_LINGER_MS later, the whole group gets SIGKILL. Only `exited`
 * is still called. */
void vd_process_end(struct vd_process *p);

/* SIGTERM for the whole group: it may end in order. */
void vd_process_terminate(struct vd_process *p);

/* ---- for the loop ---- */

/* Ends all processes of a loop that stops; see above. */
void vd_process_stop_all(struct vd_loop *loop);

#endif
