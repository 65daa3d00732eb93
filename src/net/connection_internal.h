/* What connection.c and the protocols share. */
#ifndef VD_NET_CONNECTION_INTERNAL_H
#define VD_NET_CONNECTION_INTERNAL_H

#include "net/connection.h"

/* Ends the connection at once. Its memory stays until the turn's end. */
void vd_connection_close(struct vd_connection *c);

/* Into the service's list, and out of it. */
void vd_connection_link(struct vd_connection *c);
void vd_connection_unlink(struct vd_connection *c);

/* Ends the oldest stranger that is not being answered. */
void vd_strangers_make_room(struct vd_http_service *service);

/* It is no stranger any more. */
void vd_connection_set_has_user(struct vd_connection *c);

/* Lets the backlog out, and no more comes after it. */
void vd_connection_begin_close(struct vd_connection *c);

/* Reads what it has sent, on its turn. */
void vd_connection_read(struct vd_connection *c);

void vd_connection_set_deadline(struct vd_connection *c, uint64_t ms);

/* Ends a connection that has sent nothing since the deadline was set. */
void vd_connection_close_if_stuck(struct vd_connection *c);

/* Waits for what concerns the connection now: bytes to read, room for those that it sends. */
void vd_connection_set_events(struct vd_connection *c);

/* Memory for a request: empty, and back. NULL may be given. */
struct vd_intake *vd_intake_take(struct vd_http_service *service) VD_MUST_USE;
void vd_intake_give(struct vd_http_service *service, struct vd_intake *in);
void vd_intake_free_spare(struct vd_http_service *service);

/* So many bytes of it are of a request about which nobody was asked yet. False: those of all
 * connections together are too many. */
bool vd_intake_count(struct vd_http_service *service, struct vd_intake *in, size_t n);

#endif
