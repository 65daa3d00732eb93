/*
 * The way in: what a request is about, whether its user may, and which verb
 * answers it.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "kube/call_request.h"
#include "kube/call_write.h"
#include "kube/query_option.h"
#include "kube/review.h"
#include "kube/scale.h"
#include "kube/subresource.h"
#include "request/timeout_option.h"

static bool query_is(const struct vd_url_query *query, const char *key, const char *value)
{
    struct vd_slice given;
    return vd_url_query_find(query, vd_slice_of(key), &given) && vd_slice_is(given, value);
}

/* dryRun and fieldValidation of a write. False: the call has been answered. */
static bool check_write_options(struct vd_call *call)
{
    static const struct vd_slice modes[] = {{"", 0}, {"Ignore", 6}, {"Strict", 6}, {"Warn", 4}};
    enum { MODES = sizeof modes / sizeof *modes };
    enum vd_verb verb = call->target.verb;
    struct vd_slice value;
    size_t at = 0;
    if (!verb || (verb & (VD_VERB_GET | VD_VERB_LIST | VD_VERB_WATCH)))
        return true;
    while (vd_url_query_next(&call->query, VD_SLICE("dryRun"), &at, &value))
        if (value.n && !vd_call_check_dry_run(call, value))
            return false;
    if ((verb & (VD_VERB_DELETE | VD_VERB_DELETECOLLECTION)) ||
        !vd_url_query_find(&call->query, VD_SLICE("fieldValidation"), &value))
        return true;
    for (size_t i = 0; i < MODES; i++)
        if (vd_slice_eq(value, modes[i]))
            return true;
    vd_call_reply_option(
        call, vd_cause_unsupported(&call->arena, VD_SLICE("fieldValidation"), value, modes, MODES));
    return false;
}

static int parse(struct vd_call *call, struct vd_error *error)
{
    struct vd_slice path, query;
    bool watch = false;
    /* A copy: the request's bytes go when the client does, the call may stay. */
    struct vd_slice target = vd_arena_copy(&call->arena, vd_http_head_target(call->x->head));
    vd_url_split(target, &path, &query);
    int code = vd_url_query_parse(&call->query, &call->arena, query, error);
    if (!code)
        vd_query_flag(&call->query, VD_SLICE("watch"), &watch);
    if (!code)
        code = vd_target_parse(&call->target, &call->arena, call->x->head->method, path, watch,
                               error);
    /* A watch has a timeout of its own, timeoutSeconds. */
    if (!code && !(call->target.is_resource && call->target.verb == VD_VERB_WATCH))
        code = vd_timeout_option_check(&call->query, error);
    call->write.dry_run = query_is(&call->query, "dryRun", "All");
    if (query_is(&call->query, "fieldValidation", "Strict"))
        call->write.validation = VD_FIELDS_STRICT;
    else if (query_is(&call->query, "fieldValidation", "Ignore"))
        call->write.validation = VD_FIELDS_IGNORE;
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
        .no_protobuf = call->kind && !call->kind->native,
        .no_table = verb == VD_VERB_WATCH && vd_query_is_watch_list(&call->query),
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
    call->kinds = vd_kinds_snapshot(call->kube->env->kinds);
    const struct vd_kind *kind = t->is_resource ? vd_kind_set_resource(call->kinds, t->group,
                                                                       t->version, t->resource)
                                                : NULL;
    call->kind = kind && vd_kind_is_listed(kind) ? kind : NULL;
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
        .namespace = access->namespace,
    };
    return vd_status_access_denied(arena, &refused, why);
}

static bool is_allowed(struct vd_call *call, const struct vd_request_log *log)
{
    struct vd_buf reason = {0};
    bool allowed = vd_request_authorize(call->l->requests, log, &reason);
    if (!allowed) {
        struct vd_access access = vd_request_log_access(log);
        struct vd_slice why = vd_arena_copy(&call->arena, vd_buf_slice(&reason));
        struct vd_status status = vd_access_status(&call->arena, &access, why);
        vd_call_reply_status(call, &status);
    }
    vd_buf_release(&reason);
    return allowed;
}

