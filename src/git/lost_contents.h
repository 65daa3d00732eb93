/*
 * A repository whose folder has lost the commits that the store records: somebody has removed it,
 * or only the store came back from a backup. Its objects are all there, as they are the store's.
 *
 * Whoever has a clone mends it: a push of the recorded commit to a branch that the repository has
 * not got changes no object, and brings the history back.
 */
#ifndef VD_GIT_LOST_CONTENTS_H
#define VD_GIT_LOST_CONTENTS_H

#include "base/buf.h"
#include "git/ref_command.h"
#include "git/repository.h"

/* Whether that is why refs could not be set to what is recorded. */
bool vd_contents_are_lost(const struct vd_error *error);

/* Adds what people are told: which commits are to be pushed. */
void vd_contents_lost_write(struct vd_buf *out, const struct vd_repository *repository);

/* Whether a push of a branch mends it, whose recorded commit this is. */
static inline bool vd_contents_are_mended(const struct vd_ref_command *c, struct vd_slice recorded)
{
    return vd_object_id_is_none(c->before) && vd_slice_eq(c->after, recorded);
}

#endif
