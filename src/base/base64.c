/* See base64.h. Four characters carry three bytes; a last group of two or
 * three characters carries one or two. */
#include "base/base64.h"

#include <stdint.h>

static const char alphabet_standard[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char alphabet_url[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void vd_base64_encode(struct vd_buf *out, struct vd_slice bytes, enum vd_base64 kind)
{
    const char *alphabet = kind == VD_BASE64_URL ? alphabet_url : alphabet_standard;
    const unsigned char *p = (const unsigned char *)bytes.p;
    vd_buf_reserve(out, bytes.n / 3 * 4 + 4);
    for (size_t at = 0; at < bytes.n; at += 3) {
        size_t n = bytes.n - at < 3 ? bytes.n - at : 3;
        uint32_t group = (uint32_t)p[at] << 16;
        if (n > 1)
            group |= (uint32_t)p[at + 1] << 8;
        if (n > 2)
            group |= p[at + 2];
        for (size_t i = 0; i <= n; i++)
            vd_buf_add_char(out, alphabet[group >> (18 - 6 * i) & 63]);
        for (size_t i = n; i < 3 && kind == VD_BASE64_STANDARD; i++)
            vd_buf_add_char(out, '=');
    }
}

/* The six bits of a character, or -1. */
static int bits_of(char c, enum vd_base64 kind)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == (kind == VD_BASE64_URL ? '-' : '+'))
        return 62;
    if (c == (kind == VD_BASE64_URL ? '_' : '/'))
        return 63;
    return -1;
}

/* Takes the padding off; false when it is not what the length asks for. */
static bool unpad(struct vd_slice *text)
{
    if (text->n % 4)
        return false;
    for (int i = 0; i < 2 && text->n && text->p[text->n - 1] == '='; i++)
        text->n--;
    return true;
}

int vd_base64_decode(struct vd_buf *out, struct vd_slice text, enum vd_base64 kind)
{
    size_t before = out->n;
    if (kind == VD_BASE64_STANDARD && !unpad(&text))
        return -1;
    if (text.n % 4 == 1)
        return -1;
    vd_buf_reserve(out, text.n / 4 * 3 + 3);
    for (size_t at = 0; at < text.n; at += 4) {
        size_t n = text.n - at < 4 ? text.n - at : 4;
        uint32_t group = 0;
        for (size_t i = 0; i < n; i++) {
            int bits = bits_of(text.p[at + i], kind);
            if (bits < 0)
                goto refuse;
            group |= (uint32_t)bits << (18 - 6 * i);
        }
        for (size_t i = 0; i + 1 < n; i++)
            vd_buf_add_char(out, (char)(group >> (16 - 8 * i) & 255));
        if (n < 4 && group << (8 * (n - 1)) & 0xffffff) /* bits that no byte carries */
            goto refuse;
    }
    return 0;

refuse:
    out->n = before;
    if (out->p)
        out->p[out->n] = 0;
    return -1;
}
