/* See cursor.h. */
#include "watch/cursor.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "store/log_read.h"

static void cursor_init(struct vd_cursor *cursor, struct vd_store *store, struct vd_filter *filter,
                        uint64_t revision)
{
    *cursor = (struct vd_cursor){
        .store = store,
        .filter = vd_filter_ref(filter),
        .revision = revision,
    };
}

int vd_cursor_open_at(struct vd_cursor *cursor, struct vd_store *store, struct vd_filter *filter,
                      uint64_t revision, struct vd_error *error)
{
    int code = vd_store_check_revision(store, revision, error);
    if (code && code != VD_ERR_FUTURE)
        return code;
    cursor_init(cursor, store, filter, revision);
    return VD_OK;
}

void vd_cursor_open_now(struct vd_cursor *cursor, struct vd_store *store, struct vd_filter *filter)
{
    cursor_init(cursor, store, filter, vd_store_revision(store));
    cursor->whole = true;
}

int vd_cursor_open_snapshot(struct vd_cursor *cursor, struct vd_store *store,
                            struct vd_filter *filter, struct vd_error *error)
{
    const struct vd_filter_spec *spec = &filter->spec;
    struct vd_snapshot *snapshot = VD_NEW(struct vd_snapshot);
    struct vd_buf prefix = {0};
    assert(spec->resource.n);
    if (spec->namespace.n)
        vd_buf_addf(&prefix, "%.*s/", VD_FMT(spec->namespace));
    int code = vd_snapshot_open(snapshot, store, spec->resource, vd_buf_slice(&prefix), 0,
                                VD_SLICE(""), error);
    vd_buf_release(&prefix);
    if (code) {
        free(snapshot);
        return code;
    }
    cursor_init(cursor, store, filter, snapshot->revision);
    cursor->snapshot = snapshot;
    return VD_OK;
}

static void snapshot_forget(struct vd_cursor *cursor)
{
    if (cursor->snapshot)
        vd_snapshot_release(cursor->snapshot);
    free(cursor->snapshot);
    cursor->snapshot = NULL;
}

void vd_cursor_close(struct vd_cursor *cursor)
{
    snapshot_forget(cursor);
    vd_filter_unref(cursor->filter);
    cursor->filter = NULL;
}

/* What is needed only while a piece is read. It is not part of the cursor, since thousands of
 * cursors wait at any time. */
struct reading {
    struct vd_stretch stretch;
    struct vd_attributes now, before;
};

/* Gives one piece of the snapshot. A bookmark may name the cursor's revision when the snapshot has
 * ended. */
static int next_of_snapshot(struct vd_cursor *cursor, struct reading *r, struct vd_deliveries *out,
                            size_t max, struct vd_error *error)
{
    struct vd_event *events[VD_SCAN_STEP_ROWS];
    size_t n, room = max < VD_SCAN_STEP_ROWS ? max : VD_SCAN_STEP_ROWS;
    int code = vd_snapshot_next(cursor->snapshot, events, room, &n, error);
    if (code)
        return code;
    for (size_t i = 0; i < n; i++) {
        vd_attributes_set(&r->now, events[i]);
        if (vd_filter_matches(cursor->filter, &r->now))
            *VD_VEC_PUSH(&out->list) = (struct vd_delivery){VD_ADDED, events[i],
                                                            vd_body_ref(events[i]->body)};
        else
            vd_event_unref(events[i]);
    }
    out->snapshot_end = cursor->snapshot->done;
    if (out->snapshot_end)
        snapshot_forget(cursor);
    cursor->whole = out->snapshot_end;
    return VD_OK;
}

static int next_of_log(struct vd_cursor *cursor, struct reading *r, struct vd_deliveries *out,
                       size_t max, uint64_t upto, struct vd_error *error)
{
    struct vd_stretch *stretch = &r->stretch;
    int code = vd_store_read_upto(cursor->store, cursor->filter->spec.resource, cursor->revision,
                                  upto, max, stretch, error);
    if (code)
        return code;
    for (size_t i = 0; i < stretch->changes.n; i++) {
        const struct vd_change *change = &stretch->changes.p[i];
        vd_attributes_set(&r->now, change->now);
        vd_attributes_set(&r->before, change->before);
        vd_filter_judge(cursor->filter, change, &r->now, &r->before, out);
    }
    cursor->whole = stretch->whole;
    cursor->revision = stretch->upto;
    return VD_OK;
}

int vd_cursor_next_upto(struct vd_cursor *cursor, struct vd_deliveries *out, size_t max,
                        uint64_t upto, struct vd_error *error)
{
    struct reading r = {0};
    vd_deliveries_reset(out);
    int code = cursor->snapshot ? next_of_snapshot(cursor, &r, out, max, error)
                                : next_of_log(cursor, &r, out, max, upto, error);
    vd_stretch_release(&r.stretch);
    vd_attributes_release(&r.now);
    vd_attributes_release(&r.before);
    out->upto = cursor->revision;
    out->whole = cursor->whole;
    return code;
}

int vd_cursor_next(struct vd_cursor *cursor, struct vd_deliveries *out, size_t max,
                   struct vd_error *error)
{
    return vd_cursor_next_upto(cursor, out, max, UINT64_MAX, error);
}

bool vd_cursor_is_behind(const struct vd_cursor *cursor)
{
    return cursor->snapshot || cursor->revision < vd_store_revision(cursor->store);
}
