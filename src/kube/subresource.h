/*
 * The subresources of a kind: /status, /scale and what built-in kinds add.
 *
 * One list for all who must agree on it: discovery, OpenAPI and the router.
 * Pure functions of an immutable set; any thread.
 */
#ifndef VD_KUBE_SUBRESOURCE_H
#define VD_KUBE_SUBRESOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "kinds/kind.h"
#include "kinds/kinds.h"

enum { VD_SUBRESOURCES_MAX = 8 }; /* subresources of one kind */

/* Borrowed from the set. */
struct vd_subresource {
    struct vd_slice name; /* "status" */
    /* What is sent and answered; `group` is empty for the core group. */
    struct vd_slice group, version, kind;
    const struct vd_kind *body; /* the same as a kind; NULL for a Scale */
    uint32_t verbs;             /* set of enum vd_verb */
};

/* Fills `out`, ordered by name, and gives their number. */
size_t vd_subresources(const struct vd_kind_set *set, const struct vd_kind *kind,
                       struct vd_subresource out[VD_SUBRESOURCES_MAX]);

/* Whether the kind is a resource that clients find under its own plural: it is
 * served, and not only the body of another one's subresource. */
static inline bool vd_kind_is_listed(const struct vd_kind *kind)
{
    return kind->served && !kind->subresource.n;
}

#endif
