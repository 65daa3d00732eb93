/*
 * metadata of a list, as of any list document: what to watch from and how to go on.
 */
#ifndef VD_KUBE_LIST_META_H
#define VD_KUBE_LIST_META_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

/* Empty texts are left out. */
struct vd_list_meta {
    struct vd_slice resource_version;
    struct vd_slice continue_token;
    bool has_remaining; /* remainingItemCount is known; only with a continue token */
    uint64_t remaining;
};

/* Adds {"resourceVersion":"418","continue":"...","remainingItemCount":7}. */
void vd_list_meta_write(struct vd_buf *out, const struct vd_list_meta *meta);

#endif
