/*
 * get and list. Objects are sent as the bytes they are stored as.
 *
 * A list is a stream of pieces (api/list.h): each is made when the last one has been sent. A page
 * with a limit is gathered first, because its head says how it goes on; so is a list in an encoding
 * that needs it whole. What is gathered ends at VD_GATHERED_LEN_MAX.
 *
 * Whether a list is compressed goes by its length and what the client takes, never by how
 * busy the server is: see is_undecided().
 */
#include <stdlib.h>

#include "api/list.h"
#include "base/alloc.h"
#include "base/container_of.h"
#include "base/limits.h"
#include "base/log.h"
#include "kinds/object.h"
#include "kube/call_conversion.h"
#include "kube/continue_token.h"
#include "kube/list_writer.h"
#include "kube/offload.h"
#include "kube/query_option.h"
#include "net/account.h"
#include "request/gzip.h"

/* A shorter piece is copied, so that it holds no more memory than it needs. */
enum { COPIED_LEN = 16384 };

/* ---- get ---- */

/* How many bytes are decoded to show the object, or an eighth of those that are searched. */
static uint64_t work_of(const struct vd_call *call, const struct vd_event *event)
{
    uint64_t len = event->body->len;
    bool decodes = !vd_kube_output_is_stream(&call->output) || call->scales ||
                   vd_object_is_behind(call->kind, event->revision);
    uint64_t searched = call->output.form == VD_OUTPUT_TABLE
                            ? len * (call->kind->column_count + 1) / 8
                            : 0;
    return (decodes ? len : 0) + searched;
}

static void show(struct vd_call *call)
{
    struct vd_event *event = NULL;
    struct vd_error error;
    struct vd_key key = vd_call_key(call);
    int code = vd_api_get(call->l->api->env, &key, 0, &event, &error);
    call->redo = show;
    if (code)
        vd_call_reply_error(call, code, &error);
    else if (vd_call_is_too_long_here(call, work_of(call, event))) {
        vd_exchange_hold(call->x, event->body->len); /* about what the answer will have */
        vd_call_offload(call, show);
    } else
        vd_call_reply_body(call, event->body, event->revision);
    vd_event_unref(event);
}

void vd_call_get(struct vd_call *call)
{
    struct vd_error error;
    bool given, export;
    uint64_t version = 0;
    vd_query_flag(&call->query, VD_SLICE("export"), &export);
    int code = export ? vd_error_set(&error, VD_ERR_INVALID,
                                     "the export parameter, deprecated since v1.14, is no longer "
                                     "supported")
                      : vd_version_parse(&call->query, &given, &version, &error);
    if (code) {
        vd_call_reply_options(call, code, &error);
        return;
    }
    if (!vd_call_await(call, version, vd_call_get))
        return;
    code = version ? vd_api_check_revision(call->l->api->env, version, &error) : VD_OK;
    if (code)
        vd_call_reply_error(call, code, &error);
    else
        show(call);
}

/* ---- list ---- */

struct listing {
    struct vd_listing listing; /* first: its functions are given it */
    struct vd_call *call;      /* its exchange is NULL when the client has gone */
    struct vd_list_writer writer;
    bool whole; /* it is gathered, */
    bool count; /* and tells how many remain */
    /* Of a stream: */
    bool begun;
    bool takes_gzip, gzipped;
    struct vd_gzip_stream gzip;
    /* Of one that is gathered, or of a stream until it is known whether it is compressed: */
    struct vd_buf items;
};

static void closed(struct vd_listing *listing)
{
    struct listing *l = VD_CONTAINER_OF(listing, struct listing, listing);
    vd_list_writer_release(&l->writer);
    vd_buf_release(&l->items);
    if (l->call)
        vd_call_free(l->call);
    free(l);
}

static int add(struct vd_listing *listing, struct vd_buf *out, const struct vd_event *event,
               struct vd_effort *effort, struct vd_error *error)
{
    struct listing *l = VD_CONTAINER_OF(listing, struct listing, listing);
    int code = vd_list_writer_add(&l->writer, out, event, effort, error);
    listing->worked += l->writer.worked;
    l->writer.worked = 0;
    return code;
}

