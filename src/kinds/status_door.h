/*
 * The two doors of an object: spec comes in by the main endpoint, status by its own.
 *
 * Each door keeps what belongs to the other's. At the status door that is everything
 * but status, metadata too: whoever may write status alone can write nothing else. Of
 * built-in kinds labels and annotations come through as well, as they do in Kubernetes.
 * Pure functions; new values live in the arena.
 */
#ifndef VD_KINDS_STATUS_DOOR_H
#define VD_KINDS_STATUS_DOOR_H

#include <stdbool.h>

#include "base/arena.h"
#include "kinds/kind.h"
#include "kinds/violation.h"
#include "json/document.h"

/*
 * A whole object for the status door may leave out what it does not mean to speak of:
 * top-level fields and those of metadata are filled in from `old`. Before the object is
 * prepared, so that defaults are not taken for a wish.
 */
void vd_status_door_fill(struct vd_arena *arena, struct vd_json *object, const struct vd_json *old);

/*
 * For a kind with vedette.dev/status-boundary: strict. Adds each field outside status
 * that differs from `old`; of metadata, those that clients write: labels, annotations,
 * finalizers and ownerReferences. True if there is none.
 */
bool vd_status_door_check(const struct vd_json *object, const struct vd_json *old,
                          struct vd_violations *out);

/* What the object becomes through the status door (`at_status`) or the main one, if
 * the kind has two. */
struct vd_json *vd_status_door_pass(const struct vd_kind *kind, struct vd_arena *arena,
                                    struct vd_json *object, const struct vd_json *old,
                                    bool at_status);

#endif
