/*
 * The inside of JSON strings: escapes in, escapes out.
 *
 * `raw` is what stands between the quotes. As in Go, and therefore in
 * Kubernetes, a \u escape of half a surrogate pair is read as U+FFFD.
 */
#ifndef VD_JSON_ESCAPE_H
#define VD_JSON_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/slice.h"

/* The bytes (2 or 6) of the escape at `at`, which points to its backslash; 0
 * if it is none. */
size_t vd_escape_len(const char *at, const char *end);

/* Decodes `raw`, whose escapes vd_escape_len accepts, into `out`, which has
 * room for raw.n bytes; gives the number of bytes. */
size_t vd_escape_decode(struct vd_slice raw, char *out);

/* Adds `text` (valid UTF-8) with quotes around it: short escapes for " \ and
 * \b \f \n \r \t, \u00xx for other control characters, \u2028 and \u2029 for
 * the line ends of JavaScript; everything else as it is. */
void vd_escape_write(struct vd_buf *out, struct vd_slice text);

#endif
