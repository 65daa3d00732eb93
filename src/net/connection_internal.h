/* What connection.c and exchange.c share. */
#ifndef VD_NET_CONNECTION_INTERNAL_H
#define VD_NET_CONNECTION_INTERNAL_H

#include "net/connection.h"

/* Ends the connection at once. Its memory stays until the turn's end. */
void vd_connection_close(struct vd_connection *c);

/* It is no stranger any more. */
void vd_connection_set_known(struct vd_connection *c);

/* The answer is queued whole: on to the next request, or to the end. */
void vd_connection_finish_answer(struct vd_connection *c);

/* Frees the intake, but for bytes that belong to later requests. */
void vd_connection_forget_request(struct vd_connection *c);

#endif
