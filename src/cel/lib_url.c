/*
 * URLs, as ParseRequestURI of Go's net/url reads them: absolute, or a path that
 * begins with '/'. A fragment is not taken off.
 */
#include <string.h>

#include "base/utf8.h"
#include "cel/program_internal.h"

struct vd_cel_url {
    struct vd_slice text, scheme, host, path, query;
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The last `c` of the text, or NULL. */
static const char *last_of(struct vd_slice s, char c)
{
    for (size_t i = s.n; i > 0; i--)
        if (s.p[i - 1] == c)
            return s.p + i - 1;
    return NULL;
}

/* Every '%' begins an escape. */
static bool escapes_are_whole(struct vd_slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '%' && (i + 2 >= s.n || !is_hex(s.p[i + 1]) || !is_hex(s.p[i + 2])))
            return false;
    return true;
}

/* The scheme off the front of *rest, empty if there is none. */
static bool take_scheme(struct vd_slice *rest, struct vd_slice *scheme)
{
    *scheme = VD_SLICE("");
    for (size_t i = 0; i < rest->n; i++) {
        char c = rest->p[i];
        if (c == ':') {
            *scheme = vd_slice(rest->p, i);
            *rest = vd_slice_from(*rest, i + 1);
            return i > 0;
        }
        if (!is_letter(c) && (i == 0 || (!is_digit(c) && !strchr("+-.", c))))
            return true;
        if (c == 0)
            return true;
    }
    return true;
}

static bool is_port(struct vd_slice s)
{
    if (s.n && s.p[0] != ':')
        return false;
    for (size_t i = 1; i < s.n; i++)
        if (!is_digit(s.p[i]))
            return false;
    return true;
}

static bool is_host(struct vd_slice host)
{
    if (host.n && host.p[0] == '[') {
        const char *end = last_of(host, ']');
        return end && is_port(vd_slice_from(host, (size_t)(end - host.p) + 1));
    }
    const char *colon = last_of(host, ':');
    if (colon && !is_port(vd_slice_from(host, (size_t)(colon - host.p))))
        return false;
    for (size_t i = 0; i < host.n; i++)
        if (host.p[i] > 0 && !is_letter(host.p[i]) && !is_digit(host.p[i]) &&
            !strchr("-_.~!$&'()*+,;=:[]<>\"%", host.p[i]))
            return false;
    return escapes_are_whole(host);
}

/* What stands between "//" and the path. */
static bool take_authority(struct vd_slice *rest, struct vd_slice *host)
{
    *rest = vd_slice_from(*rest, 2);
    const char *slash = rest->n ? memchr(rest->p, '/', rest->n) : NULL;
    struct vd_slice authority = vd_slice(rest->p, slash ? (size_t)(slash - rest->p) : rest->n);
    *rest = vd_slice_from(*rest, authority.n);
    const char *at = last_of(authority, '@');
    if (at) {
        struct vd_slice user = vd_slice(authority.p, (size_t)(at - authority.p));
        for (size_t i = 0; i < user.n; i++)
            if (user.p[i] <= ' ' || strchr("/?#[]@\\^`{}|\"<>", user.p[i]))
                return false;
        authority = vd_slice_from(authority, user.n + 1);
    }
    *host = authority;
    return is_host(*host);
}

static bool parse(struct vd_slice s, struct vd_cel_url *out)
{
    *out = (struct vd_cel_url){.text = s, .host = VD_SLICE(""), .query = VD_SLICE("")};
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return false;
    struct vd_slice rest = s;
    if (s.n == 0 || !take_scheme(&rest, &out->scheme))
        return false;
    const char *question = rest.n ? memchr(rest.p, '?', rest.n) : NULL;
    if (question) {
        out->query = vd_slice_from(rest, (size_t)(question - rest.p) + 1);
        rest.n = (size_t)(question - rest.p);
    }
    if (rest.n == 0 || rest.p[0] != '/') /* opaque, or relative */
        return out->scheme.n > 0;
    bool authority = vd_slice_starts_with(rest, VD_SLICE("//")) &&
                     (out->scheme.n || !vd_slice_starts_with(rest, VD_SLICE("///")));
    if (authority && !take_authority(&rest, &out->host))
        return false;
    out->path = rest;
    return escapes_are_whole(rest);
}

bool vd_cel_url_equal(const struct vd_cel_value *a, const struct vd_cel_value *b)
{
    return vd_slice_eq(a->url->text, b->url->text);
}

static struct vd_cel_value url(struct vd_cel_run *run, const struct vd_cel_node *node,
                               const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    struct vd_cel_url parsed;
    if (a->kind != VD_CEL_STRING)
        return vd_cel_no_overload();
    if (!parse(a->s, &parsed))
        return vd_cel_error(run,
                            "URL parse error during conversion from string: parse "
                            "\"%.*s\": invalid URI for request",
                            VD_FMT(a->s));
    struct vd_cel_url *kept = vd_cel_alloc(run, sizeof *kept);
    if (!kept)
        return vd_cel_no_overload();
    *kept = parsed;
    return (struct vd_cel_value){.kind = VD_CEL_URL, .url = kept};
}

static struct vd_cel_value is_url(struct vd_cel_run *run, const struct vd_cel_node *node,
                                  const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)node, (void)n;
    struct vd_cel_url parsed;
    return a->kind == VD_CEL_STRING ? vd_cel_bool(parse(a->s, &parsed)) : vd_cel_no_overload();
}

/* Where the port begins, its colon included; the end if there is none. */
static size_t port_at(struct vd_slice host)
{
    const char *colon = last_of(host, ':');
    const char *bracket = last_of(host, ']');
    return colon && (!bracket || colon > bracket) ? (size_t)(colon - host.p) : host.n;
}

