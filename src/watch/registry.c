/*
 * See registry.h. The watchers and the turn are here; how a change finds its watch groups is in
 * routes.c.
 *
 * `revision` is what all synced watchers have passed. A turn takes the inbox and lets the watch
 * groups that a change's routes lead to judge that change; each group gathers its deliveries. Then
 * the turn *serves* every group that has some: all its synced watchers get the deliveries of all
 * commits of the turn at once. Afterwards `revision` is that of the last commit. A watcher that
 * does not take its deliveries stays at the revision before, and reads the log later.
 *
 * Serving thousands of watchers takes long. If vd_registry_limit_turn() has set a limit, a turn
 * stops when it has served that many, and the next turn goes on; until all are served, `passed` is
 * above `revision`. Meanwhile no watcher becomes synced, and in the group that is being served the
 * watchers before `serving_at` have been served.
 */
#include "watch/registry.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "watch/registry_internal.h"

enum {
    PIECE_DELIVERIES = 256,  /* deliveries that an unsynced watcher is given at a time */
    SERVE_DELIVERIES = 4096, /* that all groups gather before they are served, ... */
    SERVE_BYTES = 1048576,   /* ... or bytes of bodies of the commits that were judged */
    LIVE_BYTES_MAX = VD_GROUP_BYTES_MAX, /* of a commit that is put into the inbox */
    PLACE_DELIVERIES = 32,               /* that count as one more watcher in a turn's limit */
};

void vd_shared_unref(struct vd_shared *shared)
{
    if (shared && vd_unref(&shared->refs))
        shared->free(shared);
}

/* ---- the inbox ---- */

static size_t commit_bytes(const struct vd_commit *commit)
{
    size_t bytes = 0;
    for (size_t i = 0; i < commit->n; i++) {
        const struct vd_body *body = commit->changes[i].now->body;
        bytes += body ? body->len : 0;
    }
    return bytes;
}

/* Under the lock. Watchers read what is dropped here from the log, in pieces. */
static void inbox_drop(struct vd_registry *r, uint64_t upto)
{
    for (size_t i = 0; i < r->inbox.n; i++)
        vd_commit_unref(r->inbox.p[i]);
    r->inbox.n = 0;
    r->inbox_bytes = 0;
    r->overrun = upto;
}

/* Called by the writer. A commit with bodies of more than LIVE_BYTES_MAX would make too large a
 * frame: watchers read it from the log. */
static void inbox_put(struct vd_subscriber *subscriber, struct vd_commit *commit)
{
    struct vd_registry *r = VD_CONTAINER_OF(subscriber, struct vd_registry, subscriber);
    size_t bytes = commit_bytes(commit);
    pthread_mutex_lock(&r->inbox_lock);
    bool wake = r->inbox.n == 0 && !r->overrun;
    if (bytes > LIVE_BYTES_MAX) {
        inbox_drop(r, commit->revision);
    } else {
        if (r->inbox.n == VD_INBOX_COMMITS_MAX || r->inbox_bytes + bytes > VD_INBOX_BYTES_MAX)
            inbox_drop(r, commit->after);
        *VD_VEC_PUSH(&r->inbox) = vd_commit_ref(commit);
        r->inbox_bytes += bytes;
    }
    pthread_mutex_unlock(&r->inbox_lock);
    if (wake)
        r->wake(r->wake_arg);
}

/* Swaps the inbox with the empty list of the last turn. */
static uint64_t inbox_take(struct vd_registry *r)
{
    assert(r->taken.n == 0);
    pthread_mutex_lock(&r->inbox_lock);
    struct vd_commit_list inbox = r->inbox;
    r->inbox = r->taken;
    r->taken = inbox;
    r->inbox_bytes = 0;
    uint64_t overrun = r->overrun;
    r->overrun = 0;
    pthread_mutex_unlock(&r->inbox_lock);
    return overrun;
}

/* ---- states ---- */

static void queue_push(struct vd_registry *r, struct vd_watcher *w)
{
    w->state = VD_WATCHER_UNSYNCED;
    w->prev = r->unsynced_last;
    w->next = NULL;
    *(w->prev ? &w->prev->next : &r->unsynced_first) = w;
    r->unsynced_last = w;
    r->unsynced++;
}

static void queue_remove(struct vd_registry *r, struct vd_watcher *w)
{
    *(w->prev ? &w->prev->next : &r->unsynced_first) = w->next;
    *(w->next ? &w->next->prev : &r->unsynced_last) = w->prev;
    r->unsynced--;
}

static void join_synced(struct vd_watcher *w)
{
    w->state = VD_WATCHER_SYNCED;
    w->at = w->group->synced.n;
    *VD_VEC_PUSH(&w->group->synced) = w;
    w->registry->synced++;
}

