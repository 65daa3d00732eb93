/* See stream.h. */
#include "api/stream.h"

#include <assert.h>
#include <stdlib.h>

#include "api/pending_frame.h"
#include "api/stream_internal.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/container_of.h"

enum {
    BACKLOG_MAX = 262144,    /* bytes that a stream may have waiting */
    FRAME_KEPT = 1048576,    /* bytes of memory that are kept for making the next frame */
    LAST_BOOKMARK_MS = 2000, /* before its end by timeout, a stream is told one more bookmark */
};

void vd_stream_wait_in(struct vd_api_stream *s, struct vd_api_stream **list)
{
    assert(!s->waits_at); /* it waits for one thing at a time */
    s->waits_at = list;
    s->next_waiting = *list;
    if (s->next_waiting)
        s->next_waiting->waits_at = &s->next_waiting;
    *list = s;
}

void vd_stream_wait_out(struct vd_api_stream *s)
{
    if (!s->waits_at)
        return;
    *s->waits_at = s->next_waiting;
    if (s->next_waiting)
        s->next_waiting->waits_at = s->waits_at;
    s->waits_at = NULL;
}

/* ---- the kind ---- */

static bool is_same_definition(const struct vd_kind *a, const struct vd_kind *b)
{
    struct vd_slice one = vd_json_text(vd_json_dig(a->document, "metadata", "uid", NULL));
    struct vd_slice other = vd_json_text(vd_json_dig(b->document, "metadata", "uid", NULL));
    return vd_slice_eq(one, other);
}

bool vd_stream_renew_kind(struct vd_api_stream *s)
{
    struct vd_kinds *kinds = s->l->env->kinds;
    if (s->kind->builtin || s->generation == vd_kinds_generation(kinds))
        return true;
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    const struct vd_kind *kind = vd_kind_set_resource(set, s->kind->group, s->kind->version,
                                                      s->kind->plural);
    bool good = kind && kind->served && is_same_definition(kind, s->kind);
    if (good && kind != s->kind) {
        struct vd_kind *old = s->kind;
        s->kind = vd_kind_ref((struct vd_kind *)(uintptr_t)kind); /* for its count only */
        vd_kind_unref(old);
    }
    if (good)
        s->generation = vd_kind_set_generation(set);
    vd_kind_set_unref(set);
    return good;
}

/* ---- the end ---- */

/* For a stream that is no longer in the registry. */
static void release(struct vd_api_stream *s, enum vd_stream_end why)
{
    vd_stream_meter_ended(why);
    vd_pending_frame_leave(s);
    vd_stream_wait_out(s);
    vd_api_streams_remove(s);
    vd_timer_stop(s->l->loop, &s->bookmark);
    vd_timer_stop(s->l->loop, &s->end);
    vd_cursor_close(&s->watcher.cursor);
    vd_kind_unref(s->kind);
    vd_account_unref(s->account);
}

void vd_stream_finish(struct vd_api_stream *s, const struct vd_stream_ending *ending)
{
    vd_registry_remove(&s->watcher);
    release(s, ending->why);
    s->ops->ended(s, ending);
}

static void finish(struct vd_api_stream *s, enum vd_stream_end why)
{
    vd_stream_finish(s, &(struct vd_stream_ending){.why = why});
}

void vd_api_stream_leave(struct vd_api_stream *s)
{
    vd_registry_remove(&s->watcher);
    release(s, VD_STREAM_END_GONE);
}

/* The registry has let go of it already. */
static void ended(struct vd_watcher *watcher, const struct vd_error *error)
{
    struct vd_api_stream *s = VD_CONTAINER_OF(watcher, struct vd_api_stream, watcher);
    struct vd_stream_ending ending = {
        .why = error->code == VD_ERR_EXPIRED ? VD_STREAM_END_EXPIRED : VD_STREAM_END_FAILED,
        .error = error,
    };
    release(s, ending.why);
    s->ops->ended(s, &ending);
}

/* ---- room ---- */

static size_t backlog_of(const struct vd_api_stream *s)
{
    return s->ops->backlog ? s->ops->backlog(s) : 0;
}

