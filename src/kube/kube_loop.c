/* A loop's part of the Kubernetes face. */
#include "kube/call.h"
#include "kube/meter.h"
#include "kube/zip.h"

static bool after_turn(struct vd_turn_hook *hook)
{
    struct vd_kube_loop *l = VD_HEAP_OWNER(hook, struct vd_kube_loop, after);
    struct vd_registry_stats stats;
    vd_registry_stats(l->api->registry, &stats);
    vd_meters_turn(l->meters, &stats, stats.commit_ns ? vd_clock_mono_ns(l->kube->clock) : 0);
    return false;
}

void vd_kube_loop_init(struct vd_kube_loop *l, struct vd_kube *kube, struct vd_api_loop *api)
{
    *l = (struct vd_kube_loop){.kube = kube, .api = api, .loop = api->loop};
    l->after.run = after_turn;
    vd_kube_loop_init_watches(l);
    l->meters = vd_meters_new(api->loop->index);
}

void vd_kube_loop_follow(struct vd_kube_loop *l)
{
    vd_loop_hook(l->loop, &l->after);
}

void vd_kube_loop_release(struct vd_kube_loop *l)
{
    vd_timer_stop(l->loop, &l->starving);
    vd_meters_free(l->meters);
    vd_kube_loop_gzip_release(l);
    vd_buf_release(&l->frame);
    vd_buf_release(&l->piece);
    vd_buf_release(&l->written);
    vd_buf_release(&l->answer);
    vd_kube_loop_free_calls(l);
}
