/*
 * watch: a watcher in its loop's registry that writes what it is given to an
 * exchange.
 *
 * Events of a commit come to all watches of a group at once. The first one asked
 * makes the wire bytes - HTTP chunk and all - and the others send a reference to
 * them. A watch whose backlog is full does not take them; when its socket has
 * taken the backlog it reads on from the log, where it stood. Bytes that take long to
 * make are made by a worker (watch_frame.h); the watch takes no more until it has sent them.
 *
 * It ends by its timeout, with the server, with its kind, when its right or its
 * credential ends, or when its cursor has expired; the last three are told by an ERROR
 * event.
 *
 * Whether rights and credentials still hold is looked at about once a second, by one
 * timer for all watches of the loop, some at a time: a watch is only asked about in
 * earnest when rules or credentials have changed since the last time.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "kinds/object.h"
#include "kube/audit.h"
#include "kube/blueprint.h"
#include "kube/call.h"
#include "kube/record.h"
#include "kube/watch_frame.h"
#include "kube/zip.h"
#include "net/account.h"

enum {
    BACKLOG_MAX = 262144,    /* bytes that a watch may have waiting */
    TURN_DELIVERIES = 4096,  /* what a turn gives to watchers that are behind ... */
    SHARED_DELIVERIES = 256, /* ... when several users take turns, */
    SHARED_WATCHES = 64,     /* and to how many watches, then, an event goes in one turn, ... */
    ALONE_WATCHES = 512,     /* ... or when there is one user: others may yet come */
    LAG_MS = 25,             /* so late may watchers be while the loop makes new writes, ... */
    SHARED_LAG_MS = 1000,    /* ... also others' */
    RECHECK_MS = 1000,       /* between two looks at a watch's rights */
    RECHECK_STEP = 512,      /* watches that are looked at in one turn */
    LONE_SYNCS = 16,         /* over as many, about, the mean time of a sync is taken: ... */
    LONE_SYNC_US_MAX = 1000, /* ... above this, the loop had better not wait, ... */
    LONE_PAUSE = 1000,       /* ... and as many writes are handed over before it tries again */
    HOLD_MS = 1,             /* how long events may wait for those of writes in flight */
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
    bool ending;                  /* the next ring of `end` ends it */
    bool broken;                  /* it was told of an object that cannot be shown, and ends */
    struct vd_watch_frame *frame; /* that a worker makes for it, with a reference; NULL: none */
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