/* Whether more would have to wait. When much waits for the user as a whole, a stream that has
 * something waiting takes no more; one that has nothing is read, and goes on, until nothing more
 * may be queued for the user at all. */
static bool is_full(const struct vd_api_stream *s)
{
    size_t backlog = backlog_of(s);
    enum vd_rank rank = (enum vd_rank)s->rank;
    return backlog >= BACKLOG_MAX || (backlog && vd_account_is_over(s->account, rank)) ||
           vd_account_is_full(s->account, rank);
}

/* The stream is parked. It goes on when what waits for it has left; if nothing does, when others
 * have made room, which nobody tells it: it asks. */
static void wait_for_room(struct vd_api_stream *s)
{
    if (backlog_of(s))
        s->ops->await_drain(s);
    else
        vd_api_streams_starve(s);
}

static bool ready(struct vd_watcher *watcher)
{
    struct vd_api_stream *s = VD_CONTAINER_OF(watcher, struct vd_api_stream, watcher);
    if (s->broken)
        return false;
    if (!is_full(s))
        return true;
    wait_for_room(s);
    return false;
}

static void go_on(struct vd_api_stream *s)
{
    vd_stream_wait_out(s); /* of those that look for room */
    vd_watcher_resume(&s->watcher);
    vd_loop_again(s->l->loop);
}

void vd_api_stream_drained(struct vd_api_stream *s)
{
    if (!s->broken && !s->pending) /* else it ends, or goes on when that has been sent */
        go_on(s);
}

/* ---- bookmarks and time ---- */

uint64_t vd_stream_bookmark_of(const struct vd_api_stream *s)
{
    return s->broken || s->pending ? 0 : vd_watcher_bookmark(&s->watcher);
}

static uint64_t jittered(uint64_t ms)
{
    uint32_t random;
    vd_random_bytes(&random, sizeof random);
    return ms - ms / 4 + (ms / 2 ? random % (ms / 2) : 0);
}

static void on_bookmark(struct vd_timer *timer)
{
    struct vd_api_stream *s = VD_CONTAINER_OF(timer, struct vd_api_stream, bookmark);
    uint64_t revision = vd_stream_bookmark_of(s);
    if (revision && !is_full(s))
        s->ops->bookmark(s, revision, false);
    vd_timer_set(s->l->loop, &s->bookmark, jittered(s->bookmark_ms));
}

static void on_end(struct vd_timer *timer)
{
    struct vd_api_stream *s = VD_CONTAINER_OF(timer, struct vd_api_stream, end);
    if (s->broken) {
        finish(s, VD_STREAM_END_UNREADABLE);
        return;
    }
    uint64_t revision = s->bookmark_ms ? vd_stream_bookmark_of(s) : 0;
    if (revision)
        s->ops->bookmark(s, revision, false);
    if (s->ending) {
        finish(s, VD_STREAM_END_TIMEOUT);
        return;
    }
    s->ending = true;
    vd_timer_set(s->l->loop, &s->end, LAST_BOOKMARK_MS);
}

static void tell_initial_end(struct vd_api_stream *s, const struct vd_deliveries *d)
{
    if (!d->snapshot_end || !s->tells_initial_end)
        return;
    s->tells_initial_end = false;
    s->ops->bookmark(s, d->upto, true);
}

/* ---- bytes ---- */

/* Makes the frame here, if that does not take too long or no worker could make it. */
static enum vd_frame_result make_frame(struct vd_event_frame *frame, struct vd_api_stream *s,
                                       const struct vd_deliveries *d, bool served)
{
    struct vd_buf *text = &s->l->frame;
    enum vd_frame_result result = s->ops->encode(s, frame, text, d, served, !s->kind->webhook);
    if (text->cap > FRAME_KEPT)
        vd_buf_release(text);
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
    struct shared_frame *f = VD_CONTAINER_OF(shared, struct shared_frame, shared);
    vd_event_frame_release(&f->frame);
    free(f);
}

