/*
 * Upkeep of the repositories: every push and every fetch leaves a pack, and forced pushes leave
 * objects that nothing leads to. `git gc` makes one pack of all that is reachable, and removes what
 * is not and is older than VD_GIT_UPKEEP_GRACE_S.
 *
 * Whoever has changed a repository says so (vd_upkeep_look). A worker then looks at its folder
 * (git/upkeep_measure.h), and if it is time, git runs: for one repository at a time, at the lowest
 * priority, with a limit of time. Pushes and clones go on meanwhile: git makes the new pack before
 * it removes the old ones, and what a push has in quarantine, or has just brought, is younger than
 * the grace period. Only refs are packed in repositories that nobody pushes to at that moment, as
 * git locks them for it.
 *
 * Who wants the folder for itself, to clean or to remove it, has git end first
 * (vd_upkeep_give_way). A git that has outlived a server that was killed is ended by the next one
 * (git/leftovers.h), and the upkeep is done again.
 *
 * All on loop 0.
 */
#ifndef VD_GIT_UPKEEP_H
#define VD_GIT_UPKEEP_H

#include "base/attributes.h"
#include "base/slice.h"
#include "git/folder_use.h"
#include "git/program.h"
#include "net/loop.h"

struct vd_upkeep;

/* All borrowed. */
struct vd_upkeep_options {
    struct vd_loop *loop;
    const struct vd_git_program *program;
    const char *root;            /* the folder of the repositories */
    struct vd_folder_uses *uses; /* of fetches and syncs; an upkeep is one, too */
    /* Whether somebody pushes to the repository with this uid. */
    bool (*is_pushed)(void *arg, struct vd_slice uid);
    void *arg;
};

/* Before the loop runs. */
struct vd_upkeep *vd_upkeep_new(const struct vd_upkeep_options *options) VD_MUST_USE;

/* Before the loop stops: what runs is ended. NULL allowed, here and below. */
void vd_upkeep_stop(struct vd_upkeep *upkeep);

/* When the loop has stopped. */
void vd_upkeep_free(struct vd_upkeep *upkeep);

/* The repository with this uid has changed, or is there. */
void vd_upkeep_look(struct vd_upkeep *upkeep, struct vd_slice uid);

/* Somebody needs the folder for itself: if git works there, it is told to end, and leaves it alone
 * for a while. */
void vd_upkeep_give_way(struct vd_upkeep *upkeep, struct vd_slice uid);

#endif
