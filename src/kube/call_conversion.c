/* See call_conversion.h. */
#include "kube/call_conversion.h"

#include "kinds/object.h"
#include "kube/call_write.h"

static void on_drained(struct vd_exchange *x)
{
    (void)x;
}

static void on_gone(struct vd_exchange *x)
{
    struct vd_call *call = x->arg;
    vd_conversion_abandon(call->conversion);
    vd_call_free(call);
}

static const struct vd_exchange_ops waiting = {on_drained, on_gone};

void vd_call_reply_unconverted(struct vd_call *call, const struct vd_error *error)
{
    struct vd_status status = vd_status_conversion_failed(&call->arena, error);
    vd_call_reply_status(call, &status);
}

static void converted(struct vd_conversion *c)
{
    struct vd_call *call = c->arg;
    call->conversion = NULL;
    call->x->ops = NULL;
    if (!c->code)
        call->then(call, c->items.p[0].converted);
    else if (call->write.as_stored) /* the deletion stands; only its answer could not be shown */
        vd_call_reply_deleted(call);
    else
        vd_call_reply_unconverted(call, &c->error);
    vd_conversion_free(c);
}

void vd_call_convert(struct vd_call *call, const struct vd_kind *to, struct vd_slice body,
                     uint64_t revision,
                     void (*then)(struct vd_call *call, struct vd_body *converted))
{
    struct vd_body *copy = vd_body_new((struct vd_template){body, 0}, 0);
    call->conversion = vd_conversion_new(call->l->api, to, converted, call);
    call->then = then;
    vd_conversion_add(call->conversion, copy, revision, false, VD_WRITTEN_NOW);
    vd_body_unref(copy);
    call->x->ops = &waiting;
    call->x->arg = call;
    vd_conversion_start(call->conversion);
}
