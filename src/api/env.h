/*
 * What the verbs of src/api work on: the store, the kinds, the clock. One for the whole server; it
 * does not change while loops run.
 */
#ifndef VD_API_ENV_H
#define VD_API_ENV_H

#include "base/clock.h"
#include "kinds/registry.h"
#include "store/store.h"

struct vd_api_env {
    struct vd_store *store;
    struct vd_kinds *kinds;
    const struct vd_clock *clock;
    uint64_t version_wait_ms; /* how long a read waits for a revision that is to come; 0: not */
};

#endif
