/* See utf8.h. */
#include "base/utf8.h"

/* What a first byte says: its own bits, and how many bytes follow. The least
 * number of each length rules overlong forms out. */
static size_t first_byte(unsigned char c, uint32_t *rune, uint32_t *least)
{
    if (c >= 0xc2 && c < 0xe0) {
        *rune = c & 0x1fu;
        *least = 0x80;
        return 2;
    }
    if (c >= 0xe0 && c < 0xf0) {
        *rune = c & 0x0fu;
        *least = 0x800;
        return 3;
    }
    if (c >= 0xf0 && c < 0xf5) {
        *rune = c & 0x07u;
        *least = 0x10000;
        return 4;
    }
    return 0;
}

size_t vd_utf8_read(struct vd_slice text, uint32_t *rune)
{
    const unsigned char *p = (const unsigned char *)text.p;
    if (p[0] < 0x80) {
        *rune = p[0];
        return 1;
    }
    uint32_t value = 0, least = 0;
    size_t n = first_byte(p[0], &value, &least);
    if (n == 0 || n > text.n)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (p[i] & 0x3fu);
    }
    if (value < least || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return 0;
    *rune = value;
    return n;
}
