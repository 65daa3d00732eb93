/* See peer.h. */
#include "net/peer.h"

#include <arpa/inet.h>
#include <sys/socket.h>

struct vd_slice vd_peer_address(const struct vd_connection *c, char out[INET6_ADDRSTRLEN])
{
    struct sockaddr_storage address = {0};
    socklen_t n = sizeof address;
    const char *text = NULL;
    if (getpeername(c->transport.fd, (struct sockaddr *)&address, &n))
        return VD_SLICE("");
    if (address.ss_family == AF_INET) {
        text = inet_ntop(AF_INET, &((struct sockaddr_in *)&address)->sin_addr, out,
                         INET6_ADDRSTRLEN);
    } else if (address.ss_family == AF_INET6) {
        const struct in6_addr *six = &((struct sockaddr_in6 *)&address)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(six))
            text = inet_ntop(AF_INET, &six->s6_addr[12], out, INET6_ADDRSTRLEN);
        else
            text = inet_ntop(AF_INET6, six, out, INET6_ADDRSTRLEN);
    }
    return text ? vd_slice_of(text) : VD_SLICE("");
}

X509 *vd_connection_certificate(const struct vd_connection *c)
{
    if (!c->transport.ssl || SSL_get_verify_result(c->transport.ssl) != X509_V_OK)
        return NULL;
    return SSL_get1_peer_certificate(c->transport.ssl);
}
