/*
 * UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond
 * U+10FFFF.
 */
#ifndef VD_BASE_UTF8_H
#define VD_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

/*
 * Reads the character at the front of a slice that is not empty: its length
 * in bytes, 1 to 4, with its number in *rune; or 0 when the bytes there are no
 * character, and *rune is then unchanged. To go on after a 0, skip one byte.
 */
size_t vd_utf8_read(struct vd_slice text, uint32_t *rune);

#endif
