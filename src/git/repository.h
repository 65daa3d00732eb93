/*
 * A Repository, as its object says it: what was asked for (spec) and what is recorded (status).
 *
 * Slices and documents are borrowed from the object that it was read from. What the object leaves
 * out has the default that its schema would have filled in. Pure functions; any thread.
 */
#ifndef VD_GIT_REPOSITORY_H
#define VD_GIT_REPOSITORY_H

#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "kinds/uid.h"
#include "json/document.h"

#define VD_GIT_GROUP            "git.vedette.dev"
#define VD_REPOSITORY_RESOURCE  "repositories.git.vedette.dev" /* as the store has it */
#define VD_REPOSITORY_FINALIZER "git.vedette.dev/repository"

/* Who may read it without a right of his own. */
enum vd_visibility {
    VD_VISIBILITY_PRIVATE,  /* nobody */
    VD_VISIBILITY_INTERNAL, /* whoever is known */
    VD_VISIBILITY_PUBLIC,   /* anybody */
};

struct vd_repository {
    struct vd_slice namespace, name;
    char uid[VD_UID_TEXT_MAX];
    int64_t generation;
    bool is_deleting;
    /* ---- spec ---- */
    struct vd_slice default_branch;
    const struct vd_json *branches; /* patterns of those that are admitted; NULL: the default one */
    enum vd_visibility visibility;
    uint64_t pack_len_max, file_len_max, files_max; /* of a push */
    const struct vd_json *namespaces;               /* others that it may write; NULL: none */
    const struct vd_json *cluster_scoped; /* resources without a namespace that it may write */
    bool cascades;                        /* deleting it deletes its objects */
    bool
        cascades_elsewhere; /* those outside its namespace, too: who has deleted it had the right */
    const struct vd_json *remote; /* that it follows; NULL: it is hosted here */
    /* ---- status ---- */
    const struct vd_json *recorded; /* branches[]: {name, commit}; NULL: none */
    uint64_t resources;             /* that it owns */
};

/* VD_ERR_INVALID: the object is no Repository that can be served, with the reason. */
int vd_repository_read(struct vd_repository *out, const struct vd_json *object,
                       struct vd_error *error) VD_MUST_USE;

/* The commit that the status records for a branch; false: it records none. One that is empty means
 * that the branch was deleted. */
bool vd_repository_commit(const struct vd_repository *repository, struct vd_slice branch,
                          struct vd_slice *commit);

/* Whether the text can be the name of a branch, by the rules of `git check-ref-format`. */
bool vd_branch_name_is_valid(struct vd_slice name);

/* Whether repositories in this namespace cannot be served, as their paths are somebody else's. */
bool vd_repository_namespace_is_reserved(struct vd_slice namespace);

#endif
