/*
 * The Kubernetes face: REST over the store.
 *
 * The server has one `struct vd_kube` and, on each loop, one `struct vd_kube_loop`. It gives every
 * request to vd_kube_handle() once it knows who is asking.
 */
#ifndef VD_KUBE_KUBE_H
#define VD_KUBE_KUBE_H

#include "api/loop.h"
#include "auth/access.h"
#include "auth/gatekeeper.h"
#include "auth/service_account.h"
#include "auth/user.h"
#include "kinds/kinds.h"
#include "kube/discovery/documents.h"
#include "kube/meter.h"
#include "kube/table/tables.h"
#include "net/exchange.h"

struct vd_audit;
struct vd_call;
struct vd_gzip;

struct vd_kube_options {
    uint64_t bookmark_ms;    /* about how often a watch that wants them gets a bookmark */
    uint64_t watch_min_s;    /* a watch without timeoutSeconds ends between this ... */
    uint64_t watch_max_s;    /* ... and this */
    const char *git_version; /* what /version says: "v1.32.4+vedette.0.1.0" */
    bool access_log;         /* what requests the log may name when they end */
};

struct vd_kube {
    struct vd_kinds *kinds;
    const struct vd_clock *clock;
    struct vd_kube_options options;
    struct vd_gatekeeper *gatekeeper; /* who may do what, and whose credential is good */
    struct vd_audit *audit;           /* NULL: nothing is audited; see audit.h */
    struct vd_tables *tables;
    struct vd_documents *documents;             /* discovery and OpenAPI */
    const struct vd_service_accounts *accounts; /* issues tokens; NULL: none are */
};

/* One loop's part of the face. */
struct vd_kube_loop {
    struct vd_kube *kube;
    struct vd_api_loop *api; /* shared with the other faces on the loop */
    struct vd_loop *loop;
    struct vd_buf frame;   /* scratch for frames */
    struct vd_buf piece;   /* scratch for what goes into them compressed */
    struct vd_gzip *gzip;  /* NULL until somebody wants it */
    struct vd_buf written; /* scratch for an object that was written, ... */
    struct vd_buf answer;  /* ... and for the answer that shows one */
    struct vd_call *spare; /* calls for the next requests, with their memory */
    size_t spare_n;
    struct vd_meters *meters;
    struct vd_turn_hook after; /* tells the meters what has left */
};

/* On the loop, or before it starts. */
void vd_kube_loop_init(struct vd_kube_loop *l, struct vd_kube *kube, struct vd_api_loop *api);
void vd_kube_loop_release(struct vd_kube_loop *l);

/* After the hook that flushes connections was added. */
void vd_kube_loop_follow(struct vd_kube_loop *l);

/* For the service's `finished`: counts the request, logs it if that is wanted, and
 * frees its request info. */
void vd_kube_finished(struct vd_kube_loop *l, struct vd_exchange *x, bool log);

/* Answers a request, now or later. A reference to the user is taken. */
void vd_kube_handle(struct vd_kube_loop *l, struct vd_exchange *x, struct vd_user *user);

/* A page of somebody else's, at a path that is no resource: whether the user may see it goes by the
 * path, and it is audited, logged and compressed as the face's own paths are. NULL: it has been
 * answered; else vd_kube_end_page() has to be called, at once. */
struct vd_call *vd_kube_begin_page(struct vd_kube_loop *l, struct vd_exchange *x,
                                   struct vd_user *user) VD_MUST_USE;
void vd_kube_end_page(struct vd_call *page, struct vd_slice content_type, struct vd_slice text);

#endif
