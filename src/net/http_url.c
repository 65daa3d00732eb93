/* See http_url.h. */
#include "net/http_url.h"

#include <arpa/inet.h>
#include <strings.h>

#include "base/limits.h"

enum { HOST_LEN_MAX = 253 }; /* bytes of a host name */

static int refuse(struct vd_error *error, const char *why)
{
    return vd_error_set(error, VD_ERR_INVALID, "the URL %s", why);
}

static bool is_host_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
}

static bool is_address6(struct vd_slice host)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr address;
    if (host.n >= sizeof text)
        return false;
    memcpy(text, host.p, host.n);
    text[host.n] = 0;
    return inet_pton(AF_INET6, text, &address) == 1;
}

/* host, host:port, [address]:port */
static int parse_authority(struct vd_http_url *out, struct vd_error *error)
{
    struct vd_slice rest = out->authority;
    uint64_t number = out->tls ? 443 : 80;
    size_t n = 0;
    if (rest.n && rest.p[0] == '[') {
        const char *close = memchr(rest.p, ']', rest.n);
        n = close ? (size_t)(close - rest.p) + 1 : 0;
        out->host = vd_slice(rest.p + 1, n ? n - 2 : 0);
        if (!n || !is_address6(out->host))
            return refuse(error, "has brackets without an IPv6 address");
    } else {
        while (n < rest.n && is_host_byte(rest.p[n]))
            n++;
        out->host = vd_slice(rest.p, n);
    }
    if (!out->host.n || out->host.n > HOST_LEN_MAX)
        return refuse(error, "has no host, or one that is too long");
    if (n < rest.n) {
        struct vd_slice port = vd_slice_from(rest, n + 1);
        if (rest.p[n] != ':' || vd_slice_to_u64(port, &number) || !number || number > 65535)
            return refuse(error, "has no good port, or bytes that a host cannot have");
    }
    out->port = (uint16_t)number;
    return VD_OK;
}

int vd_http_url_parse(struct vd_http_url *out, struct vd_slice url, struct vd_error *error)
{
    *out = (struct vd_http_url){0};
    if (url.n > VD_HTTP_TARGET_LEN_MAX)
        return refuse(error, "is too long");
    for (size_t i = 0; i < url.n; i++)
        if ((unsigned char)url.p[i] <= ' ' || (unsigned char)url.p[i] >= 0x7f || url.p[i] == '#')
            return refuse(error, "has a blank, a fragment, or bytes that are not ASCII");
    if (url.n > 8 && strncasecmp(url.p, "https://", 8) == 0)
        out->tls = true;
    else if (url.n <= 7 || strncasecmp(url.p, "http://", 7) != 0)
        return refuse(error, "does not begin with https:// or http://");
    struct vd_slice rest = vd_slice_from(url, out->tls ? 8 : 7);
    size_t n = 0;
    while (n < rest.n && rest.p[n] != '/' && rest.p[n] != '?')
        n++;
    out->authority = vd_slice(rest.p, n);
    out->target = vd_slice_from(rest, n);
    if (out->target.n && out->target.p[0] == '?')
        return refuse(error, "wants a slash before its query");
    return parse_authority(out, error);
}

bool vd_http_url_is_local(const struct vd_http_url *url)
{
    char text[INET_ADDRSTRLEN];
    struct in_addr address;
    if (vd_slice_is(url->host, "::1") ||
        (url->host.n == 9 && strncasecmp(url->host.p, "localhost", 9) == 0))
        return true;
    if (url->host.n >= sizeof text)
        return false;
    memcpy(text, url->host.p, url->host.n);
    text[url->host.n] = 0;
    return inet_pton(AF_INET, text, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}
