/*
 * watch: a watcher in its loop's registry that writes what it is given to an
 * exchange.
 *
 * Events of a commit come to all watches of a group at once. The first one asked
 * makes the wire bytes - HTTP chunk and all - and the others send a reference to
 * them. A watch whose backlog is full does not take them; when its socket has
 * taken the backlog it reads on from the log, where it stood. Events that a webhook has to convert,
 * or a worker to show, are waited for (pending_frame.h); the watch takes no more until it has sent
 * them.
 *
 * It ends by its timeout, with the server, with its kind, when its right or its
 * credential ends, or when its cursor has expired; the last three are told by an ERROR
 * event.
 * It is broken off, and its client resumes, when nothing more may be queued for its user and what a
 * worker or a webhook has made for it cannot be taken back.
 *
 * Whether rights and credentials still hold is looked at about once a second, by one
 * timer for all watches of the loop, some at a time: a watch is only asked about in
 * earnest when rules or credentials have changed since the last time.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "kube/audit/audit.h"
#include "kube/blueprint.h"
#include "kube/call.h"
#include "kube/pending_frame.h"
#include "kube/record.h"
#include "kube/watch_frame.h"
#include "kube/zip.h"
#include "net/account.h"

enum {
    BACKLOG_MAX = 262144, /* bytes that a watch may have waiting */
    FRAME_KEPT = 1048576, /* bytes of memory that are kept for making the next frame */
    RECHECK_MS = 1000,    /* between two looks at a watch's rights */
    RECHECK_STEP = 512,   /* watches that are looked at in one turn */
    STARVED_MS = 50,      /* between two looks whether there is room for those without a backlog */
    LAST_BOOKMARK_MS = 2000, /* before its end by timeout, a watch gets one more bookmark */
    LIFE_S_MAX = 31536000,   /* what a client may wish for, so that milliseconds cannot overflow */
};

struct tables {
    struct vd_table *columns; /* a reference */
    struct vd_table_writer writer;
};

struct vd_watch {
    struct vd_watcher watcher; /* first: the registry's callbacks are given it */
    struct vd_kube_loop *l;
    struct vd_exchange *x;
    struct vd_user *user;
    struct vd_kind *kind; /* a reference, renewed when the registry has changed */
    uint64_t generation;  /* of the registry when it was last looked up */
    struct vd_timer bookmark;
    struct vd_timer end;
    struct tables *tables; /* if it sends them; else NULL */
    struct vd_meter *meter;
    uint64_t rights_version; /* at which its rights were last found good; 0: not yet */
    struct vd_kube_output output;
    bool bookmarks;
    bool tell_initial_end;
    bool ending; /* the next ring of `end` ends it */
    bool broken; /* it was told of an object that cannot be shown, and ends */
    struct vd_frame_waiter
        pending; /* waits for a webhook or a worker, and takes nothing meanwhile */
    /* Where it stands in the list of those for whom nothing waits, and yet nothing may be queued;
     * NULL: it is not there. */
    struct vd_watch **starved_at, *next_starved;
    struct vd_watch *prev, *next;
};

/* ---- the kind ---- */

static bool is_same_definition(const struct vd_kind *a, const struct vd_kind *b)
{
    struct vd_slice one = vd_json_text(vd_json_dig(a->document, "metadata", "uid", NULL));
    struct vd_slice other = vd_json_text(vd_json_dig(b->document, "metadata", "uid", NULL));
    return vd_slice_eq(one, other);
}

/* Looks the kind up again if the registry has changed: its definition may have. False:
 * it is no longer served, or another of its name is. */
static bool renew_kind(struct vd_watch *w)
{
    struct vd_kinds *kinds = w->l->kube->kinds;
    if (w->kind->builtin || w->generation == vd_kinds_generation(kinds))
        return true;
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    const struct vd_kind *kind = vd_kind_set_resource(set, w->kind->group, w->kind->version,
                                                      w->kind->plural);
    bool good = kind && kind->served && is_same_definition(kind, w->kind);
    if (good && kind != w->kind) {
        struct vd_kind *old = w->kind;
        w->kind = vd_kind_ref((struct vd_kind *)(uintptr_t)kind); /* for its count only */
        vd_kind_unref(old);
    }
    if (good)
        w->generation = vd_kind_set_generation(set);
    vd_kind_set_unref(set);
    return good;
}

