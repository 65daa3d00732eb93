/* See kube.h: opening and closing the face, its routes, and its part on a loop. */
#include "kube/kube.h"

#include <stdlib.h>

#include "api/streams.h"
#include "base/alloc.h"
#include "base/limits.h"
#include "kube/call.h"
#include "kube/refusal.h"
#include "net/connection.h"

/* ---- a loop's part ---- */

void vd_kube_loop_init(struct vd_kube_loop *l, struct vd_kube *kube, struct vd_api_loop *api,
                       struct vd_request_loop *requests)
{
    *l = (struct vd_kube_loop){.kube = kube, .api = api, .requests = requests, .loop = api->loop};
}

void vd_kube_loop_release(struct vd_kube_loop *l)
{
    vd_buf_release(&l->frame);
    vd_buf_release(&l->piece);
    vd_buf_release(&l->written);
    vd_buf_release(&l->answer);
    vd_kube_loop_free_calls(l);
}

void vd_kube_join(struct vd_kube *kube, struct vd_api_loop *api, struct vd_request_loop *requests)
{
    vd_kube_loop_init(&kube->loops[api->loop->index], kube, api, requests);
}

/* ---- routes ---- */

static struct vd_kube_loop *loop_of(const struct vd_route *route, const struct vd_loop *loop)
{
    struct vd_kube *kube = route->arg;
    return &kube->loops[loop->index];
}

static void handle(struct vd_http_service *service, struct vd_exchange *x)
{
    (void)service;
    vd_kube_handle(loop_of(x->route, x->loop), x, x->user);
}

static void refuse(struct vd_http_service *service, struct vd_exchange *x,
                   const struct vd_route_refusal *refusal)
{
    (void)service;
    vd_kube_refuse(loop_of(x->route, x->loop), x, refusal);
}

static void drain(struct vd_http_service *service, const struct vd_route *route, uint64_t spread_ms)
{
    vd_api_streams_drain(loop_of(route, service->loop)->api, spread_ms);
}

void vd_kube_add_routes(struct vd_kube *kube, struct vd_route_table *routes)
{
    kube->route = (struct vd_route){.prefix = VD_SLICE(""),
                                    .body_len_max = VD_BODY_LEN_MAX,
                                    .handle = handle,
                                    .refuse = refuse,
                                    .drain = drain,
                                    .arg = kube};
    vd_route_table_add(routes, &kube->route);
}

/* ---- opening ---- */

struct vd_kube *vd_kube_open(const struct vd_kube_options *options, const struct vd_api_env *env,
                             size_t loops_n)
{
    struct vd_kube *kube = VD_NEW(struct vd_kube);
    *kube = (struct vd_kube){
        .env = env,
        .options = *options,
        .tables = vd_tables_new(),
        .documents = vd_documents_new(vd_slice_of(options->kubernetes_version)),
        .accounts = vd_gatekeeper_accounts(env->gatekeeper),
        .loops = vd_calloc(loops_n, sizeof *kube->loops),
        .loops_n = loops_n,
    };
    vd_buf_addf(&kube->git_version, "%s+vedette.%s", options->kubernetes_version, options->release);
    return kube;
}

void vd_kube_close(struct vd_kube *kube)
{
    if (!kube)
        return;
    for (size_t i = 0; i < kube->loops_n; i++)
        if (kube->loops[i].kube)
            vd_kube_loop_release(&kube->loops[i]);
    free(kube->loops);
    vd_documents_free(kube->documents);
    vd_tables_free(kube->tables);
    vd_buf_release(&kube->git_version);
    free(kube);
}
