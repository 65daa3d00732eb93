/* See object_scan.h. */
#include "api/object_scan.h"

#include "kinds/kind.h"

void vd_object_scan_end(struct vd_object_scan *scan)
{
    if (scan->is_open)
        vd_snapshot_release(&scan->snapshot);
    vd_kind_set_unref(scan->kinds);
    *scan = (struct vd_object_scan){0};
}

void vd_object_scan_begin(struct vd_object_scan *scan, struct vd_store *store,
                          struct vd_kinds *kinds)
{
    vd_object_scan_end(scan);
    *scan = (struct vd_object_scan){.store = store, .kinds = vd_kinds_snapshot(kinds)};
}

/* The stored kinds, one by one: a kind in several groups or versions comes once. */
static const struct vd_kind *next_kind(struct vd_object_scan *scan)
{
    size_t n;
    struct vd_kind *const *all = vd_kind_set_all(scan->kinds, &n);
    while (scan->kind_at < n) {
        const struct vd_kind *kind = all[scan->kind_at++];
        if (kind->stored && !kind->subresource.n &&
            vd_kind_set_stored(scan->kinds, kind->resource) == kind)
            return kind;
    }
    return NULL;
}

static int open_next(struct vd_object_scan *scan, struct vd_error *error)
{
    const struct vd_kind *kind = next_kind(scan);
    if (scan->is_open)
        vd_snapshot_release(&scan->snapshot);
    scan->is_open = false;
    scan->done = !kind;
    if (!kind)
        return VD_OK;
    int code = vd_snapshot_open(&scan->snapshot, scan->store, kind->resource, VD_SLICE(""),
                                scan->revision, VD_SLICE(""), error);
    if (code)
        return code;
    scan->is_open = true;
    scan->revision = scan->snapshot.revision; /* that of the first kind is chosen for all */
    return VD_OK;
}

int vd_object_scan_next(struct vd_object_scan *scan, struct vd_event **out, size_t max, size_t *n,
                        struct vd_error *error)
{
    *n = 0;
    if (!scan->is_open || scan->snapshot.done) {
        int code = open_next(scan, error);
        if (code || scan->done)
            return code;
    }
    return vd_snapshot_next(&scan->snapshot, out, max, n, error);
}
