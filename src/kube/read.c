/*
 * get and list. Objects are sent as the bytes they are stored as.
 *
 * A list is a stream of pieces: each is made when the last one has been sent, so
 * a hundred large lists at a time cost a hundred pieces of memory. A page with a
 * limit is gathered first, because its head says how it goes on; so is a list in an
 * encoding that needs it whole.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "kube/call.h"
#include "kube/continue_token.h"
#include "kube/shown.h"
#include "store/snapshot.h"

enum {
    PIECE_LEN = 131072, /* bytes of a list that are made at a time */
    PAGE_EVENTS = 512,
};

/* ---- get ---- */

void vd_call_get(struct vd_call *call)
{
    struct vd_event *event = NULL;
    struct vd_error error;
    struct vd_key key = vd_call_key(call);
    int code = vd_store_get(call->kube->store, &key, 0, &event, &error);
    if (code) {
        vd_call_reply_error(call, code, &error);
        return;
    }
    vd_call_reply_object(call, 200, vd_body_slice(event->body));
    vd_event_unref(event);
}

/* ---- list ---- */

struct listing {
    struct vd_call *call;
    struct vd_snapshot snapshot;
    struct vd_filter *filter;
    struct vd_attributes attributes;
    uint64_t left;            /* of the limit; UINT64_MAX: no limit */
    bool any;                 /* an item has been written */
    struct vd_table *columns; /* a reference; NULL: not needed yet */
    struct vd_table_writer table;
    struct vd_partial_list partial;
    struct vd_arena scratch;
    struct vd_buf room; /* for bodies of another version */
};

static void listing_free(struct listing *l)
{
    vd_snapshot_release(&l->snapshot);
    vd_attributes_release(&l->attributes);
    vd_filter_unref(l->filter);
    vd_table_unref(l->columns);
    vd_arena_release(&l->scratch);
    vd_buf_release(&l->room);
    free(l);
}

static void gone(struct vd_exchange *x)
{
    struct listing *l = x->arg;
    vd_call_free(l->call);
    listing_free(l);
}

/* ---- the three forms of a list ---- */

static void add_head(struct listing *l, struct vd_buf *out, struct vd_slice token,
                     uint64_t remaining, bool has_remaining)
{
    const struct vd_call *call = l->call;
    char digits[20];
    struct vd_list_meta list_meta = {
        .resource_version = vd_slice(digits, vd_u64_digits(l->snapshot.revision, digits)),
        .continue_token = token,
        .has_remaining = has_remaining,
        .remaining = remaining,
    };
    const struct vd_list_meta *meta = &list_meta;
    if (call->output.form == VD_OUTPUT_TABLE) {
        if (!l->columns)
            l->columns = vd_tables_get(call->kube->tables, call->kinds, call->kind);
        l->table = (struct vd_table_writer){
            .table = l->columns,
            .version = call->output.version,
            .object = call->output.object,
            .now_ms = vd_clock_wall_ms(call->kube->clock),
        };
        vd_table_begin(&l->table, out, meta);
    } else if (call->output.form == VD_OUTPUT_PARTIAL_LIST) {
        vd_partial_list_begin(&l->partial, out, call->output.version, meta);
    } else {
        vd_buf_addf(out, "{\"kind\":\"%.*s\",\"apiVersion\":\"%.*s\",\"metadata\":",
                    VD_FMT(call->kind->list_kind), VD_FMT(call->kind->api_version));
        vd_list_meta_write(out, meta);
        vd_buf_add_text(out, ",\"items\":[");
    }
}

static void add_item(struct listing *l, struct vd_buf *out, struct vd_slice body)
{
    body = vd_shown_body(l->call->kind, body, &l->room);
    if (l->call->output.form == VD_OUTPUT_TABLE) {
        vd_table_add(&l->table, out, &l->scratch, body);
    } else if (l->call->output.form == VD_OUTPUT_PARTIAL_LIST) {
        vd_partial_list_add(&l->partial, out, body);
    } else {
        if (l->any)
            vd_buf_add_char(out, ',');
        vd_buf_add_slice(out, body);
    }
    l->any = true;
}

