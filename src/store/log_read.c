/*
 * Reading on in the log from a revision: what a cursor does.
 *
 * The tail answers as long as `after` is not below its floor. Older events come from the engine, a
 * bounded number of rows and bytes at a call, in one query that also gives the version that each
 * event replaced. The tail and the engine give the same events: bodies are made from the same
 * bytes.
 */
#include "store/log_read.h"

#include <assert.h>

#include "base/limits.h"
#include "store/store_internal.h"

void vd_stretch_reset(struct vd_stretch *stretch)
{
    for (size_t i = 0; i < stretch->changes.n; i++)
        vd_change_release(&stretch->changes.p[i]);
    stretch->changes.n = 0;
}

void vd_stretch_release(struct vd_stretch *stretch)
{
    vd_stretch_reset(stretch);
    VD_VEC_RELEASE(&stretch->changes);
}

/* ---- one version ---- */

struct fetch {
    struct vd_entry *entry;
    uint64_t revision;
    struct vd_event *event;
};

static bool fetch_wants(void *arg, const struct vd_row *head)
{
    return head->revision == ((struct fetch *)arg)->revision;
}

static bool fetch_row(void *arg, const struct vd_row *row)
{
    struct fetch *f = arg;
    f->event = vd_event_from_row(f->entry, row);
    return false;
}

static int gone(uint64_t revision, struct vd_error *error)
{
    return vd_error_set(error, VD_ERR_NOT_FOUND, "revision %llu is no longer in the log",
                        (unsigned long long)revision);
}

static int fetch_row_at(struct vd_store *store, struct vd_entry *entry, uint64_t revision,
                        struct vd_event **out, struct vd_error *error)
{
    struct fetch f = {.entry = entry, .revision = revision};
    struct vd_row_sink sink = {fetch_wants, fetch_row, &f};
    int code = store->engine->ops->get(store->engine, revision, &sink, error);
    if (!code && !f.event)
        code = gone(revision, error);
    if (!code)
        *out = f.event;
    return code;
}

int vd_store_fetch(struct vd_store *store, struct vd_entry *entry, uint64_t revision,
                   struct vd_event **out, struct vd_error *error)
{
    struct vd_event *event = NULL, *last = NULL;
    int code = fetch_row_at(store, entry, revision, &event, error);
    if (!code && event->type == VD_EVENT_DELETED) {
        code = fetch_row_at(store, entry, event->previous, &last, error);
        if (!code)
            vd_event_set_deleted(event, last);
        code = code == VD_ERR_NOT_FOUND ? VD_OK : code;
    }
    vd_event_unref(last);
    if (code)
        vd_event_unref(event);
    else
        *out = event;
    return code;
}

/* Whether an event cannot be given to anyone because its body is damaged. A deletion can be given
 * even if what it deleted is damaged. */
static bool is_lost(const struct vd_event *event)
{
    return event->damaged && vd_event_is_live(event);
}

static size_t body_len(const struct vd_event *event)
{
    return event && event->body ? event->body->len : 0;
}

/* ---- from the tail ---- */

static void add_from_tail(struct vd_stretch *stretch, struct vd_event *event)
{
    struct vd_change *change = VD_VEC_PUSH(&stretch->changes);
    change->now = vd_event_ref(event);
    change->before = vd_event_replaced(event);
}

/* Under the lock. */
static int read_tail(const struct vd_tail *tail, uint64_t after, uint64_t upto, size_t max,
                     struct vd_stretch *stretch, struct vd_error *error)
{
    size_t at = vd_tail_first_after(tail, after), last = vd_tail_first_after(tail, upto);
    size_t end = last - at > max ? at + max : last, bytes = 0;
    if (at < end && is_lost(vd_tail_at(tail, at)))
        return vd_damaged(vd_tail_at(tail, at), error);
    for (; at < end && bytes < VD_READ_STEP_BYTES && !is_lost(vd_tail_at(tail, at)); at++) {
        add_from_tail(stretch, vd_tail_at(tail, at));
        bytes += body_len(vd_tail_at(tail, at));
    }
    bool all = at == last;
    stretch->upto = all ? upto : vd_tail_at(tail, at - 1)->revision;
    stretch->whole = all || !vd_tail_at(tail, at - 1)->more;
    return VD_OK;
}

/* ---- from the engine ---- */

struct history {
    struct vd_store *store;
    struct vd_stretch *stretch;
    struct vd_error *error;
    size_t rows;
    uint64_t last; /* the last row that was passed */
    bool last_more;
    bool cut;     /* the reading ended before `upto`: at its limit of bytes, or at a lost event */
    size_t bytes; /* of the bodies that were read, ... */
    size_t bytes_before; /* ... and of those that they replaced */
    int code;
};

static void history_passes(void *arg, const struct vd_row *head)
{
    struct history *h = arg;
    h->rows++;
    h->last = head->revision;
    h->last_more = head->more;
}

