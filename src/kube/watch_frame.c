/* See watch_frame.h. */
#include "kube/watch_frame.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "kinds/object.h"
#include "kinds/served_form.h"

/* Bytes that the loop decodes for a frame, which may have many objects; an eighth of those that it
 * searches. */
enum { LONG_WORK = 4 * VD_TURN_OBJECT_LEN_MAX };

static uint64_t written_of(const struct vd_delivery *d)
{
    return vd_served_form_written(d->event, d->type == VD_DELETED);
}

bool vd_watch_frame_is_long(const struct vd_watch_form *form, const struct vd_deliveries *d)
{
    uint64_t work = 0;
    for (size_t i = 0; work <= LONG_WORK && i < d->list.n; i++) {
        const struct vd_delivery *one = &d->list.p[i];
        if (one->body && vd_object_is_behind(form->kind, written_of(one)))
            work += one->body->len;
        if (one->body && form->table)
            work += vd_table_row_work(form->table->table, one->body->len) / 8;
    }
    return work > LONG_WORK;
}

/* An object in the form that was asked for, or nothing: VD_ERR_LIMIT names the object, which has
 * become too large. */
static int add_object(struct vd_event_frame *frame, const struct vd_watch_form *form,
                      struct vd_body *body, uint64_t written, struct vd_effort *effort,
                      struct vd_error *error)
{
    struct vd_arena scratch = {0};
    struct vd_buf room = {0};
    struct vd_slice served;
    int code = vd_served_form_make(form->kind, vd_body_slice(body), written, &room, effort, &served,
                                   error);
    if (code) {
        vd_buf_release(&room);
        return code;
    }
    if (form->output->form == VD_OUTPUT_TABLE) {
        form->table->now_ms = vd_clock_wall_ms(form->clock);
        vd_table_write_one(form->table, frame->out, &scratch, served);
    } else if (form->output->form == VD_OUTPUT_PARTIAL) {
        vd_partial_write(frame->out, form->output->version, served);
    } else {
        vd_event_frame_add_object(frame, body, served);
    }
    vd_arena_release(&scratch);
    vd_buf_release(&room);
    return VD_OK;
}

/* All that is known of an object whose bytes were lost to damage, or that is told of the end of one
 * that cannot be shown. */
static void add_name(struct vd_buf *out, const struct vd_kind *kind, const struct vd_event *event)
{
    vd_buf_addf(out,
                "{\"kind\":\"%.*s\",\"apiVersion\":\"%.*s\",\"metadata\":{\"name\":\"%.*s\","
                "\"namespace\":\"%.*s\",\"resourceVersion\":\"%llu\"}}",
                VD_FMT(kind->kind), VD_FMT(kind->api_version), VD_FMT(vd_entry_name(event->entry)),
                VD_FMT(vd_entry_namespace(event->entry)), (unsigned long long)event->revision);
}

void vd_watch_frame_add_error(struct vd_buf *out, const struct vd_status *status)
{
    vd_buf_add_text(out, "{\"type\":\"ERROR\",\"object\":");
    vd_status_write(out, status);
    vd_buf_add_text(out, "}\n");
}

/* What the events of a frame have taken so far. */
struct taken {
    struct vd_effort effort; /* of an object, or, in a turn, of all */
    uint64_t filled;         /* bytes that defaults have added to those before it */
};

/* Of the next object. */
static int take(struct taken *t, const struct vd_kind *kind, struct vd_error *error)
{
    if (t->effort.on_loop)
        return VD_OK;
    t->filled += t->effort.filled;
    t->effort = (struct vd_effort){0};
    if (t->filled <= VD_DEFAULTS_FRAME_LEN_MAX)
        return VD_OK;
    return vd_error_set(error, VD_ERR_LIMIT,
                        "the defaults of %.*s would add more than %d bytes to the events that are "
                        "told together: list the objects, or make the definition's defaults "
                        "shorter",
                        VD_FMT(kind->resource), VD_DEFAULTS_FRAME_LEN_MAX);
}

