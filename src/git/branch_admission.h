/*
 * New commits of admitted branches become objects: what a push and a sync (git/sync.h) have in
 * common. There are two steps, which may be far apart:
 *
 *     vd_branch_admission_validate(b, &place, done);
 *         The files that differ are read, parsed, planned and tried out as one batch
 *         (git/changes.h, git/admission.h). b->changes.report names everything that is wrong.
 *         Nothing is changed.
 *     vd_branch_admission_admit(b, commands, n, done);
 *         One admission of a repository at a time: the refs are locked and compared, the batch is
 *         committed, the refs are moved, and the status is told the revisions.
 *     vd_branch_admission_release(b);
 *
 * The batch is what makes it happen, as it has the Repository's status.branches in it. Up to it,
 * whatever goes wrong leaves all as it was; from then on nothing is given up.
 *
 * All on loop 0.
 */
#ifndef VD_GIT_BRANCH_ADMISSION_H
#define VD_GIT_BRANCH_ADMISSION_H

#include "git/admission.h"
#include "git/changes.h"
#include "git/folder_use.h"
#include "git/ref_command.h"
#include "git/refs.h"

struct vd_branch_admission;
struct vd_upkeep;

/* What all admissions of the server share. */
struct vd_admissions {
    struct vd_api_loop *l;                /* of loop 0 */
    const struct vd_git_program *program; /* borrowed */
    const char *root;                     /* the folder of the repositories; borrowed */
    /* On loop 0: git could not move the refs of this Repository, and may have left locks behind; or
     * its status was written, and its refs are behind. May be NULL. */
    void (*refs_behind)(void *arg, struct vd_slice namespace, struct vd_slice name);
    void *arg;
    struct vd_folder_uses uses; /* by those that are no pushes */
    struct vd_upkeep *upkeep;   /* of the repositories; or NULL */
    /* Private: */
    uint64_t reserved;                        /* bytes of manifests that are held */
    struct vd_branch_admission *first, *last; /* that are admitted, or wait for their turn */
};

enum vd_branch_result {
    VD_BRANCH_GOOD,    /* it can be admitted; or it is admitted, and the refs are moved */
    VD_BRANCH_BEHIND,  /* it is admitted, but git could not move the refs: `error` */
    VD_BRANCH_REFUSED, /* the report says why */
    VD_BRANCH_STALE,   /* the branches have other commits than those that it began with */
    VD_BRANCH_LOCKED,  /* git cannot move the refs: `error`; nothing has changed */
    VD_BRANCH_FAILED,  /* `error` says why; nothing has changed */
};

struct vd_branch_admission {
    /* ---- the caller's; borrowed until it is released ---- */
    struct vd_admissions *all;
    struct vd_slice namespace, name, uid; /* of the Repository */
    const char *folder;                   /* of its bare repository */
    struct vd_user *user;
    struct vd_branch_change *changed;    /* the admitted branches ... */
    struct vd_admitted_branch *branches; /* ... and the same for the status */
    size_t branches_n;
    uint64_t file_len_max;
    size_t files_max;
    bool is_whole;         /* all files of the new commits are read, not only those that differ */
    struct vd_slice reset; /* what status.lastReset becomes; empty: it stays */
    bool adopts;           /* objects that belong to the API, if the user may update them */
    bool is_cancelled;     /* nobody wants it any more: it ends before its batch, as FAILED */
    /* ---- the outcome of either step ---- */
    enum vd_branch_result result;
    struct vd_error error;
    struct vd_changes changes;        /* with the report of the validation */
    struct vd_git_report report;      /* of the admission */
    bool is_admitted;                 /* GOOD or BEHIND, and objects were looked at: */
    struct vd_buf text;               /* "admitted 3 resources at resourceVersion 42..44" */
    struct vd_admitted_push admitted; /* what was done */
    /* ---- private ---- */
    struct vd_git_admission admission;
    bool has_admission;
    void (*done)(struct vd_branch_admission *b);
    struct vd_manifest_kinds kinds;
    bool has_changes;
    uint64_t reserved;
    const struct vd_ref_command *commands;
    size_t commands_n;
    bool is_waiting, is_admitting, is_in_batch;
    struct vd_branch_admission *prev, *next; /* of those that are admitted or wait */
    struct vd_refs transaction;
    struct vd_write settling;
    struct vd_arena settling_arena;
    uint64_t started_ns; /* of the step */
};

/* Without branches it is good at once; `done` may be called from inside. */
void vd_branch_admission_validate(struct vd_branch_admission *b, const struct vd_git_place *place,
                                  void (*done)(struct vd_branch_admission *b));

/* Gives the validation up, if it is under way: `done` comes with FAILED. */
void vd_branch_admission_stop(struct vd_branch_admission *b);

/* Moves the refs, too, which need not all be of admitted branches. The commands are borrowed until
 * `done`, which is called from inside if git cannot be started. */
void vd_branch_admission_admit(struct vd_branch_admission *b, const struct vd_ref_command *commands,
                               size_t n, void (*done)(struct vd_branch_admission *b));

/* When nothing is under way. Zeroed and never begun, it does nothing. */
void vd_branch_admission_release(struct vd_branch_admission *b);

/* ---- for the two steps ---- */

/* Makes the admission of the changes that were read: tries it out, with what is wrong in their own
 * report, or commits it. */
void vd_branch_admission_start_batch(struct vd_branch_admission *b, bool dry_run,
                                     void (*done)(struct vd_git_admission *a));

/* Observes how long the step took that has just ended: "validation" or "admission". */
void vd_branch_admission_observe(const struct vd_branch_admission *b, const char *step);

#endif