static struct vd_slice hostname(struct vd_slice host)
{
    struct vd_slice name = vd_slice(host.p, port_at(host));
    if (name.n >= 2 && name.p[0] == '[' && name.p[name.n - 1] == ']')
        name = vd_slice(name.p + 1, name.n - 2);
    return name;
}

static struct vd_cel_value escaped_path(struct vd_cel_run *run, struct vd_slice path)
{
    struct vd_buf out = {0};
    for (size_t i = 0; i < path.n; i++) {
        char c = path.p[i];
        if (is_letter(c) || is_digit(c) || (c > 0 && strchr("-_.~$&+,/:;=@%!'()*[]", c)))
            vd_buf_add_char(&out, c);
        else
            vd_buf_addf(&out, "%%%02X", (unsigned char)c);
    }
    return vd_cel_take_text(run, &out);
}

static struct vd_cel_value part(struct vd_cel_run *run, const struct vd_cel_node *node,
                                const struct vd_cel_value *a, size_t n)
{
    (void)n;
    if (a->kind != VD_CEL_URL)
        return vd_cel_no_overload();
    const struct vd_cel_url *u = a->url;
    if (vd_slice_is(node->name, "getScheme")) {
        struct vd_buf lower = {0};
        for (size_t i = 0; i < u->scheme.n; i++)
            vd_buf_add_char(&lower, is_letter(u->scheme.p[i]) ? (char)(u->scheme.p[i] | 0x20)
                                                              : u->scheme.p[i]);
        return vd_cel_take_text(run, &lower);
    }
    if (vd_slice_is(node->name, "getHost"))
        return vd_cel_string(u->host);
    if (vd_slice_is(node->name, "getHostname"))
        return vd_cel_string(hostname(u->host));
    if (vd_slice_is(node->name, "getPort"))
        return vd_cel_string(vd_slice_from(u->host, port_at(u->host) + 1));
    return escaped_path(run, u->path);
}

/* A key or value of a query, decoded; false: its escapes are broken. */
static bool decode(struct vd_cel_run *run, struct vd_slice s, struct vd_cel_value *out)
{
    struct vd_buf text = {0};
    if (!escapes_are_whole(s))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '%') {
            unsigned value = 0;
            for (size_t k = 1; k <= 2; k++) {
                char h = s.p[i + k];
                value = value * 16 + (unsigned)(is_digit(h) ? h - '0' : (h | 0x20) - 'a' + 10);
            }
            c = (char)(unsigned char)value;
            i += 2;
        } else if (c == '+')
            c = ' ';
        vd_buf_add_char(&text, c);
    }
    bool valid = vd_utf8_is_valid(vd_buf_slice(&text));
    *out = vd_cel_take_text(run, &text);
    return valid && out->kind == VD_CEL_STRING;
}

/* Adds a value to the list of its key. Lists double; `map` has room for all. */
static void add_parameter(struct vd_cel_run *run, struct vd_cel_map *map, struct vd_cel_value key,
                          struct vd_cel_value value)
{
    size_t i = 0;
    while (i < map->n && !vd_cel_equal(run, &map->keys[i], &key))
        i++;
    const struct vd_cel_list *before = i < map->n ? map->values[i].list : NULL;
    size_t n = before ? before->n : 0;
    struct vd_cel_value *p = vd_cel_alloc(run, (n + 1) * sizeof *p);
    if (!p)
        return;
    if (n)
        memcpy(p, before->p, n * sizeof *p);
    p[n] = value;
    map->keys[i] = key;
    map->values[i] = vd_cel_list(run, p, n + 1);
    map->n += i == map->n;
}

static struct vd_cel_value query(struct vd_cel_run *run, const struct vd_cel_node *node,
                                 const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    if (a->kind != VD_CEL_URL)
        return vd_cel_no_overload();
    struct vd_slice rest = a->url->query, one;
    size_t room = 2;
    for (size_t i = 0; i < rest.n; i++)
        room += rest.p[i] == '&';
    struct vd_cel_map *map = vd_cel_alloc(run, sizeof *map);
    struct vd_cel_value *p = map ? vd_cel_alloc(run, 2 * room * sizeof *p) : NULL;
    if (!p)
        return vd_cel_no_overload();
    *map = (struct vd_cel_map){0, p, p + room};
    while (rest.n && vd_slice_cut(&rest, '&', &one) && !run->cancelled) {
        struct vd_cel_value key, value;
        const char *equals = one.n ? memchr(one.p, '=', one.n) : NULL;
        size_t key_n = equals ? (size_t)(equals - one.p) : one.n;
        if (one.n == 0 || memchr(one.p, ';', one.n))
            continue;
        if (decode(run, vd_slice(one.p, key_n), &key) &&
            decode(run, equals ? vd_slice_from(one, key_n + 1) : VD_SLICE(""), &value))
            add_parameter(run, map, key, value);
    }
    return (struct vd_cel_value){.kind = VD_CEL_MAP, .map = map};
}

static const struct vd_cel_function table[] = {
    {"url", "s>U", url, VD_CEL_PRICE_SCAN},
    {"isURL", "s>b", is_url, VD_CEL_PRICE_ONE},
    {"getScheme", ".U>s", part, VD_CEL_PRICE_ONE},
    {"getHost", ".U>s", part, VD_CEL_PRICE_ONE},
    {"getHostname", ".U>s", part, VD_CEL_PRICE_ONE},
    {"getPort", ".U>s", part, VD_CEL_PRICE_ONE},
    {"getEscapedPath", ".U>s", part, VD_CEL_PRICE_ONE},
    {"getQuery", ".U>MsLs", query, VD_CEL_PRICE_ONE},
};

VD_CEL_LIBRARY(vd_cel_lib_url, table);
