/* See list.h. */
#include "api/list.h"

#include "api/read.h"
#include "base/container_of.h"
#include "base/limits.h"

enum {
    PIECE_LEN = 126976,   /* bytes of a list that are made at a time; with one small object more
                           * they fit into 128 KiB ... */
    SHARED_LEN = 32768,   /* ... when several users take turns */
    PIECE_OBJECTS = 4096, /* that are looked at for them: a filter may pass few */
    PIECE_WORK = 524288,  /* bytes of objects that are decoded for them */
};

static bool is_done(const struct vd_listing *l)
{
    return (l->snapshot.done && l->events_at == l->events_n) || l->left == 0;
}

/* ---- the user's turn and room ---- */

static void on_again(struct vd_turn_item *item)
{
    struct vd_listing *l = VD_CONTAINER_OF(item, struct vd_listing, again);
    l->ops->ready(l);
}

void vd_listing_yield(struct vd_listing *l)
{
    l->again.run = on_again;
    vd_turn_queue_wait(&l->l->turn_queue, vd_api_loop_turn_flow(l->l, l->account), &l->again);
}

void vd_listing_resume(struct vd_listing *l)
{
    struct vd_turn_queue *queue = &l->l->turn_queue;
    struct vd_turn_flow *flow = vd_api_loop_turn_flow(l->l, l->account);
    if (!vd_turn_queue_enter(queue, flow)) {
        vd_listing_yield(l);
        return;
    }
    l->ops->ready(l); /* may close it */
    vd_turn_queue_leave(queue, flow);
}

size_t vd_listing_piece_len(const struct vd_listing *l)
{
    return vd_turn_queue_is_shared(&l->l->turn_queue) ? SHARED_LEN : PIECE_LEN;
}

void vd_listing_hold(struct vd_listing *l, size_t bytes)
{
    vd_account_queue(l->account, (int64_t)bytes - l->held);
    l->held = (int64_t)bytes;
}

bool vd_listing_is_full(const struct vd_listing *l)
{
    return vd_account_is_full(l->account, l->rank);
}

/* ---- a webhook's items ---- */

static void converted(struct vd_conversion *c)
{
    struct vd_listing *l = c->arg;
    l->converting = false;
    if (!c->code) {
        vd_listing_yield(l);
        return;
    }
    l->failure = VD_LISTING_UNCONVERTED;
    l->code = c->code;
    l->error = c->error;
    l->ops->ready(l);
}

/* A webhook has to see the object first, or may have to. */
static void gather_item(struct vd_listing *l, struct vd_event *event)
{
    if (!l->conversion)
        l->conversion = vd_conversion_new(l->l, l->kind, converted, l);
    vd_conversion_add(l->conversion, event->body, event->revision, false, event->revision);
}

/* Whether as many have been gathered as are converted at a time. */
static bool has_gathered(const struct vd_listing *l)
{
    return l->conversion &&
           (l->conversion->len >= PIECE_LEN || l->conversion->items.n >= VD_CONVERSION_OBJECTS_MAX);
}

/* Adds those that have been converted. */
static void add_converted(struct vd_listing *l, struct vd_buf *out)
{
    for (size_t i = 0; i < l->conversion->items.n; i++)
        l->ops->add_served(l, out, vd_body_slice(l->conversion->items.p[i].converted));
    vd_conversion_free(l->conversion);
    l->conversion = NULL;
}

/* ---- items ---- */

/* The next objects of the snapshot. Passing by what is not there takes its time, too. */
static int fetch(struct vd_listing *l, size_t *seen, struct vd_error *error)
{
    size_t want = l->left < VD_LISTING_STEP_OBJECTS ? (size_t)l->left : VD_LISTING_STEP_OBJECTS;
    l->events_at = l->events_n = 0;
    int code = vd_snapshot_next(&l->snapshot, l->events, want, &l->events_n, error);
    if (code)
        l->events_n = 0;
    *seen += l->events_n ? l->events_n : VD_LISTING_STEP_OBJECTS;
    return code;
}

/* Writes the next object if it matches, or gathers it for a webhook, and passes it unless that
 * takes too long here. */
