/*
 * A collection: the objects of one resource, ordered by path, and the newest
 * events of that resource. Part of the index; guarded by the index's lock. A collection is
 * never removed while the store is open, so pointers to one stay good.
 */
#ifndef VD_STORE_COLLECTION_H
#define VD_STORE_COLLECTION_H

#include "base/ordered_map.h"
#include "store/event.h"
#include "store/tail.h"

struct vd_collection {
    struct vd_ordered_map entries; /* each holds one reference */
    struct vd_tail tail;           /* borrowed: the index's own tail holds the references */
    uint64_t revision;             /* of the resource's newest event; 0: none yet */
    size_t live;                   /* objects that exist */
    size_t resource_len;
    char resource[];
};

struct vd_collection *vd_collection_new(struct vd_slice resource) VD_MUST_USE;
void vd_collection_free(struct vd_collection *collection);

struct vd_slice vd_collection_resource(const struct vd_collection *collection);

/* The entry of an object, or NULL. `path` is "namespace/name". */
struct vd_entry *vd_collection_find(const struct vd_collection *collection, struct vd_slice path);

/* Puts a new entry into the map, which keeps the caller's reference. */
void vd_collection_add(struct vd_collection *collection, struct vd_entry *entry);

/* Takes an entry out of the map and drops the references to its versions. */
void vd_collection_drop(struct vd_collection *collection, struct vd_entry *entry);

#endif
