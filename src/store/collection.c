/* See collection.h. */
#include "store/collection.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

static struct vd_slice entry_key(const void *item)
{
    return vd_entry_path(item);
}

struct vd_collection *vd_collection_new(struct vd_slice resource)
{
    struct vd_collection *collection = vd_calloc(1, sizeof *collection + resource.n);
    vd_ordered_map_init(&collection->entries, entry_key);
    collection->resource_len = resource.n;
    memcpy(collection->resource, resource.p, resource.n);
    return collection;
}

/* An entry and its newest event hold references to each other; this breaks the cycle. */
static void entry_retire(struct vd_entry *entry)
{
    struct vd_event *newest = entry->newest;
    entry->newest = NULL;
    vd_event_unref(newest);
    vd_entry_unref(entry);
}

void vd_collection_free(struct vd_collection *collection)
{
    struct vd_ordered_map_cursor at = vd_ordered_map_seek(&collection->entries, VD_SLICE(""));
    for (struct vd_entry *entry; (entry = vd_ordered_map_item(&at)); vd_ordered_map_next(&at))
        entry_retire(entry);
    vd_ordered_map_release(&collection->entries);
    vd_tail_release(&collection->tail);
    free(collection);
}

struct vd_slice vd_collection_resource(const struct vd_collection *collection)
{
    return vd_slice(collection->resource, collection->resource_len);
}

struct vd_entry *vd_collection_find(const struct vd_collection *collection, struct vd_slice path)
{
    return vd_ordered_map_get(&collection->entries, path);
}

void vd_collection_add(struct vd_collection *collection, struct vd_entry *entry)
{
    void *replaced = vd_ordered_map_put(&collection->entries, entry);
    assert(!replaced);
    (void)replaced;
}

void vd_collection_drop(struct vd_collection *collection, struct vd_entry *entry)
{
    void *removed = vd_ordered_map_remove(&collection->entries, vd_entry_path(entry));
    assert(removed == entry);
    (void)removed;
    entry_retire(entry);
}
