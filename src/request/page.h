/*
 * A page at a fixed path that is no resource, such as /metrics. Whether the user may see it goes by
 * the path (nonResourceURLs of roles), and it is counted, logged and audited as all requests are.
 *
 *     static void handle(struct vd_http_service *service, struct vd_exchange *x)
 *     {
 *         if (!vd_page_begin(l, x))
 *             return;
 *         ...
 *         vd_page_end(l, x, VD_SLICE("text/plain; charset=utf-8"), text);
 *     }
 *
 * A user who may not see the page is refused by the route, in its own words or those of the next
 * shorter prefix (net/route.h).
 */
#ifndef VD_REQUEST_PAGE_H
#define VD_REQUEST_PAGE_H

#include "net/exchange.h"
#include "request/loop.h"

/* In `handle` of the page's route. The page is at the route's prefix alone; a request for a path
 * below it is passed on to the next shorter prefix. False: the request has been answered, or passed
 * on. True: vd_page_end() is to be called, at once. */
bool vd_page_begin(struct vd_request_loop *l, struct vd_exchange *x) VD_MUST_USE;

/* Answers with the page, compressed if it is large and the client allows that. */
void vd_page_end(struct vd_request_loop *l, struct vd_exchange *x, struct vd_slice content_type,
                 struct vd_slice text);

#endif
