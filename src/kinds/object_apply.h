/*
 * Server-side apply: a configuration, a manager, and what becomes of an object.
 *
 *     struct vd_apply apply = {.root = ..., .live = ..., .config = ..., .who = ..., .managed = &m};
 *     code = vd_object_apply(&arena, &apply);
 *     if (code == VD_ERR_CONFLICT) ... apply.conflicts
 *     else ... apply.object, m
 *
 * The rules are Kubernetes':
 * - What the configuration says becomes so. A field that another manager owns and that has
 *   another value is a conflict, unless `force` takes it over; one with the same value is shared.
 * - A field that the manager applied before and no longer does is taken out, unless
 *   somebody else owns it too.
 * - An object that nobody has kept a record of is first given to "before-first-apply".
 * - A "kubectl" that comes from client-side apply owns what its annotation says it set.
 */
#ifndef VD_KINDS_OBJECT_APPLY_H
#define VD_KINDS_OBJECT_APPLY_H

#include "base/error.h"
#include "kinds/managed_fields.h"
#include "json/document.h"

#define VD_LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

enum { VD_APPLY_CONFLICTS_MAX = 1000 }; /* named; more are left out */

struct vd_apply_conflict {
    struct vd_slice manager; /* `"m1" using v1`, as messages show it */
    struct vd_slice path;    /* ".data.color" */
};

struct vd_apply {
    const struct vd_schema_node *root; /* NULL: nothing is known of the kind */
    const struct vd_json *live;        /* NULL: there is none yet; without managedFields */
    const struct vd_json *config;      /* checked with vd_apply_check() */
    struct vd_managed_who who;
    bool force;
    struct vd_managed *managed; /* of the live object; changed only on success */

    /* On success. Values are shared with neither live nor config, texts are. */
    struct vd_json *object;
    bool object_changed; /* in a field that can be owned */

    /* On VD_ERR_CONFLICT: by manager, in the arena. */
    struct vd_apply_conflict *conflicts;
    size_t conflicts_n;
};

/* VD_OK or VD_ERR_CONFLICT. */
int vd_object_apply(struct vd_arena *a, struct vd_apply *apply) VD_MUST_USE;

/* "Apply failed with 1 conflict: conflict with "m1" using v1: .data.color", and the form
 * of several; in the arena. */
struct vd_slice vd_apply_conflict_text(struct vd_arena *a, const struct vd_apply *apply);

#endif