/* Adds the version that an event replaced and, to a deletion, the body of that version. */
static int complete(struct vd_change *change, const struct vd_row *before, struct vd_error *error)
{
    struct vd_event *now = change->now;
    if (now->type == VD_EVENT_CREATED)
        return VD_OK;
    if (!before)
        return gone(now->previous, error);
    change->before = vd_event_from_row(now->entry, before);
    if (now->type == VD_EVENT_DELETED)
        vd_event_set_deleted(now, change->before);
    return VD_OK;
}

/* A lost event ends the piece before it. If it is the first event of the piece, the call fails with
 * its damage. */
static void end_at_lost(struct history *h, struct vd_change *lost)
{
    struct vd_stretch *s = h->stretch;
    h->cut = true;
    if (s->changes.n == 1) {
        h->code = vd_damaged(lost->now, h->error);
        return;
    }
    vd_change_release(lost);
    s->changes.n--;
    h->last = s->changes.p[s->changes.n - 1].now->revision;
    h->last_more = s->changes.p[s->changes.n - 1].now->more;
}

static bool history_take(void *arg, const struct vd_row *row, const struct vd_row *before)
{
    struct history *h = arg;
    vd_index_read_lock(&h->store->index);
    const struct vd_collection *c = vd_index_collection(&h->store->index, row->key.resource);
    vd_index_unlock(&h->store->index);
    struct vd_entry *entry = vd_entry_new(c, row->key.namespace, row->key.name);
    struct vd_change *change = VD_VEC_PUSH(&h->stretch->changes);
    *change = (struct vd_change){.now = vd_event_from_row(entry, row)};
    vd_entry_unref(entry);
    if (is_lost(change->now)) {
        end_at_lost(h, change);
        return false;
    }
    h->code = complete(change, before, h->error);
    h->bytes += body_len(change->now);
    h->bytes_before += body_len(change->before);
    h->cut = h->bytes >= VD_READ_STEP_BYTES || h->bytes_before >= VD_READ_STEP_BYTES;
    return !h->cut && !h->code;
}

/* `upto` is at most the tail's floor: from there on the tail answers. */
static int read_history(struct vd_store *store, struct vd_slice resource, uint64_t after,
                        uint64_t upto, size_t max, struct vd_stretch *stretch,
                        struct vd_error *error)
{
    size_t rows_max = max < VD_SCAN_STEP_ROWS ? max : VD_SCAN_STEP_ROWS;
    struct history h = {store, stretch, error, .last = after};
    struct vd_history_sink sink = {history_passes, history_take, &h};
    int code = store->engine->ops->history(store->engine, resource, after, upto, rows_max, &sink,
                                           error);
    if (!code)
        code = h.code;
    if (code == VD_ERR_EXPIRED ||
        (code == VD_ERR_NOT_FOUND && store->engine->shared)) /* another process has compacted */
        return vd_expired(after, after, error);
    if (code)
        return code;
    bool all = h.rows < rows_max && !h.cut;
    stretch->upto = all ? upto : h.last;
    stretch->whole = !h.last_more;
    return VD_OK;
}

int vd_store_read_upto(struct vd_store *store, struct vd_slice resource, uint64_t after,
                       uint64_t upto, size_t max, struct vd_stretch *stretch,
                       struct vd_error *error)
{
    struct vd_index *index = &store->index;
    int code = VD_OK;
    assert(max > 0); /* with 0 a reader would never get any further */
    vd_stretch_reset(stretch);
    vd_index_read_lock(index);
    const struct vd_collection *c = resource.n ? vd_index_collection(index, resource) : NULL;
    uint64_t floor = index->floor, tail_floor = index->tail_floor;
    uint64_t newest_of_resource = !resource.n ? index->revision : c ? c->revision : 0;
    bool in_memory = true;
    if (upto > index->revision)
        upto = index->revision;
    if (after >= upto || newest_of_resource <= after) {
        stretch->upto = after > upto ? after : upto;
        stretch->whole = after <= upto; /* a future revision may turn out to be inside a batch */
    } else if (after >= tail_floor) {
        code = read_tail(c ? &c->tail : &index->tail, after, upto, max, stretch, error);
    } else {
        in_memory = false;
    }
    vd_index_unlock(index);
    if (!in_memory && after > floor) {
        code = read_history(store, resource, after, upto < tail_floor ? upto : tail_floor, max,
                            stretch, error);
        /* Looked at after reading: rows that this floor has passed may have been missing. */
        floor = vd_store_floor_next(store);
    }
    if (after <= floor)
        code = vd_expired(after, floor, error);
    if (code)
        vd_stretch_reset(stretch);
    return code;
}

int vd_store_read(struct vd_store *store, struct vd_slice resource, uint64_t after, size_t max,
                  struct vd_stretch *stretch, struct vd_error *error)
{
    return vd_store_read_upto(store, resource, after, UINT64_MAX, max, stretch, error);
}
