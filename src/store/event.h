/*
 * Events: what the log is made of. One event is one version of one object.
 *
 * An event is immutable once it is published, but for `older` and `in_tail`, which the index's lock
 * guards: `older` links an object's versions, newest first, as long as they are in memory. Whoever
 * needs an event after unlocking takes a reference.
 *
 * An *entry* is what all versions of an object share: its key. It lives as long
 * as an event of it does, and stands in its collection's map while the object
 * exists or its deletion is inside the window.
 */
#ifndef VD_STORE_EVENT_H
#define VD_STORE_EVENT_H

#include <stdint.h>

#include "base/refcount.h"
#include "store/body.h"
#include "store/key.h"

struct vd_collection;
struct vd_event;

/* These numbers are in the log's rows: they never change. */
enum vd_event_type {
    VD_EVENT_CREATED = 1,
    VD_EVENT_UPDATED = 2,
    VD_EVENT_DELETED = 3,
};

struct vd_entry {
    struct vd_refcount refs;
    uint16_t namespace_len;
    uint16_t name_len;
    const struct vd_collection *collection; /* lives as long as the store */
    struct vd_event *newest; /* guarded by the index's lock; NULL: the entry is staged, and no event
                                is committed yet */
    union {
        size_t staged; /* used by the writer: 1 + the object's newest row in the group, or 0 */
        struct vd_event *oldest_yet; /* used while the log is loaded, newest row first: the oldest
                                        event so far */
    };
    char path[]; /* "namespace/name" */
};

struct vd_event {
    struct vd_refcount refs;
    uint8_t type;
    bool more;    /* more events of the same atomic batch follow */
    bool damaged; /* its row's checksum is wrong: there is no body to serve */
    bool in_tail; /* guarded by the index's lock: the event is in the tail */
    uint64_t revision;
    uint64_t previous; /* revision of the object's version before this one; 0: none */
    int64_t time_ms;   /* wall clock at commit */
    struct vd_entry *entry;
    struct vd_body *body;   /* of a DELETED event: the last body, restamped; NULL when damaged */
    struct vd_event *older; /* guarded by the index's lock */
    struct vd_uid uid;
};

struct vd_entry *vd_entry_new(const struct vd_collection *collection, struct vd_slice namespace,
                              struct vd_slice name) VD_MUST_USE;
struct vd_entry *vd_entry_ref(struct vd_entry *entry);
void vd_entry_unref(struct vd_entry *entry);

static inline struct vd_slice vd_entry_path(const struct vd_entry *entry)
{
    return vd_slice(entry->path, (size_t)entry->namespace_len + 1 + entry->name_len);
}

static inline struct vd_slice vd_entry_namespace(const struct vd_entry *entry)
{
    return vd_slice(entry->path, entry->namespace_len);
}

static inline struct vd_slice vd_entry_name(const struct vd_entry *entry)
{
    return vd_slice(entry->path + entry->namespace_len + 1, entry->name_len);
}

/* The entry's resource, for code that does not include collection.h. */
struct vd_slice vd_entry_resource(const struct vd_entry *entry);

/* An event that holds a reference to the entry and takes over the body. */
struct vd_event *vd_event_new(struct vd_entry *entry, struct vd_body *body) VD_MUST_USE;
struct vd_event *vd_event_ref(struct vd_event *event);
void vd_event_unref(struct vd_event *event); /* NULL allowed */

/* Whether the object exists as of this event. */
static inline bool vd_event_is_live(const struct vd_event *event)
{
    return event && event->type != VD_EVENT_DELETED;
}

/* An event together with the object as it was before: NULL when the event
 * created it. Both are references held by whoever holds the change. */
struct vd_change {
    struct vd_event *now;
    struct vd_event *before;
};

void vd_change_release(struct vd_change *change);

#endif