/* ---- bytes ---- */

static struct vd_watch_form form_of(struct vd_watch *w)
{
    return (struct vd_watch_form){w->l, w->kind, &w->output, w->tables ? &w->tables->writer : NULL};
}

/* Makes the frame here, if that does not take too long and a worker could make it. */
static enum vd_frame_result make_frame(struct vd_event_frame *frame, struct vd_watch *w,
                                       const struct vd_deliveries *d, bool shown)
{
    struct vd_watch_form form = form_of(w);
    enum vd_frame_result result = vd_watch_frame_make(frame, &w->l->frame, &form, d, shown,
                                                      !w->kind->webhook);
    if (w->l->frame.cap > FRAME_KEPT)
        vd_buf_release(&w->l->frame);
    return result;
}

/* What a group shares: the frame of a commit. */
struct shared_frame {
    struct vd_shared shared;
    struct vd_event_frame frame;
    bool broken; /* its last event is an error */
};

static void shared_frame_free(struct vd_shared *shared)
{
    struct shared_frame *f = (struct shared_frame *)shared;
    vd_event_frame_release(&f->frame);
    free(f);
}

/* Each of them sends nothing if it would take too long to make. */
static enum vd_frame_result send_shared(struct vd_watch *w, const struct vd_deliveries *d,
                                        struct vd_shared **shared)
{
    if (!*shared) {
        struct vd_event_frame frame;
        enum vd_frame_result result = make_frame(&frame, w, d, false);
        if (result == VD_FRAME_TOO_LONG)
            return result;
        struct shared_frame *made = VD_NEW(struct shared_frame);
        vd_refcount_init(&made->shared.refs);
        made->shared.free = shared_frame_free;
        made->frame = frame;
        made->broken = result == VD_FRAME_BROKEN;
        *shared = &made->shared;
    }
    const struct shared_frame *f = (struct shared_frame *)*shared;
    vd_event_frame_send(&f->frame, w->x);
    return f->broken ? VD_FRAME_BROKEN : VD_FRAME_GOOD;
}

static enum vd_frame_result send_own(struct vd_watch *w, const struct vd_deliveries *d)
{
    struct vd_event_frame frame;
    enum vd_frame_result result = make_frame(&frame, w, d, false);
    vd_event_frame_send(&frame, w->x);
    vd_event_frame_release(&frame);
    return result;
}

static void send_bookmark(struct vd_watch *w, uint64_t revision, bool initial_end)
{
    struct vd_buf *out = &w->l->frame;
    struct vd_arena scratch = {0};
    struct vd_buf object = {0};
    vd_frame_begin(out);
    vd_buf_add_text(out, "{\"type\":\"BOOKMARK\",\"object\":");
    if (w->output.form == VD_OUTPUT_TABLE) {
        vd_table_write_bookmark(&w->tables->writer, out, &scratch, revision);
    } else {
        vd_buf_addf(&object,
                    "{\"kind\":\"%.*s\",\"apiVersion\":\"%.*s\",\"metadata\":{"
                    "\"resourceVersion\":\"%llu\",\"creationTimestamp\":null",
                    VD_FMT(w->kind->kind), VD_FMT(w->kind->api_version),
                    (unsigned long long)revision);
        if (initial_end) {
            vd_buf_add_text(&object, ",\"annotations\":");
            vd_initial_end_write(&object, w->kind, &w->output);
        }
        vd_buf_add_text(&object, "}}");
        if (w->output.form == VD_OUTPUT_PARTIAL)
            vd_partial_write(out, w->output.version, vd_buf_slice(&object));
        else
            vd_buf_add_slice(out, vd_buf_slice(&object));
    }
    vd_buf_add_text(out, "}\n");
    vd_exchange_send(w->x, vd_frame_end(out));
    vd_buf_release(&object);
    vd_arena_release(&scratch);
}

