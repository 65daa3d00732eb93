/* See watcher_record.h. */
#include "watcher_record.h"

#include "base/alloc.h"
#include "base/container_of.h"

size_t record_shared_made, record_shared_freed;

static struct record *records;

static void shared_free(struct vd_shared *shared)
{
    struct record_shared *s = VD_CONTAINER_OF(shared, struct record_shared, shared);
    vd_buf_release(&s->text);
    free(s);
    record_shared_freed++;
}

/* Adds the text of the deliveries, which the group's first watcher makes and all use. */
static void add_shared(struct record *r, const struct vd_deliveries *deliveries,
                       struct vd_shared **slot)
{
    r->found_shared += *slot != NULL;
    if (!*slot) {
        struct record_shared *made = VD_NEW(struct record_shared);
        vd_refcount_init(&made->shared.refs);
        made->shared.free = shared_free;
        deliveries_add_text(&made->text, deliveries);
        *slot = &made->shared;
        record_shared_made++;
    }
    vd_buf_add_slice(&r->text, vd_buf_slice(&((struct record_shared *)*slot)->text));
}

/* Checks the order: objects of a snapshot by path, events of the log by revision. */
static void check_order(const struct record *r, const struct vd_deliveries *d)
{
    bool of_snapshot = r->watcher.cursor.snapshot || d->snapshot_end;
    for (size_t i = 0; i < d->list.n; i++) {
        const struct vd_event *event = d->list.p[i].event;
        assert_true(event->revision <= d->upto);
        assert_true(of_snapshot || event->revision > r->upto);
        if (i && !of_snapshot)
            assert_true(event->revision > d->list.p[i - 1].event->revision);
    }
    assert_true(d->upto >= r->upto);
}

static enum vd_take deliver(struct vd_watcher *watcher, const struct vd_deliveries *d,
                            struct vd_shared **shared)
{
    struct record *r = VD_CONTAINER_OF(watcher, struct record, watcher);
    enum vd_take answer = r->answer;
    r->answer = r->then;
    r->calls++;
    assert_true(d->list.n || d->snapshot_end);
    assert_int_equal(d->live, watcher->state == VD_WATCHER_SYNCED);
    assert_true(shared || !d->live);
    check_order(r, d);
    if (answer == VD_TAKE_NOT)
        return answer;
    if (shared)
        add_shared(r, d, shared);
    else
        deliveries_add_text(&r->text, d);
    if (d->snapshot_end)
        vd_buf_add_text(&r->text, "| ");
    r->upto = d->upto;
    r->whole = d->whole;
    if (r->resumes)
        vd_watcher_resume(&r->resumes->watcher);
    return answer;
}

static void ended(struct vd_watcher *watcher, const struct vd_error *error)
{
    struct record *r = VD_CONTAINER_OF(watcher, struct record, watcher);
    assert_int_equal(watcher->state, VD_WATCHER_OUT);
    r->ended++;
    vd_buf_addf(&r->text, "!%s ", vd_code_name((int)error->code));
}

struct record *record_new(struct vd_registry *registry, struct vd_store *store,
                          struct filter_texts texts, uint64_t from)
{
    static const struct vd_watcher_ops ops = {.deliver = deliver, .ended = ended};
    struct record *r = VD_NEW(struct record);
    struct vd_cursor *cursor = &r->watcher.cursor;
    struct vd_filter *filter = test_filter(texts);
    struct vd_error error;
    r->watcher.ops = &ops;
    if (from == FROM_NOW)
        vd_cursor_open_now(cursor, store, filter);
    else if (from == FROM_SNAPSHOT)
        assert_ok(vd_cursor_open_snapshot(cursor, store, filter, &error), &error);
    else
        assert_ok(vd_cursor_open_at(cursor, store, filter, from, &error), &error);
    vd_filter_unref(filter);
    vd_registry_add(registry, &r->watcher);
    r->next = records;
    if (records)
        records->prev = r;
    records = r;
    return r;
}

void record_free(struct record *r)
{
    vd_registry_remove(&r->watcher);
    vd_cursor_close(&r->watcher.cursor);
    vd_buf_release(&r->text);
    *(r->prev ? &r->prev->next : &records) = r->next;
    if (r->next)
        r->next->prev = r->prev;
    free(r);
}

void records_free(void)
{
    while (records)
        record_free(records);
}

const char *record_take(struct record *r)
{
    static struct vd_buf taken;
    struct vd_buf text = r->text;
    vd_buf_release(&taken);
    taken = text;
    r->text = (struct vd_buf){0};
    return vd_buf_text(&taken);
}
