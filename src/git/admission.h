/*
 * An admission: what changes on the branches of a repository becomes changes of objects, in one
 * batch together with the Repository's status, or nothing does.
 *
 *     struct vd_git_admission a = {.l = loop, .user = user, ..., .dry_run = true, .done = done};
 *     vd_git_admission_start(&a);
 *     ...  a.done(&a)                once: a.result, a.report
 *     vd_git_admission_release(&a);
 *
 * The way: a worker finds the kinds of the manifests and makes the plan (git/plan.h); objects in
 * the store that refer to what is deleted are looked for (git/referrers.h); the operations are
 * tried out or committed as one batch (api/batch.h). A dry run goes on behind mistakes, so that all
 * of them are found. The batch is committed only if no object of the kinds that were looked through
 * for referrers has changed since; else they are looked through again.
 *
 * Of an object that is there, Git replaces all but what is not its own: status, finalizers,
 * ownerReferences, and what the server sets. Annotations say where the object is from. An object
 * that differs in nothing but the commit stays as it is; of one that does,
 * status.lastAppliedRevision is set, where the kind has that.
 *
 * The writes are Git's, on behalf of the user. In the repository's own namespace the user needs no
 * further right; elsewhere, and for objects that it adopts, the right to do what is done to each
 * object. A manifest that changes nothing needs none.
 *
 * On the loop.
 */
#ifndef VD_GIT_ADMISSION_H
#define VD_GIT_ADMISSION_H

#include "api/batch.h"
#include "git/changes.h"
#include "git/manifest_kinds.h"
#include "git/plan.h"
#include "git/referrers.h"
#include "git/repository_status.h"
#include "git/stored_object.h"

struct vd_git_admission;

enum vd_git_admission_result {
    VD_GIT_ADMITTED, /* or could be, of a dry run */
    VD_GIT_REFUSED,  /* the report says why */
    VD_GIT_STALE,    /* the status records other commits than those that the branches had */
    VD_GIT_FAILED,   /* `error` says why */
};

/* A member of the batch. */
struct vd_git_write {
    struct vd_write write;
    struct vd_git_admission *admission;
    const struct vd_plan_operation *operation; /* NULL: the Repository's status */
    struct vd_slice commit;
    bool is_claimed;      /* `make` has found that the object is not the repository's */
    bool is_out_of_scope; /* `stamp` has found that it would change, outside the scope */
};

struct vd_git_admission {
    /* ---- the caller's; borrowed until `done` ---- */
    struct vd_api_loop *l;
    struct vd_user *user;
    struct vd_slice namespace, name, uid;      /* of the Repository */
    struct vd_changes *changes;                /* that are done */
    struct vd_manifest_kinds *kinds;           /* empty, or what an earlier admission has found */
    const struct vd_admitted_branch *branches; /* as in the changes */
    size_t branches_n;
    bool is_whole;         /* the changes have all files of all branches that are recorded */
    struct vd_slice reset; /* what status.lastReset becomes; empty: it stays */
    struct vd_git_report *report;
    bool dry_run;
    bool adopts; /* objects that belong to the API, if the user may update them */
    void (*done)(struct vd_git_admission *a);
    void *arg;
    /* ---- the outcome ---- */
    enum vd_git_admission_result result;
    struct vd_error error;
    struct vd_admitted_push push;
    uint64_t revision_first, revision_last; /* of the resources; 0: none has changed */
    /* ---- private ---- */
    struct vd_arena arena;
    struct vd_repository repository;
    struct vd_stored_objects stored;
    struct vd_plan plan;
    struct vd_pool_item planning;
    struct vd_referrers referrers;
    unsigned looks; /* for these */
    struct vd_git_write *writes;
    struct vd_write **members;
    size_t writes_n;
    struct vd_write_batch batch;
    bool has_batch;
    bool is_stale;
    struct vd_pool_item reporting;
    struct vd_slice mark; /* "namespace/name" */
};

void vd_git_admission_start(struct vd_git_admission *a);

/* When it is done. */
void vd_git_admission_release(struct vd_git_admission *a);

/* Adds "admitted 3 resources at resourceVersion 42..44". */
void vd_git_admission_write_text(struct vd_buf *out, const struct vd_git_admission *a);

#endif
