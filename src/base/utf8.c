/* See utf8.h. */
#include "base/utf8.h"

static bool is_tail(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* By the table of well-formed byte sequences in the Unicode standard (3-7):
 * only the second byte has a range that depends on the first. */
size_t vd_utf8_len(const char *at, const char *end)
{
    const unsigned char *u = (const unsigned char *)at;
    size_t room = (size_t)(end - at);
    if (u[0] < 0x80)
        return 1;
    if (u[0] < 0xc2 || u[0] > 0xf4 || room < 2)
        return 0;
    if (u[0] < 0xe0)
        return is_tail(u[1]) ? 2 : 0;
    if (u[0] < 0xf0) {
        unsigned char low = u[0] == 0xe0 ? 0xa0 : 0x80, high = u[0] == 0xed ? 0x9f : 0xbf;
        return room >= 3 && u[1] >= low && u[1] <= high && is_tail(u[2]) ? 3 : 0;
    }
    unsigned char low = u[0] == 0xf0 ? 0x90 : 0x80, high = u[0] == 0xf4 ? 0x8f : 0xbf;
    return room >= 4 && u[1] >= low && u[1] <= high && is_tail(u[2]) && is_tail(u[3]) ? 4 : 0;
}

size_t vd_utf8_read(struct vd_slice text, uint32_t *rune)
{
    static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const unsigned char *u = (const unsigned char *)text.p;
    size_t n = vd_utf8_len(text.p, text.p + text.n);
    if (n == 0)
        return 0;
    uint32_t value = u[0] & first_bits[n];
    for (size_t i = 1; i < n; i++)
        value = value << 6 | (u[i] & 0x3fu);
    *rune = value;
    return n;
}

bool vd_utf8_is_valid(struct vd_slice text)
{
    const char *at = text.p, *end = text.p + text.n;
    while (at < end) {
        uint64_t word;
        if (end - at >= 8 && (memcpy(&word, at, 8), (word & 0x8080808080808080u) == 0)) {
            at += 8;
            continue;
        }
        size_t n = vd_utf8_len(at, end);
        if (n == 0)
            return false;
        at += n;
    }
    return true;
}

size_t vd_utf8_put(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

struct vd_slice vd_utf8_cut(struct vd_slice text, size_t n_max)
{
    if (text.n <= n_max)
        return text;
    while (n_max > 0 && is_tail((unsigned char)text.p[n_max]))
        n_max--;
    return vd_slice(text.p, n_max);
}
