/*
 * A growable run of bytes.
 *
 * Invariants: `p` is NULL until the first byte is added; afterwards p[n] is a
 * NUL that does not count, so that text in a buffer is also a C string.
 * `= {0}` is a valid empty buffer, and releasing it is harmless.
 */
#ifndef VD_BASE_BUF_H
#define VD_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/slice.h"

struct vd_buf {
    char *p;
    size_t n;
    size_t cap;
};

/* Frees the bytes and leaves an empty buffer. */
void vd_buf_release(struct vd_buf *b);

/* Forgets the bytes but keeps the memory for reuse. */
static inline void vd_buf_reset(struct vd_buf *b)
{
    b->n = 0;
    if (b->p)
        b->p[0] = 0;
}

/* Makes room for `extra` more bytes (and the NUL). */
void vd_buf_reserve(struct vd_buf *b, size_t extra);

void vd_buf_add(struct vd_buf *b, const void *p, size_t n);
void vd_buf_add_slice(struct vd_buf *b, struct vd_slice s);
void vd_buf_add_text(struct vd_buf *b, const char *text);
void vd_buf_add_char(struct vd_buf *b, char c);
void vd_buf_add_u64(struct vd_buf *b, uint64_t value);
void vd_buf_addf(struct vd_buf *b, const char *format, ...) VD_PRINTF(2, 3);
void vd_buf_vaddf(struct vd_buf *b, const char *format, va_list arguments) VD_PRINTF(2, 0);

/* The bytes, borrowed until the buffer changes. */
static inline struct vd_slice vd_buf_slice(const struct vd_buf *b)
{
    return vd_slice(b->p ? b->p : "", b->n);
}

/* The bytes as a C string, borrowed until the buffer changes; never NULL. */
static inline const char *vd_buf_text(const struct vd_buf *b)
{
    return b->p ? b->p : "";
}

/* Ownership of the bytes (NUL-terminated, to be freed) leaves the buffer. */
char *vd_buf_take(struct vd_buf *b, size_t *n) VD_MUST_USE;

#endif
