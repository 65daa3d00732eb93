/* See url.h. */
#include "net/url.h"

#include <string.h>

void vd_url_split(struct vd_slice target, struct vd_slice *path, struct vd_slice *query)
{
    const char *mark = target.n ? memchr(target.p, '?', target.n) : NULL;
    size_t n = mark ? (size_t)(mark - target.p) : target.n;
    *path = vd_slice(target.p, n);
    *query = vd_slice_from(target, n + 1);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte that the escape at text.p[at], a '%', stands for; -1 when it is none. */
static int escaped_byte(struct vd_slice text, size_t at)
{
    if (text.n - at < 3)
        return -1;
    int high = hex_value(text.p[at + 1]), low = hex_value(text.p[at + 2]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

static int refuse_byte(enum vd_url_part part, size_t at, int byte, struct vd_error *error)
{
    const char *name = part == VD_URL_PATH ? "path" : "query";
    if (byte < 0)
        return vd_error_set(error, VD_ERR_INVALID,
                            "byte %zu of a part of the %s: '%%' is not followed by two "
                            "hexadecimal digits; write '%%' itself as %%25",
                            at + 1, name);
    return vd_error_set(error, VD_ERR_INVALID,
                        "byte %zu of a part of the %s: a NUL cannot be in a URL", at + 1, name);
}

int vd_url_decode(struct vd_arena *a, struct vd_slice text, enum vd_url_part part,
                  struct vd_slice *out, struct vd_error *error)
{
    size_t plain = 0;
    while (plain < text.n && text.p[plain] != '%' && text.p[plain] != 0 &&
           (text.p[plain] != '+' || part == VD_URL_PATH))
        plain++;
    if (plain == text.n) {
        *out = text;
        return VD_OK;
    }
    char *decoded = vd_arena_alloc(a, text.n);
    memcpy(decoded, text.p, plain);
    size_t n = plain;
    for (size_t i = plain; i < text.n; i++) {
        int byte = (unsigned char)text.p[i];
        if (byte == '%') {
            byte = escaped_byte(text, i);
        } else if (byte == '+' && part == VD_URL_QUERY) {
            byte = ' ';
        }
        if (byte <= 0)
            return refuse_byte(part, i, byte, error);
        decoded[n++] = (char)byte;
        i += text.p[i] == '%' ? 2 : 0;
    }
    *out = vd_slice(decoded, n);
    return VD_OK;
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void vd_url_encode(struct vd_buf *out, struct vd_slice text)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (is_unreserved(text.p[i])) {
            vd_buf_add_char(out, text.p[i]);
            continue;
        }
        char escape[3] = {'%', digits[c >> 4], digits[c & 15]};
        vd_buf_add(out, escape, sizeof escape);
    }
}

/* One segment, decoded; `number` counts from 1. */
static int segment_decode(struct vd_arena *a, struct vd_slice text, size_t number,
                          struct vd_slice *out, struct vd_error *error)
{
    struct vd_slice decoded;
    if (text.n == 0)
        return vd_error_set(error, VD_ERR_INVALID,
                            "segment %zu of the path is empty; write single slashes", number);
    int code = vd_url_decode(a, text, VD_URL_PATH, &decoded, error);
    if (code) {
        vd_error_prefix(error, "segment %zu of the path", number);
        return code;
    }
    if (memchr(decoded.p, '/', decoded.n))
        return vd_error_set(error, VD_ERR_INVALID,
                            "segment %zu of the path has an escaped slash; no name can have one",
                            number);
    if (vd_slice_eq(decoded, VD_SLICE(".")) || vd_slice_eq(decoded, VD_SLICE("..")))
        return vd_error_set(error, VD_ERR_INVALID,
                            "segment %zu of the path is \"%.*s\"; write the path without it",
                            number, VD_FMT(decoded));
    *out = decoded;
    return VD_OK;
}

int vd_url_path_parse(struct vd_url_path *out, struct vd_arena *a, struct vd_slice path,
                      struct vd_error *error)
{
    if (path.n == 0 || path.p[0] != '/')
        return vd_error_set(error, VD_ERR_INVALID, "the path does not start with a slash");
    struct vd_url_path parsed; /* its segments are set one by one */
    parsed.n = 0;
    parsed.slash_end = path.p[path.n - 1] == '/';
    struct vd_slice rest = vd_slice(path.p + 1, path.n - 1), text;
    if (rest.n && parsed.slash_end)
        rest.n--;
    else if (rest.n == 0)
        rest.p = NULL; /* no segment, not an empty one */
    while (vd_slice_cut(&rest, '/', &text)) {
        if (parsed.n == VD_URL_SEGMENTS_MAX)
            return vd_error_set(error, VD_ERR_LIMIT, "the path has more than %d segments",
                                VD_URL_SEGMENTS_MAX);
        int code = segment_decode(a, text, parsed.n + 1, &parsed.segments[parsed.n], error);
        if (code)
            return code;
        parsed.n++;
    }
    out->n = parsed.n;
    out->slash_end = parsed.slash_end;
    memcpy(out->segments, parsed.segments, parsed.n * sizeof *parsed.segments);
    return VD_OK;
}

static int param_decode(struct vd_arena *a, struct vd_slice text, struct vd_url_param *out,
                        struct vd_error *error)
{
    const char *sign = memchr(text.p, '=', text.n);
    size_t key_n = sign ? (size_t)(sign - text.p) : text.n;
    int code = vd_url_decode(a, vd_slice(text.p, key_n), VD_URL_QUERY, &out->key, error);
    if (code)
        return code;
    return vd_url_decode(a, vd_slice_from(text, key_n + 1), VD_URL_QUERY, &out->value, error);
}

int vd_url_query_parse(struct vd_url_query *out, struct vd_arena *a, struct vd_slice query,
                       struct vd_error *error)
{
    size_t params_max = query.n > 0;
    for (size_t i = 0; i < query.n; i++)
        params_max += query.p[i] == '&';
    if (params_max > VD_URL_PARAMS_MAX)
        return vd_error_set(error, VD_ERR_LIMIT, "the query has more than %d parameters",
                            VD_URL_PARAMS_MAX);
    struct vd_url_query parsed = {
        .params = vd_arena_alloc(a, params_max * sizeof *parsed.params),
    };
    struct vd_slice rest = query, text;
    while (rest.n && vd_slice_cut(&rest, '&', &text)) {
        if (text.n == 0)
            continue;
        int code = param_decode(a, text, &parsed.params[parsed.n], error);
        if (code) {
            vd_error_prefix(error, "parameter %zu of the query", parsed.n + 1);
            return code;
        }
        parsed.n++;
    }
    *out = parsed;
    return VD_OK;
}

bool vd_url_query_next(const struct vd_url_query *q, struct vd_slice key, size_t *at,
                       struct vd_slice *value)
{
    for (size_t i = *at; i < q->n; i++) {
        if (!vd_slice_eq(q->params[i].key, key))
            continue;
        *value = q->params[i].value;
        *at = i + 1;
        return true;
    }
    return false;
}

bool vd_url_query_find(const struct vd_url_query *q, struct vd_slice key, struct vd_slice *value)
{
    size_t at = 0;
    return vd_url_query_next(q, key, &at, value);
}
