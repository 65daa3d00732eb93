/*
 * Admission: where proposals enter the store, and who may change what there.
 *
 * Every face proposes through here, so the rule about the ownership of spec stands
 * in one place: what Git owns, only the Git pipeline changes.
 *
 * Git owns the objects of a kind that says so (vedette.dev/spec-owner: git), and any
 * object with the annotation vedette.dev/git-repository, which the pipeline puts on
 * what a repository has brought, with vedette.dev/git-path and vedette.dev/git-commit.
 * Of such an object others may write its status, its finalizers and its
 * ownerReferences, and nothing else: they neither create nor delete it, nor put the
 * mark on an object or take it off.
 *
 * A wish is judged by its bytes and those that are stored, never by documents that
 * somebody may have changed on the way. It must say which version it replaces
 * (VD_WHEN_REVISION) or that there is none (VD_WHEN_ABSENT): then what was judged is
 * what is committed, or nothing is.
 */
#ifndef VD_KINDS_ADMISSION_H
#define VD_KINDS_ADMISSION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "kinds/kind.h"
#include "store/store.h"

#define VD_GIT_REPOSITORY "vedette.dev/git-repository" /* "namespace/repository" */
#define VD_GIT_PATH       "vedette.dev/git-path"       /* of the file in it */
#define VD_GIT_COMMIT     "vedette.dev/git-commit"     /* that brought this spec */

/* On whose behalf something is proposed. */
enum vd_author {
    VD_AUTHOR_API,    /* a user of any face */
    VD_AUTHOR_GIT,    /* the Git pipeline */
    VD_AUTHOR_SERVER, /* the server's own housekeeping, as of namespaces and garbage */
};

struct vd_admission {
    struct vd_store *store;
    const struct vd_kind *kind; /* of all that is changed; NULL: only for VD_AUTHOR_SERVER */
    enum vd_author author;
    bool dry_run;                  /* judge only */
    const struct vd_event *before; /* a version that is replaced, if it was read; else NULL */
};

/* Why not: what belongs to Git, and to what there. In the arena. */
struct vd_git_claim {
    struct vd_slice name;       /* of the object */
    struct vd_slice repository; /* these are empty when the object has no mark: */
    struct vd_slice path;       /* it is of a kind that Git owns */
    struct vd_slice commit;
};

/* Whether Git owns the object with these bytes. */
bool vd_git_owns(const struct vd_kind *kind, struct vd_slice body);

/* Proposes, if the author may do all of it; the answer comes through the proposal's
 * `done`. False: nothing was proposed, `done` is not called, and *claim says why. */
bool vd_admission_propose(const struct vd_admission *admission, struct vd_proposal *proposal,
                          struct vd_arena *arena, struct vd_git_claim *claim) VD_MUST_USE;

#endif
