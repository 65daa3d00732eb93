/* See call_request.h. */
#include "kube/call_request.h"

#include "kube/decode.h"
#include "kube/protobuf/protobuf.h"
#include "kube/query_option.h"
#include "json/parse.h"
#include "json/yaml_read.h"

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
    return verb == VD_VERB_WATCH              ? VD_SLICE("WATCH")
           : verb == VD_VERB_LIST             ? VD_SLICE("LIST")
           : verb == VD_VERB_DELETECOLLECTION ? VD_SLICE("DELETECOLLECTION")
                                              : vd_request_metric_verb(method);
}

/* A path of no kind that exists is counted by its method alone: a client can make up any path. */
static struct vd_meter_labels labels_of(const struct vd_call *call)
{
    const struct vd_target *t = &call->target;
    enum vd_http_method method = call->x->head->method;
    if (!call->kind)
        return (struct vd_meter_labels){.verb = metric_verb(method, (enum vd_verb)0)};
    bool known = vd_slice_is(t->subresource, "status") || vd_slice_is(t->subresource, "token");
    return (struct vd_meter_labels){.verb = metric_verb(method, t->verb),
                                    .group = t->group,
                                    .version = t->version,
                                    .resource = t->resource,
                                    .subresource = known ? t->subresource : VD_SLICE("")};
}

static struct vd_slice verb_of(const struct vd_target *t, const struct vd_exchange *x)
{
    if (t->is_resource && t->verb)
        return vd_slice_of(vd_verb_name((enum vd_verb_bit)__builtin_ctz(t->verb)));
    return vd_request_verb(x->head->method);
}

struct vd_slice vd_call_verb(const struct vd_call *call)
{
    return verb_of(&call->target, call->x);
}

static struct vd_access access_of(const struct vd_target *t, const struct vd_user *user,
                                  const struct vd_exchange *x)
{
    return (struct vd_access){.user = user,
                              .verb = verb_of(t, x),
                              .group = t->group,
                              .resource = t->is_resource ? t->resource : VD_SLICE(""),
                              .subresource = t->subresource,
                              .namespace = t->namespace,
                              .name = t->is_resource ? t->name : VD_SLICE(""),
                              .path = t->is_resource ? VD_SLICE("") : t->path};
}

struct vd_request vd_call_request(struct vd_call *call)
{
    const struct vd_target *t = &call->target;
    struct vd_request request = {.x = call->x,
                                 .user = call->user,
                                 .access = access_of(t, call->user, call->x),
                                 .api_version = t->version,
                                 .labels = labels_of(call)};
    if (t->is_resource)
        request.access.name = asked_name(call);
    return request;
}

struct vd_request vd_refused_request(struct vd_exchange *x, struct vd_arena *arena)
{
    struct vd_target target = {0};
    struct vd_slice path, query;
    vd_url_split(vd_http_head_target(x->head), &path, &query);
    if (vd_target_parse(&target, arena, x->head->method, path, false, NULL))
        target = (struct vd_target){.path = path};
    return (struct vd_request){.x = x,
                               .user = x->user,
                               .access = access_of(&target, x->user, x),
                               .api_version = target.version};
}

/* ---- for the audit log ---- */

void vd_call_audit_body(const struct vd_call *call, struct vd_audit_entry *entry)
{
    const struct vd_exchange *x = call->x;
    struct vd_arena arena = {0};
    struct vd_json *document = NULL;
    struct vd_slice type;
    int code;
    if (!vd_audit_wants_body(entry) || !x->body.n)
        return;
    if (!vd_http_head_find(x->head, VD_SLICE("content-type"), &type))
        type = vd_slice(NULL, 0);
    enum vd_body_format format = vd_body_format(type);
    if (format == VD_BODY_PROTOBUF)
        code = vd_protobuf_decode(&arena, x->body, NULL, &document, NULL);
    else if (format == VD_BODY_YAML || format == VD_BODY_OTHER) /* server-side apply sends YAML */
        code = vd_yaml_read(&arena, x->body, &document, NULL);
    else
        code = vd_json_parse(&arena, x->body, NULL, &document, NULL);
    if (!code)
        vd_audit_body(entry, document);
    vd_arena_release(&arena);
}

struct vd_audit_answer vd_status_audit_answer(const struct vd_status *status, struct vd_slice json)
{
    return (struct vd_audit_answer){.success = status->success,
                                    .reason = status->reason,
                                    .message = status->message,
                                    .json = json};
}
