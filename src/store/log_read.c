/*
 * Reading on in the log from a revision: what a cursor does.
 *
 * The tail answers as long as `after` is not below its floor. Older events come
 * from the engine, a bounded number of rows at a call, with the version that
 * each replaced looked up by its revision. Both give the same events: bodies are
 * made from the same bytes.
 */
#include <assert.h>

#include "base/alloc.h"
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

struct vd_event *vd_event_from_row(struct vd_entry *entry, const struct vd_row *row)
{
    bool has_body = !row->damaged && row->type != VD_EVENT_DELETED;
    struct vd_event *event = vd_event_new(entry,
                                          has_body ? vd_body_new(row->body, row->revision) : NULL);
    event->type = (uint8_t)row->type;
    event->more = row->more;
    event->damaged = row->damaged;
    event->revision = row->revision;
    event->previous = row->previous;
    event->time_ms = row->time_ms;
    event->uid = row->uid;
    return event;
}

/* ---- one version ---- */

struct fetch {
    struct vd_entry *entry;
    struct vd_event *event;
};

static bool fetch_row(void *arg, const struct vd_row *row)
{
    struct fetch *f = arg;
    f->event = vd_event_from_row(f->entry, row);
    return false;
}

static int fetch_row_at(struct vd_store *store, struct vd_entry *entry, uint64_t revision,
                        struct vd_event **out, struct vd_error *error)
{
    struct fetch f = {.entry = entry};
    struct vd_row_sink sink = {NULL, fetch_row, &f};
    int code = store->engine->ops->get(store->engine, revision, &sink, error);
    if (!code)
        *out = f.event;
    return code;
}

/* What a deletion deleted gives it its body, if that is still to be had. */
static void deletion_body(struct vd_event *deletion, const struct vd_event *last)
{
    deletion->damaged = last->damaged;
    if (last->body)
        deletion->body = vd_body_restamp(last->body, deletion->revision);
}

int vd_store_fetch(struct vd_store *store, struct vd_entry *entry, uint64_t revision,
                   struct vd_event **out, struct vd_error *error)
{
    struct vd_event *event = NULL, *last = NULL;
    int code = fetch_row_at(store, entry, revision, &event, error);
    if (!code && event->type == VD_EVENT_DELETED) {
        code = fetch_row_at(store, entry, event->previous, &last, error);
        if (!code)
            deletion_body(event, last);
        code = code == VD_ERR_NOT_FOUND ? VD_OK : code;
    }
    vd_event_unref(last);
    if (code)
        vd_event_unref(event);
    else
        *out = event;
    return code;
}

/* Whether an event cannot be given to anyone. A deletion can, though what it
 * deleted was damaged. */
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
    struct vd_slice kind;
    struct vd_stretch *stretch;
    size_t rows;
    uint64_t last; /* the last row that was passed */
    bool last_more;
    bool cut;     /* it ends before what was asked for: at its bytes, or at a lost event */
    size_t bytes; /* of the bodies that were read */
};

static bool history_wants(void *arg, const struct vd_row *head)
{
    struct history *h = arg;
    h->rows++;
    h->last = head->revision;
    h->last_more = head->more;
    return h->kind.n == 0 || vd_slice_eq(h->kind, head->key.kind);
}

static bool history_take(void *arg, const struct vd_row *row)
{
    struct history *h = arg;
    vd_index_read_lock(&h->store->index);
    const struct vd_collection *c = vd_index_collection(&h->store->index, row->key.kind);
    vd_index_unlock(&h->store->index);
    struct vd_entry *entry = vd_entry_new(c, row->key.space, row->key.name);
    struct vd_change *change = VD_VEC_PUSH(&h->stretch->changes);
    *change = (struct vd_change){.now = vd_event_from_row(entry, row)};
    vd_entry_unref(entry);
    h->bytes += body_len(change->now);
    h->cut = h->bytes >= VD_READ_STEP_BYTES;
    return !h->cut;
}

