/* What the Kubernetes face keeps: once for the server, and once for each loop. */
#ifndef VD_KUBE_KUBE_INTERNAL_H
#define VD_KUBE_KUBE_INTERNAL_H

#include "api/loop.h"
#include "auth/service_account.h"
#include "kube/discovery/documents.h"
#include "kube/kube.h"
#include "kube/table/tables.h"
#include "net/route.h"
#include "request/loop.h"

struct vd_call;

struct vd_kube {
    const struct vd_api_env *env; /* kinds, clock and gatekeeper */
    struct vd_kube_options options;
    struct vd_buf git_version; /* as /version says it: "v1.32.4+vedette.0.1.0" */
    struct vd_tables *tables;
    struct vd_documents *documents;             /* discovery and OpenAPI */
    const struct vd_service_accounts *accounts; /* issues tokens; NULL: none are */
    struct vd_route route;                      /* of all paths */
    struct vd_kube_loop *loops;                 /* by the loop's index */
    size_t loops_n;
};

/* One loop's part of the face. */
struct vd_kube_loop {
    struct vd_kube *kube;             /* NULL: the face has not joined the loop */
    struct vd_api_loop *api;          /* shared with the other faces on the loop, ... */
    struct vd_request_loop *requests; /* ... as is this */
    struct vd_loop *loop;
    struct vd_buf frame;   /* scratch memory for pieces of an answer, ... */
    struct vd_buf piece;   /* ... for a piece that is not compressed yet, ... */
    struct vd_buf written; /* ... for an object that was written, ... */
    struct vd_buf answer;  /* ... and for the answer that shows one */
    struct vd_call *spare; /* calls for the next requests, with their memory */
    size_t spare_n;
};

void vd_kube_loop_init(struct vd_kube_loop *l, struct vd_kube *kube, struct vd_api_loop *api,
                       struct vd_request_loop *requests);
void vd_kube_loop_release(struct vd_kube_loop *l);

/* Answers a request, now or later. A reference to the user is taken. */
void vd_kube_handle(struct vd_kube_loop *l, struct vd_exchange *x, struct vd_user *user);

#endif
