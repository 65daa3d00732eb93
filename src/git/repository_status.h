/*
 * What an admission writes into the status of its Repository. Pure; any thread.
 */
#ifndef VD_GIT_REPOSITORY_STATUS_H
#define VD_GIT_REPOSITORY_STATUS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/slice.h"
#include "json/document.h"

/* A branch whose commit is admitted. */
struct vd_admitted_branch {
    struct vd_slice name;
    struct vd_slice before; /* the commit that the status recorded; empty: none */
    struct vd_slice after;  /* the one that it records now; empty: the branch is deleted */
};

struct vd_admitted_push {
    const struct vd_admitted_branch *branches;
    size_t branches_n;
    struct vd_slice user;
    int64_t wall_ms;
    size_t created, updated, deleted, unchanged;
    size_t adopted;        /* of those that are updated: the repository owns them now */
    bool is_whole;         /* `resources` is how many objects the repository has, and not how ... */
    size_t resources;      /* ... many more or fewer these are than before */
    struct vd_slice reset; /* what lastReset becomes; empty: it stays */
};

/* Whether the status of the Repository records the commits that the branches had before. */
bool vd_repository_status_is_as_before(const struct vd_json *repository,
                                       const struct vd_admitted_push *push);

/* Records the push in the Repository: branches, lastAdmission, resources; lastError goes. */
void vd_repository_status_admit(struct vd_arena *arena, struct vd_json *repository,
                                const struct vd_admitted_push *push);

/* What is known only when the push is over: the revisions of its events, none if they are 0, and
 * that the refs of deleted branches are gone, so that the branches need not be recorded. */
void vd_repository_status_settle(struct vd_arena *arena, struct vd_json *repository,
                                 uint64_t revision_first, uint64_t revision_last);

#endif