static void add_served(struct vd_listing *listing, struct vd_buf *out, struct vd_slice body)
{
    vd_list_writer_add_served(&VD_CONTAINER_OF(listing, struct listing, listing)->writer, out,
                              body);
}

static void gone(struct vd_exchange *x)
{
    struct listing *l = x->arg;
    l->call->x = NULL;
    vd_listing_close(&l->listing);
}

/* The listing is over; its call is to be answered. */
static struct vd_call *take_call(struct listing *l)
{
    struct vd_call *call = l->call;
    call->x->ops = NULL;
    l->call = NULL;
    vd_listing_close(&l->listing);
    return call;
}

static void add_head(struct listing *l, struct vd_buf *out, struct vd_slice token,
                     uint64_t remaining, bool has_remaining)
{
    char digits[20];
    uint64_t revision = vd_listing_revision(&l->listing);
    struct vd_list_meta meta = {
        .resource_version = vd_slice(digits, vd_u64_digits(revision, digits)),
        .continue_token = token,
        .has_remaining = has_remaining,
        .remaining = remaining,
    };
    vd_list_writer_head(&l->writer, out, &meta);
}

/* ---- errors ---- */

static void reply_failed(struct listing *l, enum vd_listing_state state,
                         const struct vd_error *error)
{
    struct vd_call *call = take_call(l);
    if (state == VD_LISTING_NO_ROOM) {
        vd_account_refuse(call->x->account, VD_LIMIT_USER_QUEUED);
        vd_call_reply_too_many(call);
    } else if (state == VD_LISTING_UNCONVERTED) {
        vd_call_reply_unconverted(call, error);
    } else if (error->code == VD_ERR_LIMIT) {
        vd_call_reply_unshowable(call, error);
    } else {
        vd_call_reply_error(call, (int)error->code, error);
    }
}

/* An error behind the head can only break the answer off. */
static void fail(struct listing *l, enum vd_listing_state state, const struct vd_error *error)
{
    struct vd_exchange *x = l->call->x;
    if (!l->begun) {
        reply_failed(l, state, error);
        return;
    }
    x->ops = NULL;
    vd_log_warn("a list was broken off", VD_F_SLICE("kind", l->call->kind->resource),
                VD_F_STR("error", error->text));
    vd_listing_close(&l->listing);
    vd_exchange_abort(x);
}

static void reply_too_long(struct listing *l)
{
    struct vd_call *call = take_call(l);
    struct vd_error error;
    int code = vd_error_set(&error, VD_ERR_LIMIT,
                            "the list is longer than the %d bytes that can be made of it in this "
                            "encoding: ask for it as JSON, or in pages, with limit=500",
                            VD_GATHERED_LEN_MAX);
    vd_call_reply_error(call, code, &error);
}

/* ---- a stream ---- */

static void begin_stream(struct listing *l, size_t piece_len)
{
    struct vd_http_field fields[2 + VD_GZIP_FIELDS] = {
        {VD_SLICE("Cache-Control"), VD_SLICE("no-cache, private")}};
    size_t n = 1 + vd_deprecation_field(l->call->kind, &l->call->arena, &fields[1]);
    l->begun = true;
    l->gzipped = l->takes_gzip && piece_len > VD_GZIP_BODY_LEN_MIN;
    for (size_t i = 0; l->gzipped && i < VD_GZIP_FIELDS; i++)
        fields[n++] = vd_gzip_fields[i];
    vd_exchange_stream(l->call->x,
                       &(struct vd_response){.status = 200,
                                             .content_type = VD_SLICE("application/json"),
                                             .fields = fields,
                                             .fields_n = n});
}

/* The piece, which is in the loop's scratch memory already or goes there now. */
static void send_frame(struct listing *l, struct vd_slice piece, bool last)
{
    struct vd_kube_loop *loop = l->call->l;
    if (l->takes_gzip) {
        vd_buf_reset(&loop->frame);
        if (l->gzipped)
            vd_gzip_add(vd_request_gzip(loop->requests), &l->gzip, piece, last, &loop->frame);
        else
            vd_buf_add_slice(&loop->frame, piece);
    }
    struct vd_buf *frame = &loop->frame;
    vd_exchange_send(l->call->x, frame->n < COPIED_LEN ? vd_bytes_copy(vd_buf_slice(frame))
                                                       : vd_bytes_take(frame));
}

