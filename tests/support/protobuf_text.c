/* See protobuf_text.h. Straight recursion over the text; a message is encoded
 * into a buffer of its own, as its length comes first. */
#include "protobuf_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void refuse(const char *at)
{
    fprintf(stderr, "protobuf_text: cannot read: %s\n", at);
    abort();
}

void protobuf_add_varint(struct vd_buf *out, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        vd_buf_add_char(out, (char)(value | 0x80));
    vd_buf_add_char(out, (char)value);
}

void protobuf_add_bytes(struct vd_buf *out, unsigned number, struct vd_slice bytes)
{
    protobuf_add_varint(out, (uint64_t)number << 3 | 2);
    protobuf_add_varint(out, bytes.n);
    vd_buf_add_slice(out, bytes);
}

static unsigned digit(const char *at)
{
    const char *digits = "0123456789abcdef";
    const char *found = *at ? strchr(digits, *at) : NULL;
    if (!found)
        refuse(at);
    return (unsigned)(found - digits);
}

/* Adds bytes from hex digits, up to the first character that is none, and returns its position. */
static const char *add_hex(struct vd_buf *out, const char *at)
{
    for (; isxdigit((unsigned char)*at); at += 2)
        vd_buf_add_char(out, (char)(digit(at) << 4 | digit(at + 1)));
    return at;
}

void protobuf_add_hex(struct vd_buf *out, const char *hex)
{
    const char *end = add_hex(out, hex);
    if (*end)
        refuse(end);
}

static void add_double(struct vd_buf *out, unsigned number, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    protobuf_add_varint(out, (uint64_t)number << 3 | 1);
    for (int i = 0; i < 8; i++)
        vd_buf_add_char(out, (char)(bits >> (8 * i)));
}

static const char *add_fields(struct vd_buf *out, const char *at);

static const char *add_value(struct vd_buf *out, unsigned number, const char *at)
{
    struct vd_buf inner = {0};
    char *end;
    if (*at == '\'') {
        size_t n = strcspn(at + 1, "'");
        protobuf_add_bytes(out, number, vd_slice(at + 1, n));
        at += n + 2;
    } else if (*at == '{') {
        at = add_fields(&inner, at + 1);
        if (*at++ != '}')
            refuse(at - 1);
        protobuf_add_bytes(out, number, vd_buf_slice(&inner));
    } else if (*at == 'x') {
        at = add_hex(&inner, at + 1);
        protobuf_add_bytes(out, number, vd_buf_slice(&inner));
    } else if (*at == 'd') {
        add_double(out, number, strtod(at + 1, &end));
        at = end;
    } else {
        protobuf_add_varint(out, (uint64_t)number << 3);
        protobuf_add_varint(out, (uint64_t)strtoll(at, &end, 10));
        if (end == at)
            refuse(at);
        at = end;
    }
    vd_buf_release(&inner);
    return at;
}

/* Adds fields up to the end or a closing brace, and returns its position. */
static const char *add_fields(struct vd_buf *out, const char *at)
{
    for (;;) {
        at += strspn(at, " ");
        if (*at == 0 || *at == '}')
            return at;
        char *end;
        unsigned number = (unsigned)strtoul(at, &end, 10);
        if (end == at || *end != ' ')
            refuse(at);
        at = add_value(out, number, end + 1);
    }
}

void protobuf_text_add(struct vd_buf *out, const char *text)
{
    const char *end = add_fields(out, text);
    if (*end)
        refuse(end);
}

void protobuf_text_add_body(struct vd_buf *out, const char *api_version, const char *kind,
                            const char *text)
{
    struct vd_buf type = {0}, raw = {0};
    protobuf_add_bytes(&type, 1, vd_slice_of(api_version));
    protobuf_add_bytes(&type, 2, vd_slice_of(kind));
    protobuf_text_add(&raw, text);
    vd_buf_add(out, "k8s", 4);
    protobuf_add_bytes(out, 1, vd_buf_slice(&type));
    protobuf_add_bytes(out, 2, vd_buf_slice(&raw));
    vd_buf_release(&type);
    vd_buf_release(&raw);
}
