/* Who is at the other end of a connection. */
#ifndef VD_NET_PEER_H
#define VD_NET_PEER_H

#include <netinet/in.h>

#include "net/connection.h"

/* The client's address, "127.0.0.1" or "::1", without the port; empty when the socket does not say.
 * An IPv4 client of an IPv6 door has its IPv4 address. */
struct vd_slice vd_peer_address(const struct vd_connection *connection, char out[INET6_ADDRSTRLEN]);

#endif
