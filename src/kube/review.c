/*
 * Reviews: questions about access that are asked by creating an object and
 * answered in its status. Nothing is stored.
 */
#include "kube/review.h"

#include <assert.h>

#include "auth/access.h"
#include "base/human_time.h"
#include "kinds/object_meta.h"
#include "kube/call_write.h"
#include "kube/decode.h"
#include "kube/subresource.h"
#include "json/parse.h"
#include "json/write.h"

static struct vd_slice text_at(const struct vd_json *object, const char *key)
{
    return vd_json_text(vd_json_get(object, vd_slice_of(key)));
}

static struct vd_json *string(struct vd_call *call, struct vd_slice text)
{
    return vd_json_string(&call->arena, text);
}

static void answer(struct vd_call *call, struct vd_json *object, struct vd_json *status)
{
    struct vd_arena *a = &call->arena;
    if (!vd_json_get(object, VD_SLICE("metadata")))
        vd_json_add_ref(object, VD_SLICE("metadata"), vd_json_object(a));
    vd_json_set(a, object, VD_SLICE("status"), status);
    struct vd_buf json = {0};
    vd_json_write(&json, object);
    vd_call_reply_json(call, 201, vd_buf_slice(&json));
    vd_buf_release(&json);
}

/* ---- may they ---- */

static struct vd_access access_of(const struct vd_json *spec, const struct vd_user *user)
{
    const struct vd_json *r = vd_json_get(spec, VD_SLICE("resourceAttributes"));
    const struct vd_json *path = vd_json_get(spec, VD_SLICE("nonResourceAttributes"));
    if (!r)
        return (struct vd_access){
            .user = user, .verb = text_at(path, "verb"), .path = text_at(path, "path")};
    return (struct vd_access){
        .user = user,
        .verb = text_at(r, "verb"),
        .group = text_at(r, "group"),
        .resource = text_at(r, "resource"),
        .subresource = text_at(r, "subresource"),
        .namespace = text_at(r, "namespace"),
        .name = text_at(r, "name"),
    };
}

static struct vd_json *verdict(struct vd_call *call, const struct vd_json *spec,
                               const struct vd_user *user)
{
    struct vd_arena *a = &call->arena;
    struct vd_access access = access_of(spec, user);
    struct vd_rbac *rbac = vd_gatekeeper_rbac(call->kube->env->gatekeeper);
    struct vd_buf reason = {0};
    struct vd_json *status = vd_json_object(a);
    bool allowed = vd_rbac_decide(rbac, &access, &reason);
    vd_json_add_ref(status, VD_SLICE("allowed"), vd_json_bool(a, allowed));
    if (reason.n)
        vd_json_add_ref(status, VD_SLICE("reason"), string(call, vd_buf_slice(&reason)));
    vd_buf_release(&reason);
    vd_rbac_unref(rbac);
    return status;
}

static bool refuse(struct vd_call *call, const char *why)
{
    struct vd_status status = vd_status_bad_request(&call->arena, vd_slice_of(why));
    vd_call_reply_status(call, &status);
    return false;
}

/* Whoever may ask about one namespace may ask about that one only. */
static bool check_local(struct vd_call *call, const struct vd_json *spec)
{
    struct vd_slice namespace = call->target.namespace;
    struct vd_error error;
    if (vd_slice_eq(access_of(spec, NULL).namespace, namespace))
        return true;
    vd_error_set(&error, VD_ERR_INVALID,
                 "spec.resourceAttributes.namespace must match namespace: %.*s", VD_FMT(namespace));
    return refuse(call, error.text);
}

static bool check_rules(struct vd_call *call, const struct vd_json *spec)
{
    return text_at(spec, "namespace").n || refuse(call, "no namespace on request");
}

static bool check_token(struct vd_call *call, const struct vd_json *spec)
{
    return text_at(spec, "token").n ||
           refuse(call, "token is required for TokenReview in authentication");
}

