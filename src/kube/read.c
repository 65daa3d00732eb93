/*
 * get and list. Objects are sent as the bytes they are stored as.
 *
 * A list is a stream of pieces: each is made when the last one has been sent, so
 * a hundred large lists at a time cost a hundred pieces of memory. A page with a
 * limit is gathered first, because its head says how it goes on; so is a list in an
 * encoding that needs it whole. What is gathered ends at VD_GATHERED_LEN_MAX. Either way a turn
 * of the loop looks at a bounded number of objects. A piece whose objects take long to be shown -
 * large ones that have to be decoded - is made by a worker's thread, which has the listing to
 * itself meanwhile.
 *
 * Items that a webhook has to convert are gathered, about as many as make a piece; the list waits
 * for their conversion, and then goes on with it. No worker has such a list.
 *
 * Whether a list is compressed goes by its length and what the client takes, never by how
 * busy the server is: see is_undecided().
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/log.h"
#include "kinds/object.h"
#include "kube/call_conversion.h"
#include "kube/continue_token.h"
#include "kube/list_writer.h"
#include "kube/offload.h"
#include "kube/query_option.h"
#include "kube/zip.h"
#include "net/account.h"
#include "store/snapshot.h"

enum {
    PIECE_LEN = 126976,   /* bytes of a list that are made at a time; with one small object more
                           * they fit into 128 KiB ... */
    SHARED_LEN = 32768,   /* ... when several users take turns */
    PIECE_OBJECTS = 4096, /* that are looked at for them: a filter may pass few */
    PIECE_WORK = 524288,  /* bytes of objects that are decoded for them */
    STEP_OBJECTS = 64,
    COPIED_LEN =
        16384, /* a shorter frame is copied, so that it holds no more memory than it needs */
};

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
    int code = vd_store_get(call->kube->store, &key, 0, &event, &error);
    call->write = show;
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
    if (version && vd_store_place(call->kube->store, version, &error) == VD_ERR_FUTURE)
        code = VD_ERR_FUTURE;
    if (code)
        vd_call_reply_error(call, code, &error);
    else
        show(call);
}

/* ---- list ---- */

/* The order of a piece. */
struct making {
    struct vd_order order;
    int64_t held; /* bytes, about, that the piece will have: they count as if they waited already */
    struct vd_account *account; /* a reference; NULL: nobody's */
    int code;
    struct vd_error error;
};

struct listing {
    struct vd_call *call; /* its exchange is NULL when the client has gone */
    struct vd_snapshot snapshot;
    struct vd_filter *filter;
    struct vd_attributes attributes;
    uint64_t left; /* of the limit; UINT64_MAX: no limit */
    struct vd_list_writer writer;
    struct vd_chore again; /* goes on when it is the user's turn */
    struct vd_conversion
        *conversion; /* of a kind that a webhook converts: the next items; else NULL */
    bool converting; /* it is under way */
    /* What the snapshot has given and is not written yet: */
    struct vd_event *events[STEP_OBJECTS];
    size_t events_n, events_at;
    struct vd_event *last; /* what was passed last: a reference; NULL: nothing yet */
    /* A piece that takes too long for the loop: */
    bool heavy; /* a worker has to write the next object */
    struct making making;
    struct vd_buf made; /* what it has written */
    /* Of a stream: */
    bool begun;
    bool takes_gzip, zipped;
    struct vd_gzip_stream zip;
    /* Of one that is gathered, or of a stream until it is known whether it is compressed: */
    struct vd_buf items;
    bool whole;
    bool count; /* tell how many remain */
};

static void listing_free(struct listing *l)
{
    vd_snapshot_release(&l->snapshot);
    vd_attributes_release(&l->attributes);
    vd_filter_unref(l->filter);
    vd_list_writer_release(&l->writer);
    for (size_t i = l->events_at; i < l->events_n; i++)
        vd_event_unref(l->events[i]);
    vd_event_unref(l->last);
    vd_buf_release(&l->items);
    vd_conversion_free(l->conversion);
    vd_buf_release(&l->made);
    free(l);
}

static void gone(struct vd_exchange *x)
{
    struct listing *l = x->arg;
    l->call->x = NULL;
    vd_chore_cancel(&l->again);
    if (l->converting) { /* it is freed by itself */
        vd_conversion_abandon(l->conversion);
        l->conversion = NULL;
    }
    vd_call_free(l->call);
    listing_free(l);
}

