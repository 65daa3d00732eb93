/* See call.h. */
#include "kube/call.h"

#include <stdlib.h>

#include "base/alloc.h"

enum {
#ifdef __SANITIZE_ADDRESS__
    SPARES_MAX = 0, /* a call that is used when it is gone would be another's, and not be seen */
#else
    SPARES_MAX = 32, /* calls that are kept, ... */
#endif
    SPARE_LEN_MAX = 32768, /* ... with so much of an arena and of a body */
};

struct vd_status_target vd_call_status_target(const struct vd_call *call)
{
    return (struct vd_status_target){
        .group = call->target.group, .plural = call->target.resource, .name = call->target.name};
}

struct vd_key vd_call_key(const struct vd_call *call)
{
    bool spaced = call->kind->namespaced;
    return (struct vd_key){call->kind->resource, spaced ? call->target.namespace : VD_SLICE(""),
                           call->target.name};
}

struct vd_continue_scope vd_call_continue_scope(const struct vd_call *call)
{
    return (struct vd_continue_scope){
        call->kind->namespaced, call->kind->namespaced ? call->target.namespace : VD_SLICE("")};
}

/* What a watch leaves behind would otherwise lie between the holes of calls that were freed; and
 * what a call needs is too large for the heap to have it at hand. */
struct vd_call *vd_call_new(struct vd_kube_loop *l)
{
    struct vd_call *call = l->spare;
    struct vd_arena arena = {0};
    struct vd_buf body = {0};
    if (call) {
        l->spare = call->next;
        l->spare_n--;
        arena = call->arena;
        body = call->write.body;
    } else {
        call = vd_malloc(sizeof *call);
    }
    *call = (struct vd_call){.kube = l->kube, .l = l, .arena = arena, .write = {.body = body}};
    call->write.arena = &call->arena;
    return call;
}

static void keep(struct vd_kube_loop *l, struct vd_call *call)
{
    call->next = l->spare;
    l->spare = call;
    l->spare_n++;
}

static void discard(struct vd_call *call)
{
    vd_arena_release(&call->arena);
    vd_buf_release(&call->write.body);
    free(call);
}

void vd_call_free(struct vd_call *call)
{
    vd_write_release(&call->write);
    vd_kind_set_unref(call->kinds);
    vd_user_unref(call->user);
    vd_arena_reset(&call->arena);
    vd_buf_reset(&call->write.body);
    if (call->l->spare_n + 1 <= SPARES_MAX && call->arena.total <= SPARE_LEN_MAX &&
        call->write.body.cap <= SPARE_LEN_MAX)
        keep(call->l, call);
    else
        discard(call);
}

void vd_kube_loop_free_calls(struct vd_kube_loop *l)
{
    while (l->spare) {
        struct vd_call *call = l->spare;
        l->spare = call->next;
        discard(call);
    }
    l->spare_n = 0;
}

int vd_call_filter(struct vd_call *call, const struct vd_list_options *o, struct vd_filter **out,
                   struct vd_error *error)
{
    return vd_api_filter(out,
                         &(struct vd_selection){
                             .kind = call->kind,
                             .namespace = call->target.namespace,
                             .name = call->target.name, /* of the old way to watch one object */
                             .labels = o->labels,
                             .fields = o->fields,
                             .format = (uint32_t)call->output.form << 8 |
                                       (uint32_t)call->output.version << 4 |
                                       (uint32_t)call->output.object,
                         },
                         &call->arena, error);
}