/* The user that a SubjectAccessReview speaks of. */
static struct vd_user *subject(struct vd_call *call, const struct vd_json *spec)
{
    const struct vd_json *list = vd_json_get(spec, VD_SLICE("groups"));
    size_t n = 0;
    struct vd_slice *groups = vd_arena_alloc(&call->arena,
                                             (vd_json_count(list) + 1) * sizeof *groups);
    for (const struct vd_json *g = vd_json_first(list); g; g = vd_json_next(g))
        groups[n++] = vd_json_text(g);
    return vd_user_new(&(struct vd_identity){.name = text_at(spec, "user"),
                                             .uid = text_at(spec, "uid"),
                                             .groups = groups,
                                             .groups_n = n,
                                             .method = VD_AUTH_ANONYMOUS});
}

static struct vd_json *review_subject(struct vd_call *call, const struct vd_json *spec)
{
    struct vd_user *user = subject(call, spec);
    struct vd_json *status = verdict(call, spec, user);
    vd_user_unref(user);
    return status;
}

static struct vd_json *review_self(struct vd_call *call, const struct vd_json *spec)
{
    return verdict(call, spec, call->user);
}

static struct vd_json *review_rules(struct vd_call *call, const struct vd_json *spec)
{
    struct vd_rbac *rbac = vd_gatekeeper_rbac(call->kube->env->gatekeeper);
    const struct vd_json *status = vd_rbac_rules_review(rbac, call->user,
                                                        text_at(spec, "namespace"), &call->arena);
    struct vd_json *copy = vd_json_copy(&call->arena, status);
    vd_rbac_unref(rbac);
    return copy;
}

/* ---- who are they ---- */

static struct vd_json *user_info(struct vd_call *call, const struct vd_user *user)
{
    struct vd_arena *a = &call->arena;
    struct vd_json *info = vd_json_object(a), *groups = vd_json_array(a);
    vd_json_add_ref(info, VD_SLICE("username"), string(call, user->is.name));
    if (user->is.uid.n)
        vd_json_add_ref(info, VD_SLICE("uid"), string(call, user->is.uid));
    for (size_t i = 0; i < user->is.groups_n; i++)
        vd_json_append(groups, string(call, user->is.groups[i]));
    vd_json_add_ref(info, VD_SLICE("groups"), groups);
    if (!user->is.extra_n)
        return info;
    struct vd_json *extra = vd_json_object(a);
    for (size_t i = 0; i < user->is.extra_n; i++) {
        struct vd_json *values = vd_json_array(a);
        for (size_t k = 0; k < user->is.extra[i].values_n; k++)
            vd_json_append(values, string(call, user->is.extra[i].values[k]));
        vd_json_add(a, extra, user->is.extra[i].key, values);
    }
    vd_json_add_ref(info, VD_SLICE("extra"), extra);
    return info;
}

static struct vd_json *review_who(struct vd_call *call, const struct vd_json *spec)
{
    (void)spec;
    struct vd_json *status = vd_json_object(&call->arena);
    vd_json_add_ref(status, VD_SLICE("userInfo"), user_info(call, call->user));
    return status;
}

static struct vd_json *review_token(struct vd_call *call, const struct vd_json *spec)
{
    struct vd_arena *a = &call->arena;
    struct vd_json *status = vd_json_object(a);
    struct vd_user *user = NULL;
    struct vd_error error;
    int code = vd_gatekeeper_identify_token(call->kube->env->gatekeeper, text_at(spec, "token"),
                                            &user, &error);
    vd_json_add_ref(status, VD_SLICE("authenticated"), vd_json_bool(a, !code));
    if (code)
        vd_json_add_ref(status, VD_SLICE("error"), string(call, vd_slice_of(error.text)));
    else
        vd_json_add_ref(status, VD_SLICE("user"), user_info(call, user));
    vd_user_unref(user);
    return status;
}