/* The listing is over; its call is to be answered. */
static void reply_error(struct listing *l, int code, const struct vd_error *error)
{
    struct vd_call *call = l->call;
    struct vd_error why = *error;
    call->x->ops = NULL;
    listing_free(l);
    if (code == VD_ERR_LIMIT)
        vd_call_reply_unshowable(call, &why);
    else
        vd_call_reply_error(call, code, &why);
}

static void go_on(struct listing *l);
static const struct vd_exchange_ops list_ops;

static void on_again(struct vd_chore *chore)
{
    go_on(VD_HEAP_OWNER(chore, struct listing, again));
}

static struct vd_lane *lane_of(struct listing *l)
{
    struct vd_account *account = l->call->x->account;
    return account ? vd_account_lane(account, l->call->l->loop->index) : &l->call->l->api->lane;
}

static void let_others(struct listing *l)
{
    l->again.run = on_again;
    vd_turnstile_wait(&l->call->l->api->turnstile, lane_of(l), &l->again);
}

/* ---- items ---- */

static bool is_done(const struct listing *l)
{
    return (l->snapshot.done && l->events_at == l->events_n) || l->left == 0;
}

static void converted(struct vd_conversion *c);

/* A webhook has to see the object first, or may have to. */
static void gather_item(struct listing *l, struct vd_event *event)
{
    if (!l->conversion)
        l->conversion = vd_conversion_new(l->call->l, l->call->kind, converted, l);
    vd_conversion_add(l->conversion, event->body, event->revision, false, event->revision);
}

/* Whether as many have been gathered as are converted at a time. */
static bool has_gathered(const struct listing *l)
{
    return l->conversion &&
           (l->conversion->len >= PIECE_LEN || l->conversion->items.n >= VD_CONVERSION_OBJECTS_MAX);
}

/* Adds those that have been converted. */
static void add_converted(struct listing *l, struct vd_buf *out)
{
    for (size_t i = 0; i < l->conversion->items.n; i++)
        vd_list_writer_add_shown(&l->writer, out, vd_body_slice(l->conversion->items.p[i].shown));
    vd_conversion_free(l->conversion);
    l->conversion = NULL;
}

/* The next objects of the snapshot. Passing by what is not there takes its time, too. */
static int fetch(struct listing *l, size_t *seen, struct vd_error *error)
{
    size_t want = l->left < STEP_OBJECTS ? (size_t)l->left : STEP_OBJECTS;
    l->events_at = l->events_n = 0;
    int code = vd_snapshot_next(&l->snapshot, l->events, want, &l->events_n, error);
    if (code)
        l->events_n = 0;
    *seen += l->events_n ? l->events_n : STEP_OBJECTS;
    return code;
}

/* Writes the next object if it matches, or gathers it for a webhook, and passes it unless that
 * takes too long here. */
static int add_item(struct listing *l, struct vd_buf *out, struct vd_effort *effort,
                    struct vd_error *error)
{
    struct vd_event *event = l->events[l->events_at];
    int code = VD_OK;
    vd_attributes_set(&l->attributes, event);
    if (vd_filter_matches(l->filter, &l->attributes)) {
        if (l->call->kind->webhook)
            gather_item(l, event);
        else
            code = vd_list_writer_add(&l->writer, out, event, effort, error);
        if (code && effort->in_turn) {
            l->heavy = true;
            return VD_OK;
        }
        l->left -= l->left != UINT64_MAX;
    }
    l->events_at++;
    vd_event_unref(l->last);
    l->last = event;
    return code;
}

/* Adds items until the piece is full, enough have been looked at, the list is at its end, or
 * the next one takes too long here. Those of a kind that a webhook converts are gathered, or added
 * if they were before. */
static int add_items(struct listing *l, struct vd_buf *out, size_t len_max, bool in_turn,
                     struct vd_error *error)
{
    struct vd_effort effort = {.in_turn = in_turn};
    size_t seen = 0;
    int code = VD_OK;
    if (l->conversion) {
        add_converted(l, out);
        return VD_OK;
    }
    while (!code && !l->heavy && !is_done(l) && out->n < len_max && seen < PIECE_OBJECTS &&
           !has_gathered(l)) {
        if (l->events_at == l->events_n) {
            code = fetch(l, &seen, error);
            continue;
        }
        effort.filled = 0; /* by the object */
        code = add_item(l, out, &effort, error);
        if (l->writer.worked >= PIECE_WORK)
            break;
    }
    l->writer.worked = 0;
    return code;
}

