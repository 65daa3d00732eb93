/*
 * The numbers that a Scale stands in front of: wherever a definition's scale paths lead, there is a
 * number that a Scale can show, 0 to 2147483647, or none.
 */
#ifndef VD_KINDS_SCALE_BOUNDS_H
#define VD_KINDS_SCALE_BOUNDS_H

#include "kinds/kind.h"
#include "kinds/violation.h"
#include "json/document.h"

/* Adds what is wrong with them, in Kubernetes' words and with the definition's paths. What the
 * update of `old` (NULL: there is none) has left as it was may be wrong. */
void vd_scale_bounds_check(const struct vd_kind *kind, const struct vd_json *object,
                           const struct vd_json *old, struct vd_violations *out);

#endif
