/*
 * See snapshot.h. A piece is read in two steps. Under the lock, which is held for
 * a bounded number of entries, each object's version as of the revision is found
 * by walking its chain of versions. Where the chain ends before it is old enough,
 * the revision to continue at is noted, and after the lock is released the engine
 * is asked, from version to version.
 */
#include "store/snapshot.h"

#include <assert.h>

#include "base/limits.h"
#include "store/store_internal.h"

/* A version that was found, or the revision to look for in the engine. */
struct found {
    struct vd_entry *entry; /* a reference */
    struct vd_event *event; /* a reference, or NULL */
    uint64_t fetch;         /* when event is NULL: the next older version */
};

/* The version to look at after `event` in the search for the one as of `revision`; 0: the object
 * did not exist then. A creation follows a deletion: if that is old enough, its row need not be
 * read, and compaction may have removed it. */
static uint64_t version_before(const struct vd_event *event, uint64_t revision)
{
    return event->type == VD_EVENT_CREATED && event->previous <= revision ? 0 : event->previous;
}

/* Under the lock. False when the object did not exist at the revision. */
static bool find_version(struct vd_entry *entry, uint64_t revision, struct found *out)
{
    struct vd_event *event = entry->newest;
    uint64_t fetch = 0;
    while (event && event->revision > revision) {
        fetch = version_before(event, revision);
        event = fetch ? event->older : NULL;
    }
    if (event ? !vd_event_is_live(event) : fetch == 0)
        return false;
    *out = (struct found){
        .entry = vd_entry_ref(entry), .event = event ? vd_event_ref(event) : NULL, .fetch = fetch};
    return true;
}

static void found_release(struct found *f)
{
    vd_event_unref(f->event);
    vd_entry_unref(f->entry);
}

/* Goes from version to version in the engine until one is old enough. Sets f->event, or leaves it
 * NULL when the object did not exist. */
static int fetch_version(struct vd_store *store, struct found *f, uint64_t revision,
                         struct vd_error *error)
{
    struct vd_event *event = NULL;
    while (f->fetch) {
        int code = vd_store_fetch(store, f->entry, f->fetch, &event, error);
        if (code)
            return code;
        f->fetch = version_before(event, revision);
        if (event->revision <= revision)
            break;
        vd_event_unref(event);
        event = NULL;
    }
    if (vd_event_is_live(event))
        f->event = event;
    else
        vd_event_unref(event);
    return VD_OK;
}

/* Fetches the version if it is not in memory. A fetch that fails because the floor has passed the
 * revision gives VD_ERR_EXPIRED. */
static int settle_version(struct vd_store *store, struct found *f, uint64_t revision,
                          struct vd_error *error)
{
    int code = VD_OK;
    if (!f->event)
        code = fetch_version(store, f, revision, error);
    if (code) {
        uint64_t floor = vd_store_floor_next(store);
        /* Other processes have compacted the row. */
        bool by_others = store->engine->shared && code == VD_ERR_NOT_FOUND;
        if (revision <= floor || by_others)
            return vd_expired(revision, revision <= floor ? floor : revision, error);
        return code;
    }
    return f->event && f->event->damaged ? vd_damaged(f->event, error) : VD_OK;
}

/* A search for the end of an atomic batch: the row that was looked at last. */
struct batch {
    uint64_t at;
    bool more; /* more rows of its batch follow */
};

static void batch_pass(struct batch *b, uint64_t revision, bool more)
{
    if (b->more)
        *b = (struct batch){revision, more};
}

static bool batch_row(void *arg, const struct vd_row *head)
{
    batch_pass(arg, head->revision, head->more);
    return false;
}

static bool no_body(void *arg, const struct vd_row *row)
{
    (void)arg;
    (void)row;
    return true;
}

/* Begins at the newest row at or below a revision that is above the floor; mostly that is the row
 * of this revision. `more` of a row at or below the floor is ignored, since the floor is always the
 * end of a batch. */