/* Takes a watcher out of the synced ones; its cursor is then at `revision`, which is the end of a
 * commit. */
static void leave_synced(struct vd_watcher *w, uint64_t revision)
{
    struct vd_watch_group *g = w->group;
    struct vd_registry *r = w->registry;
    size_t hole = w->at;
    /* Those that were served stay before those that were not. */
    if (r->serving == g && hole < r->serving_at) {
        struct vd_watcher *edge = g->synced.p[--r->serving_at];
        g->synced.p[hole] = edge;
        edge->at = hole;
        hole = r->serving_at;
    }
    struct vd_watcher *last = g->synced.p[--g->synced.n];
    if (hole != g->synced.n) {
        g->synced.p[hole] = last;
        last->at = hole;
    }
    w->cursor.revision = revision;
    w->cursor.whole = true;
    w->registry->synced--;
}

/* The revision up to which a synced watcher has everything. */
static uint64_t reached(const struct vd_watcher *w)
{
    const struct vd_registry *r = w->registry;
    bool served = w->group->served == r->passed ||
                  (r->serving == w->group && w->at < r->serving_at);
    return served ? r->passed : r->revision;
}

static void park(struct vd_watcher *w)
{
    w->state = VD_WATCHER_PARKED;
    w->registry->parked++;
}

/* Puts a watcher that is in no list into the state that its cursor asks for. While groups are being
 * served no watcher becomes synced, as its group may have been served already: it waits in `ahead`
 * until all groups have been served. */
static void place(struct vd_watcher *w)
{
    struct vd_registry *r = w->registry;
    if (w->cursor.snapshot || w->cursor.revision < r->revision) {
        queue_push(r, w);
    } else if (w->cursor.revision == r->revision && r->passed == r->revision) {
        join_synced(w);
    } else {
        w->state = VD_WATCHER_AHEAD;
        w->wait = (struct vd_heap_node){0};
        vd_heap_push(&r->ahead, &w->wait, w->cursor.revision);
    }
}

/* Takes a watcher out of whatever list it is in. */
static void displace(struct vd_watcher *w)
{
    struct vd_registry *r = w->registry;
    switch (w->state) {
    case VD_WATCHER_SYNCED:
        leave_synced(w, reached(w));
        break;
    case VD_WATCHER_UNSYNCED:
        queue_remove(r, w);
        break;
    case VD_WATCHER_PARKED:
        r->parked--;
        break;
    case VD_WATCHER_AHEAD:
        vd_heap_remove(&r->ahead, &w->wait);
        break;
    case VD_WATCHER_OUT:
        break;
    }
}

static void drop_piece(struct vd_registry *r)
{
    vd_deliveries_reset(&r->piece);
    vd_shared_unref(r->piece_shared);
    r->piece_shared = NULL;
    r->piece_group = NULL;
}

/* Lets a watcher that is in no list leave the registry. */
static void forget(struct vd_watcher *w)
{
    struct vd_watch_group *g = w->group;
    if (w->registry->piece_group == g) /* the group may be freed with its last member */
        drop_piece(w->registry);
    w->state = VD_WATCHER_OUT;
    w->registry->watchers--;
    w->group = NULL;
    w->registry = NULL;
    vd_watch_group_leave(g);
}

/* ---- serving ---- */

static void serve_watcher(struct vd_watcher *w, struct vd_shared **shared)
{
    struct vd_registry *r = w->registry;
    const struct vd_deliveries *deliveries = &w->group->pending;
    switch (w->ops->deliver(w, deliveries, shared)) {
    case VD_TAKE_MORE:
        break;
    case VD_TAKE_LAST:
        leave_synced(w, deliveries->upto);
        park(w);
        break;
    case VD_TAKE_NOT:
        leave_synced(w, r->revision);
        park(w);
        break;
    case VD_TAKE_END:
        leave_synced(w, deliveries->upto);
        forget(w);
        break;
    }
}

/* Serves the synced watchers of the group that have not been served. *left is how many this turn
 * may still serve. False: it has become 0 before all were served. */
static bool serve_group(struct vd_registry *r, size_t *left)
{
    struct vd_watch_group *g = r->serving;
    size_t cost = 1 + g->pending.list.n / PLACE_DELIVERIES;
    while (r->serving_at < g->synced.n && *left) {
        struct vd_watcher *w = g->synced.p[r->serving_at];
        serve_watcher(w, &r->shared);
        r->serving_at += r->serving_at < g->synced.n && g->synced.p[r->serving_at] == w;
        *left -= cost < *left ? cost : *left;
    }
    if (r->serving_at < g->synced.n)
        return false;
    vd_shared_unref(r->shared);
    r->shared = NULL;
    r->serving = NULL;
    g->served = r->passed;
    vd_deliveries_reset(&g->pending);
    vd_watch_group_leave(g);
    return true;
}

