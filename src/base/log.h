/*
 * The program's log: events with typed fields, one line each.
 *
 *     vd_log_info("store opened", VD_F_STR("data", dir), VD_F_U64("revision", r));
 *     vd_log_warn("login refused", VD_F_STR("user", user), VD_F_SECRET("token", token));
 *
 * Logging never waits for the place that lines are written to: they go to a
 * bounded queue (VD_LOG_QUEUE_MAX) that one thread drains. When it is full,
 * lines are dropped, and the next line written says how many: dropped=N.
 * Before start and after stop, lines are written at once, to stderr. Every
 * function may be called from any thread; start and stop come from one.
 *
 * The message is a constant phrase; what varies belongs into fields. Arguments
 * are not evaluated when the level is off.
 */
#ifndef VD_BASE_LOG_H
#define VD_BASE_LOG_H

#include <stdatomic.h>

#include "base/clock.h"
#include "base/log_line.h"

struct vd_log_options {
    enum vd_log_level level; /* events below it are not logged */
    enum vd_log_format format;
    /* Writes one line, newline included; called by one thread at a time, may
     * block, and must not log. NULL writes to stderr. `arg` is used until stop
     * returns. */
    void (*write)(void *arg, const char *line, size_t n);
    void *arg;
    const struct vd_clock *clock; /* NULL is the system's */
};

/* Starts the queue and its thread. Must not run already. */
void vd_log_start(const struct vd_log_options *options);

/* Writes what is queued, and ends the thread. Level and format stay. */
void vd_log_stop(void);

/* For the macros below. */
extern _Atomic int vd_log_level_now;
void vd_log_event(enum vd_log_level level, const char *message, const struct vd_log_field *fields);

static inline bool vd_log_enabled(enum vd_log_level level)
{
    return (int)level >= atomic_load_explicit(&vd_log_level_now, memory_order_relaxed);
}

#define VD_LOG(level, message, ...)                                                                \
    (vd_log_enabled(level)                                                                         \
         ? vd_log_event((level), (message), (const struct vd_log_field[]){__VA_ARGS__})            \
         : (void)0)

/* vd_log_info(message, fields...) */
#define vd_log_debug(...) VD_LOG(VD_LOG_DEBUG, __VA_ARGS__, VD_F_END)
#define vd_log_info(...)  VD_LOG(VD_LOG_INFO, __VA_ARGS__, VD_F_END)
#define vd_log_warn(...)  VD_LOG(VD_LOG_WARN, __VA_ARGS__, VD_F_END)
#define vd_log_error(...) VD_LOG(VD_LOG_ERROR, __VA_ARGS__, VD_F_END)

#define VD_F_END ((struct vd_log_field){0})

/* A C string; NULL logs as an empty one. */
#define VD_F_STR(name, value) VD_F_SLICE((name), vd_slice_of(value))
#define VD_F_SLICE(name, value)                                                                    \
    ((struct vd_log_field){(name), VD_LOG_FIELD_TEXT, {.text = (value)}})
#define VD_F_U64(name, value)  ((struct vd_log_field){(name), VD_LOG_FIELD_U64, {.u64 = (value)}})
#define VD_F_I64(name, value)  ((struct vd_log_field){(name), VD_LOG_FIELD_I64, {.i64 = (value)}})
#define VD_F_BOOL(name, value) ((struct vd_log_field){(name), VD_LOG_FIELD_BOOL, {.yes = (value)}})
/* The sentence of a struct vd_error *, under the name "error". */
#define VD_F_ERROR(value) VD_F_STR("error", (value)->text)
/* Shows that there was a value, never the value: always "[redacted]". */
#define VD_F_SECRET(name, value)                                                                   \
    ((void)(value), (struct vd_log_field){(name), VD_LOG_FIELD_SECRET, {.u64 = 0}})

#endif
