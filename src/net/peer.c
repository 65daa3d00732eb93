/* See peer.h. */
#include "net/peer.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "net/connection.h"

struct vd_peer vd_peer_of(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t n = sizeof address;
    struct vd_peer peer = {0};
    const unsigned char *bytes = NULL;
    if (getpeername(fd, (struct sockaddr *)&address, &n))
        return peer;
    if (address.ss_family == AF_INET) {
        bytes = (const unsigned char *)&((struct sockaddr_in *)&address)->sin_addr;
        peer.len = 4;
    } else if (address.ss_family == AF_INET6) {
        const struct in6_addr *six = &((struct sockaddr_in6 *)&address)->sin6_addr;
        bool mapped = IN6_IS_ADDR_V4MAPPED(six);
        bytes = six->s6_addr + (mapped ? 12 : 0);
        peer.len = mapped ? 4 : 16;
    }
    if (bytes)
        memcpy(peer.bytes, bytes, peer.len);
    return peer;
}

struct vd_slice vd_peer_address(const struct vd_peer *peer, char out[INET6_ADDRSTRLEN])
{
    const char *text = peer->len ? inet_ntop(peer->len == 4 ? AF_INET : AF_INET6, peer->bytes, out,
                                             INET6_ADDRSTRLEN)
                                 : NULL;
    return text ? vd_slice_of(text) : VD_SLICE("");
}

X509 *vd_connection_certificate(const struct vd_connection *c)
{
    if (!c->transport.ssl || SSL_get_verify_result(c->transport.ssl) != X509_V_OK)
        return NULL;
    return SSL_get1_peer_certificate(c->transport.ssl);
}
