/*
 * Reference counts, for what streams truly share: bodies, events, snapshots.
 *
 * A count starts at 1, owned by the creator. It may be raised by anyone who
 * already holds a reference, on any thread. Whoever drops it to 0 frees.
 */
#ifndef VD_BASE_REFCOUNT_H
#define VD_BASE_REFCOUNT_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct vd_refcount {
    _Atomic uint32_t n;
};

static inline void vd_refcount_init(struct vd_refcount *c)
{
    atomic_init(&c->n, 1);
}

static inline void vd_ref(struct vd_refcount *c)
{
    uint32_t before = atomic_fetch_add_explicit(&c->n, 1, memory_order_relaxed);
    assert(before > 0 && before < UINT32_MAX);
    (void)before;
}

/* True when this was the last reference: the caller frees the thing now. */
static inline bool vd_unref(struct vd_refcount *c)
{
    /* acq_rel: what other holders did to the thing happens before its free. */
    uint32_t before = atomic_fetch_sub_explicit(&c->n, 1, memory_order_acq_rel);
    assert(before > 0);
    return before == 1;
}

#endif
