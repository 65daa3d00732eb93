/*
 * The rules for metadata that hold for every kind, in Kubernetes' words: names,
 * labels, annotations, owners, finalizers, and what never changes.
 *
 * object_meta.h reads and writes metadata. Types are the schema's business (kinds/objectmeta.yaml);
 * here a field of the wrong type counts as absent, so that a violation is reported once.
 */
#ifndef VD_KINDS_OBJECT_META_RULES_H
#define VD_KINDS_OBJECT_META_RULES_H

#include "kinds/kind.h"
#include "kinds/violation.h"
#include "json/document.h"

/* Everything that is wrong with the metadata of an object of the kind. Names are
 * expected to have been generated already. */
void vd_meta_rules_check(const struct vd_kind *kind, const struct vd_json *object,
                         struct vd_violations *out);

/* Everything that is wrong with the metadata of a resource inside another, under the path of that
 * resource. A name need not be there; what is there follows the rules that hold for all kinds. */
void vd_meta_rules_check_embedded(const struct vd_json *resource, const struct vd_field_path *path,
                                  struct vd_violations *out);

/* Everything that may not differ from the stored object, or not so: name, uid and
 * the like; no new finalizers while it is being deleted. Whether a
 * resourceVersion has to be there and matches is for the caller to see to. */
void vd_meta_rules_check_update(const struct vd_json *object, const struct vd_json *old,
                                struct vd_violations *out);

#endif
