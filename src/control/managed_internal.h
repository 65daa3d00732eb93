/* What the files of a managed controller share: managed.c follows and dispatches, managed_result.c
 * sees to what runs say, managed_item.c keeps the keys. */
#ifndef VD_CONTROL_MANAGED_INTERNAL_H
#define VD_CONTROL_MANAGED_INTERNAL_H

#include "base/vec.h"
#include "control/managed.h"

struct vd_managed_item {
    struct vd_work_item work;
    struct vd_entry *entry;  /* a reference, by which the object is found; NULL: not known yet */
    struct vd_event *object; /* that it ran with, while its result is being written; or NULL */
    enum vd_result_outcome outcome; /* likewise */
    uint64_t after_ms;              /* likewise */
    int64_t generation;             /* of the object when it last ran, or was parked */
    uint64_t revision;              /* of the object when it was parked */
    struct vd_uid uid;              /* likewise */
    bool is_parked;
    bool is_writing;  /* its result is being written, or it is being parked */
    bool is_recorded; /* the last checkpoint has it among the pending keys */
    bool is_dirty;    /* the next checkpoint looks at it */
    size_t namespace_len, len;
    char path[]; /* "namespace/name" */
};

struct vd_managed {
    struct vd_managed_options options;
    struct vd_managed_policy policy; /* without zeros that stand for defaults */
    struct vd_slice *resources;      /* its own and those that it watches */
    struct vd_informer informer;
    struct vd_informer_handler handler;
    struct vd_work_queue queue;
    struct vd_hash_map items; /* by path */
    VD_VEC(struct vd_managed_item *) dirty;
    uint64_t now_ms;                 /* in a turn: when it began */
    uint64_t passed;                 /* everything up to here was told to the queue */
    struct vd_run *runs, *runs_last; /* the oldest first */
    struct vd_run *free_runs;
    unsigned busy, slow; /* runs that hold a worker, and those that do not any more */
    size_t writing;
    size_t parked;
    struct vd_task turn;
    _Atomic bool turn_posted;
    struct vd_timer relist; /* set while the informer pauses after a list that failed */
    struct vd_timer alarm;  /* the next time at which something is due */
    struct vd_timer drained;
    uint64_t resync_due_ms;
    uint64_t catch_up_due_ms;
    uint64_t catch_up_to;      /* the revision that it reads on to; 0: it does not */
    struct vd_snapshot resync; /* the walk over all keys */
    bool is_resyncing;
    bool is_started, is_paused, is_stopping;
    bool in_turn; /* runs that end now are looked at by the turn itself */
    void (*stopped)(struct vd_managed *controller, void *arg);
    void *stopped_arg;
    uint64_t counts[VD_RESULT_OUTCOMES], conflicts, timeouts;
    uint64_t ended_ms;
};

uint64_t vd_managed_now_ms(const struct vd_managed *c);
void vd_managed_post(struct vd_managed *c);

/* The item of a key, made if there is none. */
struct vd_managed_item *vd_managed_item_get(struct vd_managed *c, struct vd_slice namespace,
                                            struct vd_slice name);
/* The item of a key, or NULL. */
struct vd_managed_item *vd_managed_item_find(struct vd_managed *c, struct vd_slice namespace,
                                             struct vd_slice name);
void vd_managed_item_free(struct vd_managed_item *item);
/* The next checkpoint looks at the item. */
void vd_managed_item_note(struct vd_managed *c, struct vd_managed_item *item);
/* A run of the item, and what followed from it, is over. The item may be gone afterwards. */
void vd_managed_item_finish(struct vd_managed *c, struct vd_managed_item *item);
/* It is not parked any more. */
void vd_managed_item_unpark(struct vd_managed *c, struct vd_managed_item *item);

/* Whether a parked item may run, for its object is another one than when it was parked. */
bool vd_managed_item_is_stale(const struct vd_managed_item *item, const struct vd_event *object,
                              int64_t generation);

/* metadata.generation; 0: there is none. */
int64_t vd_managed_generation(const struct vd_event *object);

#endif
