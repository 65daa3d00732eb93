/* See watch_frame.h. */
#include "kube/watch_frame.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "kinds/object.h"
#include "kube/shown.h"
#include "net/account.h"

/* Bytes that the loop decodes for a frame, which may have many objects; an eighth of those that it
 * searches. */
enum { LONG_WORK = 4 * VD_TURN_OBJECT_LEN_MAX };

static uint64_t written_of(const struct vd_delivery *d)
{
    return vd_shown_written(d->event, d->type == VD_DELETED);
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

int vd_watch_frame_add_object(struct vd_buf *out, const struct vd_watch_form *form,
                              struct vd_slice body, uint64_t written, struct vd_error *error)
{
    struct vd_arena scratch = {0};
    struct vd_buf room = {0};
    struct vd_effort effort = {0};
    int code = vd_shown_body(form->kind, body, written, &room, &effort, &body, error);
    if (code) {
        vd_buf_release(&room);
        return code;
    }
    if (form->output->form == VD_OUTPUT_TABLE) {
        form->table->now_ms = vd_clock_wall_ms(form->l->kube->clock);
        vd_table_write_one(form->table, out, &scratch, body);
    } else if (form->output->form == VD_OUTPUT_PARTIAL) {
        vd_partial_write(out, form->output->version, body);
    } else {
        vd_buf_add_slice(out, body);
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
                VD_FMT(vd_entry_space(event->entry)), (unsigned long long)event->revision);
}

void vd_watch_frame_add_error(struct vd_buf *out, const struct vd_status *status)
{
    vd_buf_add_text(out, "{\"type\":\"ERROR\",\"object\":");
    vd_status_write(out, status);
    vd_buf_add_text(out, "}\n");
}

/* False: instead of the event there is an error, which names the object. */
static bool add_event(struct vd_buf *out, const struct vd_watch_form *form,
                      const struct vd_delivery *d)
{
    size_t from = out->n;
    struct vd_error error;
    int code = VD_OK;
    vd_buf_add_text(out, "{\"type\":\"");
    vd_buf_add_text(out, vd_delivery_name(d->type));
    vd_buf_add_text(out, "\",\"object\":");
    if (d->body)
        code = vd_watch_frame_add_object(out, form, vd_body_slice(d->body), written_of(d), &error);
    if (!d->body || (code && d->type == VD_DELETED))
        add_name(out, form->kind, d->event);
    if (!code || d->type == VD_DELETED) {
        vd_buf_add(out, "}\n", 2);
        return true;
    }
    struct vd_arena arena = {0};
    struct vd_status status = vd_status_internal_error(&arena, vd_slice_of(error.text));
    out->n = from;
    vd_watch_frame_add_error(out, &status);
    vd_arena_release(&arena);
    return false;
}

static struct vd_bytes *make_in(struct vd_buf *out, const struct vd_watch_form *form,
                                const struct vd_deliveries *d, bool *broken)
{
    vd_frame_begin(out);
    *broken = false;
    for (size_t i = 0; !*broken && i < d->list.n; i++)
        *broken = !add_event(out, form, &d->list.p[i]);
    return vd_frame_end(out);
}

struct vd_bytes *vd_watch_frame_make(const struct vd_watch_form *form,
                                     const struct vd_deliveries *d, bool *broken)
{
    return make_in(&form->l->frame, form, d, broken);
}

/* ---- by a worker ---- */

static void run(struct vd_order *order)
{
    struct vd_watch_frame *f = VD_HEAP_OWNER(order, struct vd_watch_frame, order);
    struct vd_buf out = {0};
    f->made = make_in(&out, &f->form, &f->deliveries, &f->made_broken);
    vd_buf_release(&out);
}

static void done(struct vd_order *order)
{
    struct vd_watch_frame *f = VD_HEAP_OWNER(order, struct vd_watch_frame, order);
    f->bytes = f->made;
    f->broken = f->made_broken;
    f->ready(f);
    vd_shared_unref(&f->shared);
}

static void copy_deliveries(struct vd_deliveries *out, const struct vd_deliveries *d)
{
    for (size_t i = 0; i < d->list.n; i++) {
        const struct vd_delivery *one = &d->list.p[i];
        *VD_VEC_PUSH(&out->list) = (struct vd_delivery){one->type, vd_event_ref(one->event),
                                                        one->body ? vd_body_ref(one->body) : NULL};
    }
}

/* The form of its own: the watch may be gone before it is done. The frame has the columns, if any
 * are to come, and later ones do not. */
static void copy_form(struct vd_watch_frame *f, const struct vd_watch_form *form)
{
    f->form = *form;
    f->form.kind = vd_kind_ref(form->kind);
    f->output = *form->output;
    f->form.output = &f->output;
    if (!form->table)
        return;
    f->table = *form->table;
    f->columns = vd_table_ref((struct vd_table *)(uintptr_t)form->table->table); /* for its count */
    f->form.table = &f->table;
    form->table->headed = true;
}

static void frame_free(struct vd_shared *shared)
{
    struct vd_watch_frame *f = (struct vd_watch_frame *)shared;
    vd_bytes_unref(f->bytes);
    vd_account_unref(f->account);
    vd_table_unref(f->columns);
    vd_kind_unref(f->form.kind);
    vd_deliveries_release(&f->deliveries);
    VD_VEC_RELEASE(&f->waiting);
    free(f);
}

struct vd_watch_frame *vd_watch_frame_new(const struct vd_watch_form *form,
                                          const struct vd_deliveries *d, struct vd_account *account,
                                          void (*ready)(struct vd_watch_frame *frame))
{
    struct vd_watch_frame *f = VD_NEW(struct vd_watch_frame);
    vd_refcount_init(&f->shared.refs);
    f->shared.free = frame_free;
    if (!vd_watch_frame_is_long(form, d)) {
        f->bytes = vd_watch_frame_make(form, d, &f->broken);
        return f;
    }
    copy_form(f, form);
    copy_deliveries(&f->deliveries, d);
    f->ready = ready;
    f->account = account ? vd_account_ref(account) : NULL;
    f->order = (struct vd_order){.run = run, .done = done};
    vd_ref(&f->shared.refs); /* the order's */
    struct vd_kube_loop *l = form->l;
    vd_workshop_order(&l->workshop, l->loop,
                      account ? vd_account_place(account, l->loop->index) : &l->place, &f->order);
    return f;
}
