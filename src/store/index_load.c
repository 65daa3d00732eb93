/*
 * Filling the index from the log, newest row first.
 *
 * Newest first means: the first row of a key that is seen is the object, and the
 * newest rows over all are the tail. Of a replaced row only those bodies are
 * fetched that the tail needs (each event of it keeps the version it replaced).
 */
#include "store/index.h"
#include "store/store_internal.h"

struct loader {
    struct vd_index *index;
    struct vd_engine_state state; /* of the log; the engine sets it before the first row */
    bool begun;                   /* the index has taken over `state` */
    bool tail_open;               /* all rows so far are in the tail */
};

static void begin(struct loader *l)
{
    if (l->begun)
        return;
    l->begun = true;
    l->index->revision = l->state.revision;
    l->index->floor = l->index->floor_next = l->index->tail_floor = l->state.floor;
    l->index->passed = l->state.passed;
}

static struct vd_entry *entry_find(struct loader *l, const struct vd_key *key)
{
    struct vd_path room;
    struct vd_collection *c = vd_index_collection(l->index, key->resource);
    return c ? vd_collection_find(c, vd_key_path(&room, key)) : NULL;
}

/* A body is wanted of the newest row of a key, and of a row that an event of the tail replaced. */
static bool wants_body(void *arg, const struct vd_row *head)
{
    struct loader *l = arg;
    begin(l);
    struct vd_entry *entry = entry_find(l, &head->key);
    if (head->revision > l->index->floor)
        l->index->window_events++;
    return !entry || entry->oldest_yet->in_tail;
}

/* Whether the row belongs to the tail. After the first that does not, no further row does. */
static bool joins_tail(struct loader *l, const struct vd_row *row)
{
    struct vd_index *index = l->index;
    if (!l->tail_open)
        return false;
    l->tail_open = row->revision > index->floor && index->tail.n < index->limits.tail_events_max &&
                   index->tail_bytes <= index->limits.tail_bytes_max;
    if (!l->tail_open)
        index->tail_floor = row->revision > index->floor ? row->revision : index->floor;
    return l->tail_open;
}

/* Links an event to the version before it. A deletion in the tail gets its body from that
 * version. */
static void link_older(struct vd_index *index, struct vd_event *newer, struct vd_event *event)
{
    newer->older = event;
    size_t len = event->body ? event->body->len : 0;
    index->tail_bytes += len;
    if (newer->type != VD_EVENT_DELETED)
        return;
    vd_event_set_deleted(newer, event);
    if (newer->body)
        index->tail_bytes += newer->body->len;
}

/* Makes the entry of a key, for the key's newest row. */
static struct vd_entry *entry_load(struct loader *l, const struct vd_row *row)
{
    struct vd_entry *entry = vd_index_stage(l->index, &row->key);
    struct vd_collection *c = vd_index_collection(l->index, row->key.resource);
    entry->newest = entry->oldest_yet = vd_event_from_row(entry, row);
    c->live += vd_event_is_live(entry->newest);
    if (c->revision < row->revision)
        c->revision = row->revision;
    return entry;
}

static bool take_row(void *arg, const struct vd_row *row)
{
    struct loader *l = arg;
    struct vd_entry *entry = entry_find(l, &row->key);
    bool is_newest = !entry;
    if (row->damaged) {
        l->index->damaged++;
        l->index->damaged_revision = row->revision;
    }
    if (is_newest) {
        entry = entry_load(l, row);
    } else {
        struct vd_event *event = vd_event_from_row(entry, row);
        link_older(l->index, entry->oldest_yet, event);
        entry->oldest_yet = event;
    }
    struct vd_event *event = entry->oldest_yet;
    if (joins_tail(l, row)) {
        event->in_tail = true;
        vd_tail_push(&l->index->tail, vd_event_ref(event));
        vd_tail_push(&vd_index_collection(l->index, row->key.resource)->tail, event);
    } else if (is_newest && row->type == VD_EVENT_DELETED) {
        vd_tail_push(&l->index->deleted, vd_event_ref(event));
    }
    return true;
}

static void settle(struct vd_index *index)
{
    vd_tail_reverse(&index->tail);
    vd_tail_reverse(&index->deleted);
    size_t at = 0;
    for (struct vd_collection *c; (c = vd_hash_map_next(&index->collections, &at));) {
        vd_tail_reverse(&c->tail);
        struct vd_ordered_map_cursor cursor = vd_ordered_map_seek(&c->entries, VD_SLICE(""));
        for (struct vd_entry *e; (e = vd_ordered_map_item(&cursor)); vd_ordered_map_next(&cursor))
            e->staged = 0;
    }
}

int vd_index_load(struct vd_index *index, struct vd_engine *engine, struct vd_error *error)
{
    struct loader loader = {.index = index, .tail_open = true};
    struct vd_row_sink sink = {wants_body, take_row, &loader};
    int code = engine->ops->load(engine, &sink, &loader.state, error);
    begin(&loader);
    settle(index);
    vd_index_trim(index);
    return code;
}
