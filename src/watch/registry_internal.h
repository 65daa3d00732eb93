/* The registry's own insides, for registry.c and routes.c only. */
#ifndef VD_WATCH_REGISTRY_INTERNAL_H
#define VD_WATCH_REGISTRY_INTERNAL_H

#include "store/commit.h"
#include "watch/registry.h"

struct vd_bucket;

/* The watchers whose filters have the same identity. */
struct vd_watch_group {
    struct vd_registry *registry;
    struct vd_filter *filter;
    size_t members; /* watchers in any state, and one more while it is touched or served */
    VD_VEC(struct vd_watcher *) synced;
    struct vd_deliveries pending; /* judged in this turn, not yet served */
    bool is_touched;              /* has pending deliveries and stands in the list of such */
    struct vd_watch_group *next_touched;
    uint64_t served;          /* all its synced watchers have been given what comes up to here */
    struct vd_bucket *bucket; /* the route that leads here */
    size_t at;                /* its place in the bucket */
};

enum { VD_ROUTE_SHAPES = 16 }; /* combinations of SHAPE_RESOURCE to SHAPE_LABEL */

struct vd_commit_list {
    struct vd_commit **p;
    size_t n;
    size_t cap;
};

struct vd_registry {
    struct vd_subscriber subscriber; /* first: the writer is given a pointer to it */
    struct vd_store *store;
    void (*wake)(void *arg);
    void *wake_arg;

    pthread_mutex_t
        inbox_lock; /* guards inbox, inbox_bytes and overrun; held for a push or a swap */
    struct vd_commit_list inbox;
    size_t inbox_bytes; /* of the bodies in it */
    uint64_t overrun;   /* the inbox was dropped up to this revision; 0: it was not */

    /* The loop's own: */
    struct vd_commit_list taken;
    size_t taken_at;          /* those before it are judged */
    size_t turn_watchers_max; /* watchers that a turn serves; 0: all */
    uint64_t revision;        /* synced watchers have passed it */
    uint64_t passed;          /* changes up to here are judged; > revision while they are served */
    struct vd_watch_group *serving; /* the group that is just now, if any, ... */
    size_t serving_at;              /* ... those of its synced ones that have been, ... */
    struct vd_shared *shared;       /* ... and what these share */
    size_t watchers, synced, unsynced, parked;
    uint64_t overruns;
    bool held;          /* new commits stay in the inbox */
    uint64_t commit_ns; /* see struct vd_registry_stats */
    struct vd_watcher *unsynced_first, *unsynced_last;
    struct vd_heap ahead;
    /* What was last read for a watcher that is behind. Others of its group who stand where it
     * stood are given the same: many replay from one place when they come back together. */
    struct vd_deliveries piece;
    struct vd_watch_group *piece_group; /* NULL: it is for nobody else */
    uint64_t piece_from;                /* where that one stood */
    struct vd_shared *piece_shared;

    struct vd_hash_map groups;      /* by the filter's identity */
    struct vd_hash_map buckets;     /* by route */
    size_t shapes[VD_ROUTE_SHAPES]; /* how many buckets there are of each shape */
    struct vd_watch_group *touched;
    size_t piled_up;
    struct vd_buf route;
    struct vd_attributes now, before;
};

void vd_routes_init(struct vd_registry *registry);
void vd_routes_release(struct vd_registry *registry);

/* The group for a filter, made when it is the first; one member more. */
struct vd_watch_group *vd_watch_group_join(struct vd_registry *registry,
                                           struct vd_filter *filter) VD_MUST_USE;

/* One member less; the last one's leave frees the group. */
void vd_watch_group_leave(struct vd_watch_group *group);

/* Lets every group that the change may concern judge it. Returns the number of
 * deliveries that were added. */
size_t vd_route(struct vd_registry *registry, const struct vd_change *change);

#endif
