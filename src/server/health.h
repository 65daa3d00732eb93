/*
 * Health: /livez, /readyz and /healthz, in the manner of Kubernetes.
 *
 *     GET /readyz            ok
 *     GET /readyz?verbose    a line for each check, then "readyz check passed"
 *     GET /readyz/store      one check alone
 *
 * 200, or 503 with the lines when a check fails. Alive is who can answer, and whom a restart
 * would not help; ready is who can also write just now and wants more clients. A full disk is not
 * ready, and is again, without any request, when there is room. The reasons are for the log.
 */
#ifndef VD_SERVER_HEALTH_H
#define VD_SERVER_HEALTH_H

#include <stdatomic.h>
#include <stdbool.h>

#include "auth/gatekeeper.h"
#include "net/exchange.h"
#include "store/health.h"
#include "store/store.h"

/* Shared by all loops. */
struct vd_health_endpoint {
    struct vd_store *store;
    const struct vd_gatekeeper *gatekeeper; /* NULL: none yet */
    atomic_bool stopping;                   /* no more clients are wanted */
};

/* Answers if the path is one of these, on the exchange's loop; else false. */
bool vd_health_answer(struct vd_health_endpoint *endpoint, struct vd_exchange *x);

/* Adds all paths at this one and below it, a line each. */
void vd_health_paths(struct vd_slice path, struct vd_buf *out);

#endif
