/*
 * The paths of a kind as OpenAPI documents publish them: what can be asked, with
 * which parameters, and what is answered. In the form of version 3.
 */
#ifndef VD_KUBE_OPENAPI_PATHS_H
#define VD_KUBE_OPENAPI_PATHS_H

#include "base/arena.h"
#include "kinds/kind.h"
#include "kinds/kinds.h"
#include "json/document.h"

/* Adds the paths of a kind and its subresources. Values are made in the arena
 * and share texts with the set. */
void vd_openapi_add_paths(struct vd_arena *a, struct vd_json *paths, const struct vd_kind_set *set,
                          const struct vd_kind *kind);

#endif
