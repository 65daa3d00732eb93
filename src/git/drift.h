/*
 * Drift: objects that are not what Git has, because somebody has overridden them
 * (kinds/git_ownership.h). Each of them has the annotation vedette.dev/override until the Git
 * pipeline writes it again.
 *
 * The informer tells of them. The Repository that an object is from names it in status.drift, the
 * first VD_GIT_DRIFT_MAX of them, and has the condition Drifted; the metric
 * vedette_git_drifted_objects counts all. An object that an override has deleted is
 * not counted, since it is gone; the Event about its deletion remains.
 *
 * All on the controller's loop.
 */
#ifndef VD_GIT_DRIFT_H
#define VD_GIT_DRIFT_H

#include "api/controller.h"
#include "base/attributes.h"

struct vd_drift;

/* Adds it to the controller, which has not been started. */
struct vd_drift *vd_drift_new(struct vd_controller *controller) VD_MUST_USE;

/* When the controller has stopped. NULL allowed. */
void vd_drift_free(struct vd_drift *drift);

#endif
