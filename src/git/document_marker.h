/*
 * The lines that part YAML documents: `---` and `...` at the beginning of a line, with nothing or a
 * blank behind them. YAML's scanner looks for them before anything else, so they mean this also
 * inside quotes, where they are a mistake, and in block scalars, whose lines are indented.
 */
#ifndef VD_GIT_DOCUMENT_MARKER_H
#define VD_GIT_DOCUMENT_MARKER_H

#include <stdbool.h>

#include "base/slice.h"

/* Whether a line without its line feed is such a line; `marker` is "---" or "...". */
static inline bool vd_document_marker_is(struct vd_slice line, struct vd_slice marker)
{
    return vd_slice_starts_with(line, marker) &&
           (line.n == 3 || line.p[3] == ' ' || line.p[3] == '\t' || line.p[3] == '\r');
}

static inline bool vd_document_starts(struct vd_slice line)
{
    return vd_document_marker_is(line, VD_SLICE("---"));
}

static inline bool vd_document_ends(struct vd_slice line)
{
    return vd_document_marker_is(line, VD_SLICE("..."));
}

/* Cuts the first line off the rest, without its line feed; false when there is none. */
static inline bool vd_document_cut_line(struct vd_slice *rest, struct vd_slice *line)
{
    if (!rest->n)
        return false;
    const char *end = memchr(rest->p, '\n', rest->n);
    size_t n = end ? (size_t)(end - rest->p) : rest->n;
    *line = vd_slice(rest->p, n);
    *rest = vd_slice_from(*rest, end ? n + 1 : n);
    return true;
}

#endif
