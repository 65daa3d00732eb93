/*
 * See media_type.h.
 *
 * A header is cut at the commas outside quoted strings, then each element is
 * read by one grammar: type "/" subtype *( OWS ";" OWS [ name "=" value ] ),
 * where a value is a token or a quoted string.
 */
#include "net/media_type.h"

#include <string.h>

#include "net/http_token.h"

static void skip_blanks(struct vd_slice *rest)
{
    while (rest->n && (rest->p[0] == ' ' || rest->p[0] == '\t'))
        *rest = vd_slice(rest->p + 1, rest->n - 1);
}

static struct vd_slice take(struct vd_slice *rest, size_t n)
{
    struct vd_slice taken = vd_slice(rest->p, n);
    *rest = vd_slice_from(*rest, n);
    return taken;
}

static bool take_char(struct vd_slice *rest, char c)
{
    if (rest->n == 0 || rest->p[0] != c)
        return false;
    take(rest, 1);
    return true;
}

static bool take_token(struct vd_slice *rest, struct vd_slice *token)
{
    size_t n = 0;
    while (n < rest->n && vd_http_token_has(rest->p[n]))
        n++;
    *token = take(rest, n);
    return n > 0;
}

/* A token, or what kubectl calls OpenAPI in protobuf, which has an @ in it. */
static bool take_subtype(struct vd_slice *rest, struct vd_slice *subtype)
{
    size_t n = 0;
    while (n < rest->n && (vd_http_token_has(rest->p[n]) || rest->p[n] == '@'))
        n++;
    *subtype = take(rest, n);
    return n > 0;
}

/* The inside of a quoted string whose opening quote is taken, escapes kept. */
static bool take_quoted(struct vd_slice *rest, struct vd_slice *inside)
{
    for (size_t i = 0; i < rest->n; i++) {
        unsigned char c = (unsigned char)rest->p[i];
        if (c == '"') {
            *inside = take(rest, i);
            take(rest, 1);
            return true;
        }
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
        if (c == '\\')
            i++;
    }
    return false;
}

struct param {
    struct vd_slice name;
    struct vd_slice value; /* of a quoted string: the inside */
    bool quoted;
};

enum param_result { PARAM_END, PARAM_FOUND, PARAM_BAD };

/* The next parameter of *rest, which starts at a ';' or at blanks before it. */
static enum param_result next_param(struct vd_slice *rest, struct param *out)
{
    for (;;) {
        skip_blanks(rest);
        if (rest->n == 0)
            return PARAM_END;
        if (!take_char(rest, ';'))
            return PARAM_BAD;
        skip_blanks(rest);
        if (rest->n && rest->p[0] != ';')
            break; /* otherwise an empty one, which is fine */
    }
    if (!take_token(rest, &out->name) || !take_char(rest, '='))
        return PARAM_BAD;
    out->quoted = take_char(rest, '"');
    bool ok = out->quoted ? take_quoted(rest, &out->value) : take_token(rest, &out->value);
    return ok ? PARAM_FOUND : PARAM_BAD;
}

/* 0, 0.5, 1.000 and, as old Java clients send it, .5; three digits at most. */
static bool read_quality(struct vd_slice text, unsigned *out)
{
    unsigned whole = 0, part = 0, unit = 1000;
    if (text.n == 0 || vd_slice_eq(text, VD_SLICE(".")))
        return false;
    if (text.p[0] != '.') {
        if (text.p[0] != '0' && text.p[0] != '1')
            return false;
        whole = text.p[0] == '1' ? VD_QUALITY_MAX : 0;
        take(&text, 1);
    }
    if (text.n && (!take_char(&text, '.') || text.n > 3))
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        unit /= 10;
        part += unit * (unsigned)(text.p[i] - '0');
    }
    *out = whole + part;
    return *out <= VD_QUALITY_MAX;
}

static bool is_any(struct vd_slice name)
{
    return vd_slice_eq(name, VD_SLICE("*"));
}

/* One element of an Accept header, or a Content-Type; trimmed. */
static bool read_type(struct vd_slice text, struct vd_media_type *out)
{
    struct vd_media_type m = {.quality = VD_QUALITY_MAX};
    struct param param;
    if (!take_token(&text, &m.type))
        return false;
    if (take_char(&text, '/')) {
        if (!take_subtype(&text, &m.subtype))
            return false;
    } else if (is_any(m.type)) {
        m.subtype = m.type;
    } else {
        return false;
    }
    if (is_any(m.type) && !is_any(m.subtype))
        return false;
    m.params = text;
    for (;;) {
        enum param_result result = next_param(&text, &param);
        if (result == PARAM_BAD)
            return false;
        if (result == PARAM_END)
            break;
        if (vd_http_token_eq(param.name, VD_SLICE("q")) && !read_quality(param.value, &m.quality))
            return false;
    }
    *out = m;
    return true;
}

