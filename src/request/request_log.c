/* See request_log.h. */
#include "request/request_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "net/connection.h"
#include "net/url.h"

static void texts_of(struct vd_access *a, struct vd_slice *parts[VD_REQUEST_LOG_PARTS])
{
    struct vd_slice *const texts[VD_REQUEST_LOG_PARTS] = {
        &a->verb, &a->group, &a->resource, &a->subresource, &a->namespace, &a->name, &a->path};
    memcpy(parts, texts, sizeof texts);
}

struct vd_access vd_request_log_access(const struct vd_request_log *r)
{
    struct vd_access access = {.user = r->user};
    struct vd_slice *parts[VD_REQUEST_LOG_PARTS];
    const char *at = r->text;
    texts_of(&access, parts);
    for (size_t i = 0; i < VD_REQUEST_LOG_PARTS; i++) {
        *parts[i] = vd_slice(at, r->lengths[i]);
        at += r->lengths[i];
    }
    return access;
}

/* What the client calls itself, as far as the access log shows it. */
static struct vd_slice agent_of(const struct vd_http_head *head)
{
    struct vd_slice agent;
    if (!head || !vd_http_head_find(head, VD_SLICE("user-agent"), &agent))
        return VD_SLICE("");
    return agent.n > VD_LOG_AGENT_LEN_MAX ? vd_slice(agent.p, VD_LOG_AGENT_LEN_MAX) : agent;
}

struct vd_request_log *vd_request_log_attach(const struct vd_request *request,
                                             struct vd_meter *meter, bool has_agent)
{
    struct vd_access access = request->access;
    struct vd_slice *parts[VD_REQUEST_LOG_PARTS];
    texts_of(&access, parts);
    size_t len = 0;
    for (size_t i = 0; i < VD_REQUEST_LOG_PARTS; i++)
        len += parts[i]->n;
    struct vd_slice agent = has_agent ? agent_of(request->x->head) : VD_SLICE("");
    struct vd_request_log *r = vd_malloc(sizeof *r + len + agent.n);
    char *to = r->text;
    for (size_t i = 0; i < VD_REQUEST_LOG_PARTS; i++) {
        if (parts[i]->n)
            memcpy(to, parts[i]->p, parts[i]->n);
        to += parts[i]->n;
        r->lengths[i] = (uint32_t)parts[i]->n; /* of a head, whose length is limited */
    }
    if (agent.n)
        memcpy(to, agent.p, agent.n);
    r->agent_len = (uint32_t)agent.n;
    r->user = vd_user_ref(request->user);
    r->meter = meter;
    r->audit = NULL;
    request->x->request_info = r;
    return r;
}

void vd_request_log_detach(struct vd_exchange *x)
{
    struct vd_request_log *r = vd_request_log_of(x);
    x->request_info = NULL;
    if (r)
        vd_user_unref(r->user);
    free(r);
}

/* ---- the access log ---- */

/* The user agent that the access log names: the one that the request log has kept, or that of a
 * request without a request log. */
static struct vd_slice logged_agent(const struct vd_request_log *r, const struct vd_exchange *x)
{
    if (!r)
        return agent_of(x->head);
    const char *at = r->text;
    for (size_t i = 0; i < VD_REQUEST_LOG_PARTS; i++)
        at += r->lengths[i];
    return vd_slice(at, r->agent_len);
}

/* Fields that are empty stay out of the line. So does the query, since clients may write secrets
 * into it. */
void vd_request_log_write(const struct vd_exchange *x, uint64_t duration_ns)
{
    const struct vd_request_log *r = vd_request_log_of(x);
    struct vd_log_field fields[20];
    char room[INET6_ADDRSTRLEN];
    size_t n = 0;
    struct vd_slice path = VD_SLICE(""), query;
    struct vd_access access = r ? vd_request_log_access(r) : (struct vd_access){0};
    const struct vd_user *by = r ? r->user->is.impersonator : NULL;
    if (!r && x->head)
        vd_url_split(vd_http_head_target(x->head), &path, &query);
    const struct {
        const char *name;
        struct vd_slice value;
    } texts[] = {
        {"method", !r && x->head ? vd_http_head_method(x->head) : VD_SLICE("")},
        {"user", r ? (by ? by->is.name : r->user->is.name) : VD_SLICE("")},
        {"impersonated_user", by ? r->user->is.name : VD_SLICE("")},
        {"verb", access.verb},
        {"group", access.group},
        {"resource", access.resource},
        {"subresource", access.subresource},
        {"namespace", access.namespace},
        {"name", access.name},
        {"path", r ? access.path : path},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].value.n)
            fields[n++] = VD_F_SLICE(texts[i].name, texts[i].value);
    fields[n++] = VD_F_U64("status", x->status);
    fields[n++] = VD_F_U64("duration_us", duration_ns / 1000);
    fields[n++] = VD_F_U64("bytes", x->sent_len);
    fields[n++] = VD_F_STR("protocol", x->protocol);
    struct vd_slice client = vd_peer_address(&x->connection->peer, room);
    struct vd_slice agent = logged_agent(r, x);
    if (client.n)
        fields[n++] = VD_F_SLICE("client", client);
    if (agent.n)
        fields[n++] = VD_F_SLICE("user_agent", agent);
    fields[n] = VD_F_END;
    if (vd_log_enabled(VD_LOG_INFO))
        vd_log_event(VD_LOG_INFO, "request", fields);
}
