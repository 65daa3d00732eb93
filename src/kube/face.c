/*
 * The way in: what a request is about, whether its user may, and which verb
 * answers it.
 */
#include <stdlib.h>
#include <strings.h>

#include "base/alloc.h"
#include "kube/call.h"
#include "kube/record.h"
#include "kube/review.h"
#include "kube/scale.h"

enum { SUBRESOURCE_VERBS = VD_VERB_GET | VD_VERB_UPDATE | VD_VERB_PATCH };

static bool query_is(const struct vd_url_query *query, const char *key, const char *value)
{
    struct vd_slice given;
    return vd_url_query_find(query, vd_slice_of(key), &given) && vd_slice_is(given, value);
}

/* Any word but these two, as Kubernetes has it: the Python client says watch=True. */
static bool wants_watch(const struct vd_url_query *query)
{
    struct vd_slice value;
    if (!vd_url_query_find(query, VD_SLICE("watch"), &value))
        return false;
    return !vd_slice_is(value, "0") &&
           !(value.n == 5 && strncasecmp(value.p, "false", value.n) == 0);
}

static int parse(struct vd_call *call, struct vd_error *error)
{
    struct vd_slice path, query;
    /* A copy: the request's bytes go when the client does, the call may stay. */
    struct vd_slice target = vd_arena_copy(&call->arena, vd_http_head_target(call->x->head));
    vd_url_split(target, &path, &query);
    int code = vd_url_query_parse(&call->query, &call->arena, query, error);
    if (!code)
        code = vd_target_parse(&call->target, &call->arena, call->x->head->method, path,
                               wants_watch(&call->query), error);
    call->dry_run = query_is(&call->query, "dryRun", "All");
    if (query_is(&call->query, "fieldValidation", "Strict"))
        call->validation = VD_FIELDS_STRICT;
    else if (query_is(&call->query, "fieldValidation", "Ignore"))
        call->validation = VD_FIELDS_IGNORE;
    return code;
}

/* How the client wants its answer. False: it wants what there is not, and has been
 * told. */
static bool negotiate(struct vd_call *call)
{
    struct vd_accept accept;
    struct vd_slice value, agent = VD_SLICE("");
    struct vd_error error;
    size_t at = 0;
    vd_accept_init(&accept);
    while (vd_http_head_next(call->x->head, VD_SLICE("accept"), &at, &value))
        if (vd_accept_add(&accept, value, NULL))
            break; /* enough ranges to choose from */
    if (!vd_http_head_find(call->x->head, VD_SLICE("user-agent"), &agent))
        agent = VD_SLICE("");
    enum vd_verb verb = call->target.verb;
    struct vd_kube_output_request request = {
        .accept = &accept,
        .query = &call->query,
        .user_agent = agent,
        .scope = !call->kind || !call->kind->stored                         ? VD_OUTPUT_OF_DOCUMENT
                 : verb == VD_VERB_WATCH                                    ? VD_OUTPUT_OF_WATCH
                 : verb == VD_VERB_LIST || verb == VD_VERB_DELETECOLLECTION ? VD_OUTPUT_OF_LIST
                                                                            : VD_OUTPUT_OF_OBJECT,
        .no_protobuf = call->kind && !call->kind->builtin,
    };
    int code = vd_kube_output_negotiate(&call->output, &request, &call->arena, &error);
    if (!code)
        return true;
    call->output = (struct vd_kube_output){0};
    struct vd_status status = code == VD_ERR_NOT_FOUND
                                  ? vd_status_not_acceptable(&call->arena,
                                                             vd_kube_output_accepted(&request))
                                  : vd_status_bad_request(&call->arena, vd_slice_of(error.text));
    vd_call_reply_status(call, &status);
    return false;
}

static void find_kind(struct vd_call *call)
{
    const struct vd_target *t = &call->target;
    call->kinds = vd_kinds_snapshot(call->kube->kinds);
    const struct vd_kind *kind = t->is_resource ? vd_kind_set_resource(call->kinds, t->group,
                                                                       t->version, t->resource)
                                                : NULL;
    call->kind = kind && kind->served ? kind : NULL;
}

/* A path that nobody serves: plain text, as client-go knows it. */
static void reply_no_such_path(struct vd_call *call)
{
    vd_call_reply(call, 404, VD_SLICE("text/plain; charset=utf-8"),
                  VD_SLICE("404 page not found\n"));
}

struct vd_status vd_access_status(struct vd_arena *arena, const struct vd_access *access,
                                  struct vd_slice why)
{
    struct vd_status_access refused = {
        .user = access->user->is.name,
        .verb = access->verb,
        .path = access->path,
        .target = {.group = access->group, .plural = access->resource, .name = access->name},
        .subresource = access->subresource,
        .space = access->space,
    };
    return vd_status_access_denied(arena, &refused, why);
}

