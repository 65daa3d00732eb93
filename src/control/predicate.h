/*
 * Which changes of an object a controller runs for.
 *
 * A controller acts on what is desired. So a change of the status alone is none of its business,
 * and must not be: it would run for each status that it writes itself. What counts is every other
 * part of the object, and of its metadata what people and other controllers set.
 */
#ifndef VD_CONTROL_PREDICATE_H
#define VD_CONTROL_PREDICATE_H

#include <stdbool.h>

#include "store/event.h"

struct vd_predicate {
    bool ignores_labels;
    bool ignores_annotations;
    bool takes_status; /* changes of the status count, too */
};

/* Whether a controller with this predicate has to look at the object again. An object that is new
 * or has gone always counts, and so does a mark of deletion. */
bool vd_predicate_holds(const struct vd_predicate *predicate, const struct vd_change *change);

#endif
