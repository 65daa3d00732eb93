/*
 * Routes: which part of the server answers which paths.
 *
 * A face - a part of the server that speaks to clients in its own way - registers a route for each
 * prefix of paths that it answers: how large a body may be there, and what is called on the way of
 * a request. The longest prefix wins. The table is made before the loops start and does not change
 * any more; all loops share it.
 *
 *   head        the route is found; its body_len_max holds
 *   admit       only if the body has not come with the head, or is large
 *   handle      the request is whole; where bodies are streamed, its head is
 *   finished    the answer is complete or broken off
 *
 * Who sends a request is found out once for all faces, before `admit` and before `handle`: by the
 * service's `authenticate`, which sets the exchange's user and account, and then goes on with
 * vd_route_admit() or vd_route_handle(). A route that is open is called without it.
 *
 * All on the exchange's loop, but for vd_route_table_add().
 */
#ifndef VD_NET_ROUTE_H
#define VD_NET_ROUTE_H

#include "base/vec.h"
#include "net/exchange.h"

struct vd_access;
struct vd_http_service;

/* Why a request is refused by whoever stands before the faces; the face says it in its way. */
struct vd_route_refusal {
    unsigned status; /* of HTTP */
    const char *why; /* for people; "": the status says it all */
    /* What the user may not do, of a 403 of whoever found out who he is; else NULL. This layer does
     * not look into it. */
    const struct vd_access *access;
    /* By who sends it, and not by what was sent: x->head is there. */
    bool is_of_user;
};

struct vd_route {
    /* "/metrics": that path, and those below it; "/": that path alone; "": all paths. */
    struct vd_slice prefix;
    /* Whether the request is one of this route's, besides the prefix; else the next shorter prefix,
     * or the next route with the same one, is looked at. NULL: each one is. */
    bool (*matches)(const struct vd_route *route, const struct vd_http_head *head);
    uint64_t body_len_max; /* where bodies are streamed, 0: any length */
    /* `handle` is called without the body, and reads it as it arrives (vd_exchange_read_body);
     * `admit` is not called. Such a route does not pass requests on: it says by `matches` which it
     * wants. */
    bool streams_body;
    bool is_open; /* nobody is asked who he is before `admit` and `handle` */
    /* For `authenticate`, which asks who he is: HTTP Basic is a credential here, with a token as
     * its password; and who brings no credential at all is the anonymous user, and not refused. */
    bool takes_basic, takes_anonymous;
    bool upgrades; /* it has an answer to those who want to speak WebSocket */
    /* Judges the head of a request whose body has not come with it, or is large: answers, or calls
     * vd_exchange_receive(), at once or later. NULL: the body is wanted. */
    void (*admit)(struct vd_http_service *service, struct vd_exchange *x);
    /* Answers a request, at once or later. */
    void (*handle)(struct vd_http_service *service, struct vd_exchange *x);
    /* Answers a request that is refused, at once and with vd_exchange_respond(); x->head is NULL
     * for one that is malformed, too large or too slow. NULL: the next shorter prefix that has a
     * `refuse` answers, unless it has only some paths (`matches`), and the exchange becomes its; if
     * there is none, the answer is plain text. */
    void (*refuse)(struct vd_http_service *service, struct vd_exchange *x,
                   const struct vd_route_refusal *refusal);
    /* The answer is complete or broken off; called before the service's `finished`, of the route
     * that the exchange belongs to then. NULL: none. */
    void (*finished)(struct vd_http_service *service, struct vd_exchange *x);
    /* The server stops: streams of this service's loop are to end, spread over so long. NULL: it
     * has none. */
    void (*drain)(struct vd_http_service *service, const struct vd_route *route,
                  uint64_t spread_ms);
    /* Adds the paths that a list of paths has for this route, a line each. NULL: the prefix. */
    void (*list)(const struct vd_route *route, struct vd_buf *out);
    void *arg; /* the face's */
};

/* Zeroed, it is empty. Whoever serves has at least one route, which is for all paths. */
struct vd_route_table {
    VD_VEC(const struct vd_route *) list; /* the longest prefix first */
};

/* The route is borrowed for as long as the table is used. Before the loops start. */
void vd_route_table_add(struct vd_route_table *routes, const struct vd_route *route);
void vd_route_table_release(struct vd_route_table *routes);

/* The route of the head's path; of a head that could not be read (NULL), that of all paths. */
const struct vd_route *vd_route_table_find(const struct vd_route_table *routes,
                                           const struct vd_http_head *head);

/* Adds the paths of all routes, a line each. */
void vd_route_table_list(const struct vd_route_table *routes, struct vd_buf *out);

/* ---- for the protocols ---- */

/* Whether somebody looks at the head before a body is read. */
bool vd_route_asks(const struct vd_http_service *service, const struct vd_route *route);

/* The head has come, or the whole request: on to `authenticate`, or to the route. */
void vd_route_begin_admit(struct vd_exchange *x);
void vd_route_begin_handle(struct vd_exchange *x);

void vd_route_finished(struct vd_exchange *x);

/* ---- for `authenticate` and for faces ---- */

void vd_route_admit(struct vd_exchange *x);
void vd_route_handle(struct vd_exchange *x);
void vd_route_refuse(struct vd_exchange *x, const struct vd_route_refusal *refusal);

/* The route of the exchange has no answer to it: it begins again with the next shorter prefix. In
 * `admit` or `handle`. Who was asked who he is, is not asked again. */
void vd_route_pass_admit(struct vd_exchange *x);
void vd_route_pass_handle(struct vd_exchange *x);

/* In `refuse`: the route leaves the answer to the next shorter prefix that has a `refuse`. */
void vd_route_pass_refusal(struct vd_exchange *x, const struct vd_route_refusal *refusal);

#endif
