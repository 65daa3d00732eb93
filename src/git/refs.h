/*
 * Moving refs, all or none: one transaction of `git update-ref`.
 *
 *     vd_refs_prepare(r, loop, &place, commands, n, &error);
 *     ...  r->prepared(r)            the refs are locked, and are what the commands say
 *     vd_refs_commit(r);             or vd_refs_abort(r)
 *     ...  r->ended(r, NULL)         once, and last: they are moved; an error: they are not
 *
 * Between the two, nobody else can move them, and nothing but the disk's failing keeps them from
 * being moved. A server that dies in between leaves locks behind, which bare_repository.h removes.
 * On the loop.
 */
#ifndef VD_GIT_REFS_H
#define VD_GIT_REFS_H

#include "git/git_process.h"
#include "git/ref_command.h"

struct vd_refs {
    void (*prepared)(struct vd_refs *r);
    void (*ended)(struct vd_refs *r, const struct vd_error *error);
    /* Private: */
    struct vd_git_process git;
    struct vd_buf said;
    bool is_prepared, is_aborted;
};

/* The caller has set `prepared` and `ended`. On failure neither is called. */
int vd_refs_prepare(struct vd_refs *r, struct vd_loop *loop, const struct vd_git_place *place,
                    const struct vd_ref_command *commands, size_t n,
                    struct vd_error *error) VD_MUST_USE;

void vd_refs_commit(struct vd_refs *r);

/* The refs stay as they are; `ended` comes with VD_ERR_CLOSED. */
void vd_refs_abort(struct vd_refs *r);

#endif
