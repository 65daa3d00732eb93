/*
 * A condition: what a controller says of an object in status.conditions, one entry for each type.
 * What is checked of the conditions that clients write is in condition_rules.h.
 */
#ifndef VD_KINDS_CONDITION_H
#define VD_KINDS_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"
#include "json/document.h"

struct vd_condition {
    struct vd_slice type;   /* "Established" */
    struct vd_slice status; /* "True", "False", "Unknown" */
    struct vd_slice reason;
    struct vd_slice message;
};

/* Whether the condition of this type has the status "True". */
bool vd_condition_is_true(const struct vd_json *object, struct vd_slice type);

/* Puts the condition in, in the place of the one of its type. lastTransitionTime is
 * `now_ms` if the status is another than before. Texts are copied. */
void vd_condition_set(struct vd_arena *a, struct vd_json *object,
                      const struct vd_condition *condition, int64_t now_ms);

/* Takes the condition out; false if there was none. */
bool vd_condition_remove(struct vd_json *object, struct vd_slice type);

#endif
