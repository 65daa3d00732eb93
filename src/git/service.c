/*
 * See git.h. A request is read (git/smart_http.h), its repository is looked up, and it is decided
 * whether the user may do this; then it is a transfer (git/transfer.h).
 *
 * Whoever may not read a repository is answered as if there were none: 401 if nobody is known to be
 * asking, so that git asks for a password, and else 404. Whoever may read it and not push gets 403.
 */
#include "git/service.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/read.h"
#include "base/alloc.h"
#include "base/container_of.h"
#include "base/log.h"
#include "git/answer.h"
#include "git/bare_repository.h"
#include "git/meter.h"
#include "git/repository.h"
#include "git/transfer.h"
#include "git/webhook_route.h"
#include "net/connection.h"
#include "net/url.h"
#include "request/request.h"
#include "json/parse.h"

enum { STOP_MS_MAX = 2000 }; /* that a server which stops waits for git processes */

/* A request of a git client, while it is decided what becomes of it. */
struct asking {
    struct vd_git *git;
    struct vd_exchange *x;
    struct vd_git_request request;
    struct vd_request_log *log;
    struct vd_arena arena; /* has the repository's document */
    struct vd_repository repository;
    bool is_found;
};

static struct vd_git *git_of(const struct vd_exchange *x)
{
    return x->route->arg;
}

static struct vd_access access_of(const struct asking *a, struct vd_slice verb)
{
    return (struct vd_access){.user = a->x->user,
                              .verb = verb,
                              .group = VD_SLICE(VD_GIT_GROUP),
                              .resource = VD_SLICE("repositories"),
                              .subresource = VD_SLICE("contents"),
                              .namespace = a->request.namespace,
                              .name = a->request.name};
}

static struct vd_request request_of(const struct asking *a)
{
    bool reads = a->request.service == VD_GIT_UPLOAD_PACK;
    return (struct vd_request){.x = a->x,
                               .user = a->x->user,
                               .access = access_of(a, reads ? VD_SLICE("get") : VD_SLICE("update")),
                               .api_version = VD_SLICE("v1"),
                               .labels = {.verb = reads ? VD_SLICE("GET") : VD_SLICE("PUT"),
                                          .group = VD_SLICE(VD_GIT_GROUP),
                                          .version = VD_SLICE("v1"),
                                          .resource = VD_SLICE("repositories"),
                                          .subresource = VD_SLICE("contents")}};
}

/* ---- refusals ---- */

static const char *reason_of(unsigned status)
{
    return status == 401   ? "Unauthorized"
           : status == 403 ? "Forbidden"
           : status == 404 ? "NotFound"
           : status == 405 ? "MethodNotAllowed"
           : status == 429 ? "TooManyRequests"
           : status == 503 ? "ServiceUnavailable"
                           : "BadRequest";
}

static void answer(struct asking *a, unsigned status, const char *text)
{
    vd_audit_answer(vd_request_log_audit(a->x),
                    &(struct vd_audit_answer){.reason = vd_slice_of(reason_of(status)),
                                              .message = vd_slice_of(text)});
    vd_git_answer(a->x, status, text);
}

#define LOG_IN                                                                                     \
    "log in with any user name and a token of this server as the password; `vedette token "        \
    "create` "                                                                                     \
    "makes one"

static void answer_not_found(struct asking *a)
{
    struct vd_buf text = {0};
    bool is_stranger = a->x->user->is.method == VD_AUTH_ANONYMOUS;
    if (is_stranger)
        vd_buf_add_text(&text, LOG_IN);
    else
        vd_buf_addf(&text,
                    "there is no repository %.*s in the namespace %.*s, or you may not read it: "
                    "that takes the verb get on repositories/contents",
                    VD_FMT(a->request.name), VD_FMT(a->request.namespace));
    answer(a, is_stranger ? 401 : 404, vd_buf_text(&text));
    vd_buf_release(&text);
}

/* Of one that the user may read. */
static void answer_forbidden(struct asking *a, struct vd_slice reason)
{
    struct vd_access access = access_of(a, VD_SLICE("update"));
    struct vd_buf text = {0};
    if (a->x->user->is.method == VD_AUTH_ANONYMOUS) {
        answer(a, 401, LOG_IN);
        return;
    }
    vd_buf_add_text(&text, "you may not push here: ");
    vd_access_add_refusal(&text, &access, reason);
    answer(a, 403, vd_buf_text(&text));
    vd_buf_release(&text);
}

