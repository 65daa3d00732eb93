/* A loop's part of the Kubernetes face. */
#include "base/container_of.h"
#include "kube/call.h"
#include "kube/gzip.h"
#include "kube/meter.h"

static bool after_turn(struct vd_turn_hook *hook)
{
    struct vd_kube_loop *l = VD_CONTAINER_OF(hook, struct vd_kube_loop, after);
    vd_meters_turn(l->meters);
    return false;
}

void vd_kube_loop_init(struct vd_kube_loop *l, struct vd_kube *kube, struct vd_api_loop *api)
{
    *l = (struct vd_kube_loop){.kube = kube, .api = api, .loop = api->loop};
    l->after.run = after_turn;
    l->meters = vd_meters_new();
}

void vd_kube_loop_follow(struct vd_kube_loop *l)
{
    vd_loop_hook(l->loop, &l->after);
}

void vd_kube_loop_release(struct vd_kube_loop *l)
{
    vd_meters_free(l->meters);
    vd_kube_loop_gzip_release(l);
    vd_buf_release(&l->frame);
    vd_buf_release(&l->piece);
    vd_buf_release(&l->written);
    vd_buf_release(&l->answer);
    vd_kube_loop_free_calls(l);
}
