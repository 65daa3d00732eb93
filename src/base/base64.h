/*
 * Base64 (RFC 4648), both alphabets, strict.
 *
 * Decoding refuses what has a second spelling: blanks, missing or surplus
 * padding, and bits behind the last byte that are not 0. So a text has exactly
 * one meaning, and bytes have exactly one text.
 */
#ifndef VD_BASE_BASE64_H
#define VD_BASE_BASE64_H

#include <stddef.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/slice.h"

enum vd_base64 {
    VD_BASE64_STANDARD, /* + and /, padded with = */
    VD_BASE64_URL,      /* - and _, without padding: JWTs, tokens, cursors */
};

void vd_base64_encode(struct vd_buf *out, struct vd_slice bytes, enum vd_base64 kind);

/* Adds the bytes to `out`. 0, or -1 when the text is not that kind of base64;
 * `out` is then as it was. */
int vd_base64_decode(struct vd_buf *out, struct vd_slice text, enum vd_base64 kind) VD_MUST_USE;

#endif
