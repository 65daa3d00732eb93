/*
 * Which objects Git owns, and what others may still do with them.
 *
 * Git owns the objects of a kind that says so (vedette.dev/spec-owner: git), and any
 * object with the annotation vedette.dev/git-repository, which the Git pipeline puts on
 * what a repository has brought, with vedette.dev/git-branch, vedette.dev/git-path and
 * vedette.dev/git-commit. Of such an object others may write its status, its finalizers and its
 * ownerReferences, and nothing else: they neither create nor delete it, nor put the
 * mark on an object or take it off.
 *
 * The exception is an override. The object that is written asks for it, by the annotation
 * vedette.dev/override with a reason; a deletion is asked for by the annotation of the object that
 * is stored. Whether the user has the right to override is not known here: admission.h is told.
 * Even an override leaves the mark alone. Its annotation stays on the object, where it shows that
 * the object is not what Git has, until the Git pipeline writes the object again.
 *
 * Objects are judged by their bytes, never by documents that somebody may have changed
 * on the way. Pure functions; any thread.
 */
#ifndef VD_KINDS_GIT_OWNERSHIP_H
#define VD_KINDS_GIT_OWNERSHIP_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/slice.h"
#include "kinds/kind.h"

#define VD_GIT_REPOSITORY "vedette.dev/git-repository" /* "namespace/repository" */
#define VD_GIT_BRANCH     "vedette.dev/git-branch"     /* of the repository */
#define VD_GIT_PATH       "vedette.dev/git-path"       /* of the file in it */
#define VD_GIT_COMMIT     "vedette.dev/git-commit"     /* that brought this spec */
#define VD_GIT_OVERRIDE   "vedette.dev/override" /* the reason why another than Git wrote it */

/* Who has done that: an annotation of the Event that records it. */
#define VD_GIT_OVERRIDE_USER "vedette.dev/override-user"

/* Which object a change is refused for, and what it belongs to. In the arena. */
struct vd_git_claim {
    size_t at;                  /* the wish of the proposal that would change it */
    struct vd_slice name;       /* of the object */
    struct vd_slice repository; /* these are empty when the object has no mark: */
    struct vd_slice branch;     /* it is of a kind that Git owns */
    struct vd_slice path;
    struct vd_slice commit;
    struct vd_slice override; /* the reason why it should be changed all the same; empty: none */
    bool moves_mark;          /* the change is one of the mark, which no override makes */
    /* What is added for people by api/git_claim.h: */
    bool may_override;            /* the user has the right to override */
    bool is_one_of_many;          /* of several objects, of which none is overridden */
    bool may_list;                /* the user may know the repositories of the namespace: */
    struct vd_slice repositories; /* "catalog, shop"; empty: there is none */
};

/* Whether the change that is refused is one that an override makes. */
static inline bool vd_git_claim_asks_override(const struct vd_git_claim *claim)
{
    return claim->override.n && !claim->moves_mark;
}

/* Whether Git owns the object with these bytes. */
bool vd_git_owns(const struct vd_kind *kind, struct vd_slice body);

/* The repository, "namespace/name", that has brought the object with these bytes, which it lies in.
 * False: none has. */
bool vd_git_find_owner(struct vd_slice body, struct vd_slice *repository) VD_MUST_USE;

/* Whether somebody else than Git may make `after` of `before`, the bytes of an object of the kind.
 * No bytes: there is no such object. False: *claim says what belongs to Git, but for its name and
 * which wish it is. */
bool vd_git_allows(const struct vd_kind *kind, struct vd_slice before, struct vd_slice after,
                   struct vd_arena *arena, struct vd_git_claim *claim) VD_MUST_USE;

#endif
