/* Between agent.c and errand.c. */
#ifndef VD_SERVER_AGENT_INTERNAL_H
#define VD_SERVER_AGENT_INTERNAL_H

#include "server/agent.h"

/* An errand of the job is back, on the loop. */
void vd_agent_job_answered(struct vd_agent *agent, struct vd_job *job, enum vd_code code);

#endif
