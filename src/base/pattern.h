/*
 * Regular expressions: RE2, whose syntax is that of Go and whose
 * matching takes linear time whatever the pattern is.
 *
 * This is the only C++ of the program, behind six C functions.
 */
#ifndef VD_BASE_PATTERN_H
#define VD_BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct vd_pattern;

/* Compiles `n` bytes of UTF-8. NULL when they are no pattern or one that is too
 * large; the reason, cut to fit, is then in `why`, a buffer of `why_len` bytes. */
struct vd_pattern *vd_pattern_new(const char *text, size_t n, char *why, size_t why_len);

/* The instructions of its program: what matching costs for each byte, at worst. */
size_t vd_pattern_size(const struct vd_pattern *pattern);

/* NULL is harmless. */
void vd_pattern_free(struct vd_pattern *pattern);

/* Does the pattern match anywhere in the text? Thread-safe. */
bool vd_pattern_matches(const struct vd_pattern *pattern, const char *text, size_t n);

/* The first match at or behind byte `from` <= n: true with its place and length.
 * What stands before `from` still counts for ^ and \b. Thread-safe. */
bool vd_pattern_find(const struct vd_pattern *pattern, const char *text, size_t n, size_t from,
                     size_t *at, size_t *len);

#ifdef __cplusplus
}
#endif

#endif
