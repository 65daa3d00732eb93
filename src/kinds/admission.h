/*
 * Admission: where it is decided who may change what, for every face.
 *
 *     struct vd_admitted *admitted = vd_admission_admit(&admission, &proposal, &arena, &claim);
 *     if (admitted)
 *         vd_store_propose(store, admitted);
 *
 * A store takes admitted proposals only, and this is the one place that makes them, so that the
 * rule about the ownership of spec (git_ownership.h) holds whatever face a change comes from: what
 * Git owns, only the Git pipeline changes.
 *
 * A wish must say which version it replaces (VD_WHEN_REVISION) or that there is none
 * (VD_WHEN_ABSENT): then what was judged is what is committed, or nothing is. The wishes and their
 * bytes stay as they are from the admission on.
 */
#ifndef VD_KINDS_ADMISSION_H
#define VD_KINDS_ADMISSION_H

#include "base/arena.h"
#include "base/attributes.h"
#include "kinds/git_ownership.h"
#include "kinds/kind.h"
#include "store/store.h"

/* On whose behalf something is proposed. */
enum vd_author {
    VD_AUTHOR_API,    /* a user of any face */
    VD_AUTHOR_GIT,    /* the Git pipeline */
    VD_AUTHOR_SERVER, /* the server's own housekeeping, as of namespaces and garbage */
};

/* What is known of the object that a wish changes. Borrowed for the call. */
struct vd_wish_subject {
    const struct vd_kind *kind;    /* NULL: only for VD_AUTHOR_SERVER and conditions (VD_CHECK) */
    const struct vd_event *before; /* the version that is replaced, if it was read; else NULL */
};

struct vd_admission {
    struct vd_store *store;
    enum vd_author author;
    const struct vd_wish_subject *subjects; /* one for each wish, for a batch over several kinds;
                                               NULL: `subject` is that of every wish */
    struct vd_wish_subject subject;
    bool overrides; /* the author has the right to override: what an object asks for is done */
};

/* The proposal as an admitted one, in the same memory, if the author may do all of it. NULL: it may
 * not, and *claim (in the arena) says why; if vd_git_claim_asks_override(), an author who has the
 * right to override may ask again. Authors other than VD_AUTHOR_API are never refused, and
 * for them arena and claim may be NULL. A dry run is an admitted proposal that is not proposed. */
struct vd_admitted *vd_admission_admit(const struct vd_admission *admission,
                                       struct vd_proposal *proposal, struct vd_arena *arena,
                                       struct vd_git_claim *claim) VD_MUST_USE;

#endif
