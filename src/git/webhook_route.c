/*
 * See webhook_route.h. Nobody logs in here: the signature is the credential. Who may not know of a
 * repository learns no more than that it has no webhook.
 */
#include "git/webhook_route.h"

#include "api/read.h"
#include "base/base64.h"
#include "base/limits.h"
#include "base/log.h"
#include "git/answer.h"
#include "git/follow_metrics.h"
#include "git/repository.h"
#include "net/connection.h"
#include "net/url.h"
#include "request/request.h"
#include "json/parse.h"

struct call {
    struct vd_git *git;
    struct vd_exchange *x;
    struct vd_user *user; /* system:anonymous: nobody logs in */
    struct vd_slice namespace, name;
    bool is_webhook;
    struct vd_arena arena;
    struct vd_repository repository;
    struct vd_buf secret;
};

static struct vd_json *get(struct call *c, const char *resource, struct vd_slice name)
{
    struct vd_key key = {vd_slice_of(resource), c->namespace, name};
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    if (vd_key_check(&key, NULL) || vd_api_get(c->git->env, &key, 0, &event, NULL))
        return NULL;
    if (!event->body ||
        vd_json_parse_copy(&c->arena, vd_body_slice(event->body), NULL, &object, NULL))
        object = NULL;
    vd_event_unref(event);
    return object;
}

/* False: there is no such repository, or it has no webhook. */
static bool find(struct call *c)
{
    struct vd_error error;
    const struct vd_json *object = get(c, VD_REPOSITORY_RESOURCE, c->name);
    if (!object || vd_repository_read(&c->repository, object, &error) || !c->repository.remote)
        return false;
    const struct vd_json *name = vd_json_dig(c->repository.remote, "webhookSecretRef", "name",
                                             NULL);
    const struct vd_json *secret = name ? get(c, "secrets", vd_json_text(name)) : NULL;
    struct vd_slice text = vd_json_text(vd_json_dig(secret, "data", "secret", NULL));
    return text.n && text.n <= VD_GIT_CREDENTIAL_LEN_MAX &&
           !vd_base64_decode(&c->secret, text, VD_BASE64_STANDARD) && c->secret.n;
}

static struct vd_slice header(const struct vd_exchange *x, const char *name)
{
    struct vd_slice value = VD_SLICE("");
    (void)!vd_http_head_find(x->head, vd_slice_of(name), &value);
    return value;
}

static void hurry(struct call *c)
{
    struct vd_buf key = {0};
    vd_buf_addf(&key, "%.*s/%.*s", VD_FMT(c->namespace), VD_FMT(c->name));
    vd_log_info("a webhook asks for a fetch", VD_F_SLICE("repository", vd_buf_slice(&key)));
    vd_followers_hurry(c->git->followers, vd_buf_slice(&key));
    vd_buf_release(&key);
}

/* ---- the answer ---- */

static struct vd_request request_of(struct call *c)
{
    return (struct vd_request){.x = c->x,
                               .user = c->user,
                               .access = {.user = c->user,
                                          .verb = VD_SLICE("create"),
                                          .group = VD_SLICE(VD_GIT_GROUP),
                                          .resource = VD_SLICE("repositories"),
                                          .subresource = VD_SLICE("webhook"),
                                          .namespace = c->namespace,
                                          .name = c->name},
                               .api_version = VD_SLICE("v1"),
                               .labels = {.verb = VD_SLICE("POST"),
                                          .group = VD_SLICE(VD_GIT_GROUP),
                                          .version = VD_SLICE("v1"),
                                          .resource = VD_SLICE("repositories"),
                                          .subresource = VD_SLICE("webhook")}};
}

/* `result` is counted; "": it is not. */
static void answer(struct call *c, unsigned status, const char *result, const char *reason,
                   const char *text)
{
    if (*result)
        vd_follow_count_webhook(result);
    vd_audit_answer(vd_request_log_audit(c->x),
                    &(struct vd_audit_answer){.success = status < 300,
                                              .reason = vd_slice_of(reason),
                                              .message = vd_slice_of(text)});
    vd_git_answer(c->x, status, text);
}

