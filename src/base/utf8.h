/*
 * Strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above
 * U+10FFFF. All functions are pure.
 */
#ifndef VD_BASE_UTF8_H
#define VD_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

bool vd_utf8_is_valid(struct vd_slice text);

/* The number of bytes (1 to 4) of the character at `at` < `end`, or 0 if the
 * bytes there are no character. */
size_t vd_utf8_len(const char *at, const char *end);

/*
 * Reads the character at the front of a slice that is not empty: its length
 * in bytes, 1 to 4, with its number in *rune; or 0 when the bytes there are no
 * character, and *rune is then unchanged. To go on after a 0, skip one byte.
 */
size_t vd_utf8_read(struct vd_slice text, uint32_t *rune);

/* Writes the character `code` (at most U+10FFFF, no surrogate); gives the
 * number of bytes. */
size_t vd_utf8_put(uint32_t code, char out[4]);

/* The longest start of `text` that has at most `n_max` bytes and does not cut a
 * character in two. */
struct vd_slice vd_utf8_cut(struct vd_slice text, size_t n_max);

#endif