/* What is gathered, or made by a worker, counts as what waits for the user. */
static void reply_no_room(struct listing *l)
{
    struct vd_call *call = l->call;
    vd_account_refuse(call->x->account, VD_LIMIT_USER_QUEUED);
    call->x->ops = NULL;
    listing_free(l);
    vd_call_reply_too_many(call);
}

static void reply_too_long(struct listing *l)
{
    struct vd_call *call = l->call;
    struct vd_error error;
    int code = vd_error_set(&error, VD_ERR_LIMIT,
                            "the list is longer than the %d bytes that can be made of it in this "
                            "encoding: ask for it as JSON, or in pages, with limit=500",
                            VD_GATHERED_LEN_MAX);
    call->x->ops = NULL;
    listing_free(l);
    vd_call_reply_error(call, code, &error);
}

/* ---- by a worker ---- */

static void break_off(struct listing *l, int code, const struct vd_error *error);

static void make(struct vd_order *order)
{
    struct listing *l = VD_HEAP_OWNER(order, struct listing, making.order);
    l->making.code = add_items(l, &l->made, l->made.n + PIECE_LEN, false, &l->making.error);
}

static void made(struct vd_order *order)
{
    struct listing *l = VD_HEAP_OWNER(order, struct listing, making.order);
    struct vd_error error = l->making.error;
    vd_account_unref(l->making.account);
    if (!l->call->x) {
        vd_call_free(l->call);
        listing_free(l);
        return;
    }
    l->call->x->ops = &list_ops;
    vd_exchange_hold(l->call->x, -l->making.held);
    if (!l->making.code && vd_exchange_is_full(l->call->x))
        l->making.code = vd_error_set(&error, VD_ERR_LIMIT,
                                      "too much waits for the user to read it: read it first");
    if (l->making.code == VD_ERR_LIMIT && !l->begun && vd_exchange_is_full(l->call->x))
        reply_no_room(l);
    else if (l->making.code)
        break_off(l, l->making.code, &error);
    else
        go_on(l);
}

static void gone_meanwhile(struct vd_exchange *x)
{
    struct listing *l = x->arg;
    l->call->x = NULL;
    if (!vd_order_cancel(&l->making.order))
        return;
    vd_account_unref(l->making.account);
    vd_call_free(l->call);
    listing_free(l);
}

static void drained_meanwhile(struct vd_exchange *x)
{
    (void)x;
}

static const struct vd_exchange_ops making_ops = {drained_meanwhile, gone_meanwhile};

static void let_make(struct listing *l)
{
    struct vd_kube_loop *loop = l->call->l;
    struct vd_account *account = l->call->x->account;
    l->heavy = false;
    l->making = (struct making){.order = {.run = make, .done = made},
                                .held = l->events[l->events_at]->body->len,
                                .account = account ? vd_account_ref(account) : NULL};
    vd_exchange_hold(l->call->x, l->making.held);
    l->call->x->ops = &making_ops;
    vd_workshop_order(&loop->api->workshop, loop->loop,
                      account ? vd_account_place(account, loop->loop->index) : &loop->api->place,
                      &l->making.order);
}

/* What a worker has made, or else as much as can be made here. */
static int take_items(struct listing *l, struct vd_buf *out, size_t len_max, struct vd_error *error)
{
    if (l->made.n == 0)
        return add_items(l, out, len_max, true, error);
    vd_buf_add_slice(out, vd_buf_slice(&l->made));
    vd_buf_release(&l->made);
    return VD_OK;
}

static void add_head(struct listing *l, struct vd_buf *out, struct vd_slice token,
                     uint64_t remaining, bool has_remaining)
{
    char digits[20];
    struct vd_list_meta meta = {
        .resource_version = vd_slice(digits, vd_u64_digits(l->snapshot.revision, digits)),
        .continue_token = token,
        .has_remaining = has_remaining,
        .remaining = remaining,
    };
    vd_list_writer_head(&l->writer, out, &meta);
}

/* ---- a stream ---- */

