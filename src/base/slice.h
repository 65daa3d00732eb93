/*
 * A slice: some bytes that somebody else owns.
 *
 * Invariant: `p` points to `n` readable bytes; it need not be terminated and
 * may hold NULs. A slice with n == 0 is empty whatever p is. Slices are passed
 * by value and borrowed: the callee may use one until it returns, unless its
 * header says otherwise.
 */
#ifndef VD_BASE_SLICE_H
#define VD_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attributes.h"

struct vd_slice {
    const char *p;
    size_t n;
};

/* A slice over a string literal, usable in static tables. */
#define VD_SLICE(literal) ((struct vd_slice){("" literal), sizeof(literal) - 1})

/* For printf: `"%.*s", VD_FMT(slice)`. */
#define VD_FMT(slice) (int)(slice).n, (slice).p

static inline struct vd_slice vd_slice(const void *p, size_t n)
{
    return (struct vd_slice){(const char *)p, n};
}

static inline struct vd_slice vd_slice_of(const char *text)
{
    return (struct vd_slice){text, text ? strlen(text) : 0};
}

static inline bool vd_slice_eq(struct vd_slice a, struct vd_slice b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool vd_slice_is(struct vd_slice a, const char *text)
{
    return vd_slice_eq(a, vd_slice_of(text));
}

/* Byte order, shorter first among equals: <0, 0, >0. */
static inline int vd_slice_cmp(struct vd_slice a, struct vd_slice b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    return c ? c : (a.n > b.n) - (a.n < b.n);
}

static inline bool vd_slice_starts_with(struct vd_slice a, struct vd_slice prefix)
{
    return a.n >= prefix.n && (prefix.n == 0 || memcmp(a.p, prefix.p, prefix.n) == 0);
}

static inline bool vd_slice_ends_with(struct vd_slice a, struct vd_slice suffix)
{
    return a.n >= suffix.n &&
           (suffix.n == 0 || memcmp(a.p + a.n - suffix.n, suffix.p, suffix.n) == 0);
}

/* The part from byte `from` on; empty when `from` is past the end. */
static inline struct vd_slice vd_slice_from(struct vd_slice a, size_t from)
{
    return from >= a.n ? vd_slice("", 0) : vd_slice(a.p + from, a.n - from);
}

/* Without leading and trailing spaces, tabs, CRs and newlines. */
struct vd_slice vd_slice_trim(struct vd_slice a);

/*
 * Cuts the text before the first `separator` off the front of *rest and gives
 * it in *part. The last part is what remains. False when nothing remains.
 * An empty input has one empty part; start with rest->p non-NULL.
 */
bool vd_slice_cut(struct vd_slice *rest, char separator, struct vd_slice *part);

/*
 * A decimal number without sign, spaces or leading zeros ("0" itself is fine).
 * 0, or -1 when the text is anything else or does not fit.
 */
int vd_slice_to_u64(struct vd_slice text, uint64_t *out) VD_MUST_USE;

/* Decimal digits of `value` into `out` (room for 20); gives their number. */
size_t vd_u64_digits(uint64_t value, char out[20]);

#endif