/* Each event's version before, and with it the body of a deletion. */
static int complete(struct vd_store *store, struct vd_change *change, struct vd_error *error)
{
    struct vd_event *now = change->now;
    if (now->type == VD_EVENT_CREATED)
        return VD_OK;
    int code = vd_store_fetch(store, now->entry, now->previous, &change->before, error);
    if (!code && now->type == VD_EVENT_DELETED)
        deletion_body(now, change->before);
    return code;
}

/* Completes what was read, up to an event that is lost, or as far as the versions before it may
 * take bytes, too. */
static int complete_all(struct vd_store *store, struct history *h, struct vd_error *error)
{
    struct vd_stretch *s = h->stretch;
    size_t n = 0, bytes = 0;
    int code = VD_OK;
    while (!code && n < s->changes.n && bytes < VD_READ_STEP_BYTES &&
           !is_lost(s->changes.p[n].now)) {
        code = complete(store, &s->changes.p[n], error);
        bytes += body_len(s->changes.p[n++].before);
    }
    if (code || n == s->changes.n)
        return code;
    if (n == 0)
        return vd_damaged(s->changes.p[0].now, error);
    h->last = s->changes.p[n - 1].now->revision;
    h->last_more = s->changes.p[n - 1].now->more;
    h->cut = true;
    while (s->changes.n > n)
        vd_change_release(&s->changes.p[--s->changes.n]);
    return VD_OK;
}

/* `upto` is at most the tail's floor: from there on the tail answers. */
static int read_history(struct vd_store *store, struct vd_slice kind, uint64_t after, uint64_t upto,
                        size_t max, struct vd_stretch *stretch, struct vd_error *error)
{
    size_t rows_max = max < VD_SCAN_STEP_ROWS ? max : VD_SCAN_STEP_ROWS;
    struct history h = {store, kind, stretch, .last = after};
    struct vd_row_sink sink = {history_wants, history_take, &h};
    int code = store->engine->ops->read(store->engine, after, upto, rows_max, &sink, error);
    if (!code)
        code = complete_all(store, &h, error);
    if (code)
        return code;
    bool all = h.rows < rows_max && !h.cut;
    stretch->upto = all ? upto : h.last;
    stretch->whole = !h.last_more;
    return VD_OK;
}

int vd_store_read_upto(struct vd_store *store, struct vd_slice kind, uint64_t after, uint64_t upto,
                       size_t max, struct vd_stretch *stretch, struct vd_error *error)
{
    struct vd_index *index = &store->index;
    int code = VD_OK;
    assert(max > 0); /* nobody gets on with less */
    vd_stretch_reset(stretch);
    vd_index_read_lock(index);
    const struct vd_collection *c = kind.n ? vd_index_collection(index, kind) : NULL;
    uint64_t floor = index->floor, tail_floor = index->tail_floor;
    uint64_t newest_of_kind = !kind.n ? index->revision : c ? c->revision : 0;
    bool in_memory = true;
    if (upto > index->revision)
        upto = index->revision;
    if (after >= upto || newest_of_kind <= after) {
        stretch->upto = after > upto ? after : upto;
        stretch->whole = after <= upto; /* who knows what a future one will be */
    } else if (after >= tail_floor) {
        code = read_tail(c ? &c->tail : &index->tail, after, upto, max, stretch, error);
    } else {
        in_memory = false;
    }
    vd_index_unlock(index);
    if (!in_memory && after > floor) {
        code = read_history(store, kind, after, upto < tail_floor ? upto : tail_floor, max, stretch,
                            error);
        floor = vd_store_floor_next(store); /* rows that it passed meanwhile may be gaps */
    }
    if (after <= floor)
        code = vd_expired(after, floor, error);
    if (code)
        vd_stretch_reset(stretch);
    return code;
}

int vd_store_read(struct vd_store *store, struct vd_slice kind, uint64_t after, size_t max,
                  struct vd_stretch *stretch, struct vd_error *error)
{
    return vd_store_read_upto(store, kind, after, UINT64_MAX, max, stretch, error);
}