static void add_tail(struct listing *l, struct vd_buf *out)
{
    if (l->call->output.form == VD_OUTPUT_TABLE)
        vd_table_end(&l->table, out);
    else if (l->call->output.form == VD_OUTPUT_PARTIAL_LIST)
        vd_partial_list_end(&l->partial, out);
    else
        vd_buf_add_text(out, "]}");
    vd_buf_add_char(out, '\n');
}

/* Adds items until the piece is full or the list is at its end. */
static int add_items(struct listing *l, struct vd_buf *out, size_t len_max, struct vd_error *error)
{
    struct vd_event *events[PAGE_EVENTS];
    size_t n;
    while (!l->snapshot.done && l->left && out->n < len_max) {
        size_t want = l->left < 64 ? (size_t)l->left : 64;
        int code = vd_snapshot_next(&l->snapshot, events, want, &n, error);
        if (code)
            return code;
        for (size_t i = 0; i < n; i++) {
            vd_attributes_set(&l->attributes, events[i]);
            if (vd_filter_matches(l->filter, &l->attributes)) {
                add_item(l, out, vd_body_slice(events[i]->body));
                l->left -= l->left != UINT64_MAX;
            }
            vd_event_unref(events[i]);
        }
    }
    return VD_OK;
}

static void drained(struct vd_exchange *x);
static const struct vd_exchange_ops list_ops = {drained, gone};

/* Sends the next piece. An error behind the head can only break the answer off. */
static void send_piece(struct listing *l, bool first)
{
    struct vd_exchange *x = l->call->x;
    struct vd_buf *out = &l->call->l->frame;
    struct vd_error error;
    vd_frame_begin(out);
    if (first)
        add_head(l, out, VD_SLICE(""), 0, false);
    int code = add_items(l, out, PIECE_LEN, &error);
    if (code) {
        vd_buf_reset(out);
        x->ops = NULL;
        vd_call_free(l->call);
        listing_free(l);
        vd_exchange_abort(x);
        return;
    }
    bool done = l->snapshot.done;
    if (done)
        add_tail(l, out);
    vd_exchange_send(x, vd_frame_end(out));
    if (!done) {
        vd_exchange_await_drain(x);
        return;
    }
    x->ops = NULL;
    vd_exchange_end(x);
    vd_call_free(l->call);
    listing_free(l);
}

static void drained(struct vd_exchange *x)
{
    send_piece(x->arg, false);
}

static void send_stream(struct listing *l)
{
    struct vd_exchange *x = l->call->x;
    struct vd_http_field field;
    size_t n = vd_deprecation_field(l->call->kind, &l->call->arena, &field);
    vd_exchange_stream(x, &(struct vd_response){.status = 200,
                                                .content_type = VD_SLICE("application/json"),
                                                .fields = &field,
                                                .fields_n = n});
    x->ops = &list_ops;
    x->arg = l;
    send_piece(l, true);
}

/* A page, or a list that has to be whole before it can be encoded: the items are
 * gathered first, because the head says what is left. */
static void send_whole(struct listing *l, bool count)
{
    struct vd_call *call = l->call;
    struct vd_buf items = {0}, answer = {0}, token = {0}, head = {0};
    struct vd_error error;
    size_t remaining = 0;
    add_head(l, &head, VD_SLICE(""), 0, false); /* sets the writers up */
    int code = add_items(l, &items, SIZE_MAX, &error);
    if (!code && !l->snapshot.done && count)
        code = vd_snapshot_remaining(&l->snapshot, &remaining, &error);
    bool more = !code && !l->snapshot.done && (!count || remaining);
    if (more)
        vd_continue_token_write(&token, l->snapshot.revision, vd_buf_slice(&l->snapshot.after));
    if (!code) {
        bool table_started = l->table.started, partial_started = l->partial.started;
        add_head(l, &answer, vd_buf_slice(&token), remaining, more && count);
        l->table.started = table_started;
        l->partial.started = partial_started;
        vd_buf_add_slice(&answer, vd_buf_slice(&items));
        add_tail(l, &answer);
    }
    listing_free(l);
    if (code)
        vd_call_reply_error(call, code, &error);
    else
        vd_call_reply_json(call, 200, vd_buf_slice(&answer));
    vd_buf_release(&items);
    vd_buf_release(&answer);
    vd_buf_release(&token);
    vd_buf_release(&head);
}

