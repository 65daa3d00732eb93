/* See request_log.h. */
#include "kube/request_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "kube/audit/audit.h"
#include "net/connection.h"

/* ---- making ---- */

/* The one name that a list or watch asks for, as rules with resourceNames see it. Other
 * verbs do not go by the selector, so it must not open them. */
static struct vd_slice asked_name(struct vd_call *call)
{
    struct vd_slice text, name = VD_SLICE("");
    struct vd_field_selector *fields = NULL;
    if (!(call->target.verb & (VD_VERB_LIST | VD_VERB_WATCH)) || call->target.name.n ||
        !vd_url_query_find(&call->query, VD_SLICE("fieldSelector"), &text))
        return call->target.name;
    if (vd_field_selector_parse(&fields, text, NULL))
        return name;
    if (vd_field_selector_requires(fields, VD_SLICE("metadata.name"), &name))
        name = vd_arena_copy(&call->arena, name);
    vd_field_selector_unref(fields);
    return name;
}

/* Verbs as the metrics of Kubernetes have them: mostly methods. */
static struct vd_slice metric_verb(enum vd_http_method method, enum vd_verb verb)
{
    static const char *const methods[] = {
        [VD_HTTP_GET] = "GET",         [VD_HTTP_HEAD] = "HEAD",   [VD_HTTP_POST] = "POST",
        [VD_HTTP_PUT] = "PUT",         [VD_HTTP_PATCH] = "PATCH", [VD_HTTP_DELETE] = "DELETE",
        [VD_HTTP_OPTIONS] = "OPTIONS", [VD_HTTP_TRACE] = "TRACE"};
    return verb == VD_VERB_WATCH              ? VD_SLICE("WATCH")
           : verb == VD_VERB_LIST             ? VD_SLICE("LIST")
           : verb == VD_VERB_DELETECOLLECTION ? VD_SLICE("DELETECOLLECTION")
                                              : vd_slice_of(method ? methods[method] : "");
}

static struct vd_meter *meter_of(struct vd_call *call)
{
    const struct vd_target *t = &call->target;
    struct vd_meter_labels labels = {
        .verb = metric_verb(call->x->head->method, call->kind ? t->verb : (enum vd_verb)0)};
    if (call->kind) {
        bool known = vd_slice_is(t->subresource, "status") || vd_slice_is(t->subresource, "token");
        labels.group = t->group;
        labels.version = t->version;
        labels.resource = t->resource;
        labels.subresource = known ? t->subresource : VD_SLICE("");
    }
    return vd_meters_find(call->l->meters, &labels);
}

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

struct vd_request_log *vd_request_log_attach(struct vd_call *call)
{
    const struct vd_target *t = &call->target;
    bool resource = t->is_resource;
    struct vd_access access = {
        .user = call->user,
        .verb = vd_call_verb(call),
        .group = t->group,
        .resource = resource ? t->resource : VD_SLICE(""),
        .subresource = t->subresource,
        .namespace = t->namespace,
        .name = resource ? asked_name(call) : VD_SLICE(""),
        .path = resource ? VD_SLICE("") : t->path,
    };
    struct vd_slice *parts[VD_REQUEST_LOG_PARTS];
    texts_of(&access, parts);
    size_t len = 0;
    for (size_t i = 0; i < VD_REQUEST_LOG_PARTS; i++)
        len += parts[i]->n;
    /* A watch forgets its request, so the log's line at its end needs a copy. */
    struct vd_slice agent = call->kube->options.access_log ? agent_of(call->x->head) : VD_SLICE("");
    struct vd_request_log *r = vd_malloc(sizeof *r + len + agent.n);
    char *to = r->text;
    for (size_t i = 0; i < VD_REQUEST_LOG_PARTS; i++) {
        if (parts[i]->n)
            memcpy(to, parts[i]->p, parts[i]->n);
        to += parts[i]->n;
        r->lengths[i] = (uint32_t)parts[i]->n; /* of a head, which has its limit */
    }
    if (agent.n)
        memcpy(to, agent.p, agent.n);
    r->agent_len = (uint32_t)agent.n;
    r->user = vd_user_ref(call->user);
    r->meter = meter_of(call);
    r->audit = NULL;
    call->x->request_info = r;
    return r;
}

/* ---- the end of a request ---- */

/* The user agent that the log names: the record's, or that of a request without one. */
static struct vd_slice logged_agent(const struct vd_request_log *r, const struct vd_exchange *x)
{
    if (!r)
        return agent_of(x->head);
    const char *at = r->text;
    for (size_t i = 0; i < VD_REQUEST_LOG_PARTS; i++)
        at += r->lengths[i];
    return vd_slice(at, r->agent_len);
}

/* Fields that are empty stay out of the line, and so does the query: it may hold
 * what is nobody's business. */
static void log_request(const struct vd_request_log *r, const struct vd_exchange *x,
                        uint64_t duration_ns)
{
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

void vd_kube_finished(struct vd_kube_loop *l, struct vd_exchange *x, bool log)
{
    struct vd_request_log *r = x->request_info;
    uint64_t now_ns = vd_clock_mono_ns(l->kube->clock);
    uint64_t duration_ns = x->start_ns && now_ns > x->start_ns ? now_ns - x->start_ns : 0;
    struct vd_meter_labels plain = {.verb = x->head ? metric_verb(x->head->method, (enum vd_verb)0)
                                                    : VD_SLICE("")};
    vd_meter_answered(r ? r->meter : vd_meters_find(l->meters, &plain), x->status, duration_ns);
    vd_meters_count_protocol(l->meters, x->protocol);
    if (log)
        log_request(r, x, duration_ns);
    x->request_info = NULL;
    x->stamp = NULL; /* what it points at goes */
    if (r)
        vd_audit_complete(r->audit, x);
    if (r)
        vd_user_unref(r->user);
    free(r);
}
