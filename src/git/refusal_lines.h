/*
 * Why a write of the Git pipeline was refused, as findings of a report: each violation at the place
 * of its field in the file. Pure; any thread.
 */
#ifndef VD_GIT_REFUSAL_LINES_H
#define VD_GIT_REFUSAL_LINES_H

#include "api/write.h"
#include "git/plan.h"

/* Adds why the write of this operation was refused. */
void vd_refusal_lines_add(struct vd_git_report *report, const struct vd_plan_operation *operation,
                          const struct vd_refusal *refusal);

/* Adds what the write has warned of. A field that the schema does not know is an error: nobody
 * would find out later that it was never stored. */
void vd_refusal_lines_add_warnings(struct vd_git_report *report,
                                   const struct vd_plan_operation *operation,
                                   const struct vd_write *write);

#endif