/* Where the list is taken: a revision, 0 for the newest, and the path behind which
 * it starts. */
struct place {
    uint64_t revision;
    struct vd_slice after;
};

static int find_place(struct vd_call *call, const struct vd_list_options *o, struct place *out,
                      struct vd_error *error)
{
    *out = (struct place){0, VD_SLICE("")};
    if (o->continue_token.n) {
        if (o->has_version && o->version)
            return vd_error_set(error, VD_ERR_INVALID,
                                "specifying resource version is not allowed when using continue");
        return vd_continue_token_read(&call->arena, o->continue_token, &out->revision, &out->after,
                                      error);
    }
    bool exact = o->match == VD_MATCH_EXACT ||
                 (o->match == VD_MATCH_UNSET && o->has_version && o->version && o->limit);
    uint64_t newest = vd_store_revision(call->kube->store);
    if (o->has_version && o->version > newest) {
        vd_error_set(error, VD_ERR_FUTURE, "Too large resource version: %llu, current: %llu",
                     (unsigned long long)o->version, (unsigned long long)newest);
        return VD_ERR_FUTURE;
    }
    out->revision = exact ? o->version : 0;
    return VD_OK;
}

static void reply_expired(struct vd_call *call, const struct vd_list_options *o,
                          const struct place *place)
{
    struct vd_buf token = {0};
    struct vd_status status;
    if (o->continue_token.n) {
        vd_continue_token_write(&token, 0, place->after);
        status = vd_status_continue_expired(&call->arena,
                                            vd_arena_copy(&call->arena, vd_buf_slice(&token)));
    } else {
        status = vd_status_list_expired(&call->arena);
    }
    vd_buf_release(&token);
    vd_call_reply_status(call, &status);
}

static void list(struct vd_call *call, const struct vd_list_options *o)
{
    struct listing *l = VD_NEW(struct listing);
    struct vd_error error;
    struct place place;
    struct vd_buf prefix = {0};
    l->call = call;
    l->left = o->limit && !(o->has_version && o->version == 0) ? o->limit : UINT64_MAX;
    int code = vd_call_filter(call, o, &l->filter, &error);
    if (!code)
        code = find_place(call, o, &place, &error);
    if (!code && call->kind->namespaced && call->target.space.n)
        vd_buf_addf(&prefix, "%.*s/", VD_FMT(call->target.space));
    if (!code)
        code = vd_snapshot_open(&l->snapshot, call->kube->store, call->kind->storage_key,
                                vd_buf_slice(&prefix), place.revision, place.after, &error);
    vd_buf_release(&prefix);
    if (!code && (l->left != UINT64_MAX || !vd_kube_output_is_stream(&call->output))) {
        send_whole(l, !o->labels && !o->fields);
        return;
    }
    if (!code) {
        send_stream(l);
        return;
    }
    listing_free(l);
    if (code == VD_ERR_EXPIRED)
        reply_expired(call, o, &place);
    else
        vd_call_reply_error(call, code, &error);
}

void vd_call_list(struct vd_call *call)
{
    struct vd_list_options o;
    struct vd_error error;
    int code = vd_list_options_parse(&o, &call->query, false, &error);
    if (code) {
        vd_call_reply_options(call, code, &error);
        return;
    }
    list(call, &o);
    vd_list_options_release(&o);
}
