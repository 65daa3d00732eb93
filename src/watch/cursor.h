/*
 * A cursor: a revision of the log and a filter. It owns no queue.
 *
 * Opened at a revision it gives what came after; opened with a snapshot it gives
 * the objects as of now first, each as ADDED in path order, and then what came
 * after. Reading the same stretch again gives the same deliveries, whoever reads
 * and whether the events are still in memory or not.
 *
 * A cursor belongs to one thread at a time.
 */
#ifndef VD_WATCH_CURSOR_H
#define VD_WATCH_CURSOR_H

#include "store/snapshot.h"
#include "store/store.h"
#include "watch/filter.h"

struct vd_cursor {
    struct vd_store *store;
    struct vd_filter *filter;
    uint64_t revision;            /* everything that matches up to here was given */
    bool whole;                   /* `revision` is inside no atomic batch: a bookmark may name it */
    struct vd_snapshot *snapshot; /* while its objects are being given */
};

/* Opens a cursor that gives what came after a revision. VD_ERR_EXPIRED when the floor has passed
 * the revision. A future one is allowed: the cursor gives nothing until the log has passed it. */
int vd_cursor_open_at(struct vd_cursor *cursor, struct vd_store *store, struct vd_filter *filter,
                      uint64_t revision, struct vd_error *error) VD_MUST_USE;

/* Opens a cursor at the newest revision: it gives only what is committed from now on. */
void vd_cursor_open_now(struct vd_cursor *cursor, struct vd_store *store, struct vd_filter *filter);

/* Opens a cursor that first gives the objects as of now, and then what is committed after. The
 * filter must name a resource. */
int vd_cursor_open_snapshot(struct vd_cursor *cursor, struct vd_store *store,
                            struct vd_filter *filter, struct vd_error *error) VD_MUST_USE;

void vd_cursor_close(struct vd_cursor *cursor);

/*
 * The next deliveries, at most `max`, into *out, which is reset first. A bounded
 * piece of work: it may give none and still have moved. There is more to come at
 * once while vd_cursor_is_behind(). VD_ERR_EXPIRED when the window has passed the
 * cursor, VD_ERR_CORRUPT when an event on the way is damaged; the cursor has then
 * not moved - but a snapshot has passed the damaged object, and reading on leaves
 * it out.
 */
int vd_cursor_next(struct vd_cursor *cursor, struct vd_deliveries *out, size_t max,
                   struct vd_error *error) VD_MUST_USE;

/* vd_cursor_next(), but not beyond `upto`, which must have been the newest
 * revision once. */
int vd_cursor_next_upto(struct vd_cursor *cursor, struct vd_deliveries *out, size_t max,
                        uint64_t upto, struct vd_error *error) VD_MUST_USE;

/* Whether there are events, or snapshot objects, that the cursor has not passed. */
bool vd_cursor_is_behind(const struct vd_cursor *cursor);

#endif
