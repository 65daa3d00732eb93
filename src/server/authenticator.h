/*
 * Who sends a request, for all faces: before a route of the server is asked (net/route.h), the
 * authenticator finds the user of the token or certificate, charges the request to the account of
 * that user, and makes it wait for that user's turn. A face gets an exchange with its user and its
 * account.
 *
 * Somebody who may impersonate another user sends requests in the other's name; they are charged
 * to the account of whoever sends them.
 *
 * All on the exchange's loop.
 */
#ifndef VD_SERVER_AUTHENTICATOR_H
#define VD_SERVER_AUTHENTICATOR_H

#include "auth/gatekeeper.h"
#include "net/account.h"

struct vd_http_service;
struct vd_metric;

/* Shared by all loops. */
struct vd_authenticator {
    struct vd_gatekeeper *gatekeeper;
    struct vd_accounts *accounts;
    struct vd_metric *logins, *failed_logins;
};

/* For the service's `authenticate`; its `authenticator` is the one above. */
void vd_authenticate(struct vd_http_service *service, struct vd_exchange *x, bool is_head);

/* For the service's `finished`: lets go of the user, and of what the request was charged for. */
void vd_authenticator_finished(struct vd_exchange *x);

/* Whether the request comes with a credential that is good; nobody is charged. */
bool vd_authenticator_knows(struct vd_authenticator *a, struct vd_exchange *x);

/* Answers a request to speak WebSocket where nobody does. */
void vd_authenticator_refuse_websocket(struct vd_exchange *x);

#endif
