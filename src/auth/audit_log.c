/*
 * See audit_log.h.
 *
 * Whoever adds lines fills one buffer while the log's thread writes another; the two are swapped.
 * When lines come fast, the thread lets some gather first, as waking it for each costs more than
 * the line. A log that is no plain file (a pipe, a terminal) is written only when poll() says that
 * there is room, so that the thread never blocks in a write and can always be told to stop.
 */
#include "auth/audit_log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/errno_advice.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"

enum {
    POLL_MS = 200,        /* milliseconds between two looks at a log that takes no bytes */
    TELL_MS = 5000,       /* milliseconds between two log lines about the same failure */
    KEPT_MAX = 1 << 20,   /* bytes of a buffer that is kept for reuse */
    GATHER_MS = 10,       /* milliseconds that events are gathered for one write */
    GATHER_LEN = 1 << 18, /* bytes of events that are written at once */
};

static struct vd_metric_family events = VD_COUNTER_FAMILY("vedette_audit_events_total",
                                                          "Audit events written.");
static struct vd_metric_family dropped = VD_COUNTER_FAMILY(
    "vedette_audit_dropped_total", "Audit events dropped because the log could not follow.");
static struct vd_metric_family errors = VD_COUNTER_FAMILY(
    "vedette_audit_errors_total", "Audit events lost because they could not be written.");

struct vd_audit_log {
    char *path;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows, up to `writing` */
    pthread_cond_t filled, emptied;
    enum vd_audit_mode mode;
    struct vd_buf queue;
    int fresh_fd; /* the file that was opened again, used from the next buffer on; -1: none */
    uint64_t dropped_here; /* lines that were dropped since the last log line about that */
    bool stopping;
    /* Used by the log's thread only: */
    struct vd_buf writing;
    int fd;
    bool plain;          /* a plain file, to which writes do not block */
    bool torn;           /* the last line is incomplete */
    int64_t told_ms;     /* when a failure was last logged */
    int64_t deadline_ms; /* a stopping log waits for room until then; 0: not set yet */
};

/* ---- files ---- */

static int open_file(const char *path, int *fd, struct vd_error *error)
{
    struct stat found;
    if (strcmp(path, "-") == 0) {
        *fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    } else {
        /* A pipe that nobody reads yet can be opened for reading and writing, but not for writing
         * alone. */
        bool is_pipe = stat(path, &found) == 0 && S_ISFIFO(found.st_mode);
        *fd = open(path, (is_pipe ? O_RDWR : O_WRONLY) | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY,
                   0600);
    }
    if (*fd < 0)
        return vd_error_set(error, VD_ERR_IO, "could not open the audit log %s: %s%s", path,
                            strerror(errno), vd_errno_advice(errno));
    return VD_OK;
}

static void use_file(struct vd_audit_log *log, int fd)
{
    struct stat found;
    if (log->fd >= 0)
        close(log->fd);
    log->fd = fd;
    log->torn = false;
    log->plain = fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
}

/* ---- writing ---- */

static size_t count_lines(const char *p, size_t n)
{
    size_t lines = 0;
    for (const char *at; n && (at = memchr(p, '\n', n)); lines++) {
        n -= (size_t)(at + 1 - p);
        p = at + 1;
    }
    return lines;
}

/* True at most every TELL_MS: not each of a million failures is logged. */
static bool is_time_to_tell(struct vd_audit_log *log)
{
    int64_t now_ms = vd_clock_wall_ms(vd_clock_system());
    if (now_ms - log->told_ms < TELL_MS && now_ms >= log->told_ms)
        return false;
    log->told_ms = now_ms;
    return true;
}

static void tell_dropped(struct vd_audit_log *log)
{
    pthread_mutex_lock(&log->lock);
    uint64_t n = log->dropped_here;
    bool tell = n && (log->stopping || is_time_to_tell(log));
    if (tell)
        log->dropped_here = 0;
    pthread_mutex_unlock(&log->lock);
    if (tell)
        vd_log_error("audit events were dropped: the log could not follow",
                     VD_F_STR("file", log->path), VD_F_U64("dropped", n));
}

/* Waits until some bytes can be written. False: the log is stopping, and its time is over. */
static bool await_room(struct vd_audit_log *log)
{
    while (!log->plain) {
        struct pollfd poll_fd = {.fd = log->fd, .events = POLLOUT};
        if (poll(&poll_fd, 1, POLL_MS) > 0)
            return true;
        tell_dropped(log);
        pthread_mutex_lock(&log->lock);
        bool stopping = log->stopping;
        pthread_mutex_unlock(&log->lock);
        int64_t now_ms = vd_clock_wall_ms(vd_clock_system());
        if (stopping && !log->deadline_ms)
            log->deadline_ms = now_ms + VD_AUDIT_CLOSE_MS;
        if (stopping && now_ms >= log->deadline_ms)
            return false;
    }
    return true;
}

/* How many of the bytes were written; errno says why not all. */
static size_t write_bytes(struct vd_audit_log *log, const char *p, size_t n)
{
    size_t done = 0;
    while (done < n) {
        errno = ETIMEDOUT;
        if (!await_room(log))
            break;
        size_t piece = n - done;
        if (!log->plain && piece > PIPE_BUF)
            piece = PIPE_BUF;
        ssize_t got = write(log->fd, p + done, piece);
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            break;
        done += got > 0 ? (size_t)got : 0;
    }
    return done;
}

