/*
 * A connection that was upgraded: an exchange of HTTP/1.1 was answered with 101, and from then on
 * its owner reads and writes plain bytes (vd_exchange_upgrade). See protocol.h.
 *
 * The exchange stays, with its account and its ops; TLS, output and turns are as before. Bytes are
 * not read while much waits to be sent to the client.
 *
 * For src/net only. All on the loop's thread.
 */
#ifndef VD_NET_UPGRADE_H
#define VD_NET_UPGRADE_H

#include "net/connection.h"

/* The request is forgotten. What has come behind it is given to `received` at the end of the
 * turn. */
void vd_upgrade_start(struct vd_connection *c);

#endif