static void begin_group(struct vd_registry *r)
{
    struct vd_watch_group *g = r->touched;
    r->touched = g->next_touched;
    g->next_touched = NULL;
    g->is_touched = false;
    g->pending.upto = r->passed;
    g->pending.whole = true;
    g->pending.live = true;
    r->serving = g;
    r->serving_at = 0;
}

/* The registry has come to this revision: watchers that waited for it in `ahead` are placed. */
static void reach(struct vd_registry *r, uint64_t revision)
{
    struct vd_heap_node *node;
    r->revision = r->passed = revision;
    while ((node = vd_heap_peek(&r->ahead)) && node->key <= revision) {
        vd_heap_pop(&r->ahead);
        place(VD_CONTAINER_OF(node, struct vd_watcher, wait));
    }
}

/* Serves all groups that have deliveries; then all synced watchers are at `passed`. False: *left
 * has become 0 before that. */
static bool serve(struct vd_registry *r, size_t *left)
{
    r->piled_up = 0;
    while (r->serving || r->touched) {
        if (!r->serving)
            begin_group(r);
        if (!serve_group(r, left))
            return false;
    }
    reach(r, r->passed);
    return true;
}

/* The inbox was dropped up to `revision`: the watchers that were synced are now unsynced. */
static void overrun(struct vd_registry *r, uint64_t revision)
{
    size_t at = 0;
    r->overruns++;
    for (struct vd_watch_group *g; (g = vd_hash_map_next(&r->groups, &at));)
        while (g->synced.n) {
            struct vd_watcher *w = g->synced.p[g->synced.n - 1];
            leave_synced(w, r->revision);
            queue_push(r, w);
        }
    reach(r, revision);
}

/* Serves what was taken from the inbox, from where the last turn stopped. */
static void serve_taken(struct vd_registry *r, size_t turn_watchers_max)
{
    size_t left = turn_watchers_max ? turn_watchers_max : SIZE_MAX;
    bool goes_on = r->passed == r->revision || serve(r, &left);
    while (goes_on && r->taken_at < r->taken.n) {
        size_t bytes = 0;
        while (r->taken_at < r->taken.n && r->piled_up < SERVE_DELIVERIES && bytes < SERVE_BYTES) {
            struct vd_commit *commit = r->taken.p[r->taken_at++];
            bytes += commit_bytes(commit);
            for (size_t k = 0; k < commit->n && commit->revision > r->passed; k++)
                r->piled_up += vd_route(r, &commit->changes[k]);
            if (commit->revision > r->passed)
                r->passed = commit->revision;
        }
        goes_on = serve(r, &left);
    }
    if (!goes_on)
        return;
    for (size_t i = 0; i < r->taken.n; i++)
        vd_commit_unref(r->taken.p[i]);
    r->taken.n = r->taken_at = 0;
}

static void serve_inbox(struct vd_registry *r)
{
    if (r->taken.n == 0) {
        uint64_t dropped = inbox_take(r);
        if (dropped > r->revision)
            overrun(r, dropped);
    }
    r->commit_ns = r->taken.n ? r->taken.p[0]->mono_ns : 0;
    serve_taken(r, r->turn_watchers_max);
}

/* Reads the watcher's next piece of the log or of its snapshot into r->piece. */
static int read_piece(struct vd_registry *r, struct vd_watcher *w, struct vd_error *error)
{
    bool of_log = !w->cursor.snapshot;
    uint64_t from = w->cursor.revision;
    struct vd_watch_group *group = w->group;
    assert(group);
    if (of_log && r->piece_group == group && r->piece_from == from) {
        w->cursor.revision = r->piece.upto;
        w->cursor.whole = r->piece.whole;
        return VD_OK;
    }
    drop_piece(r);
    int code = vd_cursor_next_upto(&w->cursor, &r->piece, PIECE_DELIVERIES, r->revision, error);
    if (!code && of_log) {
        r->piece_group = group;
        r->piece_from = from;
    }
    return code;
}

/* Gives one piece to an unsynced watcher, which has been taken out of its list. Returns what that
 * costs of the turn's budget. */
static size_t advance(struct vd_registry *r, struct vd_watcher *w)
{
    struct vd_error error;
    uint64_t revision = w->cursor.revision;
    bool whole = w->cursor.whole;
    if (w->ops->ready && !w->ops->ready(w)) {
        park(w);
        return 1;
    }
    if (read_piece(r, w, &error)) {
        forget(w);
        w->ops->ended(w, &error);
        return 1;
    }
    size_t n = r->piece.list.n;
    bool tell = n || r->piece.snapshot_end;
    struct vd_shared **shared = r->piece_group ? &r->piece_shared : NULL;
    enum vd_take take = tell ? w->ops->deliver(w, &r->piece, shared) : VD_TAKE_MORE;
    if (take == VD_TAKE_NOT) {
        assert(shared);
        w->cursor.revision = revision;
        w->cursor.whole = whole;
    }
    if (!shared)
        drop_piece(r);
    if (take == VD_TAKE_END)
        forget(w);
    else if (take == VD_TAKE_MORE)
        place(w);
    else
        park(w);
    return n + 1;
}

