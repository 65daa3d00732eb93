/*
 * The plan of a push: which objects it creates, replaces and deletes, in which order, and what
 * forbids it.
 *
 * It is made of the manifests of the files that differ, as they were (old) and as they are to be
 * (new), and of what the store has of the objects that they name:
 *
 * - An object that a new manifest describes is created or replaced. It is moved if the store has it
 *   from another file or branch, and that file does not describe it any more.
 * - An object that only an old manifest describes is deleted, if the store has it from this branch.
 * - Two manifests for one object are refused, also if the file of one did not change: the object in
 *   the store says which file it comes from.
 * - Refused are also objects of another repository or branch (the first one keeps them), objects
 *   that belong to the API unless the push adopts them, objects that are being deleted, and the
 *   Repository itself.
 * - A repository may write its own namespace. Other namespaces, and kinds without a namespace, have
 *   to be named in the Repository's spec.scope; such operations are marked, since the pusher needs
 *   the right to them. An object that the same file describes before and after the push needs
 *   neither if it does not change, which only its write finds out: outside the scope its operation
 *   says why it must not.
 * - A new reference to an object that is being deleted is refused. A reference that blocks the
 *   deletion of what it refers to (kinds/references.h) is refused, too, if the push deletes that
 *   object, or if the object refers to itself.
 *
 * Order: an object comes before those that refer to it; of deletions, behind them. Deletions come
 * last. Objects that refer to each other in a circle stay in the order of their files.
 *
 * Pure, but for the function that looks into the store. One thread.
 */
#ifndef VD_GIT_PLAN_H
#define VD_GIT_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/hash_map.h"
#include "base/slice.h"
#include "base/vec.h"
#include "git/manifest.h"
#include "git/report.h"
#include "kinds/kind.h"

/* A manifest of a branch, completed (vd_git_manifest_complete). */
struct vd_plan_manifest {
    struct vd_git_manifest *manifest;
    const struct vd_kind *kind;
    struct vd_slice branch;
};

/* What names an object in every version of its kind. */
struct vd_plan_identity {
    struct vd_slice group, kind, namespace, name;
};

/* What the store has. Texts live as long as the plan. */
struct vd_plan_stored {
    bool exists;
    bool deleting;
    struct vd_slice finalizers; /* "a, b": that it waits for */
    struct vd_slice uid;
    struct vd_slice repository, branch, path; /* where it is from; empty: it is the API's */
};

enum vd_plan_action {
    VD_PLAN_CREATE,
    VD_PLAN_REPLACE,
    VD_PLAN_MOVE,  /* and replace */
    VD_PLAN_ADOPT, /* and replace what belongs to the API */
    VD_PLAN_DELETE,
};

struct vd_plan_operation {
    enum vd_plan_action action;
    const struct vd_plan_manifest *source; /* the new manifest; of a deletion, the old one */
    struct vd_slice uid;                   /* of a deletion: the object's */
    bool is_foreign; /* not in the repository's own namespace: the user's rights are asked */
    /* Of VD_PLAN_REPLACE: why the object must not change, and the field that is wrong. Empty: it
     * may. */
    struct vd_slice scope_text, scope_field;
};

struct vd_plan {
    /* ---- the caller's ---- */
    struct vd_slice namespace, name;      /* of the Repository */
    const struct vd_json *namespaces;     /* spec.scope.namespaces, or NULL */
    const struct vd_json *cluster_scoped; /* spec.scope.clusterScoped, or NULL */
    bool adopts; /* objects that belong to the API; whoever pushes needs the right */
    void (*find)(struct vd_plan *plan, const struct vd_plan_identity *identity,
                 struct vd_plan_stored *out);
    void *arg;
    /* ---- the outcome ---- */
    VD_VEC(struct vd_plan_operation) operations;
    /* ---- private ---- */
    struct vd_arena arena;
    struct vd_hash_map objects; /* by identity */
    struct vd_slice repository; /* "namespace/name" */
    struct vd_git_report *report;
};

/* Makes the plan. What is wrong goes to the report; operations with which something is wrong are
 * left out. The manifests are borrowed for as long as the plan is used; those of `new_list` are in
 * the order of their files. True if nothing was wrong. */
bool vd_plan_make(struct vd_plan *plan, const struct vd_plan_manifest *old_list, size_t old_n,
                  const struct vd_plan_manifest *new_list, size_t new_n,
                  struct vd_git_report *report);

/* Whether the plan deletes the object; it may be NULL where the file is not wanted. */
bool vd_plan_deletes(const struct vd_plan *plan, const struct vd_plan_identity *identity,
                     const struct vd_plan_manifest **source);

/* Whether the plan writes or deletes it. */
bool vd_plan_has(const struct vd_plan *plan, const struct vd_plan_identity *identity);

/* How many operations do this. */
size_t vd_plan_count(const struct vd_plan *plan, enum vd_plan_action action);

/* Refuses the deletion of an object to which one refers that stays: `referrer` is "Kind name". */
void vd_plan_refuse_deletion(struct vd_plan *plan, const struct vd_plan_manifest *source,
                             struct vd_slice referrer, struct vd_git_report *report);

void vd_plan_release(struct vd_plan *plan);

#endif
