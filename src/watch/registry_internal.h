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
    size_t members; /* watchers in any state, and one more while the group is touched or served */
    VD_VEC(struct vd_watcher *) synced;
    struct vd_deliveries pending; /* deliveries that were judged and are not served yet */
    bool is_touched; /* it has pending deliveries and is in the list of groups that have some */
    struct vd_watch_group *next_touched;
    uint64_t served; /* the revision up to which all its synced watchers have been served */
    struct vd_bucket *bucket; /* the route that leads here */
    size_t at;                /* its position in the bucket */
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

    /* Used by the loop only: */
    struct vd_commit_list taken;
    size_t taken_at;          /* the commits before it were judged */
    size_t turn_watchers_max; /* watchers that a turn serves; 0: all */
    uint64_t revision;        /* synced watchers have passed it */
    uint64_t passed;          /* changes up to here are judged; > revision while they are served */
    struct vd_watch_group *serving; /* the group that is being served, or NULL, ... */
    size_t serving_at;              /* ... how many of its synced watchers have been served, ... */
    struct vd_shared *shared;       /* ... and what these have left for the others to share */
    size_t watchers, synced, unsynced, parked;
    uint64_t overruns;
    bool held;          /* new commits stay in the inbox */
    uint64_t commit_ns; /* see struct vd_registry_stats */
    struct vd_watcher *unsynced_first, *unsynced_last;
    struct vd_heap ahead;
    /* What was last read for an unsynced watcher. Others of its group that are at the same
     * revision are given the same: when many clients reconnect together, they resume from the
     * same revision. */
    struct vd_deliveries piece;
    struct vd_watch_group *piece_group; /* NULL: no other watcher may be given it */
    uint64_t piece_from;                /* the revision from which it was read */
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

/* The group for a filter, which is made if there is none; it gets one member more. */
struct vd_watch_group *vd_watch_group_join(struct vd_registry *registry,
                                           struct vd_filter *filter) VD_MUST_USE;

/* The group has one member less; when the last one leaves, the group is freed. */
void vd_watch_group_leave(struct vd_watch_group *group);

/* Lets every group that the change may concern judge it. Returns the number of
 * deliveries that were added. */
size_t vd_route(struct vd_registry *registry, const struct vd_change *change);

#endif