static void answer_follower(struct asking *a)
{
    struct vd_buf text = {0};
    vd_buf_addf(&text, "this repository follows %.*s: push there",
                VD_FMT(vd_json_text(vd_json_get(a->repository.remote, VD_SLICE("url")))));
    answer(a, 403, vd_buf_text(&text));
    vd_buf_release(&text);
}

/* ---- rights ---- */

/* Reads the Repository, if there is one; what is wrong with it does not matter to who may see it.
 */
static void find(struct asking *a)
{
    struct vd_key key = {VD_SLICE(VD_REPOSITORY_RESOURCE), a->request.namespace, a->request.name};
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    struct vd_error error;
    if (vd_key_check(&key, NULL) || vd_api_get(a->git->env, &key, 0, &event, NULL))
        return;
    if (!vd_json_parse_copy(&a->arena, vd_body_slice(event->body), NULL, &object, NULL)) {
        (void)!vd_repository_read(&a->repository, object, &error);
        a->is_found = true;
    }
    vd_event_unref(event);
}

static bool is_visible(const struct asking *a)
{
    return a->is_found && (a->repository.visibility == VD_VISIBILITY_PUBLIC ||
                           (a->repository.visibility == VD_VISIBILITY_INTERNAL &&
                            a->x->user->is.method != VD_AUTH_ANONYMOUS));
}

static bool may_get(const struct asking *a)
{
    struct vd_access access = access_of(a, VD_SLICE("get"));
    struct vd_buf reason = {0};
    bool allowed = vd_gatekeeper_allows(a->git->env->gatekeeper, &access, &reason);
    vd_buf_release(&reason);
    return allowed;
}

/* False: it has been answered. */
static bool may_read(struct asking *a)
{
    struct vd_buf reason = {0};
    bool allowed = is_visible(a);
    if (allowed)
        vd_audit_decided(a->log->audit, true,
                         a->repository.visibility == VD_VISIBILITY_PUBLIC
                             ? VD_SLICE("the repository is public")
                             : VD_SLICE("the repository is internal"));
    else
        allowed = vd_request_authorize(vd_git_requests(a->git, a->x), a->log, &reason) &&
                  a->is_found;
    vd_buf_release(&reason);
    if (!allowed)
        answer_not_found(a);
    return allowed;
}

static bool may_push(struct asking *a)
{
    struct vd_buf reason = {0};
    bool allowed = vd_request_authorize(vd_git_requests(a->git, a->x), a->log, &reason);
    bool is_seen = a->is_found && (allowed || is_visible(a) || may_get(a));
    if (!is_seen)
        answer_not_found(a);
    else if (!allowed)
        answer_forbidden(a, vd_buf_slice(&reason));
    else if (a->repository.remote)
        answer_follower(a);
    vd_buf_release(&reason);
    return allowed && is_seen && !a->repository.remote;
}

/* ---- the route ---- */

static bool matches(const struct vd_route *route, const struct vd_http_head *head)
{
    struct vd_slice path, query, namespace, name;
    (void)route;
    vd_url_split(vd_http_head_target(head), &path, &query);
    return vd_smart_http_has_path(path) && !vd_smart_http_webhook(path, &namespace, &name);
}

static void handle(struct vd_http_service *service, struct vd_exchange *x)
{
    struct asking a = {.git = git_of(x), .x = x};
    struct vd_error error;
    (void)service;
    unsigned status = vd_smart_http_read(&a.request, x->head, &error);
    struct vd_request request = request_of(&a);
    a.log = vd_request_begin(vd_git_requests(a.git, x), &request);
    find(&a);
    bool allowed = a.request.service == VD_GIT_UPLOAD_PACK || status ? may_read(&a) : may_push(&a);
    if (allowed && status)
        answer(&a, status, error.text);
    else if (allowed && !a.git->has_program)
        answer(&a, 503, a.git->missing.text);
    else if (allowed)
        vd_transfer_start(a.git, x, &a.request, &a.repository);
    vd_arena_release(&a.arena);
}

/* What the layers below refuse: a wrong credential, too many requests, a body that breaks. */
static void refuse(struct vd_http_service *service, struct vd_exchange *x,
                   const struct vd_route_refusal *refusal)
{
    struct vd_git *git = git_of(x);
    struct asking a = {.git = git, .x = x};
    struct vd_audit_stamp stamp;
    struct vd_error error;
    const char *why = refusal->status == 401   ? "the credential is not good: " LOG_IN
                      : refusal->status == 429 ? "you have too many requests under way: try again "
                                                 "in a while"
                                               : refusal->why;
    (void)service;
    if (refusal->is_of_user && x->head && !vd_request_log_of(x)) {
        (void)!vd_smart_http_read(&a.request, x->head, &error);
        struct vd_request request = request_of(&a);
        vd_audit_refused(
            vd_git_requests(git, x)->audit, &request, refusal->status,
            &(struct vd_audit_answer){.reason = vd_slice_of(reason_of(refusal->status)),
                                      .message = vd_slice_of(why)},
            &stamp);
    }
    vd_git_answer(x, refusal->status, why);
}