static int batch_begin(struct vd_store *store, uint64_t revision, struct batch *b,
                       struct vd_error *error)
{
    const struct vd_tail *tail = &store->index.tail;
    struct vd_row_sink sink = {batch_row, no_body, b};
    struct vd_engine *engine = store->engine;
    int code = VD_OK;
    *b = (struct batch){.more = true};
    vd_index_read_lock(&store->index);
    uint64_t floor = store->index.floor;
    size_t at = tail->n ? vd_tail_first_after(tail, revision) : 0;
    if (at > 0)
        batch_pass(b, vd_tail_at(tail, at - 1)->revision, vd_tail_at(tail, at - 1)->more);
    vd_index_unlock(&store->index);
    if (at == 0)
        code = engine->ops->get(engine, revision, &sink, error);
    if (code == VD_ERR_NOT_FOUND) /* the log has no row up to there */
        code = VD_OK;
    if (b->at <= floor)
        b->more = false;
    /* Reads no row, but fails with VD_ERR_EXPIRED if others have compacted up to here. */
    if (!code && at == 0 && engine->shared)
        code = engine->ops->read(engine, revision, revision, 1, &sink, error);
    return code;
}

/* Under the lock: false when the tail does not reach back so far. */
static bool batch_in_tail(const struct vd_index *index, struct batch *b)
{
    const struct vd_tail *tail = &index->tail;
    if (b->at < index->tail_floor)
        return false;
    size_t at = tail->n ? vd_tail_first_after(tail, b->at) : 0;
    for (size_t i = 0; i < VD_SCAN_STEP_ROWS && at < tail->n && b->more; i++, at++)
        batch_pass(b, vd_tail_at(tail, at)->revision, vd_tail_at(tail, at)->more);
    return true;
}

/* Sets *revision to the end of the atomic batch that it is in, according to the heads of the rows.
 * There need not be a row with this revision: a number between two rows of a batch is inside the
 * batch, too. */
static int batch_end(struct vd_store *store, uint64_t *revision, struct vd_error *error)
{
    struct batch b;
    int code = batch_begin(store, *revision, &b, error);
    bool inside = !code && b.more, moved = true;
    while (!code && b.more && moved) {
        struct vd_row_sink sink = {batch_row, no_body, &b};
        uint64_t from = b.at;
        vd_index_read_lock(&store->index);
        uint64_t newest = store->index.revision;
        bool found = batch_in_tail(&store->index, &b);
        vd_index_unlock(&store->index);
        if (!found)
            code = store->engine->ops->read(store->engine, from, newest, VD_SCAN_STEP_ROWS, &sink,
                                            error);
        moved = b.at > from;
    }
    if (code == VD_ERR_EXPIRED)
        return vd_expired(*revision, *revision, error);
    if (!code && inside)
        *revision = b.at;
    return code;
}

static int choose_revision(struct vd_snapshot *s, uint64_t revision, struct vd_error *error)
{
    struct vd_index *index = &s->store->index;
    vd_index_read_lock(index);
    uint64_t newest = index->revision, floor = index->floor;
    vd_index_unlock(index);
    s->revision = revision ? revision : newest;
    if (s->revision > newest)
        return vd_future(revision, newest, error);
    if (s->revision <= floor)
        return vd_expired(revision, floor, error);
    return s->revision == newest ? VD_OK : batch_end(s->store, &s->revision, error);
}

/* Chooses the revision, and checks that the floor has not passed it meanwhile. The newest revision
 * (0 was asked for) is then chosen again: the floor can pass it only when there is a newer one. */
static int settle_revision(struct vd_snapshot *s, uint64_t revision, struct vd_error *error)
{
    for (;;) {
        int code = choose_revision(s, revision, error);
        if (code)
            return code;
        uint64_t floor = vd_store_floor_next(s->store);
        if (s->revision > floor)
            return VD_OK;
        if (revision)
            return vd_expired(revision, floor, error);
    }
}

