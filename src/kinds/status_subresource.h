/*
 * The status subresource: the main endpoint writes spec, and this one writes status.
 *
 * A write through one endpoint keeps what belongs to the other. A write of the status subresource
 * keeps everything but status, metadata too: whoever may write status alone can write nothing else.
 * It also writes labels and annotations if the kind is built in, as in Kubernetes.
 * Pure functions; new values live in the arena.
 */
#ifndef VD_KINDS_STATUS_SUBRESOURCE_H
#define VD_KINDS_STATUS_SUBRESOURCE_H

#include <stdbool.h>

#include "base/arena.h"
#include "kinds/kind.h"
#include "kinds/violation.h"
#include "json/document.h"

/*
 * A whole object for the status subresource may leave out what it does not mean to speak of:
 * top-level fields and those of metadata are filled in from `old`. Before the object is
 * prepared, so that defaults are not taken for a wish.
 */
void vd_status_subresource_fill(struct vd_arena *arena, struct vd_json *object,
                                const struct vd_json *old);

/*
 * For a kind with vedette.dev/status-boundary: strict. Adds each field outside status
 * that differs from `old`; of metadata, those that clients write: labels, annotations,
 * finalizers and ownerReferences. True if there is none.
 */
bool vd_status_subresource_check(const struct vd_json *object, const struct vd_json *old,
                                 struct vd_violations *out);

/* What is stored when the object is written over `old`, through the status subresource
 * (`at_status`) or the main endpoint. A kind without the subresource stores the object as it is. */
struct vd_json *vd_status_subresource_merge(const struct vd_kind *kind, struct vd_arena *arena,
                                            struct vd_json *object, const struct vd_json *old,
                                            bool at_status);

#endif