static void send_error(struct vd_watch *w, const struct vd_status *status)
{
    vd_frame_begin(&w->l->frame);
    vd_watch_frame_add_error(&w->l->frame, status);
    vd_exchange_send(w->x, vd_frame_end(&w->l->frame));
}

/* ---- the end ---- */

static void tables_free(struct tables *t)
{
    if (t)
        vd_table_unref(t->columns);
    free(t);
}

static void starved_add(struct vd_watch *w)
{
    struct vd_kube_loop *l = w->l;
    if (w->starved_at)
        return;
    w->starved_at = &l->starved;
    w->next_starved = l->starved;
    if (w->next_starved)
        w->next_starved->starved_at = &w->next_starved;
    l->starved = w;
    if (!vd_timer_is_set(&l->starving))
        vd_timer_set(l->loop, &l->starving, STARVED_MS);
}

static void starved_remove(struct vd_watch *w)
{
    if (!w->starved_at)
        return;
    *w->starved_at = w->next_starved;
    if (w->next_starved)
        w->next_starved->starved_at = w->starved_at;
    w->starved_at = NULL;
}

/* For a watch that is no longer in the registry. */
static void watch_free(struct vd_watch *w, enum vd_watch_end why)
{
    vd_meter_watch_ended(w->meter, why);
    vd_pending_frame_leave(&w->pending);
    if (w->l->recheck_at == w)
        w->l->recheck_at = w->next;
    starved_remove(w);
    vd_timer_stop(w->l->loop, &w->bookmark);
    vd_timer_stop(w->l->loop, &w->end);
    *(w->prev ? &w->prev->next : &w->l->watches) = w->next;
    if (w->next)
        w->next->prev = w->prev;
    if (--w->l->watches_n == 0)
        vd_timer_stop(w->l->loop, &w->l->recheck);
    vd_cursor_close(&w->watcher.cursor);
    tables_free(w->tables);
    vd_kind_unref(w->kind);
    vd_user_unref(w->user);
    free(w);
}

static void finish(struct vd_watch *w, enum vd_watch_end why)
{
    vd_registry_remove(&w->watcher);
    vd_exchange_end(w->x);
    watch_free(w, why);
}

static void gone(struct vd_exchange *x)
{
    struct vd_watch *w = x->arg;
    vd_registry_remove(&w->watcher);
    watch_free(w, VD_WATCH_END_GONE);
}

/* The revision that a bookmark may name now; 0: none. What is waited for was not sent. */
static uint64_t bookmark_of(const struct vd_watch *w)
{
    return w->broken || w->pending.frame ? 0 : vd_watcher_bookmark(&w->watcher);
}

static void on_end(struct vd_timer *timer)
{
    struct vd_watch *w = VD_HEAP_OWNER(timer, struct vd_watch, end);
    if (w->broken) {
        finish(w, VD_WATCH_END_ERROR);
        return;
    }
    uint64_t revision = w->bookmarks ? bookmark_of(w) : 0;
    if (revision)
        send_bookmark(w, revision, false);
    if (w->ending) {
        finish(w, VD_WATCH_END_TIMEOUT);
        return;
    }
    w->ending = true;
    vd_timer_set(w->l->loop, &w->end, LAST_BOOKMARK_MS);
}

static void ended(struct vd_watcher *watcher, const struct vd_error *error)
{
    struct vd_watch *w = (struct vd_watch *)watcher;
    struct vd_arena arena = {0};
    struct vd_status status = vd_status_of_error(&arena, NULL, (int)error->code, error);
    send_error(w, &status);
    vd_arena_release(&arena);
    vd_exchange_end(w->x);
    watch_free(w, error->code == VD_ERR_EXPIRED ? VD_WATCH_END_EXPIRED : VD_WATCH_END_ERROR);
}

/* ---- rights ---- */

static void end_with_status(struct vd_watch *w, const struct vd_status *status,
                            enum vd_watch_end why)
{
    send_error(w, status);
    finish(w, why);
}

/* Ends the watch if its kind is gone, when it has been given everything. */
static bool ends_with_kind(struct vd_watch *w)
{
    if (renew_kind(w) || !bookmark_of(w))
        return false;
    finish(w, VD_WATCH_END_KIND);
    return true;
}

