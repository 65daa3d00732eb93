/*
 * One event of the log as one line of text. See log.h for how to log.
 *
 * Whatever the values hold - newlines, quotes, terminal codes, bytes that are
 * no UTF-8 - the result is one line of valid UTF-8, and valid logfmt or JSON.
 */
#ifndef VD_BASE_LOG_LINE_H
#define VD_BASE_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/slice.h"

enum vd_log_level { VD_LOG_DEBUG = -1, VD_LOG_INFO = 0, VD_LOG_WARN = 1, VD_LOG_ERROR = 2 };

enum vd_log_format {
    VD_LOG_LOGFMT, /* time=... level=info msg="store opened" revision=7 */
    VD_LOG_JSON,   /* {"time":"...","level":"info","msg":"store opened","revision":7} */
    VD_LOG_TEXT,   /* 15:04:05 store opened  revision=7; for people, in their local time */
    VD_LOG_COLOUR, /* the same for a terminal: problems stand out, details stand back */
};

enum vd_log_field_kind {
    VD_LOG_FIELD_END,
    VD_LOG_FIELD_TEXT,
    VD_LOG_FIELD_U64,
    VD_LOG_FIELD_I64,
    VD_LOG_FIELD_BOOL,
    VD_LOG_FIELD_SECRET,
};

/* A named value. Text is borrowed while the event is logged. The name is the
 * program's own: letters, digits, '_', '.', '-'. */
struct vd_log_field {
    const char *name;
    enum vd_log_field_kind kind;
    union {
        struct vd_slice text;
        uint64_t u64;
        int64_t i64;
        bool yes;
    };
};

struct vd_log_line {
    enum vd_log_format format;
    bool cut;
    size_t n;
    char p[VD_LOG_LINE_MAX];
};

/* Formats an event, up to but without its end; `fields` ends with
 * VD_LOG_FIELD_END. What does not fit is left out, and the line then says so
 * with a field cut=true. */
void vd_log_line_format(struct vd_log_line *line, enum vd_log_format format, int64_t wall_ms,
                        enum vd_log_level level, const char *message,
                        const struct vd_log_field *fields);

/* The longest end of a line, newline included. */
enum { VD_LOG_LINE_END_MAX = 64 };

/* The end of a line in `format`: a field with the number of lines that were
 * dropped before it, unless 0, and the newline. Returns its length. */
size_t vd_log_line_end(char out[VD_LOG_LINE_END_MAX], enum vd_log_format format, uint64_t dropped);

#endif
