/*
 * A filter: which changes a watcher is sent, and as what.
 *
 * An object that comes to match arrives as ADDED, one that ceases to match as
 * DELETED with the last bytes that matched; see vd_filter_judge().
 *
 * Immutable and reference counted: one filter serves many watchers. Two filters
 * with equal identity send the same bytes.
 */
#ifndef VD_WATCH_FILTER_H
#define VD_WATCH_FILTER_H

#include "base/refcount.h"
#include "base/vec.h"
#include "watch/attributes.h"
#include "watch/field_selector.h"
#include "watch/selector.h"

/* What a filter is made from. Empty slices and NULLs select everything. */
struct vd_filter_spec {
    struct vd_slice resource; /* empty: all resources */
    struct vd_slice namespace;
    struct vd_slice name;
    struct vd_selector *labels;       /* borrowed; the filter takes a reference of its own */
    struct vd_field_selector *fields; /* borrowed; the filter takes a reference of its own, too */
    vd_field_lookup_fn *field;        /* how fields are found, over a struct vd_attributes; NULL:
                                         vd_attributes_field */
    uint32_t format; /* a number of the face's choice: watchers with different formats are never
                        grouped, as they send different bytes */
    struct vd_slice dialect; /* like `format`, as a text; borrowed only while the filter is made */
};

struct vd_filter {
    struct vd_refcount refs;
    struct vd_filter_spec spec; /* the filter's own copies */
    struct vd_slice identity; /* equal for filters whose watchers can share deliveries and bytes */
    char bytes[];
};

struct vd_filter *vd_filter_new(const struct vd_filter_spec *spec) VD_MUST_USE;
struct vd_filter *vd_filter_ref(struct vd_filter *filter);
void vd_filter_unref(struct vd_filter *filter); /* NULL allowed */

enum vd_delivery_type {
    VD_ADDED,
    VD_MODIFIED,
    VD_DELETED,
};

/* The word that goes over the wire: "ADDED". */
const char *vd_delivery_name(enum vd_delivery_type type);

/* One change as one watcher sees it. */
struct vd_delivery {
    enum vd_delivery_type type;
    struct vd_event *event; /* a reference; its revision is the delivery's */
    struct vd_body *body;   /* a reference; carries that revision. NULL in a DELETED one whose
                               bytes were lost to damage: the event's key is all there is */
};

/* Deliveries, and how far they reach. `= {0}` is empty. */
struct vd_deliveries {
    VD_VEC(struct vd_delivery) list;
    uint64_t upto;     /* everything that matches up to here was delivered */
    bool whole;        /* `upto` is inside no atomic batch: a bookmark may name it */
    bool snapshot_end; /* the last object of the snapshot has been given */
    bool live;         /* the deliveries are those of new commits, and were not read from the log */
};

void vd_deliveries_reset(struct vd_deliveries *deliveries); /* keeps the memory */
void vd_deliveries_release(struct vd_deliveries *deliveries);

/*
 * Adds the change to the deliveries if it concerns the filter. `now` and `before`
 * are set to the change's two events; what is read from them serves all filters
 * that judge the same change. Returns whether something was added.
 */
bool vd_filter_judge(const struct vd_filter *filter, const struct vd_change *change,
                     struct vd_attributes *now, struct vd_attributes *before,
                     struct vd_deliveries *deliveries);

/* Whether an object in its present state matches: for snapshots. */
bool vd_filter_matches(const struct vd_filter *filter, struct vd_attributes *attributes);

#endif