/* Ends the watch if its user may not have it any more. */
static void recheck(struct vd_watch *w, uint64_t version, int64_t now_ms)
{
    const struct vd_kube *kube = w->l->kube;
    struct vd_access access = vd_record_access(vd_record_of(w->x));
    struct vd_arena arena = {0};
    struct vd_buf reason = {0};
    bool changed = w->rights_version != version;
    w->rights_version = version;
    if (vd_user_has_expired(w->user, now_ms) || (changed && !kube->stands(kube->arg, w->user))) {
        struct vd_status status = vd_status_unauthorized(&arena, VD_SLICE(""));
        end_with_status(w, &status, VD_WATCH_END_CREDENTIAL);
    } else if (changed && !kube->allowed(kube->arg, &access, &reason)) {
        struct vd_status status = vd_access_status(&arena, &access, vd_buf_slice(&reason));
        end_with_status(w, &status, VD_WATCH_END_FORBIDDEN);
    }
    vd_buf_release(&reason);
    vd_arena_release(&arena);
}

/* One step of a round over the loop's watches. Who comes during a round stands before
 * its place in the list and is met in the next. */
static void on_recheck(struct vd_timer *timer)
{
    struct vd_kube_loop *l = VD_HEAP_OWNER(timer, struct vd_kube_loop, recheck);
    int64_t now_ms = vd_clock_wall_ms(l->kube->clock);
    if (!l->recheck_at) {
        l->recheck_at = l->watches;
        l->recheck_version = l->kube->rights_version(l->kube->arg);
    }
    for (size_t n = 0; l->recheck_at && n < RECHECK_STEP; n++) {
        struct vd_watch *w = l->recheck_at;
        l->recheck_at = w->next;
        if (!ends_with_kind(w))
            recheck(w, l->recheck_version, now_ms);
    }
    if (l->watches)
        vd_timer_set(l->loop, &l->recheck, l->recheck_at ? 1 : RECHECK_MS);
}

/* ---- delivering ---- */

/* Whether more would have to wait. When much waits for the user as a whole, a watch that
 * has something waiting takes no more; one that has nothing is read, and goes on, until nothing
 * more may be queued for the user at all. */
static bool is_full(const struct vd_watch *w)
{
    size_t backlog = vd_exchange_backlog(w->x);
    return backlog >= BACKLOG_MAX || (backlog && vd_exchange_is_over(w->x)) ||
           vd_exchange_is_full(w->x);
}

/* The watch is parked. It goes on when what waits for it has left; if nothing does, when others
 * have made room, which nobody tells it: it asks. */
static void wait_for_room(struct vd_watch *w)
{
    if (vd_exchange_backlog(w->x))
        vd_exchange_await_drain(w->x);
    else
        starved_add(w);
}

/* Those who still find no room put themselves into the list again. */
static void on_starving(struct vd_timer *timer)
{
    struct vd_kube_loop *l = VD_HEAP_OWNER(timer, struct vd_kube_loop, starving);
    while (l->starved) {
        struct vd_watch *w = l->starved;
        starved_remove(w);
        vd_watcher_resume(&w->watcher);
    }
    vd_loop_again(l->loop);
}

static bool ready(struct vd_watcher *watcher)
{
    struct vd_watch *w = (struct vd_watch *)watcher;
    if (w->broken)
        return false;
    if (!is_full(w))
        return true;
    wait_for_room(w);
    return false;
}

static void tell_initial_end(struct vd_watch *w, const struct vd_deliveries *d)
{
    if (!d->snapshot_end || !w->tell_initial_end)
        return;
    w->tell_initial_end = false;
    send_bookmark(w, d->upto, true);
}

/* Nothing more may be queued for the user, and the events cannot be taken back: the client resumes
 * from where it stood. */
static void break_off(struct vd_watch *w)
{
    struct vd_exchange *x = w->x;
    vd_registry_remove(&w->watcher);
    watch_free(w, VD_WATCH_END_ERROR);
    vd_exchange_abort(x);
}

