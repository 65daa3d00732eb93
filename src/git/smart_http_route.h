/* The route of git clients: all paths below /<namespace>/<name>.git but that of the webhook. */
#ifndef VD_GIT_SMART_HTTP_ROUTE_H
#define VD_GIT_SMART_HTTP_ROUTE_H

#include "git/service.h"

void vd_smart_http_route_add(struct vd_git *git, struct vd_route_table *routes);

#endif
