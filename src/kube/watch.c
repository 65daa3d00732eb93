/*
 * watch: a stream (api/stream.h) whose bytes go into an exchange as lines of JSON.
 *
 *     {"type":"ADDED","object":{...}}\n
 *
 * Here are the options of the request, the form of the events and the Status that tells a client
 * why its watch has ended. When events come, to whom, and when a watch must wait or end, is the
 * stream's business.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "kube/call.h"
#include "kube/initial_events.h"
#include "kube/watch_frame.h"
#include "net/account.h"
#include "request/request.h"

/* What a client may wish for, so that milliseconds cannot overflow. */
enum { LIFE_S_MAX = 31536000 };

/* Of a watch of Tables. */
struct tables {
    struct vd_table *columns; /* a reference */
    struct vd_table_writer writer;
};

struct vd_watch {
    struct vd_api_stream stream; /* first: the functions of its table are given it */
    struct vd_kube_loop *l;
    struct vd_exchange *x;
    struct vd_meter *meter;
    struct tables *tables; /* if it sends them; else NULL */
    struct vd_kube_output output;
};

static struct vd_watch *watch_of(const struct vd_api_stream *stream)
{
    return (struct vd_watch *)(uintptr_t)stream;
}

/* ---- bytes ---- */

static struct vd_watch_form form_of(struct vd_watch *w)
{
    return (struct vd_watch_form){w->l->kube->env->clock, w->stream.kind, &w->output,
                                  w->tables ? &w->tables->writer : NULL};
}

static enum vd_frame_result encode(struct vd_api_stream *stream, struct vd_event_frame *frame,
                                   struct vd_buf *out, const struct vd_deliveries *d, bool served,
                                   bool on_loop)
{
    struct vd_watch_form form = form_of(watch_of(stream));
    return vd_watch_frame_make(frame, out, &form, d, served, on_loop);
}

static bool is_long(struct vd_api_stream *stream, const struct vd_deliveries *d)
{
    struct vd_watch_form form = form_of(watch_of(stream));
    return vd_watch_frame_is_long(&form, d);
}

static struct vd_stream_encoder *encoder(struct vd_api_stream *stream)
{
    struct vd_watch_form form = form_of(watch_of(stream));
    return vd_watch_encoder_new(&form);
}

static void send_frame(struct vd_api_stream *stream, const struct vd_event_frame *frame,
                       const struct vd_deliveries *d)
{
    struct vd_watch *w = watch_of(stream);
    vd_meter_delivered(w->meter, d->list.n);
    for (size_t i = 0; i < frame->parts.n; i++)
        vd_exchange_send(w->x, vd_bytes_ref(frame->parts.p[i]));
}

static size_t backlog(const struct vd_api_stream *stream)
{
    return vd_exchange_backlog(watch_of(stream)->x);
}

static void await_drain(struct vd_api_stream *stream)
{
    vd_exchange_await_drain(watch_of(stream)->x);
}

/* The object of a bookmark, as it is in a watch of whole objects. */
static void add_bookmark(struct vd_buf *out, const struct vd_watch *w, uint64_t revision,
                         bool initial_end)
{
    const struct vd_kind *kind = w->stream.kind;
    vd_buf_addf(out,
                "{\"kind\":\"%.*s\",\"apiVersion\":\"%.*s\",\"metadata\":{"
                "\"resourceVersion\":\"%llu\",\"creationTimestamp\":null",
                VD_FMT(kind->kind), VD_FMT(kind->api_version), (unsigned long long)revision);
    if (initial_end) {
        vd_buf_add_text(out, ",\"annotations\":");
        vd_initial_events_end_write(out, kind, &w->output);
    }
    vd_buf_add_text(out, "}}");
}

static void bookmark(struct vd_api_stream *stream, uint64_t revision, bool initial_end)
{
    struct vd_watch *w = watch_of(stream);
    struct vd_buf *out = &w->l->frame;
    struct vd_arena scratch = {0};
    struct vd_buf object = {0};
    vd_buf_reset(out);
    vd_buf_add_text(out, "{\"type\":\"BOOKMARK\",\"object\":");
    if (w->output.form == VD_OUTPUT_TABLE) {
        vd_table_write_bookmark(&w->tables->writer, out, &scratch, revision);
    } else if (w->output.form == VD_OUTPUT_PARTIAL) {
        add_bookmark(&object, w, revision, initial_end);
        vd_partial_write(out, w->output.version, vd_buf_slice(&object));
    } else {
        add_bookmark(out, w, revision, initial_end);
    }
    vd_buf_add_text(out, "}\n");
    vd_exchange_send(w->x, vd_bytes_copy(vd_buf_slice(out)));
    vd_buf_release(&object);
    vd_arena_release(&scratch);
}