static bool is_allowed(struct vd_call *call, const struct vd_access *access)
{
    struct vd_buf reason = {0};
    bool allowed = call->kube->allowed(call->kube->arg, access, &reason);
    if (!allowed) {
        struct vd_slice why = vd_arena_copy(&call->arena, vd_buf_slice(&reason));
        struct vd_status status = vd_access_status(&call->arena, access, why);
        vd_call_reply_status(call, &status);
    }
    vd_buf_release(&reason);
    return allowed;
}

struct vd_slice vd_call_verb(const struct vd_call *call)
{
    static const char *const methods[] = {
        [VD_HTTP_GET] = "get",         [VD_HTTP_HEAD] = "head",   [VD_HTTP_POST] = "post",
        [VD_HTTP_PUT] = "put",         [VD_HTTP_PATCH] = "patch", [VD_HTTP_DELETE] = "delete",
        [VD_HTTP_OPTIONS] = "options", [VD_HTTP_TRACE] = "trace"};
    enum vd_http_method method = call->x->head->method;
    if (call->target.is_resource && call->target.verb)
        return vd_slice_of(vd_verb_name((enum vd_verb_bit)__builtin_ctz(call->target.verb)));
    return vd_slice_of(method ? methods[method] : "");
}

/* The kind will be gone soon: it takes no new objects. */
static void reply_terminating(struct vd_call *call)
{
    struct vd_status_target about = vd_call_about(call);
    struct vd_status status = vd_status_method_not_allowed(&call->arena, &about,
                                                           vd_call_verb(call));
    status.message = VD_SLICE("create not allowed while custom resource definition is "
                              "terminating");
    vd_call_reply_status(call, &status);
}

/* A Scale has no columns of its own. */
static void serve_scale(struct vd_call *call)
{
    if (call->output.form == VD_OUTPUT_TABLE)
        call->output.form = VD_OUTPUT_PLAIN;
    if (call->target.verb == VD_VERB_GET)
        vd_call_scale_get(call);
    else if (call->target.verb == VD_VERB_UPDATE)
        vd_call_scale_update(call);
    else
        vd_call_scale_patch(call);
}

static void serve(struct vd_call *call)
{
    enum vd_verb verb = call->target.verb;
    struct vd_slice sub = call->target.subresource;
    bool scales = vd_slice_is(sub, "scale") && call->kind->has_scale;
    bool known_sub = !sub.n || scales || (vd_slice_is(sub, "status") && call->kind->has_status);
    uint32_t verbs = call->kind->verbs & (sub.n ? SUBRESOURCE_VERBS : VD_VERB_ALL);
    bool is_token = vd_slice_is(sub, "token") && verb == VD_VERB_CREATE &&
                    vd_slice_is(call->kind->storage_key, "serviceaccounts");
    if (is_token) {
        vd_call_token_request(call);
    } else if (!known_sub) {
        reply_no_such_path(call);
    } else if (!(verbs & verb)) {
        struct vd_status_target about = vd_call_about(call);
        struct vd_status status = vd_status_method_not_allowed(&call->arena, &about,
                                                               vd_call_verb(call));
        vd_call_reply_status(call, &status);
    } else if (verb == VD_VERB_CREATE && call->kind->terminating) {
        reply_terminating(call);
    } else if (scales) {
        serve_scale(call);
    } else if (verb == VD_VERB_GET) {
        vd_call_get(call);
    } else if (verb == VD_VERB_LIST) {
        vd_call_list(call);
    } else if (verb == VD_VERB_WATCH) {
        vd_call_watch(call);
    } else if (verb == VD_VERB_CREATE && !call->kind->stored) {
        vd_call_review(call);
    } else if (verb == VD_VERB_CREATE) {
        vd_call_create(call);
    } else if (verb == VD_VERB_UPDATE) {
        vd_call_update(call);
    } else if (verb == VD_VERB_PATCH) {
        vd_call_patch(call);
    } else if (verb == VD_VERB_DELETE) {
        vd_call_delete(call);
    } else if (verb == VD_VERB_DELETECOLLECTION) {
        vd_call_delete_collection(call);
    } else {
        reply_no_such_path(call);
    }
}

void vd_kube_handle(struct vd_kube_loop *l, struct vd_exchange *x, struct vd_user *user)
{
    struct vd_call *call = VD_NEW(struct vd_call);
    struct vd_error error;
    call->kube = l->kube;
    call->l = l;
    call->x = x;
    call->user = vd_user_ref(user);
    call->arena = l->spare;
    l->spare = (struct vd_arena){0};
    int code = parse(call, &error);
    find_kind(call);
    struct vd_record *record = vd_record_attach(call);
    if (code) {
        struct vd_status status = vd_status_bad_request(&call->arena, vd_slice_of(error.text));
        vd_call_reply_status(call, &status);
        return;
    }
    if ((call->kind && !negotiate(call)) || !is_allowed(call, &record->access))
        return;
    if (call->kind)
        serve(call);
    else if (!vd_call_document(call))
        reply_no_such_path(call);
}
