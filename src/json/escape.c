/* See escape.h. */
#include "json/escape.h"

#include "base/utf8.h"
#include "json/scan.h"

enum { REPLACEMENT = 0xfffd }; /* U+FFFD, which stands for what is no character */

/* The character that a short escape stands for; 0: there is no such escape. */
static char short_escape(char c)
{
    switch (c) {
    case '"':
    case '\\':
    case '/':
        return c;
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return 0;
    }
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

size_t vd_escape_len(const char *at, const char *end)
{
    if (end - at < 2)
        return 0;
    if (at[1] != 'u')
        return short_escape(at[1]) ? 2 : 0;
    if (end - at < 6)
        return 0;
    for (size_t i = 2; i < 6; i++) {
        if (hex_digit(at[i]) < 0)
            return 0;
    }
    return 6;
}

/* The code unit of the valid \uXXXX at `at`. */
static uint32_t code_unit(const char *at)
{
    uint32_t unit = 0;
    for (size_t i = 2; i < 6; i++)
        unit = unit << 4 | (uint32_t)hex_digit(at[i]);
    return unit;
}

/* Decodes the \uXXXX at *at, with the one behind it if they are a pair, and
 * moves *at past what was used. */
static uint32_t decode_unit(const char **at, const char *end)
{
    uint32_t high = code_unit(*at);
    *at += 6;
    if (high < 0xd800 || high > 0xdfff)
        return high;
    if (high > 0xdbff || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u')
        return REPLACEMENT;
    uint32_t low = code_unit(*at);
    if (low < 0xdc00 || low > 0xdfff)
        return REPLACEMENT;
    *at += 6;
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

size_t vd_escape_decode(struct vd_slice raw, char *out)
{
    const char *at = raw.p, *end = raw.p + raw.n;
    char *to = out;
    while (at < end) {
        const char *stop = vd_scan_string(at, end);
        while (stop < end && *stop != '\\') /* a byte of a longer character */
            stop = vd_scan_string(stop + 1, end);
        memcpy(to, at, (size_t)(stop - at));
        to += stop - at;
        at = stop;
        if (at == end)
            break;
        if (at[1] == 'u') {
            to += vd_utf8_put(decode_unit(&at, end), to);
        } else {
            *to++ = short_escape(at[1]);
            at += 2;
        }
    }
    return (size_t)(to - out);
}

/* Adds the escape for the special byte at `at`; gives the bytes it stands for,
 * or 0 if the character there is written as it is. */
static size_t write_special(struct vd_buf *out, const char *at, const char *end)
{
    static const char names[32] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    unsigned char c = (unsigned char)*at;
    if (c == '"' || c == '\\') {
        vd_buf_add(out, (char[]){'\\', *at}, 2);
        return 1;
    }
    if (c < 0x20) {
        if (names[c])
            vd_buf_add(out, (char[]){'\\', names[c]}, 2);
        else
            vd_buf_addf(out, "\\u%04x", c);
        return 1;
    }
    if (end - at >= 3 && c == 0xe2 && (unsigned char)at[1] == 0x80 &&
        ((unsigned char)at[2] & 0xfe) == 0xa8) {
        vd_buf_addf(out, "\\u202%c", (unsigned char)at[2] == 0xa8 ? '8' : '9');
        return 3;
    }
    return 0;
}

void vd_escape_write(struct vd_buf *out, struct vd_slice text)
{
    vd_buf_reserve(out, text.n + 2);
    vd_buf_add_char(out, '"');
    const char *from = text.p, *at = text.p, *end = text.p + text.n;
    while ((at = vd_scan_string(at, end)) < end) {
        size_t before = (size_t)(at - from);
        if ((unsigned char)*at >= 0x80 && (unsigned char)*at != 0xe2) {
            at++;
            continue;
        }
        vd_buf_add(out, from, before);
        from = at;
        size_t n = write_special(out, at, end);
        from += n;
        at += n ? n : 1;
    }
    vd_buf_add(out, from, (size_t)(end - from));
    vd_buf_add_char(out, '"');
}
