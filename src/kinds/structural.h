/*
 * Whether the schema of a CustomResourceDefinition is structural: Kubernetes' rules for
 * openAPIV3Schema, in its words.
 *
 * A structural schema says the type of every field once, outside of allOf, anyOf, oneOf
 * and not, which may only restrict the values. So it is clear which fields there are,
 * whatever the values: that is what pruning and defaults rest on.
 */
#ifndef VD_KINDS_STRUCTURAL_H
#define VD_KINDS_STRUCTURAL_H

#include <stdbool.h>

#include "kinds/field_path.h"
#include "kinds/violation.h"
#include "json/document.h"

/* Adds everything that is wrong with the schema at `up`.openAPIV3Schema. `status`: the
 * kind has the status subresource. */
void vd_structural_check(const struct vd_json *schema, const struct vd_field_path *up, bool status,
                         struct vd_violations *out);

#endif
