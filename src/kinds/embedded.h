/*
 * A resource inside another: an object under x-kubernetes-embedded-resource. Whatever its kind is,
 * it says which one, and its metadata follows the rules that hold for all kinds.
 */
#ifndef VD_KINDS_EMBEDDED_H
#define VD_KINDS_EMBEDDED_H

#include <stdbool.h>

#include "kinds/field_path.h"
#include "kinds/violation.h"
#include "json/document.h"

/* Adds what is wrong with its apiVersion, kind and metadata, in Kubernetes' words; true if nothing
 * is. `resource` is an object, at the path. */
bool vd_embedded_check(const struct vd_json *resource, const struct vd_field_path *path,
                       struct vd_violations *out);

#endif
