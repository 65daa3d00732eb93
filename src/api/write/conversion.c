/* A write that waits for a conversion webhook. */
#include "api/conversion.h"

#include "api/write/write_internal.h"
#include "kinds/object.h"

static void converted(struct vd_conversion *conversion)
{
    struct vd_write *w = conversion->arg;
    w->conversion = NULL;
    if (!conversion->code)
        w->then(w, conversion->items.p[0].converted);
    else
        vd_write_refuse_text(w, VD_REFUSED_CONVERSION_FAILED, vd_slice_of(conversion->error.text));
    vd_conversion_free(conversion);
}

void vd_write_convert(struct vd_write *w, const struct vd_kind *to, struct vd_slice body,
                      uint64_t revision,
                      void (*then)(struct vd_write *w, struct vd_body *converted))
{
    struct vd_body *copy = vd_body_new((struct vd_template){body, 0}, 0);
    w->conversion = vd_conversion_new(w->l, to, converted, w);
    w->then = then;
    vd_conversion_add(w->conversion, copy, revision, false, VD_WRITTEN_NOW);
    vd_body_unref(copy);
    vd_conversion_start(w->conversion);
}
