/*
 * A sync: commits become objects without a push (git/branch_admission.h), because the repository
 * follows a remote, or because somebody wants all objects to be written again.
 *
 *     struct vd_sync s = {.all = all, .uid = uid, ..., .done = done};
 *     vd_sync_start(&s);
 *     ...  s.done(&s)        once: s.result, and vd_sync_write_text() for people
 *     vd_sync_release(&s);
 *
 * With a branch and a commit, the branch gets this commit, which is in the bare repository already.
 * All other branches that the status records are removed; an object of theirs that the commit
 * describes, too, stays and moves to the branch. Without a branch and a commit, every branch that
 * the status records is written whole, as it is recorded: objects that somebody has overridden or
 * deleted become what Git has.
 *
 * All on loop 0.
 */
#ifndef VD_GIT_SYNC_H
#define VD_GIT_SYNC_H

#include "git/branch_admission.h"
#include "git/repository.h"

struct vd_sync {
    /* ---- the caller's; borrowed until `done` ---- */
    struct vd_admissions *all;
    struct vd_slice namespace, name, uid; /* of the Repository */
    struct vd_user *user;
    struct vd_slice branch, commit; /* empty: all recorded branches, whole */
    struct vd_slice reset;          /* what status.lastReset becomes; empty: it stays */
    void (*done)(struct vd_sync *s);
    /* ---- the outcome ---- */
    enum vd_branch_result result;
    struct vd_error error;
    /* ---- private ---- */
    struct vd_arena arena;
    struct vd_folder_use use;
    struct vd_branch_admission admission;
    bool is_validated;
    struct vd_ref_command *commands;
    size_t commands_n;
};

/* `done` may be called from inside. */
void vd_sync_start(struct vd_sync *s);

/* Gives it up, unless its batch is under way; `done` comes. */
void vd_sync_stop(struct vd_sync *s);

/* After `done`. The texts of the caller stay. */
void vd_sync_release(struct vd_sync *s);

/* Adds what a person is told: what was admitted, or why nothing was. Before the release. */
void vd_sync_write_text(struct vd_buf *out, struct vd_sync *s);

/* Whether it was refused because the user lacks a right. Before the release. */
bool vd_sync_is_forbidden(struct vd_sync *s);

#endif