/* What is being made for the watch counts as if it waited already. */
static void hold(struct vd_watch *w, const struct vd_deliveries *d)
{
    size_t bytes = 0;
    for (size_t i = 0; i < d->list.n; i++)
        bytes += d->list.p[i].body ? d->list.p[i].body->len : 0;
    vd_exchange_hold(w->x, (int64_t)bytes);
}

/* What was waited for is sent, and the watch goes on. */
static void on_pending(struct vd_frame_waiter *waiter, struct vd_pending_frame *f)
{
    struct vd_watch *w = VD_HEAP_OWNER(waiter, struct vd_watch, pending);
    vd_exchange_hold(w->x, -w->x->held);
    if (vd_exchange_is_full(w->x)) {
        break_off(w);
        return;
    }
    if (f->code) {
        struct vd_arena arena = {0};
        struct vd_status status = vd_status_conversion_failed(&arena, &f->error);
        status.reason = VD_SLICE("InternalError");
        end_with_status(w, &status, VD_WATCH_END_ERROR);
        vd_arena_release(&arena);
        return;
    }
    if (!f->frame.parts.n)
        f->broken = make_frame(&f->frame, w, &f->deliveries, true) == VD_FRAME_BROKEN;
    vd_meter_delivered(w->meter, f->deliveries.list.n, f->deliveries.live);
    vd_event_frame_send(&f->frame, w->x);
    if (f->broken) {
        finish(w, VD_WATCH_END_ERROR);
        return;
    }
    tell_initial_end(w, &f->deliveries);
    if (is_full(w)) {
        wait_for_room(w);
        return;
    }
    vd_watcher_resume(&w->watcher);
    vd_loop_again(w->l->loop);
}

/* The frame that a worker has made of the deliveries for the group; NULL: there is none. */
static const struct vd_pending_frame *made_by_worker(struct vd_shared *shared)
{
    const struct vd_pending_frame *f = vd_pending_frame_of(shared);
    return f && f->making && f->done ? f : NULL;
}

/* Whether a webhook has to see the deliveries before this watch can send them, or a worker has to
 * make them. `shared` is what others of its group have made of them, if it can take that. */
static bool must_wait(struct vd_watch *w, const struct vd_deliveries *d, struct vd_shared *shared)
{
    struct vd_watch_form form = form_of(w);
    if (shared && (!vd_pending_frame_of(shared) || made_by_worker(shared)))
        return false;
    return VD_UNLIKELY(w->kind->webhook) ? vd_pending_frame_is_needed(w->kind, d)
                                         : vd_watch_frame_is_long(&form, d);
}

/* Has the deliveries converted or made, or waits for whoever has asked for that already. */
static enum vd_take await_frame(struct vd_watch *w, const struct vd_deliveries *d,
                                struct vd_shared **shared)
{
    struct vd_watch_form form = form_of(w);
    struct vd_pending_frame *f = shared ? vd_pending_frame_of(*shared) : NULL;
    bool own = !shared || w->output.form == VD_OUTPUT_TABLE;
    if (!own && f && !f->done && !f->making == w->kind->webhook) {
        vd_pending_frame_wait(f, &w->pending);
        return VD_TAKE_LAST;
    }
    f = w->kind->webhook ? vd_pending_frame_new(w->l, w->kind, d)
                         : vd_pending_frame_order(&form, d, w->x->account);
    hold(w, d);
    vd_pending_frame_wait(f, &w->pending);
    if (!own && !*shared)
        *shared = &f->shared;
    else
        vd_shared_unref(&f->shared);
    return VD_TAKE_LAST;
}

/* `shared` is NULL if it can take nothing that others have made. False: nothing was sent, because
 * it takes too long to make here. */
static bool send_events(struct vd_watch *w, const struct vd_deliveries *d,
                        struct vd_shared **shared)
{
    const struct vd_pending_frame *f = shared ? made_by_worker(*shared) : NULL;
    enum vd_frame_result result;
    if (f) {
        vd_event_frame_send(&f->frame, w->x);
        result = f->broken ? VD_FRAME_BROKEN : VD_FRAME_GOOD;
    } else if (!shared || vd_pending_frame_of(*shared)) { /* of a time when others had to see it */
        result = send_own(w, d);
    } else {
        result = send_shared(w, d, shared);
    }
    if (result == VD_FRAME_TOO_LONG)
        return false;
    vd_meter_delivered(w->meter, d->list.n, d->live);
    w->broken = result == VD_FRAME_BROKEN;
    if (w->broken)
        vd_timer_set(w->l->loop, &w->end, 0); /* it cannot leave from in here */
    return true;
}