void vd_call_review(struct vd_call *call)
{
    static const struct {
        const char *kind;
        struct vd_json *(*review)(struct vd_call *call, const struct vd_json *spec);
        /* What the schema cannot say. False: the call has been answered. */
        bool (*check)(struct vd_call *call, const struct vd_json *spec);
    } reviews[] = {
        {"SelfSubjectAccessReview", review_self, NULL},
        {"SubjectAccessReview", review_subject, NULL},
        {"LocalSubjectAccessReview", review_subject, check_local},
        {"SelfSubjectRulesReview", review_rules, check_rules},
        {"SelfSubjectReview", review_who, NULL},
        {"TokenReview", review_token, check_token},
    };
    struct vd_json *object = NULL;
    if (!vd_call_read_question(call, call->kind, &object))
        return;
    const struct vd_json *spec = vd_json_get(object, VD_SLICE("spec"));
    for (size_t i = 0; i < sizeof reviews / sizeof *reviews; i++)
        if (vd_slice_is(call->kind->kind, reviews[i].kind)) {
            if (reviews[i].check && !reviews[i].check(call, spec))
                return;
            answer(call, object, reviews[i].review(call, spec));
            return;
        }
    struct vd_status_target status_target = vd_call_status_target(call);
    struct vd_status status = vd_status_method_not_allowed(&call->arena, &status_target,
                                                           VD_SLICE("create"));
    vd_call_reply_status(call, &status);
}

/* ---- tokens of ServiceAccounts ---- */

static struct vd_slice *audiences_of(struct vd_call *call, const struct vd_json *spec, size_t *n)
{
    const struct vd_json *list = vd_json_get(spec, VD_SLICE("audiences"));
    struct vd_slice *out = vd_arena_alloc(&call->arena, (vd_json_count(list) + 1) * sizeof *out);
    *n = 0;
    for (const struct vd_json *item = vd_json_first(list); item; item = vd_json_next(item))
        out[(*n)++] = vd_json_text(item);
    return out;
}

/* What is sent to the subresource of the call. */
static const struct vd_kind *body_kind(const struct vd_call *call)
{
    struct vd_subresource subs[VD_SUBRESOURCES_MAX];
    size_t n = vd_subresources(call->kinds, call->kind, subs);
    while (n > 0 && !vd_slice_eq(subs[n - 1].name, call->target.subresource))
        n--;
    assert(n > 0); /* or the way in would have answered */
    return subs[n - 1].body;
}

/* The object that the token is to end with, which must exist: spec.boundObjectRef. False:
 * the call has been answered. */
