/* See conversion.h. */
#include "api/conversion.h"

#include <stdlib.h>

#include "api/converter.h"
#include "api/loop.h"
#include "base/alloc.h"
#include "base/container_of.h"
#include "kinds/served_form.h"

bool vd_conversion_is_needed(const struct vd_kind *kind, struct vd_slice body)
{
    return VD_UNLIKELY(kind->webhook) && !vd_served_form_is_of_version(kind, body);
}

static void on_done(struct vd_task *task)
{
    struct vd_conversion *c = VD_CONTAINER_OF(task, struct vd_conversion, task);
    if (c->done)
        c->done(c);
    else
        vd_conversion_free(c);
}

struct vd_conversion *vd_conversion_new(struct vd_api_loop *l, const struct vd_kind *to,
                                        void (*done)(struct vd_conversion *conversion), void *arg)
{
    struct vd_conversion *c = VD_NEW(struct vd_conversion);
    c->loop = l->loop;
    c->converter = l->env->converter;
    c->to = vd_kind_ref((struct vd_kind *)(uintptr_t)to); /* for its count only */
    c->done = done;
    c->arg = arg;
    return c;
}

void vd_conversion_add(struct vd_conversion *c, struct vd_body *body, uint64_t revision,
                       bool leaves, uint64_t written)
{
    struct vd_buf room = {0};
    struct vd_conversion_item *item = VD_VEC_PUSH(&c->items);
    *item = (struct vd_conversion_item){vd_body_ref(body), revision, leaves, NULL};
    c->len += body->len;
    if (vd_conversion_is_needed(c->to, vd_body_slice(body)))
        return;
    struct vd_effort effort = {0};
    struct vd_slice converted;
    int code = vd_served_form_make(c->to, vd_body_slice(body), written, &room, &effort, &converted,
                                   &c->error);
    if (code)
        c->code = code;
    else
        item->converted = converted.p == body->bytes
                              ? vd_body_ref(body)
                              : vd_body_new((struct vd_template){converted, 0}, 0);
    vd_buf_release(&room);
}

void vd_conversion_start(struct vd_conversion *c)
{
    c->task.run = on_done;
    if (!c->code && c->converter) {
        vd_converter_ask(c->converter, c);
        return;
    }
    if (!c->code)
        c->code = vd_error_set(&c->error, VD_ERR_CLOSED,
                               "this server calls no conversion webhooks");
    vd_loop_post(c->loop, &c->task);
}

void vd_conversion_abandon(struct vd_conversion *c)
{
    c->done = NULL;
}

void vd_conversion_free(struct vd_conversion *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->items.n; i++) {
        vd_body_unref(c->items.p[i].body);
        vd_body_unref(c->items.p[i].converted);
    }
    VD_VEC_RELEASE(&c->items);
    vd_kind_unref(c->to);
    free(c);
}
