/* See excerpt.h. */
#include "watch/excerpt.h"

#include <stdbool.h>
#include <string.h>

/* The length of the UTF-8 sequence at the start of `s`, which is not empty; 0 if there is none. */
static size_t sequence_len(struct vd_slice s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (n == 0 || n > s.n || p[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates and numbers past U+10FFFF show in byte two. */
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90))
        return 0;
    return n;
}

void vd_excerpt_add(struct vd_buf *b, struct vd_slice s, size_t len_max)
{
    for (size_t i = 0, n; i < s.n; i += n ? n : 1) {
        n = sequence_len(vd_slice_from(s, i));
        if (i + (n ? n : 1) > len_max) {
            vd_buf_add_text(b, "...");
            return;
        }
        if (n == 0 || s.p[i] == '\0')
            vd_buf_add_text(b, "\xef\xbf\xbd");
        else
            vd_buf_add(b, s.p + i, n);
    }
}

/* One character or stray byte. What is beyond ASCII stays as it is: Go escapes
 * what it thinks unprintable, by tables that are not worth carrying here. */
static void add_escaped(struct vd_buf *b, struct vd_slice c, bool valid)
{
    static const char plain[] = "\"\\\a\b\f\n\r\t\v", letters[] = "\"\\abfnrtv";
    const char *at = *c.p ? strchr(plain, *c.p) : NULL;
    if (at)
        vd_buf_addf(b, "\\%c", letters[at - plain]);
    else if (!valid || (unsigned char)*c.p < ' ' || *c.p == '\x7f')
        vd_buf_addf(b, "\\x%02x", (unsigned)(unsigned char)*c.p);
    else
        vd_buf_add_slice(b, c);
}

void vd_excerpt_add_quoted(struct vd_buf *b, struct vd_slice s, size_t len_max)
{
    vd_buf_add_char(b, '"');
    for (size_t i = 0, n; i < s.n; i += n) {
        size_t sequence = sequence_len(vd_slice_from(s, i));
        n = sequence ? sequence : 1;
        if (i + n > len_max) {
            vd_buf_add_text(b, "...");
            break;
        }
        add_escaped(b, vd_slice(s.p + i, n), sequence > 0);
    }
    vd_buf_add_char(b, '"');
}
