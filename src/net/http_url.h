/* Absolute URLs of http and https, for clients: where to connect, and what to ask for there. */
#ifndef VD_NET_HTTP_URL_H
#define VD_NET_HTTP_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"

/* All borrowed from the URL. */
struct vd_http_url {
    bool tls;
    struct vd_slice authority; /* host and port as written: the Host header */
    struct vd_slice host;      /* a name or an address, without the brackets of IPv6 */
    uint16_t port;
    struct vd_slice target; /* path and query; empty: "/" is meant */
};

/* VD_ERR_INVALID: not such a URL, or one with user names, a fragment, or bytes that no request
 * line may have. */
int vd_http_url_parse(struct vd_http_url *out, struct vd_slice url,
                      struct vd_error *error) VD_MUST_USE;

/* Whether the host is this machine: 127.x.x.x, ::1 or localhost. */
bool vd_http_url_is_local(const struct vd_http_url *url);

#endif