static void send_bookmark(struct vd_watch *w, uint64_t revision, bool initial_end)
{
    struct vd_buf *out = &w->l->frame;
    struct vd_arena scratch = {0};
    struct vd_buf object = {0};
    vd_frame_begin(out);
    vd_buf_add_text(out, "{\"type\":\"BOOKMARK\",\"object\":");
    if (w->output.form == VD_OUTPUT_TABLE) {
        vd_table_write_bookmark(&w->tables->writer, out, &scratch, revision, initial_end);
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
        struct vd_watch_form form = form_of(w);
        (void)!vd_watch_frame_add_object(out, &form, vd_buf_slice(&object), VD_WRITTEN_NOW, NULL);
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

/* It waits for its frame no longer. */
static void leave_frame(struct vd_watch *w)
{
    struct vd_watch_frame *f = w->frame;
    if (!f)
        return;
    for (size_t i = 0; i < f->waiting.n; i++)
        if (f->waiting.p[i] == w)
            f->waiting.p[i] = NULL;
    w->frame = NULL;
    vd_shared_unref(&f->shared);
}

/* The revision that a bookmark may name; 0: none now. */
static uint64_t reached(const struct vd_watch *w)
{
    return w->broken || w->frame ? 0 : vd_watcher_bookmark(&w->watcher);
}

/* For a watch that is no longer in the registry. */
static void watch_free(struct vd_watch *w, enum vd_watch_end why)
{
    leave_frame(w);
    vd_meter_watch_ended(w->meter, why);
    if (w->l->recheck_at == w)
        w->l->recheck_at = w->next;
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

static void on_end(struct vd_timer *timer)
{
    struct vd_watch *w = VD_HEAP_OWNER(timer, struct vd_watch, end);
    if (w->broken) {
        finish(w, VD_WATCH_END_ERROR);
        return;
    }
    uint64_t revision = w->bookmarks ? reached(w) : 0;
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
    if (renew_kind(w) || !reached(w))
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
 * has something waiting takes no more; one that has nothing is read, and goes on. */
static bool is_full(const struct vd_watch *w)
{
    size_t backlog = vd_exchange_backlog(w->x);
    return backlog >= BACKLOG_MAX || (backlog && vd_exchange_is_over(w->x));
}

/* Sends the bytes, and what is to follow them. Whether it can take more. */
static bool send_bytes(struct vd_watch *w, struct vd_bytes *bytes, bool broken)
{
    vd_exchange_send(w->x, bytes);
    w->broken = broken;
    if (broken)
        vd_timer_set(w->l->loop, &w->end, 0); /* it cannot leave from in here */
    return !broken;
}

static void send_initial_end(struct vd_watch *w, uint64_t revision)
{
    w->tell_initial_end = false;
    send_bookmark(w, revision, true);
}

/* A worker has made a frame. */
static void on_ready(struct vd_watch_frame *f)
{
    for (size_t i = 0; i < f->waiting.n; i++) {
        struct vd_watch *w = f->waiting.p[i];
        if (!w)
            continue;
        w->frame = NULL;
        vd_shared_unref(&f->shared); /* the order has one more */
        bool more = send_bytes(w, vd_bytes_ref(f->bytes), f->broken);
        if (more && f->initial_end)
            send_initial_end(w, f->initial_end);
        if (more && is_full(w))
            vd_exchange_await_drain(w->x);
        else if (more)
            vd_watcher_resume(&w->watcher);
        vd_loop_again(w->l->loop);
    }
    f->waiting.n = 0;
}

/* Sends the events, or waits until a worker has made them. Whether it can take more. */
static bool send_events(struct vd_watch *w, const struct vd_deliveries *d,
                        struct vd_shared **shared)
{
    struct vd_watch_form form = form_of(w);
    struct vd_watch_frame *f = shared ? (struct vd_watch_frame *)*shared : NULL;
    /* The first table of a stream has columns: it is nobody else's. */
    bool own = !shared || w->output.form == VD_OUTPUT_TABLE, broken = false;
    if (own && !vd_watch_frame_is_long(&form, d)) {
        struct vd_bytes *bytes = vd_watch_frame_make(&form, d, &broken);
        return send_bytes(w, bytes, broken);
    }
    if (own || !f)
        f = vd_watch_frame_new(&form, d, w->x->account, on_ready);
    if (!own)
        *shared = &f->shared;
    bool more = f->bytes && send_bytes(w, vd_bytes_ref(f->bytes), f->broken);
    if (!f->bytes) {
        w->frame = vd_watch_frame_ref(f);
        *VD_VEC_PUSH(&f->waiting) = w;
    }
    if (own)
        vd_shared_unref(&f->shared);
    return more;
}

static enum vd_take deliver(struct vd_watcher *watcher, const struct vd_deliveries *d,
                            struct vd_shared **shared)
{
    struct vd_watch *w = (struct vd_watch *)watcher;
    if (shared && (is_full(w) || w->broken)) {
        vd_exchange_await_drain(w->x);
        return VD_TAKE_NOT;
    }
    bool more = true;
    if (d->list.n) {
        renew_kind(w); /* if it is gone, these are the last ones */
        vd_meter_delivered(w->meter, d->list.n, d->live);
        more = send_events(w, d, shared);
    }
    if (d->snapshot_end && w->tell_initial_end && w->frame)
        w->frame->initial_end = d->upto; /* a snapshot's frame is nobody else's */
    else if (d->snapshot_end && w->tell_initial_end && more)
        send_initial_end(w, d->upto);
    if (!more)
        return VD_TAKE_LAST;
    if (!is_full(w))
        return VD_TAKE_MORE;
    vd_exchange_await_drain(w->x);
    return VD_TAKE_LAST;
}

static void drained(struct vd_exchange *x)
{
    struct vd_watch *w = x->arg;
    if (!w->broken && !w->frame)
        vd_watcher_resume(&w->watcher);
    vd_loop_again(w->l->loop);
}

static const struct vd_watcher_ops watcher_ops = {deliver, ended};
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
    uint64_t revision = reached(w);
    if (revision)
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
    struct vd_http_field field;
    size_t n = vd_deprecation_field(w->kind, &arena, &field);
    vd_exchange_stream(x, &(struct vd_response){.status = 200,
                                                .content_type = VD_SLICE("application/json"),
                                                .fields = &field,
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
    vd_registry_add(w->l->registry, &w->watcher);
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

/* ---- the loop's part ---- */

void vd_kube_loop_propose(struct vd_kube_loop *l, const struct vd_exchange *x,
                          struct vd_proposal *proposal)
{
    if (!l->proposals)
        vd_loop_again(l->loop); /* an answer that has left may have let the request through */
    proposal->next = NULL;
    *l->proposals_end = proposal;
    l->proposals_end = &proposal->next;
    l->in_flight++;
    l->alone = vd_exchange_is_alone(x);
}

/*
 * Whether this is the only write, of the loop's only client, and there is nothing to tell. Then the
 * loop has nothing else to do, and may wait for the disk itself: handing the write to another
 * thread and back takes a third of the time of a sync. Only who connects meanwhile waits, too.
 */
static bool is_lone(struct vd_kube_loop *l, const struct vd_proposal *first)
{
    if (first->next || l->in_flight != 1 || !l->alone || vd_registry_serving_ns(l->registry))
        return false;
    if (!l->handovers)
        return true;
    l->handovers--;
    return false;
}

/* Answers what it has committed. Where syncs are slow it is some time before it tries again: there
 * a handover is nothing. */
static void propose_here(struct vd_kube_loop *l, struct vd_proposal *proposal)
{
    uint64_t start_ns = vd_clock_mono_ns(l->kube->clock);
    if (!vd_store_propose_here(l->kube->store, proposal))
        return;
    uint64_t took_ns = vd_clock_mono_ns(l->kube->clock) - start_ns;
    l->lone_sync_ns += took_ns / LONE_SYNCS - l->lone_sync_ns / LONE_SYNCS;
    if (l->lone_sync_ns > LONE_SYNC_US_MAX * UINT64_C(1000)) {
        l->lone_sync_ns = 0;
        l->handovers = LONE_PAUSE;
    }
    vd_loop_run_posted(l->loop);
}

/* What the requests of this turn want to write goes to the writer at once, so that it
 * shares a sync. */
static void propose(struct vd_kube_loop *l)
{
    struct vd_proposal *first = l->proposals;
    if (!first)
        return;
    l->proposals = NULL;
    l->proposals_end = &l->proposals;
    if (is_lone(l, first))
        propose_here(l, first);
    else
        vd_store_propose_all(l->kube->store, first);
}

/* Whether new events had better wait for those that this loop's own writes are about to
 * make: sending to a thousand watchers twice costs twice. It also lets a write's answer
 * go out ahead of a thousand copies of its event. */
static bool should_hold(struct vd_kube_loop *l)
{
    uint64_t since_ns = l->in_flight ? vd_registry_waiting_ns(l->registry) : 0;
    if (!since_ns || vd_clock_mono_ns(l->kube->clock) - since_ns >= HOLD_MS * UINT64_C(1000000))
        return false;
    if (!vd_timer_is_set(&l->hold))
        vd_timer_set(l->loop, &l->hold, HOLD_MS);
    return true;
}

static void on_hold(struct vd_timer *timer)
{
    (void)timer; /* a turn is all that it is for */
}

/* Whether the loop should first finish telling of the last writes. It has one thread for both:
 * writers who never wait for it would leave the watchers behind, further with each write, until
 * the window has passed them. Nobody waits for a client here. */
static bool lags(const struct vd_kube_loop *l, bool shared)
{
    uint64_t since_ns = vd_registry_serving_ns(l->registry);
    uint64_t lag_ms = shared ? SHARED_LAG_MS : LAG_MS;
    return since_ns && vd_clock_mono_ns(l->kube->clock) - since_ns >= lag_ms * 1000000u;
}

static bool turn(struct vd_turn_hook *hook)
{
    struct vd_kube_loop *l = (struct vd_kube_loop *)((char *)hook -
                                                     offsetof(struct vd_kube_loop, hook));
    bool shared = vd_turnstile_is_shared(&l->turnstile);
    vd_kube_loop_let_go_on(l);
    if (!lags(l, shared))
        propose(l);
    vd_registry_hold(l->registry, should_hold(l));
    vd_registry_slice(l->registry, shared ? SHARED_WATCHES : ALONE_WATCHES);
    bool again = vd_registry_turn(l->registry, shared ? SHARED_DELIVERIES : TURN_DELIVERIES);
    return again || l->proposals;
}

static bool after_turn(struct vd_turn_hook *hook)
{
    struct vd_kube_loop *l = VD_HEAP_OWNER(hook, struct vd_kube_loop, after);
    struct vd_registry_stats stats;
    vd_registry_stats(l->registry, &stats);
    vd_meters_turn(l->meters, &stats, stats.commit_ns ? vd_clock_mono_ns(l->kube->clock) : 0);
    return false;
}

static void wake(void *arg)
{
    vd_loop_wake(arg);
}

void vd_kube_loop_init(struct vd_kube_loop *l, struct vd_kube *kube, struct vd_loop *loop)
{
    *l = (struct vd_kube_loop){.kube = kube, .loop = loop, .hook = {.run = turn}};
    l->after.run = after_turn;
    l->proposals_end = &l->proposals;
    l->hold.fire = on_hold;
    l->recheck.fire = on_recheck;
    l->meters = vd_meters_new(loop->index);
    l->registry = vd_registry_new(kube->store, wake, loop);
    vd_turnstile_init(&l->turnstile, loop);
    vd_loop_hook(loop, &l->hook);
}

void vd_kube_loop_follow(struct vd_kube_loop *l)
{
    vd_loop_hook(l->loop, &l->after);
    vd_turnstile_stand_last(&l->turnstile);
}

void vd_kube_loop_release(struct vd_kube_loop *l)
{
    vd_timer_stop(l->loop, &l->hold);
    vd_registry_free(l->registry);
    vd_meters_free(l->meters);
    vd_heap_release(&l->futures);
    vd_kube_loop_gzip_release(l);
    vd_buf_release(&l->frame);
    vd_buf_release(&l->piece);
    vd_buf_release(&l->written);
    vd_buf_release(&l->answer);
    vd_kube_loop_free_calls(l);
}

void vd_kube_loop_drain(struct vd_kube_loop *l, uint64_t spread_ms)
{
    uint64_t n = 0;
    for (struct vd_watch *w = l->watches; w; w = w->next) {
        w->ending = true;
        vd_timer_set(l->loop, &w->end, spread_ms * n++ / (l->watches_n ? l->watches_n : 1));
    }
}
