/* What is counted of pushes, and of admissions. Any thread. */
#ifndef VD_GIT_PUSH_METRICS_H
#define VD_GIT_PUSH_METRICS_H

#include "git/branch_admission.h"

void vd_push_count(const char *result);
void vd_push_count_resources(const struct vd_admitted_push *push);

#endif
