/*
 * See write.h. The parser has flagged the texts that need no escapes (nearly
 * all), and those are copied without another look.
 */
#include "json/write.h"

#include <string.h>

#include "json/escape.h"

/* Room for `n` more bytes; add_end says how many were used. */
static inline char *add_begin(struct vd_buf *out, size_t n)
{
    if (VD_UNLIKELY(out->cap - out->n <= n)) /* <=: the NUL needs a place too */
        vd_buf_reserve(out, n);
    return out->p + out->n;
}

static inline void add_end(struct vd_buf *out, const char *at)
{
    out->n = (size_t)(at - out->p);
}

static inline void write_text(struct vd_buf *out, const char *text, size_t n, bool plain)
{
    if (VD_UNLIKELY(!plain)) {
        vd_escape_write(out, vd_slice(text, n));
        return;
    }
    char *at = add_begin(out, n + 2);
    *at++ = '"';
    memcpy(at, text, n);
    at += n;
    *at++ = '"';
    add_end(out, at);
}

static inline void write_bytes(struct vd_buf *out, const char *text, size_t n)
{
    char *at = add_begin(out, n);
    memcpy(at, text, n);
    add_end(out, at + n);
}

static inline void write_char(struct vd_buf *out, char c)
{
    char *at = add_begin(out, 1);
    *at++ = c;
    add_end(out, at);
}

static void write_scalar(struct vd_buf *out, const struct vd_json *v)
{
    switch ((enum vd_json_type)v->type) {
    case VD_JSON_STRING:
        write_text(out, v->text_p, v->n, v->flags & VD_JSON_PLAIN_TEXT);
        break;
    case VD_JSON_NUMBER:
        write_bytes(out, v->text_p, v->n);
        break;
    case VD_JSON_BOOL:
        write_bytes(out, v->truth ? "true" : "false", v->truth ? 4 : 5);
        break;
    default:
        write_bytes(out, "null", 4);
        break;
    }
}

static inline void write_key(struct vd_buf *out, const struct vd_json *member)
{
    write_text(out, member->key_p, member->key_n, member->flags & VD_JSON_PLAIN_KEY);
    write_char(out, ':');
}

static void write_value(struct vd_buf *out, const struct vd_json *v)
{
    if (v->type < VD_JSON_ARRAY) {
        write_scalar(out, v);
        return;
    }
    bool object = v->type == VD_JSON_OBJECT;
    write_char(out, object ? '{' : '[');
    for (const struct vd_json *item = v->first; item; item = item->next) {
        if (item != v->first)
            write_char(out, ',');
        if (object)
            write_key(out, item);
        write_value(out, item);
    }
    write_char(out, object ? '}' : ']');
}

void vd_json_write(struct vd_buf *out, const struct vd_json *v)
{
    write_value(out, v);
    out->p[out->n] = 0;
}

void vd_json_write_key(struct vd_buf *out, const struct vd_json *member)
{
    write_key(out, member);
    out->p[out->n] = 0;
}

static void write_line(struct vd_buf *out, size_t blanks)
{
    char *at = add_begin(out, blanks + 1);
    *at++ = '\n';
    memset(at, ' ', blanks);
    add_end(out, at + blanks);
}

static void write_indented(struct vd_buf *out, const struct vd_json *v, size_t indent, size_t depth)
{
    bool object = v->type == VD_JSON_OBJECT;
    if (v->type < VD_JSON_ARRAY) {
        write_scalar(out, v);
        return;
    }
    write_char(out, object ? '{' : '[');
    for (const struct vd_json *item = v->first; item; item = item->next) {
        if (item != v->first)
            write_char(out, ',');
        write_line(out, indent * (depth + 1));
        if (object) {
            write_text(out, item->key_p, item->key_n, item->flags & VD_JSON_PLAIN_KEY);
            write_bytes(out, ": ", 2);
        }
        write_indented(out, item, indent, depth + 1);
    }
    if (v->first)
        write_line(out, indent * depth);
    write_char(out, object ? '}' : ']');
}

void vd_json_write_pretty(struct vd_buf *out, const struct vd_json *v, size_t indent)
{
    write_indented(out, v, indent, 0);
    out->p[out->n] = 0;
}