static void answer_limited(struct call *c)
{
    answer(c, 429, "limited", "TooManyRequests",
           "too many webhooks are called: try again in a second");
}

static struct vd_slice address_of(const struct call *c)
{
    const struct vd_peer *peer = &c->x->connection->peer;
    return vd_slice((const char *)peer->bytes, peer->len);
}

static void judge(struct call *c, uint64_t now_ms)
{
    struct vd_webhook_request request = {
        .repository = vd_slice_of(c->repository.uid),
        .body = c->x->body,
        .signature = header(c->x, "x-hub-signature-256"),
        .token = header(c->x, "x-gitlab-token"),
    };
    switch (vd_webhook_judge(&c->git->webhooks, &request, vd_buf_slice(&c->secret), now_ms)) {
    case VD_WEBHOOK_ACCEPTED:
        hurry(c);
        answer(c, 202, "accepted", "", "the remote will be fetched");
        return;
    case VD_WEBHOOK_REPLAYED:
        answer(c, 409, "replayed", "Conflict", "this call has come before");
        return;
    case VD_WEBHOOK_LIMITED:
        answer_limited(c);
        return;
    case VD_WEBHOOK_REFUSED:
        vd_webhooks_refused(&c->git->webhooks, address_of(c), c->x->body.n, now_ms);
        answer(c, 403, "refused", "Forbidden",
               "the signature is not good: X-Hub-Signature-256 has to be the HMAC-SHA256 of the "
               "body, or X-Gitlab-Token the secret itself");
    }
}

/* Reads whose webhook it is, and begins its line of the logs. */
static void begin(struct call *c)
{
    struct vd_slice path, query;
    vd_url_split(vd_http_head_target(c->x->head), &path, &query);
    c->is_webhook = vd_smart_http_webhook(path, &c->namespace, &c->name);
    c->user = vd_user_new_anonymous();
    struct vd_request request = request_of(c);
    (void)vd_request_begin(vd_git_requests(c->git, c->x), &request);
}

static void end(struct call *c)
{
    if (c->secret.p)
        explicit_bzero(c->secret.p, c->secret.n);
    vd_buf_release(&c->secret);
    vd_arena_release(&c->arena);
    vd_user_unref(c->user);
}

static void handle(struct vd_http_service *service, struct vd_exchange *x)
{
    struct call c = {.git = x->route->arg, .x = x};
    uint64_t now_ms = vd_clock_mono_ns(c.git->env->clock) / 1000000;
    (void)service;
    begin(&c);
    if (x->head->method != VD_HTTP_POST)
        answer(&c, 405, "", "MethodNotAllowed", "POST");
    else if (!vd_webhooks_look(&c.git->webhooks, address_of(&c), x->body.n, now_ms))
        answer_limited(&c);
    else if (!c.git->followers || !c.is_webhook || !find(&c))
        answer(&c, 404, "", "NotFound", "there is no webhook here");
    else
        judge(&c, now_ms);
    end(&c);
}

static bool matches(const struct vd_route *route, const struct vd_http_head *head)
{
    struct vd_slice path, query, namespace, name;
    (void)route;
    vd_url_split(vd_http_head_target(head), &path, &query);
    return vd_smart_http_webhook(path, &namespace, &name);
}

static void refuse(struct vd_http_service *service, struct vd_exchange *x,
                   const struct vd_route_refusal *refusal)
{
    (void)service;
    vd_git_answer(x, refusal->status, refusal->why);
}

static void list(const struct vd_route *route, struct vd_buf *out)
{
    (void)route;
    (void)out; /* a list of paths names no repositories */
}

void vd_webhook_route_add(struct vd_git *git, struct vd_route_table *routes)
{
    git->webhook_route = (struct vd_route){.prefix = VD_SLICE(""),
                                           .matches = matches,
                                           .body_len_max = VD_GIT_WEBHOOK_LEN_MAX,
                                           .is_open = true,
                                           .handle = handle,
                                           .refuse = refuse,
                                           .list = list,
                                           .arg = git};
    vd_route_table_add(routes, &git->webhook_route);
}
