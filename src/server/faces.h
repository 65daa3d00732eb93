/*
 * The faces of the server, with all that they stand on - kinds, rules of access, the verbs of
 * src/api - and their part on every loop; and the table of routes, with those of the server
 * itself: health, metrics, who uses what.
 */
#ifndef VD_SERVER_FACES_H
#define VD_SERVER_FACES_H

#include "api/definitions.h"
#include "auth/gatekeeper.h"
#include "kube/kube.h"
#include "net/account.h"
#include "net/route.h"
#include "server/authenticator.h"
#include "server/config.h"
#include "server/health.h"
#include "server/metrics.h"
#include "server/welcome.h"

enum { VD_FACES_ROUTES = 7 };

struct vd_faces {
    struct vd_kube kube;
    struct vd_accounts accounts;
    struct vd_gatekeeper *gatekeeper;
    struct vd_authenticator authenticator;
    struct vd_server_metrics metrics;
    struct vd_health_endpoint health;
    bool anonymous_health; /* anybody may ask for it */
    struct vd_route own_routes[VD_FACES_ROUTES];
    struct vd_route_table routes;
    struct vd_welcome welcome;
    struct vd_buf git_version; /* "v1.32.4+vedette.0.1.0" */
    struct vd_api_env env;
    struct vd_api_loop *api_loops;
    struct vd_kube_loop *loops;
    size_t n;
};

/* Opens on a store, and creates the objects that every store has. Before the loops
 * start; loop 0 is where changes of roles are taken in. */
int vd_faces_open(struct vd_faces *faces, struct vd_store *store, const struct vd_config *config,
                  size_t loops_n, struct vd_loop *first, struct vd_error *error) VD_MUST_USE;

/* Writers of definitions are answered when these have seen to them. Before the loops
 * start. */
void vd_faces_follow_definitions(struct vd_faces *faces, struct vd_definitions *definitions);

/* The part on one loop; before its HTTP service is initialised, whose hook must come
 * last. */
void vd_faces_join(struct vd_faces *faces, size_t i, struct vd_loop *loop);

/* Has the loop's HTTP service serve all routes. After vd_faces_join(). */
void vd_faces_serve(struct vd_faces *faces, struct vd_http_service *service);

/* The rest of it; after the HTTP service is initialised. */
void vd_faces_follow(struct vd_faces *faces, size_t i);

/* A request is over: for the service's `finished`. */
void vd_faces_finished(struct vd_faces *faces, struct vd_exchange *x, bool log);

/* From the main thread, on SIGHUP: issuers, audit policy and audit log again. What fails stays as
 * it was, and the log says so. */
void vd_faces_reload(struct vd_faces *faces);

/* When no request comes any more, before the loops stop: waits until the store has
 * answered every write, so that no answer comes to a loop that is gone. */
void vd_faces_settle(struct vd_faces *faces);

/* When the loops have stopped and all connections are closed. */
void vd_faces_close(struct vd_faces *faces);

#endif
