/*
 * Who works in the folder of a repository for the server itself, and for how long: such a folder
 * must not be cleaned or removed. All on loop 0.
 */
#ifndef VD_GIT_FOLDER_USE_H
#define VD_GIT_FOLDER_USE_H

#include <stdbool.h>

#include "base/slice.h"

/* Embedded in whoever does; `= {0}` is at rest. */
struct vd_folder_use {
    struct vd_slice uid; /* of the Repository; borrowed while it lasts */
    /* Private: */
    struct vd_folder_uses *uses;
    struct vd_folder_use *prev, *next;
};

struct vd_folder_uses {
    struct vd_folder_use *first;
};

static inline void vd_folder_use_begin(struct vd_folder_use *use, struct vd_folder_uses *uses,
                                       struct vd_slice uid)
{
    *use = (struct vd_folder_use){.uid = uid, .uses = uses, .next = uses->first};
    if (use->next)
        use->next->prev = use;
    uses->first = use;
}

/* At rest it does nothing. */
static inline void vd_folder_use_end(struct vd_folder_use *use)
{
    if (!use->uses)
        return;
    *(use->prev ? &use->prev->next : &use->uses->first) = use->next;
    if (use->next)
        use->next->prev = use->prev;
    *use = (struct vd_folder_use){0};
}

static inline bool vd_folder_is_used(const struct vd_folder_uses *uses, struct vd_slice uid)
{
    for (const struct vd_folder_use *u = uses->first; u; u = u->next)
        if (vd_slice_eq(u->uid, uid))
            return true;
    return false;
}

#endif
