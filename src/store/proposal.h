/*
 * A proposal: changes that somebody wants to make, all or none.
 *
 * A proposal's changes are judged together by the writer, one proposal
 * after the other, each against the state that the ones before it leave. If any
 * precondition fails, none of the changes happens. Accepted changes get growing
 * revisions with no other change between them, and become visible together.
 */
#ifndef VD_STORE_PROPOSAL_H
#define VD_STORE_PROPOSAL_H

#include "base/error.h"
#include "store/body.h"
#include "store/key.h"

enum vd_action {
    VD_PUT,    /* create or replace */
    VD_DELETE, /* the object must exist */
    VD_CHECK,  /* nothing changes; the proposal fails unless the condition holds */
};

/* What must hold for a change to happen. A uid other than none must be that of
 * the existing object, whatever `when` says. */
enum vd_when {
    VD_WHEN_ANY,      /* whatever is there */
    VD_WHEN_ABSENT,   /* the object must not exist */
    VD_WHEN_PRESENT,  /* it must exist */
    VD_WHEN_REVISION, /* it must exist at `revision` */
    /* Of a VD_CHECK whose key has a resource and nothing else: no object of the resource has been
     * created, changed or deleted since `revision`. VD_ERR_CONFLICT: one has. */
    VD_WHEN_RESOURCE_UNCHANGED,
};

struct vd_wish {
    enum vd_action action;
    enum vd_when when;
    uint64_t revision;        /* for VD_WHEN_REVISION and VD_WHEN_RESOURCE_UNCHANGED */
    struct vd_uid expect_uid; /* none: any */
    struct vd_key key;
    struct vd_uid uid;       /* of the object that is put */
    struct vd_template body; /* what is put */
};

/* What became of a proposal. */
struct vd_outcome {
    enum vd_code code; /* VD_OK; VD_ERR_EXISTS, _NOT_FOUND, _CONFLICT, _INVALID, _LIMIT: refused;
                          VD_ERR_FULL, _LOCKED, _MEMORY, _READ_ONLY, _IO, _CLOSED: the store could
                          not write */
    uint64_t revision; /* VD_OK: of the last change, or, if nothing changed, of the object as it
                          is; a refused precondition: the object's current one, 0 if absent */
    uint64_t revision_first; /* VD_OK: of the first change */
    bool changed;            /* false: every wish was already true, and there is no event */
    size_t at;               /* the wish that was refused */
    struct vd_error error;   /* the sentence, when code is not VD_OK */
};

/*
 * The proposer owns the memory and keeps it, with all bytes that the wishes
 * point to, until `done` is called. `done` is called exactly once, on the
 * writer's thread (or, when the store refuses at once or the caller is the writer, on the
 * caller's): it must be quick and must not wait for another proposal. It may free the proposal.
 */
struct vd_proposal {
    const struct vd_wish *wishes;
    size_t n;
    void (*done)(struct vd_proposal *proposal, const struct vd_outcome *outcome);
    void *arg;                /* for the proposer's own use */
    struct vd_proposal *next; /* used by the store once it was proposed */
};

/*
 * A proposal that was admitted: somebody has decided that its author may make these changes. Only
 * this type can be proposed, and only kinds/admission.c makes one; see store/admitted.h. The type
 * is never defined: a pointer to it points to the proposal itself, so that nothing is copied.
 */
struct vd_admitted;

/* Admitted proposals that are proposed together, in this order. `= {0}` is empty. */
struct vd_admitted_list {
    struct vd_admitted *first, *last;
};

static inline void vd_admitted_list_add(struct vd_admitted_list *list, struct vd_admitted *admitted)
{
    if (list->first)
        ((struct vd_proposal *)list->last)->next = (struct vd_proposal *)admitted;
    else
        list->first = admitted;
    list->last = admitted;
}

#endif
