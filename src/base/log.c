/*
 * The queue between those who log and the thread that writes.
 *
 * The caller formats its line on its own stack, then holds the lock only to
 * put a pointer into a ring. The writing thread takes all that is queued,
 * lets the lock go, and writes; so a slow terminal or disk holds up nobody.
 *
 * Lines that found the ring full are counted; the next line that finds room
 * carries the count, so it shows just where the gap is. If there is no next
 * line, stop writes one.
 */
#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

_Atomic int vd_log_level_now = VD_LOG_INFO;

struct queued_line {
    enum vd_log_format format;
    uint64_t dropped; /* lines lost just before this one */
    size_t n;         /* without the end, which is added when it is written */
    char p[];
};

static void write_stderr(void *arg, const char *line, size_t n);

/* `lock` guards everything in here, and nothing else is locked inside it.
 * While `running`, only the thread writes; otherwise the holder of the lock. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* the ring is no longer empty, or `stopping` */
    pthread_t thread;
    bool running;
    bool stopping;
    void (*write)(void *arg, const char *line, size_t n);
    void *arg;
    _Atomic int format; /* this and the clock are read without the lock too, by formatters */
    _Atomic(const struct vd_clock *) clock; /* NULL is the system's */
    struct queued_line *ring[VD_LOG_QUEUE_MAX];
    size_t first;
    size_t count;
    uint64_t dropped; /* since the last line that was queued */
} queue = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
    .write = write_stderr,
};

static void write_stderr(void *arg, const char *line, size_t n)
{
    (void)arg;
    while (n) {
        ssize_t written = write(STDERR_FILENO, line, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return; /* there is nowhere left to complain */
        line += written;
        n -= (size_t)written;
    }
}

static struct queued_line *line_new(enum vd_log_level level, const char *message,
                                    const struct vd_log_field *fields)
{
    enum vd_log_format format = (enum vd_log_format)atomic_load(&queue.format);
    const struct vd_clock *clock = atomic_load(&queue.clock);
    struct vd_log_line text;
    vd_log_line_format(&text, format, vd_clock_wall_ms(clock ? clock : vd_clock_system()), level,
                       message, fields);
    struct queued_line *line = vd_malloc(sizeof *line + text.n);
    line->format = format;
    line->dropped = 0;
    line->n = text.n;
    memcpy(line->p, text.p, text.n);
    return line;
}

static void line_write(const struct queued_line *line)
{
    char whole[VD_LOG_LINE_MAX];
    assert(line->n + VD_LOG_LINE_END_MAX <= sizeof whole);
    memcpy(whole, line->p, line->n);
    size_t end_n = vd_log_line_end(whole + line->n, line->format, line->dropped);
    queue.write(queue.arg, whole, line->n + end_n);
}

/* Takes at most `max` lines out of the ring; the lock is held. */
static size_t take_lines(struct queued_line **lines, size_t max)
{
    size_t n = queue.count < max ? queue.count : max;
    for (size_t i = 0; i < n; i++)
        lines[i] = queue.ring[(queue.first + i) % VD_LOG_QUEUE_MAX];
    queue.first = (queue.first + n) % VD_LOG_QUEUE_MAX;
    queue.count -= n;
    return n;
}

static void *drain(void *unused)
{
    (void)unused;
    struct queued_line *lines[64];
    pthread_mutex_lock(&queue.lock);
    for (;;) {
        while (!queue.count && !queue.stopping)
            pthread_cond_wait(&queue.changed, &queue.lock);
        size_t n = take_lines(lines, sizeof lines / sizeof *lines);
        if (!n)
            break; /* stopping, and all is written */
        pthread_mutex_unlock(&queue.lock);
        for (size_t i = 0; i < n; i++) {
            line_write(lines[i]);
            free(lines[i]);
        }
        pthread_mutex_lock(&queue.lock);
    }
    queue.running = false;
    pthread_mutex_unlock(&queue.lock);
    return NULL;
}

/* The thread takes no signals: they belong to the program's own threads. */
static void thread_start(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&queue.thread, NULL, drain, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    queue.running = !failed; /* without a thread, lines are written at once */
}

void vd_log_start(const struct vd_log_options *options)
{
    pthread_mutex_lock(&queue.lock);
    assert(!queue.running);
    queue.write = options->write ? options->write : write_stderr;
    queue.arg = options->arg;
    queue.stopping = false;
    atomic_store(&queue.clock, options->clock);
    atomic_store(&queue.format, (int)options->format);
    atomic_store(&vd_log_level_now, (int)options->level);
    thread_start();
    pthread_mutex_unlock(&queue.lock);
}

void vd_log_stop(void)
{
    pthread_mutex_lock(&queue.lock);
    bool was_running = queue.running;
    queue.stopping = true;
    pthread_cond_signal(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
    if (was_running)
        pthread_join(queue.thread, NULL);
    pthread_mutex_lock(&queue.lock);
    if (queue.dropped) {
        struct queued_line *line = line_new(VD_LOG_WARN, "log lines were dropped", &VD_F_END);
        line->dropped = queue.dropped;
        queue.dropped = 0;
        line_write(line);
        free(line);
    }
    queue.write = write_stderr;
    queue.arg = NULL;
    atomic_store(&queue.clock, NULL);
    pthread_mutex_unlock(&queue.lock);
}

/* Queues the line if there is room; the lock is held. */
static void enqueue(struct queued_line **line)
{
    if (queue.count == VD_LOG_QUEUE_MAX) {
        queue.dropped++;
        return;
    }
    (*line)->dropped = queue.dropped;
    queue.dropped = 0;
    queue.ring[(queue.first + queue.count++) % VD_LOG_QUEUE_MAX] = *line;
    *line = NULL;
    if (queue.count == 1)
        pthread_cond_signal(&queue.changed);
}

void vd_log_event(enum vd_log_level level, const char *message, const struct vd_log_field *fields)
{
    struct queued_line *line = line_new(level, message, fields);
    pthread_mutex_lock(&queue.lock);
    if (queue.running)
        enqueue(&line);
    else
        line_write(line);
    pthread_mutex_unlock(&queue.lock);
    free(line); /* NULL once it is queued */
}