static void finished(struct vd_http_service *service, struct vd_exchange *x)
{
    const struct vd_request_log *log = vd_request_log_of(x);
    uint64_t now_ns = vd_clock_mono_ns(vd_clock_system());
    bool pushes = log && vd_slice_is(vd_request_log_access(log).verb, "update");
    (void)service;
    vd_git_meter_answered(pushes ? VD_GIT_RECEIVE_PACK : VD_GIT_UPLOAD_PACK, x->status,
                          x->start_ns && now_ns > x->start_ns ? now_ns - x->start_ns : 0,
                          x->sent_len);
}

static void list(const struct vd_route *route, struct vd_buf *out)
{
    (void)route;
    (void)out; /* a list of paths names no repositories */
}

/* ---- life cycle ---- */

static char *joined(const char *folder, const char *name)
{
    struct vd_buf path = {0};
    vd_buf_addf(&path, "%s/%s", folder, name);
    return vd_buf_take(&path, NULL);
}

/* The folder by its absolute path: git processes run elsewhere. */
static int open_root(struct vd_git *git, const char *data, struct vd_error *error)
{
    char program[4096];
    char *whole = realpath(data, NULL);
    if (!whole)
        return vd_error_set(error, VD_ERR_IO, "%s: the data folder cannot be found", data);
    git->root = joined(whole, "git");
    git->hooks = joined(git->root, "hooks");
    git->ssh_launcher = joined(git->hooks, "ssh");
    free(whole);
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n <= 0)
        return vd_error_set(error, VD_ERR_IO,
                            "/proc/self/exe cannot be read: the hooks of repositories are links to "
                            "this program, and need /proc");
    program[n] = 0;
    return vd_bare_repository_make_root(git->root, program, error);
}

static int read_policy(struct vd_remote_policy *out, const char *const *schemes, size_t n,
                       struct vd_error *error)
{
    int code = VD_OK;
    for (size_t i = 0; !code && i < n; i++)
        code = vd_remote_policy_add(out, vd_slice_of(schemes[i]), error);
    return code;
}

int vd_git_check_schemes(const char *const *schemes, size_t n, struct vd_error *error)
{
    return read_policy(&(struct vd_remote_policy){0}, schemes, n, error);
}

int vd_git_open(struct vd_git **out, const struct vd_git_options *options, struct vd_error *error)
{
    struct vd_git *git = VD_NEW(struct vd_git);
    git->env = options->env;
    git->loops_n = options->loops_n;
    git->request_loops = vd_calloc(options->loops_n, sizeof *git->request_loops);
    vd_process_slots_init(&git->slots);
    vd_webhooks_init(&git->webhooks);
    vd_git_meter_register();
    git->ssh = vd_program_find(options->search_path, "ssh");
    git->has_program = !vd_git_program_open(&git->program, options->search_path, &git->missing);
    if (git->has_program)
        vd_log_debug("git was found", VD_F_STR("path", git->program.path),
                     VD_F_U64("major", git->program.version.major),
                     VD_F_U64("minor", git->program.version.minor));
    else
        vd_log_warn("Git repositories are not served", VD_F_ERROR(&git->missing));
    int code = read_policy(&git->policy, options->remote_schemes, options->remote_schemes_n, error);
    if (!code)
        code = open_root(git, options->data, error);
    if (code) {
        vd_git_close(git);
        return code;
    }
    *out = git;
    return VD_OK;
}

void vd_git_add_routes(struct vd_git *git, struct vd_route_table *routes)
{
    git->route = (struct vd_route){.prefix = VD_SLICE(""),
                                   .matches = matches,
                                   .streams_body = true,
                                   .takes_basic = true,
                                   .takes_anonymous = true,
                                   .handle = handle,
                                   .refuse = refuse,
                                   .finished = finished,
                                   .list = list,
                                   .arg = git};
    vd_route_table_add(routes, &git->route);
    vd_webhook_route_add(git, routes);
}

