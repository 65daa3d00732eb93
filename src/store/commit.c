/* See commit.h. */
#include "store/commit.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "store/store_internal.h"

struct vd_commit *vd_commit_ref(struct vd_commit *commit)
{
    vd_ref(&commit->refs);
    return commit;
}

void vd_commit_unref(struct vd_commit *commit)
{
    if (!commit || !vd_unref(&commit->refs))
        return;
    for (size_t i = 0; i < commit->n; i++)
        vd_change_release(&commit->changes[i]);
    free(commit);
}

uint64_t vd_store_subscribe(struct vd_store *store, struct vd_subscriber *subscriber)
{
    pthread_mutex_lock(&store->subscriber_lock);
    subscriber->next = store->subscribers;
    store->subscribers = subscriber;
    uint64_t revision = vd_store_revision(store);
    pthread_mutex_unlock(&store->subscriber_lock);
    return revision;
}

void vd_store_unsubscribe(struct vd_store *store, struct vd_subscriber *subscriber)
{
    pthread_mutex_lock(&store->subscriber_lock);
    struct vd_subscriber **at = &store->subscribers;
    while (*at && *at != subscriber)
        at = &(*at)->next;
    if (*at)
        *at = subscriber->next;
    pthread_mutex_unlock(&store->subscriber_lock);
}

void vd_store_publish(struct vd_store *store, struct vd_event **events, size_t n)
{
    struct vd_commit *commit = vd_malloc(sizeof *commit + n * sizeof(struct vd_change));
    vd_refcount_init(&commit->refs);
    commit->n = n;
    for (size_t i = 0; i < n; i++)
        commit->changes[i].now = vd_event_ref(events[i]);
    pthread_mutex_lock(&store->subscriber_lock);
    commit->after = store->index.revision;
    vd_index_apply(&store->index, commit->changes, n);
    commit->revision = store->index.revision;
    commit->mono_ns = vd_clock_mono_ns(store->options.clock);
    for (struct vd_subscriber *s = store->subscribers; s; s = s->next)
        s->committed(s, commit);
    pthread_mutex_unlock(&store->subscriber_lock);
    vd_commit_unref(commit);
}
