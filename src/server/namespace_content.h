/*
 * What is still in a namespace that is being emptied, and keeps it: objects that wait for
 * finalizers, counted by their kind and by the finalizer, and written as the conditions of
 * Kubernetes.
 */
#ifndef VD_SERVER_NAMESPACE_CONTENT_H
#define VD_SERVER_NAMESPACE_CONTENT_H

#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "json/document.h"

struct vd_content_count {
    struct vd_slice name;
    size_t n;
};

struct vd_content_count_list {
    VD_VEC(struct vd_content_count);
};

/* `= {0}` is empty. */
struct vd_namespace_content {
    struct vd_content_count_list kinds;      /* by resource */
    struct vd_content_count_list finalizers; /* by name */
    struct vd_arena arena;                   /* has the names */
};

void vd_namespace_content_release(struct vd_namespace_content *content);

/* One object more. Of kinds and finalizers beyond a few dozen nothing is told. */
void vd_namespace_content_count(struct vd_namespace_content *content, struct vd_slice resource,
                                const struct vd_json *object);

/* Puts the conditions into the namespace. Texts are copied. */
void vd_namespace_content_write(const struct vd_namespace_content *content, struct vd_arena *a,
                                struct vd_json *namespace, int64_t now_ms);

#endif
