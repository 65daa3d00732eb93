/*
 * What an error sentence shows of a text that a caller sent: enough to find the place, short enough
 * that the reason still fits after it, and always UTF-8.
 */
#ifndef VD_WATCH_EXCERPT_H
#define VD_WATCH_EXCERPT_H

#include <stddef.h>

#include "base/buf.h"
#include "base/slice.h"

/* Adds at most `len_max` bytes of `s`, and "..." when there were more. Bytes
 * that are not UTF-8, and NULs, become U+FFFD. */
void vd_excerpt_add(struct vd_buf *b, struct vd_slice s, size_t len_max);

/* The same inside double quotes, with escapes as Go's %q writes them. */
void vd_excerpt_add_quoted(struct vd_buf *b, struct vd_slice s, size_t len_max);

#endif
