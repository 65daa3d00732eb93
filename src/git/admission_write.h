/* The writes of an admission: what each of them makes of its object. */
#ifndef VD_GIT_ADMISSION_WRITE_H
#define VD_GIT_ADMISSION_WRITE_H

#include "git/admission.h"

/* Fills the write in for an operation of the plan, or, if that is NULL, for the Repository's
 * status. */
void vd_git_write_init(struct vd_git_write *w, struct vd_git_admission *a,
                       const struct vd_plan_operation *operation);

#endif
