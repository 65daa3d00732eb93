/*
 * Causes of a Status: what is wrong with which field, in Kubernetes' words.
 *
 *     spec.size: Invalid value: 70000: must be between 1 and 65535
 *     -- field   ----------------- message -----------------------
 *
 * The texts are made in the arena; any thread.
 */
#ifndef VD_KUBE_STATUS_CAUSE_H
#define VD_KUBE_STATUS_CAUSE_H

#include <stddef.h>

#include "base/arena.h"
#include "base/slice.h"
#include "json/document.h"

/* Each part may be empty and is then not written. */
struct vd_status_cause {
    struct vd_slice reason; /* "FieldValueInvalid" */
    struct vd_slice message;
    struct vd_slice field; /* "spec.containers[0].name" */
};

/* FieldValueRequired, "Required value: detail"; the detail may be empty. */
struct vd_status_cause vd_cause_required(struct vd_arena *a, struct vd_slice field,
                                         struct vd_slice detail);

/* FieldValueForbidden, "Forbidden: detail". */
struct vd_status_cause vd_cause_forbidden(struct vd_arena *a, struct vd_slice field,
                                          struct vd_slice detail);

/* FieldValueInvalid, "Invalid value: <value>: detail". The value is shown as JSON, cut
 * when it is long; NULL is null. */
struct vd_status_cause vd_cause_invalid(struct vd_arena *a, struct vd_slice field,
                                        const struct vd_json *value, struct vd_slice detail);

/* The same for a text. */
struct vd_status_cause vd_cause_invalid_text(struct vd_arena *a, struct vd_slice field,
                                             struct vd_slice value, struct vd_slice detail);

/* FieldValueTypeInvalid, "Invalid value: <value>: detail". */
struct vd_status_cause vd_cause_type_invalid(struct vd_arena *a, struct vd_slice field,
                                             const struct vd_json *value, struct vd_slice detail);

/* FieldValueDuplicate, "Duplicate value: <value>". */
struct vd_status_cause vd_cause_duplicate(struct vd_arena *a, struct vd_slice field,
                                          const struct vd_json *value);

/* FieldValueTooLong, "Too long: may not be more than <max> bytes". */
struct vd_status_cause vd_cause_too_long(struct vd_arena *a, struct vd_slice field, size_t max);

/* FieldValueNotSupported, `Unsupported value: "x": supported values: "a", "b"`. */
struct vd_status_cause vd_cause_unsupported(struct vd_arena *a, struct vd_slice field,
                                            struct vd_slice value, const struct vd_slice *supported,
                                            size_t n);

#endif
