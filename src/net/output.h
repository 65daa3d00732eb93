/* A connection's output: what is queued, and how it leaves. For src/net only. */
#ifndef VD_NET_OUTPUT_H
#define VD_NET_OUTPUT_H

#include "net/connection.h"

/* Queues bytes [from, end) and has them sent at the end of the turn. Takes over
 * the reference. */
void vd_output_add(struct vd_connection *c, struct vd_bytes *bytes, size_t from, size_t end);

/* Has the connection looked at when the turn ends, whatever is queued. */
void vd_output_mark(struct vd_connection *c);

void vd_output_unmark(struct vd_connection *c);

/* Sends what the socket takes, and no more than a turn's share. False: the connection is broken. */
bool vd_output_flush(struct vd_connection *c);

void vd_output_release(struct vd_connection *c);

#endif