/* Whether the kind is where the path looks for it. What belongs to the cluster must not
 * be found below a namespace: there, the rules of that namespace would open it. */
static bool is_in_place(const struct vd_call *call)
{
    const struct vd_target *t = &call->target;
    return t->in_namespace == call->kind->namespaced || (!t->in_namespace && !t->name.n);
}

/* The verbs of a subresource; 0: there is no such one. */
static uint32_t subresource_verbs(const struct vd_call *call)
{
    struct vd_subresource subs[VD_SUBRESOURCES_MAX];
    size_t n = vd_subresources(call->kinds, call->kind, subs);
    for (size_t i = 0; i < n; i++)
        if (vd_slice_eq(subs[i].name, call->target.subresource))
            return subs[i].verbs;
    return 0;
}

/* The verbs at this path. Rules with resourceNames speak of the name in the path, so no
 * verb may be had with one that does not go by it. */
static uint32_t verbs_here(const struct vd_call *call)
{
    const struct vd_target *t = &call->target;
    if (t->subresource.n)
        return subresource_verbs(call);
    uint32_t verbs = VD_VERB_LIST | VD_VERB_WATCH;
    if (t->old_watch)
        verbs = VD_VERB_WATCH;
    else if (t->name.n)
        verbs = VD_VERB_GET | VD_VERB_UPDATE | VD_VERB_PATCH | VD_VERB_DELETE;
    else if (t->in_namespace == call->kind->namespaced)
        verbs |= VD_VERB_CREATE | VD_VERB_DELETECOLLECTION;
    return call->kind->verbs & verbs;
}

static void reply_no_such_method(struct vd_call *call)
{
    struct vd_status_target status_target = vd_call_status_target(call);
    struct vd_slice verb = vd_call_verb(call);
    struct vd_status status = vd_status_method_not_allowed(
        &call->arena, &status_target, verb.n ? verb : vd_http_head_method(call->x->head));
    vd_call_reply_status(call, &status);
}

/* Whether an object could have the name of the path. */
static bool is_name(const struct vd_call *call)
{
    struct vd_key key = vd_call_key(call);
    return !call->target.name.n || !vd_key_check(&key, NULL);
}

static void reply_not_found(struct vd_call *call)
{
    struct vd_status_target status_target = vd_call_status_target(call);
    struct vd_status status = vd_status_not_found(&call->arena, &status_target);
    vd_call_reply_status(call, &status);
}

/* Whether the path is one of a version that has built-in kinds. */
static bool is_of_builtin_version(const struct vd_call *call)
{
    size_t n;
    struct vd_kind *const *kinds = vd_kind_set_all(call->kinds, &n);
    for (size_t i = 0; i < n; i++)
        if (kinds[i]->native && vd_slice_eq(kinds[i]->group, call->target.group) &&
            vd_slice_eq(kinds[i]->version, call->target.version))
            return true;
    return false;
}

/*
 * 404 for what is not there. Kubernetes answers in three ways: its own groups know their paths and
 * say so with a Status; an object of a definition without that subresource is not found; any other
 * path is nobody's.
 */
static void reply_no_resource(struct vd_call *call)
{
    struct vd_status status;
    if (call->kind && !call->kind->native && call->target.subresource.n) {
        reply_not_found(call);
    } else if (is_of_builtin_version(call)) {
        status = vd_status_no_resource(&call->arena);
        vd_call_reply_status(call, &status);
    } else {
        vd_call_reply_no_path(call);
    }
}

/* Kubernetes' own kinds have the path of all namespaces, for reading; those of definitions have it
 * for nothing else, which makes a write there a path that is nobody's. */
