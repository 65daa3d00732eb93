/*
 * A row of the log, as engines keep it, and the sinks that engines hand rows to.
 */
#ifndef VD_STORE_ROW_H
#define VD_STORE_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/event.h"

/* Slices are borrowed: until the callback returns when a row is read, until commit() returns when
 * one is written. */
struct vd_row {
    uint64_t revision;
    uint64_t previous;
    size_t previous_row; /* commit: 1 + the position in this commit of the row that this one
                            replaces; the engine then sets `previous`. 0: it is set already */
    int64_t time_ms;
    enum vd_event_type type;
    bool more;
    bool damaged; /* read: the body's checksum is wrong, and the body is not given */
    uint32_t body_len;
    struct vd_key key;
    struct vd_uid uid;
    struct vd_template body; /* empty for a deletion, whose body is that of the version before */
};

/* Where rows are read to. `wants` sees the row without its body and says whether
 * to fetch it; NULL wants all. `take` returns false to stop. */
struct vd_row_sink {
    bool (*wants)(void *arg, const struct vd_row *head);
    bool (*take)(void *arg, const struct vd_row *row);
    void *arg;
};

/* Where history is read to: each row comes with the version that it replaced or deleted. `before`
 * is NULL when the row created the object, and when that version is no longer in the log. `passes`
 * is called with the head of each row, also of rows of other resources. */
struct vd_history_sink {
    void (*passes)(void *arg, const struct vd_row *head);
    bool (*take)(void *arg, const struct vd_row *row, const struct vd_row *before);
    void *arg;
};

/* The event that a row describes. A deletion has no body yet: see vd_event_set_deleted(). */
struct vd_event *vd_event_from_row(struct vd_entry *entry, const struct vd_row *row) VD_MUST_USE;

/* Gives a deletion the body of the version that it deleted, or its damage. */
void vd_event_set_deleted(struct vd_event *deletion, const struct vd_event *last);

#endif
