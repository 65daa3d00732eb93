/* The route of webhooks (git/webhook.h). */
#ifndef VD_GIT_WEBHOOK_ROUTE_H
#define VD_GIT_WEBHOOK_ROUTE_H

#include "git/service.h"

/* Before the loops start. */
void vd_webhook_route_add(struct vd_git *git, struct vd_route_table *routes);

#endif