static void on_refs_behind(void *arg, struct vd_slice namespace, struct vd_slice name)
{
    struct vd_git *git = arg;
    vd_repositories_recover(git->repositories, namespace, name);
}

static bool is_pushed(void *arg, struct vd_slice uid)
{
    const struct vd_git *git = arg;
    return git->pushes && vd_pushes_use(git->pushes, uid);
}

/* Who asks wants the folder for itself. */
static bool is_used(void *arg, struct vd_slice uid)
{
    const struct vd_git *git = arg;
    vd_upkeep_give_way(git->upkeep, uid);
    return is_pushed(arg, uid) || vd_folder_is_used(&git->admissions.uses, uid);
}

static void evict(void *arg, struct vd_slice uid)
{
    const struct vd_git *git = arg;
    if (git->pushes)
        vd_pushes_give_up(git->pushes, uid);
}

static void on_made(void *arg, struct vd_slice uid)
{
    const struct vd_git *git = arg;
    vd_upkeep_look(git->upkeep, uid);
}

void vd_git_join(struct vd_git *git, struct vd_api_loop *api, struct vd_request_loop *requests)
{
    git->request_loops[requests->loop->index] = requests;
    if (requests->loop->index)
        return;
    git->first = requests->loop;
    git->admissions = (struct vd_admissions){.l = api,
                                             .program = &git->program,
                                             .root = git->root,
                                             .refs_behind = on_refs_behind,
                                             .arg = git};
    if (!git->has_program)
        return;
    git->upkeep = vd_upkeep_new(&(struct vd_upkeep_options){.loop = git->first,
                                                            .program = &git->program,
                                                            .root = git->root,
                                                            .uses = &git->admissions.uses,
                                                            .is_pushed = is_pushed,
                                                            .arg = git});
    git->admissions.upkeep = git->upkeep;
    git->pushes = vd_pushes_new(&git->admissions);
}

void vd_git_follow(struct vd_git *git, struct vd_controller *controller)
{
    git->repositories = vd_repositories_new(
        &(struct vd_repositories_options){.controller = controller,
                                          .program = git->has_program ? &git->program : NULL,
                                          .missing = git->missing.text,
                                          .root = git->root,
                                          .is_used = is_used,
                                          .evict = evict,
                                          .made = on_made,
                                          .arg = git});
    git->drift = vd_drift_new(controller);
    if (!git->has_program)
        return;
    git->resets = vd_resets_new(controller, &git->admissions, git->repositories);
    git->followers = vd_followers_new(
        &(struct vd_followers_options){.controller = controller,
                                       .all = &git->admissions,
                                       .repositories = git->repositories,
                                       .policy = git->policy,
                                       .audit = git->request_loops[0]->audit,
                                       .ssh = git->ssh,
                                       .ssh_launcher = git->ssh_launcher});
}

/* A task of loop 0. */
struct stopping {
    struct vd_task task;
    struct vd_git *git;
    uv_sem_t done;
};

static void stop_pushes(struct vd_task *task)
{
    struct stopping *s = VD_CONTAINER_OF(task, struct stopping, task);
    if (s->git->pushes)
        vd_pushes_stop(s->git->pushes);
    if (s->git->resets)
        vd_resets_stop(s->git->resets);
    if (s->git->followers)
        vd_followers_stop(s->git->followers);
    vd_upkeep_stop(s->git->upkeep);
    uv_sem_post(&s->done);
}

void vd_git_stop(struct vd_git *git)
{
    struct stopping s = {.task.run = stop_pushes, .git = git};
    int rc = uv_sem_init(&s.done, 0);
    assert(rc == 0);
    (void)rc;
    vd_loop_post(git->first, &s.task);
    uv_sem_wait(&s.done);
    uv_sem_destroy(&s.done);
    if (!vd_process_slots_wait(&git->slots, STOP_MS_MAX))
        vd_log_warn("git processes that do not end are left to the end of their loops");
}

void vd_git_close(struct vd_git *git)
{
    if (!git)
        return;
    vd_resets_free(git->resets);
    vd_followers_free(git->followers);
    vd_webhooks_release(&git->webhooks);
    vd_drift_free(git->drift);
    vd_repositories_free(git->repositories);
    vd_pushes_free(git->pushes);
    vd_upkeep_free(git->upkeep);
    vd_process_slots_release(&git->slots);
    vd_git_program_close(&git->program);
    free(git->request_loops);
    free(git->root);
    free(git->hooks);
    free(git->ssh);
    free(git->ssh_launcher);
    free(git);
}
