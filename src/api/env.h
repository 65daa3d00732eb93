/*
 * What the verbs of src/api work on: the store, the kinds, the clock, and who may do what. One for
 * the whole server; it does not change while loops run.
 */
#ifndef VD_API_ENV_H
#define VD_API_ENV_H

#include "auth/gatekeeper.h"
#include "base/clock.h"
#include "kinds/kinds.h"
#include "store/store.h"

struct vd_converter;
struct vd_definitions;

struct vd_api_env {
    struct vd_store *store;
    struct vd_kinds *kinds;
    const struct vd_clock *clock;
    struct vd_gatekeeper *gatekeeper; /* who may do what, and whose credential is good */
    struct vd_converter *converter;   /* asks conversion webhooks; NULL: none are asked */
    /* A name for metadata.generateName, in the arena; NULL: vd_generated_name_make(). */
    struct vd_slice (*make_name)(struct vd_arena *a, struct vd_slice base);
    struct vd_definitions *definitions; /* makes kinds; NULL: nobody has to wait for that */
    uint64_t version_wait_ms; /* how long a read waits for a revision that is to come; 0: not */
};

#endif
