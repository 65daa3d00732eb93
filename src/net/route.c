/* See route.h. */
#include "net/route.h"

#include <assert.h>

#include <string.h>

#include "net/connection_internal.h"
#include "net/url.h"

/* Whether the first one has more paths than the second: a shorter prefix, or all paths of the same
 * prefix where the other has some. */
static bool is_wider(const struct vd_route *a, const struct vd_route *b)
{
    return a->prefix.n < b->prefix.n || (a->prefix.n == b->prefix.n && !a->matches && b->matches);
}

void vd_route_table_add(struct vd_route_table *routes, const struct vd_route *route)
{
    size_t at = routes->list.n;
    (void)VD_VEC_PUSH(&routes->list);
    for (; at > 0 && is_wider(routes->list.p[at - 1], route); at--)
        routes->list.p[at] = routes->list.p[at - 1];
    routes->list.p[at] = route;
}

void vd_route_table_release(struct vd_route_table *routes)
{
    VD_VEC_RELEASE(&routes->list);
}

/* "/a" is that of "/a" and "/a/b", and not that of "/ab". Nearly all paths differ from nearly all
 * prefixes in their second letter, or have another length. */
static bool is_of(struct vd_slice prefix, struct vd_slice path)
{
    if (prefix.n == 0)
        return true;
    if (path.n < prefix.n || (prefix.n > 1 && path.p[1] != prefix.p[1]) ||
        (path.n > prefix.n && (path.p[prefix.n] != '/' || prefix.n == 1)))
        return false;
    return memcmp(path.p, prefix.p, prefix.n) == 0;
}

static bool has(const struct vd_route *route, struct vd_slice path, const struct vd_http_head *head)
{
    return is_of(route->prefix, path) && (!route->matches || route->matches(route, head));
}

/* The first one in the list, from a place on, that has the path. */
static const struct vd_route *find_from(const struct vd_route_table *routes, size_t at,
                                        const struct vd_http_head *head)
{
    struct vd_slice path, query;
    vd_url_split(vd_http_head_target(head), &path, &query);
    while (at + 1 < routes->list.n && !has(routes->list.p[at], path, head))
        at++;
    return routes->list.p[at];
}

const struct vd_route *vd_route_table_find(const struct vd_route_table *routes,
                                           const struct vd_http_head *head)
{
    return head ? find_from(routes, 0, head) : routes->list.p[routes->list.n - 1];
}

void vd_route_table_list(const struct vd_route_table *routes, struct vd_buf *out)
{
    for (size_t i = 0; i < routes->list.n; i++) {
        const struct vd_route *route = routes->list.p[i];
        if (route->list)
            route->list(route, out);
        else if (route->prefix.n > 1)
            vd_buf_addf(out, "%.*s\n", VD_FMT(route->prefix));
    }
}

bool vd_route_asks(const struct vd_http_service *service, const struct vd_route *route)
{
    return route->admit || (service->authenticate && !route->is_open);
}

void vd_route_admit(struct vd_exchange *x)
{
    if (x->route->admit)
        x->route->admit(x->connection->service, x);
    else
        vd_exchange_receive(x);
}

void vd_route_handle(struct vd_exchange *x)
{
    x->route->handle(x->connection->service, x);
}

void vd_route_begin_admit(struct vd_exchange *x)
{
    struct vd_http_service *service = x->connection->service;
    if (service->authenticate && !x->route->is_open)
        service->authenticate(service, x, true);
    else
        vd_route_admit(x);
}

void vd_route_begin_handle(struct vd_exchange *x)
{
    struct vd_http_service *service = x->connection->service;
    if (service->authenticate && !x->route->is_open)
        service->authenticate(service, x, false);
    else
        vd_route_handle(x);
}

static void refuse_plainly(struct vd_exchange *x, const struct vd_route_refusal *refusal)
{
    struct vd_buf text = {0};
    vd_buf_addf(&text, "%s\n", refusal->why);
    vd_exchange_respond(x,
                        &(struct vd_response){.status = refusal->status,
                                              .content_type = VD_SLICE("text/plain; charset=utf-8"),
                                              .body = vd_buf_slice(&text)});
    vd_buf_release(&text);
}

static size_t place_of(const struct vd_route_table *routes, const struct vd_route *route)
{
    size_t at = 0;
    while (routes->list.p[at] != route)
        at++;
    return at;
}

/* The route is looked for by prefix, not by path: the head may be unreadable. */
void vd_route_pass_refusal(struct vd_exchange *x, const struct vd_route_refusal *refusal)
{
    const struct vd_route_table *routes = x->connection->service->routes;
    for (size_t at = place_of(routes, x->route) + 1; at < routes->list.n; at++) {
        const struct vd_route *shorter = routes->list.p[at];
        if (shorter->refuse && !shorter->matches && is_of(shorter->prefix, x->route->prefix)) {
            x->route = shorter;
            shorter->refuse(x->connection->service, x, refusal);
            return;
        }
    }
    refuse_plainly(x, refusal);
}

void vd_route_refuse(struct vd_exchange *x, const struct vd_route_refusal *refusal)
{
    if (x->route->refuse)
        x->route->refuse(x->connection->service, x, refusal);
    else
        vd_route_pass_refusal(x, refusal);
}

void vd_route_finished(struct vd_exchange *x)
{
    struct vd_http_service *service = x->connection->service;
    if (x->route->finished)
        x->route->finished(service, x);
    if (service->finished)
        service->finished(service, x);
}

/* Gives whether somebody is yet to be asked who he is. */
static bool pass(struct vd_exchange *x)
{
    const struct vd_route_table *routes = x->connection->service->routes;
    bool was_open = x->route->is_open;
    assert(!x->reader); /* the next route may want the body whole */
    size_t at = place_of(routes, x->route);
    assert(at + 1 < routes->list.n); /* the last route is for all paths, and passes nothing on */
    x->route = find_from(routes, at + 1, x->head);
    return was_open;
}

void vd_route_pass_admit(struct vd_exchange *x)
{
    if (pass(x))
        vd_route_begin_admit(x);
    else
        vd_route_admit(x);
}

void vd_route_pass_handle(struct vd_exchange *x)
{
    if (pass(x))
        vd_route_begin_handle(x);
    else
        vd_route_handle(x);
}
