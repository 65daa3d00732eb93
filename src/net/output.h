/* A connection's output: what is queued, and how it leaves. For src/net only. */
#ifndef VD_NET_OUTPUT_H
#define VD_NET_OUTPUT_H

#include "net/connection.h"

/*
 * Charges an account (NULL: nobody) for bytes that wait to be sent, as they are held: all of them
 * until the last one has left, and once, however many streams of the account wait for the same
 * bytes. Only the first account that waits for them is so lucky: others are charged for each
 * stream. Gives what vd_output_discharge() needs.
 */
size_t vd_output_charge(struct vd_account *account, struct vd_bytes *bytes) VD_MUST_USE;
void vd_output_discharge(struct vd_account *account, struct vd_bytes *bytes, size_t charge);

/* Queues bytes [from, end) and has them sent at the end of the turn. Takes over
 * the reference. */
void vd_output_add(struct vd_connection *c, struct vd_bytes *bytes, size_t from, size_t end);

/* The same without a charge: for a part of bytes that are charged for elsewhere. */
void vd_output_add_free(struct vd_connection *c, struct vd_bytes *bytes, size_t from, size_t end);

/* Queues all of the bytes as one chunk of HTTP/1.1. */
void vd_output_add_chunk(struct vd_connection *c, struct vd_bytes *bytes);

/* What waits is charged to another account from now on, or to nobody. */
void vd_output_recharge(struct vd_connection *c, struct vd_account *account);

/* Has the connection looked at when the turn ends, whatever is queued. */
void vd_output_mark(struct vd_connection *c);

void vd_output_unmark(struct vd_connection *c);

/* Sends what the socket takes, and no more than a turn's share. False: the connection is broken. */
bool vd_output_flush(struct vd_connection *c);

void vd_output_release(struct vd_connection *c);

#endif