static enum vd_frame_result add_event(struct vd_event_frame *frame,
                                      const struct vd_watch_form *form, const struct vd_delivery *d,
                                      uint64_t written, struct taken *t)
{
    struct vd_buf *out = frame->out;
    size_t from = out->n; /* it stays there until an object has been added */
    struct vd_error error;
    int code = take(t, form->kind, &error);
    vd_buf_add_text(out, "{\"type\":\"");
    vd_buf_add_text(out, vd_delivery_name(d->type));
    vd_buf_add_text(out, "\",\"object\":");
    if (!code && d->body)
        code = add_object(frame, form, d->body, written, &t->effort, &error);
    if (code && t->effort.on_loop)
        return VD_FRAME_TOO_LONG;
    if (!d->body || (code && d->type == VD_DELETED))
        add_name(out, form->kind, d->event);
    if (!code || d->type == VD_DELETED) {
        vd_buf_add(out, "}\n", 2);
        return VD_FRAME_GOOD;
    }
    struct vd_arena arena = {0};
    struct vd_status status = vd_status_internal_error(&arena, vd_slice_of(error.text));
    out->n = from;
    vd_watch_frame_add_error(out, &status);
    vd_arena_release(&arena);
    return VD_FRAME_BROKEN;
}

enum vd_frame_result vd_watch_frame_make(struct vd_event_frame *frame, struct vd_buf *out,
                                         const struct vd_watch_form *form,
                                         const struct vd_deliveries *d, bool served, bool on_loop)
{
    struct vd_table_writer before = form->table ? *form->table : (struct vd_table_writer){0};
    struct taken taken = {.effort = {.on_loop = on_loop}};
    enum vd_frame_result result = VD_FRAME_GOOD;
    vd_event_frame_begin(frame, out);
    for (size_t i = 0; result == VD_FRAME_GOOD && i < d->list.n; i++) {
        const struct vd_delivery *one = &d->list.p[i];
        uint64_t written = served ? VD_WRITTEN_NOW : written_of(one);
        result = add_event(frame, form, one, written, &taken);
    }
    vd_event_frame_end(frame);
    if (result != VD_FRAME_TOO_LONG)
        return result;
    vd_event_frame_release(frame);
    *frame = (struct vd_event_frame){0};
    if (form->table)
        *form->table = before;
    return result;
}

/* ---- by a worker ---- */

struct encoder {
    struct vd_stream_encoder encoder; /* first */
    struct vd_watch_form form;
    struct vd_kube_output output;
    struct vd_table *columns; /* a reference; NULL: not needed */
    struct vd_table_writer table;
};

static enum vd_frame_result encode(struct vd_stream_encoder *encoder, struct vd_event_frame *frame,
                                   struct vd_buf *out, const struct vd_deliveries *d)
{
    return vd_watch_frame_make(frame, out, &VD_CONTAINER_OF(encoder, struct encoder, encoder)->form,
                               d, false, false);
}

static void encoder_free(struct vd_stream_encoder *encoder)
{
    struct encoder *e = VD_CONTAINER_OF(encoder, struct encoder, encoder);
    vd_table_unref(e->columns);
    vd_kind_unref(e->form.kind);
    free(e);
}

struct vd_stream_encoder *vd_watch_encoder_new(const struct vd_watch_form *form)
{
    struct encoder *e = VD_NEW(struct encoder);
    e->encoder = (struct vd_stream_encoder){encode, encoder_free};
    e->form = *form;
    e->form.kind = vd_kind_ref(form->kind);
    e->output = *form->output;
    e->form.output = &e->output;
    if (form->table) {
        e->table = *form->table;
        e->columns = vd_table_ref((struct vd_table *)(uintptr_t)form->table->table); /* its count */
        e->form.table = &e->table;
        form->table->headed = true;
    }
    return &e->encoder;
}
