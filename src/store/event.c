/* See event.h. */
#include "store/event.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "store/collection.h"

struct vd_entry *vd_entry_new(const struct vd_collection *collection, struct vd_slice namespace,
                              struct vd_slice name)
{
    struct vd_entry *entry = vd_malloc(sizeof *entry + namespace.n + 1 + name.n);
    *entry = (struct vd_entry){
        .namespace_len = (uint16_t) namespace.n,
        .name_len = (uint16_t)name.n,
        .collection = collection,
    };
    vd_refcount_init(&entry->refs);
    if (namespace.n)
        memcpy(entry->path, namespace.p, namespace.n);
    entry->path[namespace.n] = '/';
    memcpy(entry->path + namespace.n + 1, name.p, name.n);
    return entry;
}

struct vd_entry *vd_entry_ref(struct vd_entry *entry)
{
    vd_ref(&entry->refs);
    return entry;
}

void vd_entry_unref(struct vd_entry *entry)
{
    if (entry && vd_unref(&entry->refs))
        free(entry);
}

struct vd_slice vd_entry_resource(const struct vd_entry *entry)
{
    return vd_collection_resource(entry->collection);
}

struct vd_event *vd_event_new(struct vd_entry *entry, struct vd_body *body)
{
    struct vd_event *event = VD_NEW(struct vd_event);
    vd_refcount_init(&event->refs);
    event->entry = vd_entry_ref(entry);
    event->body = body;
    return event;
}

struct vd_event *vd_event_ref(struct vd_event *event)
{
    vd_ref(&event->refs);
    return event;
}

/* Iterative: a hot object's versions can be a chain of 100,000. */
void vd_event_unref(struct vd_event *event)
{
    while (event && vd_unref(&event->refs)) {
        struct vd_event *older = event->older;
        vd_body_unref(event->body);
        vd_entry_unref(event->entry);
        free(event);
        event = older;
    }
}

void vd_change_release(struct vd_change *change)
{
    vd_event_unref(change->now);
    vd_event_unref(change->before);
    *change = (struct vd_change){0};
}
