/*
 * The kinds that there would be if a definition were written: for a batch that brings definitions
 * and objects of the kinds that they define.
 *
 *     struct vd_kind_set *set = vd_kinds_snapshot(env->kinds);
 *     for each definition of the batch
 *         if (vd_definition_plan(env, &set, document, &violations, &error))
 *             ...                                      it cannot be written: error, violations
 *     kind = vd_kind_set_kind(set, group, version, name);   for the batch's members
 *     ...
 *     vd_kind_set_unref(set);                          when the batch is done
 */
#ifndef VD_API_DEFINITION_PLAN_H
#define VD_API_DEFINITION_PLAN_H

#include "api/env.h"
#include "base/attributes.h"
#include "base/error.h"
#include "kinds/kinds.h"
#include "kinds/violation.h"
#include "json/document.h"

/*
 * Puts a set in the place of *set that has the kinds of this CustomResourceDefinition, too, in the
 * place of those that it has now. The document is not changed, and is as somebody would send it.
 * What can be planned is not valid for that: the write of the definition checks it.
 *
 *   VD_ERR_INVALID  no kind can be made of it: `violations` (may be NULL) says all that is wrong
 *                   with it, or, if there are none, the error does
 *   VD_ERR_EXISTS   a built-in kind or another definition of the set has one of its names, so that
 *                   it would not be accepted
 *   VD_ERR_LOCKED   the stored definition is being deleted
 *
 * *set is as it was then. Any thread; a definition whose patterns and rules are many takes long
 * enough to be a worker's task.
 */
int vd_definition_plan(const struct vd_api_env *env, struct vd_kind_set **set,
                       const struct vd_json *definition, struct vd_violations *violations,
                       struct vd_error *error) VD_MUST_USE;

#endif
