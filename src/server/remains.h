/*
 * What keeps a namespace that is being emptied: objects that wait for finalizers, counted by their
 * kind and by the finalizer, and told as the conditions of Kubernetes.
 */
#ifndef VD_SERVER_REMAINS_H
#define VD_SERVER_REMAINS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "json/document.h"

struct vd_remain {
    struct vd_slice name;
    size_t n;
};

struct vd_remain_list {
    VD_VEC(struct vd_remain);
};

/* `= {0}` is empty. */
struct vd_remains {
    struct vd_remain_list kinds;      /* by storage key */
    struct vd_remain_list finalizers; /* by name */
    struct vd_arena arena;            /* has the names */
};

void vd_remains_release(struct vd_remains *remains);

/* One object more. Of kinds and finalizers beyond a few dozen nothing is told. */
void vd_remains_count(struct vd_remains *remains, struct vd_slice storage_key,
                      const struct vd_json *object);

/* Puts the conditions into the namespace. Texts are copied. */
void vd_remains_tell(const struct vd_remains *remains, struct vd_arena *a, struct vd_json *space,
                     int64_t now_ms);

#endif