/* Sends nothing if it would take too long to make. */
static enum vd_frame_result send_shared(struct vd_api_stream *s, const struct vd_deliveries *d,
                                        struct vd_shared **shared)
{
    if (!*shared) {
        struct vd_event_frame frame;
        enum vd_frame_result result = make_frame(&frame, s, d, false);
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
    s->ops->send(s, &f->frame, d);
    return f->broken ? VD_FRAME_BROKEN : VD_FRAME_GOOD;
}

/* Likewise. */
static enum vd_frame_result send_own(struct vd_api_stream *s, const struct vd_deliveries *d)
{
    struct vd_event_frame frame;
    enum vd_frame_result result = make_frame(&frame, s, d, false);
    if (result != VD_FRAME_TOO_LONG)
        s->ops->send(s, &frame, d);
    vd_event_frame_release(&frame);
    return result;
}

/* ---- what is waited for ---- */

void vd_stream_frame_ready(struct vd_api_stream *s, struct vd_pending_frame *f)
{
    if (vd_account_is_full(s->account, (enum vd_rank)s->rank)) {
        finish(s, VD_STREAM_END_BROKEN_OFF); /* the events cannot be taken back */
        return;
    }
    if (f->code) {
        vd_stream_finish(
            s, &(struct vd_stream_ending){.why = VD_STREAM_END_UNCONVERTED, .error = &f->error});
        return;
    }
    if (!f->frame.parts.n)
        f->broken = make_frame(&f->frame, s, &f->deliveries, true) == VD_FRAME_BROKEN;
    s->l->stream_meter.live_n += f->deliveries.live;
    s->ops->send(s, &f->frame, &f->deliveries);
    if (f->broken) {
        finish(s, VD_STREAM_END_UNREADABLE);
        return;
    }
    tell_initial_end(s, &f->deliveries);
    if (is_full(s))
        wait_for_room(s);
    else
        go_on(s);
}

/* The frame that a worker has made of the deliveries for the group; NULL: there is none. */
static const struct vd_pending_frame *made_by_worker(struct vd_shared *shared)
{
    const struct vd_pending_frame *f = vd_pending_frame_of(shared);
    return f && f->order && f->done ? f : NULL;
}

/* Whether a webhook has to see the deliveries before this stream can send them, or a worker has to
 * make them. `shared` is what others of its group have made of them, if it can take that. */
static bool must_wait(struct vd_api_stream *s, const struct vd_deliveries *d,
                      struct vd_shared *shared)
{
    if (shared && (!vd_pending_frame_of(shared) || made_by_worker(shared)))
        return false;
    return VD_UNLIKELY(s->kind->webhook) ? vd_pending_frame_is_needed(s->kind, d)
                                         : s->ops->is_long && s->ops->is_long(s, d);
}

/* Has the deliveries converted or encoded, or waits for whoever has asked for that already. */
static enum vd_take await_frame(struct vd_api_stream *s, const struct vd_deliveries *d,
                                struct vd_shared **shared)
{
    struct vd_pending_frame *f = shared ? vd_pending_frame_of(*shared) : NULL;
    bool own = !shared || s->own_bytes;
    if (!own && f && !f->done && !f->order == s->kind->webhook) {
        vd_pending_frame_wait(f, s);
        return VD_TAKE_LAST;
    }
    f = s->kind->webhook ? vd_pending_frame_convert(s, d) : vd_pending_frame_order(s, d);
    vd_pending_frame_wait(f, s);
    if (!own && !*shared)
        *shared = &f->shared;
    else
        vd_shared_unref(&f->shared);
    return VD_TAKE_LAST;
}

/* ---- delivering ---- */

/* `shared` is NULL if it can take nothing that others have made. False: nothing was sent, because
 * it takes too long to make here. */
static bool send_events(struct vd_api_stream *s, const struct vd_deliveries *d,
                        struct vd_shared **shared)
{
    const struct vd_pending_frame *f = shared ? made_by_worker(*shared) : NULL;
    enum vd_frame_result result;
    if (f) {
        s->ops->send(s, &f->frame, d);
        result = f->broken ? VD_FRAME_BROKEN : VD_FRAME_GOOD;
    } else if (!shared || vd_pending_frame_of(*shared)) { /* of a time when others had to see it */
        result = send_own(s, d);
    } else {
        result = send_shared(s, d, shared);
    }
    if (result == VD_FRAME_TOO_LONG)
        return false;
    s->l->stream_meter.live_n += d->live;
    s->broken = result == VD_FRAME_BROKEN;
    if (s->broken)
        vd_timer_set(s->l->loop, &s->end, 0); /* it cannot leave from in here */
    return true;
}

static enum vd_take deliver(struct vd_watcher *watcher, const struct vd_deliveries *d,
                            struct vd_shared **shared)
{
    struct vd_api_stream *s = VD_CONTAINER_OF(watcher, struct vd_api_stream, watcher);
    if (s->broken)
        return VD_TAKE_NOT;
    if (shared && is_full(s)) {
        wait_for_room(s);
        return VD_TAKE_NOT;
    }
    bool own = !shared || s->own_bytes;
    if (d->list.n) {
        vd_stream_renew_kind(s); /* if it is gone, these are the last ones */
        if (VD_UNLIKELY(must_wait(s, d, own ? NULL : *shared)) ||
            !send_events(s, d, own ? NULL : shared))
            return await_frame(s, d, shared);
        if (s->broken)
            return VD_TAKE_LAST;
    }
    tell_initial_end(s, d);
    if (!is_full(s))
        return VD_TAKE_MORE;
    wait_for_room(s);
    return VD_TAKE_LAST;
}

static const struct vd_watcher_ops watcher_ops = {deliver, ended, ready};

/* ---- the beginning ---- */

static int open_cursor(struct vd_api_stream *s, const struct vd_stream_options *o,
                       struct vd_error *error)
{
    struct vd_cursor *cursor = &s->watcher.cursor;
    struct vd_store *store = s->l->env->store;
    if (o->start == VD_STREAM_NOW) {
        vd_cursor_open_now(cursor, store, o->filter);
        return VD_OK;
    }
    if (o->start == VD_STREAM_SNAPSHOT) {
        int code = o->revision ? vd_store_check_revision(store, o->revision, error) : VD_OK;
        return code == VD_ERR_FUTURE ? code
                                     : vd_cursor_open_snapshot(cursor, store, o->filter, error);
    }
    bool future = o->revision > vd_store_revision(store);
    int code = vd_cursor_open_at(cursor, store, o->filter, o->revision, error);
    if (!code || code == VD_ERR_EXPIRED)
        vd_stream_meter_resumed(code     ? VD_RESUME_EXPIRED
                                : future ? VD_RESUME_FUTURE
                                         : VD_RESUME_OK);
    return code;
}

static void set_timers(struct vd_api_stream *s, uint64_t life_ms)
{
    s->bookmark.fire = on_bookmark;
    s->end.fire = on_end;
    s->ending = !s->bookmark_ms || life_ms <= LAST_BOOKMARK_MS;
    if (life_ms)
        vd_timer_set(s->l->loop, &s->end, s->ending ? life_ms : life_ms - LAST_BOOKMARK_MS);
    if (s->bookmark_ms)
        vd_timer_set(s->l->loop, &s->bookmark, jittered(s->bookmark_ms));
}

int vd_api_stream_open(struct vd_api_stream *s, struct vd_api_loop *l,
                       const struct vd_stream_options *o, struct vd_error *error)
{
    *s = (struct vd_api_stream){
        .watcher.ops = &watcher_ops,
        .ops = o->ops,
        .l = l,
        .generation = o->kinds_generation,
        .bookmark_ms = o->bookmark_ms < UINT32_MAX ? (uint32_t)o->bookmark_ms : UINT32_MAX,
        .rank = (unsigned char)o->rank,
        .own_bytes = o->own_bytes,
        .tells_initial_end = o->start == VD_STREAM_SNAPSHOT && o->bookmark_ms,
    };
    int code = open_cursor(s, o, error);
    if (code) {
        vd_stream_meter_ended(code == VD_ERR_EXPIRED ? VD_STREAM_END_EXPIRED
                                                     : VD_STREAM_END_FAILED);
        return code;
    }
    s->kind = vd_kind_ref((struct vd_kind *)(uintptr_t)o->kind); /* for its count only */
    s->account = o->account ? vd_account_ref(o->account) : NULL;
    set_timers(s, o->life_ms);
    vd_api_streams_add(s);
    vd_registry_add(l->registry, &s->watcher);
    vd_loop_again(l->loop);
    return VD_OK;
}