static void begin_stream(struct listing *l, size_t piece_len)
{
    struct vd_http_field fields[2 + VD_ZIP_FIELDS] = {
        {VD_SLICE("Cache-Control"), VD_SLICE("no-cache, private")}};
    size_t n = 1 + vd_deprecation_field(l->call->kind, &l->call->arena, &fields[1]);
    l->begun = true;
    l->zipped = l->takes_gzip && piece_len > VD_GZIP_BODY_LEN_MIN;
    for (size_t i = 0; l->zipped && i < VD_ZIP_FIELDS; i++)
        fields[n++] = vd_zip_fields[i];
    vd_exchange_stream(l->call->x,
                       &(struct vd_response){.status = 200,
                                             .content_type = VD_SLICE("application/json"),
                                             .fields = fields,
                                             .fields_n = n});
}

/* The piece, which is the frame's payload already or goes into it now. */
static void send_frame(struct listing *l, struct vd_slice piece, bool last)
{
    struct vd_kube_loop *loop = l->call->l;
    if (l->takes_gzip) {
        vd_frame_begin(&loop->frame);
        if (l->zipped)
            vd_gzip_add(vd_kube_loop_gzip(loop), &l->zip, piece, last, &loop->frame);
        else
            vd_buf_add_slice(&loop->frame, piece);
    }
    struct vd_buf *frame = &loop->frame;
    vd_exchange_send(l->call->x,
                     frame->n < COPIED_LEN ? vd_frame_end(frame) : vd_frame_take(frame));
}

/* An error behind the head can only break the answer off. */
static void break_off(struct listing *l, int code, const struct vd_error *error)
{
    struct vd_exchange *x = l->call->x;
    if (!l->begun) {
        reply_error(l, code, error);
        return;
    }
    x->ops = NULL;
    vd_log_warn("a list was broken off", VD_F_SLICE("kind", l->call->kind->storage_key),
                VD_F_STR("error", error->text));
    vd_call_free(l->call);
    listing_free(l);
    vd_exchange_abort(x);
}

/* Waits for the conversion of what was gathered. False: there is nothing to wait for. */
static bool await_converted(struct listing *l)
{
    if (!l->conversion)
        return false;
    l->converting = true;
    vd_conversion_start(l->conversion);
    return true;
}

static void converted(struct vd_conversion *c)
{
    struct listing *l = c->arg;
    struct vd_call *call = l->call;
    struct vd_error why = c->error;
    l->converting = false;
    if (!c->code) {
        let_others(l);
    } else if (l->begun) {
        break_off(l, c->code, &why);
    } else {
        call->x->ops = NULL;
        listing_free(l);
        vd_call_reply_unconverted(call, &why);
    }
}

/*
 * A list for a client that takes gzip is compressed if all of it is more than
 * VD_GZIP_BODY_LEN_MIN. So the first piece is all there is, or more than that; where turns are
 * short it is gathered in several of them.
 */
static bool is_undecided(const struct listing *l, size_t piece_len)
{
    return l->takes_gzip && !l->begun && !is_done(l) && piece_len <= VD_GZIP_BODY_LEN_MIN;
}

static void send_piece(struct listing *l)
{
    struct vd_exchange *x = l->call->x;
    struct vd_kube_loop *loop = l->call->l;
    struct vd_buf *out = !l->takes_gzip ? &loop->frame : l->begun ? &loop->piece : &l->items;
    struct vd_error error;
    if (out != &l->items)
        vd_buf_reset(out);
    if (!l->takes_gzip)
        vd_frame_begin(out);
    size_t from = l->takes_gzip ? 0 : out->n;
    if (!l->begun && out->n == from)
        add_head(l, out, VD_SLICE(""), 0, false);
    size_t head_end = out->n;
    size_t len = vd_turnstile_is_shared(&loop->api->turnstile) ? SHARED_LEN : PIECE_LEN;
    if (l->begun) /* what follows mostly is as long as it may be */
        vd_buf_reserve(out, len);
    int code = take_items(l, out, out->n + len, &error);
    if (code) {
        vd_buf_reset(out);
        break_off(l, code, &error);
        return;
    }
    if (await_converted(l)) {
        if (out != &l->items)
            vd_buf_reset(out);
        return;
    }
    if (l->heavy && out->n == head_end) { /* the head may still become an error */
        if (out != &l->items)
            vd_buf_reset(out);
        let_make(l);
        return;
    }
    bool done = is_done(l);
    if (done)
        vd_list_writer_tail(&l->writer, out);
    if (out->n == from || is_undecided(l, out->n)) { /* an empty frame would be the end */
        vd_exchange_hold(x, (int64_t)l->items.n - x->held);
        let_others(l);
        return;
    }
    if (!l->begun)
        begin_stream(l, out->n - from);
    send_frame(l, vd_slice(out->p + from, out->n - from), done);
    vd_exchange_hold(x, -x->held);
    vd_buf_release(&l->items);
    if (!done) {
        vd_exchange_await_drain(x);
        return;
    }
    x->ops = NULL;
    vd_exchange_end(x);
    vd_call_free(l->call);
    listing_free(l);
}

