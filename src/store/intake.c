/*
 * The intake: taking in what other processes have committed to the same log.
 *
 * The engine wakes the writer when others may have committed; the writer also looks when its own
 * commit was behind. It asks the engine for the log's newest revision and floor, reads the rows
 * that it has not seen, in pieces that end with an atomic batch, and publishes them: one commit for
 * each batch. Subscribers and readers cannot tell them from the changes of this process.
 *
 * Afterwards the writer moves the store's floor to the log's. The rows that the floor has passed
 * need not be there any more: the engine counts them, and the index knows which objects were
 * deleted.
 *
 * A process that is so far behind that others have compacted what it has not seen cannot go on: it
 * would have to tell of changes that nobody has any more. Its store becomes read-only, which shows
 * on /readyz, and a restart loads the log anew.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "store/store_internal.h"

struct intake {
    struct vd_store *store;
    struct vd_error *error;
    VD_VEC(struct vd_event *) events;
    size_t bytes;
    int code;
};

void vd_intake_wake(void *arg)
{
    struct vd_store *store = arg;
    pthread_mutex_lock(&store->queue_lock);
    store->others_due = true;
    pthread_mutex_unlock(&store->queue_lock);
    pthread_cond_signal(&store->queue_filled);
}

static const struct vd_event *newest_of(const struct intake *in, const struct vd_entry *entry)
{
    return entry->staged ? in->events.p[entry->staged - 1] : entry->newest;
}

/* Whether a row follows from the newest version that is known here. A creation follows from none:
 * what was there before it is deleted. */
static bool follows(const struct vd_row *row, const struct vd_event *last)
{
    if (row->type == VD_EVENT_CREATED)
        return !vd_event_is_live(last);
    return vd_event_is_live(last) && last->revision == row->previous;
}

static bool is_full(const struct intake *in)
{
    return in->events.n >= VD_SCAN_STEP_ROWS || in->bytes >= VD_GROUP_BYTES_MAX;
}

/* Makes an event of the next row that is not known here. When the piece is full, it stops at the
 * end of an atomic batch. */
static bool take_row(void *arg, const struct vd_row *row)
{
    struct intake *in = arg;
    struct vd_entry *entry = vd_index_stage(&in->store->index, &row->key);
    const struct vd_event *last = newest_of(in, entry);
    if (!follows(row, last)) {
        vd_index_unstage(&in->store->index, entry);
        in->code = vd_error_set(in->error, VD_ERR_CORRUPT,
                                "revision %llu of the log does not follow what came before it",
                                (unsigned long long)row->revision);
        return false;
    }
    struct vd_event *event = vd_event_from_row(entry, row);
    if (row->type == VD_EVENT_DELETED)
        vd_event_set_deleted(event, last);
    *VD_VEC_PUSH(&in->events) = event;
    entry->staged = in->events.n;
    in->bytes += row->body_len;
    if (in->store->time_ms < row->time_ms)
        in->store->time_ms = row->time_ms;
    return row->more || !is_full(in);
}

/* Reads a piece that ends where an atomic batch does. */
static int read_piece(struct intake *in, uint64_t upto)
{
    struct vd_engine *engine = in->store->engine;
    struct vd_row_sink sink = {NULL, take_row, in};
    uint64_t after = in->store->index.revision;
    for (;;) {
        size_t n = in->events.n;
        int code = engine->ops->read(engine, after, upto, VD_SCAN_STEP_ROWS, &sink, in->error);
        if (code || in->code)
            return code ? code : in->code;
        if (in->events.n == n)
            return n == 0 ? VD_OK
                          : vd_error_set(in->error, VD_ERR_CORRUPT,
                                         "the atomic batch of revision %llu has no end",
                                         (unsigned long long)after);
        if (!in->events.p[in->events.n - 1]->more)
            return VD_OK;
        after = in->events.p[in->events.n - 1]->revision;
    }
}

static void publish(struct intake *in)
{
    for (size_t i = 0; i < in->events.n; i++)
        in->events.p[i]->entry->staged = 0;
    for (size_t from = 0, at = 0; at < in->events.n; at++)
        if (!in->events.p[at]->more) {
            vd_store_publish(in->store, in->events.p + from, at + 1 - from);
            from = at + 1;
        }
    atomic_fetch_add_explicit(&in->store->taken_in, in->events.n, memory_order_relaxed);
}

/* Drops the events and staged entries of a piece that could not be read to its end. */
static void discard(struct intake *in)
{
    for (size_t i = 0; i < in->events.n; i++) {
        struct vd_entry *entry = in->events.p[i]->entry;
        if (entry->staged) {
            entry->staged = 0;
            vd_index_unstage(&in->store->index, entry);
        }
    }
    for (size_t i = 0; i < in->events.n; i++)
        vd_event_unref(in->events.p[i]);
}

static void follow_floor(struct vd_index *index, const struct vd_engine_state *state)
{
    if (state->floor > index->floor && state->floor < index->revision)
        vd_index_move_floor(index, state->floor, (size_t)(state->passed - index->passed));
}

static int cut_off(struct vd_store *store, int code, struct vd_error *error)
{
    store->cut_off = true;
    if (code == VD_ERR_EXPIRED)
        vd_error_set(error, VD_ERR_EXPIRED,
                     "the log's window has passed what this process knows, so it cannot follow "
                     "the others: restart it");
    vd_store_fail(store, error);
    return vd_error_set(error, VD_ERR_READ_ONLY,
                        "the store is read-only since it can no longer follow the log");
}

int vd_intake_step(struct vd_store *store, bool *more, struct vd_error *error)
{
    struct intake in = {.store = store, .error = error};
    struct vd_engine_state state;
    *more = false;
    if (store->cut_off)
        return vd_error_set(error, VD_ERR_READ_ONLY,
                            "the store is read-only since it can no longer follow the log");
    int code = store->engine->ops->state(store->engine, &state, error);
    if (!code && state.revision > store->index.revision)
        code = read_piece(&in, state.revision);
    if (code) {
        discard(&in);
    } else {
        publish(&in);
        follow_floor(&store->index, &state);
        *more = state.revision > store->index.revision;
    }
    VD_VEC_RELEASE(&in.events);
    return code && !vd_code_passes(code) ? cut_off(store, code, error) : code;
}

int vd_intake_all(struct vd_store *store, struct vd_error *error)
{
    bool more = true;
    int code = VD_OK;
    while (more && !code)
        code = vd_intake_step(store, &more, error);
    return code;
}
