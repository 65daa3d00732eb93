/*
 * The API: the Kubernetes face with all that it stands on - kinds, rules of access,
 * documents - and its part on every loop.
 */
#ifndef VD_SERVER_API_H
#define VD_SERVER_API_H

#include "kube/kube.h"
#include "net/account.h"
#include "server/config.h"
#include "server/definitions.h"
#include "server/gatekeeper.h"
#include "server/metrics.h"
#include "server/welcome.h"

struct vd_api {
    struct vd_kube kube;
    struct vd_accounts accounts;
    struct vd_gatekeeper *gatekeeper;
    struct vd_metrics_desk metrics;
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

/* Where the users of a loop take turns, for its HTTP service. */
struct vd_turnstile *vd_api_turnstile(struct vd_api *api, size_t i);

/* The rest of it; after the HTTP service is initialised. */
void vd_api_follow(struct vd_api *api, size_t i);

/* A request of loop i is over: for the service's `finished`. */
void vd_api_finished(struct vd_api *api, size_t i, struct vd_exchange *x, bool log);

/* Whether the request comes with a credential that is good. */
bool vd_api_knows(struct vd_api *api, struct vd_exchange *x);

/* Judges the head of a request of loop i whose body has not come, or is large, when it is its
 * user's turn: asks for the body, or answers. */
void vd_api_admit(struct vd_api *api, size_t i, struct vd_exchange *x);

/* Answers a request of loop i, when it is its user's turn. */
void vd_api_handle(struct vd_api *api, size_t i, struct vd_exchange *x);

/* Answers one that could not be read, with a Status. */
void vd_api_refuse(struct vd_exchange *x, unsigned code, const char *why);

/* From the main thread, on SIGHUP: issuers, audit policy and audit log again. What fails stays as
 * it was, and the log says so. */
void vd_api_reload(struct vd_api *api);

/* On loop i: ends its watches, spread over a while. */
void vd_api_drain(struct vd_api *api, size_t i, uint64_t spread_ms);

/* When no request comes any more, before the loops stop: waits until the store has
 * answered every write, so that no answer comes to a loop that is gone. */
void vd_api_settle(struct vd_api *api);

/* When the loops have stopped and all connections are closed. */
void vd_api_close(struct vd_api *api);

#endif