/* ---- the end ---- */

static void watch_free(struct vd_watch *w)
{
    vd_meter_watch_ended(w->meter);
    if (w->tables)
        vd_table_unref(w->tables->columns);
    free(w->tables);
    free(w);
}

static void gone(struct vd_exchange *x)
{
    struct vd_watch *w = x->arg;
    vd_api_stream_leave(&w->stream);
    watch_free(w);
}

static struct vd_access access_of(const struct vd_api_stream *stream)
{
    return vd_request_log_access(vd_request_log_of(watch_of(stream)->x));
}

/* The Status that tells the client; false: it is told nothing. */
static bool status_of(struct vd_arena *arena, const struct vd_watch *w,
                      const struct vd_stream_ending *ending, struct vd_status *out)
{
    struct vd_access access;
    switch (ending->why) {
    case VD_STREAM_END_EXPIRED:
    case VD_STREAM_END_FAILED:
        *out = vd_status_of_error(arena, NULL, (int)ending->error->code, ending->error);
        return true;
    case VD_STREAM_END_CREDENTIAL:
        *out = vd_status_unauthorized(arena, VD_SLICE(""));
        return true;
    case VD_STREAM_END_FORBIDDEN:
        access = access_of(&w->stream);
        *out = vd_access_status(arena, &access, ending->reason);
        return true;
    case VD_STREAM_END_UNCONVERTED:
        *out = vd_status_conversion_failed(arena, ending->error);
        out->reason = VD_SLICE("InternalError");
        return true;
    case VD_STREAM_END_TIMEOUT:
    case VD_STREAM_END_GONE:
    case VD_STREAM_END_KIND:
    case VD_STREAM_END_UNREADABLE:
    case VD_STREAM_END_BROKEN_OFF:
        return false;
    }
    return false;
}

static void ended(struct vd_api_stream *stream, const struct vd_stream_ending *ending)
{
    struct vd_watch *w = watch_of(stream);
    struct vd_exchange *x = w->x;
    struct vd_buf *out = &w->l->frame;
    struct vd_arena arena = {0};
    struct vd_status status;
    if (status_of(&arena, w, ending, &status)) {
        vd_buf_reset(out);
        vd_watch_frame_add_error(out, &status);
        vd_exchange_send(x, vd_bytes_copy(vd_buf_slice(out)));
    }
    vd_arena_release(&arena);
    watch_free(w);
    if (ending->why == VD_STREAM_END_BROKEN_OFF)
        vd_exchange_abort(x);
    else
        vd_exchange_end(x);
}

static const struct vd_stream_ops stream_ops = {
    .encode = encode,
    .is_long = is_long,
    .encoder = encoder,
    .send = send_frame,
    .bookmark = bookmark,
    .backlog = backlog,
    .await_drain = await_drain,
    .access = access_of,
    .ended = ended,
};

/* ---- the beginning ---- */

static void drained(struct vd_exchange *x)
{
    vd_api_stream_drained(&((struct vd_watch *)x->arg)->stream);
}

static const struct vd_exchange_ops exchange_ops = {drained, gone};

static uint64_t life_ms(const struct vd_kube_options *o, const struct vd_list_options *options)
{
    if (options->timeout_s)
        return (options->timeout_s < LIFE_S_MAX ? options->timeout_s : LIFE_S_MAX) * 1000;
    uint64_t spread_ms = (o->watch_max_s - o->watch_min_s) * 1000 + 1;
    uint32_t random;
    vd_random_bytes(&random, sizeof random);
    uint64_t ms = o->watch_min_s * 1000 + random % spread_ms;
    return ms ? ms : 1; /* 0 would be never */
}

