/*
 * Rules of built-in kinds that a schema cannot say, one row of a table for each
 * kind. Kinds without a row have none.
 *
 * The words are Kubernetes'. A field of the wrong type is the schema's to report;
 * the rules take it for absent.
 */
#ifndef VD_KINDS_RULES_H
#define VD_KINDS_RULES_H

#include <stdbool.h>

#include "base/arena.h"
#include "kinds/kind.h"
#include "kinds/violation.h"
#include "json/document.h"

/* What a client may leave out or write otherwise is brought into the stored form:
 * a Secret's stringData, a Namespace's finalizer, a subject's apiGroup. Comes
 * after pruning and the schema's defaults. New values live in the arena. */
void vd_kind_rules_prepare(const struct vd_kind *kind, struct vd_arena *arena,
                           struct vd_json *object, bool create);

/* What follows in status from a change of the rest: the version that a definition stores
 * objects in from now on. For an update through the main endpoint, after status has been put back.
 */
void vd_kind_rules_settle(const struct vd_kind *kind, struct vd_arena *arena,
                          struct vd_json *object);

/* Adds what is wrong with the object; `old` is the stored one, NULL on create. */
void vd_kind_rules_check(const struct vd_kind *kind, const struct vd_json *object,
                         const struct vd_json *old, struct vd_violations *out);

#endif
