/* See loop.h. */
#include "request/loop.h"

#include "base/container_of.h"
#include "request/gzip.h"

static bool after_turn(struct vd_turn_hook *hook)
{
    struct vd_request_loop *l = VD_CONTAINER_OF(hook, struct vd_request_loop, after);
    vd_meters_turn(l->meters);
    return false;
}

void vd_request_loop_init(struct vd_request_loop *l)
{
    l->after.run = after_turn;
    l->meters = vd_meters_new();
}

void vd_request_loop_follow(struct vd_request_loop *l)
{
    vd_loop_hook(l->loop, &l->after);
}

void vd_request_loop_release(struct vd_request_loop *l)
{
    vd_meters_free(l->meters);
    vd_request_gzip_release(l);
    vd_buf_release(&l->piece);
}