/* ---- a page, or a list that has to be whole before it can be encoded ---- */

static void send_whole(struct listing *l)
{
    struct vd_call *call = l->call;
    struct vd_buf answer = {0}, token = {0};
    struct vd_error error;
    size_t remaining = 0, unwritten = l->events_n - l->events_at;
    int code = !l->snapshot.done && l->count
                   ? vd_snapshot_remaining(&l->snapshot, &remaining, &error)
                   : VD_OK;
    remaining += unwritten;
    bool more = unwritten || (!l->snapshot.done && (!l->count || remaining));
    if (code) {
        reply_error(l, code, &error);
        return;
    }
    if (more)
        vd_continue_token_write(&token, l->snapshot.revision,
                                unwritten ? vd_entry_path(l->last->entry)
                                          : vd_buf_slice(&l->snapshot.after));
    add_head(l, &answer, vd_buf_slice(&token), remaining, more && l->count);
    vd_buf_add_slice(&answer, vd_buf_slice(&l->items));
    vd_list_writer_tail(&l->writer, &answer);
    call->x->ops = NULL;
    listing_free(l);
    vd_call_reply_json(call, 200, vd_buf_slice(&answer));
    vd_buf_release(&answer);
    vd_buf_release(&token);
}

/* A page may have fewer objects than its limit, and then goes on behind them; a list without a
 * limit may not. */
static void gather(struct listing *l)
{
    struct vd_error error;
    size_t before = l->items.n;
    if (vd_exchange_is_full(l->call->x)) {
        reply_no_room(l);
        return;
    }
    int code = take_items(l, &l->items, VD_GATHERED_LEN_MAX, &error);
    vd_exchange_hold(l->call->x, (int64_t)(l->items.n - before));
    bool too_long = !code && !is_done(l) && l->items.n >= VD_GATHERED_LEN_MAX;
    if (code)
        reply_error(l, code, &error);
    else if (too_long && l->left == UINT64_MAX)
        reply_too_long(l);
    else if (await_converted(l))
        return;
    else if (l->heavy && !too_long)
        let_make(l);
    else if (is_done(l) || too_long)
        send_whole(l);
    else
        let_others(l);
}

/* ---- the way in ---- */

static void go_on(struct listing *l)
{
    if (l->heavy && l->made.n == 0)
        let_make(l);
    else if (l->whole)
        gather(l);
    else
        send_piece(l);
}

static void drained(struct vd_exchange *x)
{
    struct listing *l = x->arg;
    struct vd_turnstile *turnstile = &l->call->l->api->turnstile;
    struct vd_lane *lane = lane_of(l);
    if (!vd_turnstile_enter(turnstile, lane)) {
        let_others(l);
        return;
    }
    go_on(l);
    vd_turnstile_leave(turnstile, lane);
}

static const struct vd_exchange_ops list_ops = {drained, gone};

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
        return vd_continue_token_read(&call->arena, o->continue_token, vd_call_continue_scope(call),
                                      &out->revision, &out->after, error);
    }
    bool exact = o->match == VD_MATCH_EXACT ||
                 (o->match == VD_MATCH_UNSET && o->has_version && o->version && o->limit);
    if (o->has_version && vd_store_place(call->kube->store, o->version, error) == VD_ERR_FUTURE)
        return VD_ERR_FUTURE;
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
    struct place place = {0, VD_SLICE("")};
    struct vd_buf prefix = {0};
    l->call = call;
    vd_list_writer_init(&l->writer, call);
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
    if (!code) {
        l->whole = l->left != UINT64_MAX || !vd_kube_output_is_stream(&call->output);
        l->count = !o->labels && !o->fields;
        l->takes_gzip = vd_call_takes_gzip(call);
        call->x->ops = &list_ops;
        call->x->arg = l;
        go_on(l);
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
