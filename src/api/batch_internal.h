/* What a write tells the batch that it is a member of, and asks it. */
#ifndef VD_API_BATCH_INTERNAL_H
#define VD_API_BATCH_INTERNAL_H

#include "api/batch.h"

/* What the batch does with a namespace. */
enum vd_batch_namespace {
    VD_BATCH_NAMESPACE_KEPT, /* nothing, or another member changes it */
    VD_BATCH_NAMESPACE_CREATED,
    VD_BATCH_NAMESPACE_DELETED,
};

enum vd_batch_namespace vd_write_batch_namespace(const struct vd_write_batch *b,
                                                 struct vd_slice name);

/* On the loop: nothing is wrong with the member, which could be proposed. */
void vd_write_batch_take(struct vd_write_batch *b, struct vd_write *w);

/* On the loop: the member is over, refused or cancelled. */
void vd_write_batch_settled(struct vd_write_batch *b, struct vd_write *w);

#endif
