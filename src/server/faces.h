/*
 * The faces of the server, with all that they need - kinds, rules of access, the verbs of src/api,
 * what is noted of requests - and their part on every loop; and the table of routes, with those of
 * the server itself: health, metrics, who uses what, and the welcome page.
 */
#ifndef VD_SERVER_FACES_H
#define VD_SERVER_FACES_H

#include "api/definitions.h"
#include "api/loop.h"
#include "auth/gatekeeper.h"
#include "net/account.h"
#include "net/route.h"
#include "request/loop.h"
#include "server/authenticator.h"
#include "server/config.h"
#include "server/health.h"
#include "server/metrics.h"
#include "server/welcome.h"

enum { VD_FACES_ROUTES = 6 }; /* of the server itself */

struct vd_audit;
struct vd_controller;
struct vd_git;
struct vd_kube;

struct vd_faces {
    struct vd_kube *kube;
    struct vd_git *git;
    struct vd_audit *audit; /* NULL: nothing is audited */
    struct vd_accounts accounts;
    struct vd_gatekeeper *gatekeeper;
    struct vd_authenticator authenticator;
    struct vd_server_metrics metrics;
    struct vd_health_endpoint health;
    bool anonymous_health; /* anybody may ask for it */
    struct vd_route own_routes[VD_FACES_ROUTES];
    struct vd_route_table routes;
    struct vd_welcome welcome;
    struct vd_api_env env;
    struct vd_api_loop *api_loops;
    struct vd_request_loop *request_loops;
    bool access_log;
    size_t n; /* loops */
};

/* Opens on a store, and creates the objects that every store has. Before the loops
 * start; loop 0 is where changes of roles are taken in. */
int vd_faces_open(struct vd_faces *faces, struct vd_store *store, const struct vd_config *config,
                  size_t loops_n, struct vd_loop *first, struct vd_error *error) VD_MUST_USE;

/* Writers of definitions are answered when these have seen to them. Before the loops
 * start. */
void vd_faces_follow_definitions(struct vd_faces *faces, struct vd_definitions *definitions);

/* The controller, which is not started yet, looks after what the faces keep beside the store.
 * Before the loops start. */
void vd_faces_follow_controller(struct vd_faces *faces, struct vd_controller *controller);

/* The part on one loop; before its HTTP service is initialised, whose hook must come
 * last. */
void vd_faces_join(struct vd_faces *faces, size_t i, struct vd_loop *loop);

/* Has the loop's HTTP service serve all routes. After vd_faces_join(). */
void vd_faces_serve(struct vd_faces *faces, struct vd_http_service *service);

/* The rest of it; after the HTTP service is initialised. */
void vd_faces_follow(struct vd_faces *faces, size_t i);

/* A request is over: for the service's `finished`. */
void vd_faces_finished(struct vd_faces *faces, struct vd_exchange *x);

/* From the main thread, on SIGHUP: issuers, audit policy and audit log again. What fails stays as
 * it was, and the log says so. */
void vd_faces_reload(struct vd_faces *faces);

/* When no request comes any more, before the loops stop: gives up what no request waits for, and
 * waits until the store has answered every write, so that no answer comes to a loop that is gone.
 */
void vd_faces_settle(struct vd_faces *faces);

/* When the loops have stopped and all connections are closed. */
void vd_faces_close(struct vd_faces *faces);

#endif