int vd_snapshot_open(struct vd_snapshot *snapshot, struct vd_store *store, struct vd_slice resource,
                     struct vd_slice prefix, uint64_t revision, struct vd_slice after,
                     struct vd_error *error)
{
    *snapshot = (struct vd_snapshot){.store = store};
    int code = settle_revision(snapshot, revision, error);
    if (code)
        return code;
    vd_buf_add_slice(&snapshot->resource, resource);
    vd_buf_add_slice(&snapshot->prefix, prefix);
    vd_buf_add_slice(&snapshot->after, after);
    return VD_OK;
}

void vd_snapshot_release(struct vd_snapshot *snapshot)
{
    vd_buf_release(&snapshot->resource);
    vd_buf_release(&snapshot->prefix);
    vd_buf_release(&snapshot->after);
}

/* One bounded walk over the entries after the path `after`. */
struct walk {
    struct vd_buf after; /* path of the last entry that was passed */
    bool done;
    struct found found[VD_SCAN_STEP_ROWS];
    size_t n;
};

/* Initialises all but the array `found`, which is large. */
static void walk_begin(struct walk *w, const struct vd_snapshot *s)
{
    w->after = (struct vd_buf){0};
    vd_buf_add_slice(&w->after, vd_buf_slice(&s->after));
    w->done = s->done;
    w->n = 0;
}

static void move_to(struct walk *w, const struct vd_entry *entry)
{
    vd_buf_reset(&w->after);
    vd_buf_add_slice(&w->after, vd_entry_path(entry));
}

/* The cursor's entry, or NULL when the entries under the prefix are over. */
static struct vd_entry *entry_at(const struct vd_ordered_map_cursor *at, struct vd_slice prefix)
{
    struct vd_entry *entry = vd_ordered_map_item(at);
    return entry && vd_slice_starts_with(vd_entry_path(entry), prefix) ? entry : NULL;
}

/* Under the lock. */
static void walk_entries(const struct vd_snapshot *s, const struct vd_collection *c, struct walk *w,
                         size_t max)
{
    struct vd_slice prefix = vd_buf_slice(&s->prefix), after = vd_buf_slice(&w->after);
    bool started = after.n && vd_slice_cmp(after, prefix) >= 0;
    struct vd_ordered_map_cursor at = vd_ordered_map_seek(&c->entries, started ? after : prefix);
    struct vd_entry *entry = entry_at(&at, prefix), *last = NULL;
    if (entry && started && vd_slice_eq(vd_entry_path(entry), after)) {
        vd_ordered_map_next(&at);
        entry = entry_at(&at, prefix);
    }
    for (size_t passed = 0; entry && w->n < max && passed < VD_SCAN_STEP_ROWS; passed++) {
        last = entry;
        w->n += find_version(entry, s->revision, &w->found[w->n]);
        vd_ordered_map_next(&at);
        entry = entry_at(&at, prefix);
    }
    w->done = !entry;
    if (last)
        move_to(w, last);
}

static int walk_piece(const struct vd_snapshot *s, struct walk *w, size_t max,
                      struct vd_error *error)
{
    struct vd_index *index = &s->store->index;
    w->n = 0;
    vd_index_read_lock(index);
    uint64_t floor = index->floor;
    const struct vd_collection *c = vd_index_collection(index, vd_buf_slice(&s->resource));
    if (c)
        walk_entries(s, c, w, max < VD_SCAN_STEP_ROWS ? max : VD_SCAN_STEP_ROWS);
    else
        w->done = true;
    vd_index_unlock(index);
    return s->revision <= floor ? vd_expired(s->revision, floor, error) : VD_OK;
}

static void walk_forget(struct walk *w)
{
    for (size_t i = 0; i < w->n; i++)
        found_release(&w->found[i]);
    w->n = 0;
}

/* Fetches the versions that the walk found, up to the bytes that one call may give. A version that
 * cannot be read ends the piece before it. If it is the first, the call fails; the next call begins
 * after it if it was damaged. */