static enum vd_take deliver(struct vd_watcher *watcher, const struct vd_deliveries *d,
                            struct vd_shared **shared)
{
    struct vd_watch *w = (struct vd_watch *)watcher;
    if (w->broken)
        return VD_TAKE_NOT;
    if (shared && is_full(w)) {
        wait_for_room(w);
        return VD_TAKE_NOT;
    }
    /* The first table of a stream has columns: it is nobody else's. */
    bool own = !shared || w->output.form == VD_OUTPUT_TABLE;
    if (d->list.n) {
        renew_kind(w); /* if it is gone, these are the last ones */
        if (VD_UNLIKELY(must_wait(w, d, own ? NULL : *shared)) ||
            !send_events(w, d, own ? NULL : shared))
            return await_frame(w, d, shared);
        if (w->broken)
            return VD_TAKE_LAST;
    }
    tell_initial_end(w, d);
    if (!is_full(w))
        return VD_TAKE_MORE;
    wait_for_room(w);
    return VD_TAKE_LAST;
}

static void drained(struct vd_exchange *x)
{
    struct vd_watch *w = x->arg;
    if (w->broken || w->pending.frame)
        return; /* it ends, or goes on when that has been sent */
    vd_watcher_resume(&w->watcher);
    vd_loop_again(w->l->loop);
}

static const struct vd_watcher_ops watcher_ops = {deliver, ended, ready};
static const struct vd_exchange_ops exchange_ops = {drained, gone};

/* ---- bookmarks ---- */

static uint64_t jittered(uint64_t ms)
{
    uint32_t random;
    vd_random_bytes(&random, sizeof random);
    return ms - ms / 4 + (ms / 2 ? random % (ms / 2) : 0);
}

static void on_bookmark(struct vd_timer *timer)
{
    struct vd_watch *w = VD_HEAP_OWNER(timer, struct vd_watch, bookmark);
    uint64_t revision = bookmark_of(w);
    if (revision && !is_full(w))
        send_bookmark(w, revision, false);
    vd_timer_set(w->l->loop, &w->bookmark, jittered(w->l->kube->options.bookmark_ms));
}

/* ---- the beginning ---- */

static uint64_t life_ms(const struct vd_kube_options *o, const struct vd_list_options *options)
{
    if (options->timeout_s)
        return (options->timeout_s < LIFE_S_MAX ? options->timeout_s : LIFE_S_MAX) * 1000;
    uint64_t spread_ms = (o->watch_max_s - o->watch_min_s) * 1000 + 1;
    uint32_t random;
    vd_random_bytes(&random, sizeof random);
    return o->watch_min_s * 1000 + random % spread_ms;
}

/* Where the stream begins: at a revision, now, or with all there is. */
static int open_cursor(struct vd_watch *w, struct vd_store *store, struct vd_filter *filter,
                       const struct vd_list_options *o, struct vd_error *error)
{
    bool from_scratch = !o->has_version || o->version == 0;
    bool initial = o->has_initial ? o->initial : from_scratch;
    struct vd_cursor *cursor = &w->watcher.cursor;
    if (initial) {
        w->tell_initial_end = o->bookmarks;
        int code = o->has_version && o->version ? vd_store_place(store, o->version, error) : VD_OK;
        return code == VD_ERR_FUTURE ? code : vd_cursor_open_snapshot(cursor, store, filter, error);
    }
    if (from_scratch) {
        vd_cursor_open_now(cursor, store, filter);
        return VD_OK;
    }
    bool future = o->version > vd_store_revision(store);
    int code = vd_cursor_open_at(cursor, store, filter, o->version, error);
    if (!code || code == VD_ERR_EXPIRED)
        vd_meter_resumed(code ? VD_RESUME_EXPIRED : future ? VD_RESUME_FUTURE : VD_RESUME_OK);
    return code;
}