static bool is_write_to_all_namespaces(const struct vd_call *call)
{
    const struct vd_target *t = &call->target;
    return !call->kind->native && call->kind->namespaced && !t->in_namespace && !t->name.n &&
           !(t->verb & (VD_VERB_LIST | VD_VERB_WATCH));
}

/* Whether the path and the verb make no sense together, or the options do not; then the call has
 * been answered. */
static bool is_refused(struct vd_call *call)
{
    uint32_t verbs = verbs_here(call);
    bool sub = call->target.subresource.n;
    if (!is_in_place(call) || (sub && (!verbs || call->target.old_watch)))
        reply_no_resource(call);
    else if (is_write_to_all_namespaces(call))
        vd_call_reply_no_path(call);
    else if (!(verbs & call->target.verb))
        reply_no_such_method(call);
    else if (!is_name(call))
        reply_not_found(call);
    else
        return !check_write_options(call);
    return true;
}

static void create(struct vd_call *call)
{
    if (call->kind->terminating)
        vd_call_reply_terminating(call);
    else if (call->kind->stored)
        vd_call_create(call);
    else
        vd_call_review(call);
}

/* Who answers which verb of a subresource; "" is the object itself. Which verbs there are at a path
 * has been checked before: see verbs_here(). */
static const struct {
    const char *subresource;
    enum vd_verb verb;
    void (*serve)(struct vd_call *call);
} handlers[] = {
    {"", VD_VERB_GET, vd_call_get},
    {"", VD_VERB_LIST, vd_call_list},
    {"", VD_VERB_WATCH, vd_call_watch},
    {"", VD_VERB_CREATE, create},
    {"", VD_VERB_UPDATE, vd_call_update},
    {"", VD_VERB_PATCH, vd_call_patch},
    {"", VD_VERB_DELETE, vd_call_delete},
    {"", VD_VERB_DELETECOLLECTION, vd_call_delete_collection},
    {"status", VD_VERB_GET, vd_call_get},
    {"status", VD_VERB_UPDATE, vd_call_update},
    {"status", VD_VERB_PATCH, vd_call_patch},
    {"finalize", VD_VERB_UPDATE, vd_call_update},
    {"scale", VD_VERB_GET, vd_call_scale_get},
    {"scale", VD_VERB_UPDATE, vd_call_scale_update},
    {"scale", VD_VERB_PATCH, vd_call_scale_patch},
    {"token", VD_VERB_CREATE, vd_call_token_request},
};

static void serve(struct vd_call *call)
{
    if (is_refused(call))
        return;
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (handlers[i].verb == call->target.verb &&
            vd_slice_is(call->target.subresource, handlers[i].subresource)) {
            handlers[i].serve(call);
            return;
        }
    reply_no_resource(call);
}

/* A call whose user may do what it asks for; NULL: it has been answered. */
static struct vd_call *begin(struct vd_kube_loop *l, struct vd_exchange *x, struct vd_user *user)
{
    struct vd_call *call = vd_call_new(l);
    struct vd_error error;
    call->x = x;
    call->user = vd_user_ref(user);
    int code = parse(call, &error);
    find_kind(call);
    struct vd_request request = vd_call_request(call);
    const struct vd_request_log *log = vd_request_begin(l->requests, &request);
    vd_call_audit_body(call, log->audit);
    if (code) {
        struct vd_status status = vd_status_bad_request(&call->arena, vd_slice_of(error.text));
        vd_call_reply_status(call, &status);
        return NULL;
    }
    bool goes = (!call->kind || negotiate(call)) && is_allowed(call, log);
    return goes ? call : NULL;
}

void vd_kube_handle(struct vd_kube_loop *l, struct vd_exchange *x, struct vd_user *user)
{
    struct vd_call *call = begin(l, x, user);
    if (!call)
        return;
    if (call->kind)
        serve(call);
    else if (!vd_call_document(call))
        reply_no_resource(call);
}