bool vd_registry_turn(struct vd_registry *r, size_t budget)
{
    if (r->held && r->taken.n == 0)
        r->commit_ns = 0;
    else
        serve_inbox(r);
    for (size_t done = 0; r->unsynced_first && done < budget;) {
        struct vd_watcher *w = r->unsynced_first;
        queue_remove(r, w);
        done += advance(r, w);
    }
    if (!r->unsynced_first)
        drop_piece(r);
    return r->unsynced_first || r->taken.n || (!r->held && vd_registry_waiting_ns(r));
}

uint64_t vd_registry_waiting_ns(struct vd_registry *r)
{
    pthread_mutex_lock(&r->inbox_lock);
    uint64_t since_ns = r->inbox.n ? r->inbox.p[0]->mono_ns : 0;
    pthread_mutex_unlock(&r->inbox_lock);
    return since_ns;
}

uint64_t vd_registry_serving_ns(const struct vd_registry *r)
{
    return r->taken.n ? r->taken.p[0]->mono_ns : 0;
}

void vd_registry_hold(struct vd_registry *r, bool held)
{
    r->held = held;
}

void vd_registry_limit_turn(struct vd_registry *r, size_t watchers)
{
    r->turn_watchers_max = watchers;
}

/* ---- life cycle ---- */

struct vd_registry *vd_registry_new(struct vd_store *store, void (*wake)(void *arg), void *arg)
{
    struct vd_registry *r = VD_NEW(struct vd_registry);
    r->subscriber.committed = inbox_put;
    r->store = store;
    r->wake = wake;
    r->wake_arg = arg;
    pthread_mutex_init(&r->inbox_lock, NULL);
    vd_routes_init(r);
    r->revision = r->passed = vd_store_subscribe(store, &r->subscriber);
    return r;
}

void vd_registry_free(struct vd_registry *r)
{
    if (!r)
        return;
    assert(r->watchers == 0);
    vd_store_unsubscribe(r->store, &r->subscriber);
    serve_taken(r, 0); /* there are no watchers: only releases what a limited turn has left */
    for (size_t i = 0; i < r->inbox.n; i++)
        vd_commit_unref(r->inbox.p[i]);
    free(r->inbox.p);
    free(r->taken.p);
    vd_heap_release(&r->ahead);
    drop_piece(r);
    vd_deliveries_release(&r->piece);
    vd_routes_release(r);
    pthread_mutex_destroy(&r->inbox_lock);
    free(r);
}

/* Replaces the watcher's filter by that of its group, which is equal, so that thousands of equal
 * watches need one filter. A cursor with a snapshot keeps its own. */
static void share_filter(struct vd_watcher *w)
{
    struct vd_filter *own = w->cursor.filter;
    if (w->cursor.snapshot)
        return;
    w->cursor.filter = vd_filter_ref(w->group->filter);
    vd_filter_unref(own);
}

void vd_registry_add(struct vd_registry *r, struct vd_watcher *w)
{
    assert(w->state == VD_WATCHER_OUT);
    w->registry = r;
    w->group = vd_watch_group_join(r, w->cursor.filter);
    share_filter(w);
    r->watchers++;
    place(w);
}

void vd_registry_remove(struct vd_watcher *w)
{
    if (w->state == VD_WATCHER_OUT)
        return;
    displace(w);
    forget(w);
}

void vd_watcher_resume(struct vd_watcher *w)
{
    if (w->state != VD_WATCHER_PARKED)
        return;
    displace(w);
    place(w);
}

uint64_t vd_watcher_bookmark(const struct vd_watcher *w)
{
    if (w->state == VD_WATCHER_SYNCED)
        return reached(w);
    /* A cursor at a future revision is not `whole`: it has passed nothing that a bookmark could
     * name. */
    bool may = w->cursor.whole && !w->cursor.snapshot;
    return may ? w->cursor.revision : 0;
}

void vd_registry_stats(const struct vd_registry *r, struct vd_registry_stats *out)
{
    *out = (struct vd_registry_stats){
        .watchers = r->watchers,
        .groups = vd_hash_map_count(&r->groups),
        .synced = r->synced,
        .unsynced = r->unsynced,
        .parked = r->parked,
        .ahead = vd_heap_count(&r->ahead),
        .revision = r->revision,
        .overruns = r->overruns,
        .commit_ns = r->commit_ns,
    };
}