static void write_out(struct vd_audit_log *log)
{
    const char *p = log->writing.p;
    size_t n = log->writing.n, done = 0;
    bool whole = !log->torn || write_bytes(log, "\n", 1) == 1; /* ends the torn line */
    if (whole)
        done = write_bytes(log, p, n);
    int why = errno;
    if (whole)
        log->torn = done && p[done - 1] != '\n';
    size_t written = count_lines(p, done);
    vd_counter_add(vd_metric_only(&events), written);
    if (done < n) {
        size_t lost = count_lines(p, n) - written;
        vd_counter_add(vd_metric_only(&errors), lost);
        if (is_time_to_tell(log))
            vd_log_error("audit events could not be written", VD_F_STR("file", log->path),
                         VD_F_U64("lost", lost), VD_F_STR("error", strerror(why)));
    }
}

/* Waits until there is something to do, and then up to GATHER_MS for more lines. The lock is
 * held. */
static void await_lines(struct vd_audit_log *log)
{
    struct timespec until;
    while (!log->queue.n && !log->stopping && log->fresh_fd < 0)
        pthread_cond_wait(&log->filled, &log->lock);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += GATHER_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (log->queue.n < GATHER_LEN && !log->stopping && log->fresh_fd < 0)
        if (pthread_cond_timedwait(&log->filled, &log->lock, &until))
            break;
}

static void *write_all(void *arg)
{
    struct vd_audit_log *log = arg;
    for (;;) {
        pthread_mutex_lock(&log->lock);
        await_lines(log);
        struct vd_buf swap = log->queue;
        log->queue = log->writing;
        log->writing = swap;
        int fresh_fd = log->fresh_fd;
        log->fresh_fd = -1;
        bool stopping = log->stopping;
        pthread_cond_broadcast(&log->emptied);
        pthread_mutex_unlock(&log->lock);
        if (fresh_fd >= 0)
            use_file(log, fresh_fd);
        if (log->writing.n)
            write_out(log);
        else if (stopping)
            break;
        vd_buf_reset(&log->writing);
        if (log->writing.cap > KEPT_MAX)
            vd_buf_release(&log->writing);
        tell_dropped(log);
    }
    tell_dropped(log);
    return NULL;
}

/* ---- life cycle ---- */

int vd_audit_log_open(struct vd_audit_log **out, const char *path, enum vd_audit_mode mode,
                      struct vd_error *error)
{
    int fd;
    sigset_t all, before;
    pthread_condattr_t attributes;
    int code = open_file(path, &fd, error);
    if (code)
        return code;
    struct vd_audit_log *log = VD_NEW(struct vd_audit_log);
    log->path = vd_strdup(path);
    log->mode = mode;
    log->fresh_fd = log->fd = -1;
    use_file(log, fd);
    pthread_mutex_init(&log->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&log->filled, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_cond_init(&log->emptied, NULL);
    vd_metric_register(&events);
    vd_metric_register(&dropped);
    vd_metric_register(&errors);
    sigfillset(&all); /* SIGPIPE too: a reader that has left is an error of write() */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int rc = pthread_create(&log->thread, NULL, write_all, log);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc) {
        close(log->fd);
        free(log->path);
        free(log);
        return vd_error_set(error, VD_ERR_IO, "could not start a thread: %s", strerror(rc));
    }
    *out = log;
    return VD_OK;
}

int vd_audit_log_reopen(struct vd_audit_log *log, struct vd_error *error)
{
    int fd;
    int code = open_file(log->path, &fd, error);
    if (code)
        return code;
    pthread_mutex_lock(&log->lock);
    int unused = log->fresh_fd;
    log->fresh_fd = fd;
    pthread_cond_signal(&log->filled);
    pthread_mutex_unlock(&log->lock);
    if (unused >= 0)
        close(unused);
    return VD_OK;
}

void vd_audit_log_add(struct vd_audit_log *log, struct vd_slice line)
{
    pthread_mutex_lock(&log->lock);
    while (log->mode == VD_AUDIT_BLOCKING && !log->stopping && log->queue.n &&
           log->queue.n + line.n > VD_AUDIT_QUEUE_LEN_MAX)
        pthread_cond_wait(&log->emptied, &log->lock);
    bool fits = !log->queue.n || log->queue.n + line.n <= VD_AUDIT_QUEUE_LEN_MAX;
    bool wake = !log->queue.n || (log->queue.n < GATHER_LEN && log->queue.n + line.n >= GATHER_LEN);
    if (fits)
        vd_buf_add_slice(&log->queue, line);
    else
        log->dropped_here++;
    if (fits && wake)
        pthread_cond_signal(&log->filled);
    pthread_mutex_unlock(&log->lock);
    if (!fits)
        vd_counter_add(vd_metric_only(&dropped), 1);
}

void vd_audit_log_stop_blocking(struct vd_audit_log *log)
{
    if (!log)
        return;
    pthread_mutex_lock(&log->lock);
    log->mode = VD_AUDIT_BATCH;
    pthread_cond_broadcast(&log->emptied);
    pthread_mutex_unlock(&log->lock);
}

void vd_audit_log_close(struct vd_audit_log *log)
{
    if (!log)
        return;
    pthread_mutex_lock(&log->lock);
    log->stopping = true;
    pthread_cond_signal(&log->filled);
    pthread_cond_broadcast(&log->emptied);
    pthread_mutex_unlock(&log->lock);
    pthread_join(log->thread, NULL);
    if (log->fresh_fd >= 0)
        close(log->fresh_fd);
    close(log->fd);
    vd_buf_release(&log->queue);
    vd_buf_release(&log->writing);
    pthread_cond_destroy(&log->filled);
    pthread_cond_destroy(&log->emptied);
    pthread_mutex_destroy(&log->lock);
    free(log->path);
    free(log);
}