/* Where the stream begins: at a revision, now, or with all there is. */
static enum vd_stream_start start_of(const struct vd_list_options *o)
{
    bool from_scratch = !o->has_version || o->version == 0;
    bool initial = o->has_initial ? o->initial : from_scratch;
    return initial ? VD_STREAM_SNAPSHOT : from_scratch ? VD_STREAM_NOW : VD_STREAM_AT;
}

static struct tables *tables_new(struct vd_call *call)
{
    struct tables *t = VD_NEW(struct tables);
    t->columns = vd_tables_get(call->kube->tables, call->kinds, call->kind);
    t->writer = (struct vd_table_writer){
        .table = t->columns, .version = call->output.version, .object = call->output.object};
    return t;
}

static struct vd_watch *watch_new(struct vd_call *call)
{
    struct vd_watch *w = VD_NEW(struct vd_watch);
    w->l = call->l;
    w->x = call->x;
    w->output = call->output;
    if (w->output.form == VD_OUTPUT_TABLE)
        w->tables = tables_new(call);
    w->meter = vd_request_log_of(call->x)->meter;
    vd_meter_watch_begun(w->meter);
    return w;
}

static int open_stream(struct vd_watch *w, const struct vd_call *call, struct vd_filter *filter,
                       const struct vd_list_options *o, struct vd_error *error)
{
    const struct vd_kube_options *options = &call->kube->options;
    return vd_api_stream_open(
        &w->stream, call->l->api,
        &(struct vd_stream_options){
            .ops = &stream_ops,
            .kind = call->kind,
            .kinds_generation = vd_kind_set_generation(call->kinds),
            .filter = filter,
            .account = w->x->account,
            .rank = (enum vd_rank)w->x->rank,
            .start = start_of(o),
            .revision = o->has_version ? o->version : 0,
            .life_ms = life_ms(options, o),
            .bookmark_ms = !o->bookmarks          ? 0
                           : options->bookmark_ms ? options->bookmark_ms
                                                  : 1,
            /* The first Table of a stream has columns: it is nobody else's. */
            .own_bytes = w->output.form == VD_OUTPUT_TABLE,
        },
        error);
}

/* The head of the answer. */
static void begin_answer(struct vd_exchange *x, const struct vd_kind *kind)
{
    struct vd_arena arena = {0};
    struct vd_http_field fields[2] = {{VD_SLICE("Cache-Control"), VD_SLICE("no-cache, private")}};
    size_t n = 1 + vd_deprecation_field(kind, &arena, &fields[1]);
    vd_exchange_stream(x, &(struct vd_response){.status = 200,
                                                .content_type = VD_SLICE("application/json"),
                                                .fields = fields,
                                                .fields_n = n});
    vd_arena_release(&arena);
    vd_audit_started(vd_request_log_audit(x), x);
    vd_exchange_forget_request(x);
}

static void start(struct vd_call *call, struct vd_filter *filter, const struct vd_list_options *o)
{
    struct vd_exchange *x = call->x;
    struct vd_watch *w = watch_new(call);
    struct vd_error error;
    int code = open_stream(w, call, filter, o, &error);
    begin_answer(x, call->kind);
    vd_call_free(call);
    if (code) { /* an expired or unreachable version is told inside the stream */
        ended(&w->stream,
              &(struct vd_stream_ending){.why = code == VD_ERR_EXPIRED ? VD_STREAM_END_EXPIRED
                                                                       : VD_STREAM_END_FAILED,
                                         .error = &error});
        return;
    }
    x->ops = &exchange_ops;
    x->arg = w;
}

void vd_call_watch(struct vd_call *call)
{
    struct vd_list_options o;
    struct vd_filter *filter = NULL;
    struct vd_error error;
    int code = vd_list_options_parse(&o, &call->query, true, &error);
    if (code) {
        vd_call_reply_options(call, code, &error);
        return;
    }
    if (o.initial && o.has_version && !vd_call_await(call, o.version, vd_call_watch)) {
        vd_list_options_release(&o);
        return;
    }
    code = vd_call_filter(call, &o, &filter, &error);
    if (code)
        vd_call_reply_error(call, code, &error);
    else if (vd_exchange_charge_watch(call->x))
        vd_call_reply_too_many(call);
    else
        start(call, filter, &o);
    vd_filter_unref(filter);
    vd_list_options_release(&o);
}