static bool find_bound(struct vd_call *call, const struct vd_json *spec,
                       struct vd_bound_object *out)
{
    static const struct {
        const char *kind, *resource;
        bool namespaced;
    } kinds[] = {{"Secret", "secrets", true}, {"Pod", "pods", true}, {"Node", "nodes", false}};
    const struct vd_json *ref = vd_json_get(spec, VD_SLICE("boundObjectRef"));
    struct vd_slice kind = vd_json_text(vd_json_get(ref, VD_SLICE("kind")));
    struct vd_slice version = vd_json_text(vd_json_get(ref, VD_SLICE("apiVersion")));
    struct vd_slice uid = vd_json_text(vd_json_get(ref, VD_SLICE("uid")));
    struct vd_error error;
    struct vd_status status;
    *out = (struct vd_bound_object){.name = vd_json_text(vd_json_get(ref, VD_SLICE("name")))};
    if (!vd_json_is(ref, VD_JSON_OBJECT))
        return true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (vd_slice_is(kind, kinds[i].kind) && vd_slice_is(version, "v1")) {
            out->resource = vd_slice_of(kinds[i].resource);
            out->namespace = kinds[i].namespaced ? call->target.namespace : VD_SLICE("");
        }
    struct vd_key key = {out->resource, out->namespace, out->name};
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    struct vd_status_target status_target = {.plural = out->resource, .name = out->name};
    int code = out->resource.n ? vd_api_get(call->l->api->env, &key, 0, &event, &error) : VD_OK;
    if (!code && event)
        code = vd_json_parse_copy(&call->arena, vd_body_slice(event->body), NULL, &object, &error);
    vd_event_unref(event);
    out->uid = vd_meta_text(object, VD_SLICE("uid"));
    if (!out->resource.n) {
        vd_error_set(&error, VD_ERR_INVALID,
                     "cannot bind token to object of type %s%.*s, Kind=%.*s",
                     version.n && memchr(version.p, '/', version.n) ? "" : "/", VD_FMT(version),
                     VD_FMT(kind));
        status = vd_status_bad_request(&call->arena, vd_slice_of(error.text));
    } else if (code) {
        status = vd_status_of_error(&call->arena, &status_target, code, &error);
    } else if (uid.n && !vd_slice_eq(uid, out->uid)) {
        status_target.plural = kind;
        vd_error_set(&error, VD_ERR_CONFLICT,
                     "the UID in the bound object reference (%.*s) does not match the UID in "
                     "record. The object might have been deleted and then recreated",
                     VD_FMT(uid));
        status = vd_status_conflict(&call->arena, &status_target, vd_slice_of(error.text));
    } else {
        return true;
    }
    vd_call_reply_status(call, &status);
    return false;
}

/* The ServiceAccount of the path. False: the call has been answered. */
static bool read_account(struct vd_call *call, struct vd_json **out)
{
    struct vd_key key = vd_call_key(call);
    struct vd_event *event = NULL;
    struct vd_error error;
    int code = vd_api_get(call->l->api->env, &key, 0, &event, &error);
    if (!code)
        code = vd_json_parse_copy(&call->arena, vd_body_slice(event->body), NULL, out, &error);
    vd_event_unref(event);
    if (code)
        vd_call_reply_error(call, code, &error);
    return !code;
}

void vd_call_token_request(struct vd_call *call)
{
    struct vd_json *object = NULL, *account = NULL;
    struct vd_error error;
    struct vd_buf token = {0};
    int64_t expiry_s = 0, expires_ms = 0;
    size_t audiences_n;
    if (!vd_call_read_question(call, body_kind(call), &object) || !read_account(call, &account))
        return;
    struct vd_json *spec = vd_json_get(object, VD_SLICE("spec"));
    struct vd_bound_object bound;
    if (!find_bound(call, spec, &bound))
        return;
    if (!vd_json_to_i64(vd_json_get(spec, VD_SLICE("expirationSeconds")), &expiry_s))
        expiry_s = 0;
    struct vd_slice *audiences = audiences_of(call, spec, &audiences_n);
    int code = call->kube->accounts
                   ? vd_service_account_issue(
                         call->kube->accounts,
                         &(struct vd_token_request){
                             .namespace = call->target.namespace,
                             .name = call->target.name,
                             .uid = vd_meta_text(account, VD_SLICE("uid")),
                             .audiences = audiences,
                             .audiences_n = audiences_n,
                             .expiry_s = expiry_s,
                             .bound = bound,
                             .now_ms = vd_clock_wall_ms(call->kube->env->clock)},
                         &token, &expires_ms, &error)
                   : vd_error_set(&error, VD_ERR_INVALID, "this server issues no tokens");
    if (code) {
        vd_call_reply_error(call, code, &error);
        return;
    }
    struct vd_json *status = vd_json_object(&call->arena);
    char when[VD_RFC3339_MAX];
    vd_json_add_ref(status, VD_SLICE("token"), string(call, vd_buf_slice(&token)));
    vd_json_add_ref(status, VD_SLICE("expirationTimestamp"),
                    string(call, vd_rfc3339_format(expires_ms, when)));
    vd_buf_release(&token);
    answer(call, object, status);
}