static int settle_piece(const struct vd_snapshot *s, struct walk *w, struct vd_event **events,
                        size_t *n, struct vd_error *error)
{
    size_t bytes = 0;
    for (size_t i = 0; i < w->n; i++) {
        if (bytes >= VD_READ_STEP_BYTES) {
            move_to(w, w->found[i - 1].entry);
            w->done = false;
            return VD_OK;
        }
        int code = settle_version(s->store, &w->found[i], s->revision, error);
        if (code) {
            move_to(w, w->found[i ? i - 1 : 0].entry);
            w->done = false;
            return i ? VD_OK : code;
        }
        if (!w->found[i].event)
            continue;
        bytes += w->found[i].event->body->len;
        events[(*n)++] = vd_event_ref(w->found[i].event);
    }
    return VD_OK;
}

int vd_snapshot_next(struct vd_snapshot *s, struct vd_event **events, size_t max, size_t *n,
                     struct vd_error *error)
{
    struct walk w;
    assert(max > 0);
    walk_begin(&w, s);
    *n = 0;
    int code = walk_piece(s, &w, max, error);
    if (!code)
        code = settle_piece(s, &w, events, n, error);
    walk_forget(&w);
    if (!code || code == VD_ERR_CORRUPT) {
        vd_buf_reset(&s->after);
        vd_buf_add_slice(&s->after, vd_buf_slice(&w.after));
        s->done = w.done;
    }
    vd_buf_release(&w.after);
    return code;
}

int vd_snapshot_remaining(const struct vd_snapshot *s, size_t *count, struct vd_error *error)
{
    struct walk w;
    walk_begin(&w, s);
    size_t total = 0;
    int code = VD_OK;
    while (!code && !w.done) {
        code = walk_piece(s, &w, VD_SCAN_STEP_ROWS, error);
        for (size_t i = 0; !code && i < w.n; i++) {
            code = settle_version(s->store, &w.found[i], s->revision, error);
            total += w.found[i].event != NULL;
            /* A damaged object exists, though it cannot be read. */
            code = code == VD_ERR_CORRUPT ? VD_OK : code;
        }
        walk_forget(&w);
    }
    vd_buf_release(&w.after);
    if (!code)
        *count = total;
    return code;
}

int vd_store_get(struct vd_store *store, const struct vd_key *key, uint64_t revision,
                 struct vd_event **out, struct vd_error *error)
{
    struct vd_index *index = &store->index;
    struct vd_path room;
    struct found f = {0};
    int code = vd_key_check(key, error);
    if (code)
        return code;
    vd_index_read_lock(index);
    uint64_t newest = index->revision, floor = index->floor;
    const struct vd_collection *c = vd_index_collection(index, key->resource);
    struct vd_entry *entry = c ? vd_collection_find(c, vd_key_path(&room, key)) : NULL;
    if (entry)
        find_version(entry, revision ? revision : newest, &f);
    vd_index_unlock(index);
    if (revision > newest)
        code = vd_future(revision, newest, error);
    else if (revision && revision <= floor)
        code = vd_expired(revision, floor, error);
    else if (f.entry)
        code = settle_version(store, &f, revision ? revision : newest, error);
    if (!code && !f.event)
        code = vd_error_set(error, VD_ERR_NOT_FOUND, "%.*s \"%.*s%s%.*s\" not found",
                            VD_FMT(key->resource), VD_FMT(key->namespace),
                            key->namespace.n ? "/" : "", VD_FMT(key->name));
    if (!code)
        *out = vd_event_ref(f.event);
    found_release(&f);
    return code;
}

struct vd_event *vd_store_newest(struct vd_store *store, const struct vd_entry *entry)
{
    vd_index_read_lock(&store->index);
    struct vd_event *event = entry->newest;
    bool is_there = event && vd_event_is_live(event) && !event->damaged && event->body;
    if (is_there)
        vd_event_ref(event);
    vd_index_unlock(&store->index);
    return is_there ? event : NULL;
}
