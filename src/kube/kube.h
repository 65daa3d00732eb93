/*
 * The Kubernetes face: REST over the verbs of src/api. It has all paths that no other route has.
 *
 *     kube = vd_kube_open(&options, &env, loops_n);
 *     vd_kube_add_routes(kube, &routes);
 *     vd_kube_join(kube, &api_loops[i], &request_loops[i]);     for each loop
 *     ...                                                       the loops run
 *     vd_kube_close(kube);
 */
#ifndef VD_KUBE_KUBE_H
#define VD_KUBE_KUBE_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

struct vd_api_env;
struct vd_api_loop;
struct vd_kube;
struct vd_request_loop;
struct vd_route_table;

struct vd_kube_options {
    uint64_t bookmark_ms;           /* about how often a watch that wants them gets a bookmark */
    uint64_t watch_min_s;           /* a watch without timeoutSeconds ends between this ... */
    uint64_t watch_max_s;           /* ... and this */
    const char *kubernetes_version; /* whose API is served: "v1.32.4" */
    const char *release;            /* of this program: "0.1.0" */
};

/* Texts of the options are borrowed for the call, the environment for as long as the face is open;
 * its gatekeeper is there. */
struct vd_kube *vd_kube_open(const struct vd_kube_options *options, const struct vd_api_env *env,
                             size_t loops_n) VD_MUST_USE;

/* When the loops have stopped and all connections are closed. NULL is fine. */
void vd_kube_close(struct vd_kube *kube);

/* Before the loops start. */
void vd_kube_add_routes(struct vd_kube *kube, struct vd_route_table *routes);

/* The face's part on the loop of these two, which are borrowed until vd_kube_close(). Before the
 * loop starts. */
void vd_kube_join(struct vd_kube *kube, struct vd_api_loop *api, struct vd_request_loop *requests);

#endif
