/*
 * Which names the definitions of each group hold, and whether another one may have
 * those that it asks for. Kubernetes' rules: plural, singular and short names are one
 * space, kind and listKind another; whoever came first keeps a name.
 *
 * One thread.
 */
#ifndef VD_API_DEFINITION_NAMES_H
#define VD_API_DEFINITION_NAMES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/hash_map.h"
#include "base/slice.h"
#include "base/vec.h"
#include "json/document.h"

struct vd_name_claim;

struct vd_name_claims {
    struct vd_hash_map map;
};

/* What one definition holds. `= {0}` is nothing. Its address is its identity. */
struct vd_name_holder {
    VD_VEC(struct vd_name_claim *) claims;
};

void vd_name_claims_init(struct vd_name_claims *claims);
void vd_name_claims_release(struct vd_name_claims *claims); /* holders are empty by then */

/* What became of the names that a definition asks for. */
struct vd_name_verdict {
    bool accepted;           /* all of them */
    struct vd_slice reason;  /* "NoConflicts", "PluralConflict", ... */
    struct vd_slice message; /* a sentence; in the arena */
    struct vd_json *names;   /* status.acceptedNames: those it has now; in the arena */
};

/* `wanted` is spec.names, `accepted` is status.acceptedNames of the definition. */
struct vd_name_verdict vd_name_claims_judge(const struct vd_name_claims *claims,
                                            const struct vd_name_holder *holder,
                                            struct vd_slice group, const struct vd_json *wanted,
                                            const struct vd_json *accepted, struct vd_arena *a);

/* The holder now holds the names (an object like spec.names; NULL: none) that nobody
 * else holds, and no others. True if it gave some up. */
bool vd_name_claims_hold(struct vd_name_claims *claims, struct vd_name_holder *holder,
                         struct vd_slice group, const struct vd_json *names);

#endif
