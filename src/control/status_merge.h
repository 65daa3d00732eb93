/*
 * What a result makes of an object's status.
 *
 * Members of the result's status take the place of those with their names, and null takes one away;
 * all others stay. Conditions are merged by their type: those of other types, which other
 * controllers write, are not touched, and lastTransitionTime moves only when the condition's status
 * does. So whoever says the same twice changes nothing.
 */
#ifndef VD_CONTROL_STATUS_MERGE_H
#define VD_CONTROL_STATUS_MERGE_H

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "control/result.h"

/* Changes the object. A condition without observedGeneration gets the object's generation, if it
 * has one. VD_ERR_INVALID: a condition has no type, or a status that is none; the sentence names
 * it. */
int vd_status_merge(struct vd_arena *arena, struct vd_json *object, const struct vd_result *result,
                    int64_t now_ms, struct vd_error *error) VD_MUST_USE;

#endif
