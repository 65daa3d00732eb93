/* See slice.h. */
#include "base/slice.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct vd_slice vd_slice_trim(struct vd_slice a)
{
    while (a.n && is_blank(a.p[0]))
        a = vd_slice_from(a, 1);
    while (a.n && is_blank(a.p[a.n - 1]))
        a.n--;
    return a;
}

bool vd_slice_cut(struct vd_slice *rest, char separator, struct vd_slice *part)
{
    if (!rest->p)
        return false;
    const char *at = rest->n ? memchr(rest->p, separator, rest->n) : NULL;
    if (!at) {
        *part = *rest;
        *rest = vd_slice(NULL, 0);
        return true;
    }
    size_t n = (size_t)(at - rest->p);
    *part = vd_slice(rest->p, n);
    *rest = vd_slice(at + 1, rest->n - n - 1);
    return true;
}

int vd_slice_to_u64(struct vd_slice text, uint64_t *out)
{
    if (text.n == 0 || text.n > 20 || (text.p[0] == '0' && text.n > 1))
        return -1;
    uint64_t value = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return -1;
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text.p[i] - '0'), &value))
            return -1;
    }
    *out = value;
    return 0;
}

size_t vd_u64_digits(uint64_t value, char out[20])
{
    char reversed[20];
    size_t n = 0;
    do {
        reversed[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    for (size_t i = 0; i < n; i++)
        out[i] = reversed[n - 1 - i];
    return n;
}
