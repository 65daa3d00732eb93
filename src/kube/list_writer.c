/* See list_writer.h. */
#include "kube/list_writer.h"

#include "kinds/served_form.h"

enum { SCRATCH_KEPT = 65536 }; /* bytes of scratch memory that is kept for the next object */

void vd_list_writer_init(struct vd_list_writer *w, const struct vd_call *call)
{
    *w = (struct vd_list_writer){.call = call, .partial = {.version = call->output.version}};
    if (call->output.form != VD_OUTPUT_TABLE)
        return;
    w->columns = vd_tables_get(call->kube->tables, call->kinds, call->kind);
    w->table = (struct vd_table_writer){
        .table = w->columns,
        .version = call->output.version,
        .object = call->output.object,
        .now_ms = vd_clock_wall_ms(call->kube->env->clock),
    };
}

void vd_list_writer_release(struct vd_list_writer *w)
{
    vd_table_unref(w->columns);
    vd_arena_release(&w->scratch);
    vd_buf_release(&w->room);
}

void vd_list_writer_head(struct vd_list_writer *w, struct vd_buf *out,
                         const struct vd_list_meta *meta)
{
    const struct vd_call *call = w->call;
    if (call->output.form == VD_OUTPUT_TABLE) {
        bool started = w->table.started;
        vd_table_begin(&w->table, out, meta);
        w->table.started = started;
    } else if (call->output.form == VD_OUTPUT_PARTIAL_LIST) {
        bool started = w->partial.started;
        vd_partial_list_begin(&w->partial, out, call->output.version, meta);
        w->partial.started = started;
    } else {
        vd_buf_addf(out, "{\"kind\":\"%.*s\",\"apiVersion\":\"%.*s\",\"metadata\":",
                    VD_FMT(call->kind->list_kind), VD_FMT(call->kind->api_version));
        vd_list_meta_write(out, meta);
        vd_buf_add_text(out, ",\"items\":[");
    }
}

/* How many bytes are looked into, which takes its time; searching takes less than decoding. */
static uint64_t work_of(const struct vd_list_writer *w, const struct vd_event *event)
{
    uint64_t work = vd_object_is_behind(w->call->kind, event->revision) ? event->body->len : 0;
    if (w->columns)
        work += vd_table_row_work(w->columns, event->body->len) / 8;
    return work;
}

/* A list may wait long for its client: what a large object took is not kept for the next one. */
static void let_go(struct vd_list_writer *w)
{
    vd_scratch_let_go(&w->room);
    if (w->scratch.total > SCRATCH_KEPT)
        vd_arena_release(&w->scratch);
}

int vd_list_writer_add(struct vd_list_writer *w, struct vd_buf *out, const struct vd_event *event,
                       struct vd_effort *effort, struct vd_error *error)
{
    struct vd_slice body = vd_body_slice(event->body);
    uint64_t work = work_of(w, event);
    if (effort->on_loop && work > VD_TURN_OBJECT_LEN_MAX)
        return vd_error_set(error, VD_ERR_LIMIT, "it takes too long here");
    w->worked += work;
    int code = vd_served_form_make(w->call->kind, body,
                                   w->as_stored ? VD_WRITTEN_NOW : event->revision, &w->room,
                                   effort, &body, error);
    if (!code)
        vd_list_writer_add_served(w, out, body);
    let_go(w);
    return code;
}

void vd_list_writer_add_served(struct vd_list_writer *w, struct vd_buf *out, struct vd_slice body)
{
    if (w->call->output.form == VD_OUTPUT_TABLE) {
        vd_table_add(&w->table, out, &w->scratch, body);
    } else if (w->call->output.form == VD_OUTPUT_PARTIAL_LIST) {
        vd_partial_list_add(&w->partial, out, body);
    } else {
        if (w->started)
            vd_buf_add_char(out, ',');
        vd_buf_add_slice(out, body);
        w->started = true;
    }
}

void vd_list_writer_tail(struct vd_list_writer *w, struct vd_buf *out)
{
    if (w->call->output.form == VD_OUTPUT_TABLE)
        vd_table_end(&w->table, out);
    else if (w->call->output.form == VD_OUTPUT_PARTIAL_LIST)
        vd_partial_list_end(&w->partial, out);
    else
        vd_buf_add_text(out, "]}");
    vd_buf_add_char(out, '\n');
}
