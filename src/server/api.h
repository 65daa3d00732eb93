/*
 * The API: the Kubernetes face with all that it stands on - kinds, rules of access,
 * documents - and its part on every loop; and the table of routes, with those of the server
 * itself: health, metrics, who uses what.
 */
#ifndef VD_SERVER_API_H
#define VD_SERVER_API_H

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

enum { VD_API_ROUTES = 7 };

struct vd_api {
    struct vd_kube kube;
    struct vd_accounts accounts;
    struct vd_gatekeeper *gatekeeper;
    struct vd_authenticator authenticator;
    struct vd_server_metrics metrics;
    struct vd_health_endpoint health;
    bool anonymous_health; /* anybody may ask for it */
    struct vd_route own_routes[VD_API_ROUTES];
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
int vd_api_open(struct vd_api *api, struct vd_store *store, const struct vd_config *config,
                size_t loops_n, struct vd_loop *first, struct vd_error *error) VD_MUST_USE;

/* Writers of definitions are answered when these have seen to them. Before the loops
 * start. */
void vd_api_follow_definitions(struct vd_api *api, struct vd_definitions *definitions);

/* The part on one loop; before its HTTP service is initialised, whose hook must come
 * last. */
void vd_api_join(struct vd_api *api, size_t i, struct vd_loop *loop);

/* Has the loop's HTTP service serve all routes. After vd_api_join(). */
void vd_api_serve(struct vd_api *api, struct vd_http_service *service);

/* The rest of it; after the HTTP service is initialised. */
void vd_api_follow(struct vd_api *api, size_t i);

/* A request is over: for the service's `finished`. */
void vd_api_finished(struct vd_api *api, struct vd_exchange *x, bool log);

/* From the main thread, on SIGHUP: issuers, audit policy and audit log again. What fails stays as
 * it was, and the log says so. */
void vd_api_reload(struct vd_api *api);

/* When no request comes any more, before the loops stop: waits until the store has
 * answered every write, so that no answer comes to a loop that is gone. */
void vd_api_settle(struct vd_api *api);

/* When the loops have stopped and all connections are closed. */
void vd_api_close(struct vd_api *api);

#endif
