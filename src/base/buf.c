/* See buf.h. Growth doubles, so adding a byte is amortised constant. */
#include "base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { BUF_CAP_MIN = 64 }; /* bytes that the first memory has room for */

void vd_buf_release(struct vd_buf *b)
{
    free(b->p);
    *b = (struct vd_buf){0};
}

void vd_buf_reserve(struct vd_buf *b, size_t extra)
{
    assert(extra < SIZE_MAX / 2 - b->n); /* so that doubling cannot wrap */
    size_t need = b->n + extra + 1;
    if (need <= b->cap)
        return;
    size_t cap = b->cap ? b->cap : BUF_CAP_MIN;
    while (cap < need)
        cap *= 2;
    b->p = vd_realloc(b->p, cap, 1);
    b->cap = cap;
}

void vd_buf_add(struct vd_buf *b, const void *p, size_t n)
{
    vd_buf_reserve(b, n);
    if (n)
        memcpy(b->p + b->n, p, n);
    b->n += n;
    b->p[b->n] = 0;
}

void vd_buf_add_slice(struct vd_buf *b, struct vd_slice s)
{
    vd_buf_add(b, s.p, s.n);
}

void vd_buf_add_text(struct vd_buf *b, const char *text)
{
    vd_buf_add(b, text, strlen(text));
}

void vd_buf_add_char(struct vd_buf *b, char c)
{
    vd_buf_add(b, &c, 1);
}

void vd_buf_add_u64(struct vd_buf *b, uint64_t value)
{
    char digits[20];
    vd_buf_add(b, digits, vd_u64_digits(value, digits));
}

void vd_buf_vaddf(struct vd_buf *b, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    vd_buf_reserve(b, BUF_CAP_MIN);
    int n = vsnprintf(b->p + b->n, b->cap - b->n, format, arguments);
    if (n > 0 && (size_t)n >= b->cap - b->n) {
        vd_buf_reserve(b, (size_t)n);
        n = vsnprintf(b->p + b->n, b->cap - b->n, format, again);
    }
    if (n > 0)
        b->n += (size_t)n;
    b->p[b->n] = 0;
    va_end(again);
}

void vd_buf_addf(struct vd_buf *b, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vd_buf_vaddf(b, format, arguments);
    va_end(arguments);
}

char *vd_buf_take(struct vd_buf *b, size_t *n)
{
    vd_buf_reserve(b, 0);
    b->p[b->n] = 0;
    char *p = b->p;
    if (n)
        *n = b->n;
    *b = (struct vd_buf){0};
    return p;
}
