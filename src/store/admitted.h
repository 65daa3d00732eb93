/*
 * How a proposal becomes an admitted one, which is the only thing that a store takes.
 *
 * Who may change what is decided in kinds/admission.c. That file includes this header, so do the
 * server's bootstrap, which writes the first objects before there are any users, and tests and
 * benchmarks of the store. Nothing else may: tests/checks/admission_test.sh sees to it. All other
 * code has to ask kinds/admission.c, since the store's functions take nothing but admitted
 * proposals.
 */
#ifndef VD_STORE_ADMITTED_H
#define VD_STORE_ADMITTED_H

#include "store/store.h"

/* The proposal as an admitted one. It is the same memory, under the same contract. */
static inline struct vd_admitted *vd_admitted_of(struct vd_proposal *proposal)
{
    proposal->next = NULL;
    return (struct vd_admitted *)proposal;
}

/* Proposes the wishes without admission, and waits for the outcome. Returns outcome->code. */
int vd_store_commit(struct vd_store *store, const struct vd_wish *wishes, size_t n,
                    struct vd_outcome *outcome);

#endif
