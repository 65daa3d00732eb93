/*
 * The rules for lists of conditions that clients write, wherever their kind's schema has them.
 * condition.h reads and writes a single condition of status.conditions.
 *
 * A list is the standard one where the schema says so: an array of type map with the
 * one key `type`, whose elements have `type` and `status` and, beside them, only
 * observedGeneration, lastTransitionTime, reason and message. It may stand anywhere
 * in status. For each such list:
 *
 *   - a type comes once; for a kind with vedette.dev/status-conditions: strict, status is
 *     True, False or Unknown. Other kinds' schemas say what it may be;
 *   - lastTransitionTime stays what it was while status stays what it was;
 *   - observedGeneration is not above metadata.generation; neither is that of status
 *     itself, where the list is status.conditions.
 *
 * Pure functions; any thread.
 */
#ifndef VD_KINDS_CONDITION_RULES_H
#define VD_KINDS_CONDITION_RULES_H

#include "base/arena.h"
#include "kinds/kind.h"
#include "kinds/violation.h"
#include "json/document.h"

/* Puts the times of `old` back where the status of a condition has not changed. Lists
 * inside elements of other lists are followed where those are of type map with one
 * key. New values live in the arena. */
void vd_condition_rules_keep_times(const struct vd_kind *kind, struct vd_arena *arena,
                                   struct vd_json *object, const struct vd_json *old);

/* Adds what is wrong with the conditions, but for fields that `out` has already. */
void vd_condition_rules_check(const struct vd_kind *kind, const struct vd_json *object,
                              struct vd_violations *out);

#endif