static int add_item(struct vd_listing *l, struct vd_buf *out, struct vd_effort *effort,
                    struct vd_error *error)
{
    struct vd_event *event = l->events[l->events_at];
    int code = VD_OK;
    vd_attributes_set(&l->attributes, event);
    if (vd_filter_matches(l->filter, &l->attributes)) {
        if (l->kind->webhook)
            gather_item(l, event);
        else
            code = l->ops->add(l, out, event, effort, error);
        if (code && effort->on_loop) {
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

/* Adds items until the piece is full, enough have been looked at, the list is at its end, or the
 * next one takes too long here. Those of a kind that a webhook converts are gathered, or added if
 * they were before. */
static int add_items(struct vd_listing *l, struct vd_buf *out, size_t len_max, bool on_loop,
                     struct vd_error *error)
{
    struct vd_effort effort = {.on_loop = on_loop};
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
        if (l->worked >= PIECE_WORK)
            break;
    }
    l->worked = 0;
    return code;
}

/* ---- by a worker ---- */

static void run(struct vd_pool_item *order)
{
    struct vd_listing *l = VD_CONTAINER_OF(order, struct vd_listing, order);
    l->code = add_items(l, &l->made, l->made.n + PIECE_LEN, false, &l->error);
}

static void release(struct vd_listing *l);

static void done(struct vd_pool_item *order)
{
    struct vd_listing *l = VD_CONTAINER_OF(order, struct vd_listing, order);
    l->working = false;
    if (l->is_closed) {
        release(l);
        return;
    }
    vd_account_queue(l->account, -l->making);
    l->making = 0;
    bool full = vd_listing_is_full(l);
    if (full && (!l->code || l->code == VD_ERR_LIMIT)) {
        l->failure = VD_LISTING_NO_ROOM;
        l->code = vd_error_set(&l->error, VD_ERR_LIMIT,
                               "too much waits for the user to read it: read it first");
    } else if (l->code) {
        l->failure = VD_LISTING_FAILED;
    }
    l->ops->ready(l);
}

static enum vd_listing_state let_make(struct vd_listing *l)
{
    l->heavy = false;
    l->working = true;
    l->making = l->events[l->events_at]->body->len;
    l->order = (struct vd_pool_item){.run = run, .done = done};
    vd_account_queue(l->account, l->making);
    vd_worker_pool_add(&l->l->worker_pool, l->l->loop, vd_api_loop_worker_flow(l->l, l->account),
                       &l->order);
    return VD_LISTING_WAITS;
}

/* ---- pieces ---- */

static enum vd_listing_state fail(const struct vd_listing *l, struct vd_error *error)
{
    *error = l->error;
    return l->failure;
}

static enum vd_listing_state state_of(const struct vd_listing *l)
{
    return is_done(l) ? VD_LISTING_DONE : VD_LISTING_MORE;
}

enum vd_listing_state vd_listing_next(struct vd_listing *l, struct vd_buf *out, size_t len_max,
                                      struct vd_error *error)
{
    size_t before = out->n;
    if (l->code)
        return fail(l, error);
    if (l->made.n) {
        vd_buf_add_slice(out, vd_buf_slice(&l->made));
        vd_buf_release(&l->made);
        return state_of(l);
    }
    if (l->heavy)
        return let_make(l);
    l->code = add_items(l, out, len_max, true, &l->error);
    if (l->code) {
        l->failure = VD_LISTING_FAILED;
        return fail(l, error);
    }
    if (l->conversion) {
        l->converting = true;
        vd_conversion_start(l->conversion);
        return VD_LISTING_WAITS;
    }
    if (l->heavy && out->n == before)
        return let_make(l);
    return state_of(l);
}

int vd_listing_rest(const struct vd_listing *l, bool count, struct vd_listing_rest *out,
                    struct vd_error *error)
{
    size_t remaining = 0, unwritten = l->events_n - l->events_at;
    bool counts = !l->snapshot.done && count;
    int code = counts ? vd_snapshot_remaining(&l->snapshot, &remaining, error) : VD_OK;
    remaining += unwritten;
    *out = (struct vd_listing_rest){
        .more = unwritten || (!l->snapshot.done && (!count || remaining)),
        .after = unwritten ? vd_entry_path(l->last->entry) : vd_buf_slice(&l->snapshot.after),
        .remaining = remaining,
    };
    return code;
}

/* ---- the beginning and the end ---- */

int vd_listing_open(struct vd_listing *l, struct vd_api_loop *loop,
                    const struct vd_listing_options *o, struct vd_error *error)
{
    struct vd_buf prefix = {0};
    *l = (struct vd_listing){.ops = o->ops, .l = loop, .rank = o->rank};
    l->left = o->limit ? o->limit : UINT64_MAX;
    int code = o->access ? vd_api_authorize(loop->env, o->access, error) : VD_OK;
    if (!code && o->not_older)
        code = vd_api_check_revision(loop->env, o->not_older, error);
    if (code)
        return code;
    if (o->kind->namespaced && o->namespace.n)
        vd_buf_addf(&prefix, "%.*s/", VD_FMT(o->namespace));
    code = vd_snapshot_open(&l->snapshot, loop->env->store, o->kind->resource,
                            vd_buf_slice(&prefix), o->revision, o->after, error);
    vd_buf_release(&prefix);
    if (code) {
        vd_snapshot_release(&l->snapshot);
        return code;
    }
    l->kind = vd_kind_ref((struct vd_kind *)(uintptr_t)o->kind); /* for its count only */
    l->filter = vd_filter_ref(o->filter);
    l->account = o->account ? vd_account_ref(o->account) : NULL;
    return VD_OK;
}

static void release(struct vd_listing *l)
{
    vd_snapshot_release(&l->snapshot);
    vd_attributes_release(&l->attributes);
    vd_filter_unref(l->filter);
    for (size_t i = l->events_at; i < l->events_n; i++)
        vd_event_unref(l->events[i]);
    vd_event_unref(l->last);
    vd_conversion_free(l->conversion);
    vd_buf_release(&l->made);
    vd_kind_unref(l->kind);
    vd_account_unref(l->account);
    l->ops->closed(l);
}

void vd_listing_close(struct vd_listing *l)
{
    vd_turn_item_cancel(&l->again);
    vd_account_queue(l->account, -(l->held + l->making));
    if (l->converting) { /* it is freed by itself */
        vd_conversion_abandon(l->conversion);
        l->conversion = NULL;
    }
    l->is_closed = true;
    if (!l->working || vd_pool_item_cancel(&l->order))
        release(l);
}
