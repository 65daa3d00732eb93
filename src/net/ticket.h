/*
 * A ticket: a connection with something to read waits for its user's turn (turn_queue.h).
 *
 * What the client has sent stays in its socket meanwhile, where it costs nothing: a user
 * with hundreds of busy connections would otherwise have all their requests received and
 * understood between any two of somebody else's. Whoever has not said who he is needs no
 * ticket: it may be a probe of the server's health.
 */
#ifndef VD_NET_TICKET_H
#define VD_NET_TICKET_H

#include <stdbool.h>

#include "base/attributes.h"

struct vd_account;
struct vd_connection;

/* True: it is to be read now, and vd_ticket_leave() called with *flow_of. False: it has a
 * ticket, and vd_connection_read() will be called when it is its turn. */
bool vd_ticket_enter(struct vd_connection *c, struct vd_account **flow_of) VD_MUST_USE;
void vd_ticket_leave(struct vd_connection *c, struct vd_account *flow_of);

/* It does not wait any more, if it did. */
void vd_ticket_give_back(struct vd_connection *c);

#endif