int vd_media_type_parse(struct vd_media_type *out, struct vd_slice text, struct vd_error *error)
{
    struct vd_media_type m;
    if (!read_type(vd_http_trim(text), &m) || is_any(m.subtype))
        return vd_error_set(error, VD_ERR_INVALID,
                            "Content-Type is no media type; write one like application/json");
    m.quality = VD_QUALITY_MAX; /* a parameter q means nothing here */
    *out = m;
    return VD_OK;
}

bool vd_media_type_is(const struct vd_media_type *m, struct vd_slice type, struct vd_slice subtype)
{
    return vd_http_token_eq(m->type, type) && vd_http_token_eq(m->subtype, subtype);
}

bool vd_media_type_takes(const struct vd_media_type *m, struct vd_slice type,
                         struct vd_slice subtype)
{
    return (is_any(m->type) || vd_http_token_eq(m->type, type)) &&
           (is_any(m->subtype) || vd_http_token_eq(m->subtype, subtype));
}

/* A quoted string's inside without its backslashes. */
static struct vd_slice unescape(struct vd_arena *a, struct vd_slice inside)
{
    if (inside.n == 0 || !memchr(inside.p, '\\', inside.n))
        return inside;
    char *plain = vd_arena_alloc(a, inside.n);
    size_t n = 0;
    for (size_t i = 0; i < inside.n; i++) {
        if (inside.p[i] == '\\')
            i++;
        plain[n++] = inside.p[i];
    }
    return vd_slice(plain, n);
}

bool vd_media_type_param(const struct vd_media_type *m, struct vd_slice name, struct vd_arena *a,
                         struct vd_slice *value)
{
    struct vd_slice rest = m->params;
    struct param param;
    while (next_param(&rest, &param) == PARAM_FOUND) {
        if (!vd_http_token_eq(param.name, name))
            continue;
        *value = param.quoted ? unescape(a, param.value) : param.value;
        return true;
    }
    return false;
}

/* Cuts what stands before the next comma outside quoted strings off *rest. */
static struct vd_slice cut_element(struct vd_slice *rest)
{
    bool quoted = false;
    size_t n = 0;
    for (; n < rest->n && (quoted || rest->p[n] != ','); n++) {
        if (rest->p[n] == '"')
            quoted = !quoted;
        else if (quoted && rest->p[n] == '\\' && n + 1 < rest->n)
            n++;
    }
    struct vd_slice element = take(rest, n);
    take_char(rest, ',');
    return vd_http_trim(element);
}

/* 2 for type/subtype, 1 for type/ *, 0 for any. */
static unsigned specificity(const struct vd_media_type *m)
{
    return (unsigned)!is_any(m->type) + (unsigned)!is_any(m->subtype);
}

static bool is_better(const struct vd_media_type *a, const struct vd_media_type *b)
{
    if (a->quality != b->quality)
        return a->quality > b->quality;
    return specificity(a) > specificity(b);
}

int vd_accept_add(struct vd_accept *accept, struct vd_slice text, struct vd_error *error)
{
    while (text.n) {
        struct vd_media_type m;
        if (!read_type(cut_element(&text), &m))
            continue;
        if (accept->n == VD_ACCEPT_RANGES_MAX)
            return vd_error_set(error, VD_ERR_LIMIT,
                                "Accept has more than %d media types; name those that you want",
                                VD_ACCEPT_RANGES_MAX);
        size_t at = accept->n++;
        for (; at > 0 && is_better(&m, &accept->ranges[at - 1]); at--)
            accept->ranges[at] = accept->ranges[at - 1];
        accept->ranges[at] = m;
    }
    return VD_OK;
}

unsigned vd_accept_quality(const struct vd_accept *accept, struct vd_slice type,
                           struct vd_slice subtype)
{
    const struct vd_media_type *best = NULL;
    for (size_t i = 0; i < accept->n; i++) {
        const struct vd_media_type *m = &accept->ranges[i];
        if (vd_media_type_takes(m, type, subtype) && (!best || specificity(m) > specificity(best)))
            best = m;
    }
    return best ? best->quality : accept->n == 0 ? VD_QUALITY_MAX : 0;
}

bool vd_accept_encoding_gzip(struct vd_slice text)
{
    struct vd_slice element, coding;
    bool any = false;
    while (vd_http_list_next(&text, &element)) {
        struct param param = {0};
        unsigned quality = VD_QUALITY_MAX;
        if (!take_token(&element, &coding))
            continue;
        enum param_result result = next_param(&element, &param);
        if (result == PARAM_BAD ||
            (result == PARAM_FOUND && vd_http_token_eq(param.name, VD_SLICE("q")) &&
             !read_quality(param.value, &quality)))
            continue;
        if (vd_http_token_eq(coding, VD_SLICE("gzip")) ||
            vd_http_token_eq(coding, VD_SLICE("x-gzip")))
            return quality > 0;
        if (is_any(coding))
            any = quality > 0;
    }
    return any;
}
