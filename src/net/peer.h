/*
 * Who is at the other end of a connection: noted when it is accepted, since a socket whose client
 * has broken off cannot say it any more.
 */
#ifndef VD_NET_PEER_H
#define VD_NET_PEER_H

#include <netinet/in.h>

#include "base/slice.h"

struct vd_peer {
    unsigned char len; /* 4: IPv4, 16: IPv6, 0: the socket did not say */
    unsigned char bytes[16];
};

/* The peer of a connected socket. An IPv4 client of an IPv6 listener has its IPv4 address. */
struct vd_peer vd_peer_of(int fd);

/* Its address, "127.0.0.1" or "::1", without the port, written to `out`; empty when it is not
 * known. */
struct vd_slice vd_peer_address(const struct vd_peer *peer, char out[INET6_ADDRSTRLEN]);

#endif
