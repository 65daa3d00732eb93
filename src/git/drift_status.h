/*
 * What the status of a Repository says of its objects that are overridden: `drift`, and the
 * condition Drifted. On the controller's loop.
 */
#ifndef VD_GIT_DRIFT_STATUS_H
#define VD_GIT_DRIFT_STATUS_H

#include "base/vec.h"
#include "git/repository_items.h"

struct vd_overridden {
    char *key; /* "resource/namespace/name" */
    size_t key_len;
    struct vd_slice resource, path; /* in the key; the path is "namespace/name" */
    char *repository;               /* "namespace/name" */
    char *user;                     /* who has done it; NULL: nobody knows */
    int64_t time_ms;
    uint64_t list; /* the last list of the informer that it was seen in, or behind */
};

static inline struct vd_slice vd_overridden_key(const struct vd_overridden *o)
{
    return vd_slice(o->key, o->key_len);
}

struct vd_overridden_list {
    VD_VEC(struct vd_overridden *);
};

/* Writes the status for this item, if it is not so already; sorts the list. */
void vd_drift_write_status(struct vd_controller *controller, struct vd_repository_item *item,
                           const struct vd_event *event, const struct vd_json *object,
                           struct vd_overridden_list *list);

#endif
