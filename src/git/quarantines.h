/*
 * The quarantines of pushes that were killed: what such a push has sent stays in the folder
 * `objects/tmp_objdir-incoming-*` of the repository, since git had no time to remove it. It is
 * removed here, a moment later, so that clients cannot fill the disk.
 *
 * Nothing says which of these folders belongs to which push. But nothing is written any more into
 * those of a push that is dead: so all that nobody has written to since the push was killed are
 * removed, as soon as no push of the same repository is under way that was begun before.
 *
 * A part of struct vd_pushes; all on loop 0, but for vd_quarantines_abandon().
 */
#ifndef VD_GIT_QUARANTINES_H
#define VD_GIT_QUARANTINES_H

#include "base/slice.h"
#include "net/loop.h"

struct vd_pushes;
struct vd_abandoned_push;

struct vd_quarantines {
    struct vd_pushes *pushes; /* set by whoever has it */
    /* Private: */
    struct vd_abandoned_push *first;
    struct vd_abandoned_push *cleaned; /* whose folder a worker is in; NULL: none */
    struct vd_timer timer;
    struct vd_work work;
};

/* The processes of a push to the repository with this uid were killed just now. Any loop. */
void vd_quarantines_abandon(struct vd_quarantines *q, struct vd_slice uid);

/* Before the loop stops; what is left is removed at the next start. */
void vd_quarantines_stop(struct vd_quarantines *q);

/* When the loop has stopped. */
void vd_quarantines_release(struct vd_quarantines *q);

#endif