/*
 * A list for a client that takes gzip is compressed if all of it is more than
 * VD_GZIP_BODY_LEN_MIN. So the first piece is all there is, or more than that; where turns are
 * short it is gathered in several of them.
 */
static bool is_undecided(const struct listing *l, bool done, size_t piece_len)
{
    return l->takes_gzip && !l->begun && !done && piece_len <= VD_GZIP_BODY_LEN_MIN;
}

/* What was made goes to the client, and more when he has taken it. */
static void send_made(struct listing *l, struct vd_buf *out, bool done)
{
    struct vd_exchange *x = l->call->x;
    if (!l->begun)
        begin_stream(l, out->n);
    send_frame(l, vd_buf_slice(out), done);
    vd_listing_hold(&l->listing, 0);
    vd_buf_release(&l->items);
    if (!done) {
        vd_exchange_await_drain(x);
        return;
    }
    x->ops = NULL;
    vd_exchange_end(x);
    vd_listing_close(&l->listing);
}

static void send_piece(struct listing *l)
{
    struct vd_kube_loop *loop = l->call->l;
    struct vd_buf *out = !l->takes_gzip ? &loop->frame : l->begun ? &loop->piece : &l->items;
    struct vd_error error;
    if (out != &l->items)
        vd_buf_reset(out);
    if (!l->begun && out->n == 0)
        add_head(l, out, VD_SLICE(""), 0, false);
    size_t len = vd_listing_piece_len(&l->listing);
    if (l->begun) /* what follows mostly is as long as it may be */
        vd_buf_reserve(out, len);
    enum vd_listing_state state = vd_listing_next(&l->listing, out, out->n + len, &error);
    bool done = state == VD_LISTING_DONE;
    if (!done && state != VD_LISTING_MORE) { /* the head may still become an error */
        if (out != &l->items)
            vd_buf_reset(out);
        if (state != VD_LISTING_WAITS)
            fail(l, state, &error);
        return;
    }
    if (done)
        vd_list_writer_tail(&l->writer, out);
    if (out->n == 0 || is_undecided(l, done, out->n)) { /* there is nothing to send yet */
        vd_listing_hold(&l->listing, l->items.n);
        vd_listing_yield(&l->listing);
        return;
    }
    send_made(l, out, done);
}

/* ---- a page, or a list that has to be whole before it can be encoded ---- */

static void send_whole(struct listing *l)
{
    struct vd_buf answer = {0}, token = {0};
    struct vd_listing_rest rest;
    struct vd_error error;
    if (vd_listing_rest(&l->listing, l->count, &rest, &error)) {
        reply_failed(l, VD_LISTING_FAILED, &error);
        return;
    }
    if (rest.more)
        vd_continue_token_write(&token, vd_listing_revision(&l->listing), rest.after);
    add_head(l, &answer, vd_buf_slice(&token), rest.remaining, rest.more && l->count);
    vd_buf_add_slice(&answer, vd_buf_slice(&l->items));
    vd_list_writer_tail(&l->writer, &answer);
    vd_call_reply_json(take_call(l), 200, vd_buf_slice(&answer));
    vd_buf_release(&answer);
    vd_buf_release(&token);
}

/* A page may have fewer objects than its limit, and then goes on behind them; a list without a
 * limit may not. */
static void gather(struct listing *l)
{
    struct vd_error error;
    if (vd_listing_is_full(&l->listing)) {
        reply_failed(l, VD_LISTING_NO_ROOM, NULL);
        return;
    }
    enum vd_listing_state state = vd_listing_next(&l->listing, &l->items, VD_GATHERED_LEN_MAX,
                                                  &error);
    vd_listing_hold(&l->listing, l->items.n);
    bool too_long = state == VD_LISTING_MORE && l->items.n >= VD_GATHERED_LEN_MAX;
    if (state == VD_LISTING_WAITS)
        return;
    if (state != VD_LISTING_MORE && state != VD_LISTING_DONE)
        reply_failed(l, state, &error);
    else if (too_long && vd_listing_is_unlimited(&l->listing))
        reply_too_long(l);
    else if (too_long || state == VD_LISTING_DONE)
        send_whole(l);
    else
        vd_listing_yield(&l->listing);
}

