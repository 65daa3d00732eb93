/*
 * The word of Kubernetes' community for definitions in its groups, k8s.io and kubernetes.io and
 * whatever ends so: the annotation api-approved.kubernetes.io with the address of the approval, or
 * with a reason that starts with "unapproved".
 */
#ifndef VD_KINDS_APPROVAL_H
#define VD_KINDS_APPROVAL_H

#include "base/slice.h"
#include "json/document.h"

#define VD_APPROVAL_ANNOTATION "api-approved.kubernetes.io"

enum vd_approval {
    VD_APPROVAL_NOT_NEEDED,
    VD_APPROVAL_MISSING,
    VD_APPROVAL_INVALID,
    VD_APPROVAL_BYPASSED,
    VD_APPROVAL_GIVEN,
};

/* The state of a definition. *value is its annotation, or empty. */
enum vd_approval vd_approval_of(const struct vd_json *definition, struct vd_slice *value);

/* What Kubernetes says to a state without approval, MISSING or INVALID. */
const char *vd_approval_advice(enum vd_approval state);

#endif