static struct tables *tables_new(struct vd_call *call)
{
    struct tables *t = VD_NEW(struct tables);
    t->columns = vd_tables_get(call->kube->tables, call->kinds, call->kind);
    t->writer = (struct vd_table_writer){
        .table = t->columns, .version = call->output.version, .object = call->output.object};
    return t;
}

static struct vd_watch *watch_new(struct vd_call *call, const struct vd_list_options *o)
{
    struct vd_watch *w = VD_NEW(struct vd_watch);
    w->watcher.ops = &watcher_ops;
    w->l = call->l;
    w->x = call->x;
    w->user = vd_user_ref(call->user);
    w->kind = vd_kind_ref((struct vd_kind *)(uintptr_t)call->kind); /* for its count only */
    w->generation = vd_kind_set_generation(call->kinds);
    w->output = call->output;
    if (w->output.form == VD_OUTPUT_TABLE)
        w->tables = tables_new(call);
    w->bookmarks = o->bookmarks;
    w->meter = vd_record_of(call->x)->meter;
    vd_meter_watch_begun(w->meter);
    w->pending.ready = on_pending;
    w->bookmark.fire = on_bookmark;
    w->end.fire = on_end;
    w->next = w->l->watches;
    if (w->next)
        w->next->prev = w;
    w->l->watches = w;
    w->l->watches_n++;
    return w;
}

static void start(struct vd_watch *w, const struct vd_list_options *o, int code,
                  const struct vd_error *error)
{
    struct vd_exchange *x = w->x;
    struct vd_arena arena = {0};
    struct vd_http_field fields[2] = {{VD_SLICE("Cache-Control"), VD_SLICE("no-cache, private")}};
    size_t n = 1 + vd_deprecation_field(w->kind, &arena, &fields[1]);
    vd_exchange_stream(x, &(struct vd_response){.status = 200,
                                                .content_type = VD_SLICE("application/json"),
                                                .fields = fields,
                                                .fields_n = n});
    vd_arena_release(&arena);
    vd_audit_started(vd_record_of(x)->audit, x);
    vd_exchange_forget_request(x);
    if (code) { /* an expired or unreachable version is told inside the stream */
        ended(&w->watcher, error);
        return;
    }
    x->ops = &exchange_ops;
    x->arg = w;
    uint64_t ms = life_ms(&w->l->kube->options, o);
    w->ending = !w->bookmarks || ms <= LAST_BOOKMARK_MS;
    vd_timer_set(w->l->loop, &w->end, w->ending ? ms : ms - LAST_BOOKMARK_MS);
    if (w->bookmarks)
        vd_timer_set(w->l->loop, &w->bookmark, jittered(w->l->kube->options.bookmark_ms));
    if (!vd_timer_is_set(&w->l->recheck))
        vd_timer_set(w->l->loop, &w->l->recheck, RECHECK_MS);
    vd_registry_add(w->l->api->registry, &w->watcher);
    vd_loop_again(w->l->loop);
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
    if (code) {
        vd_list_options_release(&o);
        vd_call_reply_error(call, code, &error);
        return;
    }
    enum vd_account_limit limit = vd_exchange_charge_watch(call->x);
    if (limit) {
        vd_filter_unref(filter);
        vd_list_options_release(&o);
        vd_call_reply_too_many(call);
        return;
    }
    struct vd_watch *w = watch_new(call, &o);
    code = open_cursor(w, call->kube->store, filter, &o, &error);
    vd_filter_unref(filter);
    vd_call_free(call);
    start(w, &o, code, &error);
    vd_list_options_release(&o);
}

/* ---- all of a loop ---- */

void vd_kube_loop_init_watches(struct vd_kube_loop *l)
{
    l->recheck.fire = on_recheck;
    l->starving.fire = on_starving;
}

void vd_kube_loop_drain(struct vd_kube_loop *l, uint64_t spread_ms)
{
    uint64_t n = 0;
    for (struct vd_watch *w = l->watches; w; w = w->next) {
        w->ending = true;
        vd_timer_set(l->loop, &w->end, spread_ms * n++ / (l->watches_n ? l->watches_n : 1));
    }
}