/* ---- the way in ---- */

static void ready(struct vd_listing *listing)
{
    struct listing *l = VD_CONTAINER_OF(listing, struct listing, listing);
    if (l->whole)
        gather(l);
    else
        send_piece(l);
}

static void drained(struct vd_exchange *x)
{
    vd_listing_resume(&((struct listing *)x->arg)->listing);
}

static const struct vd_listing_ops listing_ops = {add, add_served, ready, closed};
static const struct vd_exchange_ops exchange_ops = {drained, gone};

/* Where the list is taken. `after` is in the call's arena. */
static int find_start(struct vd_call *call, const struct vd_list_options *o,
                      struct vd_listing_options *out, struct vd_error *error)
{
    if (o->continue_token.n) {
        if (o->has_version && o->version)
            return vd_error_set(error, VD_ERR_INVALID,
                                "specifying resource version is not allowed when using continue");
        return vd_continue_token_read(&call->arena, o->continue_token, vd_call_continue_scope(call),
                                      &out->revision, &out->after, error);
    }
    bool exact = o->match == VD_MATCH_EXACT ||
                 (o->match == VD_MATCH_UNSET && o->has_version && o->version && o->limit);
    out->not_older = o->has_version ? o->version : 0;
    out->revision = exact ? o->version : 0;
    return VD_OK;
}

static void reply_expired(struct vd_call *call, const struct vd_list_options *o,
                          struct vd_slice after)
{
    struct vd_buf token = {0};
    struct vd_status status;
    if (o->continue_token.n) {
        vd_continue_token_write(&token, 0, after);
        status = vd_status_continue_expired(&call->arena,
                                            vd_arena_copy(&call->arena, vd_buf_slice(&token)));
    } else {
        status = vd_status_list_expired(&call->arena);
    }
    vd_buf_release(&token);
    vd_call_reply_status(call, &status);
}

static void start(struct listing *l, struct vd_call *call, const struct vd_list_options *o)
{
    l->call = call;
    vd_list_writer_init(&l->writer, call);
    l->whole = !vd_listing_is_unlimited(&l->listing) || !vd_kube_output_is_stream(&call->output);
    l->count = !o->labels && !o->fields;
    l->takes_gzip = vd_request_takes_gzip(call->x);
    call->x->ops = &exchange_ops;
    call->x->arg = l;
    ready(&l->listing);
}

static void list(struct vd_call *call, const struct vd_list_options *o)
{
    struct listing *l = VD_NEW(struct listing);
    struct vd_error error;
    struct vd_listing_options options = {
        .ops = &listing_ops,
        .kind = call->kind,
        .namespace = call->target.namespace,
        .limit = o->has_version && o->version == 0 ? 0 : o->limit,
        .account = call->x->account,
        .rank = (enum vd_rank)call->x->rank,
    };
    int code = vd_call_filter(call, o, &options.filter, &error);
    if (!code)
        code = find_start(call, o, &options, &error);
    if (!code)
        code = vd_listing_open(&l->listing, call->l->api, &options, &error);
    vd_filter_unref(options.filter);
    if (!code) {
        start(l, call, o);
        return;
    }
    free(l);
    if (code == VD_ERR_EXPIRED)
        reply_expired(call, o, options.after);
    else
        vd_call_reply_error(call, code, &error);
}

void vd_call_list(struct vd_call *call)
{
    struct vd_list_options o;
    struct vd_error error;
    if (vd_exchange_is_over(call->x)) { /* a list would add to what the user does not read */
        vd_account_refuse(call->x->account, VD_LIMIT_USER_QUEUED);
        vd_call_reply_too_many(call);
        return;
    }
    int code = vd_list_options_parse(&o, &call->query, false, &error);
    if (code) {
        vd_call_reply_options(call, code, &error);
        return;
    }
    if (o.continue_token.n || !o.has_version || vd_call_await(call, o.version, vd_call_list))
        list(call, &o);
    vd_list_options_release(&o);
}
