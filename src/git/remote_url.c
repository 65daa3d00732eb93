/* See remote_url.h. */
#include "git/remote_url.h"

#include <string.h>

static const char *const names[VD_REMOTE_SCHEMES] = {"https", "http", "ssh"};

const char *vd_remote_scheme_name(enum vd_remote_scheme scheme)
{
    return names[scheme];
}

int vd_remote_policy_add(struct vd_remote_policy *policy, struct vd_slice word,
                         struct vd_error *error)
{
    for (size_t i = 0; i < VD_REMOTE_SCHEMES; i++)
        if (vd_slice_is(word, names[i])) {
            policy->allows[i] = true;
            return VD_OK;
        }
    if (!vd_slice_is(word, "http-loopback"))
        return vd_error_set(error, VD_ERR_INVALID,
                            "\"%.*s\" is none of https, ssh, http and http-loopback", VD_FMT(word));
    policy->allows_http_loopback = true;
    return VD_OK;
}

/* ---- the form ---- */

static bool take_scheme(struct vd_slice *rest, enum vd_remote_scheme *out)
{
    for (size_t i = 0; i < VD_REMOTE_SCHEMES; i++) {
        size_t n = strlen(names[i]);
        if (vd_slice_starts_with(*rest, vd_slice_of(names[i])) &&
            vd_slice_starts_with(vd_slice_from(*rest, n), VD_SLICE("://"))) {
            *out = (enum vd_remote_scheme)i;
            *rest = vd_slice_from(*rest, n + 3);
            return true;
        }
    }
    return false;
}

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Letters, digits and some signs, and no sign at the beginning: ssh takes no option for a host. */
static bool is_word(struct vd_slice text, const char *signs)
{
    for (size_t i = 0; i < text.n; i++)
        if (!is_alnum(text.p[i]) && (i == 0 || !text.p[i] || !strchr(signs, text.p[i])))
            return false;
    return text.n > 0;
}

/* Of an address in brackets. */
static bool is_address(struct vd_slice text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!is_alnum(text.p[i]) && text.p[i] != ':' && text.p[i] != '.')
            return false;
    return text.n > 0;
}

static bool is_port(struct vd_slice text)
{
    uint64_t value;
    return !vd_slice_to_u64(text, &value) && value > 0 && value < 65536;
}

static bool read_host(struct vd_remote_url *out, struct vd_slice text)
{
    const char *end = text.n ? memchr(text.p, ']', text.n) : NULL;
    if (text.n && text.p[0] == '[') {
        if (!end)
            return false;
        out->host = vd_slice(text.p + 1, (size_t)(end - text.p) - 1);
        text = vd_slice_from(text, out->host.n + 2);
        if (!is_address(out->host))
            return false;
    } else {
        const char *colon = text.n ? memchr(text.p, ':', text.n) : NULL;
        out->host = vd_slice(text.p, colon ? (size_t)(colon - text.p) : text.n);
        text = vd_slice_from(text, out->host.n);
        if (!is_word(out->host, ".-_"))
            return false;
    }
    if (!text.n)
        return true;
    out->port = vd_slice_from(text, 1);
    return text.p[0] == ':' && is_port(out->port);
}

static bool has_odd_bytes(struct vd_slice text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] <= ' ' || text.p[i] == 127)
            return true;
    return false;
}

int vd_remote_url_read(struct vd_remote_url *out, struct vd_slice text, struct vd_error *error)
{
    struct vd_slice rest = text;
    *out = (struct vd_remote_url){.user = VD_SLICE(""), .port = VD_SLICE("")};
    if (has_odd_bytes(text) || !take_scheme(&rest, &out->scheme))
        goto refused;
    const char *slash = rest.n ? memchr(rest.p, '/', rest.n) : NULL;
    struct vd_slice host = vd_slice(rest.p, slash ? (size_t)(slash - rest.p) : rest.n);
    out->path = vd_slice_from(rest, host.n);
    const char *at = host.n ? memchr(host.p, '@', host.n) : NULL;
    if (at) {
        out->user = vd_slice(host.p, (size_t)(at - host.p));
        host = vd_slice_from(host, out->user.n + 1);
        if (out->scheme != VD_REMOTE_SSH || !is_word(out->user, ".-_+"))
            goto refused;
    }
    if (out->path.n > 1 && read_host(out, host))
        return VD_OK;
refused:
    return vd_error_set(error, VD_ERR_INVALID,
                        "spec.remote.url is no URL of https, http or ssh without credentials");
}

/* ---- the policy ---- */

/* Digits and dots: a name that begins with "127." is no address. */
static bool is_dotted(struct vd_slice host)
{
    for (size_t i = 0; i < host.n; i++)
        if (host.p[i] != '.' && (host.p[i] < '0' || host.p[i] > '9'))
            return false;
    return true;
}

static bool is_loopback(struct vd_slice host)
{
    return vd_slice_is(host, "localhost") || vd_slice_is(host, "::1") ||
           (vd_slice_starts_with(host, VD_SLICE("127.")) && is_dotted(host));
}

int vd_remote_url_check(const struct vd_remote_url *url, const struct vd_remote_policy *policy,
                        struct vd_error *error)
{
    if (policy->allows[url->scheme] ||
        (url->scheme == VD_REMOTE_HTTP && policy->allows_http_loopback && is_loopback(url->host)))
        return VD_OK;
    return vd_error_set(error, VD_ERR_FORBIDDEN,
                        "this server follows no remote by %s%s: its setting git.remote-schemes "
                        "says which are allowed",
                        names[url->scheme],
                        url->scheme == VD_REMOTE_HTTP && policy->allows_http_loopback
                            ? " that is not on this machine"
                            : "");
}
